//! `nodevet check`: look, judge, report.

use super::{Env, Trouble, args, settings, told};
use crate::config::select::{RuleName, Selection, known};
use crate::config::{self, Config, FailOn};
use crate::evaluate::evaluate;
use crate::finding::{Confidence, Finding, Outcome, Severity, Verdict};
use crate::fix;
use crate::look::Look;
use crate::report::{Detail, Format, Report, Style, trouble};
use crate::rule;
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
    let mut style = env.style(&args.look);
    if args.quiet > 0 {
        style.detail = Detail::Findings;
    }
    let formats = Outputs::of(args)?;
    let probe = settings::open(&args.node, None)?;
    let configured = settings::config(&args.rules, &probe, env, &style)?;
    let config = &configured.config;
    let limits = Limits::of(args, config)?;
    let mut node = probe;
    node.timeout = settings::timeout(&args.node, config.timeout)?;
    let options = args.node.options(env.var("SOURCE_DATE_EPOCH"))?;

    let built_in = rule::decode();
    let mut rules = built_in.rules;
    let files = settings::rule_files(Some(&node), &config.rules, &args.rules.rules)?;
    rules.extend(settings::user_rules(&files)?.into_iter().filter_map(|l| l.rule));
    let laws = rules.iter().map(|r| RuleName { code: &r.code, name: &r.name });
    let made = built_in.made.iter().map(|m| RuleName { code: &m.code, name: &m.name });
    let names: Vec<RuleName> = laws.chain(made).collect();
    let selection = selection(args, &configured, &names, &style)?;
    let chosen = rules.iter().filter(|r| selection.has(&r.code, &r.name));

    let mut look = Look::at(&node, &options);
    if args.look.verbose > 1 {
        settings::tell_probes(&node, err)?;
    }
    let config_source = configured.file.as_ref().map(|(name, text)| {
        let id = look.collected.sources.add(name.as_str(), Kind::File, text.as_str());
        (id, config.silenced.as_slice())
    });
    let sources = &look.collected.sources;
    let mut verdicts = evaluate(chosen, &look.now, &look.next, sources);
    lower(&look, &mut verdicts);
    let now = look.now.merged.named("host.now").value.is().and_then(|v| v.as_int());
    let means = Means { config: config_source, rules: &names, selection: &selection, now };
    let (verdicts, suppressed) = suppress::apply(verdicts, sources, &means);

    let mut report = Report::new(sources, verdicts, suppressed);
    report.kubernetes = told::has_kubernetes(&look);
    report.node = told::node(&look);
    report.notes = told::notes(&look);
    report.min_severity = limits.severity;
    report.min_confidence = limits.confidence;
    // stdout first: a file that cannot be written takes nothing away
    if args.quiet < 2 {
        match formats.stdout.print(&report, &style, out).and_then(|()| out.flush()) {
            // who closes the pipe has seen enough; what was judged still counts
            Err(e) if e.kind() == io::ErrorKind::BrokenPipe => {}
            printed => printed?,
        }
    }
    for (format, path) in &formats.files {
        let mut bytes = Vec::new();
        format.print(&report, &Style { color: false, ..style }, &mut bytes)?;
        write::replace(Path::new(path), &bytes, 0o644)
            .map_err(|e| format!("cannot write {path}: {}", settings::reason(&e)))?;
    }
    let code = report.exit_code(limits.fail_on);
    // the process is about to end: handing back thousands of small pieces takes longer than judging them
    drop(report);
    std::mem::forget((look, rules));
    Ok(code)
}

/// What flags and configuration ask for; `--select` beats the configuration's, ignores add up.
fn selection(
    args: &args::Check,
    configured: &settings::Configured,
    names: &[RuleName<'_>],
    style: &Style,
) -> Result<Selection, Trouble> {
    let config = &configured.config;
    for selector in config.select.iter().chain(&config.ignore) {
        if let (Err(error), Some((file, text))) = (known(&selector.rule, names), &configured.file) {
            return Err(Trouble::Drawn(trouble(file, text, selector.span, &error.to_string(), None, style)));
        }
    }
    let said = |list: &[config::Selector]| list.iter().map(|s| s.rule.clone()).collect::<Vec<_>>();
    let select = if args.rules.select.is_empty() { said(&config.select) } else { args.rules.select.clone() };
    let ignore = [said(&config.ignore), args.rules.ignore.clone()].concat();
    Selection::new(&select, &ignore, names).map_err(|e| e.to_string().into())
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
            fail_on: settings::level("--fail-on", args.fail_on.as_deref(), &fail_on)?
                .or(config.fail_on)
                .unwrap_or_default(),
            severity: settings::level("--min-severity", args.min_severity.as_deref(), &severities)?
                .or(config.min_severity),
            confidence: settings::level("--min-confidence", args.min_confidence.as_deref(), &confidences)?
                .or(config.min_confidence),
        })
    }
}
