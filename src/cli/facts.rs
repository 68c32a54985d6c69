//! `nodevet facts`: what was seen, from where.

use super::{Env, Trouble, args, settings};
use crate::look::Look;
use crate::report::facts::{Facts, select};
use std::io;

pub(super) fn run(
    args: &args::Facts,
    env: &Env,
    out: &mut dyn io::Write,
    err: &mut dyn io::Write,
) -> Result<u8, Trouble> {
    let chosen = select(&args.names).map_err(|e| e.to_string())?;
    let json = settings::level("--format", Some(&args.format), &[("text", false), ("json", true)])?;
    let node = settings::open(&args.node, None)?;
    let look = Look::at(&node, &args.node.options(env.var("SOURCE_DATE_EPOCH"))?);
    let worlds = if args.next_start { &look.next } else { &look.now };
    let facts = Facts { sources: &look.collected.sources, worlds, chosen: &chosen };
    if args.look.verbose > 1 {
        settings::tell_probes(&node, err)?;
    }
    match json {
        Some(true) => facts.print_json(out)?,
        _ => facts.print_text(&env.style(&args.look), out)?,
    }
    Ok(0)
}
