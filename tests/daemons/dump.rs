//! Reading `containerd config dump`: what the daemon makes of its files.

use std::collections::BTreeMap;

use toml::{Table, Value};

const CRI: &str = "io.containerd.grpc.v1.cri";
const RUNTIME: &str = "io.containerd.cri.v1.runtime";
const IMAGES: &str = "io.containerd.cri.v1.images";

/// What can be compared; none where the dump does not show it.
pub(crate) struct Dump {
    pub(crate) disabled_plugins: Vec<String>,
    pub(crate) default_runtime: Option<String>,
    pub(crate) sandbox_image: Option<String>,
    pub(crate) handlers: Vec<Handler>,
}

pub(crate) struct Handler {
    pub(crate) name: String,
    pub(crate) ty: String,
    pub(crate) driver: Driver,
}

/// Whether the handler's runc is called with `--systemd-cgroup`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Driver {
    Systemd(bool),
    /// The options cannot be decoded: its pods fail.
    Broken,
    /// Not of the runc family, or the dump of this version does not show it.
    NotShown,
}

impl Dump {
    pub(crate) fn parse(text: &str, generation: (u32, u32)) -> Result<Dump, String> {
        let dump: Table = text.parse().map_err(|e| format!("the dump is not TOML: {e}"))?;
        let mut disabled_plugins: Vec<String> = dump
            .get("disabled_plugins")
            .and_then(Value::as_array)
            .into_iter()
            .flatten()
            .filter_map(Value::as_str)
            .map(str::to_owned)
            .collect();
        disabled_plugins.sort();
        disabled_plugins.dedup();

        let plugin = |id: &str| dump.get("plugins").and_then(|plugins| plugins.get(id));
        let (cri, sandbox_image) = if generation >= (2, 0) {
            let pinned = plugin(IMAGES).and_then(|images| images.get("pinned_images"));
            (plugin(RUNTIME), pinned.and_then(|pinned| pinned.get("sandbox")))
        } else {
            let cri = plugin(CRI).or_else(|| plugin("cri"));
            (cri, cri.and_then(|cri| cri.get("sandbox_image")))
        };
        let containerd = cri.and_then(|cri| cri.get("containerd"));
        let handlers = containerd.and_then(|c| c.get("runtimes")).and_then(Value::as_table);
        Ok(Dump {
            disabled_plugins,
            default_runtime: containerd.and_then(default_runtime),
            sandbox_image: sandbox_image.and_then(Value::as_str).map(str::to_owned),
            handlers: handlers
                .into_iter()
                .flatten()
                .map(|(name, table)| handler(name, table, generation))
                .collect(),
        })
    }
}

/// The old table `default_runtime` becomes the handler `default` when CRI starts; the dump shows both keys.
fn default_runtime(containerd: &Value) -> Option<String> {
    let old = containerd.get("default_runtime").and_then(|table| table.get("runtime_type"));
    if old.and_then(Value::as_str).is_some_and(|ty| !ty.is_empty()) {
        return Some("default".to_owned());
    }
    containerd.get("default_runtime_name").and_then(Value::as_str).map(str::to_owned)
}

fn handler(name: &str, table: &Value, generation: (u32, u32)) -> Handler {
    let ty = table.get("runtime_type").and_then(Value::as_str).unwrap_or_default();
    let runc = ty == "io.containerd.runc.v2" || (ty == "io.containerd.runc.v1" && generation < (2, 0));
    let driver = match table.get("options") {
        // 1.4 prints every options table empty.
        _ if !runc || generation < (1, 5) => Driver::NotShown,
        None => Driver::Systemd(false),
        Some(Value::Table(options)) => driver(options, generation),
        Some(_) => Driver::Broken,
    };
    Handler { name: name.to_owned(), ty: ty.to_owned(), driver }
}

/// The key that decides among several spellings of `SystemdCgroup` differs: 1.x tries four in this order and looks at
/// no other, 2.x ignores case, decodes every one and takes the last in byte order.
fn driver(options: &Table, generation: (u32, u32)) -> Driver {
    let spellings: Vec<&Value> = if generation < (2, 0) {
        let tried = ["SystemdCgroup", "systemdcgroup", "SYSTEMDCGROUP", "systemdCgroup"];
        tried.iter().find_map(|key| options.get(*key)).into_iter().collect()
    } else {
        let same = |key: &str| key.eq_ignore_ascii_case("SystemdCgroup");
        let sorted: BTreeMap<&String, &Value> = options.iter().filter(|(key, _)| same(key)).collect();
        sorted.into_values().collect()
    };
    let decoded: Option<Vec<bool>> = spellings.into_iter().map(Value::as_bool).collect();
    match decoded {
        Some(decoded) => Driver::Systemd(decoded.last().copied().unwrap_or(false)),
        None => Driver::Broken,
    }
}
