//! How `report.json` is laid out: the upper levels a line for each value, what is deep on one line.
//!
//! Indenting everything would triple the file of a large job; one line would be unreadable. A record a line is what
//! `grep`, `diff` and a person with a pager like best.

use std::io::{self, Write};

use serde::Serialize;
use serde_json::ser::Formatter;

/// Indents containers up to `depth`, and writes the inner ones on one line.
struct Layout {
    /// Containers nested deeper than this stay on one line.
    depth: usize,
    /// Open containers.
    open: usize,
    /// Whether the innermost open container has a value.
    filled: bool,
}

impl Layout {
    fn line<W: ?Sized + Write>(&self, writer: &mut W) -> io::Result<()> {
        writer.write_all(b"\n")?;
        for _ in 0..self.open {
            writer.write_all(b"  ")?;
        }
        Ok(())
    }

    fn begin<W: ?Sized + Write>(&mut self, writer: &mut W, bracket: &[u8]) -> io::Result<()> {
        self.open += 1;
        self.filled = false;
        writer.write_all(bracket)
    }

    fn end<W: ?Sized + Write>(&mut self, writer: &mut W, bracket: &[u8]) -> io::Result<()> {
        let broken = self.open <= self.depth && self.filled;
        self.open -= 1;
        self.filled = true;
        if broken {
            self.line(writer)?;
        }
        writer.write_all(bracket)
    }

    fn value<W: ?Sized + Write>(&mut self, writer: &mut W, first: bool) -> io::Result<()> {
        let broken = self.open <= self.depth;
        match (first, broken) {
            (true, false) => Ok(()),
            (true, true) => self.line(writer),
            (false, false) => writer.write_all(b", "),
            (false, true) => {
                writer.write_all(b",")?;
                self.line(writer)
            }
        }
    }
}

impl Formatter for Layout {
    fn begin_array<W: ?Sized + Write>(&mut self, writer: &mut W) -> io::Result<()> {
        self.begin(writer, b"[")
    }

    fn end_array<W: ?Sized + Write>(&mut self, writer: &mut W) -> io::Result<()> {
        self.end(writer, b"]")
    }

    fn begin_array_value<W: ?Sized + Write>(&mut self, w: &mut W, first: bool) -> io::Result<()> {
        self.value(w, first)
    }

    fn end_array_value<W: ?Sized + Write>(&mut self, _writer: &mut W) -> io::Result<()> {
        self.filled = true;
        Ok(())
    }

    fn begin_object<W: ?Sized + Write>(&mut self, writer: &mut W) -> io::Result<()> {
        self.begin(writer, b"{")
    }

    fn end_object<W: ?Sized + Write>(&mut self, writer: &mut W) -> io::Result<()> {
        self.end(writer, b"}")
    }

    fn begin_object_key<W: ?Sized + Write>(&mut self, w: &mut W, first: bool) -> io::Result<()> {
        self.value(w, first)
    }

    fn begin_object_value<W: ?Sized + Write>(&mut self, writer: &mut W) -> io::Result<()> {
        writer.write_all(b": ")
    }

    fn end_object_value<W: ?Sized + Write>(&mut self, _writer: &mut W) -> io::Result<()> {
        self.filled = true;
        Ok(())
    }
}

/// The two halves of the document as one object: of the first the lists have a line for each value of their records, of the second a
/// line for each record.
pub(super) fn document(head: &impl Serialize, tables: &impl Serialize) -> String {
    // No map with keys other than text, no serializer of ours that refuses: neither half can fail.
    let head = to_string(head, 3).unwrap_or_default();
    let tables = to_string(tables, 2).unwrap_or_default();
    let head = head.trim_end_matches('}').trim_end();
    let tables = tables.strip_prefix('{').unwrap_or_default();
    format!("{head},{tables}\n")
}

/// `value` as JSON; containers nested deeper than `depth` stay on one line.
fn to_string<T: Serialize>(value: &T, depth: usize) -> Result<String, serde_json::Error> {
    let mut bytes = Vec::new();
    let layout = Layout {
        depth,
        open: 0,
        filled: false,
    };
    value.serialize(&mut serde_json::Serializer::with_formatter(
        &mut bytes, layout,
    ))?;
    // serde_json writes UTF-8 only.
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::{Value, json};

    use super::*;

    #[test]
    fn upper_levels_a_line_each() {
        let value = json!({"a": [], "b": {}, "c": [{"x": 1, "y": [2, 3]}, []], "d": null});
        let expected = r#"{
  "a": [],
  "b": {},
  "c": [
    {"x": 1, "y": [2, 3]},
    []
  ],
  "d": null
}"#;
        assert_eq!(to_string(&value, 2).expect("JSON"), expected);
    }

    fn any_json() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            any::<i64>().prop_map(Value::from),
            ".*".prop_map(Value::from),
        ];
        leaf.prop_recursive(4, 40, 5, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..5).prop_map(Value::from),
                prop::collection::btree_map(".*", inner, 0..5)
                    .prop_map(|map| Value::Object(map.into_iter().collect())),
            ]
        })
    }

    proptest! {
        #[test]
        fn reads_back_whatever_the_depth(value in any_json(), depth in 0_usize..6) {
            let text = to_string(&value, depth).expect("JSON");
            prop_assert_eq!(serde_json::from_str::<Value>(&text).expect("JSON"), value);
        }
    }
}
