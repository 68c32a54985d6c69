//! What stops the daemon once everything is merged.

use super::alive::Health;
use super::decode::duration;
use super::generation::Generation;
use super::load::Stop;
use super::merge::Merged;
use super::tree::Shared;
use crate::fact::Known;

impl Merged {
    /// The version by which a 1.x daemon reads the whole.
    pub(super) fn v1_version(&self) -> i64 {
        self.version.as_ref().and_then(|v| v.int()).unwrap_or(1)
    }

    /// Whether plugins go by their short ids (1.x, version 1).
    pub(super) fn short_ids(&self, generation: &Generation) -> bool {
        generation.is_v1() && self.v1_version() == 1
    }

    /// What says that a plugin is disabled.
    pub(super) fn disables(&self, generation: &Generation, id: &str) -> Option<&Shared> {
        let name = self.name_of(generation, id);
        self.disabled.iter().find(|d| d.text() == Some(name))
    }

    /// What says that a plugin is required.
    pub(super) fn requires(&self, generation: &Generation, id: &str) -> Option<&Shared> {
        let name = self.name_of(generation, id);
        self.required.iter().find(|d| d.text() == Some(name))
    }

    /// The name by which lists and tables mean a plugin.
    pub(super) fn name_of<'i>(&self, generation: &Generation, id: &'i str) -> &'i str {
        if self.short_ids(generation) { id.rsplit('.').next().unwrap_or(id) } else { id }
    }
}

fn stop(at: &Shared, message: String) -> Option<Stop> {
    Some(Stop { message, place: Some(at.at.place), syntax: false })
}

/// Checks the version and the ids.
pub(super) fn ids(generation: &Generation, merged: &Merged) -> Option<Stop> {
    let version = if generation.is_v1() { merged.v1_version() } else { merged.running };
    if let (Some(max), Some(said)) = (generation.max_version, &merged.version)
        && version > max
    {
        return stop(
            said,
            format!("version {version} is higher than {max}, the highest that this containerd takes"),
        );
    }
    let lists = [("disabled", &merged.disabled), ("required", &merged.required)];
    if !generation.is_v1() {
        for (what, list) in lists {
            if let Some(bad) = list.iter().find(|i| i.text().is_some_and(|t| !t.contains('.'))) {
                let id = bad.text().unwrap_or_default();
                return stop(bad, format!("`{id}` in {what}_plugins is not a full plugin id"));
            }
        }
        return None;
    }
    if version < 2 || (generation.missing_ends_loading && version != 2) {
        return None;
    }
    let bad_id = |id: &str| {
        id.splitn(4, '.').count() < 4 || (generation.plugin_prefix && !id.starts_with("io.containerd."))
    };
    for (what, list) in lists {
        if let Some(bad) = list.iter().find(|i| i.text().is_some_and(bad_id)) {
            let id = bad.text().unwrap_or_default();
            return stop(
                bad,
                format!("`{id}` in {what}_plugins is not a full plugin id, as version 2 wants"),
            );
        }
    }
    let (id, table) = merged.plugins.entries.iter().find(|(id, _)| bad_id(id))?;
    stop(table, format!("`{id}` is not a full plugin id, as version 2 wants"))
}

/// Settings of the daemon itself that it refuses to start with.
pub(super) fn settings(generation: &Generation, merged: &Merged) -> Option<Stop> {
    let debug = merged.top.get("debug");
    let levels = ["trace", "debug", "info", "warn", "warning", "error", "fatal", "panic"];
    if let Some(level) = debug.and_then(|d| d.get("level"))
        && let Some(text) = level.text()
        && !levels.contains(&text.to_ascii_lowercase().as_str())
    {
        return stop(level, format!("`{text}` is not a log level"));
    }
    if let Some(format) = debug.and_then(|d| d.get("format"))
        && let Some(text) = format.text()
        && !matches!(text, "text" | "json")
    {
        return stop(format, format!("`{text}` is not a log format"));
    }
    let place = |key: &str, default: &'static str| {
        merged.top.get(key).and_then(|v| v.text()).unwrap_or(default).to_owned()
    };
    if place("root", "/var/lib/containerd") == place("state", "/run/containerd")
        && let Some(at) = merged.top.get("state").or_else(|| merged.top.get("root"))
    {
        return stop(at, "root and state are the same directory".to_owned());
    }
    if let Some(stop) = proxies(generation, merged) {
        return Some(stop);
    }
    let timeouts = merged.top.get("timeouts").and_then(|t| t.table())?;
    let (name, bad) = timeouts.entries.iter().find(|(_, v)| v.text().is_some_and(|t| !duration(t)))?;
    stop(bad, format!("timeout `{name}` is not a duration"))
}

/// A proxy plugin of a type that this release does not know makes it panic.
fn proxies(generation: &Generation, merged: &Merged) -> Option<Stop> {
    let known: &[(&str, &str, &str)] = &[
        ("snapshot", "io.containerd.snapshotter.v1", ""),
        ("content", "io.containerd.content.v1", ""),
        ("diff", "io.containerd.differ.v1", "1.7"),
        ("sandbox", "io.containerd.sandbox.controller.v1", "2.0"),
    ];
    let proxies = merged.top.get("proxy_plugins").and_then(|p| p.table())?;
    for (name, proxy) in &proxies.entries {
        let kind = proxy.get("type").and_then(|t| t.text()).unwrap_or_default();
        let fits = |(short, full, since): &(&str, &str, &str)| {
            (kind == *short || kind == *full) && (since.is_empty() || generation.since(since))
        };
        if !known.iter().any(fits) {
            let at = proxy.get("type").unwrap_or(proxy);
            return stop(
                at,
                format!("proxy plugin `{name}` has a type that this containerd does not know: `{kind}`"),
            );
        }
    }
    None
}

/// Plugins of older releases that are gone: required, they stop the daemon.
const GONE: &[(&str, &str)] = &[
    ("io.containerd.runtime.v1.linux", "2.0"),
    ("io.containerd.snapshotter.v1.aufs", "2.0"),
    ("io.containerd.internal.v1.restart", "2.0"),
    ("io.containerd.monitor.v1.cgroups", "2.0"),
];

/// `required_plugins` that do not come up.
pub(super) fn required(generation: &Generation, merged: &Merged, health: &Health) -> Known<Option<Stop>> {
    for item in &merged.required {
        let id = item.text().unwrap_or_default();
        if let Some(message) = never_there(generation, merged, id) {
            return Known::Is(stop(item, message));
        }
    }
    let parts: &[&str] = if generation.is_v1() { &[super::migrate::CRI] } else { super::plugins::CRI_PARTS };
    let mut hidden = None;
    for id in parts {
        let Some(item) = merged.requires(generation, id) else { continue };
        match health.of(id) {
            Known::Is(Some(dead)) => {
                let message = format!("{id} is required and does not come up: {}", dead.message);
                return Known::Is(stop(item, message));
            }
            Known::Unknown(why) => hidden = Some(why),
            _ => {}
        }
    }
    hidden.map_or(Known::Is(None), Known::Unknown)
}

/// Why a required plugin is none of those that are loaded.
fn never_there(generation: &Generation, merged: &Merged, id: &str) -> Option<String> {
    if merged.disabled.iter().any(|d| d.text() == Some(id)) {
        return Some(format!("`{id}` is required and disabled"));
    }
    if merged.short_ids(generation) && id.contains('.') {
        return Some(format!("`{id}` is required, and version 1 knows plugins by their last word alone"));
    }
    let gone = GONE.iter().any(|(gone, since)| *gone == id && generation.since(since));
    let part = super::plugins::CRI_PARTS.contains(&id) && id != super::migrate::CRI;
    (gone || (generation.is_v1() && part))
        .then(|| format!("`{id}` is required, and this containerd has no such plugin"))
}
