//! Who speaks in a file: its processes and communicators, so that later steps know where to look before they read a row.

use std::collections::HashMap;

use serde::{Deserialize, Serialize};

use crate::inspector::{Body, Context, OperationKind, Record};

/// Entries kept of each kind. A process has tens of communicators; a file that holds more than this is many files in one, and what
/// goes beyond is only counted.
const KEPT: usize = 16_384;

/// A process that wrote records.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct ProcessSeen {
    /// Its host's name.
    pub hostname: String,
    /// Its number on the host.
    pub pid: i64,
}

/// A rank of a communicator, and how many rows it has in a file.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct CommunicatorSeen {
    /// The communicator's id.
    pub id: String,
    /// Rank in the communicator.
    pub rank: u32,
    /// Size of the communicator, as first written.
    pub n_ranks: u32,
    /// Nodes that it spans, as first written.
    pub nnodes: u32,
    /// Rows in `collectives`.
    pub collectives: u64,
    /// Rows in `p2p`.
    pub p2p: u64,
    /// Smallest and largest sequence number of its collectives, all functions together.
    pub coll_sn: Option<(i64, i64)>,
}

/// What a file holds, besides its rows.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Census {
    /// Earliest stamp of a dump, microseconds since 1970 by that host's clock.
    pub first_dump_us: Option<i64>,
    /// Latest stamp of a dump.
    pub last_dump_us: Option<i64>,
    /// Processes, sorted.
    pub processes: Vec<ProcessSeen>,
    /// Ranks of communicators, sorted.
    pub communicators: Vec<CommunicatorSeen>,
    /// Rows of `collectives` and `p2p` whose rank of a communicator found no place in the list: 0 but for files of tens of
    /// thousands of communicators.
    pub rows_beyond: u64,
}

impl Census {
    /// Adds what the lines that follow hold.
    pub(crate) fn append(&mut self, next: Self) {
        let either = |a: Option<i64>, b: Option<i64>, of: fn(i64, i64) -> i64| match (a, b) {
            (Some(a), Some(b)) => Some(of(a, b)),
            (a, b) => a.or(b),
        };
        self.first_dump_us = either(self.first_dump_us, next.first_dump_us, i64::min);
        self.last_dump_us = either(self.last_dump_us, next.last_dump_us, i64::max);
        self.rows_beyond += next.rows_beyond;
        for process in next.processes {
            if let Err(place) = self.processes.binary_search(&process)
                && self.processes.len() < KEPT
            {
                self.processes.insert(place, process);
            }
        }
        for seen in next.communicators {
            let of = |c: &CommunicatorSeen| (c.id.as_str(), c.rank).cmp(&(&seen.id, seen.rank));
            match self.communicators.binary_search_by(of) {
                Ok(place) => self.communicators[place].append(&seen),
                Err(place) if self.communicators.len() < KEPT => {
                    self.communicators.insert(place, seen);
                }
                Err(_) => self.rows_beyond += seen.collectives + seen.p2p,
            }
        }
    }
}

impl CommunicatorSeen {
    fn append(&mut self, next: &Self) {
        self.collectives += next.collectives;
        self.p2p += next.p2p;
        self.coll_sn = match (self.coll_sn, next.coll_sn) {
            (Some(a), Some(b)) => Some((a.0.min(b.0), a.1.max(b.1))),
            (a, b) => a.or(b),
        };
    }
}

/// Takes the census while records go by.
#[derive(Debug, Default)]
pub(super) struct Taker {
    census: Census,
    process: usize,
    processes: HashMap<ProcessSeen, usize>,
    communicator: usize,
    /// Places in the list, by id and rank.
    communicators: HashMap<String, HashMap<u32, usize>>,
}

impl Taker {
    #[inline]
    pub(super) fn take(&mut self, record: &Record<'_>) {
        let context = &record.context;
        if matches!(record.body, Body::Other(_)) {
            // Its context may be nothing at all.
            return;
        }
        let stamp = context.dump_timestamp_us;
        let census = &mut self.census;
        census.first_dump_us = Some(census.first_dump_us.map_or(stamp, |first| first.min(stamp)));
        census.last_dump_us = Some(census.last_dump_us.map_or(stamp, |last| last.max(stamp)));
        self.process(context);
        let Some(place) = self.communicator(context) else {
            if matches!(record.body, Body::Operation(_)) {
                self.census.rows_beyond += 1;
            }
            return;
        };
        if let Body::Operation(operation) = &record.body {
            let seen = &mut self.census.communicators[place];
            match operation.kind {
                OperationKind::Collective => {
                    seen.collectives += 1;
                    let sn = operation.sequence_number;
                    seen.coll_sn = Some(
                        seen.coll_sn
                            .map_or((sn, sn), |(low, high)| (low.min(sn), high.max(sn))),
                    );
                }
                OperationKind::PointToPoint => seen.p2p += 1,
            }
        }
    }

    pub(super) fn finish(self) -> Census {
        let mut census = self.census;
        census.processes.sort();
        census.communicators.sort();
        census
    }

    #[inline]
    fn process(&mut self, context: &Context<'_>) {
        let same = |seen: &ProcessSeen| {
            seen.pid == context.pid && seen.hostname.as_str() == context.hostname.as_ref()
        };
        if self.census.processes.get(self.process).is_some_and(same) {
            return;
        }
        let process = ProcessSeen {
            hostname: context.hostname.clone().into_owned(),
            pid: context.pid,
        };
        if let Some(&place) = self.processes.get(&process) {
            self.process = place;
        } else if self.census.processes.len() < KEPT {
            self.process = self.census.processes.len();
            self.processes.insert(process.clone(), self.process);
            self.census.processes.push(process);
        }
    }

    #[inline]
    fn communicator(&mut self, context: &Context<'_>) -> Option<usize> {
        let list = &mut self.census.communicators;
        let same = |seen: &CommunicatorSeen| {
            seen.rank == context.rank && seen.id.as_str() == context.id.as_ref()
        };
        if list.get(self.communicator).is_some_and(same) {
            return Some(self.communicator);
        }
        let places = self.communicators.get_mut(context.id.as_ref());
        let known = places.as_deref().and_then(|of| of.get(&context.rank));
        if let Some(&place) = known {
            self.communicator = place;
            return Some(place);
        }
        if list.len() >= KEPT {
            return None;
        }
        let place = list.len();
        match places {
            Some(places) => {
                places.insert(context.rank, place);
            }
            None => {
                let id = context.id.clone().into_owned();
                let places = HashMap::from([(context.rank, place)]);
                self.communicators.insert(id, places);
            }
        }
        list.push(CommunicatorSeen {
            id: context.id.clone().into_owned(),
            rank: context.rank,
            n_ranks: context.n_ranks,
            nnodes: context.nnodes,
            collectives: 0,
            p2p: 0,
            coll_sn: None,
        });
        self.communicator = place;
        Some(place)
    }
}
