//! What records are alike in, and the small numbers that stand for it within one file.

use std::hash::{Hash, Hasher};

use super::hash::NumberMap;
use crate::facts::TimingSource;

/// Records of one endpoint, function, message size and timing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct CellKey {
    /// Endpoint.
    pub(crate) endpoint: u32,
    /// Function.
    pub(crate) function: u32,
    /// Message size, bytes.
    pub(crate) size: u64,
    /// Where times come from.
    pub(crate) timing: TimingSource,
    /// Send/Recv rather than a collective.
    pub(crate) p2p: bool,
}

impl Hash for CellKey {
    /// Of everything, in two steps rather than five.
    fn hash<H: Hasher>(&self, state: &mut H) {
        state.write_u64(u64::from(self.endpoint) << 32 | u64::from(self.function));
        state.write_u64(self.size ^ (self.timing as u64) << 61 ^ u64::from(self.p2p) << 60);
    }
}

/// Gives each cell a number, in order of first appearance.
#[derive(Debug, Default)]
pub(crate) struct CellIndex {
    index: NumberMap<CellKey, u32>,
    keys: Vec<CellKey>,
    last: Option<(CellKey, u32)>,
}

impl CellIndex {
    /// The number of a cell, the next one if it is new.
    pub(crate) fn number(&mut self, key: CellKey) -> u32 {
        if let Some((k, n)) = self.last
            && k == key
        {
            return n;
        }
        let n = *self.index.entry(key).or_insert_with(|| {
            self.keys.push(key);
            u32::try_from(self.keys.len() - 1).unwrap_or(u32::MAX)
        });
        self.last = Some((key, n));
        n
    }

    /// All cells, by number.
    pub(crate) fn keys(&self) -> &[CellKey] {
        &self.keys
    }
}
