//! Text columns. Texts live in one buffer, each once.

use arrow::datatypes::DataType;
use parquet::file::statistics::Statistics;
use xxhash_rust::xxh3::xxh3_64;

use super::keyed::{Distinct, Keyed};
use super::slots::Slots;

/// A text in every row.
pub(super) type Text = Keyed<Texts, false>;
/// A text or null. An empty text is null: it says nothing.
pub(super) type OptionalText = Keyed<Texts, true>;

/// Distinct texts.
#[derive(Debug, Default)]
pub(super) struct Texts {
    bytes: Vec<u8>,
    /// Where each text ends; the first begins at 0.
    ends: Vec<usize>,
    slots: Slots,
    last: u32,
}

fn text<'a>(bytes: &'a [u8], ends: &[usize], key: usize) -> &'a [u8] {
    let start = if key == 0 { 0 } else { ends[key - 1] };
    &bytes[start..ends[key]]
}

impl Texts {
    #[inline]
    fn key(&mut self, value: &str) -> u32 {
        let last = self.last as usize;
        if last >= self.ends.len() || text(&self.bytes, &self.ends, last) != value.as_bytes() {
            self.last = self.find_or_insert(value.as_bytes());
        }
        self.last
    }

    fn find_or_insert(&mut self, value: &[u8]) -> u32 {
        let (bytes, ends) = (&mut self.bytes, &mut self.ends);
        let is = |key| text(bytes, ends, key) == value;
        if let Some(key) = self.slots.find(xxh3_64(value), is) {
            return key;
        }
        bytes.extend_from_slice(value);
        ends.push(bytes.len());
        self.slots.add(|key| xxh3_64(text(bytes, ends, key)))
    }
}

impl Distinct for Texts {
    fn data_type() -> DataType {
        DataType::Dictionary(Box::new(DataType::Int32), Box::new(DataType::Utf8))
    }

    fn len(&self) -> usize {
        self.ends.len()
    }

    fn bytes(&self) -> usize {
        self.bytes.len()
    }

    fn write(&self, key: usize, out: &mut Vec<u8>) {
        let text = text(&self.bytes, &self.ends, key);
        // A line is at most 64 MiB.
        out.extend_from_slice(&(text.len() as u32).to_le_bytes());
        out.extend_from_slice(text);
    }

    fn truncate(&mut self, values: usize) {
        self.ends.truncate(values);
        self.bytes.truncate(self.ends.last().copied().unwrap_or(0));
        let (bytes, ends) = (&self.bytes, &self.ends);
        self.slots
            .truncate(values, |key| xxh3_64(text(bytes, ends, key)));
    }

    fn statistics(&self, _: u64) -> Option<Statistics> {
        None
    }
}

impl Text {
    /// Adds a row.
    #[inline]
    pub(super) fn push(&mut self, text: &str) {
        self.push_with(|texts| texts.key(text));
    }
}

impl OptionalText {
    /// Adds a row.
    #[inline]
    pub(super) fn push(&mut self, text: Option<&str>) {
        match text {
            None | Some("") => self.push_null(),
            Some(text) => self.push_with(|texts| texts.key(text)),
        }
    }
}
