//! What depends on the hierarchy of cgroups that the host has.

use super::{Checks, Field};
use crate::fact::{Known, Why};

const FAIL: Field<'static> = &["failCgroupV1"];
const KILL: Field<'static> = &["singleProcessOOMKill"];

impl Checks<'_> {
    /// Upstream tells only the first of the two.
    pub(super) fn cgroup_version(&mut self) {
        let refuses = self.minor >= 31 && self.bool(FAIL) == Some(true);
        let single = self.minor >= 32 && self.is_set(KILL) && self.bool(KILL) == Some(false);
        if !refuses && !single {
            return;
        }
        match &self.host.cgroup_v2 {
            Known::Is(true) => {}
            Known::Is(false) if refuses => {
                let state = if self.minor < 35 { "in maintenance mode" } else { "unsupported" };
                let message = format!(
                    "the kubelet is configured to not run on a host using cgroup v1 (failCgroupV1 is true); \
                     cgroup v1 support is {state}"
                );
                self.refuse(&[FAIL], message);
            }
            Known::Is(false) => {
                // the words "cgroup v1" are those of the other refusal, which has a rule of its own
                let message = "singleProcessOOMKill must not be explicitly set to false on a v1 hierarchy";
                self.refuse(&[KILL], message.to_owned());
            }
            Known::Absent(_) => self.no_tree(refuses, Why::NotRunning("/sys/fs/cgroup".into())),
            Known::Unknown(why) => self.no_tree(refuses, why.clone()),
        }
    }

    fn no_tree(&mut self, refuses: bool, why: Why) {
        let field = if refuses { FAIL } else { KILL };
        self.verdict.unclear(field[0], why);
    }
}
