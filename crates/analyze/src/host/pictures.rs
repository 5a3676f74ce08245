//! Slow collectives with what happened on the host under them.

use super::activity::{Activity, Cause};
use super::late_windows::LateWindows;
use super::retransmit::Retransmits;
use super::slow_calls::within;
use super::slow_spans::HostWindows;
use super::store::HostTraces;
use super::stretches::Stretch;
use crate::facts::{HostTimeline, Lane, WindowSource};
use crate::measured::Measured;
use crate::units::{ExecTime, Timestamp};

/// Room before and after, as a part of what is shown.
const ROOM: f64 = 0.25;

/// Bars of a lane; more can't be told apart.
const MOST_BARS: usize = 400;

/// A picture without its lanes.
struct Sheet {
    range: Stretch,
    lanes: Vec<Lane>,
}

impl Sheet {
    fn around(what: Stretch) -> Self {
        let room = ((what.1 - what.0) as f64 * ROOM).max(1e5) as i64;
        Self {
            range: (what.0.saturating_sub(room), what.1.saturating_add(room)),
            lanes: Vec::new(),
        }
    }

    fn lane(&mut self, name: &str, kind: &str, bars: impl Iterator<Item = Stretch>) {
        let (from, to) = self.range;
        let mut inside: Vec<Stretch> = bars
            .filter(|b| b.1 >= from && b.0 <= to)
            .map(|b| (b.0.max(from), b.1.min(to)))
            .collect();
        inside.sort_unstable();
        let omitted = inside.len().saturating_sub(MOST_BARS) as u64;
        // The longest tell most.
        if omitted > 0 {
            inside.sort_by_key(|b| std::cmp::Reverse(b.1 - b.0));
            inside.truncate(MOST_BARS);
            inside.sort_unstable();
        }
        let time = |ns: i64| ExecTime::from_micros(ns as f64 / 1e3);
        self.lanes.push(Lane {
            name: name.to_owned(),
            kind: kind.to_owned(),
            bars: inside
                .into_iter()
                .map(|b| (time(b.0 - from), time(b.1 - b.0)))
                .collect(),
            omitted,
        });
    }

    fn finish(
        self,
        finding: &str,
        title: String,
        host: &str,
        coarse: bool,
        shift: i64,
    ) -> HostTimeline {
        HostTimeline {
            finding: finding.to_owned(),
            title,
            host: host.to_owned(),
            coarse,
            origin: Timestamp::from_unix_micros((self.range.0 + shift).div_euclid(1000)),
            length: ExecTime::from_micros((self.range.1 - self.range.0) as f64 / 1e3),
            lanes: self.lanes,
        }
    }
}

/// The latest arrival of a suspect, and what its host did then. `ahead` is the host's clock against the mean, ns.
pub(crate) fn of_suspect(
    m: &Measured,
    all: &HostTraces,
    finding: &str,
    host: &str,
    late: &LateWindows,
    activity: &Activity,
    ahead: i64,
) -> Option<HostTimeline> {
    let arrival = late.latest.as_ref()?;
    let function = m.function(arrival.function);
    let own = (arrival.micros * 1e3) as i64;
    let collective = if late.coarse {
        (arrival.window.0, arrival.window.1.saturating_add(own))
    } else {
        (arrival.window.1, arrival.window.1.saturating_add(own))
    };
    let mut sheet = Sheet::around((arrival.window.0, collective.1));
    if late.coarse {
        sheet.lane(
            "late, somewhere in here",
            "late",
            std::iter::once(arrival.window),
        );
    } else {
        sheet.lane(
            "late: the others wait",
            "late",
            std::iter::once(arrival.window),
        );
        sheet.lane(function, "collective", std::iter::once(collective));
    }
    for cause in Cause::ALL {
        if let Some(own) = activity.own.get(&cause) {
            sheet.lane(name(cause), cause.as_str(), own.all().iter().copied());
        }
    }
    let retransmits = all.retransmits(host);
    if !retransmits.is_empty() {
        let at = retransmits.iter().map(|r| (r.at - ahead, r.at - ahead));
        sheet.lane("TCP retransmits", "retransmits", at);
    }
    let title = format!(
        "{function} no. {}: {} late on {host}",
        arrival.sequence_number,
        crate::cause::words::duration(arrival.late),
    );
    Some(sheet.finish(finding, title, host, late.coarse, ahead))
}

/// The slowest operation with retransmits in it.
pub(crate) fn of_retransmits(
    all: &HostTraces,
    finding: &str,
    found: &Retransmits,
    windows: &HostWindows,
) -> Option<HostTimeline> {
    let host = found.a_sender();
    let list = all.retransmits(host);
    let slowest = windows
        .slow
        .iter()
        .filter(|s| !within(list, s.window).is_empty())
        .max_by(|a, b| a.micros.total_cmp(&b.micros).then(b.window.cmp(&a.window)))?;
    let coarse = windows.source == WindowSource::Dumps;
    let mut sheet = Sheet::around(slowest.window);
    let name = if coarse {
        "slow, somewhere in here"
    } else {
        "slow operation"
    };
    let kind = if coarse { "late" } else { "collective" };
    sheet.lane(name, kind, std::iter::once(slowest.window));
    sheet.lane(
        "TCP retransmits",
        "retransmits",
        list.iter().map(|r| (r.at, r.at)),
    );
    let title = format!(
        "An operation of {} on {}, usually {}, and the TCP retransmits in it",
        crate::cause::words::duration(slowest.micros),
        host,
        crate::cause::words::duration(slowest.usual),
    );
    Some(sheet.finish(finding, title, host, coarse, 0))
}

/// A cause as a lane is called.
pub(crate) const fn name(cause: Cause) -> &'static str {
    match cause {
        Cause::OffCpu => "off the CPU",
        Cause::CudaSync => "waiting for the GPU",
        Cause::BlockIo => "disk requests",
        Cause::PageAlloc => "page allocations",
        Cause::OomKill => "out-of-memory kills",
        Cause::ProcessExit => "processes ending",
    }
}
