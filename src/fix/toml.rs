//! Edits of TOML that keep comments, order, quotes, indentation and line ends.

use crate::fact::Value;
use crate::finding::Op;
use toml_edit::{Array, DocumentMut, Item, Key, Table, TableLike};

/// The text after the operations. Refuses what cannot be edited without touching other lines.
pub fn apply(text: &str, ops: &[&Op]) -> Result<String, String> {
    let crlf = text.contains("\r\n");
    if crlf && text.replace("\r\n", "").contains('\n') {
        return Err("line ends are mixed; edit it by hand".into());
    }
    let plain = if crlf { text.replace("\r\n", "\n") } else { text.to_owned() };
    let open_end = !plain.is_empty() && !plain.ends_with('\n');
    let mut document: DocumentMut =
        plain.parse().map_err(|e: toml_edit::TomlError| e.message().to_owned())?;
    let kept = document.to_string();
    if kept.trim_end_matches('\n') != plain.trim_end_matches('\n') {
        return Err("its layout cannot be kept; edit it by hand".into());
    }
    for op in ops {
        match op {
            Op::Set(path, value) => set(document.as_table_mut(), path, value)?,
            Op::Remove(path) => {
                take(document.as_table_mut(), path)?;
            }
            Op::RemoveElement(path, value) => remove_element(document.as_table_mut(), path, value)?,
            Op::Move { from, to } => relocate(document.as_table_mut(), from, to)?,
        }
    }
    let mut edited = document.to_string();
    if open_end {
        edited.truncate(edited.trim_end_matches('\n').len());
    }
    Ok(if crlf { edited.replace('\n', "\r\n") } else { edited })
}

fn split(path: &[String]) -> Result<(&String, &[String]), String> {
    path.split_last().ok_or_else(|| "an empty path".to_owned())
}

fn set(root: &mut Table, path: &[String], value: &Value) -> Result<(), String> {
    let (name, parents) = split(path)?;
    let mut new = to_value(value);
    let table = descend(root, parents, None)?;
    match table.get_mut(name) {
        Some(Item::Value(old)) => {
            *new.decor_mut() = old.decor().clone();
            *old = new;
        }
        Some(_) => return Err(format!("`{name}` is a table")),
        None => {
            let indent = table.iter().next().map(|(first, _)| first.to_owned()).and_then(|first| {
                let decor = table.key(&first)?.leaf_decor();
                let prefix = decor.prefix()?.as_str()?;
                Some(prefix[prefix.rfind('\n').map_or(0, |i| i + 1)..].to_owned())
            });
            table.insert(name, Item::Value(new));
            if let (Some(indent), Some(mut key)) = (indent, table.key_mut(name)) {
                key.leaf_decor_mut().set_prefix(indent);
            }
        }
    }
    Ok(())
}

/// Removes a key; its own line goes, comments above it stay with what follows where TOML allows.
fn take(root: &mut Table, path: &[String]) -> Result<(Key, Item), String> {
    let (name, parents) = split(path)?;
    let table = existing(root, parents).ok_or_else(|| format!("`{}` is not there", path.join(".")))?;
    let key = table.key(name).cloned().ok_or_else(|| format!("`{}` is not there", path.join(".")))?;
    let item = table.remove(name).ok_or_else(|| format!("`{}` is not there", path.join(".")))?;
    Ok((key, item))
}

fn remove_element(root: &mut Table, path: &[String], value: &Value) -> Result<(), String> {
    let (name, parents) = split(path)?;
    let array = existing(root, parents)
        .and_then(|t| t.get_mut(name))
        .and_then(Item::as_array_mut)
        .ok_or_else(|| format!("`{}` is not an array", path.join(".")))?;
    let wanted = to_value(value);
    let same = |v: &toml_edit::Value| plain(v) == plain(&wanted);
    let at = array.iter().position(same).ok_or_else(|| format!("{value} is not in `{}`", path.join(".")))?;
    let gone = array.remove(at);
    // the space before the first element belongs to the bracket, not to the element
    if at == 0
        && let Some(first) = array.get_mut(0)
        && let Some(prefix) = gone.decor().prefix()
        && !first.decor().prefix().and_then(|p| p.as_str()).is_some_and(|p| p.contains('\n'))
    {
        first.decor_mut().set_prefix(prefix.clone());
    }
    if array.is_empty() {
        array.set_trailing_comma(false);
    }
    Ok(())
}

fn relocate(root: &mut Table, from: &[String], to: &[String]) -> Result<(), String> {
    let quoted = existing_key(root, from).is_some_and(|repr| repr.starts_with('"'));
    let (name, parents) = split(to)?;
    if existing(root, parents).is_some_and(|t| t.contains_key(name)) {
        return Err(format!("`{}` is there already", to.join(".")));
    }
    let (key, item) = take(root, from)?;
    prune(root, &from[..from.len() - 1]);
    let table = descend(root, parents, Some(if quoted { '"' } else { '\'' }))?;
    if key.get() == name {
        table.entry_format(&key).or_insert(item)
    } else {
        table.entry(name).or_insert(item)
    };
    Ok(())
}

/// The quote style of the plugin id in a path such as `plugins."io.containerd…".containerd`.
fn existing_key(root: &mut Table, path: &[String]) -> Option<String> {
    let id = path.get(1)?;
    let key = existing(root, &path[..1])?.key(id)?;
    Some(key.display_repr().into_owned())
}

/// Drops implied tables that a move left empty.
fn prune(root: &mut Table, path: &[String]) {
    for depth in (1..=path.len()).rev() {
        let Some((name, parents)) = path[..depth].split_last() else { return };
        let Some(parent) = existing(root, parents) else { return };
        let empty =
            parent.get(name).and_then(Item::as_table).is_some_and(|t| t.is_empty() && t.is_implicit());
        if !empty {
            return;
        }
        parent.remove(name);
    }
}

fn existing<'a>(root: &'a mut Table, path: &[String]) -> Option<&'a mut dyn TableLike> {
    let mut table: &mut dyn TableLike = root;
    for name in path {
        table = table.get_mut(name)?.as_table_like_mut()?;
    }
    Some(table)
}

/// The table at a path; missing ones are made, implied where another table follows below.
fn descend<'a>(
    root: &'a mut Table,
    path: &[String],
    quote: Option<char>,
) -> Result<&'a mut dyn TableLike, String> {
    let mut table: &mut dyn TableLike = root;
    for (i, name) in path.iter().enumerate() {
        if !table.contains_key(name) {
            let mut new = Table::new();
            new.set_implicit(i + 1 < path.len() || quote.is_some());
            let key = match quote.filter(|_| name.contains('.')) {
                Some(q) => Key::parse(&format!("{q}{name}{q}")).ok().and_then(|mut keys| keys.pop()),
                None => None,
            };
            table.entry_format(&key.unwrap_or_else(|| Key::new(name))).or_insert(Item::Table(new));
        }
        table = table
            .get_mut(name)
            .and_then(Item::as_table_like_mut)
            .ok_or_else(|| format!("`{}` is not a table", path[..=i].join(".")))?;
    }
    Ok(table)
}

fn to_value(value: &Value) -> toml_edit::Value {
    match value {
        Value::Bool(b) => (*b).into(),
        Value::Int(i) => (*i).into(),
        Value::Text(t) => t.as_ref().into(),
        Value::List(list) => toml_edit::Value::Array(list.iter().map(to_value).collect::<Array>()),
    }
}

fn plain(value: &toml_edit::Value) -> String {
    let mut value = value.clone();
    value.decor_mut().clear();
    match value.as_str() {
        Some(text) => format!("{text:?}"),
        None => value.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn path(text: &str) -> Vec<String> {
        text.split('/').map(str::to_owned).collect()
    }

    #[test]
    fn a_value_is_set_and_its_line_kept() {
        let text = "# top\r\nversion = 2\r\n[a.\"b.c\"] # t\r\n\tSystemdCgroup   =  false   # why\r\nx = 1";
        let op = Op::Set(path("a/b.c/SystemdCgroup"), Value::Bool(true));
        assert_eq!(apply(text, &[&op]).unwrap(), text.replace("false", "true"));
    }

    #[test]
    fn a_missing_option_is_added_below_its_table() {
        let text = "[r.runc]\n  type = \"x\"\n\n[other]\n  y = 1\n";
        let op = Op::Set(path("r/runc/options/SystemdCgroup"), Value::Bool(true));
        assert_eq!(
            apply(text, &[&op]).unwrap(),
            "[r.runc]\n  type = \"x\"\n\n[r.runc.options]\nSystemdCgroup = true\n\n[other]\n  y = 1\n"
        );
        let op = Op::Set(path("r/runc/more"), Value::text("z"));
        assert_eq!(
            apply(text, &[&op]).unwrap(),
            "[r.runc]\n  type = \"x\"\n  more = \"z\"\n\n[other]\n  y = 1\n"
        );
    }

    #[test]
    fn one_element_leaves_its_list() {
        let text = "disabled_plugins = [\"cri\", \"x\"] # c\n";
        let op = Op::RemoveElement(path("disabled_plugins"), Value::text("cri"));
        assert_eq!(apply(text, &[&op]).unwrap(), "disabled_plugins = [\"x\"] # c\n");
        assert_eq!(apply("disabled_plugins = ['cri']\n", &[&op]).unwrap(), "disabled_plugins = []\n");
        assert!(apply("disabled_plugins = []\n", &[&op]).is_err());
    }

    #[test]
    fn a_table_moves_to_another_plugin_in_place() {
        let text = "version = 3\n[plugins.\"io.g\".containerd.runtimes.runc.options] # here\nSystemdCgroup = true\n[z]\n";
        let op = Op::Move { from: path("plugins/io.g/containerd"), to: path("plugins/io.r/containerd") };
        assert_eq!(apply(text, &[&op]).unwrap(), text.replace("io.g", "io.r"));
    }

    #[test]
    fn mixed_line_ends_are_refused() {
        let op = Op::Remove(path("a"));
        assert!(apply("a = 1\r\nb = 2\n", &[&op]).is_err());
    }
}
