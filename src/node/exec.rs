//! `EXE --version`: the last resort, only on this machine, never a shell, with a deadline. What
//! somebody other than root could have put there is not run.

use super::{FileKind, Node};
use crate::fact::{Known, Why};
use nix::sys::signal::{Signal, killpg};
use nix::unistd::{Pid, geteuid};
use std::io::Read;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicI32, Ordering};
use std::sync::mpsc;

/// The most that is read of a program's output, in bytes.
const OUTPUT: u64 = 16 << 10;

impl Node {
    /// What a program says of its own version on standard output.
    pub fn version_of(&self, exe: &str) -> Known<Arc<str>> {
        let question = format!("exec:{exe}");
        if !self.is_live() {
            return self.replay(&question);
        }
        let answer = match (self.runs_programs(), self.stat(exe)) {
            (false, _) => Known::Unknown(Why::NotRunning(format!("{exe} is a program of another system"))),
            (true, Known::Is(_)) => self.run(exe),
            (true, Known::Absent(note)) => Known::Absent(note),
            (true, Known::Unknown(why)) => Known::Unknown(why),
        };
        self.remember_reply(&question, &answer);
        answer
    }

    fn run(&self, exe: &str) -> Known<Arc<str>> {
        let refused = |met: &str| Known::Unknown(Why::Unreadable(exe.to_owned(), met.to_owned()));
        let Ok(real) = Path::new(exe).canonicalize() else { return refused("has no real path") };
        if !real.ancestors().all(|p| self.is_guarded(p)) {
            return refused("may be changed by others than root, so it is not run");
        }
        let group = Arc::new(AtomicI32::new(0));
        let (send, receive) = mpsc::channel();
        let theirs = group.clone();
        std::thread::spawn(move || {
            let _ = send.send(output(&real, &theirs));
        });
        match receive.recv_timeout(self.timeout) {
            Ok(Ok(text)) => Known::Is(text.into()),
            Ok(Err(e)) => refused(&e.to_string()),
            Err(_) => {
                stop(&group);
                Known::Unknown(Why::Timeout(format!("{exe} --version")))
            }
        }
    }

    /// Only root, or whoever runs this, may change it.
    fn is_guarded(&self, path: &Path) -> bool {
        let Some(path) = path.to_str() else { return false };
        let Known::Is(stat) = self.stat(path) else { return false };
        let sticky = stat.kind == FileKind::Dir && stat.mode & 0o1000 != 0;
        let root_group = if stat.gid == 0 { 0o002 } else { 0o022 };
        (stat.uid == 0 || stat.uid == geteuid().as_raw()) && (sticky || stat.mode & root_group == 0)
    }
}

fn stop(group: &AtomicI32) {
    let id = group.load(Ordering::SeqCst);
    if id > 1 {
        let _ = killpg(Pid::from_raw(id), Signal::SIGKILL);
    }
}

#[expect(clippy::disallowed_methods, reason = "this is the door for programs")]
fn output(exe: &Path, group: &AtomicI32) -> std::io::Result<String> {
    let mut child = Command::new(exe)
        .arg("--version")
        .env_clear()
        .env("PATH", "/usr/sbin:/usr/bin:/sbin:/bin")
        .env("LANG", "C")
        .current_dir("/")
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .process_group(0)
        .spawn()?;
    group.store(i32::try_from(child.id()).unwrap_or(0), Ordering::SeqCst);
    let mut bytes = Vec::new();
    if let Some(out) = child.stdout.take() {
        out.take(OUTPUT).read_to_end(&mut bytes)?;
    }
    // whatever it left behind ends here
    stop(group);
    child.wait()?;
    group.store(0, Ordering::SeqCst);
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}
