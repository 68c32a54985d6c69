//! Numbers below /proc/sys.

use super::ctx::Ctx;
use crate::fact::{Known, Said, Statements, Value, Why};
use crate::text::{Place, Span};

/// A number below /proc/sys/net, which shows the network namespace of the one who reads.
pub(super) fn network_setting(ctx: &mut Ctx, path: &str) -> Statements {
    if ctx.node.is_live() {
        let [first, own] = ["/proc/1/ns/net", "/proc/self/ns/net"].map(|ns| ctx.node.link(ns));
        if first.is().is_some() && own.is().is_some() && first != own {
            let met = "shows another network namespace than that of the host".into();
            return Known::Unknown(Why::Unreadable(path.to_owned(), met));
        }
    }
    number(ctx, path)
}

/// The number that a file holds.
pub(super) fn number(ctx: &mut Ctx, path: &str) -> Statements {
    ctx.read(path).and_then(|text| {
        let span = Span::new(0, text.text.trim_end().len());
        match text.text.trim().parse() {
            Ok(number) => {
                Known::Is(vec![Said { value: Value::Int(number), origin: Ctx::observed(text.id, span) }])
            }
            Err(_) => {
                let place = Place { source: text.id, span };
                ctx.problem(place, "not a number");
                Known::Unknown(Why::Malformed(place, "not a number".into()))
            }
        }
    })
}
