//! Copies of one file: the same content under another name, with or without gzip, or the beginning of it (copied while the job
//! ran). Counting both would count the job twice.
//!
//! The first bytes of a dump hold a host, a process and a time stamp to the microsecond, so two files that begin alike are rare, and
//! only those are read to the end here. Hashes of their beginnings pair them in time linear in their length; a pair is believed
//! after its bytes were compared.

use std::collections::HashMap;
use std::fs::File;
use std::io::{self, Read};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

use flate2::read::MultiGzDecoder;
use rayon::prelude::*;
use xxhash_rust::xxh3::Xxh3;

use crate::Error;
use crate::source::{Candidate, Opened, log};

/// Bytes of each file's beginning that are held while all are compared.
const HEAD: usize = 512;

/// Bytes that are read for it; gzip makes more of them.
const BLOCK: usize = 4096;

/// That a file is a copy of another one, which is used instead.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Copy {
    /// Which, by its place among the files.
    pub(crate) of: usize,
    /// Whether it is all of it, rather than its beginning.
    pub(crate) whole: bool,
}

/// For each file, of which other one it is a copy. Of equal files the first is used. Files that can't be read are copies of none.
///
/// # Errors
/// When cancelled.
pub(crate) fn find_copies(
    files: &[Candidate],
    cancel: &AtomicBool,
) -> Result<Vec<Option<Copy>>, Error> {
    let heads: Vec<Vec<u8>> = files
        .par_iter()
        .map(|file| match cancel.load(Ordering::Relaxed) {
            true => Vec::new(),
            // Part of a database lies in its log: two that begin alike may differ there.
            false if log(&file.path, "-wal").is_some() => Vec::new(),
            false => head(&file.path),
        })
        .collect();
    let groups = alike(&heads);
    drop(heads);
    let mut copies = vec![None; files.len()];
    for group in groups {
        for (copy, of) in copies_in(&group, files, cancel)? {
            copies[copy] = Some(of);
        }
    }
    match cancel.load(Ordering::Relaxed) {
        true => Err(Error::Cancelled),
        false => Ok(copies),
    }
}

/// Groups of files that begin alike as far as the shorter goes; a file alone is none.
fn alike(heads: &[Vec<u8>]) -> Vec<Vec<usize>> {
    let mut order: Vec<usize> = (0..heads.len()).filter(|&i| !heads[i].is_empty()).collect();
    // What begins with a text follows it directly in sorted order.
    order.sort_by(|&a, &b| heads[a].cmp(&heads[b]).then(a.cmp(&b)));
    let mut groups: Vec<Vec<usize>> = Vec::new();
    for file in order {
        match groups.last_mut() {
            Some(group) if heads[file].starts_with(&heads[group[0]]) => group.push(file),
            _ => groups.push(vec![file]),
        }
    }
    groups.retain(|group| group.len() > 1);
    groups
}

/// A file of a group.
#[derive(Debug, Clone, Copy)]
struct Measured {
    file: usize,
    bytes: u64,
    hash: u64,
    damaged: bool,
    has_a_line: bool,
}

fn copies_in(
    group: &[usize],
    files: &[Candidate],
    cancel: &AtomicBool,
) -> Result<Vec<(usize, Copy)>, Error> {
    let mut measured: Vec<Measured> = group
        .par_iter()
        .filter_map(|&file| measure(file, &files[file].path, cancel))
        .collect();
    // The longest first, since the others may be beginnings of it; then the undamaged, then by name.
    measured.sort_by_key(|m| (std::cmp::Reverse(m.bytes), m.damaged, m.file));
    let mut copies = Vec::new();
    let mut kept: HashMap<(u64, u64), Vec<usize>> = HashMap::new();
    for (place, one) in measured.iter().enumerate() {
        if cancel.load(Ordering::Relaxed) {
            return Err(Error::Cancelled);
        }
        let same = kept.get(&(one.bytes, one.hash)).map_or(&[][..], |k| k);
        let used = same.iter().map(|&k| &measured[k]).find(|used| {
            // A beginning without even one line could be anyone's.
            (used.bytes == one.bytes || one.has_a_line)
                && begins_with(&files[used.file].path, &files[one.file].path, cancel)
        });
        if let Some(used) = used {
            let of = Copy {
                of: used.file,
                whole: used.bytes == one.bytes,
            };
            copies.push((one.file, of));
            continue;
        }
        let mut lengths: Vec<u64> = measured[place + 1..].iter().map(|m| m.bytes).collect();
        lengths.reverse();
        lengths.dedup();
        for key in beginnings(&files[one.file].path, &lengths, cancel) {
            kept.entry(key).or_default().push(place);
        }
    }
    Ok(copies)
}

/// The first bytes of a file's text, or fewer: what is too short here only makes more files look alike. Reads one block, since this is
/// done for every file of every run.
fn head(path: &Path) -> Vec<u8> {
    let mut block = Vec::with_capacity(BLOCK);
    // What comes before damage is there all the same, and the reading that follows will tell of it.
    if let Ok(file) = File::open(path) {
        let _ = file.take(BLOCK as u64).read_to_end(&mut block);
    }
    let mut head = Vec::with_capacity(HEAD);
    if block.starts_with(&[0x1f, 0x8b]) {
        let text = MultiGzDecoder::new(block.as_slice());
        let _ = text.take(HEAD as u64).read_to_end(&mut head);
    } else {
        head.extend_from_slice(&block[..block.len().min(HEAD)]);
    }
    head
}

fn measure(file: usize, path: &Path, cancel: &AtomicBool) -> Option<Measured> {
    let mut hash = Xxh3::new();
    let mut bytes = 0;
    let mut has_a_line = false;
    let whole = pieces(path, cancel, |piece| {
        hash.update(piece);
        bytes += piece.len() as u64;
        has_a_line = has_a_line || memchr::memchr(b'\n', piece).is_some();
        true
    });
    (bytes > 0).then(|| Measured {
        file,
        bytes,
        hash: hash.digest(),
        damaged: !whole,
        has_a_line,
    })
}

/// The hash of the first so many bytes, for each of the lengths, which ascend.
fn beginnings(path: &Path, lengths: &[u64], cancel: &AtomicBool) -> Vec<(u64, u64)> {
    let mut hash = Xxh3::new();
    let mut bytes = 0;
    let mut found = Vec::with_capacity(lengths.len());
    pieces(path, cancel, |mut piece| {
        while let Some(&length) = lengths.get(found.len()) {
            let missing = (length - bytes) as usize;
            if missing > piece.len() {
                break;
            }
            hash.update(&piece[..missing]);
            bytes = length;
            piece = &piece[missing..];
            found.push((length, hash.digest()));
        }
        hash.update(piece);
        bytes += piece.len() as u64;
        found.len() < lengths.len()
    });
    found
}

/// Whether the one file begins with all of the other, byte by byte.
fn begins_with(long: &Path, short: &Path, cancel: &AtomicBool) -> bool {
    let Ok(mut long) = Opened::open(long) else {
        return false;
    };
    let mut buffer = Vec::new();
    let mut equal = true;
    pieces(short, cancel, |piece| {
        buffer.resize(piece.len(), 0);
        equal = long.read_exact(&mut buffer).is_ok() && buffer == piece;
        equal
    });
    equal && !cancel.load(Ordering::Relaxed)
}

/// Gives the content piece by piece until it ends or `each` wants no more; whether it ended without damage.
fn pieces(path: &Path, cancel: &AtomicBool, mut each: impl FnMut(&[u8]) -> bool) -> bool {
    let Ok(mut file) = Opened::open(path) else {
        return false;
    };
    let mut buffer = vec![0; 256 << 10];
    while !cancel.load(Ordering::Relaxed) {
        match file.read(&mut buffer) {
            Ok(0) => return true,
            Ok(read) => {
                if !each(&buffer[..read]) {
                    return true;
                }
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(_) => return false,
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn copies(contents: &[Vec<u8>]) -> Vec<Option<Copy>> {
        let folder = tempfile::tempdir().expect("a folder");
        let files: Vec<_> = (0..)
            .zip(contents)
            .map(|(number, content)| {
                let name = format!("{number:03}.log");
                let path = folder.path().join(&name);
                std::fs::write(&path, content).expect("written");
                Candidate {
                    bytes: content.len() as u64,
                    path,
                    name,
                }
            })
            .collect();
        find_copies(&files, &AtomicBool::new(false)).expect("not cancelled")
    }

    fn text(lines: std::ops::Range<usize>) -> Vec<u8> {
        lines
            .map(|n| format!("line {n}\n"))
            .collect::<String>()
            .into_bytes()
    }

    #[test]
    fn the_longest_is_used_and_the_first_of_equals() {
        let short = text(0..10);
        let long = text(0..90_000);
        let other = [text(0..80_000), b"line x\n".to_vec()].concat();
        assert_eq!(
            copies(&[short.clone(), long.clone(), other, long, short]),
            [
                Some(Copy {
                    of: 1,
                    whole: false
                }),
                None,
                None,
                Some(Copy { of: 1, whole: true }),
                Some(Copy {
                    of: 1,
                    whole: false
                }),
            ]
        );
    }

    #[test]
    fn a_beginning_without_a_line_is_no_copy() {
        assert_eq!(
            copies(&[b"{".to_vec(), b"{}\n".to_vec(), Vec::new()]),
            [None, None, None]
        );
        let whole = Some(Copy { of: 0, whole: true });
        assert_eq!(copies(&[b"{}".to_vec(), b"{}".to_vec()]), [None, whole]);
    }

    proptest! {
        // Compared with the definition: A is a copy iff another file begins with it and is longer, or is equal and named before.
        #[test]
        fn copies_are_exactly_the_beginnings(contents in prop::collection::vec(
            (0_usize..3, 0_usize..600).prop_map(|(mark, length)| {
                let mut content = text(0..400);
                content.truncate(length * 5 + 8);
                if let Some(byte) = (mark > 0).then_some(()).and_then(|()| content.get_mut(mark * 700)) { *byte = b'!'; }
                content
            }), 0..8)) {
            let found = copies(&contents);
            for (i, content) in contents.iter().enumerate() {
                let expected = contents.iter().enumerate().any(|(j, other)| {
                    other.starts_with(content) && (other.len() > content.len() || j < i)
                });
                prop_assert_eq!(found[i].is_some(), expected, "file {}", i);
                if let Some(copy) = found[i] {
                    prop_assert!(contents[copy.of].starts_with(content));
                    prop_assert_eq!(copy.whole, contents[copy.of].len() == content.len());
                    prop_assert!(found[copy.of].is_none(), "the one used isn't used");
                }
            }
        }
    }
}
