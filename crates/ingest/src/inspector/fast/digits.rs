//! Digits, eight at a time.

/// How many of the bytes are digits before the first that isn't, and the number that they are.
#[inline]
pub(super) fn eight(bytes: [u8; 8]) -> (usize, u64) {
    const ONES: u64 = 0x0101_0101_0101_0101;
    // A digit becomes its value; anything else has a high half, or gets one when six is added. Carries only reach bytes behind the first of those.
    let values = u64::from_le_bytes(bytes) ^ (ONES * 0x30);
    let others = (values.wrapping_add(ONES * 6) | values) & (ONES * 0xf0);
    let digits = others.trailing_zeros() as usize / 8;
    if digits == 0 {
        return (0, 0);
    }
    // Fewer than eight get zeros in front. Then pairs, fours and all eight are put together (Lemire, "Quickly parsing eight digits", 2018).
    let eight = values << (64 - 8 * digits);
    let pairs = eight.wrapping_mul(10).wrapping_add(eight >> 8);
    const HALF: u64 = 0x0000_00ff_0000_00ff;
    let high = (pairs & HALF).wrapping_mul(100 + (1_000_000 << 32));
    let low = (pairs >> 16 & HALF).wrapping_mul(1 + (10_000 << 32));
    (digits, high.wrapping_add(low) >> 32)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn as_one_by_one(bytes in prop::array::uniform8(prop_oneof![4 => b'0'..=b'9', 1 => any::<u8>()])) {
            let digits = bytes.iter().take_while(|b| b.is_ascii_digit());
            let number = digits.clone().fold(0, |n, b| 10 * n + u64::from(b - b'0'));
            prop_assert_eq!(eight(bytes), (digits.count(), number));
        }
    }
}
