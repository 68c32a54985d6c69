//! Reading `nodevet facts --format json`.

use std::path::Path;
use std::process::Command;

use serde_json::Value;

use crate::lab::{nodevet, output};

/// What nodevet says of one node.
pub(crate) struct Answer(Value);

impl Answer {
    /// Asks with these arguments after `facts --format json`.
    pub(crate) fn of(root: &Path, arguments: &[String]) -> Result<Answer, String> {
        let mut command = Command::new(nodevet());
        command.args(["facts", "--format", "json", "--root"]).arg(root).args(arguments);
        let said = output(&mut command)?;
        let stderr = String::from_utf8_lossy(&said.stderr);
        if !said.status.success() {
            return Err(format!("nodevet facts: {}: {stderr}", said.status));
        }
        Answer::new(
            serde_json::from_slice(&said.stdout).map_err(|e| format!("nodevet facts: {e}: {stderr}"))?,
        )
    }

    pub(crate) fn new(mut document: Value) -> Result<Answer, String> {
        match document.get_mut("facts") {
            Some(facts) if facts.is_object() => Ok(Answer(facts.take())),
            _ => Err("nodevet facts: no object `facts`".to_owned()),
        }
    }

    /// The value of a fact; none where it is absent or unknown.
    pub(crate) fn value(&self, name: &str) -> Option<&Value> {
        is(&self.0[name])
    }

    pub(crate) fn text(&self, name: &str) -> Option<&str> {
        self.value(name).and_then(Value::as_str)
    }

    /// Where the value was found, e.g. `cri:Version` or a path; empty where there is none.
    pub(crate) fn source(&self, name: &str) -> &str {
        self.0[name]["origin"]["source"].as_str().unwrap_or_default()
    }

    pub(crate) fn truth(&self, name: &str) -> Option<bool> {
        self.value(name).and_then(Value::as_bool)
    }

    /// Texts of a list fact, sorted, each once; empty where there is none.
    pub(crate) fn list(&self, name: &str) -> Vec<String> {
        let list = self.value(name).and_then(Value::as_array);
        let mut texts: Vec<String> =
            list.into_iter().flatten().filter_map(Value::as_str).map(str::to_owned).collect();
        texts.sort();
        texts.dedup();
        texts
    }

    /// The row of a table fact whose column `name` is this.
    pub(crate) fn row(&self, table: &str, name: &str) -> Option<Row<'_>> {
        self.rows(table).find(|row| row.text("name") == Some(name))
    }

    pub(crate) fn rows(&self, table: &str) -> impl Iterator<Item = Row<'_>> {
        self.0[table]["rows"].as_array().into_iter().flatten().map(Row)
    }
}

#[derive(Clone, Copy)]
pub(crate) struct Row<'a>(&'a Value);

impl<'a> Row<'a> {
    pub(crate) fn text(self, column: &str) -> Option<&'a str> {
        is(&self.0[column]).and_then(Value::as_str)
    }

    pub(crate) fn truth(self, column: &str) -> Option<bool> {
        is(&self.0[column]).and_then(Value::as_bool)
    }
}

fn is(cell: &Value) -> Option<&Value> {
    (cell["state"] == "is").then(|| &cell["value"])
}
