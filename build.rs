//! Checks the built-in rules with the code that checks users' rules, and packs them for the
//! binary. A bad rule stops the build, all errors at once.

#![allow(clippy::disallowed_methods, clippy::exit, clippy::print_stdout, clippy::print_stderr)]

use std::path::{Path, PathBuf};
use std::{env, fs, process};

// The modules stand where the crate has them, so `crate::…` means the same in both.
#[allow(dead_code, unused_imports, unreachable_pub)]
#[path = "src"]
mod pure {
    pub mod fact;
    pub mod finding;
    pub mod names;
    pub mod text;
    pub mod version;

    pub mod rule {
        pub mod blob;
        pub mod check;
        pub mod error;
        pub mod expr;
        pub mod file;
        pub mod given;
        pub mod late;
        pub mod law;
        pub mod load;
        pub mod raw;
        pub mod template;
    }
}

use pure::rule::blob::{Blob, Made, Removed};
use pure::rule::check::Home;
use pure::rule::load::load_all;
#[allow(unused_imports)]
use pure::{fact, finding, names, rule, text, version};

fn main() {
    for path in
        ["build.rs", "rules", "src/fact.rs", "src/finding.rs", "src/names.rs", "src/names", "src/text.rs"]
    {
        println!("cargo::rerun-if-changed={path}");
    }
    for path in ["src/version.rs", "src/rule"] {
        println!("cargo::rerun-if-changed={path}");
    }
    if let Err(message) = pack() {
        eprintln!("{message}");
        process::exit(1);
    }
}

fn pack() -> Result<(), String> {
    let from = Path::new(&env::var("CARGO_MANIFEST_DIR").map_err(|e| e.to_string())?).join("rules");
    let to = PathBuf::from(env::var("OUT_DIR").map_err(|e| e.to_string())?);
    let files = read(&from).map_err(|e| format!("{}: {e}", from.display()))?;
    let named: Vec<(String, String)> =
        files.iter().map(|(file, text)| (format!("rules/{file}"), text.clone())).collect();
    let (loaded, errors) = load_all(named.iter().map(|(p, t)| (p.as_str(), t.as_str())), Home::BuiltIn);
    if !errors.is_empty() {
        let lines: Vec<String> = errors.iter().map(ToString::to_string).collect();
        return Err(lines.join("\n"));
    }
    let mut blob = Blob::default();
    for file in loaded {
        let (code, name) = (file.code, file.name);
        match (file.rule, file.file.removed) {
            (Some(rule), _) => blob.rules.push(rule),
            (None, Some(why)) => blob.removed.push(Removed { code, name, why: why.text }),
            (None, None) => blob.made.push(Made { code, name }),
        }
    }
    let bytes = postcard::to_allocvec(&blob).map_err(|e| e.to_string())?;
    fs::write(to.join("rules.postcard"), bytes).map_err(|e| e.to_string())?;
    let mut list = String::from("&[\n");
    for (file, _) in &files {
        list.push_str(&format!("    ({file:?}, include_str!({:?})),\n", from.join(file)));
    }
    list.push_str("]\n");
    fs::write(to.join("rules.rs"), list).map_err(|e| e.to_string())
}

/// Name and text of every rule file, sorted by name.
fn read(from: &Path) -> std::io::Result<Vec<(String, String)>> {
    let mut files = Vec::new();
    for entry in fs::read_dir(from)? {
        let path = entry?.path();
        if path.extension().is_some_and(|e| e == "toml") {
            let name = path.file_name().map(|n| n.to_string_lossy().into_owned()).unwrap_or_default();
            files.push((name, fs::read_to_string(&path)?));
        }
    }
    files.sort();
    Ok(files)
}
