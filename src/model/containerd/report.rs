//! What CRI's RuntimeConfig answers (2.0 on).

use super::generation::Generation;
use super::handlers::{self, Handler};
use super::tree::Shared;
use crate::fact::Known;

/// Which driver the kubelet is told.
#[derive(Clone, Debug)]
pub(super) enum Reported {
    /// 1.x has no such call.
    Unimplemented,
    /// A handler decides; its key, where there is one.
    Handler(Handler, Option<Shared>, bool),
    /// None does: whether systemd runs.
    Detected(Known<bool>),
}

/// The default handler first, the others by name; the first whose runc options can be read decides.
pub(super) fn reported(
    generation: &Generation,
    handlers: &[Handler],
    default: &str,
    systemd_running: &Known<bool>,
) -> Reported {
    if generation.is_v1() {
        return Reported::Unimplemented;
    }
    let first = handlers.iter().filter(|h| *h.name == *default);
    let rest = handlers.iter().filter(|h| *h.name != *default);
    for handler in first.chain(rest) {
        if let Some(options) = handlers::reported(generation, handler) {
            let key = options.get("SystemdCgroup").cloned();
            let on = key.as_ref().and_then(|k| k.bool()).unwrap_or(false);
            return Reported::Handler(handler.clone(), key, on);
        }
    }
    Reported::Detected(systemd_running.clone())
}
