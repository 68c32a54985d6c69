//! containerd: what it runs with, per version.
