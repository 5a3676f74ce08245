//! Heads of lines that have been parsed: everything before the payload, which differs from line to line in the time stamp alone.

use memchr::memmem;

use super::scan::{Payload, Scan, payload};
use super::trace::Spare;
use crate::inspector::parse::Parts;
use crate::inspector::record::Context;
use crate::inspector::{check, parse::Slot};

/// How a line with context begins, up to the text of the communicator's identity.
const START: &[u8] = b"{\"header\":{\"id\":\"";

const STAMP: &[u8] = b",\"dump_timestamp_us\":";

/// Slots of the table; a power of two. Communicators and ranks of one process are far fewer.
const SLOTS: usize = 256;

/// Heads kept in one slot: ranks of one communicator in one process, or identities that fall together.
const PER_SLOT: usize = 16;

/// Lines that may be learnt before one has been recognised, so that a dump whose heads never repeat isn't parsed twice for ever.
const CREDIT: u32 = 512;

/// Numbers of heads; those above are markers'.
const LEARNT: u32 = u32::MAX >> 1;

/// A line, recognised.
#[derive(Debug)]
pub(in crate::inspector) struct Recognised<'t> {
    /// That of the head that it equals, with the line's own stamp.
    pub(in crate::inspector) context: &'t Context<'static>,
    /// The head's.
    pub(in crate::inspector) number: u32,
}

#[derive(Debug)]
struct Template {
    /// Up to the time stamp.
    before: Vec<u8>,
    /// Behind it, up to the key of the payload.
    behind: Vec<u8>,
    context: Context<'static>,
    number: u32,
}

/// The heads of one file.
#[derive(Debug)]
pub(in crate::inspector) struct Templates {
    slots: Vec<Vec<Template>>,
    credit: u32,
    /// Heads learnt so far, those forgotten among them.
    learnt: u32,
}

impl Default for Templates {
    fn default() -> Self {
        Self {
            slots: Vec::new(),
            credit: CREDIT,
            learnt: 0,
        }
    }
}

impl Template {
    #[inline]
    fn recognise<'t, 'a>(
        &'t mut self,
        line: &'a [u8],
        into: &mut Payload<'a>,
        spare: &mut Spare,
    ) -> Option<Recognised<'t>> {
        let mut rest = Scan(line.strip_prefix(self.before.as_slice())?);
        let stamp = rest.digits()?;
        payload(rest.0.strip_prefix(self.behind.as_slice())?, into, spare)?;
        self.context.dump_timestamp_us = check::timestamp(stamp)?;
        Some(Recognised {
            context: &self.context,
            number: self.number,
        })
    }
}

impl Templates {
    /// A line whose head is known and whose payload has the usual shape: the payload goes to `into`.
    #[inline]
    pub(in crate::inspector) fn recognise<'t, 'a>(
        &'t mut self,
        line: &'a [u8],
        into: &mut Payload<'a>,
        spare: &mut Spare,
    ) -> Option<Recognised<'t>> {
        let slot = slot(line)?;
        let found = self
            .slots
            .get_mut(slot)?
            .iter_mut()
            .find_map(|template| template.recognise(line, into, spare))?;
        // A recognised line earns back what learning costs.
        self.credit = (self.credit + 1).min(CREDIT);
        Some(found)
    }

    /// Keeps the head of a line that the parser has accepted, if it can be shown to be all there is to the context.
    pub(in crate::inspector) fn learn(&mut self, line: &[u8]) {
        let Some(slot) = slot(line) else { return };
        let Some(cut) = Cut::of(line).filter(|_| self.credit > 1) else {
            return;
        };
        self.credit -= 2;
        let Some(template) = cut.template(self.learnt) else {
            return;
        };
        // A file would need 2^31 heads to come round.
        self.learnt = (self.learnt + 1) & LEARNT;
        if self.slots.is_empty() {
            self.slots.resize_with(SLOTS, Vec::new);
        }
        let kept = &mut self.slots[slot];
        if kept.len() == PER_SLOT {
            kept.remove(0);
        }
        kept.push(template);
    }
}

/// Where a line's head would be kept, by the last digits that every identity has.
#[inline]
fn slot(line: &[u8]) -> Option<usize> {
    let id = line.strip_prefix(START)?;
    let digits: [u8; 8] = id.get(6..14)?.try_into().ok()?;
    let hash = u64::from_le_bytes(digits).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    Some((hash >> 56) as usize)
}

/// A line in the usual shape, cut where a head would end.
struct Cut<'a> {
    before: &'a [u8],
    behind: &'a [u8],
    payload: &'a [u8],
}

impl<'a> Cut<'a> {
    fn of(line: &'a [u8]) -> Option<Self> {
        let stamp = memmem::find(line, STAMP)? + STAMP.len();
        let (before, rest) = line.split_at(stamp);
        let mut rest = Scan(rest);
        rest.digits()?;
        let behind = [
            b"},\"coll_perf\":{\"coll\":".as_slice(),
            b"},\"p2p_perf\":{\"p2p\":",
        ]
        .into_iter()
        .find_map(|key| memmem::find(rest.0, key))?;
        let (behind, tail) = rest.0.split_at(behind + 2);
        payload(tail, &mut Payload::default(), &mut Spare::default())?;
        Some(Self {
            before,
            behind,
            payload: tail,
        })
    }

    /// Asks the parser whether the head says what it seems to say: with two other time stamps it must see the same context but for them.
    fn template(&self, number: u32) -> Option<Template> {
        let with = |stamp: &[u8]| parsed(&[self.before, stamp, self.behind, self.payload].concat());
        let (first, second) = (with(b"1")?, with(b"1795953247245381")?);
        let expected = Context {
            dump_timestamp_us: 1_795_953_247_245_381,
            ..first.clone()
        };
        (first.dump_timestamp_us == 1 && second == expected).then(|| Template {
            before: self.before.to_vec(),
            behind: self.behind.to_vec(),
            context: first,
            number,
        })
    }
}

/// The context that the parser sees in a line that holds one operation and nothing that could change what it means.
fn parsed(line: &[u8]) -> Option<Context<'static>> {
    let mut parts = Parts::default();
    parts.read(line).ok()?;
    let one = matches!(
        (&parts.collective, &parts.p2p),
        (Slot::Object(_), Slot::Absent) | (Slot::Absent, Slot::Object(_))
    );
    if !one || !parts.dump_stats.is_absent() || !parts.proxy.is_absent() {
        return None;
    }
    check::context(&mut parts)?.ok().map(Context::into_owned)
}

#[cfg(test)]
#[path = "tests.rs"]
mod tests;
