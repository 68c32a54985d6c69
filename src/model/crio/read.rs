//! One file after the other laid over what is known: key by key, but a runtime's table whole.

use super::settings::look_alikes;
use super::{Fatal, Generation, Input, Statements, default, told};
use crate::fact::{Layer, Origin, Row};
use crate::model::Captured;
use crate::model::toml::{self, Dialect, Item, Key, Node, Table};
use crate::text::{Place, SourceId, Span};
use std::collections::BTreeMap;

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
        look_alikes(file, &root, &mut Vec::new(), &mut self.settings);
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
