//! Drop-ins of `--config-dir`. Three versions merge them in three ways, which is not modelled
//! here: what they may touch is unknown, what they do not mention stays as the file says it.

use crate::collect::Ctx;
use crate::fact::{Known, Why};
use crate::node::FileKind;

/// Fields and gates that matter here, in lower case: some versions fold case.
const WORDS: [&str; 5] =
    ["cgroupdriver", "containerruntimeendpoint", "kubeletcgroupdriverfromcri", "allalpha", "allbeta"];

/// Directories that installers name with `--config-dir`.
const USUAL: [&str; 4] = [
    "/etc/kubernetes/kubelet/config.json.d",
    "/etc/kubernetes/kubelet.conf.d",
    "/etc/kubernetes/kubelet/kubelet.conf.d",
    "/var/lib/kubelet/kubelet.conf.d",
];

/// Why a driver is not known, if it is not: before 1.29, and from then on.
pub(super) fn of(ctx: &mut Ctx, dir: &str) -> [Option<Why>; 2] {
    let mut files = Vec::new();
    if let Err(why) = walk(ctx, dir.trim_end_matches('/'), &mut files, 8) {
        return [Some(why.clone()), Some(why)];
    }
    let mut late = None;
    for path in &files {
        let why = match ctx.read(path) {
            Known::Is(text) => {
                let folded = text.text.to_lowercase();
                // a key may be written with escapes
                let met = WORDS.iter().any(|word| folded.contains(word)) || folded.contains('\\');
                met.then(|| Why::Strange(format!("{path} is merged into the kubelet's configuration")))
            }
            Known::Absent(_) => None,
            Known::Unknown(why) => Some(why),
        };
        late = late.or(why);
    }
    // a drop-in of 1.28 lays the defaults of all fields that it does not say over the file
    let early = files.first().map(|path| Why::Strange(format!("{path} is merged by 1.28 over the file")));
    [early, late]
}

/// The same where the command line is not known: a usual directory counts as named.
pub(super) fn usual(ctx: &mut Ctx) -> [Option<Why>; 2] {
    for dir in USUAL {
        let found = of(ctx, dir);
        if found.iter().any(Option::is_some) {
            return found;
        }
    }
    [None, None]
}

fn walk(ctx: &mut Ctx, dir: &str, files: &mut Vec<String>, depth: usize) -> Result<(), Why> {
    let entries = match ctx.list(dir) {
        Known::Is((_, entries)) => entries,
        Known::Absent(_) => return Ok(()),
        Known::Unknown(why) => return Err(why),
    };
    for entry in entries {
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
