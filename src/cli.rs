//! The verbs. The only place that knows all modules; wires the stages and decides the exit code.

mod args;
pub mod bench;
mod capture;
mod check;
mod facts;
mod rules;
mod settings;
mod told;

use crate::report::{ColorChoice, Detail, Style, Surroundings};
use clap::Parser;
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::io;

/// What a run may depend on beside its arguments.
#[derive(Clone, Debug, Default)]
pub struct Env {
    pub vars: BTreeMap<String, String>,
    /// Whether stdout is a terminal, and how wide.
    pub tty: bool,
    pub width: Option<usize>,
}

impl Env {
    /// This process's.
    pub fn here() -> Env {
        use std::io::IsTerminal;
        let vars: BTreeMap<String, String> = std::env::vars_os()
            .filter_map(|(k, v)| Some((k.into_string().ok()?, v.into_string().ok()?)))
            .collect();
        let width = vars.get("COLUMNS").and_then(|c| c.parse().ok());
        Env { vars, tty: io::stdout().is_terminal(), width }
    }

    fn var(&self, name: &str) -> Option<&str> {
        self.vars.get(name).map(String::as_str)
    }

    fn style(&self, look: &args::LookArgs) -> Style {
        let color = match look.color {
            args::Color::Auto => ColorChoice::Auto,
            args::Color::Always => ColorChoice::Always,
            args::Color::Never => ColorChoice::Never,
        };
        let style = Style::decide(Surroundings {
            color,
            no_color: self.var("NO_COLOR"),
            clicolor_force: self.var("CLICOLOR_FORCE"),
            term: self.var("TERM"),
            lc_all: self.var("LC_ALL"),
            lc_ctype: self.var("LC_CTYPE"),
            lang: self.var("LANG"),
            is_tty: self.tty,
            width: self.width,
        });
        let detail = if look.verbose > 0 { Detail::Verbose } else { Detail::Normal };
        Style { detail, ..style }
    }
}

/// Why a run could not do its work: exit code 2.
#[derive(Debug)]
enum Trouble {
    /// One line.
    Said(String),
    /// Already drawn, with snippet and line ends.
    Drawn(String),
    /// stdout or a file could not be written.
    Output(io::Error),
}

impl From<io::Error> for Trouble {
    fn from(error: io::Error) -> Trouble {
        Trouble::Output(error)
    }
}

impl From<String> for Trouble {
    fn from(text: String) -> Trouble {
        Trouble::Said(text)
    }
}

/// Runs the program: results on `out`, everything else on `err`. Gives the exit code:
/// 0 clean, 1 findings at or above `--fail-on`, 2 the work could not be done.
pub fn run(
    arguments: impl IntoIterator<Item = OsString>,
    env: &Env,
    out: &mut dyn io::Write,
    err: &mut dyn io::Write,
) -> u8 {
    let cli = match args::Cli::try_parse_from(arguments) {
        Ok(cli) => cli,
        Err(e) => {
            // --help and --version are results
            let asked = !e.use_stderr();
            let _ = if asked { write!(out, "{}", e.render()) } else { write!(err, "{}", e.render()) };
            return if asked { 0 } else { 2 };
        }
    };
    let done = match cli.verb.unwrap_or(args::Verb::Check(cli.check)) {
        args::Verb::Check(check) => check::run(&check, env, out, err),
        args::Verb::Facts(facts) => facts::run(&facts, env, out, err),
        args::Verb::Capture(capture) => capture::run(&capture, env, err),
        args::Verb::Rules(rules) => rules::run(&rules, out),
        args::Verb::Explain(explain) => rules::explain(&explain.rule, &explain.rules, out),
        args::Verb::Schema(schema) => rules::schema(&schema.document, out),
    };
    let flushed = out.flush();
    match (done, flushed) {
        (Ok(code), Ok(())) => code,
        // who closes the pipe has seen enough
        (Ok(code), Err(e)) if e.kind() == io::ErrorKind::BrokenPipe => code,
        (Err(Trouble::Output(e)), _) if e.kind() == io::ErrorKind::BrokenPipe => 0,
        (Ok(_), Err(e)) | (Err(Trouble::Output(e)), _) => {
            let _ = writeln!(err, "error: cannot write: {}", settings::reason(&e));
            2
        }
        (Err(Trouble::Said(text)), _) => {
            let _ = writeln!(err, "error: {text}");
            2
        }
        (Err(Trouble::Drawn(text)), _) => {
            let _ = write!(err, "{text}");
            2
        }
    }
}
