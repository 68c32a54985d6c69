//! The reference: the same expression over the same facts, asked of the `cel` crate.

use super::world::{Node, State, answer, scope};
use cel::{Context, Program, Value as Cel};
use nodevet::fact::Value;
use nodevet::rule::expr::{self, Expr};
use proptest::test_runner::TestCaseError;
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

fn value(value: &Value) -> Cel {
    match value {
        Value::Bool(b) => Cel::Bool(*b),
        Value::Int(i) => Cel::Int(*i),
        Value::Text(t) => Cel::String(Arc::new(t.to_string())),
        Value::List(items) => Cel::List(Arc::new(items.iter().map(self::value).collect())),
    }
}

/// CEL has errors where we have absent (a key that is not in its map) and unknown (a variable that
/// is not there), and absorbs them as we do. So: the same truth, or an error there and no truth here.
pub(crate) fn compare(expr: &Expr, node: &Node) -> Result<(), TestCaseError> {
    let text = expr.to_string();
    let term = expr::condition(&text, &scope()).map_err(|e| TestCaseError::fail(format!("{text}: {e:?}")))?;
    let ours = answer(&term, node);
    let mut spaces: BTreeMap<&str, HashMap<String, Cel>> = BTreeMap::new();
    for (name, state) in &node.facts {
        let (space, field) = name.split_once('.').unwrap();
        let space_of = spaces.entry(space).or_default();
        if let State::Is(v) = state {
            space_of.insert(field.to_owned(), value(v));
        }
    }
    let mut context = Context::default();
    for (space, fields) in spaces.into_iter().filter(|(space, _)| !node.unknown.contains(space)) {
        context.add_variable_from_value(space, fields);
    }
    let program = Program::compile(&text).map_err(|e| TestCaseError::fail(format!("{text}: {e}")))?;
    let theirs = match program.execute(&context) {
        Ok(Cel::Bool(true)) => 't',
        Ok(Cel::Bool(false)) => 'f',
        Ok(other) => return Err(TestCaseError::fail(format!("{text}: {other:?}"))),
        Err(_) => 'e',
    };
    let same = theirs == ours || (theirs == 'e' && matches!(ours, 'a' | 'u'));
    if same {
        Ok(())
    } else {
        Err(TestCaseError::fail(format!("{text}\n{node:?}\nours {ours}, theirs {theirs}")))
    }
}
