//! `nodevet check`: look, judge, report.

use super::{Env, Trouble, args, settings};
use crate::config::select::{RuleName, Selection};
use crate::config::{Config, FailOn};
use crate::evaluate::evaluate;
use crate::fact::Known;
use crate::finding::{Confidence, Finding, Outcome, Severity, Verdict};
use crate::fix;
use crate::look::Look;
use crate::names::nearest;
use crate::report::{Format, Report};
use crate::rule::{self, Home, Rule};
use crate::suppress::{self, Means};
use crate::text::Kind;
use crate::write;
use std::io;
use std::path::Path;

pub(super) fn run(
    args: &args::Check,
    env: &Env,
    out: &mut dyn io::Write,
    err: &mut dyn io::Write,
) -> Result<u8, Trouble> {
    let style = env.style(&args.look);
    let formats = Outputs::of(args)?;
    let probe = settings::open(&args.node, None)?;
    let configured = settings::config(&args.rules, &probe, env, &style)?;
    let config = &configured.config;
    let limits = Limits::of(args, config)?;
    let mut node = probe;
    node.timeout = settings::timeout(&args.node, config.timeout)?;
    let options = args.node.options(env.var("SOURCE_DATE_EPOCH"))?;

    let rules = all_rules(&settings::rule_files(Some(&node), &config.rules, &args.rules.rules)?)?;
    let names: Vec<RuleName> = rules.iter().map(|r| RuleName { code: &r.code, name: &r.name }).collect();
    let select = if args.rules.select.is_empty() { &config.select } else { &args.rules.select };
    let ignore: Vec<String> = config.ignore.iter().chain(&args.rules.ignore).cloned().collect();
    let selection = Selection::new(select, &ignore, &names).map_err(|e| e.to_string())?;
    let chosen: Vec<Rule> = rules.iter().filter(|r| selection.has(&r.code, &r.name)).cloned().collect();

    let mut look = Look::at(&node, &options);
    if args.look.verbose > 1 {
        settings::tell_probes(&node, err)?;
    }
    let config_source = configured.file.as_ref().map(|(name, text)| {
        let id = look.collected.sources.add(name.as_str(), Kind::File, text.as_str());
        (id, config.silenced.as_slice())
    });
    let sources = &look.collected.sources;
    let mut verdicts = evaluate(&chosen, &look.now, &look.next, sources);
    lower(&look, &mut verdicts);
    let now = look.now.merged.named("host.now").value.is().and_then(|v| v.as_int());
    let means = Means { config: config_source, rules: &names, selection: &selection, now };
    let (verdicts, suppressed) = suppress::apply(verdicts, sources, &means);

    let mut report = Report::new(sources, verdicts, suppressed);
    report.kubernetes = has_kubernetes(&look);
    report.min_severity = limits.severity;
    report.min_confidence = limits.confidence;
    for (format, path) in &formats.files {
        let mut bytes = Vec::new();
        format.print(&report, &crate::report::Style { color: false, ..style }, &mut bytes)?;
        write::replace(Path::new(path), &bytes, 0o644).map_err(|e| format!("cannot write {path}: {e}"))?;
    }
    if args.look.quiet < 2 {
        formats.stdout.print(&report, &style, out)?;
    }
    Ok(report.exit_code(limits.fail_on))
}

/// The built-in rules and those of files; all errors of all files at once.
pub(super) fn all_rules(files: &[(String, String)]) -> Result<Vec<Rule>, Trouble> {
    let mut rules = rule::builtin();
    let (loaded, errors) = rule::load_all(files.iter().map(|(p, t)| (p.as_str(), t.as_str())), Home::User);
    if !errors.is_empty() {
        return Err(Trouble::Drawn(errors.iter().map(|e| format!("error: {e}\n")).collect()));
    }
    rules.extend(loaded.into_iter().filter_map(|l| l.rule));
    Ok(rules)
}

/// Says where each fix would write.
fn lower(look: &Look, verdicts: &mut [Verdict]) {
    let mut findings: Vec<&mut Finding> = verdicts
        .iter_mut()
        .filter_map(
            |v| if let Outcome::Finding(finding) = &mut v.outcome { Some(&mut **finding) } else { None },
        )
        .collect();
    fix::lower(&mut findings, |fix, intent| look.home(fix, intent));
}

/// Whether there is a kubelet or a container runtime at all.
fn has_kubernetes(look: &Look) -> bool {
    let here = |name: &str| !matches!(look.now.merged.named(name).value, Known::Absent(_));
    here("containerd.config_file") || here("kubelet.runtime_endpoint")
}

/// Where reports go.
struct Outputs {
    stdout: Format,
    files: Vec<(Format, String)>,
}

impl Outputs {
    fn of(args: &args::Check) -> Result<Outputs, Trouble> {
        let named = |name: &str| Format::named(name).map_err(|e| e.to_string());
        let stdout = args.format.as_deref().map_or(Ok(Format::TEXT), named)?;
        let mut files = Vec::new();
        for output in &args.output {
            let (format, path) = output
                .split_once('=')
                .filter(|(_, path)| !path.is_empty())
                .ok_or_else(|| format!("-o {output}: expected FORMAT=FILE, e.g. json=report.json"))?;
            files.push((named(format)?, path.to_owned()));
        }
        Ok(Outputs { stdout, files })
    }
}

/// What counts and what is shown: flags before configuration.
struct Limits {
    fail_on: FailOn,
    severity: Option<Severity>,
    confidence: Option<Confidence>,
}

impl Limits {
    fn of(args: &args::Check, config: &Config) -> Result<Limits, Trouble> {
        let fail_on = [
            ("error", FailOn::Error),
            ("warning", FailOn::Warning),
            ("note", FailOn::Note),
            ("unknown", FailOn::Unknown),
            ("never", FailOn::Never),
        ];
        let severities =
            [("error", Severity::Error), ("warning", Severity::Warning), ("note", Severity::Note)];
        let confidences = [
            ("certain", Confidence::Certain),
            ("likely", Confidence::Likely),
            ("possible", Confidence::Possible),
        ];
        Ok(Limits {
            fail_on: level("--fail-on", args.fail_on.as_deref(), &fail_on)?
                .or(config.fail_on)
                .unwrap_or_default(),
            severity: level("--min-severity", args.min_severity.as_deref(), &severities)?
                .or(config.min_severity),
            confidence: level("--min-confidence", args.min_confidence.as_deref(), &confidences)?
                .or(config.min_confidence),
        })
    }
}

fn level<T: Copy>(flag: &str, said: Option<&str>, known: &[(&'static str, T)]) -> Result<Option<T>, Trouble> {
    let Some(said) = said else { return Ok(None) };
    if let Some((_, level)) = known.iter().find(|(name, _)| *name == said) {
        return Ok(Some(*level));
    }
    let names: Vec<&str> = known.iter().map(|(name, _)| *name).collect();
    let hint = match nearest(said, names.iter().copied()) {
        Some(near) => format!("did you mean `{near}`?"),
        None => format!("expected {}", names.join(", ")),
    };
    Err(format!("{flag} {said}: {hint}").into())
}
