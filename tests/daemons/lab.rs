//! The Debian systems that the tests take their daemons from.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::Arc;
use std::{env, fs, thread};

/// Suites by name; `NODEVET_SUITES` names others, e.g. `"bullseye forky"`.
const SUITES: &str = "bookworm trixie forky";

/// One Debian suite, unpacked.
pub(crate) struct Suite {
    pub(crate) name: String,
    pub(crate) tree: PathBuf,
    /// Upstream version of its containerd, e.g. `1.7.24`.
    pub(crate) containerd: String,
    /// Major version of its systemd, e.g. `257`.
    pub(crate) systemd: String,
}

/// Builds what is missing (some twenty seconds a suite) and asks each containerd for its version.
pub(crate) fn suites() -> Result<Vec<Arc<Suite>>, String> {
    let names = env::var("NODEVET_SUITES").unwrap_or_else(|_| SUITES.to_owned());
    let threads: Vec<_> =
        names.split_whitespace().map(str::to_owned).map(|name| thread::spawn(move || suite(name))).collect();
    threads.into_iter().map(|t| t.join().unwrap().map(Arc::new)).collect()
}

fn suite(name: String) -> Result<Suite, String> {
    let tree = PathBuf::from(text(Command::new(script("tree")).arg(&name))?.trim());
    // `containerd github.com/containerd/containerd 1.7.24~ds1 …`, `systemd 257 (257.13-1~deb13u1)`
    let containerd = version(&tree, "containerd", 2)?;
    let systemd = version(&tree, "systemctl", 1)?;
    Ok(Suite { name, tree, containerd, systemd })
}

/// The numbers at the start of a word of `PROGRAM --version`.
fn version(tree: &Path, program: &str, word: usize) -> Result<String, String> {
    let answer = text(Command::new("chroot").arg(tree).args([program, "--version"]))?;
    let version = answer.split_whitespace().nth(word).unwrap_or_default().trim_start_matches('v');
    let end = version.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(version.len());
    if end == 0 {
        return Err(format!("{program} gives no version: {answer}"));
    }
    Ok(version[..end].to_owned())
}

impl Suite {
    /// `1.6` of `1.6.20`, as numbers that compare.
    pub(crate) fn generation(&self) -> (u32, u32) {
        let mut parts = self.containerd.split('.').map(|part| part.parse().unwrap_or(0));
        (parts.next().unwrap_or(0), parts.next().unwrap_or(0))
    }

    /// Where the dynamic linker finds the libraries of a program of this suite.
    pub(crate) fn libraries(&self, program: &str) -> Result<Vec<PathBuf>, String> {
        let listing = text(Command::new("chroot").arg(&self.tree).args(["ldd", program]))?;
        Ok(listing.split_whitespace().filter(|word| word.starts_with('/')).map(PathBuf::from).collect())
    }

    /// Where a file of the tree really is: its links are absolute in the tree.
    pub(crate) fn resolved(&self, file: &Path) -> Result<PathBuf, String> {
        let path = text(Command::new("chroot").arg(&self.tree).args(["readlink", "-f"]).arg(file))?;
        Ok(self.tree.join(path.trim().trim_start_matches('/')))
    }
}

pub(crate) fn project(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(path)
}

pub(crate) fn script(name: &str) -> PathBuf {
    project("scripts/lab").join(name)
}

/// The program under test; `NODEVET` names another.
pub(crate) fn nodevet() -> PathBuf {
    env::var_os("NODEVET").map_or_else(|| PathBuf::from(env!("CARGO_BIN_EXE_nodevet")), PathBuf::from)
}

/// An empty directory below the build directory, made anew at each run.
pub(crate) fn scratch(name: &str) -> PathBuf {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join("daemons").join(name);
    if path.exists() {
        fs::remove_dir_all(&path).unwrap();
    }
    fs::create_dir_all(&path).unwrap();
    path
}

/// Runs to the end; an error only where the program cannot be started at all.
pub(crate) fn output(command: &mut Command) -> Result<Output, String> {
    command.output().map_err(|e| format!("{:?}: {e}", command.get_program()))
}

/// Standard output of a program that succeeds.
pub(crate) fn text(command: &mut Command) -> Result<String, String> {
    let output = output(command)?;
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr);
        return Err(format!("{:?}: {}: {said}", command.get_program(), output.status));
    }
    String::from_utf8(output.stdout).map_err(|e| e.to_string())
}
