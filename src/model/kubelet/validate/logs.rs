//! Logs of the kubelet and of containers, and tracing.

use super::{Checks, Field};
use crate::fact::Why;
use crate::model::containerd::paths;

const FORMAT: Field<'static> = &["logging", "format"];
const VMODULE: Field<'static> = &["logging", "vmodule"];
const TRACING: Field<'static> = &["tracing"];
const QUERY: Field<'static> = &["enableSystemLogQuery"];
const HANDLER: Field<'static> = &["enableSystemLogHandler"];
const WORKERS: Field<'static> = &["containerLogMaxWorkers"];
const INTERVAL: Field<'static> = &["containerLogMonitorInterval"];
const FILES: Field<'static> = &["containerLogMaxFiles"];
const PODS: Field<'static> = &["podLogsDir"];

impl Checks<'_> {
    pub(super) fn logging(&mut self) {
        let Some(format) = self.text(FORMAT).filter(|format| !format.is_empty()) else { return };
        if !matches!(format.as_str(), "text" | "json") {
            self.refuse(&[FORMAT], format!("unsupported log format {format:?} (logging.format)"));
        } else if format != "text"
            && self.minor >= 24
            && self.is_set(VMODULE)
            && self.list(VMODULE).is_some_and(|list| !list.is_empty())
        {
            let message =
                format!("logging.vmodule is only supported for text, and logging.format is {format}");
            self.refuse(&[VMODULE, FORMAT], message);
        }
    }

    pub(super) fn tracing(&mut self) {
        if self.minor < 25 || !self.is_set(TRACING) {
            return;
        }
        let Some(shown) = self.text(TRACING) else { return };
        let Ok(serde_json::Value::Object(tracing)) = serde_json::from_str(&shown) else { return };
        if self.gate("KubeletTracing") == Some(false) {
            let message = "tracing must not be configured when feature gate KubeletTracing is off";
            self.refuse(&[TRACING], message.to_owned());
            return;
        }
        let rate = tracing.get("samplingRatePerMillion").and_then(serde_json::Value::as_i64);
        if let Some(rate) = rate.filter(|rate| !(0..=1_000_000).contains(rate)) {
            let message = format!("tracing.samplingRatePerMillion {rate} must be between 0 and 1000000");
            self.refuse(&[TRACING], message);
        }
        if let Some(endpoint) = tracing.get("endpoint").and_then(serde_json::Value::as_str)
            && endpoint.contains("//")
        {
            self.verdict.unclear("tracing.endpoint", Why::Strange(endpoint.to_owned()));
        }
    }

    pub(super) fn log_query(&mut self) {
        if self.minor < 27 || self.bool(QUERY) != Some(true) {
            return;
        }
        if self.gate("NodeLogQuery") == Some(false) {
            self.refuse(&[QUERY], "enableSystemLogQuery requires feature gate NodeLogQuery".to_owned());
        }
        if self.bool(HANDLER) == Some(false) {
            let message = "enableSystemLogQuery requires enableSystemLogHandler";
            self.refuse(&[HANDLER, QUERY], message.to_owned());
        }
    }

    pub(super) fn container_logs(&mut self) {
        if self.minor < 30 {
            return;
        }
        self.at_least(WORKERS, 1, "greater than or equal to 1");
        if self.duration(INTERVAL).is_some_and(|interval| interval < 3_000_000_000) {
            let shown = self.written(INTERVAL);
            self.refuse(&[INTERVAL], format!("containerLogMonitorInterval {shown} must be at least 3s"));
        }
        if let Some(files) = self.int(FILES)
            && files <= 1
        {
            let message = format!("containerLogMaxFiles {files} must be greater than 1");
            self.refuse_since(33, 30, FILES, message);
        }
    }

    pub(super) fn pod_logs(&mut self) {
        if self.minor < 29 {
            return;
        }
        let Some(dir) = self.text(PODS) else { return };
        if dir.is_empty() {
            self.refuse(&[PODS], "podLogsDir was not specified".to_owned());
        }
        if !dir.starts_with('/') {
            self.refuse(&[PODS], format!("podLogsDir {dir:?} must be an absolute path"));
        }
        if dir.starts_with('/') && paths::join("/", &dir) != dir {
            self.refuse(&[PODS], format!("podLogsDir {dir:?} must be normalized"));
        }
        if !dir.is_ascii() {
            self.refuse(&[PODS], format!("podLogsDir {dir:?} must contain ASCII characters only"));
        }
    }
}
