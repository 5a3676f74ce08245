//! Text columns: each distinct text once, and a key a row.
//!
//! Nearly all text of a dump repeats that of the line before, so the last text is compared first; a small open-addressing
//! table finds the others. Texts live in one buffer, so that a batch takes them without an allocation a text.

use std::sync::Arc;

use arrow::array::{ArrayRef, DictionaryArray, Int32Array, Int32Builder, StringArray};
use arrow::buffer::{Buffer, OffsetBuffer, ScalarBuffer};
use arrow::datatypes::{DataType, Int32Type};
use xxhash_rust::xxh3::xxh3_64;

use super::column::Column;

/// A dictionary with more texts or bytes than this starts anew with the next batch, so that a column whose texts are all
/// different doesn't grow with the file.
const KEEP_TEXTS: usize = 4096;
const KEEP_BYTES: usize = 1 << 20;

const EMPTY: u32 = u32::MAX;

/// Distinct texts, numbered in order of appearance.
#[derive(Debug, Default)]
struct Dictionary {
    bytes: Vec<u8>,
    /// Where each text ends; the first begins at 0.
    ends: Vec<usize>,
    /// A power of two of places, each a key or [`EMPTY`].
    slots: Vec<u32>,
    last: usize,
    /// The texts as a batch takes them, while no new one has come.
    array: Option<Arc<StringArray>>,
}

impl Dictionary {
    fn text(&self, key: usize) -> &[u8] {
        let start = if key == 0 { 0 } else { self.ends[key - 1] };
        &self.bytes[start..self.ends[key]]
    }

    #[inline]
    fn key(&mut self, text: &str) -> i32 {
        if self.ends.is_empty() || self.text(self.last) != text.as_bytes() {
            self.last = self.find_or_insert(text.as_bytes());
        }
        // Batches end long before 2^31 texts.
        self.last as i32
    }

    fn find_or_insert(&mut self, text: &[u8]) -> usize {
        if (self.ends.len() + 1) * 2 > self.slots.len() {
            self.grow();
        }
        let mask = self.slots.len() - 1;
        let mut place = xxh3_64(text) as usize & mask;
        loop {
            match self.slots[place] {
                EMPTY => break,
                key if self.text(key as usize) == text => return key as usize,
                _ => place = (place + 1) & mask,
            }
        }
        let key = self.ends.len();
        self.slots[place] = key as u32;
        self.bytes.extend_from_slice(text);
        self.ends.push(self.bytes.len());
        self.array = None;
        key
    }

    fn grow(&mut self) {
        let size = (self.slots.len() * 2).max(16);
        let mut slots = vec![EMPTY; size];
        for key in 0..self.ends.len() {
            let mut place = xxh3_64(self.text(key)) as usize & (size - 1);
            while slots[place] != EMPTY {
                place = (place + 1) & (size - 1);
            }
            slots[place] = key as u32;
        }
        self.slots = slots;
    }

    /// The texts so far, for a batch.
    fn take(&mut self) -> Arc<StringArray> {
        let array = match self.array.take() {
            Some(array) => array,
            None => Arc::new(self.to_array()),
        };
        if self.ends.len() > KEEP_TEXTS || self.bytes.len() > KEEP_BYTES {
            *self = Self::default();
        } else {
            self.array = Some(Arc::clone(&array));
        }
        array
    }

    fn to_array(&self) -> StringArray {
        let lengths = (0..self.ends.len()).map(|key| self.text(key).len());
        StringArray::new(
            OffsetBuffer::from_lengths(lengths),
            Buffer::from_slice_ref(&self.bytes),
            None,
        )
    }

    fn text_bytes(&self) -> usize {
        self.bytes.len()
    }
}

fn dictionary_type() -> DataType {
    DataType::Dictionary(Box::new(DataType::Int32), Box::new(DataType::Utf8))
}

/// A text in every row.
#[derive(Debug, Default)]
pub(super) struct Text {
    dictionary: Dictionary,
    keys: Vec<i32>,
}

impl Text {
    #[inline]
    pub(super) fn push(&mut self, text: &str) {
        let key = self.dictionary.key(text);
        self.keys.push(key);
    }
}

impl Column for Text {
    const NULLABLE: bool = false;

    fn data_type() -> DataType {
        dictionary_type()
    }

    fn len(&self) -> usize {
        self.keys.len()
    }

    fn text_bytes(&self) -> usize {
        self.dictionary.text_bytes()
    }

    fn finish(&mut self) -> ArrayRef {
        let rows = self.keys.len();
        let keys = std::mem::replace(&mut self.keys, Vec::with_capacity(rows));
        let keys = Int32Array::new(ScalarBuffer::from(keys), None);
        Arc::new(DictionaryArray::<Int32Type>::new(
            keys,
            self.dictionary.take(),
        ))
    }
}

/// A text or null. An empty text is null: it says nothing, and Parquet's writer is ten times slower on empty texts than on
/// any other.
#[derive(Debug, Default)]
pub(super) struct OptionalText {
    dictionary: Dictionary,
    keys: Int32Builder,
}

impl OptionalText {
    #[inline]
    pub(super) fn push(&mut self, text: Option<&str>) {
        match text {
            None | Some("") => self.keys.append_null(),
            Some(text) => {
                let key = self.dictionary.key(text);
                self.keys.append_value(key);
            }
        }
    }
}

impl Column for OptionalText {
    const NULLABLE: bool = true;

    fn data_type() -> DataType {
        dictionary_type()
    }

    fn len(&self) -> usize {
        arrow::array::ArrayBuilder::len(&self.keys)
    }

    fn text_bytes(&self) -> usize {
        self.dictionary.text_bytes()
    }

    fn finish(&mut self) -> ArrayRef {
        Arc::new(DictionaryArray::<Int32Type>::new(
            self.keys.finish(),
            self.dictionary.take(),
        ))
    }
}

#[cfg(test)]
mod tests {
    use arrow::array::{Array, AsArray};
    use proptest::prelude::*;

    use super::*;

    fn texts(array: &ArrayRef) -> Vec<Option<String>> {
        let array = array.as_dictionary::<Int32Type>();
        let values = array.values().as_string::<i32>();
        (0..array.len())
            .map(|row| array.key(row).map(|key| values.value(key).to_owned()))
            .collect()
    }

    proptest! {
        #[test]
        fn batches_hold_what_was_pushed(batches in prop::collection::vec(prop::collection::vec("[ab]{0,3}", 0..40), 0..4)) {
            let mut required = Text::default();
            let mut optional = OptionalText::default();
            for batch in batches {
                for text in &batch {
                    required.push(text);
                    optional.push(Some(text));
                }
                let expected: Vec<_> = batch.iter().cloned().map(Some).collect();
                prop_assert_eq!(texts(&required.finish()), expected);
                let expected: Vec<_> = batch.into_iter().map(|text| (!text.is_empty()).then_some(text)).collect();
                prop_assert_eq!(texts(&optional.finish()), expected);
            }
        }
    }

    #[test]
    fn each_text_is_held_once() {
        let mut column = Text::default();
        for row in 0..10_000 {
            column.push(["AllReduce", "AllGather", "é"][row % 3]);
        }
        assert_eq!(column.text_bytes(), 9 + 9 + 2);
        let array = column.finish();
        assert_eq!(array.as_dictionary::<Int32Type>().values().len(), 3);
    }

    #[test]
    fn a_column_of_different_texts_does_not_grow_for_ever() {
        let mut column = Text::default();
        for batch in 0..10 {
            for row in 0..5000 {
                column.push(&format!("{batch}-{row}"));
            }
            let array = column.finish();
            assert!(array.as_dictionary::<Int32Type>().values().len() <= KEEP_TEXTS + 5000);
            assert_eq!(texts(&array)[4999], Some(format!("{batch}-4999")));
            assert_eq!(column.text_bytes(), 0);
        }
    }
}
