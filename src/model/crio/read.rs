//! One file after the other laid over what is known: key by key, but a runtime's table whole.

use super::{Fatal, Generation, Input, Statements, default, told};
use crate::fact::{Known, Layer, Origin, Row, Said, Value};
use crate::model::Captured;
use crate::model::toml::{self, Dialect, Item, Key, Node, Table};
use crate::text::{Place, SourceId, Span};
use std::collections::BTreeMap;

/// Names of other programs' driver settings, and of CRI-O's own in other spellings, without
/// punctuation and in lower case.
const LOOKS_ALIKE: [&str; 4] = ["cgroupmanager", "cgroupdriver", "nativecgroupdriver", "systemdcgroup"];

/// One runtime: what a table says of it, with the place of the value.
#[derive(Clone, Debug, Default)]
pub(super) struct Runtime {
    pub(super) path: Option<(String, Place)>,
    pub(super) kind: Option<(String, Place)>,
    pub(super) monitor: Option<(String, Place)>,
    /// The header of its table.
    pub(super) place: Option<Place>,
}

/// What was read so far.
pub(super) struct Merged {
    pub(super) files: Vec<super::File>,
    pub(super) manager: Statements,
    pub(super) conmon: Statements,
    pub(super) default_runtime: Statements,
    pub(super) runtimes: BTreeMap<String, Runtime>,
    pub(super) settings: Vec<Row>,
    /// Where a file took the built-in runtime away.
    pub(super) dropped: Option<Place>,
    built_in: &'static str,
}

impl Merged {
    pub(super) fn new(generation: Generation, source: SourceId) -> Merged {
        let built_in = generation.built_in();
        let conmon = match generation.conmon() {
            // nothing is written for a value that is empty
            "" => (String::new(), default(source, "conmon_cgroup", "system.slice").1),
            conmon => default(source, "conmon_cgroup", conmon),
        };
        Merged {
            files: Vec::new(),
            manager: vec![default(source, "cgroup_manager", generation.manager())],
            conmon: vec![conmon],
            default_runtime: vec![default(source, "default_runtime", built_in)],
            runtimes: [(built_in.to_owned(), Runtime::default())].into(),
            settings: Vec::new(),
            dropped: None,
            built_in,
        }
    }

    /// Environment and flags, over all files.
    pub(super) fn overlay(&mut self, input: &Input) {
        let manager = ["--cgroup-manager", "-cgroup-manager"];
        self.manager.extend(told(input, &manager, "CONTAINER_CGROUP_MANAGER"));
        let conmon = ["--conmon-cgroup", "-conmon-cgroup"];
        self.conmon.extend(told(input, &conmon, "CONTAINER_CONMON_CGROUP"));
        let runtime = ["--default-runtime", "-default-runtime"];
        self.default_runtime.extend(told(input, &runtime, "CONTAINER_DEFAULT_RUNTIME"));
        for (said, origin) in told(input, &["--runtimes", "-runtimes"], "CONTAINER_RUNTIMES") {
            for runtime in said.split(',') {
                let mut fields = runtime.split(':');
                let name = fields.next().unwrap_or_default().to_owned();
                let path = fields.next().map(|path| (path.to_owned(), origin.place));
                self.runtimes.insert(name, Runtime { path, ..Runtime::default() });
            }
        }
    }

    /// An empty default runtime stands for the built-in one.
    pub(super) fn name_default(&mut self) {
        let empty = self.default_runtime.iter_mut().filter(|(name, _)| name.is_empty());
        empty.for_each(|(name, _)| *name = self.built_in.to_owned());
    }

    /// Lays a file over what is known.
    pub(super) fn add(
        &mut self,
        generation: Generation,
        file: &Captured,
        is_main: bool,
    ) -> Result<(), Fatal> {
        let root = parse(generation, file)?;
        self.look_alikes(file, &root, &mut Vec::new());
        let fatal = |span, message| Fatal { place: Place { source: file.id, span }, message };
        self.drop_built_in(generation, file, &root);
        let layer = if is_main { Layer::File } else { Layer::DropIn };
        for crio in tables(&root, "crio").map_err(|(span, message)| fatal(span, message))? {
            for runtime in tables(crio, "runtime").map_err(|(span, message)| fatal(span, message))? {
                for (key, node) in &runtime.entries {
                    let statements = match key.name.to_ascii_lowercase().as_str() {
                        "cgroup_manager" => &mut self.manager,
                        "conmon_cgroup" => &mut self.conmon,
                        "default_runtime" => &mut self.default_runtime,
                        _ => continue,
                    };
                    let (text, place) = string(file, key, node)?;
                    let written = ["crio", "runtime", &key.name].map(str::to_owned).to_vec().into();
                    statements.push((text, Origin { written, ..Origin::new(layer, place) }));
                }
                for table in tables(runtime, "runtimes").map_err(|(span, message)| fatal(span, message))? {
                    for (key, node) in &table.entries {
                        let Item::Table(fields) = &node.item else {
                            return Err(fatal(node.span, format!("`{}` is no table of a runtime", key.name)));
                        };
                        let runtime = runtime_of(file, node, fields)?;
                        self.runtimes.insert(key.name.clone(), runtime);
                    }
                }
            }
        }
        Ok(())
    }

    /// Up to 1.24 a file may take the built-in runtime away without a word.
    fn drop_built_in(&mut self, generation: Generation, file: &Captured, root: &Table) {
        let exact = |path: &[&str]| -> Option<&Node> {
            let (last, before) = path.split_last()?;
            let table =
                before.iter().try_fold(root, |table, name| match table.get(name).map(|n| &n.item) {
                    Some(Item::Table(table)) => Some(table),
                    _ => None,
                })?;
            table.get(last)
        };
        let runtimes = ["crio", "runtime", "runtimes"];
        let at = if generation <= Generation::V118 {
            let own = exact(&["crio", "runtime", "runtimes", self.built_in]).is_some();
            exact(&runtimes).filter(|_| !own)
        } else if generation <= Generation::V124 {
            let is = |node: &Node| matches!(&node.item, Item::Text(name) if name == self.built_in);
            exact(&["crio", "runtime", "default_runtime"]).filter(|node| !is(node))
        } else {
            None
        };
        if let Some(node) = at {
            self.runtimes.remove(self.built_in);
            self.dropped = Some(Place { source: file.id, span: node.span });
        }
    }

    /// Keys that look like a driver setting, wherever they stand.
    fn look_alikes(&mut self, file: &Captured, table: &Table, path: &mut Vec<String>) {
        for (key, node) in &table.entries {
            path.push(key.name.clone());
            let letters: String = path
                .join("")
                .chars()
                .filter(char::is_ascii_alphanumeric)
                .collect::<String>()
                .to_ascii_lowercase();
            let own: String =
                key.name.chars().filter(char::is_ascii_alphanumeric).collect::<String>().to_ascii_lowercase();
            let alike = LOOKS_ALIKE.contains(&own.as_str()) || letters.ends_with("nativecgroupdriver");
            match &node.item {
                Item::Table(inner) => self.look_alikes(file, inner, path),
                Item::Text(_) | Item::Bool(_) if alike => {
                    let place = Place { source: file.id, span: node.span };
                    self.settings.push(setting(path, &file.text[node.span.start..node.span.end], place));
                }
                _ => {}
            }
            path.pop();
        }
    }
}

fn setting(path: &[String], value: &str, place: Place) -> Row {
    let parts: Vec<&str> = path.iter().map(String::as_str).collect();
    let is = |part: &str, name: &str| part.eq_ignore_ascii_case(name);
    let because = match parts.as_slice() {
        [crio, runtime, key] if is(crio, "crio") && is(runtime, "runtime") && is(key, "cgroup_manager") => {
            None
        }
        [.., key] if is(key, "cgroup_manager") => Some("CRI-O reads it in [crio.runtime] only"),
        _ => Some("CRI-O calls it cgroup_manager"),
    };
    let cell = |value: Value| {
        let written = path.to_vec().into();
        Known::Is(vec![Said { value, origin: Origin { written, ..Origin::new(Layer::File, place) } }])
    };
    vec![
        ("key", cell(Value::text(parts.join(".")))),
        ("value", cell(Value::text(value.trim_matches(['"', '\''])))),
        ("effective", cell(Value::Bool(because.is_none()))),
        ("because", because.map_or(Known::ABSENT, |because| cell(Value::text(because)))),
    ]
}

fn parse(generation: Generation, file: &Captured) -> Result<Table, Fatal> {
    let old = generation < Generation::V122;
    let dialect = if old { Dialect::BurntSushi } else { Dialect::GoTomlV2 };
    let fatal = |span, message| Fatal { place: Place { source: file.id, span }, message };
    // blanks in the place of a byte order mark keep every span
    let text = match file.text.strip_prefix('\u{feff}') {
        Some(rest) if !old => format!("   {rest}"),
        _ => file.text.to_string(),
    };
    if let (false, Some(at)) = (old, text.find('\0')) {
        return Err(fatal(Span::new(at, at + 1), "a NUL byte".to_owned()));
    }
    toml::parse(&text, dialect, file.invalid_utf8).map_err(|e| fatal(e.span, e.message))
}

/// The tables of a name, in any case; a value of another type stops the daemon.
fn tables<'a>(table: &'a Table, name: &str) -> Result<Vec<&'a Table>, (Span, String)> {
    let fitting = table.entries.iter().filter(|(key, _)| key.name.eq_ignore_ascii_case(name));
    fitting
        .map(|(key, node)| match &node.item {
            Item::Table(table) => Ok(table),
            _ => Err((node.span, format!("`{}` is no table", key.name))),
        })
        .collect()
}

fn string(file: &Captured, key: &Key, node: &Node) -> Result<(String, Place), Fatal> {
    let place = Place { source: file.id, span: node.span };
    match &node.item {
        Item::Text(text) => Ok((text.clone(), place)),
        _ => Err(Fatal { place, message: format!("`{}` is no string", key.name) }),
    }
}

fn runtime_of(file: &Captured, node: &Node, fields: &Table) -> Result<Runtime, Fatal> {
    let mut runtime =
        Runtime { place: Some(Place { source: file.id, span: node.span }), ..Runtime::default() };
    for (key, node) in &fields.entries {
        let field = match key.name.to_ascii_lowercase().as_str() {
            "runtime_path" => &mut runtime.path,
            "runtime_type" => &mut runtime.kind,
            "monitor_cgroup" => &mut runtime.monitor,
            _ => continue,
        };
        *field = Some(string(file, key, node)?);
    }
    Ok(runtime)
}
