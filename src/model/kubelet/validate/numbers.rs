//! Numbers that must lie in a range, and what else is a single field.

use super::{Checks, Field};

const PORTS: std::ops::RangeInclusive<i64> = 1..=65535;
const MILLISECOND: i64 = 1_000_000;
const SECOND: i64 = 1_000_000_000;

impl Checks<'_> {
    pub(super) fn node_lease(&mut self) {
        self.at_least(&["nodeLeaseDurationSeconds"], 1, "greater than 0");
    }

    pub(super) fn events_and_health(&mut self) {
        self.not_negative(&["eventBurst"]);
        self.not_negative(&["eventRecordQPS"]);
        self.port(&["healthzPort"], true);
    }

    pub(super) fn cfs_period(&mut self) {
        let field: Field<'_> = &["cpuCFSQuotaPeriod"];
        let Some(period) = self.duration(field) else { return };
        if period == 100 * MILLISECOND || self.config.origin(field).is_none() {
            return;
        }
        let written = self.written(field);
        match self.gate("CustomCPUCFSQuotaPeriod") {
            Some(false) => {
                let message =
                    format!("cpuCFSQuotaPeriod {written} requires feature gate CustomCPUCFSQuotaPeriod");
                self.refuse(&[field], message);
            }
            Some(true) if !(1_000..=SECOND).contains(&period) => {
                let from = if self.minor < 27 { "1usec" } else { "1ms" };
                let message = format!("cpuCFSQuotaPeriod {written} must be between {from} and 1sec");
                self.refuse(&[field], message);
            }
            Some(true) if period < MILLISECOND => {
                let message = format!("cpuCFSQuotaPeriod {written} must be between 1ms and 1sec");
                self.refuse_since(27, 25, field, message);
            }
            _ => {}
        }
    }

    pub(super) fn dra_period(&mut self) {
        let field: Field<'_> = &["draManagerReconcilePeriod"];
        if self.minor >= 36 && self.is_set(field) && self.duration(field).is_some_and(|period| period <= 0) {
            let written = self.written(field);
            self.refuse(&[field], format!("draManagerReconcilePeriod {written} must be greater than zero"));
        }
    }

    pub(super) fn numbers(&mut self) {
        self.between(&["iptablesDropBit"], 0, 31);
        self.between(&["iptablesMasqueradeBit"], 0, 31);
        self.not_negative(&["kubeAPIBurst"]);
        self.not_negative(&["kubeAPIQPS"]);
        self.at_least(&["nodeStatusMaxImages"], -1, "-1 or greater");
        self.not_negative(&["maxOpenFiles"]);
        self.not_negative(&["maxPods"]);
        self.between(&["oomScoreAdj"], -1000, 1000);
        self.not_negative(&["podsPerCore"]);
        self.port(&["port"], false);
        self.port(&["readOnlyPort"], true);
        self.not_negative(&["registryBurst"]);
        self.not_negative(&["registryPullQPS"]);
    }

    pub(super) fn server_certificate(&mut self) {
        let field: Field<'_> = &["serverTLSBootstrap"];
        if self.bool(field) == Some(true) && self.gate("RotateKubeletServerCertificate") == Some(false) {
            let message = "serverTLSBootstrap requires feature gate RotateKubeletServerCertificate";
            self.refuse(&[field], message.to_owned());
        }
    }

    pub(super) fn run_once(&mut self) {
        if self.minor >= 32 && self.bool(&["runOnce"]) == Some(true) {
            let message = "runOnce is true, but this mode no longer exists and must not be set";
            self.refuse(&[&["runOnce"]], message.to_owned());
        }
    }

    pub(super) fn endpoint(&mut self) {
        let field: Field<'_> = &["containerRuntimeEndpoint"];
        if self.minor >= 27 && self.text(field).is_some_and(|text| text.is_empty()) {
            self.refuse(&[field], "containerRuntimeEndpoint is not specified or empty".to_owned());
        }
    }

    /// The metrics that may be shown again are those hidden by the version before.
    pub(super) fn hidden_metrics(&mut self) {
        let field: Field<'_> = &["showHiddenMetricsForVersion"];
        let Some(version) = self.text(field).filter(|version| !version.is_empty()) else { return };
        let minor = version.strip_prefix("1.").and_then(|minor| minor.parse::<u32>().ok());
        let message = format!(
            "showHiddenMetricsForVersion is {version}, but only the previous minor version is allowed"
        );
        match minor {
            Some(minor) if minor.checked_add(1) == Some(self.minor) => {}
            // a version that stands for later ones as well may be right with it
            Some(minor) if minor >= self.minor || self.minor < 24 => {
                self.verdict.unclear(&field.join("."), crate::fact::Why::Strange(message));
            }
            _ => self.refuse(&[field], message),
        }
    }

    pub(super) fn written(&self, field: Field<'_>) -> String {
        self.config.value(field).is().map(ToString::to_string).unwrap_or_default()
    }

    pub(super) fn between(&mut self, field: Field<'_>, from: i64, to: i64) {
        if let Some(number) = self.int(field)
            && !(from..=to).contains(&number)
        {
            let name = field.join(".");
            self.refuse(&[field], format!("{name} {number} must be between {from} and {to}, inclusive"));
        }
    }

    pub(super) fn not_negative(&mut self, field: Field<'_>) {
        if let Some(number) = self.int(field)
            && number < 0
        {
            let name = field.join(".");
            self.refuse(&[field], format!("{name} {number} must not be a negative number"));
        }
    }

    pub(super) fn at_least(&mut self, field: Field<'_>, least: i64, wording: &str) {
        if let Some(number) = self.int(field)
            && number < least
        {
            let name = field.join(".");
            self.refuse(&[field], format!("{name} {number} must be {wording}"));
        }
    }

    fn port(&mut self, field: Field<'_>, zero: bool) {
        if let Some(number) = self.int(field)
            && !PORTS.contains(&number)
            && !(zero && number == 0)
        {
            let name = field.join(".");
            self.refuse(&[field], format!("{name} {number} must be between 1 and 65535, inclusive"));
        }
    }
}
