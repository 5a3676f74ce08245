//! Any bytes as a whole file: no panic, every line accounted for, the same whatever the size of reads.
#![no_main]

use std::convert::Infallible;
use std::io::{self, Read};

use libfuzzer_sys::fuzz_target;
use nccl_report_ingest::inspector::{FileTally, Record, Sink, read_dump};

#[derive(Default)]
struct Keep(Vec<(u64, String)>);

impl Sink for Keep {
    type Error = Infallible;

    fn record(&mut self, record: &Record<'_>, line: u64) -> Result<(), Infallible> {
        // Text, so that no comparison stumbles over what isn't equal to itself.
        self.0.push((line, format!("{record:?}")));
        Ok(())
    }
}

/// Gives a few bytes a read.
struct Drip<'a>(&'a [u8]);

impl Read for Drip<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let step = buffer.len().min(7);
        self.0.read(&mut buffer[..step])
    }
}

fn run(input: &mut dyn Read) -> (Vec<(u64, String)>, FileTally) {
    let mut keep = Keep::default();
    let Ok(tally) = read_dump(input, "fuzz", &mut keep, &mut |_| {});
    (keep.0, tally)
}

fuzz_target!(|text: &[u8]| {
    let (records, tally) = run(&mut &text[..]);
    assert_eq!(tally.lines, tally.records_total() + tally.rejected.lines);
    if tally.skipped.is_none() {
        assert_eq!(tally.records_total(), records.len() as u64);
    }
    assert!(records.windows(2).all(|pair| pair[0].0 <= pair[1].0));
    assert_eq!(run(&mut Drip(text)), (records, tally));
});
