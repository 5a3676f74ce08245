//! Lines of a byte stream, borrowed from one buffer.

use std::io::{self, ErrorKind, Read};

/// Longest line that is held in memory. The longest genuine line seen is 6 kB; a nested proxy record may reach a megabyte.
pub(super) const MAX_LINE: usize = 64 << 20;

/// What the buffer holds at first, and falls back to after a giant line.
const CHUNK: usize = 256 << 10;

/// A line without its line feed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Line<'b> {
    /// The text; empty for a line that is too long.
    pub(super) bytes: &'b [u8],
    /// From 1.
    pub(super) number: u64,
    /// Whether a line feed followed. Only the last line of a stream may lack it.
    pub(super) terminated: bool,
    /// Longer than [`MAX_LINE`]: thrown away while it was read.
    pub(super) too_long: bool,
}

/// Splits a stream into lines.
pub(super) struct Lines<R> {
    input: R,
    buffer: Vec<u8>,
    start: usize,
    end: usize,
    number: u64,
    bytes: u64,
    limit: usize,
    finished: bool,
    damage: Option<io::Error>,
}

impl<R: Read> Lines<R> {
    pub(super) fn new(input: R) -> Self {
        Self::with_limit(input, MAX_LINE)
    }

    pub(super) fn with_limit(input: R, limit: usize) -> Self {
        Self {
            input,
            buffer: vec![0; CHUNK],
            start: 0,
            end: 0,
            number: 0,
            bytes: 0,
            limit,
            finished: false,
            damage: None,
        }
    }

    /// Bytes read so far.
    pub(super) fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Why the stream ended early, if it did.
    pub(super) fn damage(&self) -> Option<&io::Error> {
        self.damage.as_ref()
    }

    /// The first bytes of the stream, as many as one read gives, without taking them.
    pub(super) fn peek(&mut self) -> &[u8] {
        if self.start == self.end && !self.finished {
            self.fill();
        }
        &self.buffer[self.start..self.end]
    }

    /// The next line that lies in the buffer as a whole; `None` when more must be read first.
    pub(super) fn buffered(&mut self) -> Option<Line<'_>> {
        let found = memchr::memchr(b'\n', &self.buffer[self.start..self.end])?;
        let from = self.start;
        self.start += found + 1;
        self.number += 1;
        Some(Line {
            bytes: &self.buffer[from..from + found],
            number: self.number,
            terminated: true,
            too_long: false,
        })
    }

    /// Reads until a line is whole, the line is too long, or the stream ends; `None` at the end.
    pub(super) fn refill(&mut self) -> Option<Line<'_>> {
        let mut searched = self.end - self.start;
        loop {
            if self.finished {
                return self.last();
            }
            if self.end - self.start >= self.limit {
                return Some(self.skip());
            }
            self.make_room();
            self.fill();
            let unseen = self.start + searched;
            if memchr::memchr(b'\n', &self.buffer[unseen..self.end]).is_some() {
                return self.buffered();
            }
            searched = self.end - self.start;
        }
    }

    /// What follows the last line feed.
    fn last(&mut self) -> Option<Line<'_>> {
        if self.start == self.end {
            return None;
        }
        let from = self.start;
        self.start = self.end;
        self.number += 1;
        Some(Line {
            bytes: &self.buffer[from..self.end],
            number: self.number,
            terminated: false,
            too_long: false,
        })
    }

    /// Throws a line away up to its line feed.
    fn skip(&mut self) -> Line<'static> {
        self.number += 1;
        let mut terminated = false;
        loop {
            self.start = 0;
            self.end = 0;
            if self.finished {
                break;
            }
            self.fill();
            if let Some(found) = memchr::memchr(b'\n', &self.buffer[..self.end]) {
                self.start = found + 1;
                terminated = true;
                break;
            }
        }
        // A buffer of 64 MB is given back; what lies behind the giant line is moved to a small one.
        let rest = self.buffer[self.start..self.end].to_vec();
        if rest.len() <= CHUNK && self.buffer.len() > CHUNK {
            self.buffer = vec![0; CHUNK];
            self.buffer[..rest.len()].copy_from_slice(&rest);
            self.start = 0;
            self.end = rest.len();
        }
        Line {
            bytes: &[],
            number: self.number,
            terminated,
            too_long: true,
        }
    }

    /// Moves what is left to the front and grows the buffer when the line fills it.
    fn make_room(&mut self) {
        self.buffer.copy_within(self.start..self.end, 0);
        self.end -= self.start;
        self.start = 0;
        if self.end == self.buffer.len() {
            self.buffer.resize(self.buffer.len() * 2, 0);
        }
    }

    /// One successful read behind what is there, or the end.
    fn fill(&mut self) {
        loop {
            match self.input.read(&mut self.buffer[self.end..]) {
                Ok(0) => self.finished = true,
                Ok(n) => {
                    self.end += n;
                    self.bytes += n as u64;
                }
                Err(e) if e.kind() == ErrorKind::Interrupted => continue,
                Err(e) => {
                    self.finished = true;
                    self.damage = Some(e);
                }
            }
            return;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Gives at most `step` bytes a read, then fails if it is to.
    struct Drip<'a> {
        data: &'a [u8],
        step: usize,
        fails: bool,
    }

    impl Read for Drip<'_> {
        fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
            let n = self.step.min(self.data.len()).min(out.len());
            if n == 0 && self.fails {
                return Err(io::Error::from(ErrorKind::UnexpectedEof));
            }
            out[..n].copy_from_slice(&self.data[..n]);
            self.data = &self.data[n..];
            Ok(n)
        }
    }

    fn all(lines: &mut Lines<Drip<'_>>) -> Vec<(Vec<u8>, u64, bool, bool)> {
        let mut out = Vec::new();
        loop {
            let line = match lines.buffered() {
                Some(line) => (
                    line.bytes.to_vec(),
                    line.number,
                    line.terminated,
                    line.too_long,
                ),
                None => match lines.refill() {
                    Some(line) => (
                        line.bytes.to_vec(),
                        line.number,
                        line.terminated,
                        line.too_long,
                    ),
                    None => return out,
                },
            };
            out.push(line);
        }
    }

    #[test]
    fn lines_are_the_same_whatever_the_reads() {
        let data = b"one\n\nthree\r\nfour";
        for step in 1..=data.len() {
            let mut lines = Lines::new(Drip {
                data,
                step,
                fails: false,
            });
            assert_eq!(
                all(&mut lines),
                [
                    (b"one".to_vec(), 1, true, false),
                    (b"".to_vec(), 2, true, false),
                    (b"three\r".to_vec(), 3, true, false),
                    (b"four".to_vec(), 4, false, false),
                ]
            );
            assert_eq!(lines.bytes(), data.len() as u64);
            assert!(lines.damage().is_none());
        }
    }

    #[test]
    fn what_lies_before_the_damage_is_given() {
        let mut lines = Lines::new(Drip {
            data: b"one\ntw",
            step: 3,
            fails: true,
        });
        assert_eq!(
            all(&mut lines),
            [
                (b"one".to_vec(), 1, true, false),
                (b"tw".to_vec(), 2, false, false)
            ]
        );
        assert!(lines.damage().is_some());
    }

    #[test]
    fn a_giant_line_is_skipped_and_costs_only_itself() {
        let mut data = b"one\n".to_vec();
        data.extend(std::iter::repeat_n(b'x', 3 * CHUNK));
        data.extend_from_slice(b"\nthree\n");
        let mut lines = Lines::with_limit(
            Drip {
                data: &data,
                step: 100_000,
                fails: false,
            },
            2 * CHUNK,
        );
        assert_eq!(
            all(&mut lines),
            [
                (b"one".to_vec(), 1, true, false),
                (Vec::new(), 2, true, true),
                (b"three".to_vec(), 3, true, false),
            ]
        );
        assert_eq!(lines.buffer.len(), CHUNK);
    }

    #[test]
    fn a_line_under_the_limit_grows_the_buffer() {
        let mut data = vec![b'x'; 3 * CHUNK];
        data.extend_from_slice(b"\nnext");
        let mut lines = Lines::new(Drip {
            data: &data,
            step: usize::MAX,
            fails: false,
        });
        let lines = all(&mut lines);
        assert_eq!(lines[0].0.len(), 3 * CHUNK);
        assert_eq!(lines[1].0, b"next");
    }
}
