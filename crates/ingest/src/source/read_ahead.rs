//! Reading and inflating on a thread of its own, a few blocks ahead of whoever takes the text apart.

use std::io::{self, ErrorKind, Read};
use std::sync::mpsc::{Receiver, Sender, SyncSender, channel, sync_channel};
use std::thread::JoinHandle;

use super::{Bytes, Opened};

/// Bytes of a block.
const BLOCK: usize = 256 << 10;

/// Blocks that wait to be taken.
const AHEAD: usize = 4;

/// An [`Opened`] file that is read ahead.
///
/// The first read is done by whoever asks, so that of a file that isn't wanted after a look at its beginning no more is read than that.
pub(crate) struct ReadAhead {
    state: State,
    block: Vec<u8>,
    at: usize,
}

enum State {
    /// Nothing has been asked for.
    Fresh(Box<Opened>),
    Looked(Box<Opened>),
    Running(Running),
    /// The thread is gone, which only a panic in it can do.
    Lost,
}

struct Running {
    blocks: Receiver<io::Result<Vec<u8>>>,
    /// Blocks that were taken, to be filled again.
    spare: Sender<Vec<u8>>,
    thread: JoinHandle<Opened>,
}

impl ReadAhead {
    pub(crate) fn new(opened: Opened) -> Self {
        Self {
            state: State::Fresh(Box::new(opened)),
            block: Vec::new(),
            at: 0,
        }
    }

    /// As [`Opened::finish`].
    pub(crate) fn finish(self) -> io::Result<Bytes> {
        match self.state {
            State::Fresh(opened) | State::Looked(opened) => opened.finish(),
            State::Running(Running { blocks, thread, .. }) => {
                // It ends when nobody takes its blocks.
                drop(blocks);
                thread.join().map_err(|_| lost())?.finish()
            }
            State::Lost => Err(lost()),
        }
    }
}

fn lost() -> io::Error {
    io::Error::other("the thread that reads ended unexpectedly")
}

impl Read for ReadAhead {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            if self.at < self.block.len() {
                let n = (&self.block[self.at..]).read(buffer)?;
                self.at += n;
                return Ok(n);
            }
            self.state = match std::mem::replace(&mut self.state, State::Lost) {
                State::Fresh(mut opened) => {
                    let read = opened.read(buffer);
                    self.state = State::Looked(opened);
                    return read;
                }
                State::Looked(opened) => State::Running(start(*opened)?),
                State::Running(running) => {
                    let next = running.blocks.recv();
                    let taken = std::mem::take(&mut self.block);
                    self.at = 0;
                    // A thread that has ended wants no more.
                    let _ = running.spare.send(taken);
                    self.state = State::Running(running);
                    match next {
                        Ok(block) => self.block = block?,
                        // The end of the text.
                        Err(_) => return Ok(0),
                    }
                    continue;
                }
                State::Lost => return Err(lost()),
            };
        }
    }
}

fn start(opened: Opened) -> io::Result<Running> {
    let (give, blocks) = sync_channel(AHEAD);
    let (spare, used) = channel();
    let thread = std::thread::Builder::new()
        .name("read-ahead".to_owned())
        .spawn(move || run(opened, &give, &used))?;
    Ok(Running {
        blocks,
        spare,
        thread,
    })
}

/// Reads to the end or to an error that lasts, unless nobody takes what was read.
fn run(
    mut opened: Opened,
    give: &SyncSender<io::Result<Vec<u8>>>,
    used: &Receiver<Vec<u8>>,
) -> Opened {
    loop {
        let mut block = used.try_recv().unwrap_or_default();
        block.resize(BLOCK, 0);
        let (given, last) = match opened.read(&mut block) {
            Ok(0) => return opened,
            Ok(n) => {
                block.truncate(n);
                (Ok(block), false)
            }
            Err(error) if error.kind() == ErrorKind::Interrupted => continue,
            Err(error) => (Err(error), true),
        };
        if give.send(given).is_err() || last {
            return opened;
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use flate2::Compression;
    use flate2::write::GzEncoder;
    use proptest::prelude::*;

    use super::*;

    fn gzip(text: &[u8]) -> Vec<u8> {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
        encoder.write_all(text).expect("writes to memory");
        encoder.finish().expect("writes to memory")
    }

    fn all(reader: &mut impl Read) -> (Vec<u8>, Option<String>) {
        let mut text = Vec::new();
        let error = reader.read_to_end(&mut text).err();
        (text, error.map(|e| e.to_string()))
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(32))]
        #[test]
        fn gives_what_the_file_gives(length in 0_usize..3_000_000, packed: bool, cut in prop::option::of(0.0..1.0)) {
            let text: Vec<u8> = (0..length).map(|i| (i * i / 7 % 251) as u8).collect();
            let mut content = if packed { gzip(&text) } else { text };
            if let Some(cut) = cut {
                content.truncate((content.len() as f64 * cut) as usize);
            }
            let file = tempfile::NamedTempFile::new().expect("temporary file");
            std::fs::write(file.path(), content).expect("writes");
            let mut direct = Opened::open(file.path()).expect("opens");
            let mut ahead = ReadAhead::new(Opened::open(file.path()).expect("opens"));
            prop_assert_eq!(all(&mut ahead), all(&mut direct));
            prop_assert_eq!(ahead.finish().expect("read"), direct.finish().expect("read"));
        }
    }

    #[test]
    fn whoever_looks_at_the_beginning_alone_reads_no_more() {
        let file = tempfile::NamedTempFile::new().expect("temporary file");
        std::fs::write(file.path(), gzip(&[b'x'; 5_000_000])).expect("writes");
        let look = |reader: &mut dyn Read| reader.read(&mut [0; 100]).expect("reads");
        let mut direct = Opened::open(file.path()).expect("opens");
        let mut ahead = ReadAhead::new(Opened::open(file.path()).expect("opens"));
        assert_eq!(look(&mut ahead), look(&mut direct));
        assert_eq!(
            ahead.finish().expect("read"),
            direct.finish().expect("read")
        );
    }
}
