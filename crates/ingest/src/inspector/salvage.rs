//! What can be saved of text that isn't a JSON object, and what to say where nothing can.

use std::fmt;

use memchr::memmem;
use serde::de::IgnoredAny;

use super::check::Reason;
use super::marker::RECORD_STARTS;
use super::parse::{Parts, is_object};
use super::repair::{Repair, rewrite};

/// How a line with context begins.
const WITH_CONTEXT: &[u8] = b"{\"header\":{";

/// Repairs broken text that lies in a communicator's name, decimal commas, and bare `nan` and `inf`.
pub(super) fn fix(text: &[u8]) -> Option<(Vec<u8>, Repair)> {
    if text.first() != Some(&b'{') {
        return None;
    }
    if std::str::from_utf8(text).is_ok() {
        return rewrite(text);
    }
    // A name with replacement characters is still a name; anything else would be a guess.
    let (start, end) = comm_name(text)?;
    let intact =
        std::str::from_utf8(&text[..start]).is_ok() && std::str::from_utf8(&text[end..]).is_ok();
    intact.then(|| {
        (
            String::from_utf8_lossy(text).into_owned().into_bytes(),
            Repair::InvalidUtf8,
        )
    })
}

/// Where the text of `comm_name` lies.
fn comm_name(text: &[u8]) -> Option<(usize, usize)> {
    const KEY: &[u8] = b"\"comm_name\":";
    let value = memmem::find(text, KEY)? + KEY.len();
    let start = value + text[value..].iter().position(|&b| b == b'"')? + 1;
    if !text[value..start - 1].trim_ascii().is_empty() {
        return None;
    }
    let mut end = start;
    loop {
        match text.get(end)? {
            b'"' => return Some((start, end)),
            b'\\' => end += 2,
            _ => end += 1,
        }
    }
}

/// A line that holds more than one record, or one behind other text.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Pieces<'a> {
    /// In order; at least one of them is a record.
    pub(super) texts: Vec<&'a [u8]>,
    pub(super) repair: Repair,
}

/// Splits a line where records begin. `None` if that gains nothing.
pub(super) fn pieces(text: &[u8]) -> Option<Pieces<'_>> {
    let mut starts: Vec<usize> = memmem::find_iter(text, WITH_CONTEXT)
        .chain(
            RECORD_STARTS
                .into_iter()
                .flat_map(|(_, start)| memmem::find_iter(text, start)),
        )
        .collect();
    starts.sort_unstable();
    let first = *starts.first()?;
    // A label that a launcher puts before each line isn't a record that was cut.
    let label = memchr::memchr(b'{', text) == Some(first);
    if label && starts.len() == 1 && first == 0 {
        return None;
    }
    if first > 0 && !label {
        starts.insert(0, 0);
    }
    let texts: Vec<&[u8]> = starts
        .iter()
        .zip(starts.iter().skip(1).chain([&text.len()]))
        .map(|(&from, &to)| text[from..to].trim_ascii())
        .collect();
    let gains = texts
        .iter()
        .any(|piece| leading_object(piece).is_some_and(is_object));
    gains.then_some(Pieces {
        repair: if texts.len() == 1 {
            Repair::TextBefore
        } else {
            Repair::JoinedLines
        },
        texts,
    })
}

/// The object that the text begins with, if nothing with a brace follows it.
pub(super) fn leading_object(text: &[u8]) -> Option<&[u8]> {
    let mut stream = serde_json::Deserializer::from_slice(text).into_iter::<IgnoredAny>();
    stream.next()?.ok()?;
    let (object, behind) = text.split_at(stream.byte_offset());
    memchr::memchr2(b'{', b'}', behind)
        .is_none()
        .then_some(object)
}

/// What text that isn't a JSON object counts under.
pub(super) fn reason(text: &[u8], terminated: bool) -> Reason {
    if !terminated && text.first() == Some(&b'{') {
        Reason::Truncated
    } else if std::str::from_utf8(text).is_err() {
        Reason::InvalidUtf8
    } else {
        Reason::InvalidJson
    }
}

/// The same in words.
pub(super) fn detail(reason: Reason, text: &[u8]) -> impl fmt::Display {
    let parsed = Parts::default().read(text);
    match (reason, parsed, std::str::from_utf8(text)) {
        (Reason::Truncated, ..) => "the file ends in the middle of the line".to_owned(),
        (Reason::InvalidUtf8, _, Err(error)) => {
            format!("not UTF-8 from byte {} on", error.valid_up_to() + 1)
        }
        (_, Err(error), _) if text.first() == Some(&b'{') => {
            let message = error.to_string();
            let message = message.split(" at line ").next().unwrap_or_default();
            format!("{message} at byte {}", error.column())
        }
        _ => "not a JSON object".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const A: &str = r#"{"header":{"id":"0xa"},"coll_perf":{"coll":"AllReduce"}}"#;
    const B: &str = r#"{"coll_perf":{"coll":"AllGather"}}"#;

    fn split(text: &str) -> Option<(Vec<String>, Repair)> {
        pieces(text.as_bytes()).map(|pieces| {
            let texts = pieces
                .texts
                .iter()
                .map(|t| String::from_utf8_lossy(t).into_owned());
            (texts.collect(), pieces.repair)
        })
    }

    #[test]
    fn a_record_behind_a_cut_one() {
        let cut = r#"{"header":{"id":"0x"#;
        assert_eq!(
            split(&format!("{cut}{A}")),
            Some((vec![cut.to_owned(), A.to_owned()], Repair::JoinedLines))
        );
    }

    #[test]
    fn records_without_a_line_feed_between_them() {
        assert_eq!(
            split(&format!("{A}{B}x{B}")),
            Some((
                vec![A.to_owned(), format!("{B}x"), B.to_owned()],
                Repair::JoinedLines
            ))
        );
        assert_eq!(
            leading_object(format!("{B}x").as_bytes()),
            Some(B.as_bytes())
        );
        assert_eq!(leading_object(format!("{B}}}").as_bytes()), None);
    }

    #[test]
    fn a_label_before_a_record() {
        assert_eq!(
            split(&format!("3: {A}")),
            Some((vec![A.to_owned()], Repair::TextBefore))
        );
    }

    #[test]
    fn nothing_to_gain() {
        for text in [
            "NCCL WARN x",
            r#"{"header":{"id":"#,
            r#"x {"header":{"id":"#,
            "{}",
        ] {
            assert_eq!(split(text), None, "{text}");
        }
    }

    #[test]
    fn broken_bytes_are_replaced_in_a_name_only() {
        let mut name = br#"{"header":{"comm_name":"gr"#.to_vec();
        name.extend_from_slice(b"\xfcn\\\"x");
        name.extend_from_slice(br#"","rank":0}}"#);
        let (fixed, repair) = fix(&name).expect("only the name is broken");
        assert_eq!(repair, Repair::InvalidUtf8);
        assert_eq!(
            String::from_utf8(fixed).expect("replaced"),
            "{\"header\":{\"comm_name\":\"gr\u{fffd}n\\\"x\",\"rank\":0}}"
        );
        let mut id = br#"{"header":{"comm_name":"a","id":""#.to_vec();
        id.extend_from_slice(b"\xfc\"}}");
        assert_eq!(fix(&id), None);
        assert_eq!(reason(&id, true), Reason::InvalidUtf8);
    }

    #[test]
    fn words() {
        let words = |text: &str, terminated| {
            let reason = reason(text.as_bytes(), terminated);
            (reason, detail(reason, text.as_bytes()).to_string())
        };
        assert_eq!(
            words(r#"{"comm_name":,"#, true),
            (Reason::InvalidJson, "expected value at byte 14".to_owned())
        );
        assert_eq!(words(r#"{"comm_name":"#, false).0, Reason::Truncated);
        assert_eq!(
            words("NCCL WARN", false),
            (Reason::InvalidJson, "not a JSON object".to_owned())
        );
    }
}
