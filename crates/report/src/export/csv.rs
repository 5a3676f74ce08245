//! Comma-separated values (RFC 4180) that a spreadsheet can open without running what they say.

/// One value of a row.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Cell<'a> {
    /// Text that may come from the input.
    Text(&'a str),
    /// A count or a size.
    Integer(u64),
    /// A whole number, perhaps negative, as text; empty where it isn't known.
    Whole(&'a str),
    /// A measure; what isn't finite, or isn't known, is an empty cell.
    Number(Option<f64>),
    /// `true` or `false`.
    Flag(bool),
}

/// Appends one line, with the CR LF that RFC 4180 asks for.
pub(super) fn push_row(out: &mut String, cells: &[Cell<'_>]) {
    for (index, cell) in cells.iter().enumerate() {
        if index > 0 {
            out.push(',');
        }
        match cell {
            Cell::Text(text) => push_text(out, text),
            Cell::Integer(value) => out.push_str(&value.to_string()),
            Cell::Whole(value) => out.push_str(value),
            Cell::Number(Some(value)) if value.is_finite() => out.push_str(&value.to_string()),
            Cell::Number(_) => {}
            Cell::Flag(value) => out.push_str(if *value { "true" } else { "false" }),
        }
    }
    out.push_str("\r\n");
}

/// Appends text: quoted where it must be, disarmed where a spreadsheet would take it for a formula.
///
/// A cell that begins with `=`, `+`, `-`, `@`, a tab or a line break is run by common spreadsheets, so it gets a leading
/// apostrophe. Control characters that no CSV reader agrees on become U+FFFD.
fn push_text(out: &mut String, text: &str) {
    let armed = text.starts_with(['=', '+', '-', '@', '\t', '\r', '\n']);
    let quoted = text.contains(['"', ',', '\r', '\n', '\t']);
    if quoted {
        out.push('"');
    }
    if armed {
        out.push('\'');
    }
    for c in text.chars() {
        match c {
            '"' => out.push_str("\"\""),
            '\t' | '\r' | '\n' => out.push(c),
            c if c.is_control() => out.push(char::REPLACEMENT_CHARACTER),
            c => out.push(c),
        }
    }
    if quoted {
        out.push('"');
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::synthetic::hostile_names;

    fn row(cells: &[Cell<'_>]) -> String {
        let mut out = String::new();
        push_row(&mut out, cells);
        out
    }

    /// A reader of RFC 4180, written from the RFC's grammar, that refuses what the grammar doesn't allow.
    fn parse(line: &str) -> Option<Vec<String>> {
        let mut rest = line.strip_suffix("\r\n")?;
        let mut cells = Vec::new();
        loop {
            let mut cell = String::new();
            if let Some(mut inside) = rest.strip_prefix('"') {
                loop {
                    let (text, after) = inside.split_once('"')?;
                    cell.push_str(text);
                    match after.strip_prefix('"') {
                        Some(more) => {
                            cell.push('"');
                            inside = more;
                        }
                        None => {
                            rest = after;
                            break;
                        }
                    }
                }
            } else {
                let end = rest.find(',').unwrap_or(rest.len());
                if rest[..end].contains(['"', '\r', '\n']) {
                    return None;
                }
                cell.push_str(&rest[..end]);
                rest = &rest[end..];
            }
            cells.push(cell);
            match rest.strip_prefix(',') {
                Some(more) => rest = more,
                None => return rest.is_empty().then_some(cells),
            }
        }
    }

    #[test]
    fn quotes_as_rfc_4180_says() {
        let cells = [
            Cell::Text("plain"),
            Cell::Text("a,b"),
            Cell::Text("say \"no\""),
            Cell::Text("two\nlines"),
        ];
        assert_eq!(
            row(&cells),
            "plain,\"a,b\",\"say \"\"no\"\"\",\"two\nlines\"\r\n"
        );
    }

    #[test]
    fn numbers_keep_every_digit_and_absence_is_empty() {
        let cells = [
            Cell::Number(Some(0.1 + 0.2)),
            Cell::Number(Some(f64::NAN)),
            Cell::Number(Some(f64::INFINITY)),
            Cell::Number(None),
            Cell::Number(Some(-1.5)),
            Cell::Integer(u64::MAX),
            Cell::Flag(true),
        ];
        assert_eq!(
            row(&cells),
            "0.30000000000000004,,,,-1.5,18446744073709551615,true\r\n"
        );
    }

    #[test]
    fn no_text_cell_is_a_formula() {
        for name in hostile_names() {
            let cells = parse(&row(&[Cell::Text(&name), Cell::Text("next")])).expect("RFC 4180");
            assert_eq!(cells.len(), 2, "{name:?} broke out of its cell");
            assert!(
                !cells[0].starts_with(['=', '+', '-', '@', '\t', '\r', '\n']),
                "{name:?} would be run"
            );
        }
        assert_eq!(row(&[Cell::Text("=1+1")]), "'=1+1\r\n");
    }

    proptest! {
        #[test]
        fn text_survives(text in "([^\\p{Cc}]|[\\r\\n\\t,\"a=])*") {
            let cells = parse(&row(&[Cell::Text(&text), Cell::Integer(7)])).expect("RFC 4180");
            prop_assert_eq!(cells.len(), 2);
            let disarmed = format!("'{text}");
            prop_assert!(cells[0] == text || cells[0] == disarmed);
            prop_assert_eq!(&cells[1], "7");
        }
    }
}
