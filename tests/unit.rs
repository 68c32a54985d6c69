//! Unit files: whatever the text, reading ends, and every span lies inside its text.

#![allow(clippy::unwrap_used, clippy::disallowed_methods)]

use nodevet::fact::Known;
use nodevet::model::kubelet::flags::{Parsed, parse};
use nodevet::model::unit::{flag, load};
use nodevet::model::{Captured, Reader};
use nodevet::text::{Kind, Place, SourceId, Sources};
use proptest::prelude::*;
use std::collections::BTreeMap;

const UNIT: &str = "/etc/systemd/system/kubelet.service";
const DROPIN: &str = "/etc/systemd/system/kubelet.service.d/x.conf";
const ENV: &str = "/etc/default/kubelet";

#[derive(Default)]
struct Tree {
    files: BTreeMap<&'static str, String>,
    sources: Sources,
}

impl Reader for Tree {
    fn file(&mut self, path: &str) -> Known<Captured> {
        let Some(text) = self.files.get(path) else { return Known::ABSENT };
        let id = self.sources.add(path, Kind::File, text.as_str());
        Known::Is(Captured { id, text: text.as_str().into(), invalid_utf8: None })
    }

    fn list(&mut self, dir: &str) -> Known<Vec<String>> {
        let below = |p: &&str| p.strip_prefix(dir)?.strip_prefix('/').map(str::to_owned);
        Known::Is(self.files.keys().filter_map(below).filter(|n| !n.contains('/')).collect())
    }

    fn is_dir(&mut self, _: &str) -> Known<bool> {
        Known::Is(false)
    }

    fn default(&mut self, name: &str, text: &'static str) -> SourceId {
        self.sources.add(name, Kind::Default, text)
    }
}

/// Pieces that matter to the grammar, in any order.
fn soup() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        "\\PC{0,4}",
        Just("\n".to_owned()),
        Just("\\\n".to_owned()),
        Just("\r\n".to_owned()),
        Just("[Service]\n".to_owned()),
        Just("\nExecStart=".to_owned()),
        Just("\nEnvironment=".to_owned()),
        Just("\nEnvironmentFile=-/etc/default/kubelet\n".to_owned()),
        Just("\nA=".to_owned()),
        Just("--config=".to_owned()),
        Just(" --node-labels=a=b,".to_owned()),
        prop::sample::select(vec![
            "\"", "'", "\\", " ", "\t", "$A", "${A}", "$$", ";", "\\;", "#", "@", "-", "\\x4", "\\x41",
            "\\u20ac", "\\u00e9", "é", "\u{feff}",
        ])
        .prop_map(str::to_owned),
    ];
    prop::collection::vec(piece, 0..40).prop_map(|pieces| pieces.concat())
}

fn fits(sources: &Sources, place: Place) -> bool {
    sources.get(place.source).text.get(place.span.start..place.span.end).is_some()
}

proptest! {
    #[test]
    fn any_text_is_read(unit in soup(), dropin in soup(), env in soup()) {
        let files = [(UNIT, format!("[Service]\n{unit}")), (DROPIN, dropin), (ENV, env)];
        let mut tree = Tree { files: files.into(), ..Default::default() };
        let Known::Is(unit) = load(&mut tree, "kubelet.service") else { panic!("it is there") };
        let environment = unit.environment(&mut tree);
        let arguments = unit.command_line(&environment);
        for setting in &unit.settings {
            prop_assert!(fits(&tree.sources, setting.place), "{setting:?}");
        }
        for (name, variable) in environment.iter() {
            prop_assert!(fits(&tree.sources, variable.place), "{name} {variable:?}");
        }
        for argument in &arguments {
            prop_assert!(fits(&tree.sources, argument.place), "{argument:?}");
            prop_assert!(fits(&tree.sources, argument.place_from(0)), "{argument:?}");
        }
        // also where the kubelet takes them apart
        if let Ok(line) = parse(arguments.get(1..).unwrap_or_default(), 31) {
            for setting in &line.settings {
                prop_assert!(fits(&tree.sources, setting.place), "{setting:?}");
                if let Parsed::Map(entries) = &setting.value {
                    prop_assert!(entries.iter().all(|entry| fits(&tree.sources, entry.place)), "{entries:?}");
                }
            }
        }
        for (place, message) in &unit.problems {
            prop_assert!(fits(&tree.sources, *place), "{message}");
        }
        if let Some((_, place)) = flag(&arguments, &["--config"]) {
            prop_assert!(fits(&tree.sources, place));
        }
    }

    /// What is written plainly comes out as written, at its place.
    #[test]
    fn plain_words_keep_their_places(words in prop::collection::vec("[a-z=/-]{1,8}", 1..6), wrap in any::<bool>()) {
        let words: Vec<String> = words.into_iter().map(|w| format!("w{w}")).collect();
        let line = words.join(if wrap { " \\\n# note\n\t" } else { "  " });
        let files = [(UNIT, format!("[Service]\nExecStart={line}\n"))];
        let mut tree = Tree { files: files.into(), ..Default::default() };
        let Known::Is(unit) = load(&mut tree, "kubelet.service") else { panic!("it is there") };
        let arguments = unit.command_line(&unit.environment(&mut tree));
        let shown: Vec<&str> = arguments.iter().map(|a| tree.sources.slice(a.place)).collect();
        prop_assert_eq!(&shown, &words);
        prop_assert_eq!(arguments.iter().map(|a| a.text()).collect::<Vec<_>>(), words);
    }
}
