//! Values that accept whatever JSON holds, so that a wrong type is told by its key and not as a syntax error.

use std::borrow::Cow;
use std::fmt;

use serde::Deserialize;
use serde::de::{self, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};

/// A number, as many ways as writers have to say it.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(in crate::inspector) enum Number {
    /// No such key, or null.
    #[default]
    Absent,
    /// 0 … 2^64 − 1.
    Unsigned(u64),
    /// Below zero.
    Negative(i64),
    /// With a point or an exponent, beyond 2^64, or one of the words `nan` and `inf`.
    Float(f64),
    /// Text, true, a list, an object.
    Wrong,
}

/// A piece of text.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(in crate::inspector) enum Text<'a> {
    /// No such key, or null.
    #[default]
    Absent,
    /// The text.
    Value(Cow<'a, str>),
    /// A number, true, a list, an object.
    Wrong,
}

impl<'a> Text<'a> {
    /// The text where it says something.
    pub(in crate::inspector) fn told(self) -> Option<Cow<'a, str>> {
        match self {
            Self::Value(text) if !text.is_empty() => Some(text),
            _ => None,
        }
    }

    /// The same, with the writers' word for "not known" as `None`.
    pub(in crate::inspector) fn known(self) -> Option<Cow<'a, str>> {
        self.told().filter(|text| text != "unknown")
    }
}

/// True or false: a JSON boolean, 0 or 1, or the words (the plugin's own `jsonBool` writes text).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(in crate::inspector) struct Flag(pub(in crate::inspector) Option<bool>);

/// Job labels: text, or any JSON as compact text with sorted keys.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(in crate::inspector) struct Tags(pub(in crate::inspector) Option<String>);

/// Reads a number out of quotes.
fn quoted(text: &str) -> Number {
    let text = text.trim();
    if let Ok(value) = text.parse::<u64>() {
        return Number::Unsigned(value);
    }
    if let Ok(value) = text.parse::<i64>() {
        return Number::Negative(value);
    }
    // Rust's parser knows nan, inf and infinity, signed, in any case.
    text.parse::<f64>().map_or(Number::Wrong, Number::Float)
}

fn drain_map<'de, A: MapAccess<'de>>(mut map: A) -> Result<(), A::Error> {
    while map.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
    Ok(())
}

fn drain_seq<'de, A: SeqAccess<'de>>(mut seq: A) -> Result<(), A::Error> {
    while seq.next_element::<IgnoredAny>()?.is_some() {}
    Ok(())
}

/// Visits for the types of JSON that are the wrong ones, or null.
macro_rules! otherwise {
    ($absent:expr, $wrong:expr) => {
        fn visit_unit<E: de::Error>(self) -> Result<Self::Value, E> {
            Ok($absent)
        }
        fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Self::Value, A::Error> {
            drain_map(map).map(|()| $wrong)
        }
        fn visit_seq<A: SeqAccess<'de>>(self, seq: A) -> Result<Self::Value, A::Error> {
            drain_seq(seq).map(|()| $wrong)
        }
    };
}

struct NumberVisitor;

impl<'de> Visitor<'de> for NumberVisitor {
    type Value = Number;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a number")
    }
    fn visit_u64<E: de::Error>(self, value: u64) -> Result<Number, E> {
        Ok(Number::Unsigned(value))
    }
    fn visit_i64<E: de::Error>(self, value: i64) -> Result<Number, E> {
        Ok(u64::try_from(value).map_or(Number::Negative(value), Number::Unsigned))
    }
    fn visit_f64<E: de::Error>(self, value: f64) -> Result<Number, E> {
        Ok(Number::Float(value))
    }
    fn visit_str<E: de::Error>(self, value: &str) -> Result<Number, E> {
        Ok(quoted(value))
    }
    fn visit_bool<E: de::Error>(self, _: bool) -> Result<Number, E> {
        Ok(Number::Wrong)
    }
    otherwise!(Number::Absent, Number::Wrong);
}

impl<'de> Deserialize<'de> for Number {
    #[inline]
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(NumberVisitor)
    }
}

struct TextVisitor;

impl<'de> Visitor<'de> for TextVisitor {
    type Value = Text<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("text")
    }
    fn visit_borrowed_str<E: de::Error>(self, value: &'de str) -> Result<Text<'de>, E> {
        Ok(Text::Value(Cow::Borrowed(value)))
    }
    fn visit_str<E: de::Error>(self, value: &str) -> Result<Text<'de>, E> {
        Ok(Text::Value(Cow::Owned(value.to_owned())))
    }
    fn visit_bool<E: de::Error>(self, _: bool) -> Result<Text<'de>, E> {
        Ok(Text::Wrong)
    }
    fn visit_u64<E: de::Error>(self, _: u64) -> Result<Text<'de>, E> {
        Ok(Text::Wrong)
    }
    fn visit_i64<E: de::Error>(self, _: i64) -> Result<Text<'de>, E> {
        Ok(Text::Wrong)
    }
    fn visit_f64<E: de::Error>(self, _: f64) -> Result<Text<'de>, E> {
        Ok(Text::Wrong)
    }
    otherwise!(Text::Absent, Text::Wrong);
}

impl<'de> Deserialize<'de> for Text<'de> {
    #[inline]
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(TextVisitor)
    }
}

struct FlagVisitor;

impl<'de> Visitor<'de> for FlagVisitor {
    type Value = Flag;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("true or false")
    }
    fn visit_bool<E: de::Error>(self, value: bool) -> Result<Flag, E> {
        Ok(Flag(Some(value)))
    }
    fn visit_u64<E: de::Error>(self, value: u64) -> Result<Flag, E> {
        Ok(Flag(match value {
            0 => Some(false),
            1 => Some(true),
            _ => None,
        }))
    }
    fn visit_i64<E: de::Error>(self, _: i64) -> Result<Flag, E> {
        Ok(Flag(None))
    }
    fn visit_f64<E: de::Error>(self, _: f64) -> Result<Flag, E> {
        Ok(Flag(None))
    }
    fn visit_str<E: de::Error>(self, value: &str) -> Result<Flag, E> {
        Ok(Flag(match value {
            "true" | "True" | "1" => Some(true),
            "false" | "False" | "0" => Some(false),
            _ => None,
        }))
    }
    otherwise!(Flag(None), Flag(None));
}

impl<'de> Deserialize<'de> for Flag {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(FlagVisitor)
    }
}

impl<'de> Deserialize<'de> for Tags {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Ok(Self(
            match serde_json::Value::deserialize(deserializer)? {
                serde_json::Value::Null => None,
                serde_json::Value::String(text) => Some(text),
                mut other => {
                    // Whether a map keeps its order is a feature that another crate of the build may turn on.
                    other.sort_all_objects();
                    Some(other.to_string())
                }
            }
            .filter(|text| !text.is_empty()),
        ))
    }
}

/// An unknown value: only whether it is an object matters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct IsObject(pub(super) bool);

struct IsObjectVisitor;

impl<'de> Visitor<'de> for IsObjectVisitor {
    type Value = IsObject;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("anything")
    }
    fn visit_bool<E: de::Error>(self, _: bool) -> Result<IsObject, E> {
        Ok(IsObject(false))
    }
    fn visit_u64<E: de::Error>(self, _: u64) -> Result<IsObject, E> {
        Ok(IsObject(false))
    }
    fn visit_i64<E: de::Error>(self, _: i64) -> Result<IsObject, E> {
        Ok(IsObject(false))
    }
    fn visit_f64<E: de::Error>(self, _: f64) -> Result<IsObject, E> {
        Ok(IsObject(false))
    }
    fn visit_str<E: de::Error>(self, _: &str) -> Result<IsObject, E> {
        Ok(IsObject(false))
    }
    fn visit_unit<E: de::Error>(self) -> Result<IsObject, E> {
        Ok(IsObject(false))
    }
    fn visit_seq<A: SeqAccess<'de>>(self, seq: A) -> Result<IsObject, A::Error> {
        drain_seq(seq).map(|()| IsObject(false))
    }
    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<IsObject, A::Error> {
        drain_map(map).map(|()| IsObject(true))
    }
}

impl<'de> Deserialize<'de> for IsObject {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(IsObjectVisitor)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn number(json: &str) -> Number {
        serde_json::from_str(json).expect("valid JSON")
    }

    #[test]
    fn numbers_in_every_spelling() {
        assert_eq!(number("18446744073709551615"), Number::Unsigned(u64::MAX));
        assert_eq!(number("-3"), Number::Negative(-3));
        assert_eq!(number("\"449\""), Number::Unsigned(449));
        assert_eq!(number("5663.0"), Number::Float(5663.0));
        assert_eq!(
            number("18446744073709551616"),
            Number::Float(18_446_744_073_709_551_616.0)
        );
        assert_eq!(number("\"-inf\""), Number::Float(f64::NEG_INFINITY));
        assert!(matches!(number("\"-nan\""), Number::Float(x) if x.is_nan()));
        assert_eq!(number("null"), Number::Absent);
        for wrong in ["true", "\"eight\"", "[1]", "{\"a\":[1,{}]}"] {
            assert_eq!(number(wrong), Number::Wrong, "{wrong}");
        }
    }

    #[test]
    fn text_unescapes_and_borrows_where_it_can() {
        let text = |json| serde_json::from_str::<Text<'_>>(json).expect("valid JSON");
        assert!(matches!(
            text("\"plain\""),
            Text::Value(Cow::Borrowed("plain"))
        ));
        assert_eq!(text(r#""a\/b \u00e9""#).told().as_deref(), Some("a/b é"));
        assert_eq!(text("\"unknown\"").known(), None);
        assert_eq!(text("\"\"").told(), None);
        assert_eq!(text("7"), Text::Wrong);
        assert_eq!(text("null"), Text::Absent);
    }

    #[test]
    fn flags_and_tags() {
        let flag = |json| serde_json::from_str::<Flag>(json).expect("valid JSON").0;
        assert_eq!(flag("true"), Some(true));
        assert_eq!(flag("0"), Some(false));
        assert_eq!(flag("\"true\""), Some(true));
        assert_eq!(flag("[]"), None);
        let tags = |json| serde_json::from_str::<Tags>(json).expect("valid JSON").0;
        assert_eq!(
            tags(r#"{"b": 1, "a": "x"}"#).as_deref(),
            Some(r#"{"a":"x","b":1}"#)
        );
        assert_eq!(tags("\"run 7\"").as_deref(), Some("run 7"));
        assert_eq!(tags("\"\""), None);
    }
}
