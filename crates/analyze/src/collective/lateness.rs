//! Lateness: how much later than its peers a rank arrived, from durations alone.

use super::chunk::{CHUNK, LONG_CHUNK_RECORDS, Moment, chunks, long_chunks, times_by_member};
use super::trace::Trace;
use crate::statistics::robust;

/// An event sticks out of the chunk's median by this many interquartile ranges of the ordinary lateness. For the exponential
/// jitter of kernel launches that is a chance of about e⁻¹¹.
const EVENT_IQRS: f64 = 10.0;

/// What a rank is always late by: exceeded in all but one or two operations of a chunk.
const ALWAYS: f64 = 0.2;

/// Events kept one by one in a communicator; sums go on beyond.
pub(super) const MAX_EVENTS: usize = 1 << 16;

/// Lateness of each record against the other ranks of its collective.
pub(super) fn lateness(t: &mut Trace, members: usize, moments: &[Moment]) {
    let mut by_member: Vec<Vec<(usize, f64)>> = vec![Vec::new(); members];
    for m in moments {
        let mut sorted: Vec<(f64, u32)> = m.rows.iter().map(|r| (r.micros, r.member)).collect();
        sorted.sort_unstable_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        let times: Vec<f64> = sorted.iter().map(|s| s.0).collect();
        let Some(others) = robust::medians_of_others(&times) else {
            continue;
        };
        for ((micros, member), other) in sorted.into_iter().zip(others) {
            by_member[member as usize].push((m.stretch, other - micros));
        }
    }
    let noise = spread(&by_member);
    let limit = (EVENT_IQRS * noise).max(1.0);
    for (member, late) in by_member.iter().enumerate() {
        for chunk in chunks(late, CHUNK) {
            let mut values: Vec<f64> = chunk.iter().map(|c| c.1).collect();
            let (Some(median), Some(low)) = (
                robust::median(&mut values),
                robust::quantile(&mut values, ALWAYS),
            ) else {
                continue;
            };
            // Late by far in many of a chunk's operations and not at all in others: that is now and then, not always.
            let usual = if median - low > limit { low } else { median };
            for &(stretch, late) in chunk {
                let bin = &mut t.bins[member * t.stretches + stretch];
                bin.lateness += usual;
                bin.raw_lateness += late;
                bin.operations += 1.0;
                bin.chunks += 1.0 / chunk.len() as f64;
                // Whoever usually waits isn't late where it doesn't.
                let excess = late - usual.max(0.0);
                if excess > limit {
                    note_event(t, member, stretch, excess);
                }
            }
        }
    }
}

/// Interquartile range of what single operations differ from their chunk's median by.
fn spread(by_member: &[Vec<(usize, f64)>]) -> f64 {
    let mut residuals = Vec::new();
    for chunk in by_member.iter().flat_map(|late| chunks(late, CHUNK)) {
        let mut values: Vec<f64> = chunk.iter().map(|c| c.1).collect();
        if let Some(median) = robust::median(&mut values) {
            residuals.extend(values.into_iter().map(|v| v - median));
        }
    }
    robust::quantile(&mut residuals, 0.75).unwrap_or(0.0)
        - robust::quantile(&mut residuals, 0.25).unwrap_or(0.0)
}

fn note_event(t: &mut Trace, member: usize, stretch: usize, excess: f64) {
    let bin = &mut t.bins[member * t.stretches + stretch];
    bin.event_micros += excess;
    bin.events += 1.0;
    if t.events.len() < MAX_EVENTS {
        t.events.push((
            u32::try_from(member).unwrap_or(u32::MAX),
            u32::try_from(stretch).unwrap_or(u32::MAX),
            excess,
        ));
    }
}

/// Lateness where hardly two ranks of a collective were recorded: of each rank's median time in a long chunk.
pub(super) fn lateness_of_medians(
    t: &mut Trace,
    members: usize,
    moments: &[Moment],
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
