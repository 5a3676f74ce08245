//! Which host a trace is of: what the user says, else what its rows say, else what its file or a folder above it is called.
//!
//! Names are matched with those of the dumps whatever their case and domain. Where two hosts would do, neither is taken.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use nccl_report_ingest::SourceFile;

use super::given::meant;
use crate::facts::{KnownBy, TraceFile};
use crate::units::Timestamp;

/// A database, and whom its rows belong to.
#[derive(Debug, Clone)]
pub(crate) struct Attributed {
    /// As in the account of the input.
    pub(crate) path: String,
    pub(crate) known_by: KnownBy,
    /// What the user says, for every row.
    given: Option<String>,
    /// By what rows say.
    named: BTreeMap<String, Option<String>>,
    /// Of rows that say nothing.
    unnamed: Option<String>,
    span_ns: Option<(i64, i64)>,
    rows: u64,
}

impl Attributed {
    /// The host of a row, by what the row says of it; `None` where nothing tells.
    pub(crate) fn host<'a>(&'a self, row: Option<&'a str>) -> Option<&'a str> {
        if let Some(given) = &self.given {
            return Some(given);
        }
        match row {
            None => self.unnamed.as_deref(),
            // Beyond the hosts that a database's account lists: the row's word as it is.
            Some(name) => self
                .named
                .get(name)
                .map_or(Some(name), |known| known.as_deref()),
        }
    }

    /// Earliest and latest stamp, ns by the clock of its host.
    pub(crate) const fn span_ns(&self) -> Option<(i64, i64)> {
        self.span_ns
    }

    /// What a report says of it.
    pub(crate) fn facts(&self) -> TraceFile {
        let mut hosts: BTreeSet<String> = BTreeSet::new();
        if self.given.is_some() {
            hosts.extend(self.given.clone());
        } else {
            hosts.extend(self.named.values().flatten().cloned());
            hosts.extend(self.unnamed.clone());
        }
        let micros = |ns: i64| Timestamp::from_unix_micros(ns.div_euclid(1000));
        TraceFile {
            path: self.path.clone(),
            hosts: hosts.into_iter().collect(),
            known_by: self.known_by,
            span: self.span_ns.map(|(a, b)| (micros(a), micros(b))),
            rows: self.rows,
        }
    }
}

/// Attributes every trace. `given` is the user's word: a host, and the end of a file's path, as [`super::given::check`] has found them good. The
/// sentences say what couldn't be told.
pub(crate) fn attribute(
    files: &[&SourceFile],
    dump_hosts: &BTreeSet<&str>,
    given: &[(String, PathBuf)],
) -> (Vec<Attributed>, Vec<String>) {
    let mut notes = Vec::new();
    let paths: Vec<&str> = files.iter().map(|file| file.path.as_str()).collect();
    let places: Vec<Vec<usize>> = given.iter().map(|(_, path)| meant(path, &paths)).collect();
    let attributed = files
        .iter()
        .enumerate()
        .map(|(i, file)| {
            let said = given.iter().zip(&places).find(|(_, of)| **of == [i]);
            of_file(file, dump_hosts, said.map(|s| s.0.0.as_str()), &mut notes)
        })
        .collect();
    (attributed, notes)
}

fn of_file(
    file: &SourceFile,
    dump_hosts: &BTreeSet<&str>,
    given: Option<&str>,
    notes: &mut Vec<String>,
) -> Attributed {
    let seen = file.trace.clone().unwrap_or_default();
    let mut out = Attributed {
        path: file.path.clone(),
        known_by: KnownBy::Unknown,
        given: None,
        named: BTreeMap::new(),
        unnamed: None,
        span_ns: seen.first_ns.zip(seen.last_ns),
        rows: file.records.values().sum(),
    };
    if let Some(host) = given {
        let known = match same_host(host, dump_hosts) {
            Match::One(known) => known.to_owned(),
            _ => host.to_owned(),
        };
        (out.given, out.known_by) = (Some(known), KnownBy::Option);
        return out;
    }
    for name in seen.hosts.keys() {
        let known = match same_host(name, dump_hosts) {
            Match::One(known) => Some(known.to_owned()),
            Match::None => Some(name.clone()),
            Match::Several => {
                notes.push(format!(
                    "{} names host {name}, which may be any of several hosts of the dumps: say which with --trace HOST={}.",
                    file.path, file.path
                ));
                None
            }
        };
        out.known_by = KnownBy::Rows;
        out.named.insert(name.clone(), known);
    }
    if seen.without_host > 0 {
        let by_name = named_by_path(&file.path, dump_hosts);
        if out.named.is_empty() {
            out.known_by = match (by_name, dump_hosts.is_empty()) {
                (Match::One(_), _) => KnownBy::Name,
                (_, true) => KnownBy::Name,
                _ => KnownBy::Unknown,
            };
        }
        out.unnamed = match by_name {
            Match::One(known) => Some(known.to_owned()),
            // Without dumps a name is only a name, and the file's own is as good as any.
            _ if dump_hosts.is_empty() => Some(stem(&file.path)),
            Match::None => {
                notes.push(format!(
                    "{} names no host, and neither does its path: it isn't joined with the dumps. Say which with --trace HOST={}.",
                    file.path, file.path
                ));
                None
            }
            Match::Several => {
                notes.push(format!(
                    "{} may be of any of several hosts by its path: it isn't joined with the dumps. Say which with --trace HOST={}.",
                    file.path, file.path
                ));
                None
            }
        };
    }
    out
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Match<'a> {
    None,
    One(&'a str),
    Several,
}

fn one<'a>(mut found: impl Iterator<Item = &'a str>) -> Match<'a> {
    match (found.next(), found.next()) {
        (None, _) => Match::None,
        (Some(host), None) => Match::One(host),
        (Some(_), Some(_)) => Match::Several,
    }
}

/// The host of the dumps that a name means: itself, else itself in another case, else the one whose name without domain is the same.
fn same_host<'a>(name: &str, hosts: &BTreeSet<&'a str>) -> Match<'a> {
    let ways: [&dyn Fn(&str) -> bool; 3] = [
        &|host| host == name,
        &|host| host.eq_ignore_ascii_case(name),
        &|host| alike(host, name),
    ];
    for way in ways {
        match one(hosts.iter().copied().filter(|host| way(host))) {
            Match::None => {}
            found => return found,
        }
    }
    Match::None
}

/// Whether two names are of one host whatever their case, and where only one has a domain. Two different domains are two different hosts.
pub(super) fn alike(a: &str, b: &str) -> bool {
    let domains = a.contains('.') && b.contains('.');
    a.eq_ignore_ascii_case(b) || (!domains && short(a) == short(b))
}

/// The host of the dumps whose name stands in the file's name, or else in that of the nearest folder; of several, one that holds all
/// the others.
fn named_by_path<'a>(path: &str, hosts: &BTreeSet<&'a str>) -> Match<'a> {
    for part in path.rsplit('/') {
        let part = part.to_ascii_lowercase();
        let found: Vec<&str> = hosts
            .iter()
            .copied()
            .filter(|host| {
                holds_word(&part, &host.to_ascii_lowercase()) || holds_word(&part, &short(host))
            })
            .collect();
        let Some(longest) = found.iter().copied().max_by_key(|host| short(host).len()) else {
            continue;
        };
        let rivals = found
            .iter()
            .filter(|host| **host != longest && !holds_word(&short(longest), &short(host)))
            .count();
        let twins = found
            .iter()
            .filter(|host| short(host) == short(longest))
            .count();
        // The full name decides between hosts of one short name.
        if twins > 1 {
            return one(found.iter().copied().filter(|host| {
                holds_word(&part, &host.to_ascii_lowercase()) && host.contains('.')
            }));
        }
        return if rivals == 0 {
            Match::One(longest)
        } else {
            Match::Several
        };
    }
    Match::None
}

/// Whether a word stands in a text, and not as a part of a longer word or number.
fn holds_word(text: &str, word: &str) -> bool {
    if word.is_empty() {
        return false;
    }
    text.match_indices(word).any(|(at, _)| {
        let before = text[..at].chars().next_back();
        let after = text[at + word.len()..].chars().next();
        !before.is_some_and(char::is_alphanumeric) && !after.is_some_and(char::is_alphanumeric)
    })
}

/// A name without its domain, in small letters. An address has none.
fn short(host: &str) -> String {
    let is_address = host.chars().all(|c| c.is_ascii_digit() || c == '.');
    let name = if is_address {
        host
    } else {
        host.split('.').next().unwrap_or(host)
    };
    name.to_ascii_lowercase()
}

fn stem(path: &str) -> String {
    let name = path.rsplit('/').next().unwrap_or(path);
    name.split_once('.')
        .map_or(name, |(stem, _)| stem)
        .to_owned()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap as Map;

    use nccl_report_ingest::ebpf::TraceSeen;

    use super::*;

    fn file(path: &str, hosts: &[&str], without: u64) -> SourceFile {
        SourceFile {
            path: path.into(),
            bytes: 1,
            records: Map::new(),
            census: Default::default(),
            trace: Some(TraceSeen {
                hosts: hosts.iter().map(|h| ((*h).to_owned(), 1)).collect(),
                without_host: without,
                ..TraceSeen::default()
            }),
            tables: Vec::new(),
        }
    }

    fn host_of(file: &SourceFile, row: Option<&str>, dumps: &[&str]) -> Option<String> {
        let dumps = dumps.iter().copied().collect();
        attribute(&[file], &dumps, &[]).0[0]
            .host(row)
            .map(str::to_owned)
    }

    #[test]
    fn case_and_domain_do_not_matter_and_two_domains_are_two_hosts() {
        for (row, dumps, expected) in [
            ("GPU-001", &["gpu-001", "gpu-002"][..], Some("gpu-001")),
            (
                "gpu-001",
                &["gpu-001.cluster.local"],
                Some("gpu-001.cluster.local"),
            ),
            ("gpu-001.a", &["gpu-001"], Some("gpu-001")),
            ("gpu-001.a", &["gpu-001.b"], Some("gpu-001.a")),
            ("n1", &["n1.a", "n1.b"], None),
            ("10.0.0.1", &["10.0.0.2"], Some("10.0.0.1")),
        ] {
            let got = host_of(&file("x.db", &[row], 0), Some(row), dumps);
            assert_eq!(got.as_deref(), expected, "{row} in {dumps:?}");
        }
    }

    #[test]
    fn a_path_names_whole_words_and_the_nearest_part_decides() {
        for (path, dumps, expected) in [
            (
                "gpu-001-nccl.db",
                &["gpu-001", "gpu-01"][..],
                Some("gpu-001"),
            ),
            ("gpu-10.db", &["gpu-1", "gpu-2"], None),
            ("gpu-2/gpu-1.db", &["gpu-1", "gpu-2"], Some("gpu-1")),
            ("gpu-2/trace.db", &["gpu-1", "gpu-2"], Some("gpu-2")),
            ("a-b.db", &["a", "b"], None),
            ("a-b.db", &["a", "a-b"], Some("a-b")),
            ("n1.a.db", &["n1.a", "n1.b"], Some("n1.a")),
            ("n1.db", &["n1.a", "n1.b"], None),
            ("trace.db", &["only-host"], None),
        ] {
            let got = host_of(&file(path, &[], 1), None, dumps);
            assert_eq!(got.as_deref(), expected, "{path} in {dumps:?}");
        }
    }

    #[test]
    fn the_users_word_comes_first() {
        let (a, b) = (file("n/a.db", &["x"], 0), file("m/a.db", &["y"], 0));
        let dumps = ["gpu-1"].into();
        let given = [("GPU-1".to_owned(), PathBuf::from("/data/n/a.db"))];
        let (got, notes) = attribute(&[&a, &b], &dumps, &given);
        assert_eq!(
            (got[0].host(Some("x")), got[1].host(Some("y"))),
            (Some("gpu-1"), Some("y"))
        );
        assert!(notes.is_empty());
    }

    #[test]
    fn names_of_one_host_differ_in_case_and_by_a_domain() {
        assert!(alike("GPU-1", "gpu-1.a") && alike("n.A", "N.a") && !alike("n.a", "n.b"));
        assert!(!alike("10.0.0.1", "10.0.0.2") && !alike("gpu-1", "gpu-2"));
    }
}
