//! The configuration of one start: the file, the drop-ins in the manner of the version, the flags.
//! Upstream: cmd/kubelet/app/server.go (mergeKubeletConfigurations in its three forms),
//! pkg/kubelet/kubeletconfig/configfiles; measured on 1.28.15, 1.31.14, 1.34.9 and 1.36.3.

use super::decode::{Decoder, Ignored, Keys, Reason, absolute_paths};
use super::defaults::{Fill, Table};
use super::effective::{Effective, Refusal, Stage};
use super::files::{DropIns, File};
use super::internal;
use super::tree::{Json, Loaded, Tree};
use crate::fact::{Known, Layer, Origin, Said, Value, Why};
use crate::model::Reader;
use crate::model::containerd::paths;
use crate::text::{Place, line_span};
use std::rc::Rc;
use std::sync::Arc;

const API: &str = "kubelet.config.k8s.io/v1beta1";
const KIND: &str = "KubeletConfiguration";

/// The variable that 1.28 and 1.29 want before they look at `--config-dir`.
pub const DROP_IN_VARIABLE: &str = "KUBELET_CONFIG_DROPIN_DIR_ALPHA";

/// What loading came to.
#[derive(Debug, Default)]
pub(super) struct Loading {
    pub config: Effective,
    pub refusal: Option<Refusal>,
    pub ignored: Vec<Ignored>,
}

/// What is read before any flag counts.
pub(super) struct Inputs<'a> {
    /// The file of `--config` and where it is named.
    pub base: Option<(&'a File, Place)>,
    pub drop_ins: Option<&'a DropIns>,
    /// Whether the environment has [`DROP_IN_VARIABLE`].
    pub variable: &'a Known<bool>,
    /// What holds where nothing is said.
    pub defaults: &'a Arc<Table>,
}

/// Loads the file and merges the drop-ins as a version does it.
pub(super) fn load(reader: &mut dyn Reader, inputs: &Inputs<'_>, minor: u32) -> Loading {
    let mut loading = Loading::default();
    let fill = Fill { table: Arc::clone(inputs.defaults), minor };
    let stopped = match inputs.base {
        Some((file, said)) => base(&mut loading, file, said, &fill),
        None => {
            fill.flags(&mut loading.config);
            Ok(())
        }
    };
    let stopped = stopped.and_then(|()| match inputs.drop_ins {
        Some(drop_ins) => merge(reader, &mut loading, drop_ins, inputs, &fill),
        None => Ok(()),
    });
    loading.refusal = stopped.err().map(|refusal| *refusal);
    loading
}

fn refuse<T>(stage: Stage, place: Place, layer: Layer, message: String) -> Result<T, Box<Refusal>> {
    Err(Box::new(Refusal { stage, message, origin: Origin::new(layer, place), missing: false }))
}

fn base(loading: &mut Loading, file: &File, said: Place, fill: &Fill) -> Result<(), Box<Refusal>> {
    let at = |span| file.at(span).unwrap_or(said);
    match (&file.text, &file.loaded) {
        _ if file.directory => {
            refuse(Stage::ConfigLoad, said, Layer::Flag, format!("{} is a directory", file.path))
        }
        (Known::Unknown(why), _) => {
            loading.config.covered = Some(why.clone());
            Ok(())
        }
        (Known::Is(_), Some(Ok(loaded))) => {
            decode_file(loading, file, loaded, fill, Stage::ConfigLoad, Layer::File)?;
            Ok(())
        }
        (Known::Is(_), Some(Err(error))) => refuse(
            Stage::ConfigLoad,
            at(error.span),
            Layer::File,
            format!("{}: {}", file.path, error.message),
        ),
        _ => {
            let message = format!("{} is not there", file.path);
            let origin = Origin::new(Layer::Flag, said);
            Err(Box::new(Refusal { stage: Stage::ConfigLoad, message, origin, missing: true }))
        }
    }
}

/// Decodes a whole file as that of `--config` is decoded, with all defaults.
fn decode_file(
    loading: &mut Loading,
    file: &File,
    loaded: &Loaded,
    fill: &Fill,
    stage: Stage,
    layer: Layer,
) -> Result<(), Box<Refusal>> {
    let decoded = file.decoded(fill.minor, || {
        kind_of(file, &loaded.root, stage, layer, true)?;
        let mut own = Loading::default();
        let (into, ignored) = (&mut own.config, &mut own.ignored);
        let mut decoder = Decoder { keys: Keys::Exact, minor: fill.minor, into, ignored };
        if let Err(wrong) = decoder.file(&loaded.root) {
            return refuse(stage, wrong.place, layer, wrong.message);
        }
        tell(&mut own, loaded, layer);
        Ok(Rc::new((own.config, own.ignored)))
    })?;
    loading.config = decoded.0.clone();
    loading.ignored.extend_from_slice(&decoded.1);
    fill.file(&mut loading.config);
    absolute_paths(&mut loading.config, paths::dir(&file.path), layer);
    Ok(())
}

/// Tells what of a file nobody reads.
fn tell(loading: &mut Loading, loaded: &Loaded, layer: Layer) {
    let drop_in = layer == Layer::DropIn;
    let repeated = loaded.repeated.iter();
    loading.ignored.extend(repeated.map(|(path, place)| Ignored {
        path: path.clone(),
        place: *place,
        reason: Reason::Repeated,
        drop_in,
    }));
    loading.ignored.extend(loaded.rest.map(|place| Ignored {
        path: Vec::new(),
        place,
        reason: Reason::LaterDocument,
        drop_in,
    }));
}

/// Checks apiVersion and kind.
fn kind_of(file: &File, root: &Tree, stage: Stage, layer: Layer, wanted: bool) -> Result<(), Box<Refusal>> {
    let first = file
        .text
        .is()
        .map_or(root.origin.place, |text| Place { source: text.id, span: line_span(&text.text, 1) });
    if !matches!(root.json, Json::Map(_)) {
        let met = root.json.type_name();
        return refuse(stage, first, layer, format!("{} holds {met}, not a map", file.path));
    }
    for (field, right) in [("kind", KIND), ("apiVersion", API)] {
        let message = match root.get(field).map(|tree| (&tree.json, tree.origin.place)) {
            Some((Json::Text(text), _)) if !text.is_empty() && (!wanted || text == right) => continue,
            Some((Json::Text(text), place)) if !text.is_empty() => {
                return refuse(stage, place, layer, format!("{field} is {text}, not {right}"));
            }
            None | Some((Json::Null | Json::Text(_), _)) => {
                format!("{field} is not said; it must be {right}")
            }
            Some((json, place)) => {
                return refuse(stage, place, layer, format!("{field} is {}, not a text", json.type_name()));
            }
        };
        // the decoder without a schema only wants a kind
        if wanted || field == "kind" {
            return refuse(stage, first, layer, message);
        }
    }
    Ok(())
}

fn merge(
    reader: &mut dyn Reader,
    loading: &mut Loading,
    drop_ins: &DropIns,
    inputs: &Inputs<'_>,
    fill: &Fill,
) -> Result<(), Box<Refusal>> {
    let (dir, place) = &drop_ins.dir;
    if fill.minor < 30 {
        match inputs.variable {
            Known::Is(true) => {}
            Known::Is(false) | Known::Absent(_) => {
                let message = format!(
                    "--config-dir {dir} is said but the environment variable {DROP_IN_VARIABLE} is not set"
                );
                return refuse(Stage::DropIn, *place, Layer::Flag, message);
            }
            Known::Unknown(why) => {
                cover(loading, why.clone());
                return Ok(());
            }
        }
    }
    if let Some((path, what)) = &drop_ins.broken {
        return refuse(Stage::DropIn, *place, Layer::Flag, format!("{path} {what}"));
    }
    match fill.minor {
        ..29 => over_everything(reader, loading, drop_ins, fill.minor)?,
        29..32 => over_internal(loading, drop_ins, fill)?,
        _ => over_file(loading, drop_ins, fill)?,
    }
    if let Some(why) = &drop_ins.unseen {
        cover(loading, why.clone());
    }
    Ok(())
}

/// From here on nothing that was said before is known to hold.
fn cover(loading: &mut Loading, why: Why) {
    loading.config = Effective { covered: Some(why), ..Effective::default() };
}

/// Why a drop-in stops the kubelet, or that it cannot be read.
fn readable(file: &File, stop: Place) -> Result<Known<&Loaded>, Box<Refusal>> {
    match (&file.text, &file.loaded) {
        (Known::Unknown(why), _) => Ok(Known::Unknown(why.clone())),
        (_, Some(Ok(loaded))) => Ok(Known::Is(loaded)),
        (_, Some(Err(error))) => {
            let place = file.at(error.span).unwrap_or(stop);
            refuse(Stage::DropIn, place, Layer::DropIn, format!("{}: {}", file.path, error.message))
        }
        _ => refuse(Stage::DropIn, stop, Layer::Flag, format!("{} is not there", file.path)),
    }
}

/// 1.28: every drop-in is a whole configuration with all its defaults; what is not zero in it wins.
fn over_everything(
    reader: &mut dyn Reader,
    loading: &mut Loading,
    drop_ins: &DropIns,
    minor: u32,
) -> Result<(), Box<Refusal>> {
    for file in &drop_ins.files {
        let loaded = match readable(file, drop_ins.dir.1)? {
            Known::Is(loaded) => loaded,
            Known::Unknown(why) => {
                cover(loading, why);
                continue;
            }
            Known::Absent(_) => continue,
        };
        let mut own = Loading::default();
        let near = file.text.is().map(|text| Place { source: text.id, span: line_span(&text.text, 1) });
        let fill = &Fill { table: Table::new(reader, near), minor };
        decode_file(&mut own, file, loaded, fill, Stage::DropIn, Layer::DropIn)?;
        loading.ignored.append(&mut own.ignored);
        loading.config.maps.append(&mut own.config.maps);
        loading.config.elements.append(&mut own.config.elements);
        for (path, mut said) in own.config.with_defaults().said {
            let Some(Said { value, mut origin }) = said.pop() else { continue };
            let zero = match &value {
                Value::Bool(is) => !is,
                Value::Int(number) => *number == 0,
                Value::Text(text) => &**text == "0s" || text.is_empty() && path.len() == 1,
                Value::List(items) => items.is_empty(),
            };
            if zero && !loading.config.maps.contains_key(&path[..path.len() - 1]) {
                let reason = Reason::ZeroValue;
                if origin.layer == Layer::DropIn {
                    loading.ignored.push(Ignored { path, place: origin.place, reason, drop_in: true });
                }
                continue;
            }
            origin.layer = Layer::DropIn;
            loading.config.said.entry(&path).push(Said { value, origin });
        }
    }
    Ok(())
}

/// 1.29 to 1.31: drop-ins are laid over the internal object and read into it again.
fn over_internal(loading: &mut Loading, drop_ins: &DropIns, fill: &Fill) -> Result<(), Box<Refusal>> {
    loading.config = std::mem::take(&mut loading.config).with_defaults();
    let mut merged = internal::tree(&loading.config, Keys::Internal, fill.minor);
    patches(loading, drop_ins, &mut merged, fill.minor)?;
    unmarshal(loading, &merged, Keys::Internal, fill.minor)
}

/// 1.32 and later: drop-ins are laid over the file with its defaults; then defaults again.
fn over_file(loading: &mut Loading, drop_ins: &DropIns, fill: &Fill) -> Result<(), Box<Refusal>> {
    loading.config = std::mem::take(&mut loading.config).with_defaults();
    let mut merged = internal::tree(&loading.config, Keys::Folded, fill.minor);
    patches(loading, drop_ins, &mut merged, fill.minor)?;
    loading.config = Effective {
        covered: loading.config.covered.take(),
        near: std::mem::take(&mut loading.config.near),
        ..Effective::default()
    };
    unmarshal(loading, &merged, Keys::Folded, fill.minor)?;
    if loading.config.covered.is_none() {
        fill.again(&mut loading.config);
    }
    Ok(())
}

fn patches(
    loading: &mut Loading,
    drop_ins: &DropIns,
    merged: &mut Tree,
    minor: u32,
) -> Result<(), Box<Refusal>> {
    for file in &drop_ins.files {
        match readable(file, drop_ins.dir.1)? {
            Known::Is(loaded) => {
                kind_of(file, &loaded.root, Stage::DropIn, Layer::DropIn, minor >= 32)?;
                if let Some((path, place)) = loaded.repeated.first() {
                    let message = format!("{} is written twice", path.join("."));
                    return refuse(Stage::DropIn, *place, Layer::DropIn, message);
                }
                tell(loading, loaded, Layer::DropIn);
                nulls(loading, &loaded.root, &mut Vec::new());
                merged.patch(loaded.root.clone());
            }
            Known::Unknown(why) => {
                cover(loading, why);
                merged.json = Json::Map(std::collections::BTreeMap::new());
            }
            Known::Absent(_) => {}
        }
    }
    Ok(())
}

/// Remembers where a drop-in takes a field away.
fn nulls(loading: &mut Loading, tree: &Tree, path: &mut Vec<String>) {
    let Json::Map(entries) = &tree.json else { return };
    for (key, value) in entries {
        path.push(key.clone());
        if value.json == Json::Null {
            loading.config.near.insert(path.clone(), value.origin.place);
        }
        nulls(loading, value, path);
        path.pop();
    }
}

fn unmarshal(loading: &mut Loading, merged: &Tree, keys: Keys, minor: u32) -> Result<(), Box<Refusal>> {
    let mut ignored = Vec::new();
    let mut decoder = Decoder { keys, minor, into: &mut loading.config, ignored: &mut ignored };
    if let Err(wrong) = decoder.file(merged) {
        return refuse(Stage::DropIn, wrong.place, Layer::DropIn, wrong.message);
    }
    loading.ignored.append(&mut ignored);
    Ok(())
}
