//! What the kernel says in /proc: swap, settings that a node needs, modules.

use super::ctx::Ctx;
use super::number::network_setting;
use crate::fact::{Fact, Said, Statements, Value};
use crate::text::{Span, lines, words};

pub(crate) fn collect(ctx: &mut Ctx) {
    let swaps = first_words(ctx, "/proc/swaps", 1);
    ctx.say(Fact::each("kernel.swaps", swaps));
    let forward = network_setting(ctx, "/proc/sys/net/ipv4/ip_forward");
    ctx.say(Fact::one("kernel.ip_forward", forward));
    let bridge = network_setting(ctx, "/proc/sys/net/bridge/bridge-nf-call-iptables");
    ctx.say(Fact::one("kernel.bridge_nf_call_iptables", bridge));
    let modules = first_words(ctx, "/proc/modules", 0);
    ctx.say(Fact::each("kernel.modules", modules));
}

/// The first word of each line, after a heading.
fn first_words(ctx: &mut Ctx, path: &str, heading: usize) -> Statements {
    ctx.read(path).map(|text| {
        lines(&text.text)
            .skip(heading)
            .filter_map(|(line, _)| {
                let (word, value) = words(&text.text[line.start..line.end]).next()?;
                let span = Span::new(line.start + word.start, line.start + word.end);
                // white space in a path is written in octal
                let value = value.replace("\\040", " ").replace("\\011", "\t");
                Some(Said { value: Value::text(value), origin: Ctx::observed(text.id, span) })
            })
            .collect()
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::collect::Options;
    use crate::fact::Known;
    use crate::node::Node;
    use crate::resolve::{Snapshot, When};

    fn look(files: &[(&str, &str)]) -> (Snapshot, usize) {
        let node = Node::memory(files.iter().map(|(p, t)| (p.to_string(), t.to_string())).collect());
        let options = Options::default();
        let mut ctx = Ctx::new(&node, &options);
        collect(&mut ctx);
        (Snapshot::unread().with(&ctx.facts, When::Now), ctx.problems.len())
    }

    #[test]
    fn proc_is_read_word_by_word() {
        let (facts, problems) = look(&[
            ("/proc/swaps", "Filename\tType\n/dev/zram0   partition 1\n/my\\040swap file 2\n"),
            ("/proc/modules", "overlay 1 0 - Live 0x0\nbr_netfilter 2 0 - Live 0x0\n"),
            ("/proc/sys/net/ipv4/ip_forward", "1\n"),
        ]);
        let shown = |name: &str| facts.named(name).value.is().map(Value::to_string);
        assert_eq!(shown("kernel.swaps").as_deref(), Some("/dev/zram0, /my swap"));
        assert_eq!(shown("kernel.modules").as_deref(), Some("overlay, br_netfilter"));
        assert_eq!(shown("kernel.ip_forward").as_deref(), Some("1"));
        assert_eq!(facts.named("kernel.bridge_nf_call_iptables").value, Known::ABSENT);
        assert_eq!(problems, 0);
    }

    #[test]
    fn what_cannot_be_read_is_unknown() {
        let (facts, _) = look(&[("/etc/x", "")]);
        for name in ["kernel.swaps", "kernel.modules", "kernel.ip_forward"] {
            assert!(facts.named(name).value.is_unknown(), "{name}");
        }
        let (facts, problems) = look(&[("/proc/sys/net/ipv4/ip_forward", "on\n")]);
        assert!(facts.named("kernel.ip_forward").value.is_unknown());
        assert_eq!(problems, 1);
    }
}
