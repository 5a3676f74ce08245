//! The event traces of a verbose operation in the plugin's own order and spelling.

use super::digits::eight;
use super::scan::Scan;
use crate::inspector::record::{ChannelTrace, Trace};

/// A channel takes about as many bytes in both lists together.
const CHANNEL_BYTES: usize = 190;

/// A trace that a line before has left: its list has room already.
#[derive(Debug, Default)]
pub(in crate::inspector) struct Spare(Option<Box<Trace>>);

impl Spare {
    /// Keeps a trace that isn't needed any more.
    pub(in crate::inspector) fn keep(&mut self, trace: Option<Box<Trace>>) {
        if trace.is_some() {
            self.0 = trace;
        }
    }
}

/// What the keys of one list are called: numbers of callbacks, or time stamps.
trait Keys {
    const BEGIN: &'static [u8];
    const EVENT_START: &'static [u8];
    const EVENT_STOP: &'static [u8];
    const EVENT_RECORD: &'static [u8];
}

struct Numbers;

impl Keys for Numbers {
    const BEGIN: &'static [u8] = b",\"event_trace_sn\":{";
    const EVENT_START: &'static [u8] = b",\"kernel_start_sn\":";
    const EVENT_STOP: &'static [u8] = b",\"kernel_stop_sn\":";
    const EVENT_RECORD: &'static [u8] = b",\"kernel_record_sn\":";
}

struct Stamps;

impl Keys for Stamps {
    const BEGIN: &'static [u8] = b",\"event_trace_ts\":{";
    const EVENT_START: &'static [u8] = b",\"kernel_start_ts\":";
    const EVENT_STOP: &'static [u8] = b",\"kernel_stop_ts\":";
    const EVENT_RECORD: &'static [u8] = b",\"kernel_record_ts\":";
}

/// Reads both traces and the end of the line into one list of channels, as the check would join them; `None` where they haven't the usual
/// shape, or where the lists don't name the same channels in the same order.
pub(super) fn traces<const P2P: bool>(mut scan: Scan<'_>, spare: &mut Spare) -> Option<Box<Trace>> {
    let mut trace = spare.0.take().unwrap_or_default();
    trace.channels.clear();
    let read = read::<P2P>(&mut scan, &mut trace);
    if read.is_some() && scan.0 == b"}}" {
        return Some(trace);
    }
    spare.0 = Some(trace);
    None
}

fn read<const P2P: bool>(scan: &mut Scan<'_>, trace: &mut Trace) -> Option<()> {
    let about = scan.0.len() / CHANNEL_BYTES + 1;
    trace.channels.reserve(about);
    (trace.start_sn, trace.stop_sn) = if P2P {
        head::<Numbers>(scan, b"\"p2p_start_sn\":", b",\"p2p_stop_sn\":")?
    } else {
        head::<Numbers>(scan, b"\"coll_start_sn\":", b",\"coll_stop_sn\":")?
    };
    events::<Numbers>(scan, |_, channel_id, [start, stop, record]| {
        trace.channels.push(ChannelTrace {
            channel_id,
            kernel_start_sn: start,
            kernel_stop_sn: stop,
            kernel_record_sn: record,
            ..ChannelTrace::default()
        });
        Some(())
    })?;
    (trace.start_ts_us, trace.stop_ts_us) = if P2P {
        head::<Stamps>(scan, b"\"p2p_start_ts\":", b",\"p2p_stop_ts\":")?
    } else {
        head::<Stamps>(scan, b"\"coll_start_ts\":", b",\"coll_stop_ts\":")?
    };
    let numbered = trace.channels.len();
    let stamped = events::<Stamps>(scan, |place, channel_id, [start, stop, record]| {
        if place >= numbered {
            trace.channels.push(ChannelTrace {
                channel_id,
                ..ChannelTrace::default()
            });
        }
        let channel = &mut trace.channels[place];
        channel.kernel_start_ts_us = start;
        channel.kernel_stop_ts_us = stop;
        channel.kernel_record_ts_us = record;
        (channel.channel_id == channel_id).then_some(())
    })?;
    (stamped >= numbered).then_some(())
}

/// From the beginning of a trace to its list.
#[inline]
fn head<K: Keys>(
    scan: &mut Scan<'_>,
    start: &'static [u8],
    stop: &'static [u8],
) -> Option<(Option<i64>, Option<i64>)> {
    let last = &mut Stamp::default();
    scan.literal(K::BEGIN)?;
    scan.literal(start)?;
    let started = last.next(scan)?;
    scan.literal(stop)?;
    let stopped = last.next(scan)?;
    scan.literal(b",\"kernel_events\":[")?;
    Some((started, stopped))
}

/// Gives each event of a list to `take`: its place, its channel, and its start, stop and record. Returns how many there are.
#[inline]
fn events<K: Keys>(
    scan: &mut Scan<'_>,
    mut take: impl FnMut(usize, i32, [Option<i64>; 3]) -> Option<()>,
) -> Option<usize> {
    if scan.optional(b"]}") {
        return Some(0);
    }
    let mut place = 0;
    let last = &mut Stamp::default();
    loop {
        scan.literal(b"{\"channel_id\":")?;
        let channel_id = i32::try_from(scan.digits()?).ok()?;
        scan.literal(K::EVENT_START)?;
        let start = last.next(scan)?;
        scan.literal(K::EVENT_STOP)?;
        let stop = last.next(scan)?;
        scan.literal(K::EVENT_RECORD)?;
        let record = last.next(scan)?;
        take(place, channel_id, [start, stop, record])?;
        place += 1;
        if scan.optional(b"},") {
            continue;
        }
        scan.literal(b"}]}")?;
        return Some(place);
    }
}

/// The last number of sixteen digits: stamps of one operation mostly begin alike, and only the second half of the digits is read.
#[derive(Debug, Default)]
struct Stamp {
    first: [u8; 8],
    high: u64,
}

impl Stamp {
    /// The next number, of up to 18 digits and so never beyond 63 bits; 0 is the writer's word for "not observed".
    #[inline]
    fn next(&mut self, scan: &mut Scan<'_>) -> Option<Option<i64>> {
        if let Some((first, rest)) = scan.0.split_first_chunk::<8>()
            && let Some((second, rest)) = rest.split_first_chunk::<8>()
            && *first == self.first
            && self.high > 0
            && let (8, low) = eight(*second)
            && !rest.first().is_some_and(u8::is_ascii_digit)
        {
            scan.0 = rest;
            return Some(Some((self.high + low) as i64));
        }
        let text = scan.0;
        let value = scan.digits()?;
        if text.len() - scan.0.len() == 16 {
            self.first = *text.first_chunk()?;
            self.high = value / HALF * HALF;
        }
        Some((value > 0).then_some(value as i64))
    }
}

/// What eight digits go up to.
const HALF: u64 = 100_000_000;
