//! Flags that no field of KubeletConfiguration answers to.

use crate::model::kubelet::flags::{Flag, FlagKind::*};

const fn flag(name: &'static str) -> Flag {
    Flag::new(name, Text)
}

const fn switch(name: &'static str) -> Flag {
    Flag::new(name, Bool)
}

/// Where only the version is known by which a flag was gone, that one is given: it is taken until
/// then. So it is with `experimental-dockershim` and `redirect-container-streaming`.
pub(super) const FLAGS: &[Flag] = &[
    flag("bootstrap-kubeconfig"),
    flag("cert-dir"),
    Flag::new("chaos-chance", Float).until(22).old(),
    flag("cloud-config").until(34).old(),
    flag("cloud-provider"),
    flag("cni-bin-dir").until(24),
    flag("cni-cache-dir").until(24),
    flag("cni-conf-dir").until(24),
    flag("config"),
    flag("config-dir").since(28),
    flag("container-runtime").until(27),
    flag("docker-endpoint").until(24).old(),
    flag("dynamic-config-dir").until(24).old(),
    switch("enable-cadvisor-json-endpoints").until(21).old(),
    switch("exit-on-lock-contention"),
    switch("experimental-allocatable-ignore-eviction").old(),
    flag("experimental-bootstrap-kubeconfig").until(23).old(),
    switch("experimental-check-node-capabilities-before-mount").until(24).old(),
    switch("experimental-dockershim").until(24),
    flag("experimental-dockershim-root-directory").until(24),
    switch("experimental-kernel-memcg-notification").until(25).old(),
    flag("experimental-mounter-path").old(),
    flag("hostname-override"),
    flag("image-credential-provider-bin-dir"),
    flag("image-credential-provider-config"),
    Flag::new("image-pull-progress-deadline", Duration).until(24),
    switch("keep-terminated-pod-volumes").until(31).old(),
    flag("kubeconfig"),
    flag("lock-file"),
    flag("master-service-namespace").until(27).old(),
    Flag::new("maximum-dead-containers", Int32).old(),
    Flag::new("maximum-dead-containers-per-container", Int32).old(),
    Flag::new("minimum-container-ttl-duration", Duration).old(),
    flag("network-plugin").until(24),
    Flag::new("network-plugin-mtu", Int32).until(24),
    flag("node-ip"),
    Flag::new("node-labels", Labels),
    flag("non-masquerade-cidr").until(24).old(),
    flag("pod-infra-container-image").until(35).old(),
    switch("really-crash-for-testing").until(24).old(),
    switch("redirect-container-streaming").until(22).old(),
    switch("register-schedulable").until(34).old(),
    flag("root-dir"),
    flag("runtime-cgroups"),
    // true is as good as the field; false does not undo the field, so it sets none
    switch("seccomp-default").since(22),
    flag("seccomp-profile-root").until(23).old(),
];
