//! Images: their collection, how they are pulled and who may use them.

use super::{Checks, Field};
use crate::fact::Why;

const HIGH: Field<'static> = &["imageGCHighThresholdPercent"];
const LOW: Field<'static> = &["imageGCLowThresholdPercent"];
const MIN_AGE: Field<'static> = &["imageMinimumGCAge"];
const MAX_AGE: Field<'static> = &["imageMaximumGCAge"];
const PARALLEL: Field<'static> = &["maxParallelImagePulls"];
const SERIAL: Field<'static> = &["serializeImagePulls"];
const POLICY: Field<'static> = &["imagePullCredentialsVerificationPolicy"];
const ALLOWED: Field<'static> = &["preloadedImagesVerificationAllowlist"];

const POLICIES: [&str; 4] =
    ["NeverVerify", "NeverVerifyPreloadedImages", "NeverVerifyAllowlistedImages", "AlwaysVerify"];

impl Checks<'_> {
    pub(super) fn image_collection(&mut self) {
        self.between(HIGH, 0, 100);
        self.between(LOW, 0, 100);
        if let (Some(high), Some(low)) = (self.int(HIGH), self.int(LOW))
            && low >= high
        {
            let message = format!(
                "imageGCLowThresholdPercent {low} must be less than imageGCHighThresholdPercent {high}"
            );
            self.refuse(&[LOW, HIGH], message);
        }
        // both ages are checked since there are two
        if self.minor < 29 {
            return;
        }
        let (Some(least), Some(most)) = (self.duration(MIN_AGE), self.duration(MAX_AGE)) else { return };
        let (shown_least, shown_most) = (self.written(MIN_AGE), self.written(MAX_AGE));
        if most != 0 && self.gate("ImageMaximumGCAge") == Some(false) {
            let message = "imageMaximumGCAge requires feature gate ImageMaximumGCAge";
            self.refuse(&[MAX_AGE], message.to_owned());
        }
        if least < 0 {
            self.refuse(&[MIN_AGE], format!("imageMinimumGCAge {shown_least} must not be negative"));
        }
        if most < 0 {
            self.refuse(&[MAX_AGE], format!("imageMaximumGCAge {shown_most} must not be negative"));
        }
        if most > 0 && most <= least {
            let message = format!(
                "imageMaximumGCAge {shown_most} must be greater than imageMinimumGCAge {shown_least}"
            );
            self.refuse(&[MAX_AGE, MIN_AGE], message);
        }
    }

    pub(super) fn image_pulls(&mut self) {
        if self.minor < 27 || !self.is_set(PARALLEL) {
            return;
        }
        let Some(parallel) = self.int(PARALLEL) else { return };
        if parallel < 1 {
            self.refuse(&[PARALLEL], format!("maxParallelImagePulls {parallel} must be a positive number"));
        }
        if parallel > 1 && self.bool(SERIAL) == Some(true) {
            let message = format!(
                "maxParallelImagePulls {parallel} cannot be larger than 1 unless serializeImagePulls is false"
            );
            self.refuse(&[PARALLEL, SERIAL], message);
        }
    }

    pub(super) fn pull_credentials(&mut self) {
        let (policy_set, allowed_set) = (self.is_set(POLICY), self.is_set(ALLOWED));
        if self.minor < 33 || !(policy_set || allowed_set) {
            return;
        }
        let Some(on) = self.gate("KubeletEnsureSecretPulledImages") else { return };
        let Some(policy) = self.text(POLICY) else { return };
        let listed = self.list(ALLOWED).is_some_and(|images| !images.is_empty());
        if !on {
            for (field, set) in [(POLICY, !policy.is_empty()), (ALLOWED, listed)] {
                if set {
                    let message = format!(
                        "{} must not be set unless feature gate KubeletEnsureSecretPulledImages is on",
                        field[0]
                    );
                    self.refuse(&[field], message);
                }
            }
            return;
        }
        if policy_set && !POLICIES.contains(&policy.as_str()) {
            let message = format!(
                "imagePullCredentialsVerificationPolicy is {policy:?}, not one of {}",
                POLICIES.join(", ")
            );
            self.refuse(&[POLICY], message);
        }
        if listed && policy != "NeverVerifyAllowlistedImages" {
            let message = format!(
                "{} cannot be set unless imagePullCredentialsVerificationPolicy is NeverVerifyAllowlistedImages",
                ALLOWED[0]
            );
            self.refuse(&[ALLOWED, POLICY], message);
        } else if listed {
            self.verdict.unclear(ALLOWED[0], Why::Strange("patterns of images".into()));
        }
    }
}
