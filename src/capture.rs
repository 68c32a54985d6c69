//! A capture: exactly what was read, as a root that can be read back. Secrets are masked in
//! place, character by character, so that every span stays where it was.

use crate::mask::{self, mask};
use crate::node::meta::{Line, reply_path};
use crate::node::{Content, Record};
use std::collections::BTreeSet;

/// The files of a capture, by path below its directory, in order.
pub fn files(record: &Record, now: Option<i64>) -> Vec<(String, Vec<u8>)> {
    let mut files = Vec::new();
    let mut meta = String::new();
    let mut places = BTreeSet::new();
    for (path, (line, content)) in &record.paths {
        let place = place(path);
        // the folder belongs to the capture, whatever a configuration imports
        if place.starts_with("/.nodevet/") {
            continue;
        }
        push(&mut meta, line);
        let bytes = match content {
            Some(Content::Text(text)) => mask(path, text).into_bytes(),
            // not UTF-8: no parser reads it, so there is nothing to find secrets with
            Some(Content::Raw(bytes)) => mask::bytes(bytes),
            None => continue,
        };
        // the same file may have been named in two ways
        if places.insert(place.clone()) {
            files.push((place, bytes));
        }
    }
    for (question, (line, answer)) in &record.replies {
        push(&mut meta, line);
        if let Some(text) = answer {
            let path = reply_path(question);
            files.push((path.clone(), mask(&path, text).into_bytes()));
        }
    }
    if let Some(now) = now {
        files.push(("/.nodevet/clock".into(), format!("{now}\n").into_bytes()));
    }
    files.push(("/.nodevet/meta.jsonl".into(), meta.into_bytes()));
    files
}

/// A path without its empty parts, `.` and `..`.
fn place(path: &str) -> String {
    let mut parts: Vec<&str> = Vec::new();
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop();
            }
            part => parts.push(part),
        }
    }
    format!("/{}", parts.join("/"))
}

fn push(meta: &mut String, line: &Line) {
    if let Ok(json) = serde_json::to_string(line) {
        meta.push_str(&json);
        meta.push('\n');
    }
}
