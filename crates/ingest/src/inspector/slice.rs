//! Pieces of a large file that can be read apart from each other: from a line that begins a record with a context of its own up to the next
//! such, so that nothing in one piece depends on what came before.

use memchr::{memchr, memmem};

use super::interpret::Interpreter;
use super::lines::{Line, MAX_LINE};
use super::read::{Reader, Sink};
use super::tally::FileTally;

/// How a line begins that stands for itself, as the plugin writes it. It ends whatever dump was open before it.
const START: &[u8] = b"\n{\"header\":{\"id\":\"";

/// Some lines of a file.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Slice<'b> {
    /// Their text, with all line feeds.
    pub(crate) text: &'b [u8],
    /// The number of the first of them, from 1.
    pub(crate) first_line: u64,
    /// Whether the file ends with them.
    pub(crate) is_last: bool,
}

/// What a slice held.
#[derive(Debug)]
pub(crate) struct SliceRead {
    /// The account of its lines.
    pub(crate) tally: FileTally,
    /// Whether any trace of the Inspector's format is in it.
    pub(crate) evident: bool,
}

/// Where the last slice that `text` holds the beginning of begins; `None` where there is none but the one at the beginning.
pub(crate) fn last_start(text: &[u8]) -> Option<usize> {
    memmem::rfind(text, START).map(|line_feed| line_feed + 1)
}

/// Reads a slice. `None` where it can't be read apart: a list of records over many lines, or a record over many lines that goes on behind it.
///
/// # Errors
/// Only those of the sink.
pub(crate) fn read_slice<S: Sink>(
    slice: Slice<'_>,
    name: &str,
    sink: &mut S,
) -> Result<Option<SliceRead>, S::Error> {
    let is_first = slice.first_line == 1;
    let list = (!is_first).then_some(false);
    let mut reader = Reader::new(Interpreter::new(name, sink), list);
    let mut rest = slice.text;
    let mut number = slice.first_line;
    while !rest.is_empty() {
        let end = memchr(b'\n', rest);
        let bytes = &rest[..end.unwrap_or(rest.len())];
        reader.line(Line {
            bytes,
            number,
            terminated: end.is_some(),
            too_long: bytes.len() >= MAX_LINE,
        })?;
        number += 1;
        rest = end.map_or(&[], |end| &rest[end + 1..]);
    }
    if !slice.is_last && !reader.stands_alone() {
        return Ok(None);
    }
    reader.end()?;
    let interpreter = reader.into_interpreter();
    Ok(Some(SliceRead {
        evident: interpreter.is_dump(),
        tally: interpreter.finish(),
    }))
}
