//! Drop-ins of `--config-dir`. Three versions merge them in three ways, which is not modelled
//! here: what they may touch is unknown, what they do not mention stays as the file says it.

use crate::collect::ctx::Ctx;
use crate::fact::{Known, Why};
use crate::node::FileKind;

/// What the drop-ins may touch.
#[derive(Default)]
pub(super) struct Dropins {
    /// Path and text in lower case, in the order of merging.
    files: Vec<(String, Known<String>)>,
    failed: Option<Why>,
}

impl Dropins {
    /// Why what a field (in lower case: some versions fold case) says is not known, if it is not.
    /// A drop-in of 1.28 lays the defaults of all fields that it does not say over the file.
    pub(super) fn unclear(&self, fields: &[&str], before_1_29: bool) -> Option<Why> {
        let touches = |(path, text): &(String, Known<String>)| match text {
            Known::Is(_) if before_1_29 => {
                Some(Why::Strange(format!("{path} is merged over the whole configuration by 1.28")))
            }
            // a key may be written with escapes
            Known::Is(text) if text.contains('\\') || fields.iter().any(|field| text.contains(field)) => {
                Some(Why::Strange(format!("{path} is merged into the kubelet's configuration")))
            }
            Known::Unknown(why) => Some(why.clone()),
            _ => None,
        };
        self.failed.clone().or_else(|| self.files.iter().find_map(touches))
    }
}

/// Directories that installers name with `--config-dir`.
const USUAL: [&str; 4] = [
    "/etc/kubernetes/kubelet/config.json.d",
    "/etc/kubernetes/kubelet.conf.d",
    "/etc/kubernetes/kubelet/kubelet.conf.d",
    "/var/lib/kubelet/kubelet.conf.d",
];

pub(super) fn of(ctx: &mut Ctx, dir: &str) -> Dropins {
    let mut files = Vec::new();
    // the walk does not follow a link at its very start, unless a slash ends its name
    let named = ctx.node.stat(dir).map(|stat| stat.kind);
    let linked = !dir.ends_with('/') && ctx.node.link(dir).is().is_some();
    let found = match named {
        Known::Is(FileKind::Dir) if linked => Ok(()),
        Known::Is(FileKind::Dir) => walk(ctx, dir.trim_end_matches('/'), &mut files, 8),
        Known::Is(_) if dir.ends_with(".conf") => {
            files.push(dir.to_owned());
            Ok(())
        }
        Known::Is(_) => Ok(()),
        Known::Absent(_) => {
            Err(Why::Unreadable(dir.to_owned(), "is not there, the kubelet does not start".into()))
        }
        Known::Unknown(why) => Err(why),
    };
    let mut read = Vec::new();
    for path in files {
        let text = ctx.read(&path).map(|text| text.text.to_lowercase());
        read.push((path, text));
    }
    Dropins { files: read, failed: found.err() }
}

/// The same where the command line is not known: a usual directory counts as named.
pub(super) fn usual(ctx: &mut Ctx) -> Dropins {
    // one that cannot be seen may be there
    let may_be = |dir: &&str| match ctx.node.is_dir(dir) {
        Known::Is(there) => there,
        Known::Absent(_) | Known::Unknown(Why::NotRunning(_)) => false,
        Known::Unknown(_) => true,
    };
    let dir = USUAL.into_iter().find(may_be);
    dir.map_or_else(Dropins::default, |dir| of(ctx, dir))
}

fn walk(ctx: &mut Ctx, dir: &str, files: &mut Vec<String>, depth: usize) -> Result<(), Why> {
    let entries = match ctx.list(dir) {
        Known::Is((_, entries)) => entries,
        Known::Absent(_) => return Ok(()),
        Known::Unknown(why) => return Err(why),
    };
    for entry in entries.iter() {
        let path = format!("{dir}/{}", entry.name);
        match entry.kind {
            FileKind::Dir if depth > 0 => walk(ctx, &path, files, depth - 1)?,
            FileKind::Dir => return Err(Why::Unreadable(path, "nested too deeply".into())),
            _ if entry.name.ends_with(".conf") => files.push(path),
            _ => {}
        }
    }
    Ok(())
}
