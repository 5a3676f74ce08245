//! Records held in memory, by endpoint: what matching needs of them, 32 bytes each.

use super::cell::CellKey;
use crate::facts::TimingSource;

/// A record.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(crate) struct Record {
    /// Sequence number.
    pub(crate) sequence_number: i64,
    /// When its line was written, µs since the epoch, by its host's clock.
    pub(crate) dumped: i64,
    /// Kernel time, µs.
    pub(crate) micros: f64,
    /// Number of its cell in its file.
    pub(crate) cell: u32,
    /// Peer's rank, for Send and Recv; -1 otherwise.
    pub(crate) peer: i32,
}

/// Function (a number of the census), size and timing of a cell.
pub(crate) type Cell = (u32, u64, TimingSource);

/// The records of one Parquet file or of a part of it, an endpoint's together, each in the order of the file.
#[derive(Debug, Default)]
pub(crate) struct HeldFile {
    records: Vec<Record>,
    /// The endpoint of the census and the end of its records, in order; the first begin at 0.
    endpoints: Vec<(u32, usize)>,
    cells: Vec<Cell>,
}

impl HeldFile {
    /// Records of a file in its order, with the file's own cells.
    pub(crate) fn new(records: Vec<Record>, cells: &[CellKey]) -> Self {
        let endpoint = |r: &Record| cells[r.cell as usize].endpoint;
        let n = cells.iter().map(|c| c.endpoint as usize + 1).max();
        // How many of each endpoint, then where the next one of each goes.
        let mut next = vec![0_usize; n.unwrap_or(0)];
        for r in &records {
            next[endpoint(r) as usize] += 1;
        }
        let mut end = 0;
        let mut endpoints = Vec::with_capacity(next.len());
        for (e, n) in (0..).zip(&mut next) {
            let start = end;
            end += *n;
            *n = start;
            endpoints.push((e, end));
        }
        let mut sorted = records.clone();
        for r in records {
            let place = &mut next[endpoint(&r) as usize];
            sorted[*place] = r;
            *place += 1;
        }
        Self {
            records: sorted,
            endpoints,
            cells: cells
                .iter()
                .map(|c| (c.function, c.size, c.timing))
                .collect(),
        }
    }

    /// Replaces the file's own numbers by those of the census.
    pub(crate) fn rename(&mut self, endpoints: &[u32], functions: &[u32]) {
        for (e, _) in &mut self.endpoints {
            *e = endpoints[*e as usize];
        }
        for (f, _, _) in &mut self.cells {
            *f = functions[*f as usize];
        }
    }

    /// Its parts, for where they are kept on disk.
    pub(super) fn into_parts(self) -> (Vec<Record>, Vec<(u32, usize)>, Vec<Cell>) {
        (self.records, self.endpoints, self.cells)
    }

    /// Of what [`into_parts`](Self::into_parts) gave, all or the records of some endpoints.
    pub(super) fn of_parts(
        records: Vec<Record>,
        endpoints: Vec<(u32, usize)>,
        cells: Vec<Cell>,
    ) -> Self {
        Self {
            records,
            endpoints,
            cells,
        }
    }

    /// Function (a number of the census), size and timing of a record.
    pub(crate) fn cell(&self, record: &Record) -> Cell {
        self.cells[record.cell as usize]
    }
}

/// The records of many files.
#[derive(Debug, Default)]
pub(crate) struct Held {
    files: Vec<HeldFile>,
    /// For each endpoint of the census, the files that hold records of it, and which: file, start, end.
    places: Vec<Vec<(usize, usize, usize)>>,
}

impl Held {
    /// Files in the order of the dataset.
    pub(crate) fn new(files: Vec<HeldFile>) -> Self {
        let mut places: Vec<Vec<(usize, usize, usize)>> = Vec::new();
        // An endpoint without records may not be one of the census.
        for (f, file) in files.iter().enumerate() {
            let mut start = 0;
            for &(e, end) in &file.endpoints {
                if start < end {
                    let e = e as usize;
                    if places.len() <= e {
                        places.resize(e + 1, Vec::new());
                    }
                    places[e].push((f, start, end));
                }
                start = end;
            }
        }
        Self { files, places }
    }

    /// The records of an endpoint, each part with the file that holds it.
    pub(crate) fn of_endpoint(
        &self,
        endpoint: u32,
    ) -> impl Iterator<Item = (&HeldFile, &[Record])> {
        self.places
            .get(endpoint as usize)
            .into_iter()
            .flatten()
            .map(|&(f, start, end)| (&self.files[f], &self.files[f].records[start..end]))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cell(endpoint: u32, size: u64) -> CellKey {
        CellKey {
            endpoint,
            function: 0,
            size,
            timing: TimingSource::KernelGpu,
            p2p: false,
        }
    }

    #[test]
    fn an_endpoint_has_its_records_of_every_file_in_order() {
        let record = |cell, sequence_number| Record {
            sequence_number,
            dumped: 0,
            micros: 1.0,
            cell,
            peer: -1,
        };
        let cells = [cell(1, 8), cell(0, 8), cell(1, 16)];
        let mut first = HeldFile::new(
            vec![record(0, 5), record(1, 6), record(2, 3), record(0, 4)],
            &cells,
        );
        first.rename(&[7, 2], &[9]);
        let mut second = HeldFile::new(vec![record(1, 1)], &cells);
        second.rename(&[2, 0], &[9]);
        let held = Held::new(vec![first, second]);
        let of = |e| -> Vec<(i64, u32, u64)> {
            held.of_endpoint(e)
                .flat_map(|(file, records)| records.iter().map(move |r| (file, r)))
                .map(|(file, r)| (r.sequence_number, file.cell(r).0, file.cell(r).1))
                .collect()
        };
        assert_eq!(of(2), [(5, 9, 8), (3, 9, 16), (4, 9, 8), (1, 9, 8)]);
        assert_eq!(of(7), [(6, 9, 8)]);
        assert_eq!((of(0), of(100)), (vec![], vec![]));
    }
}
