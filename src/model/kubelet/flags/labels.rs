//! `--node-labels`: labels that a node may give itself, and their form. Facts of upstream:
//! cmd/kubelet/app/options/options.go (ValidateKubeletFlags), k8s.io/kubelet/pkg/apis.

use super::quote::quoted;
use super::{Cause, Entry, Parsed, Refused, Setting};

/// Allowed in the namespaces of Kubernetes.
const ALLOWED: [&str; 11] = [
    "beta.kubernetes.io/arch",
    "beta.kubernetes.io/instance-type",
    "beta.kubernetes.io/os",
    "failure-domain.beta.kubernetes.io/region",
    "failure-domain.beta.kubernetes.io/zone",
    "kubernetes.io/arch",
    "kubernetes.io/hostname",
    "kubernetes.io/os",
    "node.kubernetes.io/instance-type",
    "topology.kubernetes.io/region",
    "topology.kubernetes.io/zone",
];

/// Namespaces below which all is allowed.
const NAMESPACES: [&str; 2] = ["kubelet.kubernetes.io", "node.kubernetes.io"];

/// Whether the kubelet starts with these labels: checked once all flags are read. `settings` are all
/// uses of all flags, or what they come to.
pub fn check(settings: &[Setting]) -> Result<(), Refused> {
    let labels: Vec<(&'static super::Flag, &Entry)> = settings
        .iter()
        .filter(|setting| setting.flag.name == "node-labels")
        .flat_map(|setting| match &setting.value {
            Parsed::Map(entries) => entries.iter().map(|entry| (setting.flag, entry)).collect(),
            _ => Vec::new(),
        })
        .collect();
    let mut refused: Vec<_> =
        labels.iter().filter(|(_, e)| of_kubernetes(&e.key) && !allowed(&e.key)).collect();
    refused.sort_by(|a, b| a.1.key.cmp(&b.1.key));
    refused.dedup_by(|a, b| a.1.key == b.1.key);
    if let Some((flag, first)) = refused.first() {
        let keys: Vec<&str> = refused.iter().map(|(_, entry)| entry.key.as_str()).collect();
        let message = format!(
            "unknown 'kubernetes.io' or 'k8s.io' labels specified with --node-labels: [{}]",
            keys.join(" ")
        );
        return Err(Refused { place: first.place, message, cause: Cause::Value(flag) });
    }
    for (flag, entry) in labels {
        let value = entry.value.as_text().unwrap_or_default();
        let wrong = match (is_name(&entry.key), is_value(value)) {
            (false, _) => entry.key.as_str(),
            (_, false) => value,
            _ => continue,
        };
        let message = format!("invalid node labels: {}", quoted(wrong));
        return Err(Refused { place: entry.place, message, cause: Cause::Value(flag) });
    }
    Ok(())
}

fn namespace(key: &str) -> &str {
    key.split_once('/').map_or("", |(namespace, _)| namespace)
}

fn below(namespace: &str, root: &str) -> bool {
    namespace.strip_suffix(root).is_some_and(|rest| rest.is_empty() || rest.ends_with('.'))
}

fn of_kubernetes(key: &str) -> bool {
    ["kubernetes.io", "k8s.io"].iter().any(|root| below(namespace(key), root))
}

fn allowed(key: &str) -> bool {
    ALLOWED.contains(&key) || NAMESPACES.iter().any(|root| below(namespace(key), root))
}

/// A qualified name: an optional DNS name and a slash, then at most 63 characters.
pub(super) fn is_name(key: &str) -> bool {
    let (prefix, name) = match key.split_once('/') {
        Some((prefix, name)) => (Some(prefix), name),
        None => (None, key),
    };
    let dns = |text: &str| {
        let label = |l: &str| {
            let edge = |b: Option<u8>| b.is_some_and(|b| b.is_ascii_lowercase() || b.is_ascii_digit());
            let inner = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-';
            edge(l.bytes().next()) && edge(l.bytes().last()) && l.bytes().all(inner)
        };
        text.len() <= 253 && text.split('.').all(label)
    };
    prefix.is_none_or(dns) && !name.is_empty() && is_value(name)
}

/// Empty, or at most 63 letters, digits, `-`, `_`, `.`, the first and last a letter or digit.
pub(super) fn is_value(value: &str) -> bool {
    let edge = |b: Option<u8>| b.is_none_or(|b| b.is_ascii_alphanumeric());
    let inner = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_' | b'.');
    value.len() <= 63 && edge(value.bytes().next()) && edge(value.bytes().last()) && value.bytes().all(inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_values_have_a_form() {
        for good in ["a", "A-b_c.d", "x.y/z", "9/9"] {
            assert!(is_name(good), "{good}");
        }
        for bad in ["", "/a", "a/", "a/b/c", "-a", "a-", "A.b/c", "a b", "é", "x..y/z"] {
            assert!(!is_name(bad), "{bad}");
        }
        assert!(is_value("") && is_value("a.b") && !is_value("a/b") && !is_value(&"a".repeat(64)));
    }

    #[test]
    fn namespaces_of_kubernetes_are_closed() {
        for good in
            ["a", "example.org/a", "kubernetes.io/os", "node.kubernetes.io/x", "a.kubelet.kubernetes.io/x"]
        {
            assert!(!of_kubernetes(good) || allowed(good), "{good}");
        }
        for bad in ["node-role.kubernetes.io/worker", "k8s.io/a", "x.k8s.io/a", "kubernetes.io/role"] {
            assert!(of_kubernetes(bad) && !allowed(bad), "{bad}");
        }
        assert!(!of_kubernetes("mykubernetes.io/a"));
    }
}
