//! The documented defaults, as the files that would say them.
//! Upstream: pkg/kubelet/apis/config/v1beta1/defaults.go, cmd/kubelet/app/options/options.go
//! (applyLegacyDefaults), pkg/kubelet/eviction/defaults_linux.go; measured on 1.28.15 to 1.36.3.

use super::decode::{Decoder, Keys};
use super::effective::{Effective, Path};
use super::schema::find;
use super::tree;
use crate::fact::{Layer, Origin, Said, Value};
use crate::model::{Captured, Reader};
use crate::text::{Kind as Text, Place, Sources, Span};
use std::sync::OnceLock;

/// The texts: for all versions, and where some differ.
const TEXTS: [(&str, &str); 5] = [
    ("default:kubelet", include_str!("defaults.yaml")),
    ("default:kubelet-1.35", "failCgroupV1: true\n"),
    (
        "default:kubelet-1.29",
        "evictionHard:\n  memory.available: 100Mi\n  nodefs.available: 10%\n  nodefs.inodesFree: 5%\n  \
         imagefs.available: 15%\n",
    ),
    ("default:kubelet-flags", include_str!("flag-defaults.yaml")),
    ("default:kubelet-1.23", "containerRuntimeEndpoint: unix:///var/run/dockershim.sock\n"),
];

/// A default and where its text says it.
struct Default {
    text: usize,
    path: Path,
    value: Value,
    span: Span,
    since: u32,
    pointer: bool,
}

fn all() -> &'static [Vec<Default>] {
    static ALL: OnceLock<Vec<Vec<Default>>> = OnceLock::new();
    ALL.get_or_init(|| (0..TEXTS.len()).map(read).collect())
}

fn read(text: usize) -> Vec<Default> {
    let id = Sources::default().add("", Text::Default, "");
    let file = Captured { id, text: TEXTS[text].1.into(), invalid_utf8: None };
    let mut config = Effective::default();
    if let Ok(loaded) = tree::load(&file, Layer::Default) {
        let mut ignored = Vec::new();
        let mut decoder =
            Decoder { keys: Keys::Exact, minor: u32::MAX, into: &mut config, ignored: &mut ignored };
        // the texts are our own and tested to be right
        let _ = decoder.file(&loaded.root);
    }
    let found = config.said.into_iter().filter_map(|(path, said)| {
        let said = said.into_iter().next_back()?;
        let (since, pointer) = find(&path).map_or((0, false), |(field, since)| (since, field.pointer));
        Some(Default { text, path, value: said.value, span: said.origin.place.span, since, pointer })
    });
    found.collect()
}

/// What a field holds when nothing is said: it then counts as unset.
fn is_zero(value: &Value) -> bool {
    match value {
        Value::Bool(is) => !is,
        Value::Int(number) => *number == 0,
        Value::Text(text) => text.is_empty() || &**text == "0s",
        Value::List(items) => items.is_empty(),
    }
}

/// How defaults are laid.
pub(super) struct Fill<'a> {
    pub reader: &'a mut dyn Reader,
    pub minor: u32,
    /// What labels of a default point at where the field is not written.
    pub near: Option<Place>,
}

impl Fill<'_> {
    /// SetDefaults: fields that say nothing get their default.
    pub(super) fn file(&mut self, config: &mut Effective) {
        let later = self.dynamic(config);
        if self.minor < 24 {
            self.one(config, &all()[4][0], Layer::Default);
        }
        for default in &all()[0] {
            if default.path[0] != "evictionHard" {
                self.one(config, default, Layer::Default);
            }
        }
        for (name, path, value) in later {
            if let Some(said) = config.said.get_mut(&path)
                && let [Said { origin: Origin { layer: Layer::Default, .. }, .. }] = said.as_slice()
                && let Some(origin) = config.said.get(&vec![name.to_owned()]).and_then(|s| s.last())
            {
                let origin = origin.origin.clone();
                config.said.insert(path, vec![Said { value, origin }]);
            }
        }
        if self.minor >= 35 {
            for default in &all()[1] {
                if config
                    .said
                    .get(&default.path)
                    .is_none_or(|said| said.last().is_none_or(|last| last.origin.layer == Layer::Default))
                {
                    config.said.remove(&default.path);
                    self.one(config, default, Layer::Default);
                }
            }
        }
    }

    /// Defaults that follow from another field.
    fn dynamic(&self, config: &Effective) -> Vec<(&'static str, Path, Value)> {
        let said = |name: &str| config.said.get(&vec![name.to_owned()]).and_then(|said| said.last());
        let mut later = Vec::new();
        if let Some(often) = said("nodeStatusUpdateFrequency").filter(|said| !is_zero(&said.value)) {
            let path = vec!["nodeStatusReportFrequency".to_owned()];
            later.push(("nodeStatusUpdateFrequency", path, often.value.clone()));
        }
        if let Some(Value::Int(2..)) = said("maxParallelImagePulls").map(|said| &said.value)
            && self.minor >= 30
        {
            let path = vec!["serializeImagePulls".to_owned()];
            later.push(("maxParallelImagePulls", path, Value::Bool(false)));
        }
        later
    }

    /// What loading the file of `--config` lays besides: the thresholds of eviction.
    pub(super) fn eviction(&mut self, config: &mut Effective) {
        let path = vec!["evictionHard".to_owned()];
        let merged = matches!(
            config.value(&["mergeDefaultEvictionSettings"]),
            crate::fact::Known::Is(Value::Bool(true))
        );
        if config.maps.contains_key(&path) && !merged {
            return;
        }
        let text = if self.minor < 30 { 2 } else { 0 };
        for default in all()[text].iter().filter(|default| default.path[0] == "evictionHard") {
            self.one(config, default, Layer::Default);
        }
    }

    /// Without a file: the flags have less careful defaults than the file.
    pub(super) fn flags(&mut self, config: &mut Effective) {
        for default in &all()[3] {
            self.one(config, default, Layer::Default);
        }
        self.file(config);
    }

    fn one(&mut self, config: &mut Effective, default: &Default, layer: Layer) {
        // the endpoint was a flag before it was a field
        if default.since > self.minor && default.path[0] != "containerRuntimeEndpoint" {
            return;
        }
        let said = config.said.entry(default.path.clone()).or_default();
        let mut layer = layer;
        let mut near = config.near.get(&default.path).copied().or(self.near);
        if !default.pointer
            && !is_zero(&default.value)
            && let Some(zero) = said.pop_if(|last| is_zero(&last.value))
        {
            near = Some(zero.origin.place);
            // what stood before it stays overridden
            if said.is_empty() {
                layer = Layer::Default;
            } else {
                layer = zero.origin.layer;
            }
        } else if !said.is_empty() {
            return;
        }
        let (name, text) = TEXTS[default.text];
        let source = self.reader.default(name, text);
        let place = Place { source, span: default.span };
        let origin = Origin { near, ..Origin::new(layer, place) };
        said.push(Said { value: default.value.clone(), origin });
    }
}

#[cfg(test)]
mod tests {
    use super::super::duration;
    use super::super::schema::{Field, Kind};
    use super::*;

    #[test]
    fn every_line_of_the_defaults_is_a_field() {
        for (index, (name, text)) in TEXTS.iter().enumerate() {
            let id = Sources::default().add("", Text::Default, "");
            let file = Captured { id, text: (*text).into(), invalid_utf8: None };
            let loaded = tree::load(&file, Layer::File).unwrap();
            let mut config = Effective::default();
            let mut ignored = Vec::new();
            Decoder { keys: Keys::Exact, minor: u32::MAX, into: &mut config, ignored: &mut ignored }
                .file(&loaded.root)
                .unwrap();
            assert_eq!(ignored, [], "{name}");
            assert_eq!(config.said.len(), all()[index].len());
            for default in &all()[index] {
                if let Value::Text(printed) = &default.value
                    && let Some((Field { kind: Kind::Duration, .. }, _)) = find(&default.path)
                {
                    assert_eq!(duration::parse(printed).map(duration::print).as_deref(), Some(&**printed));
                }
            }
        }
    }
}
