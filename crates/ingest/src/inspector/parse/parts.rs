//! The top level of a line.

use std::borrow::Cow;
use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, MapAccess, Visitor};

use super::dump_stats::RawDumpStats;
use super::object::{Into, Key, Object, Slot, object};
use super::operation::RawOperation;
use super::proxy::RawProxy;
use super::value::{IsObject, Number, Tags, Text};

object! {
    /// What the keys of `header` hold.
    RawHeader<'a> {
        id: Text<'a> = "id",
        comm_name: Text<'a> = "comm_name",
        rank: Number = "rank",
        n_ranks: Number = "n_ranks",
        nnodes: Number = "nnodes",
    }
}

object! {
    /// What the keys of `metadata` hold.
    RawMetadata<'a> {
        format_version: Text<'a> = "inspector_output_format_version",
        git_rev: Text<'a> = "git_rev",
        rec_mechanism: Text<'a> = "rec_mechanism",
        dump_timestamp_us: Number = "dump_timestamp_us",
        hostname: Text<'a> = "hostname",
        pid: Number = "pid",
        gpu_uuid: Text<'a> = "gpu_uuid",
        extra_tags: Tags = "extra_tags",
        user_tag: Tags = "user_tag",
    }
}

/// The keys of the objects, found on the top level of a line.
#[derive(Debug, Clone, Default)]
pub(in crate::inspector) struct Flat<'a> {
    pub(in crate::inspector) header: RawHeader<'a>,
    pub(in crate::inspector) metadata: RawMetadata<'a>,
    pub(in crate::inspector) collective: RawOperation<'a, false>,
    pub(in crate::inspector) p2p: RawOperation<'a, true>,
}

impl<'de> Object<'de> for Flat<'de> {
    fn field<A: MapAccess<'de>>(&mut self, key: &str, map: &mut A) -> Result<bool, A::Error> {
        Ok(self.header.field(key, map)?
            || self.metadata.field(key, map)?
            || self.collective.field(key, map)?
            || self.p2p.field(key, map)?)
    }
}

/// The parts of a line that are known by their keys.
#[derive(Debug, Clone, Default)]
pub(in crate::inspector) struct Parts<'a> {
    pub(in crate::inspector) header: Slot<RawHeader<'a>>,
    pub(in crate::inspector) metadata: Slot<RawMetadata<'a>>,
    pub(in crate::inspector) collective: Slot<RawOperation<'a, false>>,
    pub(in crate::inspector) p2p: Slot<RawOperation<'a, true>>,
    pub(in crate::inspector) dump_stats: Slot<Box<RawDumpStats<'a>>>,
    pub(in crate::inspector) proxy: Slot<Box<RawProxy<'a>>>,
    pub(in crate::inspector) flat: Option<Box<Flat<'a>>>,
    /// The first key with an object under it that isn't one of the above: a kind nobody has heard of.
    pub(in crate::inspector) unknown_kind: Option<Cow<'a, str>>,
}

impl<'de> Visitor<'de> for &mut Parts<'de> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }
    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        while let Some(Key(key)) = map.next_key()? {
            match &*key {
                "header" => map.next_value_seed(Into(&mut self.header))?,
                "metadata" => map.next_value_seed(Into(&mut self.metadata))?,
                "coll_perf" => map.next_value_seed(Into(&mut self.collective))?,
                "p2p_perf" => map.next_value_seed(Into(&mut self.p2p))?,
                "dump_stats" => map.next_value_seed(Into(&mut self.dump_stats))?,
                "proxy_trace" => map.next_value_seed(Into(&mut self.proxy))?,
                _ => self.other(key, &mut map)?,
            }
        }
        Ok(())
    }
}

impl<'de> DeserializeSeed<'de> for &mut Parts<'de> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_map(self)
    }
}

impl<'a> Parts<'a> {
    /// Reads one line into `self`, which is empty before. After an error what it holds means nothing.
    ///
    /// # Errors
    /// When it isn't a JSON object.
    pub(in crate::inspector) fn read(&mut self, line: &'a [u8]) -> Result<(), serde_json::Error> {
        let mut deserializer = serde_json::Deserializer::from_slice(line);
        self.deserialize(&mut deserializer)?;
        deserializer.end()
    }

    /// A key on the top level that isn't one of the objects.
    #[cold]
    fn other<A: MapAccess<'a>>(&mut self, key: Cow<'a, str>, map: &mut A) -> Result<(), A::Error> {
        if !self.flat.get_or_insert_default().field(&key, map)? {
            let IsObject(object) = map.next_value()?;
            if object && self.unknown_kind.is_none() {
                self.unknown_kind = Some(key);
            }
        }
        Ok(())
    }
}

/// Whether a text is one JSON object.
pub(in crate::inspector) fn is_object(text: &[u8]) -> bool {
    Parts::default().read(text).is_ok()
}
