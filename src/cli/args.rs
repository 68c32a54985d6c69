//! The command line as clap sees it.

use crate::collect::Options;
use crate::node::Door;
use crate::version::Version;
use clap::{Args, Parser, Subcommand, ValueEnum};
use std::path::PathBuf;

#[derive(Debug, Parser)]
#[command(
    name = "nodevet",
    version,
    about = "Vet a Kubernetes node: do its runtime, kubelet, init system and cgroups agree?",
    long_about = None,
    args_conflicts_with_subcommands = true,
    disable_help_subcommand = true
)]
pub(super) struct Cli {
    #[command(subcommand)]
    pub(super) verb: Option<Verb>,
    #[command(flatten)]
    pub(super) check: Check,
}

#[derive(Debug, Subcommand)]
pub(super) enum Verb {
    /// Look, judge, report; what a bare `nodevet` does
    Check(Check),
    /// Show what was seen and where: value, file:line, layer, what it overrode
    Facts(Facts),
    /// Save everything that was read as a root for --root (fixture, bug report)
    Capture(Capture),
    /// List the rules, show one, or run the examples in rule files
    Rules(Rules),
    /// Explain a rule, with its examples
    Explain(Explain),
    /// Print the JSON schema of machine output
    Schema(Schema),
}

/// Which node, and what is said about it.
#[derive(Debug, Default, Args)]
#[command(next_help_heading = "Node")]
pub(super) struct NodeArgs {
    /// Read this tree instead of / (image, fixture, capture); no socket is opened, no program run
    #[arg(long, value_name = "DIR", conflicts_with = "host")]
    pub(super) root: Option<String>,
    /// A live host mounted at DIR: its sockets are asked, none of its programs is run
    #[arg(long, value_name = "DIR")]
    pub(super) host: Option<String>,
    /// Take a daemon's version as given (containerd, kubelet, systemd, docker, cri-dockerd, crio); beats all evidence
    #[arg(long, value_name = "NAME=VERSION")]
    pub(super) assume: Vec<String>,
    /// containerd's main file, instead of the one found
    #[arg(long, value_name = "FILE")]
    pub(super) containerd_config: Option<String>,
    /// How long a probe of a bus or socket may take, e.g. 2s, 500ms [default: 2s]
    #[arg(long, value_name = "TIME")]
    pub(super) timeout: Option<String>,
    /// The clock: seconds since the epoch, or a date such as 2027-03-01
    #[arg(long, value_name = "TIME")]
    pub(super) now: Option<String>,
}

/// Which rules.
#[derive(Debug, Default, Args)]
#[command(next_help_heading = "Rules")]
pub(super) struct RuleArgs {
    /// Configuration [default: /etc/nodevet.toml, else $XDG_CONFIG_HOME/nodevet/config.toml]
    #[arg(short, long, value_name = "FILE", conflicts_with = "no_config")]
    pub(super) config: Option<PathBuf>,
    /// Read no configuration
    #[arg(long)]
    pub(super) no_config: bool,
    /// More rules: a file or a directory, beside /etc/nodevet/rules.d
    #[arg(long, value_name = "PATH")]
    pub(super) rules: Vec<PathBuf>,
    /// Judge only these: codes, prefixes (NV1) or names
    #[arg(long, value_name = "RULE", value_delimiter = ',')]
    pub(super) select: Vec<String>,
    /// Do not judge these
    #[arg(long, value_name = "RULE", value_delimiter = ',')]
    pub(super) ignore: Vec<String>,
}

/// How much is said, and how it looks.
#[derive(Debug, Default, Args)]
#[command(next_help_heading = "Output")]
pub(super) struct LookArgs {
    /// Colours; auto: on a terminal, unless NO_COLOR or CLICOLOR_FORCE say otherwise
    #[arg(long, value_name = "WHEN", value_enum, default_value_t)]
    pub(super) color: Color,
    /// More: what passed, with the facts read; what each fact is. Twice: every probe on stderr
    #[arg(short, long, action = clap::ArgAction::Count)]
    pub(super) verbose: u8,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(super) enum Color {
    #[default]
    Auto,
    Always,
    Never,
}

#[derive(Debug, Default, Args)]
pub(super) struct Check {
    #[command(flatten)]
    pub(super) node: NodeArgs,
    #[command(flatten)]
    pub(super) rules: RuleArgs,
    #[command(flatten)]
    pub(super) look: LookArgs,
    /// Findings only; twice: exit code only
    #[arg(short, long, action = clap::ArgAction::Count, conflicts_with = "verbose", help_heading = "Output")]
    pub(super) quiet: u8,
    /// text, short or json [default: text]
    #[arg(short, long, value_name = "FORMAT", help_heading = "Output")]
    pub(super) format: Option<String>,
    /// Also write a report to a file, atomically; repeatable
    #[arg(short, long, value_name = "FORMAT=FILE", help_heading = "Output")]
    pub(super) output: Vec<String>,
    /// What makes the exit code 1: error, warning, note, unknown or never [default: error]
    #[arg(long, value_name = "LEVEL", help_heading = "Output")]
    pub(super) fail_on: Option<String>,
    /// Hide findings below this severity (error, warning, note)
    #[arg(long, value_name = "LEVEL", help_heading = "Output")]
    pub(super) min_severity: Option<String>,
    /// Hide findings below this confidence (certain, likely, possible)
    #[arg(long, value_name = "LEVEL", help_heading = "Output")]
    pub(super) min_confidence: Option<String>,
}

#[derive(Debug, Args)]
pub(super) struct Facts {
    /// Names, or prefixes such as `containerd.`; all when none is given
    #[arg(value_name = "NAME")]
    pub(super) names: Vec<String>,
    #[command(flatten)]
    pub(super) node: NodeArgs,
    #[command(flatten)]
    pub(super) look: LookArgs,
    /// text or json
    #[arg(short, long, value_name = "FORMAT", default_value = "text", help_heading = "Output")]
    pub(super) format: String,
    /// What the daemons will run with after their next start, not what they run with now
    #[arg(long)]
    pub(super) next_start: bool,
}

#[derive(Debug, Args)]
pub(super) struct Capture {
    /// A directory that does not exist yet
    #[arg(value_name = "DIR")]
    pub(super) dir: PathBuf,
    #[command(flatten)]
    pub(super) node: NodeArgs,
}

#[derive(Debug, Args)]
pub(super) struct Rules {
    #[command(subcommand)]
    pub(super) verb: Option<RulesVerb>,
    /// More rules: a file or a directory
    #[arg(long, value_name = "PATH", global = true)]
    pub(super) rules: Vec<PathBuf>,
}

#[derive(Debug, Subcommand)]
pub(super) enum RulesVerb {
    /// Code, name, severity and summary of each
    List,
    /// The law, its explanation and examples
    Show { rule: String },
    /// Run the examples of rule files; without a path, those of the built-in rules
    Test { paths: Vec<PathBuf> },
}

#[derive(Debug, Args)]
pub(super) struct Explain {
    /// Code or name
    pub(super) rule: String,
    /// More rules: a file or a directory
    #[arg(long, value_name = "PATH")]
    pub(super) rules: Vec<PathBuf>,
}

#[derive(Debug, Args)]
pub(super) struct Schema {
    /// check or facts
    #[arg(default_value = "check")]
    pub(super) document: String,
}

/// What `--assume` takes.
const DAEMONS: [&str; 6] = ["containerd", "kubelet", "systemd", "docker", "cri-dockerd", "crio"];

impl NodeArgs {
    pub(super) fn door(&self) -> Door {
        match (&self.root, &self.host) {
            (Some(dir), _) => Door::Root(dir.clone()),
            (None, Some(dir)) => Door::Host(dir.clone()),
            (None, None) => Door::Here,
        }
    }

    /// What is said of the node. `epoch` is SOURCE_DATE_EPOCH.
    pub(super) fn options(&self, epoch: Option<&str>) -> Result<Options, String> {
        let mut options = Options { containerd_config: self.containerd_config.clone(), ..Options::default() };
        if let Some(path) = options.containerd_config.as_mut().filter(|p| !p.starts_with('/')) {
            // a path of the node: on this machine as the shell means it, else below the door
            *path = match self.door() {
                Door::Here => std::path::absolute(&*path).ok().and_then(|p| p.to_str().map(str::to_owned)),
                Door::Root(_) | Door::Host(_) => None,
            }
            .unwrap_or_else(|| format!("/{}", path.trim_start_matches("./")));
        }
        for assumed in &self.assume {
            let (name, version) = assumed
                .split_once('=')
                .ok_or_else(|| format!("--assume {assumed}: expected NAME=VERSION, e.g. containerd=2.1.9"))?;
            if !DAEMONS.contains(&name) {
                let near = crate::names::nearest(name, DAEMONS.into_iter()).unwrap_or(DAEMONS[0]);
                return Err(format!("--assume {assumed}: no daemon `{name}`; did you mean `{near}`?"));
            }
            let version = version.trim();
            if Version::parse(version).is_none() {
                return Err(format!(
                    "--assume {assumed}: `{version}` is not a version such as 2.1.9, 2.1 or 1.7.24~ds1"
                ));
            }
            // containerd 2 and kubelet 1 are no versions to judge by
            if name != "systemd" && !has_two_parts(version) {
                let such = match name {
                    "kubelet" | "crio" => "1.34",
                    "docker" => "28.5",
                    "cri-dockerd" => "0.3",
                    _ => "2.1",
                };
                return Err(format!("--assume {assumed}: `{version}` has one part: say two, such as {such}"));
            }
            options.assume.insert(name.to_owned(), version.to_owned());
        }
        let epoch = epoch.filter(|e| !e.is_empty()).map(|e| ("SOURCE_DATE_EPOCH", e));
        if let Some((from, now)) = self.now.as_deref().map(|n| ("--now", n)).or(epoch) {
            let seconds = now.parse().ok().or_else(|| crate::config::date::instant(now));
            let wrong = || format!("{from} {now}: expected seconds since the epoch or a date");
            options.now = Some(seconds.ok_or_else(wrong)?);
        }
        Ok(options)
    }
}

/// Whether a version says more than its first number, after an epoch and a `v`.
fn has_two_parts(version: &str) -> bool {
    let body = version.split_once(':').map_or(version, |(_, body)| body).trim_start_matches('v');
    body.trim_start_matches(|c: char| c.is_ascii_digit()).starts_with('.')
}
