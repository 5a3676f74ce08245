//! The payload of an operation in the plugin's own order and spelling.

use std::borrow::Cow;

use super::digits::eight;
use super::trace::{Spare, traces};
use crate::inspector::marker::Kind;
use crate::inspector::parse::{Number, RawOperation, Text};

/// An operation of either kind.
#[derive(Debug, Clone)]
pub(in crate::inspector) enum Payload<'a> {
    Collective(RawOperation<'a, false>),
    PointToPoint(RawOperation<'a, true>),
}

impl Default for Payload<'_> {
    fn default() -> Self {
        Self::Collective(RawOperation::default())
    }
}

impl<'a> From<RawOperation<'a, false>> for Payload<'a> {
    fn from(raw: RawOperation<'a, false>) -> Self {
        Self::Collective(raw)
    }
}

impl<'a> From<RawOperation<'a, true>> for Payload<'a> {
    fn from(raw: RawOperation<'a, true>) -> Self {
        Self::PointToPoint(raw)
    }
}

impl Payload<'_> {
    pub(in crate::inspector) fn kind(&self) -> Kind {
        match self {
            Self::Collective(_) => Kind::Collective,
            Self::PointToPoint(_) => Kind::PointToPoint,
        }
    }
}

/// Reads `"coll_perf":{…}}` or `"p2p_perf":{…}}` to the end of the line; `None` for any other spelling, and then `into` holds nothing of use.
#[inline]
pub(in crate::inspector) fn payload<'a>(
    text: &'a [u8],
    into: &mut Payload<'a>,
    spare: &mut Spare,
) -> Option<()> {
    if let Some(rest) = text.strip_prefix(b"\"coll_perf\":{\"coll\":") {
        *into = Payload::default();
        match into {
            Payload::Collective(raw) => collective(Scan(rest), raw, spare),
            Payload::PointToPoint(_) => None,
        }
    } else {
        let rest = text.strip_prefix(b"\"p2p_perf\":{\"p2p\":")?;
        let mut raw = RawOperation::default();
        point_to_point(Scan(rest), &mut raw, spare)?;
        *into = Payload::PointToPoint(raw);
        Some(())
    }
}

#[inline]
fn collective<'a>(
    mut scan: Scan<'a>,
    raw: &mut RawOperation<'a, false>,
    spare: &mut Spare,
) -> Option<()> {
    raw.function = scan.text()?;
    if scan.optional(b",\"coll_algo\":") {
        raw.algo = scan.text()?;
        scan.literal(b",\"coll_proto\":")?;
        raw.proto = scan.text()?;
    }
    scan.literal(b",\"coll_sn\":")?;
    raw.sequence_number = scan.whole()?;
    scan.literal(b",\"coll_msg_size_bytes\":")?;
    raw.size_bytes = scan.whole()?;
    scan.literal(b",\"coll_exec_time_us\":")?;
    raw.exec_time_us = scan.whole()?;
    scan.literal(b",\"coll_timing_source\":")?;
    raw.timing_source = scan.text()?;
    scan.literal(b",\"coll_algobw_gbs\":")?;
    raw.algobw_gbs = scan.six_decimals()?;
    scan.literal(b",\"coll_busbw_gbs\":")?;
    raw.busbw_gbs = scan.six_decimals()?;
    if scan.0 == b"}}" {
        return Some(());
    }
    raw.trace = Some(traces::<false>(scan, spare)?);
    Some(())
}

#[inline]
fn point_to_point<'a>(
    mut scan: Scan<'a>,
    raw: &mut RawOperation<'a, true>,
    spare: &mut Spare,
) -> Option<()> {
    raw.function = scan.text()?;
    scan.literal(b",\"p2p_sn\":")?;
    raw.sequence_number = scan.whole()?;
    scan.literal(b",\"p2p_peer\":")?;
    raw.peer = scan.whole()?;
    scan.literal(b",\"p2p_msg_size_bytes\":")?;
    raw.size_bytes = scan.whole()?;
    scan.literal(b",\"p2p_exec_time_us\":")?;
    raw.exec_time_us = scan.whole()?;
    scan.literal(b",\"p2p_timing_source\":")?;
    raw.timing_source = scan.text()?;
    scan.literal(b",\"p2p_algobw_gbs\":")?;
    raw.algobw_gbs = scan.six_decimals()?;
    scan.literal(b",\"p2p_busbw_gbs\":")?;
    raw.busbw_gbs = scan.six_decimals()?;
    if scan.0 == b"}}" {
        return Some(());
    }
    raw.trace = Some(traces::<true>(scan, spare)?);
    Some(())
}

/// Powers of ten.
const TENS: [u64; 9] = [
    1,
    10,
    100,
    1_000,
    10_000,
    100_000,
    1_000_000,
    10_000_000,
    100_000_000,
];

/// The words that nearly all lines have, which needn't be checked to be text.
#[inline]
fn word(text: &[u8]) -> Option<&'static str> {
    Some(match text {
        b"AllReduce" => "AllReduce",
        b"AllGather" => "AllGather",
        b"ReduceScatter" => "ReduceScatter",
        b"Broadcast" => "Broadcast",
        b"Reduce" => "Reduce",
        b"Send" => "Send",
        b"Recv" => "Recv",
        b"kernel_gpu" => "kernel_gpu",
        b"kernel_cpu" => "kernel_cpu",
        b"collective_cpu" => "collective_cpu",
        _ => return None,
    })
}

/// What is left of the line.
pub(super) struct Scan<'a>(pub(super) &'a [u8]);

impl<'a> Scan<'a> {
    #[inline]
    pub(super) fn literal(&mut self, expected: &[u8]) -> Option<()> {
        self.0 = self.0.strip_prefix(expected)?;
        Some(())
    }

    #[inline]
    pub(super) fn optional(&mut self, expected: &[u8]) -> bool {
        self.literal(expected).is_some()
    }

    /// A string of letters, digits and underscores: nothing escaped, nothing that could be broken.
    #[inline]
    fn text(&mut self) -> Option<Text<'a>> {
        let rest = self.0.strip_prefix(b"\"")?;
        let length = rest
            .iter()
            .position(|b| !(b.is_ascii_alphanumeric() || *b == b'_'))?;
        let (text, rest) = rest.split_at(length);
        self.0 = rest.strip_prefix(b"\"")?;
        let text = match word(text) {
            Some(word) => word,
            None => std::str::from_utf8(text).ok()?,
        };
        Some(Text::Value(Cow::Borrowed(text)))
    }

    /// Up to 18 digits, as JSON has them: no sign, no zero in front.
    #[inline]
    pub(super) fn digits(&mut self) -> Option<u64> {
        let mut value = 0u64;
        let mut length = 0;
        while let Some(bytes) = self.0[length..].first_chunk() {
            let (digits, number) = eight(*bytes);
            if length + digits > 18 {
                return None;
            }
            value = value * TENS[digits] + number;
            length += digits;
            // A stamp has sixteen: what follows the second eight is seldom a digit.
            if digits < 8 || !self.0.get(length).is_some_and(u8::is_ascii_digit) {
                break;
            }
        }
        // The last few bytes of a line.
        if length % 8 == 0 && self.0.len() - length < 8 {
            for digit in self.0[length..].iter().map(|b| b.wrapping_sub(b'0')) {
                if digit > 9 {
                    break;
                }
                if length == 18 {
                    return None;
                }
                value = value * 10 + u64::from(digit);
                length += 1;
            }
        }
        if length == 0 || (length > 1 && self.0[0] == b'0') {
            return None;
        }
        self.0 = &self.0[length..];
        Some(value)
    }

    #[inline]
    pub(super) fn whole(&mut self) -> Option<Number> {
        self.digits().map(Number::Unsigned)
    }

    /// `%lf` as C prints it. Both numbers of the quotient are exact up to 2^53, so that it is the nearest float to the decimal.
    #[inline]
    fn six_decimals(&mut self) -> Option<Number> {
        let whole = self.digits()?;
        let (point, rest) = self.0.split_at_checked(7)?;
        let decimals = point.strip_prefix(b".")?;
        let mut padded = [0; 8];
        padded[..6].copy_from_slice(decimals);
        let (6, decimals) = eight(padded) else {
            return None;
        };
        let millionths = whole.checked_mul(1_000_000)?.checked_add(decimals)?;
        if millionths >= 1 << 53 {
            return None;
        }
        self.0 = rest;
        Some(Number::Float(millionths as f64 / 1e6))
    }
}
