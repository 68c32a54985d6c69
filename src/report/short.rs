//! `file:line:col: CODE message`, one line a finding: for grep and editors.

use super::{Report, Style};
use std::io;

pub(super) fn print(report: &Report<'_>, style: &Style, out: &mut dyn io::Write) -> io::Result<()> {
    for finding in report.shown() {
        if let Some(label) = finding.labels.first() {
            let at = report.sources.position(label.place);
            let name = style.clean(&report.sources.get(label.place.source).name);
            write!(out, "{name}:{}:{}: ", at.line, at.column)?;
        }
        writeln!(out, "{} {}", finding.code, style.clean(&finding.message))?;
    }
    Ok(())
}
