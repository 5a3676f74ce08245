//! One file, from its first byte to its last.

use std::io::Read;

use super::evidence::foreign_format;
use super::interpret::Interpreter;
use super::lines::{Line, Lines, MAX_LINE};
use super::record::Record;
use super::repair::Repair;
use super::spread::{Part, Spread, elements};
use super::tally::FileTally;

/// Where records go.
pub trait Sink {
    /// Why it takes no more.
    type Error;

    /// Takes a record and the line on which it begins, from 1.
    ///
    /// # Errors
    /// When nothing more should be read.
    fn record(&mut self, record: &Record<'_>, line: u64) -> Result<(), Self::Error>;
}

/// Reads a dump of any dialect, already inflated, to its end. `name` is what the file is called in examples.
///
/// Damage to the stream isn't an error but told in the tally, as bad lines are: what lies before it counts.
/// `on_progress` is called every few hundred kilobytes with the number of records since the last call.
///
/// A file without any trace of the Inspector's format gives [`FileTally::skipped`] and no counts; a sink may have been given records of
/// kind [`Other`](super::Body::Other) before that is known.
///
/// # Errors
/// Only those of the sink.
pub fn read_dump<S: Sink>(
    input: &mut dyn Read,
    name: &str,
    sink: &mut S,
    on_progress: &mut dyn FnMut(u64),
) -> Result<FileTally, S::Error> {
    let mut lines = Lines::new(input);
    if let Some(format) = foreign_format(lines.peek()) {
        return Ok(FileTally {
            skipped: Some(format.to_owned()),
            ..FileTally::default()
        });
    }
    let mut reader = Reader::new(Interpreter::new(name, sink), None);
    let mut told = 0;
    loop {
        while let Some(line) = lines.buffered() {
            reader.line(line)?;
        }
        let records = reader.interpreter.records();
        on_progress(records - told);
        told = records;
        match lines.refill() {
            Some(line) => reader.line(line)?,
            None => break,
        }
    }
    reader.end()?;
    on_progress(reader.interpreter.records() - told);
    Ok(finish(reader.interpreter, &lines))
}

fn finish<S: Sink, R: Read>(interpreter: Interpreter<'_, S>, lines: &Lines<R>) -> FileTally {
    let damage = lines.damage().map(ToString::to_string);
    let evident = interpreter.is_dump();
    account(interpreter.finish(), evident, damage, lines.bytes())
}

/// The account of a whole file, given that of its lines, whether any was a dump's, why it ends early, and its bytes of text.
pub(crate) fn account(
    tally: FileTally,
    evident: bool,
    damage: Option<String>,
    bytes_inflated: u64,
) -> FileTally {
    if evident {
        return FileTally {
            damage,
            bytes_inflated,
            ..tally
        };
    }
    let reason = match &damage {
        Some(damage) => format!("no Inspector record before the damage: {damage}"),
        None if tally.lines == 0 => "empty".to_owned(),
        None => "no Inspector record".to_owned(),
    };
    FileTally {
        skipped: Some(reason),
        damage,
        bytes_inflated,
        ..FileTally::default()
    }
}

/// Puts together what belongs together: lines, records over many lines, lists of records.
pub(super) struct Reader<'s, S> {
    interpreter: Interpreter<'s, S>,
    spread: Spread,
    /// Whether the file is one list over many lines; unknown before its first line with text.
    list: Option<bool>,
}

impl<'s, S: Sink> Reader<'s, S> {
    /// A reader whose next line is the first of the file, or one of which it is known whether it is of a list over many lines.
    pub(super) fn new(interpreter: Interpreter<'s, S>, list: Option<bool>) -> Self {
        Self {
            interpreter,
            spread: Spread::default(),
            list,
        }
    }

    /// Whether a line that comes next, and has a context of its own, would be read the same in a file of its own.
    pub(super) fn stands_alone(&self) -> bool {
        !self.spread.is_open() && self.list == Some(false)
    }

    pub(super) fn into_interpreter(self) -> Interpreter<'s, S> {
        self.interpreter
    }

    pub(super) fn line(&mut self, line: Line<'_>) -> Result<(), S::Error> {
        let mut bytes = line.bytes;
        if line.too_long {
            self.break_off(true)?;
            self.interpreter.too_long(line.number);
            return Ok(());
        }
        if line.number == 1 && bytes.starts_with(b"\xef\xbb\xbf") {
            bytes = &bytes[3..];
            self.interpreter.begin_line(Some(Repair::ByteOrderMark));
        } else {
            self.interpreter.begin_line(None);
        }
        if let Some(rest) = bytes.strip_suffix(b"\r") {
            bytes = rest;
            self.interpreter.carriage_return();
        }
        // Bytes up to the space are white space, or what nobody writes into a line: a lost block leaves zeros.
        let end = bytes
            .iter()
            .rposition(|&b| b > b' ')
            .map_or(0, |last| last + 1);
        let content = bytes.iter().position(|&b| b > b' ').unwrap_or(end);
        if content == end {
            if bytes.contains(&0) {
                self.break_off(true)?;
                self.interpreter.zeros(line.number, bytes.len());
            }
            return Ok(());
        }
        // What the zeros stand for may have been a marker.
        if bytes[..content].contains(&0) {
            self.break_off(true)?;
            self.interpreter.hole();
        }
        self.text(&bytes[..end], content, line.number, line.terminated)?;
        if bytes[end..].contains(&0) {
            self.break_off(true)?;
            self.interpreter.hole();
        }
        Ok(())
    }

    /// A line with text from `content` on.
    fn text(
        &mut self,
        line: &[u8],
        content: usize,
        number: u64,
        terminated: bool,
    ) -> Result<(), S::Error> {
        let text = &line[content..];
        // The usual line: an object from end to end.
        if text.len() > 1 && text[0] == b'{' && !self.spread.is_open() && self.list == Some(false) {
            return self.interpreter.text(text, number, terminated, None);
        }
        match self.spread.offer(line, content, number, MAX_LINE) {
            Part::None => {}
            Part::Taken => {
                self.list.get_or_insert(false);
                return Ok(());
            }
            Part::Complete => return self.gathered(true),
            Part::Broken => {
                self.break_off(true)?;
                return self.text(line, content, number, terminated);
            }
        }
        if text[0] == b'['
            && let Some(elements) = elements(text)
        {
            self.list.get_or_insert(false);
            for element in elements {
                self.interpreter
                    .text(element, number, true, Some(Repair::JsonArray))?;
            }
            return Ok(());
        }
        let list = *self.list.get_or_insert_with(|| {
            text[0] == b'['
                && text[1..]
                    .trim_ascii_start()
                    .first()
                    .is_none_or(|&b| b == b'{')
        });
        if !list {
            return self.interpreter.text(text, number, terminated, None);
        }
        let inner = list_element(text);
        match inner {
            b"" => Ok(()),
            b"{" => {
                self.spread.offer(inner, 0, number, MAX_LINE);
                Ok(())
            }
            _ => self
                .interpreter
                .text(inner, number, terminated, Some(Repair::JsonArray)),
        }
    }

    /// Gives what was gathered to the interpreter; `whole` if its end has been seen.
    fn gathered(&mut self, terminated: bool) -> Result<(), S::Error> {
        let gathered = self.spread.take();
        if gathered.too_long {
            self.interpreter.too_long(gathered.first);
            return Ok(());
        }
        self.interpreter.text(
            &gathered.text,
            gathered.first,
            terminated,
            Some(Repair::SpreadOverLines),
        )
    }

    /// Ends a spread record that isn't whole. It is one bad line.
    fn break_off(&mut self, terminated: bool) -> Result<(), S::Error> {
        if self.spread.is_open() {
            self.gathered(terminated)?;
        }
        Ok(())
    }

    pub(super) fn end(&mut self) -> Result<(), S::Error> {
        self.break_off(false)
    }
}

/// What a line of a list holds beside brackets and commas.
fn list_element(text: &[u8]) -> &[u8] {
    let mut inner = text;
    while let [b'[' | b',', rest @ ..] = inner {
        inner = rest.trim_ascii_start();
    }
    while let [rest @ .., b']' | b','] = inner {
        inner = rest.trim_ascii_end();
    }
    inner
}
