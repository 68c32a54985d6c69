//! Fields that take one of a few words: the topology manager and the hairpin mode.

use super::{Checks, Field};

const POLICY: Field<'static> = &["topologyManagerPolicy"];
const SCOPE: Field<'static> = &["topologyManagerScope"];

impl Checks<'_> {
    pub(super) fn topology(&mut self) {
        self.manager(POLICY, &["none", "best-effort", "restricted", "single-numa-node"]);
        self.manager(SCOPE, &["container", "pod"]);
    }

    /// The first word is the default, which needs no gate.
    fn manager(&mut self, field: Field<'_>, words: &[&str]) {
        let Some(word) = self.text(field) else { return };
        if self.config.origin(field).is_none() || words.first() == Some(&word.as_str()) {
            return;
        }
        let gated = field == POLICY || self.minor >= 22;
        if self.minor < 27 && gated && self.gate("TopologyManager") == Some(false) {
            self.refuse(&[field], format!("{} {word} requires feature gate TopologyManager", field[0]));
        }
        if !words.contains(&word.as_str()) {
            let message = format!("{} {word:?} must be one of: {}", field[0], words.join(", "));
            self.refuse_since(23, 20, field, message);
        }
    }

    pub(super) fn hairpin(&mut self) {
        let field: Field<'_> = &["hairpinMode"];
        let words = ["none", "hairpin-veth", "promiscuous-bridge"];
        if let Some(mode) = self.text(field)
            && !words.contains(&mode.as_str())
        {
            let message =
                format!("option {mode:?} specified for hairpinMode, valid options are {}", words.join(", "));
            self.refuse(&[field], message);
        }
    }
}
