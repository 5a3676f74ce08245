//! Names and the small numbers that stand for them.

use std::collections::HashMap;

/// Where a record comes from: a rank of a communicator, on a process.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct EndpointKey {
    /// The communicator's id, as written.
    pub(crate) id: String,
    /// Its name, if it has one.
    pub(crate) name: Option<String>,
    /// Its size.
    pub(crate) n_ranks: u32,
    /// Its nodes.
    pub(crate) nnodes: u32,
    /// The rank in it.
    pub(crate) rank: u32,
    /// The process's host.
    pub(crate) host: String,
    /// The process's id on that host.
    pub(crate) pid: i64,
}

/// Gives each distinct value a number, in order of first appearance.
#[derive(Debug, Clone)]
pub(crate) struct Registry<K> {
    index: HashMap<K, u32>,
    items: Vec<K>,
}

impl<K> Default for Registry<K> {
    fn default() -> Self {
        Self {
            index: HashMap::new(),
            items: Vec::new(),
        }
    }
}

impl<K: Clone + Eq + std::hash::Hash> Registry<K> {
    /// The number of `key`, new if it is.
    pub(crate) fn intern(&mut self, key: &K) -> u32 {
        if let Some(&i) = self.index.get(key) {
            return i;
        }
        let i = u32::try_from(self.items.len()).unwrap_or(u32::MAX);
        self.index.insert(key.clone(), i);
        self.items.push(key.clone());
        i
    }

    /// The number of `key`, if it has one.
    pub(crate) fn get(&self, key: &K) -> Option<u32> {
        self.index.get(key).copied()
    }

    /// All values, by number.
    pub(crate) fn items(&self) -> &[K] {
        &self.items
    }
}

impl Registry<String> {
    /// The number of a name, if it has one, without making a text of it.
    pub(crate) fn find(&self, name: &str) -> Option<u32> {
        self.index.get(name).copied()
    }
}
