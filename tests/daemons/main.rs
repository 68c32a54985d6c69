//! nodevet against real daemons: containerd of several Debian suites, systemd on a real bus.
//! Needs root and the mirror of this machine's apt; `scripts/test` runs it, a plain `cargo test` does not.

#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    clippy::print_stderr,
    clippy::exit,
    clippy::disallowed_methods
)]

mod agreement;
mod answer;
mod boot;
mod case;
mod dump;
mod generate;
mod lab;

use std::process::ExitCode;

fn main() -> ExitCode {
    if boot::is_stand_in() {
        return boot::stand_in();
    }
    let arguments = libtest_mimic::Arguments::from_args();
    let suites = match lab::suites() {
        Ok(suites) => suites,
        Err(why) => {
            eprintln!("the real daemons cannot be had: {why}");
            return ExitCode::FAILURE;
        }
    };
    let mut trials = agreement::trials(&suites);
    trials.extend(boot::trials(&suites));
    let conclusion = libtest_mimic::run(&arguments, trials);
    println!("{} passed, {} failed", conclusion.num_passed, conclusion.num_failed);
    conclusion.exit_code()
}
