//! The binary: arguments in, exit code out.

use std::io::{BufWriter, stderr, stdout};
use std::process::ExitCode;

fn main() -> ExitCode {
    let mut out = BufWriter::new(stdout().lock());
    ExitCode::from(nodevet::cli::run(
        std::env::args_os(),
        &nodevet::cli::Env::here(),
        &mut out,
        &mut stderr(),
    ))
}
