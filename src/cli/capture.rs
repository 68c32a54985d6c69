//! `nodevet capture DIR`: everything that was read, as a root for `--root`.

use super::{Env, Trouble, args, settings};
use crate::look::Look;
use crate::{capture, write};
use std::io;

pub(super) fn run(args: &args::Capture, env: &Env, err: &mut dyn io::Write) -> Result<u8, Trouble> {
    let node = settings::open(&args.node, None)?;
    let options = args.node.options(env.var("SOURCE_DATE_EPOCH"))?;
    // what a check would read, configuration and rules included
    settings::touch(&node);
    let look = Look::at(&node, &options);
    let now = look.now.merged.named("host.now").value.is().and_then(|v| v.as_int());
    let files = capture::files(&node.take_record(), now);
    let dir = args.dir.display();
    write::tree(&args.dir, &files).map_err(|e| match e.kind() {
        io::ErrorKind::AlreadyExists => format!("{dir} is there already: a capture makes a new directory"),
        _ => format!("cannot make {dir}: {}", settings::reason(&e)),
    })?;
    writeln!(err, "{} files in {dir}; read back with --root {dir}", files.len())?;
    Ok(0)
}
