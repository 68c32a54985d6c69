//! What differs between versions of containerd, as one table.

use super::defaults::{self, Text};
use crate::model::toml::Dialect;
use crate::version::Version;
use std::sync::LazyLock;

/// In which order texts become one configuration.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Pipeline {
    /// 1.x: a later file replaces a plugin's table whole; nothing is migrated.
    Replace,
    /// 2.0 to 2.2: tables merge deeply, the merged whole is migrated by its last version.
    MergeThenMigrate,
    /// 2.3 on: each file is migrated from its own version, then merged.
    MigrateThenMerge,
}

/// Which written keys a field of a Go struct answers to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Keys {
    /// Any mix of cases; two that fit one field are taken in random order.
    AnyCase,
    /// As declared, all lower, all upper, first letter lower: the first that is there.
    FourSpellings,
    /// Any mix of cases; all that fit are applied, the last one stays.
    LastOfAnyCase,
}

/// Versions that make the same of every configuration.
#[derive(Debug)]
pub struct Generation {
    /// As shown, e.g. `containerd 1.7.17+`.
    pub name: &'static str,
    /// A version of this generation.
    pub representative: &'static str,
    /// First version of it; empty: no lower bound.
    first: &'static str,
    /// First version after it; empty: no upper bound.
    next: &'static str,
    pub(super) parser: Dialect,
    pub(super) keys: Keys,
    pub(super) pipeline: Pipeline,
    /// Highest `version` it takes; `None`: it does not look.
    pub(super) max_version: Option<i64>,
    /// The defaults it prints.
    pub(super) defaults: &'static Text,
    /// Relative globs count from the daemon's working directory (`/`), not from the importing file.
    pub(super) globs_from_root: bool,
    /// A missing file is no error: it silently ends loading and skips validation (1.4).
    pub(super) missing_ends_loading: bool,
    /// Ids of plugin tables must begin with `io.containerd.` (1.7).
    pub(super) plugin_prefix: bool,
    /// Refuses a drop-in of a higher version than the main file's (2.3.0 to 2.3.4).
    pub(super) drop_in_check: bool,
    /// `registry.config_path` has a non-empty default, so that `mirrors` conflict with it (2.2.0, 2.2.1).
    pub(super) default_config_path: bool,
}

const V1: Generation = Generation {
    name: "",
    representative: "",
    first: "",
    next: "",
    parser: Dialect::GoTomlV1,
    keys: Keys::FourSpellings,
    pipeline: Pipeline::Replace,
    max_version: None,
    defaults: &defaults::V1_6,
    globs_from_root: false,
    missing_ends_loading: false,
    plugin_prefix: false,
    drop_in_check: false,
    default_config_path: false,
};

const V2: Generation = Generation {
    parser: Dialect::GoTomlV2,
    keys: Keys::LastOfAnyCase,
    pipeline: Pipeline::MergeThenMigrate,
    max_version: Some(3),
    ..V1
};

// Bounds inside a minor series, from upstream's release notes: relative globs were mended in
// 1.6.29 and 1.7.16, versions too high are refused since 1.6.32 and 1.7.17.
static TABLE: &[Generation] = &[
    Generation {
        name: "containerd 1.4",
        representative: "1.4.13",
        next: "1.5.0-alpha",
        parser: Dialect::BurntSushi,
        keys: Keys::AnyCase,
        defaults: &defaults::V1_4,
        globs_from_root: true,
        missing_ends_loading: true,
        ..V1
    },
    Generation {
        name: "containerd 1.5",
        representative: "1.5.18",
        first: "1.5.0-alpha",
        next: "1.6.0-alpha",
        defaults: &defaults::V1_5,
        globs_from_root: true,
        ..V1
    },
    Generation {
        name: "containerd 1.6.0-1.6.28",
        representative: "1.6.20",
        first: "1.6.0-alpha",
        next: "1.6.29",
        globs_from_root: true,
        ..V1
    },
    Generation {
        name: "containerd 1.6.29-1.6.31",
        representative: "1.6.31",
        first: "1.6.29",
        next: "1.6.32",
        ..V1
    },
    Generation {
        name: "containerd 1.6.32+",
        representative: "1.6.39",
        first: "1.6.32",
        next: "1.7.0-alpha",
        max_version: Some(2),
        ..V1
    },
    Generation {
        name: "containerd 1.7.0-1.7.15",
        representative: "1.7.13",
        first: "1.7.0-alpha",
        next: "1.7.16",
        defaults: &defaults::V1_7,
        globs_from_root: true,
        plugin_prefix: true,
        ..V1
    },
    Generation {
        name: "containerd 1.7.16",
        representative: "1.7.16",
        first: "1.7.16",
        next: "1.7.17",
        defaults: &defaults::V1_7,
        plugin_prefix: true,
        ..V1
    },
    Generation {
        name: "containerd 1.7.17+",
        representative: "1.7.24",
        first: "1.7.17",
        next: "2.0.0-alpha",
        defaults: &defaults::V1_7,
        plugin_prefix: true,
        max_version: Some(2),
        ..V1
    },
    Generation {
        name: "containerd 2.0",
        representative: "2.0.7",
        first: "2.0.0-alpha",
        next: "2.1.0-alpha",
        defaults: &defaults::V2_0,
        ..V2
    },
    Generation {
        name: "containerd 2.1",
        representative: "2.1.9",
        first: "2.1.0-alpha",
        next: "2.2.0-alpha",
        defaults: &defaults::V2_1,
        ..V2
    },
    Generation {
        name: "containerd 2.2.0-2.2.1",
        representative: "2.2.1",
        first: "2.2.0-alpha",
        next: "2.2.2",
        defaults: &defaults::V2_2,
        default_config_path: true,
        ..V2
    },
    Generation {
        name: "containerd 2.2.2+",
        representative: "2.2.7",
        first: "2.2.2",
        next: "2.3.0-alpha",
        defaults: &defaults::V2_2,
        ..V2
    },
    Generation {
        name: "containerd 2.3.0-2.3.4",
        representative: "2.3.4",
        first: "2.3.0-alpha",
        next: "2.3.5",
        pipeline: Pipeline::MigrateThenMerge,
        max_version: Some(4),
        defaults: &defaults::V2_3,
        drop_in_check: true,
        ..V2
    },
    Generation {
        name: "containerd 2.3.5+",
        representative: "2.3.5",
        first: "2.3.5",
        pipeline: Pipeline::MigrateThenMerge,
        max_version: Some(4),
        defaults: &defaults::V2_3,
        ..V2
    },
];

/// First version of a generation, and first version after it.
struct Bounds {
    first: Option<Version>,
    next: Option<Version>,
}

/// Those of the table.
static BOUNDS: LazyLock<Vec<Bounds>> = LazyLock::new(|| {
    let of = |g: &Generation| Bounds { first: Version::parse(g.first), next: Version::parse(g.next) };
    TABLE.iter().map(of).collect()
});

/// All generations, oldest first.
pub fn all() -> &'static [Generation] {
    TABLE
}

/// The generations a version may belong to: one when it is decided, several when it is known in part.
pub fn possible(version: Option<&Version>) -> Vec<&'static Generation> {
    let may_be = |bounds: &Bounds| {
        let reached = |point: &Option<Version>, wanted: bool| {
            let since = version.zip(point.as_ref()).and_then(|(version, point)| version.at_least(point));
            since == Some(wanted)
        };
        !reached(&bounds.first, false) && !reached(&bounds.next, true)
    };
    TABLE
        .iter()
        .zip(&*BOUNDS)
        .filter(|(_, bounds)| may_be(bounds))
        .map(|(generation, _)| generation)
        .collect()
}

impl Generation {
    /// 1.4 to 1.7.
    pub(super) fn is_v1(&self) -> bool {
        self.pipeline == Pipeline::Replace
    }

    /// At or after a minor series, e.g. `1.5`.
    pub(super) fn since(&self, point: &str) -> bool {
        minor(self.representative) >= minor(point)
    }

    /// Whether the two make the same of the same files, once those are loaded and accepted.
    pub(super) fn like(&self, other: &Generation) -> bool {
        self.defaults.name == other.defaults.name && self.default_config_path == other.default_config_path
    }

    /// Whether the two merge the same of the same decoded files.
    pub(super) fn merges_like(&self, other: &Generation) -> bool {
        let steps = |g: &Generation| (g.pipeline, g.max_version, g.since("2.1"));
        steps(self) == steps(other)
    }

    /// The name of the generations from this one to `last`, all of one minor series.
    pub(super) fn name_to(&self, last: &Generation) -> String {
        let minor = self.name.rsplit_once('.').map_or(self.name, |(minor, _)| minor);
        let minor = minor.split('-').next().unwrap_or(minor);
        let minor = minor.rsplit_once('.').map_or(minor, |(m, _)| if m.contains('.') { m } else { minor });
        let (from, to) = (self.name.trim_end_matches('+'), last.name);
        let start = from.split('-').next().unwrap_or(from);
        match (start.ends_with(".0"), to.strip_suffix('+')) {
            _ if std::ptr::eq(self, last) => self.name.to_owned(),
            (true, Some(_)) => minor.to_owned(),
            (false, Some(_)) => format!("{start}+"),
            (_, None) => {
                let end = to.rsplit([' ', '-']).next().unwrap_or(to);
                format!("{start}-{end}")
            }
        }
    }

    /// Name of the source that holds its defaults.
    pub(super) fn default_source(&self) -> String {
        format!("default:containerd-{}", self.defaults.name)
    }
}

/// The first two numbers of a version.
fn minor(version: &str) -> (u32, u32) {
    let mut parts = version.split('.').map(|part| part.parse().unwrap_or(0));
    (parts.next().unwrap_or(0), parts.next().unwrap_or(0))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(version: &str) -> Vec<&'static str> {
        possible(Version::parse(version).as_ref()).into_iter().map(|g| g.name).collect()
    }

    #[test]
    fn a_full_version_has_one_generation() {
        for g in all() {
            assert_eq!(names(g.representative), [g.name]);
        }
        for (version, name) in [
            ("1.3.10", "containerd 1.4"),
            ("1.6.20~ds1", "containerd 1.6.0-1.6.28"),
            ("1.7.24~ds1", "containerd 1.7.17+"),
            ("v2.2.0", "containerd 2.2.0-2.2.1"),
            ("2.4.0-beta.0", "containerd 2.3.5+"),
            ("2.3.0-rc.1", "containerd 2.3.0-2.3.4"),
        ] {
            assert_eq!(names(version), [name], "{version}");
        }
    }

    #[test]
    fn neighbours_share_a_name() {
        let joined = |a: &str, b: &str| {
            let find = |v: &str| possible(Version::parse(v).as_ref())[0];
            find(a).name_to(find(b))
        };
        assert_eq!(joined("1.6.20", "1.6.39"), "containerd 1.6");
        assert_eq!(joined("1.6.20", "1.6.31"), "containerd 1.6.0-1.6.31");
        assert_eq!(joined("1.7.16", "1.7.24"), "containerd 1.7.16+");
        assert_eq!(joined("1.7.15", "1.7.16"), "containerd 1.7.0-1.7.16");
        assert_eq!(joined("2.3.4", "2.3.5"), "containerd 2.3");
        assert_eq!(joined("2.1.9", "2.1.9"), "containerd 2.1");
    }

    #[test]
    fn a_version_known_in_part_has_several() {
        assert_eq!(names("2.1"), ["containerd 2.1"]);
        assert_eq!(names("1.7"), ["containerd 1.7.0-1.7.15", "containerd 1.7.16", "containerd 1.7.17+"]);
        assert_eq!(names("1").len(), 8);
        assert_eq!(possible(None).len(), all().len());
    }
}
