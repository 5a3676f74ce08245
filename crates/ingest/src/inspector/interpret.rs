//! From the text of a record to the record, with the context that is its own.

use std::borrow::Cow;

use super::check::{self, Detail, Reason, Rejection};
use super::evidence::is_evident;
use super::fast::{self, Payload, Spare, Templates};
use super::marker::{Dump, Kind};
use super::parse::{Flat, Parts, RawOperation, Slot, Text};
use super::read::Sink;
use super::record::{Body, Context, OperationKind, Record, Trace};
use super::repair::Repair;
use super::salvage;
use super::tally::{Counted, FileTally, Tally};

/// Turns text into records and keeps the account.
pub(super) struct Interpreter<'s, S> {
    sink: &'s mut S,
    tally: Tally,
    dump: Dump,
    templates: Templates,
    spare: Spare,
    /// A trace of the Inspector's format has been seen.
    evident: bool,
    /// What the physical line needed: a byte-order mark or a carriage return taken off.
    line_repair: Option<Repair>,
}

impl<'s, S: Sink> Interpreter<'s, S> {
    pub(super) fn new(name: &str, sink: &'s mut S) -> Self {
        Self {
            sink,
            tally: Tally::new(name),
            dump: Dump::default(),
            templates: Templates::default(),
            spare: Spare::default(),
            evident: false,
            line_repair: None,
        }
    }

    /// Records so far.
    pub(super) fn records(&self) -> u64 {
        self.tally.records()
    }

    pub(super) fn is_dump(&self) -> bool {
        self.evident
    }

    pub(super) fn finish(mut self) -> FileTally {
        let truncated = self.dump.truncated();
        self.tally.finish(truncated)
    }

    /// A physical line begins.
    pub(super) fn begin_line(&mut self, repair: Option<Repair>) {
        self.line_repair = repair;
    }

    pub(super) fn carriage_return(&mut self) {
        self.line_repair.get_or_insert(Repair::CarriageReturn);
    }

    pub(super) fn too_long(&mut self, line: u64) {
        self.tally.line();
        self.tally
            .reject(Reason::TooLong, line, || "longer than 64 MiB");
        self.dump.end();
    }

    /// A line of nothing but zeros.
    pub(super) fn zeros(&mut self, line: u64, length: usize) {
        self.tally.line();
        self.tally.reject(Reason::InvalidJson, line, || {
            format!("{length} zero bytes: the file system lost what was here")
        });
        self.dump.end();
    }

    /// Something was lost here.
    pub(super) fn hole(&mut self) {
        self.dump.end();
    }

    /// The text of one record, without white space around it. Not `terminated`: the stream ends behind it.
    pub(super) fn text(
        &mut self,
        text: &[u8],
        line: u64,
        terminated: bool,
        repair: Option<Repair>,
    ) -> Result<(), S::Error> {
        self.tally.line();
        if text.first() != Some(&b'{') {
            return self.broken(text, line, terminated, repair);
        }
        let usual = first_of(repair, self.line_repair);
        let mut payload = Payload::default();
        if let Some(recognised) = self
            .templates
            .recognise(text, &mut payload, &mut self.spare)
        {
            self.evident = true;
            self.dump.end();
            let context = Known {
                context: recognised.context,
                number: Some(recognised.number),
            };
            let trace = judge(
                &mut self.tally,
                self.sink,
                Ok(context),
                &mut payload,
                line,
                usual,
            )?;
            self.spare.keep(trace);
            return Ok(());
        }
        if fast::payload(&text[1..], &mut payload, &mut self.spare).is_some() {
            self.evident = true;
            let context = from_marker(&mut self.dump, payload.kind());
            let trace = judge(
                &mut self.tally,
                self.sink,
                context,
                &mut payload,
                line,
                usual,
            )?;
            self.spare.keep(trace);
            return Ok(());
        }
        let mut parts = Parts::default();
        if parts.read(text).is_err() {
            return self.broken(text, line, terminated, repair);
        }
        self.tally.parsed();
        if !parts.header.is_absent() {
            self.templates.learn(text);
        }
        self.parts(&mut parts, line, repair)
    }

    /// Text that isn't a JSON object: saves what can be saved.
    #[cold]
    fn broken(
        &mut self,
        text: &[u8],
        line: u64,
        terminated: bool,
        repair: Option<Repair>,
    ) -> Result<(), S::Error> {
        if let Some((fixed, fix)) = salvage::fix(text) {
            let mut parts = Parts::default();
            if parts.read(&fixed).is_ok() {
                return self.parts(&mut parts, line, first_of(repair, Some(fix)));
            }
        }
        let Some(pieces) = salvage::pieces(text) else {
            self.spoilt(text, line, terminated);
            return Ok(());
        };
        let fix = first_of(repair, Some(pieces.repair));
        let last = pieces.texts.len() - 1;
        for (index, piece) in pieces.texts.into_iter().enumerate() {
            if index > 0 {
                self.tally.line();
            }
            let mut parts = Parts::default();
            match salvage::leading_object(piece).map(|object| parts.read(object)) {
                Some(Ok(())) => self.parts(&mut parts, line, fix)?,
                _ => self.spoilt(piece, line, terminated || index < last),
            }
        }
        Ok(())
    }

    fn spoilt(&mut self, text: &[u8], line: u64, terminated: bool) {
        self.evident = self.evident || is_evident(text);
        let reason = salvage::reason(text, terminated);
        self.tally
            .reject(reason, line, || salvage::detail(reason, text));
        self.dump.damaged(text);
    }

    /// A JSON object, taken apart.
    fn parts(
        &mut self,
        parts: &mut Parts<'_>,
        line: u64,
        repair: Option<Repair>,
    ) -> Result<(), S::Error> {
        let repair = first_of(repair, self.line_repair);
        if !parts.collective.is_absent() {
            let raw = std::mem::take(&mut parts.collective);
            self.operation(Kind::Collective, raw, parts, line, repair)
        } else if !parts.p2p.is_absent() {
            let raw = std::mem::take(&mut parts.p2p);
            self.operation(Kind::PointToPoint, raw, parts, line, repair)
        } else if !parts.dump_stats.is_absent() {
            self.dump_stats(parts, line, repair)
        } else if !parts.proxy.is_absent() {
            self.proxy(parts, line, repair)
        } else if let Some(collective) = parts.flat.as_deref_mut().and_then(flat_collective) {
            self.operation(
                Kind::Collective,
                Slot::Object(collective),
                parts,
                line,
                repair,
            )
        } else if let Some(p2p) = parts.flat.as_deref_mut().and_then(flat_p2p) {
            self.operation(Kind::PointToPoint, Slot::Object(p2p), parts, line, repair)
        } else {
            self.unknown(parts, line, repair)
        }
    }

    fn operation<'a, const P: bool>(
        &mut self,
        kind: Kind,
        raw: Slot<RawOperation<'a, P>>,
        parts: &mut Parts<'_>,
        line: u64,
        repair: Option<Repair>,
    ) -> Result<(), S::Error>
    where
        Payload<'a>: From<RawOperation<'a, P>>,
    {
        self.evident = true;
        let context = context(&mut self.dump, kind, parts);
        match raw {
            Slot::Object(raw) => judge(
                &mut self.tally,
                self.sink,
                context.as_ref().map(Origin::known).map_err(Clone::clone),
                &mut raw.into(),
                line,
                repair,
            )
            .map(|_| ()),
            Slot::Absent | Slot::Wrong => {
                let key = if P { "p2p_perf" } else { "coll_perf" };
                let refused = context.err().unwrap_or_else(|| not_an_object(key));
                self.tally.refuse(&refused, line)
            }
        }
    }

    fn proxy(
        &mut self,
        parts: &mut Parts<'_>,
        line: u64,
        repair: Option<Repair>,
    ) -> Result<(), S::Error> {
        self.evident = true;
        let raw = std::mem::take(&mut parts.proxy);
        let checked = context(&mut self.dump, Kind::Proxy, parts).and_then(|origin| match raw {
            Slot::Object(raw) => Ok((check::proxy(*raw)?, origin)),
            _ => Err(not_an_object("proxy_trace")),
        });
        match checked {
            Ok((proxy, origin)) => {
                self.tally.record(Counted::Proxy, line, repair);
                let body = Body::Proxy(Box::new(proxy));
                self.sink.record(&origin.known().record(body), line)
            }
            Err(rejection) => self.tally.refuse(&rejection, line),
        }
    }

    fn dump_stats(
        &mut self,
        parts: &mut Parts<'_>,
        line: u64,
        repair: Option<Repair>,
    ) -> Result<(), S::Error> {
        self.evident = true;
        // Whatever comes of it, the dump before is over.
        self.dump.end();
        let raw = std::mem::take(&mut parts.dump_stats);
        let checked =
            check::context(parts)
                .unwrap_or(Err(ORPHANED))
                .and_then(|context| match raw {
                    Slot::Object(raw) => Ok((check::dump_stats(*raw)?, context)),
                    _ => Err(not_an_object("dump_stats")),
                });
        match checked {
            Ok((stats, context)) => {
                self.dump.begin(&context, &stats);
                self.tally.record(Counted::DumpStats, line, repair);
                let record = Record {
                    context: Cow::Owned(context),
                    context_number: None,
                    body: Body::DumpStats(stats),
                };
                self.sink.record(&record, line)
            }
            Err(rejection) => self.tally.refuse(&rejection, line),
        }
    }

    /// None of the known kinds: one that nobody has heard of, if there is an object under a key.
    fn unknown(
        &mut self,
        parts: &mut Parts<'_>,
        line: u64,
        repair: Option<Repair>,
    ) -> Result<(), S::Error> {
        self.evident = self.evident || !(parts.header.is_absent() || parts.metadata.is_absent());
        let own = check::context(parts);
        if own.is_some() {
            // It may be a marker whose key was spoilt.
            self.dump.end();
        }
        let Some(kind) = parts.unknown_kind.take() else {
            return self.tally.refuse(&NO_RECORD, line);
        };
        self.tally.record(Counted::Other, line, repair);
        self.tally.unknown_kind(&kind);
        let record = Record {
            context: Cow::Owned(own.and_then(Result::ok).unwrap_or_default()),
            context_number: None,
            body: Body::Other(kind),
        };
        self.sink.record(&record, line)
    }
}

const ORPHANED: Rejection = Rejection::words(
    Reason::Orphaned,
    "no context of its own, and no marker before it that promises it",
);

const NO_RECORD: Rejection = Rejection::words(
    Reason::MissingField,
    "none of coll_perf, p2p_perf, dump_stats and proxy_trace",
);

/// A context as records are given it.
#[derive(Clone, Copy)]
struct Known<'s> {
    context: &'s Context<'s>,
    /// As in [`Record::context_number`].
    number: Option<u32>,
}

impl<'s> Known<'s> {
    fn record<'r>(self, body: Body<'r>) -> Record<'r>
    where
        's: 'r,
    {
        Record {
            context: Cow::Borrowed(self.context),
            context_number: self.number,
            body,
        }
    }
}

/// Where a context comes from.
enum Origin<'s> {
    Line(Box<Context<'s>>),
    Marker(Known<'s>),
}

impl Origin<'_> {
    fn known(&self) -> Known<'_> {
        match self {
            Self::Line(context) => Known {
                context,
                number: None,
            },
            Self::Marker(known) => *known,
        }
    }
}

/// The line's own context, or the marker's.
fn context<'s, 'a: 's>(
    dump: &'s mut Dump,
    kind: Kind,
    parts: &mut Parts<'a>,
) -> Result<Origin<'s>, Rejection> {
    match check::context(parts) {
        Some(own) => {
            // A whole record with a context of its own isn't part of a dump that has its context from a marker.
            if own.is_ok() {
                dump.end();
            }
            own.map(|context| Origin::Line(Box::new(context)))
        }
        None => from_marker(dump, kind).map(Origin::Marker),
    }
}

/// The context of the marker before.
fn from_marker(dump: &mut Dump, kind: Kind) -> Result<Known<'_>, Rejection> {
    let (context, number) = dump.take(kind).ok_or(ORPHANED)?;
    Ok(Known {
        context,
        number: Some(number),
    })
}

/// Checks an operation and gives it away; what is left of it is its trace.
fn judge<S: Sink>(
    tally: &mut Tally,
    sink: &mut S,
    context: Result<Known<'_>, Rejection>,
    payload: &mut Payload<'_>,
    line: u64,
    repair: Option<Repair>,
) -> Result<Option<Box<Trace>>, S::Error> {
    let checked = context.and_then(|known| {
        let n_ranks = known.context.n_ranks;
        let checked = match payload {
            Payload::Collective(raw) => check::operation(raw, n_ranks)?,
            Payload::PointToPoint(raw) => check::operation(raw, n_ranks)?,
        };
        Ok((checked, known))
    });
    match checked {
        Ok((checked, known)) => {
            let computed = checked.bandwidth_computed.then_some(Repair::Bandwidth);
            let counted = match checked.operation.kind {
                OperationKind::Collective => Counted::Collective,
                OperationKind::PointToPoint => Counted::PointToPoint,
            };
            tally.record(counted, line, first_of(repair, computed));
            let record = known.record(Body::Operation(checked.operation));
            sink.record(&record, line)?;
            Ok(match record.body {
                Body::Operation(operation) => operation.trace,
                _ => None,
            })
        }
        Err(rejection) => tally.refuse(&rejection, line).map(|()| None),
    }
}

/// A collective with its keys on the top level.
fn flat_collective<'a>(flat: &mut Flat<'a>) -> Option<RawOperation<'a, false>> {
    (flat.collective.function != Text::Absent).then(|| std::mem::take(&mut flat.collective))
}

/// A Send or Recv with its keys on the top level.
fn flat_p2p<'a>(flat: &mut Flat<'a>) -> Option<RawOperation<'a, true>> {
    (flat.p2p.function != Text::Absent).then(|| RawOperation {
        // Keys that both kinds have were taken for the collective's.
        graph_captured: std::mem::take(&mut flat.collective.graph_captured),
        trace_ts: std::mem::take(&mut flat.collective.trace_ts),
        trace_sn: std::mem::take(&mut flat.collective.trace_sn),
        ..std::mem::take(&mut flat.p2p)
    })
}

fn not_an_object(key: &'static str) -> Rejection {
    Rejection {
        reason: Reason::MissingField,
        detail: Detail::WrongType(key, "an object"),
    }
}

/// The repair that a record counts under.
fn first_of(one: Option<Repair>, other: Option<Repair>) -> Option<Repair> {
    match (one, other) {
        (Some(one), Some(other)) => Some(one.min(other)),
        (one, other) => one.or(other),
    }
}
