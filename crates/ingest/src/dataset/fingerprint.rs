//! What a file's content is known by.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::Xxh3Default;

/// Length and hash of a file's content.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Fingerprint {
    /// Length.
    pub bytes: u64,
    /// xxh3, 64 bits; as 16 hexadecimal digits in the manifest, because many readers of JSON round large numbers.
    #[serde(with = "hexadecimal")]
    pub xxh3: u64,
}

impl Fingerprint {
    /// Reads all of it. `on_bytes` is told of each piece, and stops the reading with an error.
    pub(crate) fn of(
        mut input: impl Read,
        mut on_bytes: impl FnMut(u64) -> io::Result<()>,
    ) -> io::Result<Self> {
        let mut hash = Xxh3Default::new();
        let mut bytes = 0;
        let mut buffer = vec![0; 256 << 10];
        loop {
            let read = match input.read(&mut buffer) {
                Ok(0) => break,
                Ok(read) => read,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => return Err(error),
            };
            hash.update(&buffer[..read]);
            bytes += read as u64;
            on_bytes(read as u64)?;
        }
        Ok(Self {
            bytes,
            xxh3: hash.digest(),
        })
    }

    /// Whether the file is there and has this content.
    pub(super) fn fits(&self, path: &Path) -> io::Result<bool> {
        let file = File::open(path)?;
        if file.metadata()?.len() != self.bytes {
            return Ok(false);
        }
        Ok(Self::of(file, |_| Ok(()))? == *self)
    }
}

pub(super) mod hexadecimal {
    use serde::de::Error;
    use serde::{Deserialize, Deserializer, Serializer};

    #[expect(clippy::trivially_copy_pass_by_ref, reason = "serde's signature")]
    pub(in super::super) fn serialize<S: Serializer>(
        value: &u64,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&format!("{value:016x}"))
    }

    pub(in super::super) fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<u64, D::Error> {
        let text = std::borrow::Cow::<'de, str>::deserialize(deserializer)?;
        u64::from_str_radix(&text, 16).map_err(D::Error::custom)
    }
}
