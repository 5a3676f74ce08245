//! Numbers that a record can't do without, and numbers that it can.

use super::rejection::Rejection;
use crate::inspector::parse::Number;

/// 2^64 and 2^63 as floats, where the conversion of larger ones would saturate.
const TWO_POW_64: f64 = 18_446_744_073_709_551_616.0;
const TWO_POW_63: f64 = 9_223_372_036_854_775_808.0;

/// A whole number that must be there, from 0 to `max`; `above` says why more can't be true.
pub(super) fn whole(
    key: &'static str,
    number: Number,
    max: u64,
    above: &'static str,
) -> Result<u64, Rejection> {
    let value = match number {
        Number::Unsigned(value) => value,
        Number::Absent => return Err(Rejection::missing(key)),
        Number::Wrong => return Err(Rejection::wrong_type(key, "a number")),
        Number::Negative(_) => return Err(Rejection::implausible(key, number, "negative")),
        Number::Float(value) => float_to_whole(key, value)?,
    };
    if value > max {
        return Err(Rejection::implausible(key, number, above));
    }
    Ok(value)
}

fn float_to_whole(key: &'static str, value: f64) -> Result<u64, Rejection> {
    let refuse = |why| Err(Rejection::implausible(key, Number::Float(value), why));
    if !value.is_finite() {
        refuse("not a number")
    } else if value < 0.0 {
        refuse("negative")
    } else if value >= TWO_POW_64 {
        refuse("beyond 64 bits")
    } else if value.fract() != 0.0 {
        refuse("not a whole number")
    } else {
        Ok(value as u64)
    }
}

/// The same, where the key may be absent.
pub(super) fn optional_whole(key: &'static str, number: Number) -> Result<Option<u64>, Rejection> {
    match number {
        Number::Absent => Ok(None),
        _ => whole(key, number, i64::MAX as u64, "beyond 63 bits").map(Some),
    }
}

/// A signed whole number where there is a sensible one.
pub(super) fn signed(number: Number) -> Option<i64> {
    match number {
        Number::Unsigned(value) => i64::try_from(value).ok(),
        Number::Negative(value) => Some(value),
        Number::Float(value)
            if value.fract() == 0.0 && (-TWO_POW_63..TWO_POW_63).contains(&value) =>
        {
            Some(value as i64)
        }
        Number::Float(_) | Number::Absent | Number::Wrong => None,
    }
}

/// A whole number from 0 to 2^63 − 1 where there is a sensible one.
pub(super) fn unsigned(number: Number) -> Option<u64> {
    signed(number).and_then(|value| u64::try_from(value).ok())
}

/// A time stamp; 0 is the writer's word for "not observed".
pub(super) fn stamp(number: Number) -> Option<i64> {
    signed(number).filter(|&value| value > 0)
}

/// A finite number from 0 on, where there is one.
pub(super) fn amount(number: Number) -> Option<f64> {
    let value = match number {
        Number::Unsigned(value) => value as f64,
        Number::Float(value) => value,
        Number::Negative(_) | Number::Absent | Number::Wrong => return None,
    };
    (value.is_finite() && value >= 0.0).then_some(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn floats_pass_where_they_are_whole() {
        let at_most = |number| whole("rank", number, 100, "too large");
        assert_eq!(at_most(Number::Float(7.0)).ok(), Some(7));
        for refused in [7.5, -1.0, f64::NAN, f64::INFINITY, 1e300, 101.0] {
            assert!(at_most(Number::Float(refused)).is_err(), "{refused}");
        }
        assert_eq!(
            signed(Number::Float(-9_223_372_036_854_775_808.0)),
            Some(i64::MIN)
        );
        assert_eq!(signed(Number::Float(9_223_372_036_854_775_808.0)), None);
        assert_eq!(signed(Number::Unsigned(u64::MAX)), None);
    }

    #[test]
    fn unobserved_stamps_are_absent() {
        assert_eq!(stamp(Number::Unsigned(0)), None);
        assert_eq!(
            stamp(Number::Unsigned(1_795_953_273_932_494)),
            Some(1_795_953_273_932_494)
        );
        assert_eq!(amount(Number::Float(-0.5)), None);
        assert_eq!(amount(Number::Float(f64::NAN)), None);
    }
}
