//! Records that memory doesn't hold, in a file without a name: written once, by endpoint, and read back for the communicators whose turn it
//! is. Memory then depends on the portion and not on the job, and time grows with the records alone.

use std::fs::File;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use super::held::{Cell, HeldFile, Record};
use crate::Error;

/// Bytes of a record in the file.
const RECORD: usize = 32;

/// Records on disk. The file has no name, so nothing of it stays behind, whatever ends the process.
#[derive(Debug)]
pub(crate) struct Spill {
    /// The folder that it is in, for messages.
    folder: PathBuf,
    file: File,
    end: Mutex<u64>,
}

/// Where the records of a file, or of a part of it, lie.
#[derive(Debug)]
pub(crate) struct SpilledFile {
    start: u64,
    endpoints: Vec<(u32, usize)>,
    /// First and last sequence number of each endpoint's records.
    numbers: Vec<(i64, i64)>,
    cells: Vec<Cell>,
}

impl Spill {
    /// A file in `folder`, or where temporary files go if that can't be written.
    pub(crate) fn new(folder: &Path) -> Result<Self, Error> {
        let elsewhere = std::env::temp_dir();
        let (folder, file) = match tempfile::tempfile_in(folder) {
            Ok(file) => (folder.to_owned(), file),
            Err(_) => {
                let file = tempfile::tempfile_in(&elsewhere).map_err(|source| Error::Spill {
                    folder: elsewhere.clone(),
                    source,
                })?;
                (elsewhere, file)
            }
        };
        Ok(Self {
            folder,
            file,
            end: Mutex::new(0),
        })
    }

    /// Writes the records of a file.
    pub(super) fn put(&self, held: HeldFile) -> Result<SpilledFile, Error> {
        let (records, endpoints, cells) = held.into_parts();
        let mut first = 0;
        let numbers = endpoints.iter().map(|&(_, end)| {
            let numbers = records[first..end].iter().map(|r| r.sequence_number);
            first = end;
            numbers.fold((i64::MAX, i64::MIN), |a, n| (a.0.min(n), a.1.max(n)))
        });
        let numbers = numbers.collect();
        let mut bytes = Vec::with_capacity(RECORD * records.len());
        for record in &records {
            bytes.extend_from_slice(&to_bytes(record));
        }
        let mut end = self.end.lock().unwrap_or_else(|e| e.into_inner());
        // One at a time writes, at the end.
        (&self.file)
            .write_all(&bytes)
            .map_err(|source| self.failed(source))?;
        let start = *end;
        *end += bytes.len() as u64;
        Ok(SpilledFile {
            start,
            endpoints,
            numbers,
            cells,
        })
    }

    /// Reads the records of those endpoints of a file that `wanted` names, told their first and last sequence number, and of these the
    /// ones that it keeps.
    pub(crate) fn load(
        &self,
        from: &SpilledFile,
        wanted: impl Fn(u32, (i64, i64)) -> bool,
        keep: impl Fn(&Record, &Cell) -> bool,
    ) -> Result<HeldFile, Error> {
        let (mut records, mut endpoints) = (Vec::new(), Vec::new());
        let mut bytes = Vec::new();
        let mut first = 0;
        for (&(endpoint, end), &numbers) in from.endpoints.iter().zip(&from.numbers) {
            if first < end && wanted(endpoint, numbers) {
                bytes.resize(RECORD * (end - first), 0);
                let at = from.start + (RECORD * first) as u64;
                read_at(&self.file, &mut bytes, at).map_err(|source| self.failed(source))?;
                let (whole, _) = bytes.as_chunks::<RECORD>();
                records.extend(
                    whole
                        .iter()
                        .map(from_bytes)
                        .filter(|r| keep(r, &from.cells[r.cell as usize])),
                );
                endpoints.push((endpoint, records.len()));
            }
            first = end;
        }
        Ok(HeldFile::of_parts(records, endpoints, from.cells.clone()))
    }

    fn failed(&self, source: io::Error) -> Error {
        Error::Spill {
            folder: self.folder.clone(),
            source,
        }
    }
}

impl SpilledFile {
    /// Replaces the file's own numbers by those of the census.
    pub(super) fn rename(&mut self, endpoints: &[u32], functions: &[u32]) {
        for (e, _) in &mut self.endpoints {
            *e = endpoints[*e as usize];
        }
        for (f, _, _) in &mut self.cells {
            *f = functions[*f as usize];
        }
    }
}

fn to_bytes(record: &Record) -> [u8; RECORD] {
    let mut bytes = [0; RECORD];
    bytes[..8].copy_from_slice(&record.sequence_number.to_ne_bytes());
    bytes[8..16].copy_from_slice(&record.dumped.to_ne_bytes());
    bytes[16..24].copy_from_slice(&record.micros.to_ne_bytes());
    bytes[24..28].copy_from_slice(&record.cell.to_ne_bytes());
    bytes[28..].copy_from_slice(&record.peer.to_ne_bytes());
    bytes
}

fn from_bytes(bytes: &[u8; RECORD]) -> Record {
    let eight = |at| bytes[at..].first_chunk().copied().unwrap_or_default();
    let four = |at| bytes[at..].first_chunk().copied().unwrap_or_default();
    Record {
        sequence_number: i64::from_ne_bytes(eight(0)),
        dumped: i64::from_ne_bytes(eight(8)),
        micros: f64::from_ne_bytes(eight(16)),
        cell: u32::from_ne_bytes(four(24)),
        peer: i32::from_ne_bytes(four(28)),
    }
}

#[cfg(unix)]
fn read_at(file: &File, bytes: &mut [u8], at: u64) -> io::Result<()> {
    std::os::unix::fs::FileExt::read_exact_at(file, bytes, at)
}

#[cfg(windows)]
fn read_at(file: &File, mut bytes: &mut [u8], mut at: u64) -> io::Result<()> {
    use std::os::windows::fs::FileExt as _;
    while !bytes.is_empty() {
        match file.seek_read(bytes, at)? {
            0 => return Err(io::ErrorKind::UnexpectedEof.into()),
            n => {
                bytes = &mut bytes[n..];
                at += n as u64;
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::super::cell::CellKey;
    use super::*;
    use crate::facts::TimingSource;

    #[test]
    fn what_was_put_is_loaded_by_endpoint_and_choice() {
        let cell = |endpoint, function| CellKey {
            endpoint,
            function,
            size: 8,
            timing: TimingSource::KernelGpu,
            p2p: false,
        };
        let record = |cell, sequence_number| Record {
            sequence_number,
            dumped: -7,
            micros: 1.5,
            cell,
            peer: -1,
        };
        let folder = tempfile::tempdir().expect("a folder");
        let spill = Spill::new(folder.path()).expect("a file");
        let cells = [cell(0, 0), cell(1, 1)];
        let first = HeldFile::new(vec![record(1, 5), record(0, 6), record(1, 7)], &cells);
        let second = HeldFile::new(vec![record(0, 1)], &cells);
        let mut first = spill.put(first).expect("written");
        let second = spill.put(second).expect("written");
        first.rename(&[4, 3], &[9, 2]);
        assert_eq!(folder.path().read_dir().expect("listed").count(), 0);

        let loaded = spill
            .load(
                &first,
                |e, numbers| e == 3 && numbers == (5, 7),
                |r, cell| r.sequence_number > 5 && cell.0 == 2,
            )
            .expect("read");
        let (records, endpoints, _) = loaded.into_parts();
        assert_eq!((records, endpoints), (vec![record(1, 7)], vec![(3, 1)]));
        let all = spill.load(&second, |_, _| true, |_, _| true).expect("read");
        assert_eq!(all.into_parts().0, [record(0, 1)]);
    }
}
