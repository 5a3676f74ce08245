//! Times of Send and Recv in the order of the program.
//!
//! `p2p_sn` counts a rank's Sends and Receives, and counts those that left no record as well. Ranks of the same stage in different
//! replicas of a pipeline run the same program, so under the same number they do the same: there they can be compared one by one,
//! without any clock and however late their dumps were written.

/// Blocks that a rank's numbers are cut into at most: fine enough that each step of a short run has its own, and 8 KiB a rank.
const BLOCKS: usize = 512;

/// Sends and Receives whose numbers follow each other.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(crate) struct Block {
    /// Their time, µs.
    pub(crate) micros: f64,
    /// How many left a record.
    pub(crate) operations: u32,
    /// Stretch of time of the first.
    pub(crate) stretch: u32,
}

impl Block {
    fn merge(&mut self, other: Self) {
        if self.operations == 0 {
            self.stretch = other.stretch;
        }
        self.micros += other.micros;
        self.operations = self.operations.saturating_add(other.operations);
    }
}

/// A rank's Sends and Receives in one communicator, in blocks of 2^`power` numbers.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct InOrder {
    power: u32,
    blocks: Vec<Block>,
}

impl InOrder {
    /// Adds a record.
    pub(crate) fn add(&mut self, number: i64, micros: f64, stretch: usize) {
        let Ok(number) = u64::try_from(number) else {
            return;
        };
        while (number >> self.power) >= BLOCKS as u64 {
            self.blocks = self.coarser();
            self.power += 1;
        }
        let at = (number >> self.power) as usize;
        if at >= self.blocks.len() {
            self.blocks.resize(at + 1, Block::default());
        }
        self.blocks[at].merge(Block {
            micros,
            operations: 1,
            stretch: u32::try_from(stretch).unwrap_or(u32::MAX),
        });
    }

    fn coarser(&self) -> Vec<Block> {
        self.blocks
            .chunks(2)
            .map(|pair| {
                let mut sum = Block::default();
                pair.iter().for_each(|b| sum.merge(*b));
                sum
            })
            .collect()
    }

    /// How long its blocks are: 2 to this power.
    pub(crate) fn power(&self) -> u32 {
        self.power
    }

    /// In blocks of 2^`power` numbers, if that is no less than they have.
    pub(crate) fn at(&self, power: u32) -> Self {
        let mut out = self.clone();
        while out.power < power {
            out.blocks = out.coarser();
            out.power += 1;
        }
        out
    }

    /// The blocks, from number 0 on.
    pub(crate) fn blocks(&self) -> &[Block] {
        &self.blocks
    }

    /// Adds what another part of the same records showed.
    pub(crate) fn merge(&mut self, other: &Self) {
        let power = self.power.max(other.power);
        let other = other.at(power);
        *self = self.at(power);
        if self.blocks.len() < other.blocks.len() {
            self.blocks.resize(other.blocks.len(), Block::default());
        }
        for (mine, theirs) in self.blocks.iter_mut().zip(other.blocks) {
            mine.merge(theirs);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Numbers 0 to 1023 of 10 µs each: 512 blocks of two. The same in two parts, of which the first knows small numbers only.
    #[test]
    fn blocks_grow_with_the_numbers() {
        let mut all = InOrder::default();
        let mut parts = [InOrder::default(), InOrder::default()];
        for number in 0..1024 {
            let stretch = number as usize / 100;
            all.add(number, 10.0, stretch);
            parts[usize::from(number >= 300)].add(number, 10.0, stretch);
        }
        assert_eq!((all.power(), all.blocks().len()), (1, 512));
        let of_two = |stretch| Block {
            micros: 20.0,
            operations: 2,
            stretch,
        };
        assert_eq!((all.blocks()[0], all.blocks()[150]), (of_two(0), of_two(3)));
        assert_eq!((parts[0].power(), parts[1].power()), (0, 1));
        let [mut first, second] = parts;
        first.merge(&second);
        assert_eq!(first, all);
        // Four at a time: 256 blocks.
        assert_eq!(all.at(2).blocks().len(), 256);
        assert_eq!(all.at(2).blocks()[25].operations, 4);
    }

    #[test]
    fn numbers_that_cannot_be_are_no_trouble() {
        let mut order = InOrder::default();
        order.add(-1, 1.0, 0);
        assert!(order.blocks().is_empty());
        order.add(i64::MAX, 1.0, 0);
        assert_eq!(order.blocks().iter().map(|b| b.operations).sum::<u32>(), 1);
    }
}
