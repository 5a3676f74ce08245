//! STAND-IN, to be replaced by the reader's: bytes through gzip, by magic.

use std::cell::Cell;
use std::fs::File;
use std::io::{self, BufReader, Read, Seek, SeekFrom};
use std::path::Path;
use std::rc::Rc;

use flate2::read::MultiGzDecoder;
use xxhash_rust::xxh3::Xxh3Default;

/// An open input.
pub(crate) struct Opened {
    inner: Box<dyn Read>,
    raw: Rc<Raw>,
    inflated: Xxh3Default,
}

#[derive(Default)]
struct Raw {
    hash: std::cell::RefCell<Xxh3Default>,
    bytes: Cell<u64>,
    ended: Cell<bool>,
}

struct Counting(File, Rc<Raw>);

impl Read for Counting {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.0.read(buffer)?;
        self.1.hash.borrow_mut().update(&buffer[..read]);
        self.1.bytes.set(self.1.bytes.get() + read as u64);
        self.1.ended.set(read == 0 && !buffer.is_empty());
        Ok(read)
    }
}

/// Opens a file.
pub(crate) fn open(path: &Path) -> io::Result<Opened> {
    let mut file = File::open(path)?;
    let mut magic = Vec::new();
    (&mut file).take(2).read_to_end(&mut magic)?;
    file.seek(SeekFrom::Start(0))?;
    let raw = Rc::new(Raw::default());
    let counting = Counting(file, Rc::clone(&raw));
    let inner: Box<dyn Read> = if magic == [0x1f, 0x8b] {
        Box::new(MultiGzDecoder::new(BufReader::new(counting)))
    } else {
        Box::new(counting)
    };
    Ok(Opened {
        inner,
        raw,
        inflated: Xxh3Default::new(),
    })
}

impl Opened {
    /// Bytes read from the disk so far.
    pub(crate) fn raw_bytes(&self) -> u64 {
        self.raw.bytes.get()
    }

    /// xxh3 of the bytes on disk, once all were read.
    pub(crate) fn raw_xxh3(&self) -> Option<u64> {
        self.raw
            .ended
            .get()
            .then(|| self.raw.hash.borrow().digest())
    }

    /// xxh3 of the inflated bytes.
    pub(crate) fn inflated_xxh3(&self) -> u64 {
        self.inflated.digest()
    }
}

impl Read for Opened {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.inner.read(buffer)?;
        self.inflated.update(&buffer[..read]);
        Ok(read)
    }
}
