//! Why a line gives no record.

use std::fmt;

use crate::inspector::parse::Number;

/// What a rejected line counts under.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(in crate::inspector) enum Reason {
    /// Not JSON, or JSON that isn't an object.
    InvalidJson,
    /// The last line of a file, cut.
    Truncated,
    /// Bytes that are no text, in a place that matters.
    InvalidUtf8,
    /// A key that the record can't do without is missing or holds the wrong type.
    MissingField,
    /// A line that takes its context from a marker, and the marker isn't there.
    Orphaned,
    /// A value that can't be true.
    Implausible,
    /// Longer than what is held in memory.
    TooLong,
}

impl Reason {
    pub(in crate::inspector) const ALL: [Self; 7] = [
        Self::InvalidJson,
        Self::Truncated,
        Self::InvalidUtf8,
        Self::MissingField,
        Self::Orphaned,
        Self::Implausible,
        Self::TooLong,
    ];

    /// The name in reports.
    pub(in crate::inspector) const fn name(self) -> &'static str {
        match self {
            Self::InvalidJson => "invalid_json",
            Self::Truncated => "truncated",
            Self::InvalidUtf8 => "invalid_utf8",
            Self::MissingField => "missing_field",
            Self::Orphaned => "orphaned",
            Self::Implausible => "implausible",
            Self::TooLong => "too_long",
        }
    }
}

/// A refused line. Words are made of it only for the few that are shown.
#[derive(Debug, Clone, PartialEq)]
pub(in crate::inspector) struct Rejection {
    pub(in crate::inspector) reason: Reason,
    pub(in crate::inspector) detail: Detail,
}

/// What was wrong.
#[derive(Debug, Clone, PartialEq)]
pub(in crate::inspector) enum Detail {
    /// Words.
    Words(&'static str),
    /// No such key.
    Missing(&'static str),
    /// The key holds something else than the words say.
    WrongType(&'static str, &'static str),
    /// The number under the key, and why it can't be true.
    Number(&'static str, Number, &'static str),
    /// Two numbers that contradict each other.
    Contradiction(&'static str, u64, &'static str, u64),
}

impl fmt::Display for Detail {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Words(words) => f.write_str(words),
            Self::Missing(key) => write!(f, "{key} is missing"),
            Self::WrongType(key, expected) => write!(f, "{key} isn't {expected}"),
            Self::Number(key, number, why) => match number {
                Number::Unsigned(value) => write!(f, "{key} is {value}: {why}"),
                Number::Negative(value) => write!(f, "{key} is {value}: {why}"),
                Number::Float(value) => write!(f, "{key} is {value:?}: {why}"),
                Number::Absent | Number::Wrong => write!(f, "{key}: {why}"),
            },
            Self::Contradiction(key, value, other, limit) => {
                write!(f, "{key} is {value}, but {other} is {limit}")
            }
        }
    }
}

impl Rejection {
    pub(in crate::inspector) const fn words(reason: Reason, words: &'static str) -> Self {
        Self {
            reason,
            detail: Detail::Words(words),
        }
    }

    pub(super) const fn missing(key: &'static str) -> Self {
        Self {
            reason: Reason::MissingField,
            detail: Detail::Missing(key),
        }
    }

    pub(super) const fn wrong_type(key: &'static str, expected: &'static str) -> Self {
        Self {
            reason: Reason::MissingField,
            detail: Detail::WrongType(key, expected),
        }
    }

    pub(super) const fn implausible(key: &'static str, number: Number, why: &'static str) -> Self {
        Self {
            reason: Reason::Implausible,
            detail: Detail::Number(key, number, why),
        }
    }

    pub(super) const fn contradiction(
        key: &'static str,
        value: u64,
        other: &'static str,
        limit: u64,
    ) -> Self {
        Self {
            reason: Reason::Implausible,
            detail: Detail::Contradiction(key, value, other, limit),
        }
    }
}
