//! What keeps CRI from coming up while the daemon runs.

use super::Input;
use super::decode::duration;
use super::generation::Generation;
use super::handlers::{self, Handler};
use super::merge::Merged;
use super::migrate::{CRI, IMAGES, RUNTIME};
use super::plugins::{CRI_PARTS, Cri};
use super::session::World;
use super::tree::Shared;
use crate::fact::{Known, Why};
use crate::text::Place;

/// Why a part of CRI is not there.
#[derive(Clone, Debug)]
pub(super) struct Dead {
    pub(super) message: String,
    pub(super) place: Option<Place>,
    /// What says it, where one statement does.
    pub(super) by: Option<Shared>,
}

/// What keeps the parts of CRI from coming up, in the order in which it is told.
#[derive(Debug, Default)]
pub(super) struct Health {
    dead: Vec<(&'static str, Dead)>,
    hidden: Vec<(&'static str, Why)>,
}

impl Health {
    /// Of CRI as a whole, which wants all its parts. `Is(None)`: it comes up.
    pub(super) fn cri(&self) -> Known<Option<&Dead>> {
        self.of(CRI)
    }

    /// Of the plugin `id`: 2.x makes CRI of several, of which runtime and images stand alone.
    pub(super) fn of(&self, id: &str) -> Known<Option<&Dead>> {
        let concerns = |part: &str| id == CRI || id == part;
        if let Some((_, dead)) = self.dead.iter().find(|(part, _)| concerns(part)) {
            return Known::Is(Some(dead));
        }
        let hidden = self.hidden.iter().find(|(part, _)| concerns(part));
        hidden.map_or(Known::Is(None), |(_, why)| Known::Unknown(why.clone()))
    }
}

type Checked = Result<(), Dead>;

fn dead(message: impl Into<String>, by: &Shared) -> Checked {
    Err(Dead { message: message.into(), place: Some(by.at.place), by: Some(by.clone()) })
}

pub(super) fn check(
    generation: &Generation,
    input: &Input,
    merged: &Merged,
    cri: &Cri,
    handlers: &[Handler],
    world: &mut World,
) -> Health {
    let mut health = Health::default();
    let parts: &[&'static str] = if generation.is_v1() { &[CRI] } else { CRI_PARTS };
    let mut sure = |part: &'static str, checked: Checked| {
        health.dead.extend(checked.err().map(|dead| (part, dead)));
    };
    for part in parts {
        sure(part, disabled(generation, merged, part));
    }
    sure(RUNTIME, names(generation, cri, handlers));
    sure(RUNTIME, deprecated(generation, cri, handlers));
    sure(RUNTIME, handlers.iter().try_for_each(|h| of_handler(generation, h)));
    sure(IMAGES, registry(generation, cri));
    for (part, key, value) in durations(generation, cri) {
        sure(part, of_duration(key, value));
    }
    sure(RUNTIME, cni(generation, cri));
    sure(CRI, streaming(cri));
    sure(IMAGES, snapshotter(generation, merged, cri));
    let unsure = [
        (RUNTIME, cgroups(generation, input, handlers)),
        (RUNTIME, specs(handlers, world)),
        (CRI, certificates(cri, world)),
    ];
    for (part, step) in unsure {
        match step {
            Known::Is(dead) => health.dead.extend(dead.map(|dead| (part, dead))),
            Known::Unknown(why) => health.hidden.push((part, why)),
            Known::Absent(_) => {}
        }
    }
    health
}

fn disabled(generation: &Generation, merged: &Merged, id: &str) -> Checked {
    match merged.disables(generation, id) {
        Some(by) => dead(format!("{id} is disabled"), by),
        None => Ok(()),
    }
}

fn names(generation: &Generation, cri: &Cri, handlers: &[Handler]) -> Checked {
    let containerd = cri.runtime.get("containerd");
    if generation.is_v1()
        && let Some(untrusted) = containerd.and_then(|c| c.get("untrusted_workload_runtime"))
        && untrusted.get("runtime_type").is_some_and(|t| !t.is_zero())
        && containerd.and_then(|c| c.dig(&["runtimes", "untrusted"])).is_some()
    {
        return dead("both untrusted_workload_runtime and a handler `untrusted` are set", untrusted);
    }
    let Some(name) = handlers::default_name(generation, cri) else {
        return Err(Dead { message: "default_runtime_name is empty".into(), place: None, by: None });
    };
    let text = handlers::name_text(&name);
    if text.is_empty() {
        return dead("default_runtime_name is empty", &name);
    }
    if !handlers.iter().any(|h| *h.name == *text) {
        return dead(format!("there is no runtime handler `{text}`, the default one"), &name);
    }
    Ok(())
}

/// Settings of 1.x that only its first shim takes.
fn deprecated(generation: &Generation, cri: &Cri, handlers: &[Handler]) -> Checked {
    if !generation.is_v1() {
        return Ok(());
    }
    let default = handlers::default_name(generation, cri);
    let name = default.as_ref().map(handlers::name_text).unwrap_or_default();
    let linux = |h: &Handler| h.type_text() == "io.containerd.runtime.v1.linux";
    let is_linux = handlers.iter().any(|h| *h.name == *name && linux(h));
    let no_pivot = cri.runtime.dig(&["containerd", "no_pivot"]);
    for (key, value) in [("systemd_cgroup", cri.runtime.get("systemd_cgroup")), ("no_pivot", no_pivot)] {
        if let Some(value) = value
            && value.bool() == Some(true)
            && !is_linux
        {
            return dead(
                format!("{key} is set, and the default runtime is not io.containerd.runtime.v1.linux"),
                value,
            );
        }
    }
    for handler in handlers.iter().filter(|h| !linux(h)) {
        for key in ["runtime_engine", "runtime_root"] {
            if let Some(value) = handler.table.get(key).filter(|v| !v.is_zero()) {
                return dead(
                    format!("{key} of `{}` only works with io.containerd.runtime.v1.linux", handler.name),
                    value,
                );
            }
        }
    }
    Ok(())
}

fn of_handler(generation: &Generation, handler: &Handler) -> Checked {
    let on = |key: &str| handler.table.get(key).filter(|v| v.bool() == Some(true));
    if let Some(all) = on("privileged_without_host_devices_all_devices_allowed")
        && on("privileged_without_host_devices").is_none()
    {
        return dead(
            "privileged_without_host_devices_all_devices_allowed wants privileged_without_host_devices",
            all,
        );
    }
    if !generation.is_v1()
        && let Some(io) = handler.table.get("io_type")
        && let Some(text) = io.text()
        && !matches!(text, "" | "fifo" | "streaming")
    {
        return dead(format!("io_type `{text}` of `{}` is not known", handler.name), io);
    }
    Ok(())
}

fn registry(generation: &Generation, cri: &Cri) -> Checked {
    let Some(registry) = cri.images.get("registry") else { return Ok(()) };
    let written = registry.get("config_path");
    let path = written.is_some_and(|p| !p.is_zero())
        || (generation.default_config_path && written.is_none_or(|p| cri.is_default(p)));
    if !path || !generation.since("1.5") {
        return Ok(());
    }
    if let Some(mirrors) = registry.get("mirrors").filter(|m| !m.is_zero()) {
        return dead("registry.mirrors cannot be set together with registry.config_path", mirrors);
    }
    let configs = registry.get("configs").and_then(|c| c.table());
    let tls = configs.into_iter().flat_map(|c| &c.entries).find_map(|(_, c)| c.get("tls"));
    match tls {
        Some(tls) if generation.is_v1() => {
            dead("tls of registry.configs cannot be set together with registry.config_path", tls)
        }
        _ => Ok(()),
    }
}

/// Durations that are checked at the start: the part that does, the key and its value.
fn durations<'c>(
    generation: &Generation,
    cri: &'c Cri,
) -> impl Iterator<Item = (&'static str, &'static str, &'c Shared)> {
    let pulls = generation.since("1.7");
    let values = [
        (CRI, "stream_idle_timeout", cri.server.get("stream_idle_timeout")),
        (
            IMAGES,
            "image_pull_progress_timeout",
            cri.images.get("image_pull_progress_timeout").filter(|_| pulls),
        ),
        (RUNTIME, "drain_exec_sync_io_timeout", cri.runtime.get("drain_exec_sync_io_timeout")),
    ];
    values.into_iter().filter_map(|(part, key, value)| Some((part, key, value?)))
}

fn of_duration(key: &str, value: &Shared) -> Checked {
    match value.text() {
        Some(text) if !value.is_zero() && !duration(text) => {
            dead(format!("{key} `{text}` is not a duration"), value)
        }
        _ => Ok(()),
    }
}

fn cni(generation: &Generation, cri: &Cri) -> Checked {
    if !generation.since("2.1") {
        return Ok(());
    }
    let Some(cni) = cri.runtime.get("cni") else { return Ok(()) };
    match (cni.get("bin_dir").filter(|d| !d.is_zero()), cni.get("bin_dirs").filter(|d| !d.is_zero())) {
        (Some(dir), Some(_)) => dead("cni.bin_dir and cni.bin_dirs cannot both be set", dir),
        _ => Ok(()),
    }
}

fn streaming(cri: &Cri) -> Checked {
    let pair = cri.server.get("x509_key_pair_streaming");
    let get = |key: &str| pair.and_then(|p| p.get(key)).filter(|v| !v.is_zero());
    let on = cri.server.get("enable_tls_streaming").and_then(|v| v.bool()) == Some(true);
    match (on, get("tls_cert_file"), get("tls_key_file")) {
        (true, Some(one), None) | (true, None, Some(one)) => {
            dead("x509_key_pair_streaming wants both a certificate and a key", one)
        }
        (false, Some(one), _) | (false, None, Some(one)) => {
            dead("x509_key_pair_streaming is set without enable_tls_streaming", one)
        }
        _ => Ok(()),
    }
}

fn snapshotter(generation: &Generation, merged: &Merged, cri: &Cri) -> Checked {
    let value = match generation.is_v1() {
        true => cri.runtime.dig(&["containerd", "snapshotter"]),
        false => cri.images.get("snapshotter"),
    };
    let Some(value) = value else { return Ok(()) };
    let name = value.text().unwrap_or_default();
    match merged.disables(generation, &format!("io.containerd.snapshotter.v1.{name}")) {
        Some(by) => dead(format!("the snapshotter `{name}` is disabled"), by),
        None => Ok(()),
    }
}

fn cgroups(generation: &Generation, input: &Input, handlers: &[Handler]) -> Known<Option<Dead>> {
    if !generation.since("2.1") {
        return Known::Is(None);
    }
    let writable = |h: &Handler| h.table.get("cgroup_writable").filter(|v| v.bool() == Some(true)).cloned();
    let Some(by) = handlers.iter().find_map(writable) else { return Known::Is(None) };
    let v2 = match &input.cgroup_mode {
        Known::Is(mode) => mode == "v2",
        Known::Absent(_) => false,
        Known::Unknown(why) => return Known::Unknown(Why::Needs("cgroup.mode", Box::new(why.clone()))),
    };
    if v2 {
        return Known::Is(None);
    }
    let message = "cgroup_writable only works on a cgroup v2 host".to_owned();
    Known::Is(Some(Dead { message, place: Some(by.at.place), by: Some(by) }))
}

/// Specifications that handlers start from: they must be there when CRI starts.
fn specs(handlers: &[Handler], world: &mut World) -> Known<Option<Dead>> {
    let written = |h: &Handler| h.table.get("base_runtime_spec").filter(|v| !v.is_zero()).cloned();
    files("base_runtime_spec", handlers.iter().filter_map(written), true, world)
}

/// The same of what the stream server shows its clients.
fn certificates(cri: &Cri, world: &mut World) -> Known<Option<Dead>> {
    let pair = cri.server.get("x509_key_pair_streaming");
    if cri.server.get("enable_tls_streaming").and_then(|v| v.bool()) != Some(true) {
        return Known::Is(None);
    }
    for key in ["tls_cert_file", "tls_key_file"] {
        let file = pair.and_then(|p| p.get(key)).filter(|v| !v.is_zero()).cloned();
        let found = files(key, file.into_iter(), false, world);
        if !matches!(found, Known::Is(None)) {
            return found;
        }
    }
    Known::Is(None)
}

fn files(
    key: &str,
    wanted: impl Iterator<Item = Shared>,
    json: bool,
    world: &mut World,
) -> Known<Option<Dead>> {
    let mut hidden = Known::Is(None);
    for value in wanted {
        let path = super::paths::join("/", value.text().unwrap_or_default());
        let message = match (json, world.presence(&path, json)) {
            (_, Known::Absent(_)) => format!("{key} {path} is not there"),
            (true, Known::Is(text)) if !is_object(&text) => format!("{key} {path} is not a JSON object"),
            (_, Known::Is(_)) => continue,
            (_, Known::Unknown(why)) => {
                hidden = Known::Unknown(why);
                continue;
            }
        };
        return Known::Is(Some(Dead { message, place: Some(value.at.place), by: Some(value) }));
    }
    hidden
}

fn is_object(text: &str) -> bool {
    serde_json::from_str::<serde_json::Map<String, serde_json::Value>>(text).is_ok()
}
