//! From what a rule wants to edited text. Findings name facts; the model says where they are
//! written; an editor of that syntax changes the text and nothing else of it.

use crate::fact::Value;
use crate::finding::{Edit, Finding, Fix, Intent, Safety};
use crate::text::{Kind, SourceId, Sources};
use std::collections::BTreeMap;

pub mod toml;

/// Fills in the edits of every fix. Where the model refuses, the fix becomes manual and says why.
pub fn lower(
    findings: &mut [&mut Finding],
    mut home: impl FnMut(&Fix, &Intent) -> Result<Vec<Edit>, String>,
) {
    for finding in findings {
        for fix in &mut finding.fixes {
            let Some(intent) = fix.intent.clone() else { continue };
            match home(fix, &intent) {
                Ok(edits) => fix.edits = edits,
                Err(refusal) => {
                    fix.safety = Safety::Manual;
                    fix.reason = Some(refusal);
                }
            }
        }
    }
}

/// The texts after the edits of some fixes, by source. Two fixes that want the same are one;
/// two that want one path to be different things are refused by name.
pub fn apply(sources: &Sources, fixes: &[&Fix]) -> Result<BTreeMap<SourceId, String>, String> {
    let mut by_source: BTreeMap<SourceId, Vec<&Edit>> = BTreeMap::new();
    for edit in fixes.iter().flat_map(|fix| &fix.edits) {
        let edits = by_source.entry(edit.source).or_default();
        if !edits.contains(&edit) {
            edits.push(edit);
        }
    }
    let mut texts = BTreeMap::new();
    for (id, edits) in by_source {
        let source = sources.get(id);
        if source.kind != Kind::File {
            return Err(format!("{} is not a file that can be edited", source.name));
        }
        let ops: Vec<_> = edits.iter().map(|edit| &edit.op).collect();
        if let Some(path) = conflict(&ops) {
            return Err(format!("{}: two fixes want different things of `{path}`", source.name));
        }
        let text = toml::apply(&source.text, &ops).map_err(|e| format!("{}: {e}", source.name))?;
        texts.insert(id, text);
    }
    Ok(texts)
}

/// A path that two operations set to different values.
fn conflict(ops: &[&crate::finding::Op]) -> Option<String> {
    let mut set: BTreeMap<&[String], &Value> = BTreeMap::new();
    for op in ops {
        if let crate::finding::Op::Set(path, value) = op
            && set.insert(path, value).is_some_and(|other| other != value)
        {
            return Some(path.join("."));
        }
    }
    None
}
