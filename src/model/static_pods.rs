//! What the kubelet makes of the files in its directory of static pods. Facts of kubernetes
//! pkg/kubelet/config/file.go: every file counts whose name has no dot in front, whatever its
//! ending, in the order of names, and of each the first document; directories are not entered.

use super::{Captured, yaml};
use crate::text::{Place, line_span};

/// Endings of what an editor, a package manager or a person puts aside.
const ASIDE: [&str; 14] = [
    "~",
    ".bak",
    ".backup",
    ".orig",
    ".old",
    ".save",
    ".rej",
    ".swp",
    ".tmp",
    ".disabled",
    ".dpkg-old",
    ".dpkg-dist",
    ".rpmsave",
    ".rpmnew",
];

/// Endings of manifests; a name that goes on after one is that of a copy.
const MANIFEST: [&str; 4] = [".yaml", ".yml", ".json", ".manifest"];

/// Whether the kubelet reads a file of this name.
pub fn counts(name: &str) -> bool {
    !name.is_empty() && !name.starts_with('.')
}

/// Whether a name is that of a backup or copy.
pub fn stray(name: &str) -> bool {
    let copy = MANIFEST.iter().any(|ending| name.contains(ending))
        && !MANIFEST.iter().any(|ending| name.ends_with(ending));
    copy || ASIDE.iter().any(|ending| name.ends_with(ending))
}

/// The pod in a manifest as `namespace/name`, with the place of its name.
pub fn pod(file: &Captured) -> Option<(String, Place)> {
    let document = yaml::first_document(&file.text).ok()??;
    let text =
        |map, key| document.get(map, key).map(|node| document.resolve(node)).and_then(yaml::Node::scalar);
    let yaml::Scalar::Text("Pod") = text(&document.root, "kind")? else { return None };
    let metadata = document.resolve(document.get(&document.root, "metadata")?);
    let node = document.resolve(document.get(metadata, "name")?);
    let yaml::Scalar::Text(name) = node.scalar()? else { return None };
    let namespace = match text(metadata, "namespace") {
        Some(yaml::Scalar::Text(namespace)) if !namespace.is_empty() => namespace,
        _ => "default",
    };
    Some((format!("{namespace}/{name}"), Place { source: file.id, span: node.span }))
}

/// The first line of a file, where it is shown as a whole.
pub fn head(file: &Captured) -> Place {
    Place { source: file.id, span: line_span(&file.text, 1) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn copies_are_told_from_manifests() {
        for name in ["a.yaml.bak", "a.yaml~", "etcd.yaml.2026-01-02", "b.yaml-old", "c.json.1", "d.backup"] {
            assert!(stray(name) && counts(name), "{name}");
        }
        for name in ["kube-apiserver.yaml", "kube-proxy.manifest", "my.yaml.tpl.yaml", "README"] {
            assert!(!stray(name), "{name}");
        }
        assert!(!counts(".a.yaml.swp"));
    }
}
