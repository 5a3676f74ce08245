//! Objects whose keys come in any order, any number of times, among others that nobody knows.

use std::borrow::Cow;
use std::fmt;
use std::marker::PhantomData;

use serde::Deserialize;
use serde::de::{self, DeserializeSeed, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};

/// An object that knows what to do with some keys. A key that comes again overwrites, as in most JSON readers.
pub(super) trait Object<'de>: Default {
    /// Reads the value of a key that is known and says so; leaves the value of another unread.
    fn field<A: MapAccess<'de>>(&mut self, key: &str, map: &mut A) -> Result<bool, A::Error>;
}

/// Where an object is expected.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(in crate::inspector) enum Slot<T> {
    /// No such key, or null.
    #[default]
    Absent,
    /// The object.
    Object(T),
    /// Text, a number, true, a list.
    Wrong,
}

impl<T> Slot<T> {
    pub(in crate::inspector) fn is_absent(&self) -> bool {
        matches!(self, Self::Absent)
    }
}

/// A list of objects; what isn't one is left out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::inspector) struct List<T>(pub(in crate::inspector) Vec<T>);

impl<T> Default for List<T> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

/// A key, borrowed where nothing in it is escaped.
pub(super) struct Key<'de>(pub(super) Cow<'de, str>);

struct KeyVisitor;

impl<'de> Visitor<'de> for KeyVisitor {
    type Value = Key<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a key")
    }
    fn visit_borrowed_str<E: de::Error>(self, value: &'de str) -> Result<Key<'de>, E> {
        Ok(Key(Cow::Borrowed(value)))
    }
    fn visit_str<E: de::Error>(self, value: &str) -> Result<Key<'de>, E> {
        Ok(Key(Cow::Owned(value.to_owned())))
    }
}

impl<'de> Deserialize<'de> for Key<'de> {
    #[inline]
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_str(KeyVisitor)
    }
}

/// Reads an object into the place where it is kept: moving hundreds of bytes for every object of a line costs a fifth of the time.
pub(super) struct Into<'s, T>(pub(super) &'s mut Slot<T>);

impl<'de, T: Object<'de>> Visitor<'de> for Into<'_, T> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }
    #[inline]
    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        *self.0 = Slot::Object(T::default());
        let Slot::Object(object) = self.0 else {
            return Ok(());
        };
        while let Some(Key(key)) = map.next_key()? {
            if !object.field(&key, &mut map)? {
                map.next_value::<IgnoredAny>()?;
            }
        }
        Ok(())
    }
    fn visit_unit<E: de::Error>(self) -> Result<(), E> {
        *self.0 = Slot::Absent;
        Ok(())
    }
    fn visit_bool<E: de::Error>(self, _: bool) -> Result<(), E> {
        *self.0 = Slot::Wrong;
        Ok(())
    }
    fn visit_u64<E: de::Error>(self, _: u64) -> Result<(), E> {
        *self.0 = Slot::Wrong;
        Ok(())
    }
    fn visit_i64<E: de::Error>(self, _: i64) -> Result<(), E> {
        *self.0 = Slot::Wrong;
        Ok(())
    }
    fn visit_f64<E: de::Error>(self, _: f64) -> Result<(), E> {
        *self.0 = Slot::Wrong;
        Ok(())
    }
    fn visit_str<E: de::Error>(self, _: &str) -> Result<(), E> {
        *self.0 = Slot::Wrong;
        Ok(())
    }
    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<(), A::Error> {
        while seq.next_element::<IgnoredAny>()?.is_some() {}
        *self.0 = Slot::Wrong;
        Ok(())
    }
}

impl<'de, T: Object<'de>> DeserializeSeed<'de> for Into<'_, T> {
    type Value = ();

    #[inline]
    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de, T: Object<'de>> Deserialize<'de> for Slot<T> {
    #[inline]
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let mut slot = Self::Absent;
        Into(&mut slot).deserialize(deserializer)?;
        Ok(slot)
    }
}

struct ListVisitor<T>(PhantomData<T>);

impl<'de, T: Object<'de>> Visitor<'de> for ListVisitor<T> {
    type Value = List<T>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list")
    }
    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<List<T>, A::Error> {
        let mut list = Vec::new();
        while let Some(slot) = seq.next_element::<Slot<T>>()? {
            if let Slot::Object(object) = slot {
                list.push(object);
            }
        }
        Ok(List(list))
    }
    fn visit_unit<E: de::Error>(self) -> Result<List<T>, E> {
        Ok(List::default())
    }
    fn visit_bool<E: de::Error>(self, _: bool) -> Result<List<T>, E> {
        Ok(List::default())
    }
    fn visit_u64<E: de::Error>(self, _: u64) -> Result<List<T>, E> {
        Ok(List::default())
    }
    fn visit_i64<E: de::Error>(self, _: i64) -> Result<List<T>, E> {
        Ok(List::default())
    }
    fn visit_f64<E: de::Error>(self, _: f64) -> Result<List<T>, E> {
        Ok(List::default())
    }
    fn visit_str<E: de::Error>(self, _: &str) -> Result<List<T>, E> {
        Ok(List::default())
    }
    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<List<T>, A::Error> {
        while map.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
        Ok(List::default())
    }
}

impl<'de, T: Object<'de>> Deserialize<'de> for List<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(ListVisitor(PhantomData))
    }
}

/// Declares a struct and which key fills which field.
macro_rules! object {
    ($(#[$doc:meta])* $name:ident<$lifetime:lifetime> { $($field:ident: $type:ty = $key:pat,)* }) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Default)]
        pub(in crate::inspector) struct $name<$lifetime> {
            $(pub(in crate::inspector) $field: $type,)*
        }

        impl<$lifetime> $crate::inspector::parse::object::Object<$lifetime> for $name<$lifetime> {
            #[inline]
            fn field<A: serde::de::MapAccess<$lifetime>>(&mut self, key: &str, map: &mut A) -> Result<bool, A::Error> {
                match key {
                    $($key => self.$field = map.next_value()?,)*
                    _ => return Ok(false),
                }
                Ok(true)
            }
        }
    };
    ($(#[$doc:meta])* $name:ident { $($field:ident: $type:ty = $key:pat,)* }) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Default)]
        pub(in crate::inspector) struct $name {
            $(pub(in crate::inspector) $field: $type,)*
        }

        impl<'de> $crate::inspector::parse::object::Object<'de> for $name {
            #[inline]
            fn field<A: serde::de::MapAccess<'de>>(&mut self, key: &str, map: &mut A) -> Result<bool, A::Error> {
                match key {
                    $($key => self.$field = map.next_value()?,)*
                    _ => return Ok(false),
                }
                Ok(true)
            }
        }
    };
}
pub(super) use object;
