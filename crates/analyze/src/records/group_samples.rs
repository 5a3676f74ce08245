//! The samples of all groups, which whoever counts records adds to now and then: nobody then holds more than a little of a group, and what is
//! held doesn't grow with the length of a file. Samples are the same whatever the order of adding.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError, RwLock};

use super::swarm::{Point, Swarm};
use crate::facts::{GroupKey, TimingSource};
use crate::statistics::Sample;

/// Values of a group's records.
#[derive(Debug, Default)]
pub(crate) struct GroupSample {
    /// Kernel times, µs.
    pub(crate) micros: Sample,
    /// Bus bandwidths as written, GB/s.
    pub(crate) busbw: Sample,
    /// What is drawn of them.
    pub(crate) swarm: Swarm,
}

/// A record of a group.
#[derive(Debug, Clone, Copy)]
pub(super) struct Seen {
    /// Kernel time, µs.
    pub(super) micros: f64,
    /// Bandwidth, stamp and where it comes from.
    pub(super) point: Point,
    /// Stretch of time.
    pub(super) stretch: u32,
}

impl GroupSample {
    /// Takes records in.
    pub(super) fn take(&mut self, records: &mut Vec<Seen>) {
        self.micros.extend(records.iter().map(|r| r.micros));
        self.busbw.extend(records.iter().map(|r| r.point.0));
        self.swarm
            .extend(records.iter().map(|r| (r.point, r.stretch)));
        records.clear();
    }

    fn merge(&mut self, other: Self) {
        self.micros.merge(other.micros);
        self.busbw.merge(other.busbw);
        self.swarm.merge(other.swarm);
    }
}

/// A group, whether it is of Sends and Receives, and where its times come from.
pub(crate) type Key = (GroupKey, bool, TimingSource);

/// The samples of all groups.
#[derive(Debug, Default)]
pub(super) struct GroupSamples(RwLock<BTreeMap<Key, Arc<Mutex<GroupSample>>>>);

/// The sample of one group among them.
#[derive(Debug, Clone)]
pub(super) struct Shared(Arc<Mutex<GroupSample>>);

impl GroupSamples {
    /// That of a group.
    pub(super) fn of(&self, key: Key) -> Shared {
        // Whatever panicked while it held a lock has ended the analysis.
        let known = self.0.read().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = known.get(&key) {
            return Shared(Arc::clone(known));
        }
        drop(known);
        let mut all = self.0.write().unwrap_or_else(PoisonError::into_inner);
        Shared(Arc::clone(all.entry(key).or_default()))
    }

    /// All, once nobody adds any more.
    pub(super) fn finish(self) -> BTreeMap<Key, GroupSample> {
        let all = self.0.into_inner().unwrap_or_else(PoisonError::into_inner);
        let sample = |shared: Arc<Mutex<GroupSample>>| {
            let mut sample = shared.lock().unwrap_or_else(PoisonError::into_inner);
            std::mem::take(&mut *sample)
        };
        all.into_iter().map(|(k, s)| (k, sample(s))).collect()
    }
}

impl Shared {
    /// Adds a sample, and empties it.
    pub(super) fn add(&self, sample: &mut GroupSample) {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        all.merge(std::mem::take(sample));
    }
}
