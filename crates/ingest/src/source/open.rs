//! The bytes of a file, through gzip where its first bytes say gzip, and their fingerprint.

use std::fmt;
use std::fs::File;
use std::io::{self, BufRead, BufReader, ErrorKind, Read};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use flate2::bufread::GzDecoder;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use xxhash_rust::xxh3::Xxh3;

const CHUNK: usize = 256 << 10;

/// What is read at first, and of gzip at a time. Reads of plain text ask for more, and go past the reader's buffer.
const PEEK: usize = 32 << 10;

const GZIP_MAGIC: [u8; 2] = [0x1f, 0x8b];

/// 128 bits of xxh3: equal for equal bytes, and never by accident for others.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Fingerprint(u128);

impl From<u128> for Fingerprint {
    /// From what xxh3 gave for bytes that were hashed elsewhere.
    fn from(xxh3: u128) -> Self {
        Self(xxh3)
    }
}

impl fmt::Display for Fingerprint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:032x}", self.0)
    }
}

impl fmt::Debug for Fingerprint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Fingerprint({self})")
    }
}

impl Serialize for Fingerprint {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Fingerprint {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        u128::from_str_radix(&text, 16)
            .map(Self)
            .map_err(serde::de::Error::custom)
    }
}

/// What a file held, once it has been read to its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Bytes {
    /// Of the bytes on disk: unchanged input has the same.
    pub on_disk: Fingerprint,
    /// Of the text, after inflating: copies of one file have the same, one of them gzipped or not.
    pub text: Fingerprint,
    /// Bytes on disk.
    pub on_disk_len: u64,
    /// Bytes of text.
    pub text_len: u64,
}

/// An open file, read as text.
///
/// A gzip member that is cut or corrupt gives everything before the damage and then an error; so do bytes behind the last member that
/// aren't gzip, unless they are zeros (tapes and some file systems pad with them).
pub struct Opened {
    source: Source,
    text: Xxh3,
    text_len: u64,
    on_disk: Arc<AtomicU64>,
}

enum Source {
    Plain(BufReader<Raw>),
    Gzip(Box<GzDecoder<BufReader<Raw>>>),
    /// The last member has been read, or nothing more can be.
    Ended(BufReader<Raw>),
    /// Between two states.
    Moving,
}

/// The file itself, counted and fingerprinted as it is read.
struct Raw {
    file: File,
    hash: Xxh3,
    count: Arc<AtomicU64>,
}

impl Read for Raw {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let n = self.file.read(buffer)?;
        self.hash.update(&buffer[..n]);
        self.count.fetch_add(n as u64, Ordering::Relaxed);
        Ok(n)
    }
}

impl Opened {
    /// Opens a file and looks at its first bytes.
    ///
    /// # Errors
    /// When it can't be opened or read.
    pub fn open(path: &Path) -> io::Result<Self> {
        let on_disk = Arc::new(AtomicU64::new(0));
        let raw = Raw {
            file: File::open(path)?,
            hash: Xxh3::new(),
            count: Arc::clone(&on_disk),
        };
        let mut reader = BufReader::with_capacity(PEEK, raw);
        let gzip = starts_gzip(&mut reader)?;
        Ok(Self {
            source: if gzip {
                Source::Gzip(Box::new(GzDecoder::new(reader)))
            } else {
                Source::Plain(reader)
            },
            text: Xxh3::new(),
            text_len: 0,
            on_disk,
        })
    }

    /// Whether what has been seen of it is gzip.
    pub(crate) fn is_gzip(&self) -> bool {
        matches!(self.source, Source::Gzip(_))
    }

    /// How many bytes on disk have been read so far, for showing progress while the reader is borrowed.
    #[must_use]
    pub fn bytes_on_disk(&self) -> Arc<AtomicU64> {
        Arc::clone(&self.on_disk)
    }

    /// Reads what is left of the file on disk, without inflating it, and gives its fingerprints. That of a gzipped text covers what was
    /// inflated before, which is all of it if the reader was read to its end or its error.
    ///
    /// # Errors
    /// When the rest can't be read.
    pub fn finish(self) -> io::Result<Bytes> {
        let plain = matches!(self.source, Source::Plain(_));
        let reader = match self.source {
            Source::Plain(reader) | Source::Ended(reader) => reader,
            Source::Gzip(decoder) => decoder.into_inner(),
            Source::Moving => {
                return Err(io::Error::other("the reader was left between two members"));
            }
        };
        // What lies in the buffer has been counted and hashed when it was read into it.
        let mut raw = reader.into_inner();
        io::copy(&mut raw, &mut io::sink())?;
        let on_disk = Fingerprint(raw.hash.digest128());
        let on_disk_len = self.on_disk.load(Ordering::Relaxed);
        let (text, text_len) = if plain {
            (on_disk, on_disk_len)
        } else {
            (Fingerprint(self.text.digest128()), self.text_len)
        };
        Ok(Bytes {
            on_disk,
            text,
            on_disk_len,
            text_len,
        })
    }
}

/// Whether a gzip member begins here. A file that ends after its first byte is none.
fn starts_gzip(reader: &mut BufReader<Raw>) -> io::Result<bool> {
    loop {
        match reader.fill_buf() {
            Ok(head) => return Ok(head.starts_with(&GZIP_MAGIC)),
            Err(e) if e.kind() == ErrorKind::Interrupted => {}
            Err(e) => return Err(e),
        }
    }
}

impl Read for Opened {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            let n = match &mut self.source {
                // Its bytes are the text, and are hashed already.
                Source::Plain(reader) => return reader.read(buffer),
                Source::Gzip(decoder) => decoder.read(buffer).map_err(describe)?,
                Source::Ended(_) | Source::Moving => return Ok(0),
            };
            if n == 0 && !buffer.is_empty() {
                self.next_member()?;
                continue;
            }
            self.text.update(&buffer[..n]);
            self.text_len += n as u64;
            return Ok(n);
        }
    }
}

impl Opened {
    /// Goes on behind the end of a gzip member.
    fn next_member(&mut self) -> io::Result<()> {
        let Source::Gzip(decoder) = std::mem::replace(&mut self.source, Source::Moving) else {
            return Ok(());
        };
        let mut reader = decoder.into_inner();
        let found = match starts_gzip(&mut reader) {
            Ok(true) => {
                self.source = Source::Gzip(Box::new(GzDecoder::new(reader)));
                return Ok(());
            }
            Ok(false) => skip_zeros(&mut reader),
            Err(e) => Err(e),
        };
        self.source = Source::Ended(reader);
        match found? {
            0 => Ok(()),
            _ => Err(io::Error::new(
                ErrorKind::InvalidData,
                "the gzip data is followed by other bytes, which were left out",
            )),
        }
    }
}

/// Skips zeros up to the end; gives the number of bytes in the buffer where something else comes first.
fn skip_zeros(reader: &mut BufReader<Raw>) -> io::Result<usize> {
    loop {
        let buffer = reader.fill_buf()?;
        let length = buffer.len();
        if length == 0 || buffer.iter().any(|&b| b != 0) {
            return Ok(length);
        }
        reader.consume(length);
    }
}

/// Says what the decoder's errors mean.
fn describe(error: io::Error) -> io::Error {
    match error.kind() {
        ErrorKind::UnexpectedEof => io::Error::new(error.kind(), "the gzip data is cut off"),
        ErrorKind::InvalidInput | ErrorKind::InvalidData => {
            io::Error::new(error.kind(), format!("the gzip data is corrupt ({error})"))
        }
        _ => error,
    }
}

/// The fingerprint of a file's bytes on disk, and how many there are.
///
/// # Errors
/// When it can't be read.
pub fn fingerprint(path: &Path) -> io::Result<(Fingerprint, u64)> {
    let mut file = File::open(path)?;
    let mut hash = Xxh3::new();
    let mut buffer = vec![0; CHUNK];
    let mut length = 0;
    loop {
        match file.read(&mut buffer) {
            Ok(0) => return Ok((Fingerprint(hash.digest128()), length)),
            Ok(n) => {
                hash.update(&buffer[..n]);
                length += n as u64;
            }
            Err(e) if e.kind() == ErrorKind::Interrupted => {}
            Err(e) => return Err(e),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use flate2::Compression;
    use flate2::write::GzEncoder;

    use super::*;

    fn gzip(text: &[u8]) -> Vec<u8> {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
        encoder.write_all(text).expect("writes to memory");
        encoder.finish().expect("writes to memory")
    }

    struct Outcome {
        text: Vec<u8>,
        error: Option<String>,
        bytes: Bytes,
    }

    fn read(content: &[u8]) -> Outcome {
        let file = tempfile::NamedTempFile::new().expect("temporary file");
        std::fs::write(file.path(), content).expect("writes");
        let mut opened = Opened::open(file.path()).expect("opens");
        let mut text = Vec::new();
        let error = opened.read_to_end(&mut text).err().map(|e| e.to_string());
        let bytes = opened.finish().expect("reads the rest");
        assert_eq!(
            fingerprint(file.path()).expect("reads"),
            (bytes.on_disk, bytes.on_disk_len)
        );
        assert_eq!(bytes.on_disk_len, content.len() as u64);
        assert_eq!(bytes.text_len, text.len() as u64);
        Outcome { text, error, bytes }
    }

    #[test]
    fn plain_and_gzipped_copies_have_one_text() {
        let plain = read(b"one\ntwo\n");
        let packed = read(&gzip(b"one\ntwo\n"));
        assert_eq!(plain.text, b"one\ntwo\n");
        assert_eq!(packed.text, plain.text);
        assert_eq!(packed.bytes.text, plain.bytes.text);
        assert_eq!(plain.bytes.text, plain.bytes.on_disk);
        assert_ne!(packed.bytes.on_disk, plain.bytes.on_disk);
    }

    #[test]
    fn several_members_and_padding_are_one_text() {
        let mut file = gzip(b"one\n");
        file.extend(gzip(b""));
        file.extend(gzip(b"two\n"));
        assert_eq!(read(&file).text, b"one\ntwo\n");
        file.extend([0; 1000]);
        let padded = read(&file);
        assert_eq!(padded.text, b"one\ntwo\n");
        assert_eq!(padded.error, None);
    }

    #[test]
    fn a_cut_member_gives_what_lies_before_the_cut() {
        let text: Vec<u8> = (0..20_000u32)
            .flat_map(|i| format!("line {i}\n").into_bytes())
            .collect();
        let whole = gzip(&text);
        let cut = read(&whole[..whole.len() / 2]);
        assert!(cut.text.len() > text.len() / 4);
        assert!(text.starts_with(&cut.text));
        assert_eq!(cut.error.as_deref(), Some("the gzip data is cut off"));
        // Only the checksum is missing.
        let tail = read(&whole[..whole.len() - 4]);
        assert_eq!(tail.text, text);
        assert!(tail.error.is_some());
    }

    #[test]
    fn a_wrong_checksum_and_other_bytes_behind_are_told() {
        let mut file = gzip(b"one\n");
        let crc = file.len() - 8;
        file[crc] ^= 1;
        let corrupt = read(&file);
        assert_eq!(corrupt.text, b"one\n");
        assert!(corrupt.error.is_some_and(|e| e.contains("corrupt")));

        let mut file = gzip(b"one\n");
        file.extend_from_slice(b"two\n");
        let followed = read(&file);
        assert_eq!(followed.text, b"one\n");
        assert!(
            followed
                .error
                .is_some_and(|e| e.contains("followed by other bytes"))
        );
    }

    #[test]
    fn an_empty_file_is_empty_text() {
        assert_eq!(read(b"").text, b"");
        assert_eq!(read(b"\x1f").text, b"\x1f");
    }

    #[test]
    fn fingerprints_survive_json() {
        let fingerprint = read(b"x").bytes.text;
        let json = serde_json::to_string(&fingerprint).expect("serializes");
        assert_eq!(json.len(), 34);
        assert_eq!(
            serde_json::from_str::<Fingerprint>(&json).expect("parses"),
            fingerprint
        );
    }
}
