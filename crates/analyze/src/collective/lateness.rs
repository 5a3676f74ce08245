//! Lateness: how much later than its peers a rank arrived, from durations alone.

use super::chunk::{CHUNK, LONG_CHUNK_RECORDS, Moment, chunks, long_chunks, times_by_member};
use super::trace::Trace;
use crate::statistics::robust;

/// An event sticks out of the chunk's median by this many interquartile ranges of the ordinary lateness. For the exponential
/// jitter of kernel launches that is a chance of about e⁻¹¹.
const EVENT_IQRS: f64 = 10.0;

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
    let mut residuals: Vec<(usize, usize, f64)> = Vec::new();
    for (member, late) in by_member.iter().enumerate() {
        for chunk in chunks(late, CHUNK) {
            let mut values: Vec<f64> = chunk.iter().map(|c| c.1).collect();
            let Some(median) = robust::median(&mut values) else {
                continue;
            };
            for &(stretch, late) in chunk {
                let bin = &mut t.bins[member * t.stretches + stretch];
                bin.lateness += median;
                bin.raw_lateness += late;
                bin.operations += 1.0;
                bin.chunks += 1.0 / chunk.len() as f64;
                residuals.push((member, stretch, late - median));
            }
        }
    }
    note_events(t, &residuals);
}

/// Counts what sticks out of the chunk medians.
fn note_events(t: &mut Trace, residuals: &[(usize, usize, f64)]) {
    let mut values: Vec<f64> = residuals.iter().map(|r| r.2).collect();
    let iqr = robust::quantile(&mut values, 0.75).unwrap_or(0.0)
        - robust::quantile(&mut values, 0.25).unwrap_or(0.0);
    let limit = (EVENT_IQRS * iqr).max(1.0);
    for &(member, stretch, excess) in residuals.iter().filter(|r| r.2 > limit) {
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
