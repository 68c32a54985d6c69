//! What the other runtimes and the next boot read.

use super::{One, within};
use crate::fact::{Known, Why};
use crate::model::unit::Environment;
use crate::model::{Captured, crio, docker, static_pods, swap, sysctl};
use crate::text::{Kind, Sources};

/// crio.conf, whichever generation reads it.
pub fn crio_conf(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    let mut one = One { path: crio::MAIN, text: &text, sources: Sources::default() };
    let input = crio::Input { arguments: &[], environment: &Environment::default() };
    for generation in crio::possible(None) {
        let found = crio::effective(generation, &input, &mut one);
        if let Known::Is(Err(fatal)) = found.boots {
            within(&one.sources.get(fatal.place.source).text, fatal.place.span);
        }
    }
}

/// daemon.json, also one that was no UTF-8.
pub fn daemon_json(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    let mut one = One { path: docker::DEFAULT_FILE, text: &text, sources: Sources::default() };
    let input = docker::Input {
        arguments: &[],
        systemd_running: Known::Is(true),
        cgroup_mode: Known::Unknown(Why::Unread),
    };
    for generation in docker::possible(None) {
        let found = docker::effective(generation, &input, &mut one);
        if let Known::Is(Err(fatal)) = found.boots {
            within(&one.sources.get(fatal.place.source).text, fatal.place.span);
        }
        if let Known::Is(driver) = found.driver {
            driver.statements.iter().for_each(|(_, origin)| {
                within(&one.sources.get(origin.place.source).text, origin.place.span);
            });
        }
    }
}

/// fstab, sysctl.conf, zram-generator.conf and a manifest of a static pod.
pub fn boot_files(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    for path in ["/etc/fstab", "/etc/sysctl.conf", "/etc/systemd/zram-generator.conf"] {
        let mut one = One { path, text: &text, sources: Sources::default() };
        if let Known::Is(found) = swap::at_boot(&mut one, true, &[]) {
            found.iter().for_each(|swap| within(&text, swap.place.span));
        }
        if let Known::Is(found) = sysctl::settings(&mut one, Some("/etc/sysctl.conf")) {
            found.iter().for_each(|setting| within(&text, setting.place.span));
        }
    }
    let mut sources = Sources::default();
    let id = sources.add("/etc/kubernetes/manifests/a", Kind::File, &*text);
    let file = Captured { id, text: text.as_ref().into(), invalid_utf8: None };
    if let Some((_, place)) = static_pods::pod(&file) {
        within(&text, place.span);
    }
}
