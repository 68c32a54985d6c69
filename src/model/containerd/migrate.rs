//! How 2.x lifts older configurations: short ids to full ones, the CRI section to its two successors.

use super::load::Stop;
use super::tree::{Data, Shared, Tree, made};
use std::rc::Rc;

pub(super) const CRI: &str = "io.containerd.grpc.v1.cri";
pub(super) const RUNTIME: &str = "io.containerd.cri.v1.runtime";
pub(super) const IMAGES: &str = "io.containerd.cri.v1.images";

/// Ids of version 1 whose full form does not follow from the rule.
const CORE: &[(&str, &str)] = &[
    ("cri", CRI),
    ("cgroups", "io.containerd.monitor.v1.cgroups"),
    ("linux", "io.containerd.runtime.v1.linux"),
    ("scheduler", "io.containerd.gc.v1.scheduler"),
    ("bolt", "io.containerd.metadata.v1.bolt"),
    ("task", "io.containerd.runtime.v2.task"),
    ("opt", "io.containerd.internal.v1.opt"),
    ("restart", "io.containerd.internal.v1.restart"),
    ("tracing", "io.containerd.internal.v1.tracing"),
    ("otlp", "io.containerd.tracing.processor.v1.otlp"),
    ("aufs", "io.containerd.snapshotter.v1.aufs"),
    ("btrfs", "io.containerd.snapshotter.v1.btrfs"),
    ("devmapper", "io.containerd.snapshotter.v1.devmapper"),
    ("native", "io.containerd.snapshotter.v1.native"),
    ("overlayfs", "io.containerd.snapshotter.v1.overlayfs"),
    ("zfs", "io.containerd.snapshotter.v1.zfs"),
    ("windows", "io.containerd.snapshotter.v1.windows"),
    ("windows-lcow", "io.containerd.snapshotter.v1.windows-lcow"),
];

/// Keys of the CRI section that stay where they are.
pub(super) const SERVER: &[&str] = &[
    "disable_tcp_service",
    "stream_server_address",
    "stream_server_port",
    "stream_idle_timeout",
    "enable_tls_streaming",
    "x509_key_pair_streaming",
];

/// Keys of the CRI section that move to the image plugin.
pub(super) const TO_IMAGES: &[&str] = &[
    "registry",
    "image_decryption",
    "max_concurrent_downloads",
    "image_pull_progress_timeout",
    "image_pull_with_sync_fs",
    "stats_collect_period",
];

/// Keys of its `containerd` table that move there too.
pub(super) const CONTAINERD_TO_IMAGES: &[&str] =
    &["snapshotter", "disable_snapshot_annotations", "discard_unpacked_layers"];

/// The full id of a plugin that version 1 names.
pub(super) fn full_id(id: &str) -> String {
    if id.contains('.') {
        return id.to_owned();
    }
    if let Some((_, full)) = CORE.iter().find(|(short, _)| *short == id) {
        return (*full).to_owned();
    }
    let family = if id.ends_with("-service") { "service" } else { "grpc" };
    format!("io.containerd.{family}.v1.{id}")
}

/// Version 1 to 2. Where a short and a full id meet the daemon keeps either, by chance;
/// the full one is what was seen.
pub(super) fn rename(plugins: &mut Tree, disabled: &mut [Shared], required: &mut [Shared]) {
    let old = std::mem::take(plugins);
    for (id, value) in &old.entries {
        let full: Rc<str> = Rc::from(full_id(id));
        if full == *id || !old.entries.iter().any(|(other, _)| *other == full) {
            plugins.put(&full, value.clone());
        }
    }
    for item in disabled.iter_mut().chain(required) {
        if let Some(id) = item.text() {
            *item = item.with(Data::Text(Rc::from(full_id(id))));
        }
    }
}

/// Version 2 to 3: every plugin that has something to migrate.
/// `bin_dirs`: this release has a list of CNI directories in place of the one.
pub(super) fn cri(plugins: &mut Tree, bin_dirs: bool) -> Result<(), Stop> {
    for (old, new) in [
        ("io.containerd.internal.v1.restart", "io.containerd.monitor.container.v1.restart"),
        ("io.containerd.monitor.v1.cgroups", "io.containerd.monitor.task.v1.cgroups"),
    ] {
        if plugins.get(new).is_none()
            && let Some(value) = plugins.remove(old)
        {
            plugins.set(new, value);
        }
    }
    let Some(source) = plugins.get(CRI).cloned() else { return Ok(()) };
    let tree = table("the CRI section", &source)?.clone();
    let containerd = tree.get("containerd");
    images(plugins, &source, &tree, containerd)?;
    runtime(plugins, &source, &tree, containerd, bin_dirs)?;
    let kept: Vec<_> = tree.entries.iter().filter(|(k, _)| SERVER.contains(&&**k)).cloned().collect();
    if kept.is_empty() {
        plugins.remove(CRI);
    } else {
        plugins.set(CRI, source.with(Data::Table(Tree { entries: kept })));
    }
    Ok(())
}

fn images(plugins: &mut Tree, source: &Shared, tree: &Tree, containerd: Option<&Shared>) -> Result<(), Stop> {
    let mut images = match plugins.get(IMAGES) {
        Some(known) => table(IMAGES, known)?.clone(),
        None => Tree::default(),
    };
    if let Some(image) = tree.get("sandbox_image") {
        let mut pinned = match images.get("pinned_images") {
            Some(known) => table("pinned_images", known)?.clone(),
            None => Tree::default(),
        };
        put(&mut pinned, "sandbox", image);
        let at = images.get("pinned_images").map_or(&source.at, |p| &p.at).clone();
        images.set("pinned_images", made(Data::Table(pinned), &at));
    }
    if let Some(containerd) = containerd {
        let containerd = table("`containerd`", containerd)?;
        if let Some(runtimes) = containerd.get("runtimes") {
            for (_, handler) in &table("`runtimes`", runtimes)?.entries {
                table("a runtime handler", handler)?;
            }
        }
        for (key, value) in &containerd.entries {
            if CONTAINERD_TO_IMAGES.contains(&&**key) {
                put(&mut images, key, value);
            }
        }
    }
    for (key, value) in &tree.entries {
        if TO_IMAGES.contains(&&**key) {
            put(&mut images, key, value);
        }
    }
    if !images.entries.is_empty() || plugins.get(IMAGES).is_some() {
        let at = plugins.get(IMAGES).map_or(&source.at, |p| &p.at).clone();
        plugins.set(IMAGES, made(Data::Table(images), &at));
    }
    Ok(())
}

fn runtime(
    plugins: &mut Tree,
    source: &Shared,
    tree: &Tree,
    containerd: Option<&Shared>,
    bin_dirs: bool,
) -> Result<(), Stop> {
    let mut runtime = match plugins.get(RUNTIME) {
        Some(known) => known.table().cloned().unwrap_or_default(),
        None => Tree::default(),
    };
    for (key, value) in &tree.entries {
        let elsewhere = matches!(&**key, "cni" | "containerd" | "sandbox_image")
            || TO_IMAGES.contains(&&**key)
            || SERVER.contains(&&**key);
        if !elsewhere {
            put_if_absent(&mut runtime, key, value);
        }
    }
    if let Some(cni) = tree.get("cni").filter(|c| c.table().is_some()) {
        let mut new = runtime.get("cni").and_then(|c| c.table()).cloned().unwrap_or_default();
        for (key, value) in cni.table().into_iter().flat_map(|t| &t.entries) {
            if bin_dirs && **key == *"bin_dir" {
                let text =
                    value.text().map(|_| value.clone()).ok_or_else(|| not("`bin_dir`", value, "a string"))?;
                put(&mut new, "bin_dirs", &made(Data::Array(vec![text]), &value.at));
            } else {
                put_if_absent(&mut new, key, value);
            }
        }
        runtime.set("cni", cni.with(Data::Table(new)));
    }
    if let Some(old) = containerd.filter(|c| c.table().is_some()) {
        let known = runtime.get("containerd").cloned();
        let mut new = known.as_ref().and_then(|c| c.table()).cloned().unwrap_or_default();
        for (key, value) in old.table().into_iter().flat_map(|t| &t.entries) {
            if !CONTAINERD_TO_IMAGES.contains(&&**key) {
                put_if_absent(&mut new, key, value);
            }
        }
        if let Some(runtimes) = new.get("runtimes").cloned() {
            let handlers = table("`runtimes`", &runtimes)?;
            let mut all = handlers.clone();
            for (name, handler) in &handlers.entries {
                let mut keys = table("a runtime handler", handler)?.clone();
                if keys.get("sandboxer").is_none()
                    && let Some(mode) = keys.remove("sandbox_mode")
                {
                    keys.set("sandboxer", mode);
                    all.put(name, handler.with(Data::Table(keys)));
                }
            }
            new.set("runtimes", runtimes.with(Data::Table(all)));
        }
        let at = known.as_ref().map_or(&old.at, |k| &k.at).clone();
        runtime.set("containerd", made(Data::Table(new), &at));
    }
    let at = plugins.get(RUNTIME).map_or(&source.at, |p| &p.at).clone();
    plugins.set(RUNTIME, made(Data::Table(runtime), &at));
    Ok(())
}

/// The migrated value overrides what the new section says.
fn put(tree: &mut Tree, key: &str, value: &Shared) {
    let new = tree.get(key).map_or_else(|| value.clone(), |old| value.over(old));
    tree.set(key, new);
}

/// What the new section says stays, and overrides the old one.
fn put_if_absent(tree: &mut Tree, key: &Rc<str>, value: &Shared) {
    let new = match tree.get(key) {
        None => value.clone(),
        Some(known) => under(known, value),
    };
    tree.put(key, new);
}

/// `winner` unchanged, except that it remembers what it kept out.
fn under(winner: &Shared, loser: &Shared) -> Shared {
    match (&winner.data, &loser.data) {
        (Data::Table(w), Data::Table(l)) => {
            let entries = w
                .entries
                .iter()
                .map(|(k, v)| (k.clone(), l.get(k).map_or_else(|| v.clone(), |lost| under(v, lost))))
                .collect();
            winner.with(Data::Table(Tree { entries }))
        }
        (Data::Table(_), _) => winner.clone(),
        _ => winner.over(loser),
    }
}

fn table<'t>(name: &str, value: &'t Shared) -> Result<&'t Tree, Stop> {
    value.table().ok_or_else(|| not(name, value, "a table"))
}

fn not(name: &str, value: &Shared, wanted: &str) -> Stop {
    Stop {
        message: format!("{name} is {}, not {wanted}: the daemon panics while it migrates", value.kind()),
        place: Some(value.at.place),
        syntax: false,
    }
}
