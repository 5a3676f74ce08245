//! A page of text: sections with a heading, bodies indented and broken to the width.

use super::style::{DIM, HEADING, paint};
use super::text::{clipped, wrapped};

const INDENT: usize = 2;

/// Text that grows section by section.
#[derive(Debug)]
pub struct Page {
    text: String,
    width: usize,
}

impl Page {
    /// An empty page of so many columns.
    pub const fn new(width: usize) -> Self {
        Self {
            text: String::new(),
            width,
        }
    }

    /// Columns that a body has.
    pub const fn room(&self) -> usize {
        self.width.saturating_sub(INDENT)
    }

    /// Begins a section. The heading may be untrusted text.
    pub fn heading(&mut self, text: &str) {
        if !self.text.is_empty() {
            self.text.push('\n');
        }
        self.text
            .push_str(&paint(HEADING, &clipped(text, self.width)));
        self.text.push('\n');
    }

    /// A paragraph.
    pub fn line(&mut self, text: &str) {
        for line in wrapped(text, self.room()) {
            self.raw(&line);
        }
    }

    /// A paragraph of less importance.
    pub fn aside(&mut self, text: &str) {
        for line in wrapped(text, self.room()) {
            self.raw(&paint(DIM, &line));
        }
    }

    /// A paragraph that hangs from a label; `columns` is the label's width without its style.
    pub fn labelled(&mut self, label: &str, columns: usize, text: &str) {
        let lines = wrapped(text, self.room().saturating_sub(columns));
        for (i, line) in lines.iter().enumerate() {
            if i == 0 {
                self.raw(&format!("{label}{line}"));
            } else {
                self.raw(&format!("{:columns$}{line}", ""));
            }
        }
    }

    /// An example of what the line before it says, of less importance and further in.
    pub fn example(&mut self, text: &str) {
        for line in wrapped(text, self.room().saturating_sub(INDENT)) {
            self.raw(&format!("{:INDENT$}{}", "", paint(DIM, &line)));
        }
    }

    /// A line that is left as it is, such as a path, which must survive copying.
    pub fn raw(&mut self, line: &str) {
        self.text.push_str(&" ".repeat(INDENT));
        self.text.push_str(line.trim_end());
        self.text.push('\n');
    }

    /// The text.
    pub fn finish(self) -> String {
        self.text
    }
}
