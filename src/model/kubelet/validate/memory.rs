//! Swap and the quality of service of memory.

use super::{Checks, Field};

const SWAP: Field<'static> = &["memorySwap", "swapBehavior"];
const FACTOR: Field<'static> = &["memoryThrottlingFactor"];
const RESERVATION: Field<'static> = &["memoryReservationPolicy"];

impl Checks<'_> {
    pub(super) fn swap_behavior(&mut self) {
        let Some(behavior) = self.text(SWAP).filter(|behavior| !behavior.is_empty()) else { return };
        if self.minor < 22 {
            return;
        }
        let words = match self.minor {
            ..30 => ["LimitedSwap", "UnlimitedSwap"],
            30.. => ["LimitedSwap", "NoSwap"],
        };
        match self.gate("NodeSwap") {
            Some(true) if !words.contains(&behavior.as_str()) => {
                let [first, second] = words;
                let message =
                    format!("memorySwap.swapBehavior {behavior:?} must be one of: \"\", {first} or {second}");
                self.refuse(&[SWAP], message);
            }
            Some(false) => {
                let message = format!(
                    "memorySwap.swapBehavior {behavior} cannot be set when feature gate NodeSwap is off"
                );
                self.refuse(&[SWAP], message);
            }
            _ => {}
        }
    }

    pub(super) fn throttling(&mut self) {
        if self.minor >= 22
            && let Some(Some(factor)) =
                self.read(FACTOR, None, |value| value.to_string().parse::<f64>().ok().map(Some))
            && !(factor > 0.0 && factor <= 1.0)
        {
            let message = format!(
                "memoryThrottlingFactor {factor} must be greater than 0 and less than or equal to 1.0"
            );
            self.refuse(&[FACTOR], message);
        }
        if self.minor < 36 || !self.is_set(RESERVATION) {
            return;
        }
        match self.text(RESERVATION).as_deref() {
            None | Some("None") => {}
            Some("TieredReservation") => {
                if self.gate("MemoryQoS") == Some(false) {
                    let message = "memoryReservationPolicy TieredReservation requires feature gate MemoryQoS";
                    self.refuse(&[RESERVATION], message.to_owned());
                }
            }
            Some(word) => {
                let message = format!(
                    "option {word:?} specified for memoryReservationPolicy, valid options are None, \
                     TieredReservation"
                );
                self.refuse(&[RESERVATION], message);
            }
        }
    }
}
