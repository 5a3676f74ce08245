//! Context that a marker carries on (v4.3 and later): one `dump_stats` line, then exactly so many lines without context of their own.
//!
//! A line must never get a context that isn't its own, so whatever leaves a doubt ends the dump: the lines that follow are
//! orphaned up to the next marker.

use memchr::memmem;

use super::record::{Context, DumpStats};

/// Kinds in the order in which a dump has them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(in crate::inspector) enum Kind {
    Collective,
    PointToPoint,
    Proxy,
}

/// Numbers of markers' contexts begin here; those below are of lines with a context of their own.
const NUMBERS: u32 = 1 << 31;

#[derive(Debug)]
struct Marker {
    context: Context<'static>,
    /// Lines still to come, by kind.
    promised: [u64; 3],
    /// The last kind that came.
    reached: Kind,
    /// Whether lines without context follow it: the version says so, or one has come.
    stateful: bool,
}

/// The dump that the reader is in, if it is in one.
#[derive(Debug, Default)]
pub(super) struct Dump {
    marker: Option<Marker>,
    /// So far.
    markers: u32,
    truncated: u64,
}

impl Dump {
    /// A marker begins a dump, and ends the one before.
    pub(super) fn begin(&mut self, context: &Context<'_>, stats: &DumpStats<'_>) {
        self.end();
        self.markers = self.markers.wrapping_add(1);
        self.marker = Some(Marker {
            stateful: context.format_version.as_deref().is_some_and(is_stateful),
            context: context.clone().into_owned(),
            promised: [
                stats.coll_records.unwrap_or(0),
                stats.p2p_records.unwrap_or(0),
                stats.proxy_records.unwrap_or(0),
            ],
            reached: Kind::Collective,
        });
    }

    /// The context of a line that has none of its own, and its number. A line that wasn't promised, or comes out of order, ends the dump.
    pub(super) fn take(&mut self, kind: Kind) -> Option<(&Context<'static>, u32)> {
        let fits = self
            .marker
            .as_ref()
            .is_some_and(|m| m.promised[kind as usize] > 0 && kind >= m.reached);
        if !fits {
            self.end();
        }
        let marker = self.marker.as_mut()?;
        marker.promised[kind as usize] -= 1;
        marker.reached = kind;
        marker.stateful = true;
        Some((&marker.context, NUMBERS + self.markers % NUMBERS))
    }

    /// Nothing that follows belongs to the current dump.
    pub(super) fn end(&mut self) {
        if let Some(marker) = self.marker.take()
            && marker.stateful
            && marker.promised.iter().any(|&n| n > 0)
        {
            self.truncated += 1;
        }
    }

    /// A line that isn't JSON came. What it was decides what it means for the dump:
    /// - without any brace it is somebody else's line (`NCCL WARN …`): the dump goes on;
    /// - from `{"coll_perf":{` to `}}` without a trace of a context inside: promised records, spoilt;
    /// - else it may be a marker that was cut, or a hole with a marker in it.
    pub(super) fn damaged(&mut self, line: &[u8]) {
        if self.marker.is_none() || memchr::memchr3(b'{', b'}', 0, line).is_none() {
            return;
        }
        let whole = line.ends_with(b"}}")
            && CONTEXT_KEYS
                .into_iter()
                .all(|key| memmem::find(line, key).is_none());
        let mut starts: Vec<(usize, Kind)> = RECORD_STARTS
            .into_iter()
            .flat_map(|(kind, start)| memmem::find_iter(line, start).map(move |at| (at, kind)))
            .collect();
        starts.sort_unstable();
        if !whole || starts.first().is_none_or(|&(at, _)| at > 0) {
            return self.end();
        }
        for (_, kind) in starts {
            self.take(kind);
        }
    }

    /// Markers whose lines didn't all come.
    pub(super) fn truncated(&mut self) -> u64 {
        self.end();
        self.truncated
    }
}

/// How lines without context begin.
pub(super) const RECORD_STARTS: [(Kind, &[u8]); 3] = [
    (Kind::Collective, b"{\"coll_perf\":{"),
    (Kind::PointToPoint, b"{\"p2p_perf\":{"),
    (Kind::Proxy, b"{\"proxy_trace\":{"),
];

/// Keys that only a line with context has.
const CONTEXT_KEYS: [&[u8]; 3] = [b"\"header\"", b"\"metadata\"", b"\"dump_stats\""];

/// v4.3 and later.
fn is_stateful(version: &str) -> bool {
    let Some((major, minor)) = version.strip_prefix('v').and_then(|v| v.split_once('.')) else {
        return false;
    };
    matches!((major.parse::<u32>(), minor.parse::<u32>()), (Ok(major), Ok(minor)) if (major, minor) >= (4, 3))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn dump(version: &'static str, coll: u64, p2p: u64) -> Dump {
        let mut dump = Dump::default();
        begin(&mut dump, version, "0xa", coll, p2p);
        dump
    }

    fn begin(dump: &mut Dump, version: &'static str, id: &'static str, coll: u64, p2p: u64) {
        let context = Context {
            id: id.into(),
            format_version: Some(version.into()),
            ..Context::default()
        };
        let stats = DumpStats {
            coll_records: Some(coll),
            p2p_records: Some(p2p),
            ..DumpStats::default()
        };
        dump.begin(&context, &stats);
    }

    fn id(context: Option<(&Context<'static>, u32)>) -> Option<String> {
        context.map(|(c, _)| c.id.to_string())
    }

    #[test]
    fn as_many_lines_as_promised_and_no_more() {
        let mut dump = dump("v4.3", 2, 1);
        assert_eq!(id(dump.take(Kind::Collective)).as_deref(), Some("0xa"));
        assert_eq!(id(dump.take(Kind::Collective)).as_deref(), Some("0xa"));
        assert_eq!(id(dump.take(Kind::PointToPoint)).as_deref(), Some("0xa"));
        assert_eq!(id(dump.take(Kind::PointToPoint)), None);
        assert_eq!(dump.truncated(), 0);
    }

    #[test]
    fn a_line_too_many_casts_doubt_on_what_follows() {
        let mut dump = dump("v4.3", 1, 1);
        assert!(dump.take(Kind::Collective).is_some());
        assert!(dump.take(Kind::Collective).is_none());
        assert!(dump.take(Kind::PointToPoint).is_none());
        assert_eq!(dump.truncated(), 1);
    }

    #[test]
    fn a_collective_after_a_send_belongs_to_another_dump() {
        let mut dump = dump("v4.3", 2, 1);
        assert!(dump.take(Kind::Collective).is_some());
        assert!(dump.take(Kind::PointToPoint).is_some());
        assert!(dump.take(Kind::Collective).is_none());
    }

    #[test]
    fn a_new_marker_before_the_promise_is_kept_is_a_truncated_dump() {
        let mut dump = dump("v4.4", 2, 0);
        assert!(dump.take(Kind::Collective).is_some());
        begin(&mut dump, "v4.4", "0xb", 1, 0);
        assert_eq!(id(dump.take(Kind::Collective)).as_deref(), Some("0xb"));
        assert_eq!(dump.truncated(), 1);
    }

    #[test]
    fn markers_of_v4_1_promise_lines_that_carry_their_own_context() {
        let mut dump = dump("v4.1", 2, 0);
        dump.end();
        begin(&mut dump, "v4.2", "0xb", 2, 0);
        assert_eq!(dump.truncated(), 0);
    }

    #[test]
    fn what_a_damaged_line_means() {
        let after = |line: &[u8]| {
            let mut dump = dump("v4.3", 2, 0);
            dump.damaged(line);
            let first = dump.take(Kind::Collective).is_some();
            let second = dump.take(Kind::Collective).is_some();
            (first, second)
        };
        assert_eq!(after(b"NCCL WARN something else"), (true, true));
        assert_eq!(
            after(br#"{"coll_perf":{"coll":"AllReduce","coll_sn":x}}"#),
            (true, false)
        );
        assert_eq!(after(br#"{"header":{"id":"0x1","rank":"#), (false, false));
        assert_eq!(
            after(br#"_us":5},"dump_stats":{"coll_records":3}}"#),
            (false, false)
        );
        assert_eq!(
            after(br#"{"coll_perf":{"coll":"AllReduce","co"dump_stats":{"coll_records":3}}"#),
            (false, false)
        );
        assert_eq!(after(br#"{"coll_perf":{"coll":"All"#), (false, false));
        assert_eq!(after(&[0; 64]), (false, false));
    }
}
