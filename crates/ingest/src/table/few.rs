//! Whole numbers of which a file has few: ranks, sizes of communicators and messages, processes.

use arrow::datatypes::DataType;
use parquet::file::statistics::Statistics;

use super::keyed::{Distinct, Keyed};
use super::slots::Slots;

/// A 32-bit number in every row.
pub(super) type FewInt32 = Keyed<Numbers<i32>, false>;
/// A 64-bit number in every row.
pub(super) type FewInt64 = Keyed<Numbers<i64>, false>;

/// A number as Parquet has it.
pub(super) trait Number: Copy + Ord + Default {
    const DATA_TYPE: DataType;
    fn wide(self) -> i64;
    fn write(self, out: &mut Vec<u8>);
    fn statistics(least: Self, greatest: Self, nulls: u64) -> Statistics;
}

impl Number for i32 {
    const DATA_TYPE: DataType = DataType::Int32;

    fn wide(self) -> i64 {
        i64::from(self)
    }

    fn write(self, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.to_le_bytes());
    }

    fn statistics(least: Self, greatest: Self, nulls: u64) -> Statistics {
        Statistics::int32(Some(least), Some(greatest), None, Some(nulls), false)
    }
}

impl Number for i64 {
    const DATA_TYPE: DataType = DataType::Int64;

    fn wide(self) -> i64 {
        self
    }

    fn write(self, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.to_le_bytes());
    }

    fn statistics(least: Self, greatest: Self, nulls: u64) -> Statistics {
        Statistics::int64(Some(least), Some(greatest), None, Some(nulls), false)
    }
}

/// Distinct numbers.
#[derive(Debug, Default)]
pub(super) struct Numbers<N> {
    values: Vec<N>,
    slots: Slots,
    last: u32,
    range: Option<(N, N)>,
}

/// Well spread, and cheap (Knuth's multiplicative hashing).
fn hash(number: i64) -> u64 {
    (number as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32
}

impl<N: Number> Numbers<N> {
    #[inline]
    fn key(&mut self, value: N) -> u32 {
        if self.values.get(self.last as usize) != Some(&value) {
            self.last = self.find_or_insert(value);
        }
        self.last
    }

    fn find_or_insert(&mut self, value: N) -> u32 {
        let values = &mut self.values;
        if let Some(key) = self.slots.find(hash(value.wide()), |k| values[k] == value) {
            return key;
        }
        let (least, greatest) = self.range.unwrap_or((value, value));
        self.range = Some((least.min(value), greatest.max(value)));
        values.push(value);
        self.slots.add(|k| hash(values[k].wide()))
    }
}

impl<N: Number> Distinct for Numbers<N> {
    fn data_type() -> DataType {
        N::DATA_TYPE
    }

    fn len(&self) -> usize {
        self.values.len()
    }

    fn bytes(&self) -> usize {
        0
    }

    fn write(&self, key: usize, out: &mut Vec<u8>) {
        self.values[key].write(out);
    }

    fn truncate(&mut self, values: usize) {
        self.values.truncate(values);
        let kept = &self.values;
        self.slots.truncate(values, |k| hash(kept[k].wide()));
    }

    fn statistics(&self, nulls: u64) -> Option<Statistics> {
        self.range
            .map(|(least, greatest)| N::statistics(least, greatest, nulls))
    }
}

impl<N: Number> Keyed<Numbers<N>, false> {
    /// Adds a row.
    #[inline]
    pub(super) fn push(&mut self, value: N) {
        self.push_with(|numbers| numbers.key(value));
    }
}
