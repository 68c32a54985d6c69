//! The file of `--config`: a KubeletConfiguration in YAML or JSON, as the kubelet decodes it.
//! Its first decoder is strict, its second forgives unknown and repeated fields; field names are
//! told apart by case. Wrong types and another kind stop the kubelet.

use crate::model::Captured;
use crate::model::yaml::{Document, Item, Node, Scalar, SyntaxError, first_document};
use crate::text::{Span, line_span};

/// What matters here of a configuration.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Config {
    pub driver: Option<Field>,
    pub endpoint: Option<Field>,
    /// Feature gates, with the span of the value.
    pub gates: Vec<(String, bool, Span)>,
}

/// A field that is written, even if it says nothing (`null`, an empty string: the default counts).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Field {
    /// `None`: the default.
    pub value: Option<String>,
    pub span: Span,
}

/// Decodes the text. An error is what stops the kubelet, at its place.
pub fn decode(file: &Captured) -> Result<Config, SyntaxError> {
    let text = &*file.text;
    let refused = |span, message: &str| SyntaxError { span, message: message.into() };
    let first = line_span(text, 1);
    if text.is_empty() {
        return Err(refused(first, "the file is empty"));
    }
    // by content, not by name
    let json = text.trim_start().starts_with('{');
    if json {
        check_json(text)?;
    } else if let Some(at) = file.invalid_utf8 {
        return Err(refused(Span::new(at, at + '\u{fffd}'.len_utf8()), "not UTF-8"));
    }
    let document = first_document(text)?.ok_or_else(|| refused(first, "no document is in it"))?;
    let root = document.resolve(&document.root);
    let required = |field: &str, wanted: &str| match string(&document, root, field)? {
        Some(Field { value: Some(value), .. }) if value == wanted => Ok(()),
        Some(Field { value: Some(value), span }) => {
            Err(refused(span, &format!("{field} is {value}, not {wanted}")))
        }
        _ => Err(refused(first, &format!("{field} is not said; it must be {wanted}"))),
    };
    required("apiVersion", "kubelet.config.k8s.io/v1beta1")?;
    required("kind", "KubeletConfiguration")?;
    Ok(Config {
        driver: string(&document, root, "cgroupDriver")?,
        endpoint: string(&document, root, "containerRuntimeEndpoint")?,
        gates: gates(&document, root)?,
    })
}

fn check_json(text: &str) -> Result<(), SyntaxError> {
    serde_json::from_str::<serde::de::IgnoredAny>(text).map(|_| ()).map_err(|e| {
        let line = line_span(text, e.line());
        // the column counts bytes, from 1
        let at = (line.start + e.column().saturating_sub(1)).min(line.end);
        let at = (line.start..=at).rev().find(|i| text.is_char_boundary(*i)).unwrap_or(line.start);
        let message = e.to_string();
        let message = message.split(" at line ").next().unwrap_or_default().to_owned();
        SyntaxError { span: if at < line.end { Span::new(at, line.end) } else { line }, message }
    })
}

/// A field that takes a string.
fn string(document: &Document, map: &Node, name: &str) -> Result<Option<Field>, SyntaxError> {
    let Some(node) = document.get(map, name) else { return Ok(None) };
    // the place is where the name stands, the value that of its anchor
    let value = match document.resolve(node).scalar() {
        Some(Scalar::Null | Scalar::Text("")) => None,
        Some(Scalar::Text(text)) => Some(text.to_owned()),
        other => {
            let met = match other {
                Some(Scalar::Bool(_)) => "a boolean",
                Some(_) => "a number",
                None => "a list or map",
            };
            return Err(SyntaxError { span: node.span, message: format!("{name} is {met}, not a string") });
        }
    };
    Ok(Some(Field { value, span: node.span }))
}

fn gates(document: &Document, root: &Node) -> Result<Vec<(String, bool, Span)>, SyntaxError> {
    let Some(node) = document.get(root, "featureGates") else { return Ok(Vec::new()) };
    let entries = match &document.resolve(node).item {
        Item::Map(entries) => entries,
        Item::Scalar { text, plain: true } if matches!(text.as_str(), "" | "~" | "null") => {
            return Ok(Vec::new());
        }
        _ => return Err(SyntaxError { span: node.span, message: "featureGates is not a map".into() }),
    };
    let mut found = Vec::new();
    for (key, value) in entries {
        let Item::Scalar { text, .. } = &document.resolve(key).item else { continue };
        match document.resolve(value).scalar() {
            Some(Scalar::Bool(is)) => found.push((text.clone(), is, value.span)),
            // Go reads null as the zero value
            Some(Scalar::Null) => found.push((text.clone(), false, value.span)),
            _ if text == "<<" => {}
            _ => {
                let message = format!("featureGates.{text} is not a boolean");
                return Err(SyntaxError { span: value.span, message });
            }
        }
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::{Kind, Sources};

    const HEAD: &str = "apiVersion: kubelet.config.k8s.io/v1beta1\nkind: KubeletConfiguration\n";

    fn read(text: &str) -> Result<Config, SyntaxError> {
        let id = Sources::default().add("/c", Kind::File, text);
        decode(&Captured { id, text: text.into(), invalid_utf8: None })
    }

    fn driver(body: &str) -> Option<(Option<String>, String)> {
        let text = format!("{HEAD}{body}");
        let field = read(&text).unwrap().driver?;
        Some((field.value, text[field.span.start..field.span.end].to_owned()))
    }

    #[test]
    fn the_driver_is_read_as_the_kubelet_reads_it() {
        for (body, value, span) in [
            ("cgroupDriver: systemd\n", Some("systemd"), "systemd"),
            ("cgroupDriver: \"systemd\" # é\n", Some("systemd"), "\"systemd\""),
            ("cgroupDriver: Systemd\n", Some("Systemd"), "Systemd"),
            ("cgroupDriver: 'systemd '\n", Some("systemd "), "'systemd '"),
            ("cgroupDriver: \"\"\n", None, "\"\""),
            ("cgroupDriver: null\n", None, "null"),
            ("cgroupDriver: a\ncgroupDriver: b\n", Some("b"), "b"),
            ("cgroupDriver: a\n---\ncgroupDriver: b\n", Some("a"), "a"),
        ] {
            assert_eq!(driver(body), Some((value.map(str::to_owned), span.to_owned())), "{body}");
        }
        assert_eq!(driver("cgroupdriver: systemd\nCgroupDriver: systemd\n"), None);
    }

    #[test]
    fn json_is_told_by_its_content() {
        let text = "\n {\"kind\":\"KubeletConfiguration\",\"apiVersion\":\"kubelet.config.k8s.io/v1beta1\",\n\t\"cgroupDriver\":\"systemd\"}";
        let field = read(text).unwrap().driver.unwrap();
        assert_eq!(&text[field.span.start..field.span.end], "\"systemd\"");
        assert!(read(&text.replace("\"}", "\",}")).is_err());
    }

    #[test]
    fn what_stops_the_kubelet_has_a_place() {
        for (text, part) in [
            ("", ""),
            ("# nothing\n", "# nothing"),
            ("cgroupDriver: systemd\n", "cgroupDriver: systemd"),
            (
                "apiVersion: kubelet.config.k8s.io/v1\nkind: KubeletConfiguration\n",
                "kubelet.config.k8s.io/v1",
            ),
            (
                "apiVersion: kubelet.config.k8s.io/v1beta1\nkind: ClusterConfiguration\n",
                "ClusterConfiguration",
            ),
        ] {
            let error = read(text).unwrap_err();
            assert_eq!(&text[error.span.start..error.span.end], part, "{error:?}");
        }
        for body in [
            "cgroupDriver: true\n",
            "cgroupDriver: 5\n",
            "cgroupDriver: [systemd]\n",
            "featureGates: {A: \"x\"}\n",
        ] {
            assert!(read(&format!("{HEAD}{body}")).is_err(), "{body}");
        }
    }

    #[test]
    fn gates_are_booleans() {
        let text = format!("{HEAD}featureGates:\n  A: true\n  KubeletCgroupDriverFromCRI: off\n");
        let gates = read(&text).unwrap().gates;
        assert_eq!(gates.len(), 2);
        assert_eq!((gates[1].0.as_str(), gates[1].1), (crate::model::kubelet::GATE, false));
        assert_eq!(&text[gates[1].2.start..gates[1].2.end], "off");
    }
}
