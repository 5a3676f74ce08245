//! Where a value's key is found: open addressing over keys alone, the values lie elsewhere.

const EMPTY: u32 = u32::MAX;

/// A power of two of places, each a key or [`EMPTY`].
#[derive(Debug, Default)]
pub(super) struct Slots {
    places: Vec<u32>,
    keys: usize,
}

impl Slots {
    /// The key for which `is` holds among those of this hash.
    #[inline]
    pub(super) fn find(&self, hash: u64, is: impl Fn(usize) -> bool) -> Option<u32> {
        let mask = self.places.len().checked_sub(1)?;
        let mut place = hash as usize & mask;
        loop {
            match self.places[place] {
                EMPTY => return None,
                key if is(key as usize) => return Some(key),
                _ => place = (place + 1) & mask,
            }
        }
    }

    /// Adds the next key, which isn't there, and gives it; `hash_of` tells the hash of each.
    pub(super) fn add(&mut self, hash_of: impl Fn(usize) -> u64) -> u32 {
        let key = self.keys;
        self.keys += 1;
        if 2 * self.keys > self.places.len() {
            self.rebuild((4 * self.keys).next_power_of_two().max(16), hash_of);
        } else {
            self.put(key, hash_of(key));
        }
        key as u32
    }

    /// Forgets all but the first so many.
    pub(super) fn truncate(&mut self, keys: usize, hash_of: impl Fn(usize) -> u64) {
        self.keys = keys;
        self.rebuild(self.places.len(), hash_of);
    }

    fn rebuild(&mut self, places: usize, hash_of: impl Fn(usize) -> u64) {
        self.places = vec![EMPTY; places];
        for key in 0..self.keys {
            self.put(key, hash_of(key));
        }
    }

    fn put(&mut self, key: usize, hash: u64) {
        let mask = self.places.len() - 1;
        let mut place = hash as usize & mask;
        while self.places[place] != EMPTY {
            place = (place + 1) & mask;
        }
        self.places[place] = key as u32;
    }
}
