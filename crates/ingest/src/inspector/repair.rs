//! Lines that are broken in a known way but whole in substance.

/// What was done to a line before it gave a record. A record counts under the first that applies.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Repair {
    /// `0,174298` for `0.174298`: the application had set a locale.
    DecimalComma,
    /// Broken bytes in a name, replaced.
    InvalidUtf8,
    /// A record found behind another on the same line.
    JoinedLines,
    /// A record found behind text, such as the label that a launcher puts before each line.
    TextBefore,
    /// One record over many lines.
    SpreadOverLines,
    /// Records as the elements of a list.
    JsonArray,
    /// A bandwidth that is missing or no number, computed from size and time.
    Bandwidth,
    /// A bare `nan` or `inf`, which JSON doesn't have, under a key without a column.
    NotANumber,
    /// A byte-order mark before the first line.
    ByteOrderMark,
    /// Lines that end in carriage return and line feed.
    CarriageReturn,
}

impl Repair {
    pub(super) const ALL: [Self; 10] = [
        Self::DecimalComma,
        Self::InvalidUtf8,
        Self::JoinedLines,
        Self::TextBefore,
        Self::SpreadOverLines,
        Self::JsonArray,
        Self::Bandwidth,
        Self::NotANumber,
        Self::ByteOrderMark,
        Self::CarriageReturn,
    ];

    /// The name in reports.
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::DecimalComma => "decimal_comma",
            Self::InvalidUtf8 => "invalid_utf8",
            Self::JoinedLines => "joined_lines",
            Self::TextBefore => "text_before",
            Self::SpreadOverLines => "spread_over_lines",
            Self::JsonArray => "json_array",
            Self::Bandwidth => "bandwidth",
            Self::NotANumber => "not_a_number",
            Self::ByteOrderMark => "byte_order_mark",
            Self::CarriageReturn => "carriage_return",
        }
    }

    /// In words.
    pub(super) const fn words(self) -> &'static str {
        match self {
            Self::DecimalComma => "decimal commas read as points",
            Self::InvalidUtf8 => "broken bytes in a name replaced",
            Self::JoinedLines => "the record follows another on the same line",
            Self::TextBefore => "text before the record left out",
            Self::SpreadOverLines => "a record spread over many lines",
            Self::JsonArray => "a record in a list",
            Self::Bandwidth => "bandwidth computed from size and time",
            Self::NotANumber => "a bare nan or inf read as no number",
            Self::ByteOrderMark => "a byte-order mark before the record",
            Self::CarriageReturn => "the line ends in a carriage return",
        }
    }
}

/// Makes JSON of a line with decimal commas or bare `nan` and `inf` after a colon. `None` where there are none.
///
/// After a colon stands one value of an object, and behind its comma a key: a comma with a digit behind it is therefore
/// a decimal one, without doubt.
pub(super) fn rewrite(line: &[u8]) -> Option<(Vec<u8>, Repair)> {
    let mut out: Vec<u8> = Vec::new();
    let mut copied = 0;
    let mut repair = None;
    let mut at = 0;
    while at < line.len() {
        match line[at] {
            b'"' => at = end_of_string(line, at),
            b':' => {
                let start = skip_spaces(line, at + 1);
                let digits = skip_number(line, start);
                at = digits.max(at + 1);
                if digits > start && line.get(digits) == Some(&b',') {
                    let fraction = skip_digits(line, digits + 1);
                    if fraction > digits + 1 && !line[start..digits].contains(&b'.') {
                        out.extend_from_slice(&line[copied..digits]);
                        out.push(b'.');
                        out.extend_from_slice(&line[digits + 1..fraction]);
                        copied = fraction;
                        at = fraction;
                        repair = Some(Repair::DecimalComma);
                    }
                } else if digits == start
                    && let Some(word) = bare_word(&line[start..])
                {
                    out.extend_from_slice(&line[copied..start]);
                    out.push(b'"');
                    out.extend_from_slice(&line[start..start + word]);
                    out.push(b'"');
                    copied = start + word;
                    at = copied;
                    repair = repair.or(Some(Repair::NotANumber));
                }
            }
            _ => at += 1,
        }
    }
    repair.map(|repair| {
        out.extend_from_slice(&line[copied..]);
        (out, repair)
    })
}

/// Behind the closing quote, or the end of the line.
fn end_of_string(line: &[u8], open: usize) -> usize {
    let mut at = open + 1;
    while at < line.len() {
        match line[at] {
            b'"' => return at + 1,
            b'\\' => at += 2,
            _ => at += 1,
        }
    }
    line.len()
}

fn skip_spaces(line: &[u8], from: usize) -> usize {
    from + line[from..]
        .iter()
        .take_while(|b| matches!(b, b' ' | b'\t' | b'\r' | b'\n'))
        .count()
}

fn skip_digits(line: &[u8], from: usize) -> usize {
    from + line[from..]
        .iter()
        .take_while(|b| b.is_ascii_digit())
        .count()
}

/// Behind `-?digits`, or where it began if there are no digits.
fn skip_number(line: &[u8], from: usize) -> usize {
    let sign = usize::from(line.get(from) == Some(&b'-'));
    let end = skip_digits(line, from + sign);
    if end == from + sign { from } else { end }
}

/// The length of `nan`, `-inf` and their like, where they stand as a whole value.
fn bare_word(rest: &[u8]) -> Option<usize> {
    const WORDS: [&[u8]; 3] = [b"infinity", b"inf", b"nan"];
    let sign = usize::from(matches!(rest.first(), Some(b'-' | b'+')));
    let word = WORDS.into_iter().find(|word| {
        rest.get(sign..sign + word.len())
            .is_some_and(|found| found.eq_ignore_ascii_case(word))
    })?;
    let end = sign + word.len();
    let next = skip_spaces(rest, end);
    matches!(rest.get(next), Some(b',' | b'}')).then_some(end)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rewritten(line: &str) -> Option<(String, Repair)> {
        rewrite(line.as_bytes())
            .map(|(out, repair)| (String::from_utf8(out).expect("ASCII"), repair))
    }

    #[test]
    fn decimal_commas_become_points() {
        assert_eq!(
            rewritten(r#"{"a":277,210914,"b":-1,5,"c":3,"d":[1,2],"e":"1,5:2,5"}"#),
            Some((
                r#"{"a":277.210914,"b":-1.5,"c":3,"d":[1,2],"e":"1,5:2,5"}"#.to_owned(),
                Repair::DecimalComma
            ))
        );
    }

    #[test]
    fn bare_words_are_quoted() {
        assert_eq!(
            rewritten(r#"{"a":nan,"b": -NaN ,"c":inf,"d":-Infinity}"#),
            Some((
                r#"{"a":"nan","b": "-NaN" ,"c":"inf","d":"-Infinity"}"#.to_owned(),
                Repair::NotANumber
            ))
        );
    }

    #[test]
    fn nothing_else_is_touched() {
        for line in [
            r#"{"a":1.5,"b":"nan","c":"\":1,5\"","d":{"e":7,"f":8}}"#,
            r#"{"a":nano,"b":1.5,2}"#,
            r#"{"a":1,"#,
            r#"{"a":-"#,
            r#"{"a":"open \"#,
            ":",
        ] {
            assert_eq!(rewritten(line), None, "{line}");
        }
    }
}
