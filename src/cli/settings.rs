//! What decides a run beside the node: the configuration file, the rules, the door.

use super::{Env, Trouble, args};
use crate::config::Config;
use crate::fact::{Known, Why};
use crate::node::{Door, Node};
use crate::report::{Style, trouble};
use crate::rule::{self, Loaded};
use std::collections::BTreeSet;
use std::io;
use std::path::Path;
use std::time::Duration;

/// Where a node keeps its configuration of this program.
const CONFIG: &str = "/etc/nodevet.toml";
/// Where a node keeps rules of its own.
const RULES: &str = "/etc/nodevet/rules.d";
const TIMEOUT: Duration = Duration::from_secs(2);

/// Opens the door that the arguments name.
pub(super) fn open(node: &args::NodeArgs, configured: Option<Duration>) -> Result<Node, Trouble> {
    Ok(Node::open(node.door(), timeout(node, configured)?)?)
}

/// How long a probe may take: the flag, else the configuration.
pub(super) fn timeout(node: &args::NodeArgs, configured: Option<Duration>) -> Result<Duration, Trouble> {
    match &node.timeout {
        Some(text) => crate::config::date::duration(text)
            .ok_or_else(|| format!("--timeout {text}: expected a time such as 2s or 500ms").into()),
        None => Ok(configured.unwrap_or(TIMEOUT)),
    }
}

/// `-vv`: everything that was touched, a line each.
pub(super) fn tell_probes(node: &Node, err: &mut dyn io::Write) -> io::Result<()> {
    node.touched(&mut |what, how| writeln!(err, "{how:<8} {what}"))
}

/// A configuration file, with its text for diagnostics and suppressions.
pub(super) struct Configured {
    pub(super) config: Config,
    pub(super) file: Option<(String, String)>,
}

/// Reads the configuration: the file named, else the node's own, else the user's.
pub(super) fn config(
    args: &args::RuleArgs,
    node: &Node,
    env: &Env,
    style: &Style,
) -> Result<Configured, Trouble> {
    let found = if args.no_config {
        None
    } else if let Some(path) = &args.config {
        Some((path.display().to_string(), local(path)?))
    } else {
        match node.read(CONFIG) {
            Known::Is(text) => Some((CONFIG.to_owned(), text.text.to_string())),
            Known::Unknown(why) => return Err(unread(CONFIG, &why)),
            Known::Absent(_) => users(node, env)?,
        }
    };
    let Some((name, text)) = found else { return Ok(Configured { config: Config::default(), file: None }) };
    match Config::parse(&text) {
        Ok(config) => Ok(Configured { config, file: Some((name, text)) }),
        Err(e) => Err(Trouble::Drawn(trouble(&name, &text, e.span, &e.message, None, style))),
    }
}

/// The configuration of the user, on this machine only.
fn users(node: &Node, env: &Env) -> Result<Option<(String, String)>, Trouble> {
    let base = match (env.var("XDG_CONFIG_HOME"), env.var("HOME")) {
        (Some(dir), _) if dir.starts_with('/') => dir.to_owned(),
        (_, Some(home)) if home.starts_with('/') => format!("{home}/.config"),
        _ => return Ok(None),
    };
    let path = format!("{base}/nodevet/config.toml");
    match if node.runs_programs() { node.read(&path) } else { Known::ABSENT } {
        Known::Is(text) => Ok(Some((path, text.text.to_string()))),
        // a HOME that is somebody else's, as under `sudo -u`, holds nothing of this user
        Known::Absent(_) | Known::Unknown(Why::Denied(_)) => Ok(None),
        Known::Unknown(why) => Err(unread(&path, &why)),
    }
}

/// Rule files: the node's own and those named, each with its text, in order.
pub(super) fn rule_files(
    node: Option<&Node>,
    configured: &[String],
    named: &[std::path::PathBuf],
) -> Result<Vec<(String, String)>, Trouble> {
    let mut files: Vec<(String, String)> = Vec::new();
    if let Some(node) = node {
        for name in toml_names(node, RULES)? {
            let path = format!("{RULES}/{name}");
            files.push((path.clone(), text(node, &path)?));
        }
    }
    for path in configured.iter().map(Path::new).chain(named.iter().map(|p| p.as_path())) {
        let path = absolute(path)?;
        let here = here()?;
        match here.is_dir(&path) {
            Known::Is(true) => {
                for name in toml_names(&here, &path)? {
                    let file = format!("{}/{name}", path.trim_end_matches('/'));
                    files.push((file.clone(), text(&here, &file)?));
                }
            }
            _ => files.push((path.clone(), text(&here, &path)?)),
        }
    }
    // the same file may be named by the configuration and by a flag
    let mut seen = BTreeSet::new();
    files.retain(|(path, _)| seen.insert(path.clone()));
    Ok(files)
}

/// Users' rules; all errors of all files at once.
pub(super) fn user_rules(files: &[(String, String)]) -> Result<Vec<Loaded>, Trouble> {
    let (loaded, errors) = rule::load_users(files);
    if errors.is_empty() {
        return Ok(loaded);
    }
    Err(Trouble::Drawn(errors.iter().map(|e| format!("error: {e}\n")).collect()))
}

/// Reads what a check would read of the node beside its daemons, for a capture.
pub(super) fn touch(node: &Node) {
    let _ = node.read(CONFIG);
    for name in toml_names(node, RULES).unwrap_or_default() {
        let _ = node.read(&format!("{RULES}/{name}"));
    }
}

fn toml_names(node: &Node, dir: &str) -> Result<Vec<String>, Trouble> {
    match node.list(dir) {
        Known::Is(entries) => {
            Ok(entries.into_iter().map(|e| e.name).filter(|n| n.ends_with(".toml")).collect())
        }
        Known::Absent(_) => Ok(Vec::new()),
        Known::Unknown(why) => Err(unread(dir, &why)),
    }
}

/// A file of the machine that nodevet runs on.
fn local(path: &Path) -> Result<String, Trouble> {
    text(&here()?, &absolute(path)?)
}

/// The machine that nodevet runs on, for files that are no part of the node.
pub(super) fn here() -> Result<Node, Trouble> {
    Ok(Node::open(Door::Here, TIMEOUT)?)
}

fn text(node: &Node, path: &str) -> Result<String, Trouble> {
    match node.read(path) {
        Known::Is(text) if text.invalid_utf8.is_none() => Ok(text.text.to_string()),
        Known::Is(_) => Err(format!("cannot read {path}: not UTF-8").into()),
        Known::Absent(_) => Err(format!("cannot read {path}: no such file").into()),
        Known::Unknown(why) => Err(unread(path, &why)),
    }
}

/// One of a few words that a flag takes.
pub(super) fn level<T: Copy>(
    flag: &str,
    said: Option<&str>,
    known: &[(&'static str, T)],
) -> Result<Option<T>, Trouble> {
    let Some(said) = said else { return Ok(None) };
    if let Some((_, level)) = known.iter().find(|(name, _)| *name == said) {
        return Ok(Some(*level));
    }
    let names: Vec<&str> = known.iter().map(|(name, _)| *name).collect();
    let hint = match crate::names::nearest(said, names.iter().copied()) {
        Some(near) => format!("did you mean `{near}`?"),
        None => format!("expected {}", names.join(", ")),
    };
    Err(format!("{flag} {said}: {hint}").into())
}

/// What the system says, without the number.
pub(super) fn reason(error: &io::Error) -> String {
    let text = error.to_string();
    text.split(" (os error").next().unwrap_or_default().to_lowercase()
}

/// A file or directory that is there and cannot be read; the path is said once.
fn unread(path: &str, why: &Why) -> Trouble {
    match why {
        Why::Denied(_) => format!("cannot read {path}: permission denied").into(),
        Why::Unreadable(_, met) => format!("cannot read {path}: {met}").into(),
        why => format!("cannot read {path}: {why}").into(),
    }
}

fn absolute(path: &Path) -> Result<String, Trouble> {
    let path = std::path::absolute(path)?;
    path.to_str().map(str::to_owned).ok_or_else(|| format!("{} is not UTF-8", path.display()).into())
}
