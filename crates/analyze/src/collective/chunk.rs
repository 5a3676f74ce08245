//! Neighbouring collectives of one function and size, whose medians a single pause can't move.

use super::row::Row;

/// Collectives of one function and size whose median is taken: long enough that one pause (or two) can't move it, short
/// enough that a fault that lasts for a tenth of a short run fills several.
pub(super) const CHUNK: usize = 8;

/// Records a rank needs in a long chunk for its median to count.
pub(super) const LONG_CHUNK_RECORDS: usize = 5;

/// A collective at its stretch of time.
#[derive(Debug, Clone, Copy)]
pub(super) struct Moment<'a> {
    /// Stretch of the time grid.
    pub(super) stretch: usize,
    /// Its records, by member.
    pub(super) rows: &'a [Row],
    /// Its shortest time, if every rank has a record of it.
    pub(super) transfer: Option<f64>,
}

/// Chunks so long that the average rank has several times the records that its median needs.
pub(super) fn long_chunks<'m, 'a>(
    moments: &'m [Moment<'a>],
    members: usize,
    records: usize,
) -> std::slice::Chunks<'m, Moment<'a>> {
    let per_member = (records as f64 / members as f64).max(1.0);
    let pieces = (per_member / (4 * LONG_CHUNK_RECORDS) as f64)
        .floor()
        .max(1.0);
    moments.chunks(((moments.len() as f64 / pieces).ceil() as usize).max(1))
}

/// The times of each member in a long chunk.
pub(super) fn times_by_member(chunk: &[Moment<'_>], members: usize) -> Vec<Vec<f64>> {
    let mut times: Vec<Vec<f64>> = vec![Vec::new(); members];
    for r in chunk.iter().flat_map(|m| m.rows) {
        times[r.member as usize].push(r.micros);
    }
    times
}

/// Pieces of about `length`; a short rest joins the piece before it.
pub(super) fn chunks<T>(values: &[T], length: usize) -> impl Iterator<Item = &[T]> {
    let pieces = (values.len() / length).max(1);
    (0..pieces).filter_map(move |k| {
        let end = if k + 1 == pieces {
            values.len()
        } else {
            (k + 1) * length
        };
        values.get(k * length..end).filter(|c| !c.is_empty())
    })
}
