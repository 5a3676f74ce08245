//! Columns of few distinct values: each value once, and keys by runs of equal rows. Nearly all columns of a dump repeat the row before, and
//! a run of a million rows costs as much as one of ten, here and in the file.
//!
//! Parquet's own writer looks every row's value up in a hash table, run or no run.

use arrow::datatypes::DataType;
use parquet::file::statistics::Statistics;

use super::column::{Batch, Column};
use super::hybrid::Hybrid;

/// A dictionary of more values or bytes than this takes no more: rows with others are written plainly, so that a column whose values are
/// all different doesn't grow with the file.
const MOST_VALUES: usize = 4096;
const MOST_BYTES: usize = 1 << 20;

/// The key of a row without a value.
const NULL: u32 = u32::MAX;

/// Rows of a column, ready for the file but for compression.
#[derive(Debug)]
pub(crate) struct Page {
    /// Definition levels where there can be nulls, then keys or values.
    pub(crate) bytes: Vec<u8>,
    /// Rows, nulls among them.
    pub(crate) rows: u32,
    /// Values instead of keys.
    pub(crate) plain: bool,
}

/// The values of a column's pages.
#[derive(Debug)]
pub(crate) struct DictionaryPage {
    /// In Parquet's plain encoding.
    pub(crate) bytes: Vec<u8>,
    /// How many.
    pub(crate) values: u32,
    /// Of all rows since the last dictionary page, for types where they help.
    pub(crate) statistics: Option<Statistics>,
}

/// Distinct values, numbered in order of appearance.
pub(super) trait Distinct: Default {
    fn data_type() -> DataType;
    /// How many.
    fn len(&self) -> usize;
    /// Bytes that they take.
    fn bytes(&self) -> usize;
    /// Appends a value in Parquet's plain encoding.
    fn write(&self, key: usize, out: &mut Vec<u8>);
    /// Forgets all but the first so many.
    fn truncate(&mut self, values: usize);
    /// The least and the greatest of all values ever, with the number of nulls.
    fn statistics(&self, nulls: u64) -> Option<Statistics>;
}

/// A column under construction.
#[derive(Debug)]
pub(super) struct Keyed<D, const NULLABLE: bool> {
    values: D,
    /// Values that pages refer to.
    settled: usize,
    /// Runs of equal keys, the last not yet among them.
    runs: Vec<(u32, u32)>,
    key: u32,
    times: u32,
    rows: usize,
    nulls: u64,
}

impl<D: Distinct, const NULLABLE: bool> Default for Keyed<D, NULLABLE> {
    fn default() -> Self {
        Self {
            values: D::default(),
            settled: 0,
            runs: Vec::new(),
            key: 0,
            times: 0,
            rows: 0,
            nulls: 0,
        }
    }
}

impl<D: Distinct, const NULLABLE: bool> Keyed<D, NULLABLE> {
    /// Adds a row with a value that `key` finds or makes.
    #[inline]
    pub(super) fn push_with(&mut self, key: impl FnOnce(&mut D) -> u32) {
        let key = key(&mut self.values);
        self.push_key(key);
    }

    /// Adds a row without a value.
    #[inline]
    pub(super) fn push_null(&mut self) {
        debug_assert!(NULLABLE);
        self.push_key(NULL);
    }

    #[inline]
    fn push_key(&mut self, key: u32) {
        self.rows += 1;
        if self.key == key {
            self.times += 1;
        } else {
            self.end_run();
            self.key = key;
            self.times = 1;
        }
    }

    /// Adds rows like the last one, which must be of this batch or have been followed by no dictionary.
    #[inline]
    pub(super) fn repeat(&mut self, rows: u32) {
        self.rows += rows as usize;
        self.times += rows;
    }

    fn end_run(&mut self) {
        if self.times > 0 {
            self.runs.push((self.key, self.times));
        }
    }

    fn page(&mut self) -> Page {
        self.end_run();
        self.times = 0;
        let nulls: u32 = self
            .runs
            .iter()
            .filter(|run| run.0 == NULL)
            .map(|run| run.1)
            .sum();
        let mut bytes = Vec::new();
        if NULLABLE {
            let mut levels = Hybrid::new(vec![0; 4], 1);
            for &(key, times) in &self.runs {
                levels.run(u32::from(key != NULL), times as usize);
            }
            bytes = levels.finish();
            let length = (bytes.len() - 4) as u32;
            bytes[..4].copy_from_slice(&length.to_le_bytes());
        }
        let known = self.runs.iter().filter(|run| run.0 != NULL);
        let plain = self.values.len() > MOST_VALUES || self.values.bytes() > MOST_BYTES;
        if plain {
            for &(key, times) in known {
                for _ in 0..times {
                    self.values.write(key as usize, &mut bytes);
                }
            }
            self.values.truncate(self.settled);
        } else {
            self.settled = self.values.len();
            let width = u32::BITS - (self.settled.saturating_sub(1) as u32).leading_zeros();
            bytes.push(width as u8);
            let mut keys = Hybrid::new(bytes, width);
            for &(key, times) in known {
                keys.run(key, times as usize);
            }
            bytes = keys.finish();
        }
        self.runs.clear();
        self.nulls += u64::from(nulls);
        Page {
            bytes,
            // A batch ends long before 2^32 rows.
            rows: std::mem::take(&mut self.rows) as u32,
            plain,
        }
    }
}

impl<D: Distinct, const NULLABLE: bool> Column for Keyed<D, NULLABLE> {
    const NULLABLE: bool = NULLABLE;
    const KEYED: bool = true;

    fn data_type() -> DataType {
        D::data_type()
    }

    fn len(&self) -> usize {
        self.rows
    }

    fn text_bytes(&self) -> usize {
        self.values.bytes()
    }

    fn finish(&mut self) -> Batch {
        Batch::Page(self.page())
    }

    fn dictionary(&mut self) -> Option<DictionaryPage> {
        let mut bytes = Vec::new();
        for key in 0..self.settled {
            self.values.write(key, &mut bytes);
        }
        let page = DictionaryPage {
            bytes,
            values: self.settled as u32,
            statistics: self.values.statistics(self.nulls),
        };
        *self = Self::default();
        Some(page)
    }
}
