//! Records spread over many lines, as `jq` leaves them, and lists of records.

use serde::de::IgnoredAny;

/// Gathers the lines of one pretty-printed object: from a lone `{` to the `}` that stands below it, everything between them indented.
#[derive(Debug, Default)]
pub(super) struct Spread {
    open: bool,
    indent: Vec<u8>,
    text: Vec<u8>,
    first: u64,
    too_long: bool,
}

/// What a line is to a spread object.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Part {
    /// It doesn't belong to one.
    None,
    /// It begins or continues one.
    Taken,
    /// It ends one, which [`Spread::take`] gives.
    Complete,
    /// One was begun, and this line isn't a part of it.
    Broken,
}

/// A gathered object.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Gathered {
    pub(super) text: Vec<u8>,
    /// The line of its `{`.
    pub(super) first: u64,
    /// Longer than `limit`: the text was thrown away.
    pub(super) too_long: bool,
}

impl Spread {
    pub(super) fn is_open(&self) -> bool {
        self.open
    }

    /// Offers a line without its end, whose text up to `content` is white space.
    pub(super) fn offer(&mut self, line: &[u8], content: usize, number: u64, limit: usize) -> Part {
        let (indent, text) = line.split_at(content);
        if !self.open {
            if text != b"{" {
                return Part::None;
            }
            self.open = true;
            self.first = number;
            self.too_long = false;
            self.indent.clear();
            self.indent.extend_from_slice(indent);
            self.text.clear();
            self.text.push(b'{');
            return Part::Taken;
        }
        if indent == self.indent && matches!(text, b"}" | b"},") {
            self.push(b"}", limit);
            self.open = false;
            return Part::Complete;
        }
        if indent.len() > self.indent.len() && indent.starts_with(&self.indent) {
            self.push(text, limit);
            return Part::Taken;
        }
        Part::Broken
    }

    fn push(&mut self, text: &[u8], limit: usize) {
        if self.too_long {
            return;
        }
        if self.text.len() + text.len() > limit {
            self.too_long = true;
            self.text = Vec::new();
            return;
        }
        // JSON has no line feeds inside its values, so the lines need nothing between them.
        self.text.extend_from_slice(text);
    }

    /// What has been gathered, whether whole or not; nothing is open afterwards.
    pub(super) fn take(&mut self) -> Gathered {
        self.open = false;
        Gathered {
            text: std::mem::take(&mut self.text),
            first: self.first,
            too_long: self.too_long,
        }
    }
}

/// The elements of a list that holds nothing but objects, `None` where it isn't one.
pub(super) fn elements(list: &[u8]) -> Option<Vec<&[u8]>> {
    let mut rest = list.strip_prefix(b"[")?.trim_ascii_start();
    let mut found = Vec::new();
    if rest == b"]" {
        return Some(found);
    }
    loop {
        if rest.first() != Some(&b'{') {
            return None;
        }
        let mut stream = serde_json::Deserializer::from_slice(rest).into_iter::<IgnoredAny>();
        stream.next()?.ok()?;
        let (element, behind) = rest.split_at(stream.byte_offset());
        found.push(element);
        let behind = behind.trim_ascii_start();
        match behind.first()? {
            b',' => rest = behind[1..].trim_ascii_start(),
            b']' if behind[1..].trim_ascii().is_empty() => return Some(found),
            _ => return None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn offer(spread: &mut Spread, line: &str, number: u64) -> Part {
        let content = line.len() - line.trim_start().len();
        spread.offer(line.as_bytes(), content, number, 64)
    }

    #[test]
    fn from_brace_to_brace() {
        let mut spread = Spread::default();
        let parts: Vec<Part> = ["  {", "    \"a\": {", "      \"b\": 1", "    }", "  },"]
            .into_iter()
            .zip(5..)
            .map(|(line, number)| offer(&mut spread, line, number))
            .collect();
        assert_eq!(
            parts,
            [
                Part::Taken,
                Part::Taken,
                Part::Taken,
                Part::Taken,
                Part::Complete
            ]
        );
        let gathered = spread.take();
        assert_eq!(gathered.text, br#"{"a": {"b": 1}}"#);
        assert_eq!(gathered.first, 5);
    }

    #[test]
    fn a_line_that_is_not_indented_breaks_it() {
        let mut spread = Spread::default();
        assert_eq!(offer(&mut spread, "{", 1), Part::Taken);
        assert_eq!(offer(&mut spread, "  \"a\": 1,", 2), Part::Taken);
        assert_eq!(offer(&mut spread, "{", 3), Part::Broken);
        assert!(spread.is_open());
        assert_eq!(spread.take().text, br#"{"a": 1,"#);
        assert!(!spread.is_open());
        assert_eq!(offer(&mut spread, "{\"whole\":1}", 4), Part::None);
    }

    #[test]
    fn an_endless_object_is_not_held() {
        let mut spread = Spread::default();
        assert_eq!(offer(&mut spread, "{", 1), Part::Taken);
        for number in 2..100 {
            assert_eq!(offer(&mut spread, "  \"abcdefg\": 1,", number), Part::Taken);
        }
        assert_eq!(offer(&mut spread, "}", 100), Part::Complete);
        let gathered = spread.take();
        assert!(gathered.too_long);
        assert!(gathered.text.is_empty());
    }

    #[test]
    fn lists_of_objects_alone() {
        let texts = |list: &str| {
            elements(list.as_bytes()).map(|found| {
                found
                    .into_iter()
                    .map(|e| String::from_utf8_lossy(e).into_owned())
                    .collect::<Vec<_>>()
            })
        };
        assert_eq!(
            texts(r#"[{"a":"]},{"} , {"b":[1,{}]}]"#),
            Some(vec![
                r#"{"a":"]},{"}"#.to_owned(),
                r#"{"b":[1,{}]}"#.to_owned()
            ])
        );
        assert_eq!(texts("[]"), Some(vec![]));
        for other in ["[1,2]", "[{},1]", "[{}", "[{}] x", "[{},]", "[{}{}]", "["] {
            assert_eq!(texts(other), None, "{other}");
        }
    }
}
