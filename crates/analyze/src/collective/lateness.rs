//! Lateness: how much later than its peers a rank arrived, from durations alone.

use super::chunk::{CHUNK, LONG_CHUNK_RECORDS, Moment, chunks, long_chunks, times_by_member};
use super::trace::{Event, Trace};
use crate::statistics::robust;

/// An event sticks out of the chunk's median by this many interquartile ranges of the ordinary lateness. For the exponential
/// jitter of kernel launches that is a chance of about e⁻¹¹.
const EVENT_IQRS: f64 = 10.0;

/// What a rank is always late by: exceeded in all but one or two operations of a chunk.
const ALWAYS: f64 = 0.2;

/// Events kept one by one in a communicator; sums go on beyond.
pub(super) const MAX_EVENTS: usize = 1 << 16;

/// Lateness of each record against the other ranks of its collective, cell by cell; holds what each cell needs again.
pub(super) struct Lateness {
    /// Stretch, place among the moments, and lateness of each record, by member.
    by_member: Vec<Vec<(u32, u32, f64)>>,
    values: Vec<f64>,
}

impl Lateness {
    /// For a communicator of so many members.
    pub(super) fn new(members: usize) -> Self {
        Self {
            by_member: vec![Vec::new(); members],
            values: Vec::new(),
        }
    }

    /// Adds a cell's collectives.
    pub(super) fn add(&mut self, t: &mut Trace, moments: &[Moment<'_>]) {
        self.by_member.iter_mut().for_each(Vec::clear);
        for (at, m) in (0_u32..).zip(moments) {
            self.values.clear();
            self.values.extend(m.rows.iter().map(|r| r.micros));
            let Some(others) = robust::Others::of(&mut self.values) else {
                continue;
            };
            let stretch = u32::try_from(m.stretch).unwrap_or(u32::MAX);
            for r in m.rows {
                let late = others.median(r.micros) - r.micros;
                self.by_member[r.member as usize].push((stretch, at, late));
            }
        }
        let limit = (EVENT_IQRS * self.spread()).max(1.0);
        for (member, late) in (0_u32..).zip(&self.by_member) {
            for chunk in chunks(late, CHUNK) {
                self.values.clear();
                self.values.extend(chunk.iter().map(|c| c.2));
                let (Some(median), Some(low)) = (
                    robust::median(&mut self.values),
                    robust::quantile(&mut self.values, ALWAYS),
                ) else {
                    continue;
                };
                // Late by far in many of a chunk's operations and not at all in others: that is now and then, not always.
                let usual = if median - low > limit { low } else { median };
                for &(stretch, at, late) in chunk {
                    let bin = &mut t.bins[member as usize * t.stretches + stretch as usize];
                    bin.lateness += usual;
                    bin.raw_lateness += late;
                    bin.operations += 1.0;
                    bin.chunks += 1.0 / chunk.len() as f64;
                    // Whoever usually waits isn't late where it doesn't.
                    let excess = late - usual.max(0.0);
                    if excess > limit {
                        bin.event_micros += excess;
                        bin.events += 1.0;
                        if t.events.len() < MAX_EVENTS {
                            let row = &moments[at as usize].rows[0];
                            t.events.push(Event {
                                member,
                                stretch,
                                micros: excess,
                                function: row.function,
                                number: row.sequence_number,
                            });
                        }
                    }
                }
            }
        }
    }

    /// Interquartile range of what single operations differ from their chunk's median by.
    fn spread(&mut self) -> f64 {
        let mut residuals = Vec::new();
        for chunk in self.by_member.iter().flat_map(|late| chunks(late, CHUNK)) {
            self.values.clear();
            self.values.extend(chunk.iter().map(|c| c.2));
            if let Some(median) = robust::median(&mut self.values) {
                residuals.extend(chunk.iter().map(|c| c.2 - median));
            }
        }
        robust::quantile(&mut residuals, 0.75).unwrap_or(0.0)
            - robust::quantile(&mut residuals, 0.25).unwrap_or(0.0)
    }
}

/// Lateness where hardly two ranks of a collective were recorded: of each rank's median time in a long chunk.
pub(super) fn lateness_of_medians(
    t: &mut Trace,
    members: usize,
    moments: &[Moment<'_>],
    records: usize,
) {
    for chunk in long_chunks(moments, members, records) {
        let mut times = times_by_member(chunk, members);
        let mut medians: Vec<(f64, usize)> = times
            .iter_mut()
            .enumerate()
            .filter(|(_, v)| v.len() >= LONG_CHUNK_RECORDS)
            .filter_map(|(m, v)| robust::median(v).map(|x| (x, m)))
            .collect();
        medians.sort_unstable_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        let sorted: Vec<f64> = medians.iter().map(|m| m.0).collect();
        let Some(others) = robust::medians_of_others(&sorted) else {
            continue;
        };
        let mut lateness = vec![None; members];
        for (&(own, member), other) in medians.iter().zip(others) {
            lateness[member] = Some(other - own);
        }
        for (m, r) in chunk
            .iter()
            .flat_map(|m| m.rows.iter().map(move |r| (m, r)))
        {
            if let Some(late) = lateness[r.member as usize] {
                let bin = &mut t.bins[r.member as usize * t.stretches + m.stretch];
                bin.lateness += late;
                bin.raw_lateness += late;
                bin.operations += 1.0;
                bin.chunks += 1.0 / times[r.member as usize].len() as f64;
            }
        }
    }
}
