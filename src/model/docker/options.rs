//! dockerd's flags, and the keys of daemon.json that are made from them. From moby's
//! cmd/dockerd/config.go, config_unix.go and options.go (daemon/command since 28.3), 20.10 to 29.

use crate::model::unit::Argument;
use crate::text::Place;

/// What follows a flag.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Takes {
    Nothing,
    Value,
    /// A value, and the flag may be repeated; in the file it has a name of its own.
    List(&'static str),
}

use Takes::{List, Nothing, Value};

/// Flags of all versions, with the key of the file where that is another.
pub(super) const FLAGS: &[(&str, Takes)] = &[
    ("add-runtime", List("runtimes")),
    ("allow-direct-routing", Nothing),
    ("allow-nondistributable-artifacts", List("allow-nondistributable-artifacts")),
    ("api-cors-header", Value),
    ("authorization-plugin", List("authorization-plugins")),
    ("bip", Value),
    ("bip6", Value),
    ("bridge", Value),
    ("bridge-accept-fwmark", Value),
    ("cdi-spec-dir", List("cdi-spec-dirs")),
    ("cgroup-parent", Value),
    ("cluster-advertise", Value),
    ("cluster-store", Value),
    ("cluster-store-opt", List("cluster-store-opts")),
    ("config-file", Value),
    ("containerd", Value),
    ("containerd-namespace", Value),
    ("containerd-plugins-namespace", Value),
    ("cpu-rt-period", Value),
    ("cpu-rt-runtime", Value),
    ("cri-containerd", Nothing),
    ("data-root", Value),
    ("debug", Nothing),
    ("default-address-pool", List("default-address-pools")),
    ("default-cgroupns-mode", Value),
    ("default-gateway", Value),
    ("default-gateway-v6", Value),
    ("default-ipc-mode", Value),
    ("default-network-opt", List("default-network-opts")),
    ("default-runtime", Value),
    ("default-shm-size", Value),
    ("default-ulimit", List("default-ulimits")),
    ("disable-legacy-registry", Nothing),
    ("dns", List("dns")),
    ("dns-opt", List("dns-opts")),
    ("dns-search", List("dns-search")),
    ("exec-opt", List("exec-opts")),
    ("exec-root", Value),
    ("experimental", Nothing),
    ("feature", List("features")),
    ("firewall-backend", Value),
    ("fixed-cidr", Value),
    ("fixed-cidr-v6", Value),
    ("graph", Value),
    ("group", Value),
    ("help", Nothing),
    ("host", List("hosts")),
    ("host-gateway-ip", Value),
    ("host-gateway-ips", Value),
    ("http-proxy", Value),
    ("https-proxy", Value),
    ("icc", Nothing),
    ("init", Nothing),
    ("init-path", Value),
    ("insecure-registry", List("insecure-registries")),
    ("ip", Value),
    ("ip-forward", Nothing),
    ("ip-forward-no-drop", Nothing),
    ("ip-masq", Nothing),
    ("ip6tables", Nothing),
    ("iptables", Nothing),
    ("ipv6", Nothing),
    ("label", List("labels")),
    ("live-restore", Nothing),
    ("log-driver", Value),
    ("log-format", Value),
    ("log-level", Value),
    ("log-opt", List("log-opts")),
    ("max-concurrent-downloads", Value),
    ("max-concurrent-uploads", Value),
    ("max-download-attempts", Value),
    ("metrics-addr", Value),
    ("mtu", Value),
    ("network-control-plane-mtu", Value),
    ("network-diagnostic-port", Value),
    ("no-new-privileges", Nothing),
    ("no-proxy", Value),
    ("node-generic-resource", List("node-generic-resources")),
    ("oom-score-adjust", Value),
    ("pidfile", Value),
    ("raw-logs", Nothing),
    ("registry-mirror", List("registry-mirrors")),
    ("restart", Nothing),
    ("rootless", Nothing),
    ("seccomp-profile", Value),
    ("selinux-enabled", Nothing),
    ("shutdown-timeout", Value),
    ("storage-driver", Value),
    ("storage-opt", List("storage-opts")),
    ("swarm-default-advertise-addr", Value),
    ("swarm-raft-election-tick", Value),
    ("swarm-raft-heartbeat-tick", Value),
    ("tls", Nothing),
    ("tlscacert", Value),
    ("tlscert", Value),
    ("tlskey", Value),
    ("tlsverify", Nothing),
    ("userland-proxy", Nothing),
    ("userland-proxy-path", Value),
    ("userns-remap", Value),
    ("validate", Nothing),
    ("version", Nothing),
];

/// One-letter forms.
const SHORT: [(char, &str); 11] = [
    ('b', "bridge"),
    ('D', "debug"),
    ('g', "graph"),
    ('G', "group"),
    ('h', "help"),
    ('H', "host"),
    ('l', "log-level"),
    ('p', "pidfile"),
    ('r', "restart"),
    ('s', "storage-driver"),
    ('v', "version"),
];

/// A flag that was given, with its value.
#[derive(Clone, Debug)]
pub(super) struct Given {
    pub(super) name: &'static str,
    pub(super) value: String,
    /// The argument that holds the value, or its part after the `=`.
    pub(super) place: Place,
}

pub(super) fn find(name: &str) -> Option<(&'static str, Takes)> {
    FLAGS.iter().find(|(flag, _)| *flag == name).copied()
}

/// The key of the file that says the same as a flag.
pub(super) fn key(flag: &'static str) -> &'static str {
    match find(flag) {
        Some((_, List(key))) => key,
        _ => flag,
    }
}

/// Whether daemon.json may have this key: a flag's name, or the name of its list.
pub(super) fn is_key(name: &str) -> bool {
    find(name).is_some() || FLAGS.iter().any(|(_, takes)| *takes == List(name_of(name)))
}

fn name_of(name: &str) -> &'static str {
    let named = FLAGS.iter().find_map(|(_, takes)| match takes {
        List(key) if *key == name => Some(*key),
        _ => None,
    });
    named.unwrap_or("")
}

/// Reads arguments as spf13/pflag does; what it does not know stops the daemon.
pub(super) fn parse(arguments: &[Argument]) -> Result<Vec<Given>, (Place, String)> {
    let mut given = Vec::new();
    let mut rest = arguments.iter().skip(1);
    while let Some(argument) = rest.next() {
        let (word, place) = (argument.text(), argument.place_from(0));
        let tail = |at: usize| argument.place_from(at);
        let (name, takes, inline) = if let Some(long) = word.strip_prefix("--") {
            if long.is_empty() {
                break;
            }
            let (name, value) = long.split_once('=').map_or((long, None), |(n, v)| (n, Some(v)));
            let (name, takes) = find(name).ok_or_else(|| (place, format!("unknown flag: --{name}")))?;
            (name, takes, value.map(|v| (v.to_owned(), tail(word.len() - v.len()))))
        } else if let Some(short) = word.strip_prefix('-').filter(|s| !s.is_empty()) {
            let letter = short.chars().next().unwrap_or_default();
            let long = SHORT.iter().find(|(c, _)| *c == letter).and_then(|(_, long)| find(long));
            let (name, takes) = long.ok_or_else(|| (place, format!("unknown flag: -{letter}")))?;
            let value = short[letter.len_utf8()..].to_owned();
            let value = value.strip_prefix('=').map_or(value.clone(), str::to_owned);
            let at = word.len() - value.len();
            (name, takes, (!value.is_empty() && takes != Nothing).then(|| (value, tail(at))))
        } else {
            return Err((place, format!("`{word}` is no flag")));
        };
        let (value, place) = match (inline, takes) {
            (Some(inline), _) => inline,
            (None, Nothing) => ("true".to_owned(), place),
            (None, _) => match rest.next() {
                Some(value) => (value.text().to_owned(), value.place_from(0)),
                None => return Err((place, format!("--{name} needs a value"))),
            },
        };
        given.push(Given { name, value, place });
    }
    Ok(given)
}
