//! Parquet's hybrid of run lengths and packed bits, the encoding of definition levels and of dictionary keys
//! (<https://parquet.apache.org/docs/file-format/data-pages/encodings/>, "RLE/Bit-Packing Hybrid"), written from runs: what is equal in
//! thousands of neighbouring rows costs as much as in one.

/// Values that are packed together.
const GROUP: usize = 8;

/// Encodes values of `width` bits, at most 16.
#[derive(Debug)]
pub(super) struct Hybrid {
    out: Vec<u8>,
    width: u32,
    /// Values that no run takes, up to whole groups.
    loose: Vec<u32>,
}

impl Hybrid {
    /// Appends to `out`.
    pub(super) fn new(out: Vec<u8>, width: u32) -> Self {
        debug_assert!(width <= 16);
        Self {
            out,
            width,
            loose: Vec::new(),
        }
    }

    /// The same value so many times.
    pub(super) fn run(&mut self, value: u32, times: usize) {
        let missing = self.loose.len().wrapping_neg() % GROUP;
        let filling = missing.min(times);
        let left = times - filling;
        self.loose.extend(std::iter::repeat_n(value, filling));
        if left < GROUP {
            self.loose.extend(std::iter::repeat_n(value, left));
            return;
        }
        self.pack();
        self.varint((left as u64) << 1);
        let bytes = self.width.div_ceil(8) as usize;
        self.out.extend_from_slice(&value.to_le_bytes()[..bytes]);
    }

    /// Writes the loose values; what a group lacks at the very end is zeros.
    fn pack(&mut self) {
        let groups = self.loose.len().div_ceil(GROUP);
        if groups == 0 {
            return;
        }
        self.varint((groups as u64) << 1 | 1);
        for group in self.loose.chunks(GROUP) {
            let bits = (0..).zip(group).fold(0_u128, |bits, (place, &value)| {
                bits | u128::from(value) << (place * self.width)
            });
            self.out
                .extend_from_slice(&bits.to_le_bytes()[..self.width as usize]);
        }
        self.loose.clear();
    }

    fn varint(&mut self, mut number: u64) {
        while number >= 0x80 {
            self.out.push(number as u8 | 0x80);
            number >>= 7;
        }
        self.out.push(number as u8);
    }

    /// All of it.
    pub(super) fn finish(mut self) -> Vec<u8> {
        self.pack();
        self.out
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Reads what the format's description says, a bit at a time.
    fn decode(mut bytes: &[u8], width: u32, count: usize) -> Vec<u32> {
        let mut values = Vec::new();
        while values.len() < count {
            let mut header = 0_u64;
            for shift in (0..).step_by(7) {
                let (&byte, rest) = bytes.split_first().expect("a header");
                bytes = rest;
                header |= u64::from(byte & 0x7f) << shift;
                if byte < 0x80 {
                    break;
                }
            }
            let number = (header >> 1) as usize;
            if header & 1 == 0 {
                let (value, rest) = bytes.split_at(width.div_ceil(8) as usize);
                let value = value.iter().rev().fold(0, |v, &b| v << 8 | u32::from(b));
                values.extend(std::iter::repeat_n(value, number));
                bytes = rest;
            } else {
                let (packed, rest) = bytes.split_at(number * width as usize);
                let bit = |at: usize| u32::from(packed[at / 8] >> (at % 8) & 1);
                for place in 0..8 * number {
                    let bits = (0..width as usize).map(|b| bit(place * width as usize + b) << b);
                    values.push(bits.sum());
                }
                bytes = rest;
            }
        }
        assert!(bytes.is_empty());
        assert!(values[count..].iter().all(|&v| v == 0) && values.len() < count + 8);
        values.truncate(count);
        values
    }

    proptest! {
        #[test]
        fn gives_back_what_went_in(
            width in 0_u32..=16,
            runs in prop::collection::vec((any::<u32>(), prop_oneof![1_usize..4, 1_usize..40, 1_usize..20_000]), 0..60),
        ) {
            let mask = (1_u32 << width) - 1;
            let mut hybrid = Hybrid::new(Vec::new(), width);
            let mut expected = Vec::new();
            for (value, times) in runs {
                hybrid.run(value & mask, times);
                expected.extend(std::iter::repeat_n(value & mask, times));
            }
            prop_assert_eq!(decode(&hybrid.finish(), width, expected.len()), expected);
        }
    }

    #[test]
    fn a_constant_is_a_few_bytes() {
        let mut hybrid = Hybrid::new(Vec::new(), 3);
        for _ in 0..1000 {
            hybrid.run(5, 16);
        }
        assert!(hybrid.finish().len() <= 3000);
        let mut hybrid = Hybrid::new(Vec::new(), 3);
        hybrid.run(5, 16_000);
        // 16,000 << 1 = 32,000 = 0b1_1111010_0000000, and the value.
        assert_eq!(hybrid.finish(), [0x80, 0xfa, 0x01, 5]);
    }
}
