//! Graceful shutdown of the node and the pause between restarts.

use super::{Checks, Field};

const TOTAL: Field<'static> = &["shutdownGracePeriod"];
const CRITICAL: Field<'static> = &["shutdownGracePeriodCriticalPods"];
const BY_PRIORITY: Field<'static> = &["shutdownGracePeriodByPodPriority"];
const RESTART: Field<'static> = &["crashLoopBackOff", "maxContainerRestartPeriod"];

const SECOND: i64 = 1_000_000_000;

impl Checks<'_> {
    pub(super) fn graceful_shutdown(&mut self) {
        let (Some(total), Some(critical)) = (self.duration(TOTAL), self.duration(CRITICAL)) else { return };
        if total != 0 || critical != 0 {
            match self.gate("GracefulNodeShutdown") {
                Some(true) => self.periods(total, critical),
                Some(false) if total > 0 || critical > 0 => {
                    let message = "shutdownGracePeriod and shutdownGracePeriodCriticalPods require feature \
                                   gate GracefulNodeShutdown";
                    self.refuse(&[TOTAL, CRITICAL], message.to_owned());
                }
                _ => {}
            }
        }
        if self.minor < 23 || self.list(BY_PRIORITY).is_none_or(|list| list.is_empty()) {
            return;
        }
        match self.gate("GracefulNodeShutdownBasedOnPodPriority") {
            Some(true) if total > 0 || critical > 0 => {
                let message = "shutdownGracePeriodByPodPriority and shutdownGracePeriod cannot both be set";
                self.refuse(&[BY_PRIORITY, TOTAL], message.to_owned());
            }
            Some(false) => {
                let message = "shutdownGracePeriodByPodPriority requires feature gate \
                               GracefulNodeShutdownBasedOnPodPriority";
                self.refuse(&[BY_PRIORITY], message.to_owned());
            }
            _ => {}
        }
    }

    fn periods(&mut self, total: i64, critical: i64) {
        let (shown_total, shown_critical) = (self.written(TOTAL), self.written(CRITICAL));
        if critical > total {
            let total = if total == 0 { "0s" } else { &shown_total };
            let message = format!(
                "shutdownGracePeriodCriticalPods {shown_critical} must be <= shutdownGracePeriod {total}"
            );
            self.refuse(&[CRITICAL, TOTAL], message);
        }
        for (field, period, shown) in [(TOTAL, total, shown_total), (CRITICAL, critical, shown_critical)] {
            if period < 0 || (period > 0 && period < SECOND) {
                let message = format!("{} {shown} must be either zero or at least 1 sec", field[0]);
                self.refuse_since(23, 22, field, message);
            }
        }
    }

    pub(super) fn crash_loop(&mut self) {
        if self.minor < 32 || !self.is_set(RESTART) {
            return;
        }
        let Some(period) = self.duration(RESTART) else { return };
        let shown = self.written(RESTART);
        match self.gate("KubeletCrashLoopBackOffMax") {
            // upstream compares whole milliseconds
            Some(true) if !(1_000..=300_000).contains(&(period / 1_000_000)) => {
                let message =
                    format!("crashLoopBackOff.maxContainerRestartPeriod {shown} must be between 1s and 300s");
                self.refuse(&[RESTART], message);
            }
            Some(false) => {
                let message = "crashLoopBackOff.maxContainerRestartPeriod must not be set unless feature \
                               gate KubeletCrashLoopBackOffMax is on";
                self.refuse(&[RESTART], message.to_owned());
            }
            _ => {}
        }
    }
}
