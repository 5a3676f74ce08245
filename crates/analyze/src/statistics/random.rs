//! Random numbers that are the same in every run.

/// `SplitMix64` (Steele, Lea and Flood, 2014): passes the usual tests, and its whole state is one number.
#[derive(Debug, Clone)]
pub(crate) struct Random(u64);

impl Random {
    /// A generator for a purpose that `seed` names.
    pub(crate) const fn seeded(seed: u64) -> Self {
        Self(seed)
    }

    /// Any number.
    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number below `n`, which is above zero. The bias of n / 2⁶⁴ is nothing here.
    pub(crate) fn below(&mut self, n: usize) -> usize {
        ((u128::from(self.next()) * n as u128) >> 64) as usize
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The first numbers of the reference implementation with seed 1234567 (Vigna's splitmix64.c).
    #[test]
    fn the_sequence_is_that_of_the_reference() {
        let mut r = Random::seeded(1_234_567);
        assert_eq!(
            [r.next(), r.next(), r.next()],
            [
                6_457_827_717_110_365_317,
                3_203_168_211_198_807_973,
                9_817_491_932_198_370_423
            ]
        );
    }

    #[test]
    fn numbers_below_are_below_and_reach_everywhere() {
        let mut r = Random::seeded(1);
        let mut seen = [0; 7];
        (0..7_000).for_each(|_| seen[r.below(7)] += 1);
        assert!(seen.iter().all(|&n| (850..1_150).contains(&n)), "{seen:?}");
    }
}
