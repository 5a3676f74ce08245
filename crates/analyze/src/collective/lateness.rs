//! Lateness: how much later than its peers a rank arrived, from durations alone.

use super::chunk::{CHUNK, LONG_CHUNK_RECORDS, Moment, chunks, long_chunks, times_by_member};
use super::trace::Trace;
use crate::statistics::robust;

/// An event sticks out of the chunk's median by this many interquartile ranges of the ordinary lateness. For the exponential
/// jitter of kernel launches that is a chance of about e⁻¹¹.
const EVENT_IQRS: f64 = 10.0;

/// Events kept one by one in a communicator; sums go on beyond.
pub(super) const MAX_EVENTS: usize = 1 << 16;

/// Lateness of each record against the other ranks of its collective, cell by cell; holds what each cell needs again.
pub(super) struct Lateness {
    /// Stretch and lateness of each record, by member.
    by_member: Vec<Vec<(u32, f64)>>,
    /// Member, stretch and lateness above the chunk's median of each record.
    residuals: Vec<(u32, u32, f64)>,
    values: Vec<f64>,
}

impl Lateness {
    /// For a communicator of so many members.
    pub(super) fn new(members: usize) -> Self {
        Self {
            by_member: vec![Vec::new(); members],
            residuals: Vec::new(),
            values: Vec::new(),
        }
    }

    /// Adds a cell's collectives.
    pub(super) fn add(&mut self, t: &mut Trace, moments: &[Moment<'_>]) {
        self.by_member.iter_mut().for_each(Vec::clear);
        self.residuals.clear();
        for m in moments {
            self.values.clear();
            self.values.extend(m.rows.iter().map(|r| r.micros));
            let Some(others) = robust::Others::of(&mut self.values) else {
                continue;
            };
            let stretch = u32::try_from(m.stretch).unwrap_or(u32::MAX);
            for r in m.rows {
                let late = others.median(r.micros) - r.micros;
                self.by_member[r.member as usize].push((stretch, late));
            }
        }
        for (member, late) in (0_u32..).zip(&self.by_member) {
            let bins = &mut t.bins[member as usize * t.stretches..][..t.stretches];
            for chunk in chunks(late, CHUNK) {
                self.values.clear();
                self.values.extend(chunk.iter().map(|c| c.1));
                let Some(median) = robust::median(&mut self.values) else {
                    continue;
                };
                for &(stretch, late) in chunk {
                    let bin = &mut bins[stretch as usize];
                    bin.lateness += median;
                    bin.raw_lateness += late;
                    bin.operations += 1.0;
                    bin.chunks += 1.0 / chunk.len() as f64;
                    self.residuals.push((member, stretch, late - median));
                }
            }
        }
        self.note_events(t);
    }

    /// Counts what sticks out of the chunk medians.
    fn note_events(&mut self, t: &mut Trace) {
        self.values.clear();
        self.values.extend(self.residuals.iter().map(|r| r.2));
        let iqr = robust::quantile(&mut self.values, 0.75).unwrap_or(0.0)
            - robust::quantile(&mut self.values, 0.25).unwrap_or(0.0);
        let limit = (EVENT_IQRS * iqr).max(1.0);
        for &event in self.residuals.iter().filter(|r| r.2 > limit) {
            let (member, stretch, excess) = event;
            let bin = &mut t.bins[member as usize * t.stretches + stretch as usize];
            bin.event_micros += excess;
            bin.events += 1.0;
            if t.events.len() < MAX_EVENTS {
                t.events.push(event);
            }
        }
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
