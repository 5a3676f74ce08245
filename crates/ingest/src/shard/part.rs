//! Which share of the files a machine reads, and what its dataset says of it.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::{Xxh3, xxh3_64};

use crate::Fingerprint;

/// A share of a job's files, written `index/of`: `0/4` to `3/4`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Shard {
    index: u32,
    of: u32,
}

impl Shard {
    /// The share numbered `index`, from 0, of `of`.
    ///
    /// # Errors
    /// In words, where there is no such share.
    pub fn new(index: u32, of: u32) -> Result<Self, String> {
        match (index, of) {
            (_, 0) => Err("there must be at least one shard".to_owned()),
            (i, n) if i >= n => Err(format!(
                "shards count from 0: of {n}, the last is {}",
                n - 1
            )),
            _ => Ok(Self { index, of }),
        }
    }

    /// Its number, from 0.
    #[must_use]
    pub const fn index(self) -> u32 {
        self.index
    }

    /// How many there are.
    #[must_use]
    pub const fn of(self) -> u32 {
        self.of
    }

    /// What the folder of its dataset is called.
    #[must_use]
    pub fn folder(self) -> String {
        format!("{}-of-{}", self.index, self.of)
    }

    /// Places of the files that fall to this share, ascending. Names are dealt out in the order of their hashes: shares differ by one
    /// file at most, and files that are large for the same reason (the first rank of each host) don't meet in one share.
    pub(crate) fn places(self, names: &[&str]) -> Vec<usize> {
        let mut order: Vec<usize> = (0..names.len()).collect();
        order.sort_by_cached_key(|&i| (xxh3_64(names[i].as_bytes()), names[i]));
        let mine = order.into_iter().skip(self.index as usize);
        let mut mine: Vec<usize> = mine.step_by(self.of as usize).collect();
        mine.sort_unstable();
        mine
    }
}

impl fmt::Display for Shard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.index, self.of)
    }
}

impl FromStr for Shard {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let numbers = text
            .split_once('/')
            .and_then(|(i, n)| Some((i.trim().parse().ok()?, n.trim().parse().ok()?)));
        match numbers {
            Some((index, of)) => Self::new(index, of),
            None => Err("INDEX/COUNT is wanted, such as 0/16".to_owned()),
        }
    }
}

/// What a part's manifest says beside its files.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Part {
    pub(crate) shard: Shard,
    /// What the whole job is called.
    pub(crate) job: String,
    /// Files of the whole job, copies aside.
    pub(crate) files: u64,
    /// Their names.
    pub(crate) listing: Fingerprint,
    /// Copies among all files of the job.
    pub(crate) copies: Vec<NamedCopy>,
}

/// That a file is a copy of another.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(crate) struct NamedCopy {
    pub(crate) name: String,
    pub(crate) of: String,
    pub(crate) whole: bool,
}

/// By what parts of one job know each other: the names of all files that are used, in their order.
pub(crate) fn listing(names: &[&str]) -> Fingerprint {
    let mut hash = Xxh3::new();
    for name in names {
        hash.update(&(name.len() as u64).to_le_bytes());
        hash.update(name.as_bytes());
    }
    Fingerprint::from(hash.digest128())
}
