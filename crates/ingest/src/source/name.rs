//! What a file is called, and whether its name is a dump's or a database's.

use std::collections::BTreeMap;
use std::path::{Component, Path};

use super::database::COMPANIONS;

/// What a name says about a file in a folder.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// It may be a dump.
    Dump,
    /// It may be the database of an eBPF agent.
    Database,
    /// A file that SQLite keeps beside a database, and reads with it.
    Companion,
    /// It may be a dump or a database, packed in a way that isn't read.
    Packed(&'static str),
    /// Something else.
    Other,
}

/// Judges a file name: `.log`, `.jsonl`, `.ndjson`, `.json`, perhaps gzipped, perhaps rotated (`.log.1`, `.log.2.gz`, `.log-20260101`).
pub(super) fn kind(name: &str) -> Kind {
    const PACKED: [(&str, &str); 5] = [
        (".zst", "zstd"),
        (".xz", "xz"),
        (".bz2", "bzip2"),
        (".zip", "zip"),
        (".lz4", "lz4"),
    ];
    let name = name.to_ascii_lowercase();
    if let Some((stem, packer)) = PACKED
        .into_iter()
        .find_map(|(suffix, packer)| Some((name.strip_suffix(suffix)?, packer)))
    {
        return if is_dump(stem) || is_named_like_a_database(stem) {
            Kind::Packed(packer)
        } else {
            Kind::Other
        };
    }
    if is_dump(name.strip_suffix(".gz").unwrap_or(&name)) {
        Kind::Dump
    } else if is_named_like_a_database(&name) {
        Kind::Database
    } else if COMPANIONS.iter().any(|suffix| name.ends_with(suffix)) {
        Kind::Companion
    } else {
        Kind::Other
    }
}

/// Whether a name is one that databases usually have, gzipped or not.
pub(crate) fn is_named_like_a_database(name: &str) -> bool {
    const SUFFIXES: [&str; 4] = [".db", ".sqlite", ".sqlite3", ".db3"];
    let name = name.to_ascii_lowercase();
    let name = name.strip_suffix(".gz").unwrap_or(&name);
    SUFFIXES.iter().any(|suffix| name.ends_with(suffix))
}

fn is_dump(name: &str) -> bool {
    const SUFFIXES: [&str; 4] = [".log", ".jsonl", ".ndjson", ".json"];
    let rotated =
        name.trim_end_matches(|c: char| c.is_ascii_digit() || c == '-' || c == '.' || c == '_');
    let is = |name: &str| SUFFIXES.iter().any(|suffix| name.ends_with(suffix));
    is(name) || is(rotated)
}

/// A relative path as shown: slashes on every system, replacement characters for what is no text.
pub(super) fn shown(relative: &Path) -> String {
    let parts: Vec<_> = relative
        .components()
        .filter_map(|component| match component {
            Component::Normal(part) => Some(part.to_string_lossy()),
            _ => None,
        })
        .collect();
    parts.join("/")
}

/// Makes names unique: those that several files share get the folders above their input in front, as many as it takes.
pub(super) fn distinguish(names: &mut [String], inputs: &[&Path]) {
    let mut depth = 0;
    loop {
        let shared = shared(names);
        if shared.is_empty() {
            return;
        }
        let mut grown = false;
        for &index in &shared {
            if let Some(part) = above(inputs[index], depth) {
                names[index] = format!("{part}/{}", names[index]);
                grown = true;
            }
        }
        if !grown {
            // Names that differ only in bytes that are no text.
            for (copy, index) in shared.into_iter().enumerate() {
                names[index] = format!("{}#{}", names[index], copy + 1);
            }
            return;
        }
        depth += 1;
    }
}

/// Indices of names that aren't alone.
fn shared(names: &[String]) -> Vec<usize> {
    let mut places: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
    for (index, name) in names.iter().enumerate() {
        places.entry(name).or_default().push(index);
    }
    places
        .into_values()
        .filter(|indices| indices.len() > 1)
        .flatten()
        .collect()
}

/// The `depth`-th folder name from the end of an input's path.
fn above(input: &Path, depth: usize) -> Option<String> {
    let parts = input.components().filter_map(|component| match component {
        Component::Normal(part) => Some(part),
        _ => None,
    });
    parts
        .rev()
        .nth(depth)
        .map(|part| part.to_string_lossy().into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_dumps() {
        for name in [
            "dgx-h01-pid449.log",
            "a.LOG",
            "a.jsonl",
            "a.json.gz",
            "a.log.gz",
            "a.log.1",
            "a.log.2.gz",
            "a.log-20260101",
            "a.jsonl.gz",
        ] {
            assert_eq!(kind(name), Kind::Dump, "{name}");
        }
        for name in [
            "a.txt",
            "a.gz",
            "log",
            "a.parquet",
            "a.logo",
            "1.2.3",
            "a.prom",
        ] {
            assert_eq!(kind(name), Kind::Other, "{name}");
        }
        for name in ["a.db", "A.DB.gz", "x.sqlite", "x.sqlite3"] {
            assert_eq!(kind(name), Kind::Database, "{name}");
        }
        assert_eq!(kind("a.db-wal"), Kind::Companion);
        assert_eq!(kind("a.log.zst"), Kind::Packed("zstd"));
        assert_eq!(kind("a.db.zst"), Kind::Packed("zstd"));
        assert_eq!(kind("a.tar.xz"), Kind::Other);
    }

    #[test]
    fn shared_names_get_folders_in_front() {
        let mut names = vec!["x.log".to_owned(), "x.log".to_owned(), "y.log".to_owned()];
        distinguish(
            &mut names,
            &[
                Path::new("/runs/1/logs"),
                Path::new("/runs/2/logs"),
                Path::new("/runs/2/logs"),
            ],
        );
        assert_eq!(names, ["1/logs/x.log", "2/logs/x.log", "y.log"]);
    }

    #[test]
    fn names_that_nothing_tells_apart_are_numbered() {
        let mut names = vec!["x".to_owned(), "x".to_owned()];
        distinguish(&mut names, &[Path::new("a"), Path::new("a")]);
        assert_eq!(names, ["a/x#1", "a/x#2"]);
    }
}
