//! One start of the kubelet: what its command line and files come to in a version.

use super::decode::Ignored;
use super::effective::{Effective, Refusal};
use super::files::{DropIns, File, drop_ins};
use super::flags;
use super::merge::{self, Inputs};
use super::settings;
use super::validate::{Host, judge};
use crate::fact::{Known, Layer, Origin, Said, Why};
use crate::model::Reader;
use crate::model::unit::Argument;
use crate::text::{Place, Span, line_span};

/// A start with all that it reads, before any version is known.
#[derive(Debug)]
pub struct Start {
    pub args: Vec<Argument>,
    base: Option<(File, Place)>,
    drop_ins: Option<DropIns>,
    variable: Known<bool>,
}

/// What a version makes of a start.
#[derive(Debug)]
pub struct Outcome {
    /// What is in force; absent when the files do not load.
    pub config: Known<Effective>,
    /// What stops the kubelet before it asks the runtime, in its order.
    pub refusals: Vec<Refusal>,
    /// Checks that could not be made.
    pub unclear: Vec<(String, Why)>,
    pub ignored: Vec<Ignored>,
    /// Flags that are deprecated, each where it stands.
    pub deprecated: Vec<Said>,
}

impl Start {
    /// Reads the files that a command line names; relative paths begin at `directory`. `variable`
    /// tells whether the environment has [`merge::DROP_IN_VARIABLE`].
    pub fn read(
        reader: &mut dyn Reader,
        args: Vec<Argument>,
        variable: Known<bool>,
        directory: &str,
    ) -> Start {
        let absolute = |path: String| match path.starts_with('/') {
            true => path,
            false => format!("{}/{path}", directory.trim_end_matches('/')),
        };
        let named = |name: &str| flags::value(&args, name).filter(|(value, _)| !value.is_empty());
        let base = named("config").map(|(path, said)| (File::base(reader, &absolute(path)), said));
        let drop_ins = named("config-dir").map(|(dir, said)| drop_ins(reader, &absolute(dir), said));
        Start { args, base, drop_ins, variable }
    }

    /// A start of which only the file is known, found in a usual place; `dir` is a directory of
    /// drop-ins that installers name.
    pub fn guessed(reader: &mut dyn Reader, path: &str, dir: Option<&str>) -> Start {
        let file = File::base(reader, path);
        let said = file.text.is().map(|text| Place { source: text.id, span: line_span(&text.text, 1) });
        let drop_ins = match (dir, said) {
            (Some(dir), Some(said)) => Some(drop_ins(reader, dir, said)),
            _ => None,
        };
        let base = said.map(|said| (file, said));
        Start { args: Vec::new(), base, drop_ins, variable: Known::ABSENT }
    }

    /// Path of the file of `--config` and where it is named.
    pub fn config_file(&self) -> Option<(&str, Origin)> {
        let (file, said) = self.base.as_ref()?;
        let guessed = file.text.is().is_some_and(|text| text.id == said.source);
        let layer = if guessed { Layer::File } else { Layer::Flag };
        Some((&file.path, Origin::new(layer, *said)))
    }

    /// What labels point at where nothing nearer is known.
    pub fn near(&self) -> Option<Place> {
        let file =
            self.base.as_ref().and_then(|(file, said)| Some(file.at(first_line(file)?).unwrap_or(*said)));
        file.or(self.args.first().map(|word| word.place))
    }

    /// The drop-ins in the order of merging, each with its first line.
    pub fn drop_in_files(&self) -> Vec<(&str, Option<Place>)> {
        let files = self.drop_ins.iter().flat_map(|found| &found.files);
        let first = |file: &File| file.at(first_line(file)?);
        files.map(|file| (file.path.as_str(), first(file))).collect()
    }

    /// The directory of drop-ins, and whether it is a link that is not followed.
    pub fn drop_in_dir(&self) -> Option<(&str, Place, bool)> {
        self.drop_ins.as_ref().map(|found| (found.dir.0.as_str(), found.dir.1, found.link))
    }

    /// Files beside the drop-ins that are not merged, though they look like it.
    pub fn drop_in_strays(&self) -> &[(String, Place)] {
        self.drop_ins.as_ref().map_or(&[], |found| &found.strays)
    }

    /// What a version makes of it; `minors` of 1.x are those that it may be, and the first stands for
    /// all that follow the same steps.
    pub fn outcome(&self, reader: &mut dyn Reader, minors: &[u32], host: &Host) -> Outcome {
        let minor = minors.first().copied().unwrap_or_default();
        let inputs = Inputs {
            base: self.base.as_ref().map(|(file, said)| (file, *said)),
            drop_ins: self.drop_ins.as_ref(),
            variable: &self.variable,
            near: self.args.first().map(|word| word.place),
        };
        let loading = merge::load(reader, &inputs, minor);
        let command = settings::read(&self.args, minor);
        let mut outcome = Outcome {
            config: Known::ABSENT,
            refusals: command.refusal.into_iter().collect(),
            unclear: Vec::new(),
            ignored: loading.ignored,
            deprecated: settings::deprecated(&command.line),
        };
        if let Some(refusal) = loading.refusal {
            let note = format!("the kubelet does not start: {}", refusal.message);
            outcome.config = Known::Absent(note.into());
            outcome.refusals.push(refusal);
            return outcome;
        }
        let mut config = loading.config;
        settings::over(&mut config, &command.line);
        let verdict = judge(&config, minors, host);
        outcome.refusals.extend(verdict.refusals);
        outcome.unclear.extend(verdict.unclear);
        outcome.config = Known::Is(config);
        outcome
    }
}

fn first_line(file: &File) -> Option<Span> {
    file.text.is().map(|text| line_span(&text.text, 1))
}
