//! Names of the Parquet files: the input's name made harmless, and a hash of its path so that two inputs of one name differ.
//!
//! Text from outside reaches the file system only through here.

use std::collections::HashSet;

use xxhash_rust::xxh3::xxh3_64;

use crate::Table;

/// What temporary files begin with: a killed run's are recognised by it.
pub(crate) const TEMPORARY_PREFIX: &str = ".nccl-report-tmp-";

/// Bytes of the input's name that are kept. Together with the hash far below the 255 that file systems allow.
const KEPT: usize = 80;

/// Hexadecimal digits of the hash.
const DIGITS: usize = 10;

/// Hands out a stem for each input, all different.
#[derive(Debug, Default)]
pub(crate) struct Stems(HashSet<String>);

impl Stems {
    /// The stem for an input of this name (a relative path). Names that are equal, or that collide, are told apart by a number in
    /// order of asking.
    pub(crate) fn stem(&mut self, name: &str) -> String {
        let first = stem(name);
        let mut stem = first.clone();
        let mut number = 2_u64;
        while !self.0.insert(stem.clone()) {
            stem = format!("{first}-{number}");
            number += 1;
        }
        stem
    }
}

fn stem(name: &str) -> String {
    let last = name.rsplit(['/', '\\']).next().unwrap_or(name);
    let mut kept = String::with_capacity(KEPT + DIGITS + 1);
    for character in without_extensions(last).chars() {
        if kept.len() == KEPT {
            break;
        }
        let harmless = character.is_ascii_alphanumeric()
            || character == '-' && !kept.is_empty()
            || character == '.' && !kept.is_empty();
        kept.push(if harmless { character } else { '_' });
    }
    if kept.is_empty() {
        kept.push('_');
    }
    let hash = xxh3_64(name.as_bytes()) >> (64 - 4 * DIGITS);
    format!("{kept}-{hash:0DIGITS$x}")
}

fn without_extensions(name: &str) -> &str {
    let name = name.strip_suffix(".gz").unwrap_or(name);
    [".log", ".jsonl", ".json", ".db"]
        .iter()
        .find_map(|extension| name.strip_suffix(extension))
        .unwrap_or(name)
}

/// Where a table's part of an input lies, relative to the dataset's folder.
pub(super) fn file_name(stem: &str) -> String {
    format!("{stem}.parquet")
}

/// Whether a file name is one that [`file_name`] can give: harmless characters, a hash at the end.
pub(super) fn is_ours(file_name: &str) -> bool {
    let Some(stem) = file_name.strip_suffix(".parquet") else {
        return false;
    };
    let harmless = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '.' | '_');
    let is_hash =
        |s: &str| s.len() == DIGITS && s.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f'));
    let is_number = |s: &str| !s.is_empty() && s.bytes().all(|b| b.is_ascii_digit());
    let with_hash = |s: &str| s.rsplit_once('-').is_some_and(|(_, hash)| is_hash(hash));
    stem.chars().all(harmless)
        && !stem.starts_with(['.', '-'])
        && (with_hash(stem)
            || stem
                .rsplit_once('-')
                .is_some_and(|(front, number)| is_number(number) && with_hash(front)))
}

/// Whether a path of a manifest lies where this program puts files of the table.
pub(super) fn is_table_path(table: Table, path: &str) -> bool {
    path.strip_prefix(table.folder())
        .and_then(|rest| rest.strip_prefix('/'))
        .is_some_and(is_ours)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_name_stays_readable() {
        let stem = stem("node1/dgx-h01-pid5123.log.gz");
        assert!(stem.starts_with("dgx-h01-pid5123-"), "{stem}");
        assert_eq!(stem.len(), "dgx-h01-pid5123-".len() + DIGITS);
    }

    #[test]
    fn a_name_that_is_all_extension_still_gives_one() {
        for name in ["", ".log", ".log.gz", "a/", "..", "-"] {
            assert!(is_ours(&file_name(&stem(name))), "{name}");
        }
    }

    #[test]
    fn one_name_in_two_folders_gives_two_stems() {
        assert_ne!(stem("a/x.log"), stem("b/x.log"));
        assert_ne!(stem("x.log"), stem("x.log.gz"));
    }

    #[test]
    fn the_same_name_twice_gives_two_stems() {
        let mut stems = Stems::default();
        let first = stems.stem("x.log");
        let second = stems.stem("x.log");
        assert_eq!(second, format!("{first}-2"));
        assert!(is_ours(&file_name(&second)));
    }

    #[test]
    fn foreign_names_are_not_ours() {
        for name in [
            "part-0.parquet",
            "data.parquet",
            "x-0123456789.csv",
            "../x-0123456789.parquet",
            ".x-0123456789.parquet",
            "x-01234é6789.parquet",
            "x-0123456789-.parquet",
        ] {
            assert!(!is_ours(name), "{name}");
        }
        assert!(!is_table_path(
            Table::P2p,
            "collectives/x-0123456789.parquet"
        ));
        assert!(!is_table_path(Table::P2p, "p2p/../x-0123456789.parquet"));
        assert!(is_table_path(Table::P2p, "p2p/x-0123456789.parquet"));
    }

    proptest! {
        #[test]
        fn any_name_gives_a_harmless_short_file_name(name in any::<String>()) {
            let file = file_name(&stem(&name));
            prop_assert!(is_ours(&file), "{}", file);
            prop_assert!(file.len() < 120);
            prop_assert!(!file.contains(['/', '\\', '\0']));
        }
    }
}
