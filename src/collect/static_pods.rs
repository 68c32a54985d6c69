//! The directory of static pods: which files the kubelet takes for manifests, and what is in them.

use super::ctx::Ctx;
use crate::fact::{Fact, Known, Layer, Origin, Row, Said, Value};
use crate::model::static_pods::{counts, head, pod, stray};
use crate::node::FileKind;
use crate::text::Place;

/// More files than this are not looked into.
const MOST: usize = 200;

struct File {
    path: String,
    place: Place,
    runs: bool,
    stray: bool,
    pod: Option<(String, Place)>,
}

/// `path` is the kubelet's staticPodPath.
pub(crate) fn collect(ctx: &mut Ctx, path: &Known<Said>) {
    let rows = path.as_ref().and_then(|said| {
        let path = said.value.as_text().unwrap_or_default().trim_end_matches('/').to_owned();
        if !path.starts_with('/') {
            return Known::ABSENT;
        }
        files(ctx, &path).map(|files| files.iter().map(|file| row(file, &files)).collect())
    });
    ctx.say(Fact::rows("pods.static", rows));
}

fn files(ctx: &mut Ctx, path: &str) -> Known<Vec<File>> {
    if ctx.node.is_dir(path) == Known::Is(false) {
        let name = path.rsplit('/').next().unwrap_or_default();
        return ctx.read(path).map(|text| {
            let pod = pod(&text);
            vec![File { path: path.to_owned(), place: head(&text), runs: true, stray: stray(name), pod }]
        });
    }
    let entries = match ctx.list(path) {
        Known::Is((_, entries)) => entries,
        Known::Absent(note) => return Known::Absent(note),
        Known::Unknown(why) => return Known::Unknown(why),
    };
    let mut files = Vec::new();
    for entry in entries.iter().filter(|e| matches!(e.kind, FileKind::File | FileKind::Link)).take(MOST) {
        let path = format!("{path}/{}", entry.name);
        if entry.kind == FileKind::Link && ctx.node.is_dir(&path) == Known::Is(true) {
            continue;
        }
        // one that cannot be read is noted with the inputs
        let Known::Is(text) = ctx.read(&path) else { continue };
        let runs = counts(&entry.name);
        let pod = if runs { pod(&text) } else { None };
        files.push(File { path, place: head(&text), runs, stray: stray(&entry.name), pod });
    }
    Known::Is(files)
}

fn row(file: &File, all: &[File]) -> Row {
    let said = |value: Value, place| Known::Is(vec![Said { value, origin: Origin::new(Layer::File, place) }]);
    let text = |text: &str, place| said(Value::text(text), place);
    // the store of the kubelet has one pod of a name: of several files, that of the last
    let same = |other: &&File| {
        let named = |of: &File| of.pod.as_ref().map(|(name, _)| name.clone());
        other.path > file.path && named(file).is_some() && named(other) == named(file)
    };
    let later = all.iter().rfind(same);
    let pod = file.pod.as_ref();
    vec![
        ("path", text(&file.path, file.place)),
        ("runs", said(Value::Bool(file.runs), file.place)),
        ("stray", said(Value::Bool(file.stray), file.place)),
        ("pod", pod.map_or(Known::ABSENT, |(name, place)| text(name, *place))),
        (
            "lost_to",
            match (later, pod) {
                (Some(later), Some((_, place))) => text(&later.path, *place),
                _ => Known::ABSENT,
            },
        ),
    ]
}
