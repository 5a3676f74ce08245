//! Whether something that happened is why a rank was late.
//!
//! Everything happens all the time on a computer. To be named, a thing must fill the times in which the rank was late far more than the
//! rest of its time, or far more than it did for its peers in the same times; it must account for a good part of the lateness; and it
//! must do so beyond chance, whatever bursts it comes in.

use super::activity::{Activity, Cause};
use super::coincidence::{Happened, chance};
use super::excess::{Part, excess};
use super::kept::Kept;
use super::late_windows::LateWindows;
use super::running::Running;
use super::stretches::{Stretch, Stretches};
use crate::statistics::robust;

/// A thing that takes time must account for this part of the lateness: with less, something else is the cause.
const EXPLAINS: f64 = 0.3;

/// It fills the late times at least so many times as much as other times, and as those of its peers.
const TIMES: f64 = 2.0;

/// What has no length says less, so more of it is asked for.
const TIMES_OF_MOMENTS: f64 = 5.0;

/// Fewer moments are anecdotes; a process that is killed or ends is one to begin with.
const LEAST_MOMENTS: u64 = 20;
const LEAST_RARE: u64 = 3;

/// Chance of being wrong about one finding, over all that was looked at.
const CHANCE: f64 = 0.01;

/// With less of the time outside of the late times there is nothing to compare with but the peers.
const LEAST_OUTSIDE: f64 = 0.05;

/// So many peers make a crowd to stand out from, by so many times what they differ by.
const LEAST_PEERS: usize = 3;
const STANDS_OUT: f64 = 8.0;

/// What was found of one thing.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Verdict {
    pub(crate) cause: Cause,
    /// Time inside the late times, ns; of moments, 0.
    pub(crate) time: i64,
    pub(crate) events_inside: u64,
    pub(crate) events: u64,
    /// Time (moments: number) per second of late times, of other times, and of the median peer in the late times.
    pub(crate) inside: f64,
    pub(crate) outside: Option<f64>,
    pub(crate) of_peers: Option<f64>,
    /// Part of the lateness.
    pub(crate) explains: Option<f64>,
    pub(crate) chance: Option<f64>,
    pub(crate) named: bool,
}

/// Judges everything that happened to a suspect. `span` is the time that the traces and the dumps have in common.
pub(crate) fn judge(
    late: &LateWindows,
    activity: &Activity,
    span: Stretch,
    processes: usize,
) -> Vec<Verdict> {
    let windows = late.windows.within(span);
    if windows.total() <= 0 {
        return Vec::new();
    }
    let running = Running::of(late.each.iter().copied(), span);
    let mut lengths: Vec<f64> = late.each.iter().map(|e| e.1).collect();
    let length = robust::median(&mut lengths).unwrap_or_default();
    let tried = Cause::ALL
        .iter()
        .filter(|c| activity.own.get(c).is_some_and(|own| !own.all().is_empty()))
        .count();
    Cause::ALL
        .into_iter()
        .filter_map(|cause| {
            let own = activity
                .own
                .get(&cause)
                .filter(|own| !own.all().is_empty())?;
            let peers = peers(cause, activity, windows.total());
            // Several processes of a host that is late: what one of them did counts as part of one.
            let scale = if cause.of_process() {
                1.0 / processes.max(1) as f64
            } else {
                1.0
            };
            Some(of_cause(
                cause,
                own,
                &Setting {
                    late,
                    windows: &windows,
                    running: &running,
                    length,
                    span,
                    peers,
                    scale,
                    asked: CHANCE / tried as f64,
                },
            ))
        })
        .collect()
}

/// What a verdict is given against.
struct Setting<'a> {
    late: &'a LateWindows,
    windows: &'a Stretches,
    /// How likely it was late at each moment, and how long each time, ns.
    running: &'a Running,
    length: f64,
    span: Stretch,
    /// Per second of late times, each peer.
    peers: Vec<f64>,
    scale: f64,
    /// The chance that is asked for.
    asked: f64,
}

fn peers(cause: Cause, activity: &Activity, total: i64) -> Vec<f64> {
    let per_second = |time: i64, events: u64| {
        if cause.takes_time() {
            time as f64 / total as f64
        } else {
            events as f64 / (total as f64 / 1e9)
        }
    };
    let all: Vec<f64> = if cause.of_process() {
        activity
            .peers
            .get(&cause)
            .into_iter()
            .flat_map(|of| of.values())
            .map(|p| per_second(p.time, p.events))
            .collect()
    } else {
        activity
            .other_hosts
            .get(&cause)
            .into_iter()
            .flat_map(|of| of.values())
            .map(|p| per_second(p.time, p.events))
            .collect()
    };
    all
}

fn of_cause(cause: Cause, kept: &Kept, s: &Setting<'_>) -> Verdict {
    let own = kept.all();
    let weight = kept.weight();
    let mut moments: Vec<i64> = own.iter().map(|o| o.1).collect();
    moments.sort_unstable();
    if !cause.takes_time() {
        // Two traces of one host see the same moment.
        moments.dedup();
    }
    moments.retain(|&at| at >= s.span.0 && at <= s.span.1);
    let times = Stretches::of(own.to_vec()).within(s.span);
    let happened = if cause.takes_time() {
        Happened::Times(&times)
    } else {
        Happened::Moments(&moments)
    };
    let more = match happened {
        Happened::Times(_) => None,
        Happened::Moments(at) => excess(&[Part {
            how_many: None,
            running: s.running,
            at,
            length: s.length,
        }]),
    };
    let length = (s.span.1 - s.span.0).max(1) as f64;
    let total = s.windows.total() as f64;
    let inside = happened.inside(s.windows.all());
    let whole = if cause.takes_time() {
        times.total()
    } else {
        moments.len() as i64
    };
    let unit = if cause.takes_time() { 1.0 } else { 1e9 };
    let rate = |n: i64, of: f64| n as f64 * weight as f64 * s.scale * unit / of;
    let outside_length = length - total;
    let outside =
        (outside_length >= LEAST_OUTSIDE * length).then(|| rate(whole - inside, outside_length));
    let share = rate(inside, total);
    let mut sorted = s.peers.clone();
    let of_peers = robust::median(&mut sorted);

    // What would be there anyway, by the rest of the time or by the peers, explains nothing.
    let anyway = outside.into_iter().chain(of_peers).fold(0.0, f64::max);
    let excess = (share - anyway).max(0.0) * total / unit;
    let explains = cause.takes_time().then(|| (excess / s.late.late).min(1.0));
    let p = match happened {
        Happened::Times(_) => {
            (inside > 0 && outside.is_some()).then(|| chance(s.windows, &happened, s.span, s.asked))
        }
        Happened::Moments(_) => more.map(|e| e.chance),
    };
    let events_inside = Happened::Moments(&moments).inside(s.windows.all()) as u64 * weight;
    let rarely_else = match more {
        // Windows that are wider than the lateness in them hold what happens anyway, too.
        Some(e) => e.rates.0 >= TIMES_OF_MOMENTS * e.rates.1,
        None => outside.is_none_or(|o| share >= TIMES * o),
    };
    let times_asked = if cause.takes_time() {
        TIMES
    } else {
        TIMES_OF_MOMENTS
    };
    let rarely_else = rarely_else && of_peers.is_none_or(|o| share >= times_asked * o);
    let enough = match cause {
        Cause::OffCpu | Cause::CudaSync | Cause::BlockIo => explains.is_some_and(|e| e >= EXPLAINS),
        Cause::PageAlloc => events_inside >= LEAST_MOMENTS,
        Cause::OomKill | Cause::ProcessExit => events_inside >= LEAST_RARE,
    };
    let beyond_chance = p.is_some_and(|p| p <= s.asked);
    Verdict {
        cause,
        time: if cause.takes_time() {
            inside.saturating_mul(weight as i64)
        } else {
            0
        },
        events_inside,
        events: moments.len() as u64 * weight,
        inside: share,
        outside,
        of_peers,
        explains,
        chance: p,
        named: enough && rarely_else && (beyond_chance || stands_out(share, &s.peers)),
    }
}

/// Whether a value lies far above those of enough peers, all of them.
fn stands_out(value: f64, peers: &[f64]) -> bool {
    if peers.len() < LEAST_PEERS {
        return false;
    }
    let (Some(median), Some(scale)) = (robust::median(&mut peers.to_vec()), robust::scale(peers))
    else {
        return false;
    };
    let highest = peers.iter().copied().fold(0.0, f64::max);
    value >= TIMES * highest && value - median >= STANDS_OUT * scale
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::super::activity::InWindows;
    use super::*;

    const MS: i64 = 1_000_000;

    /// Late by 10 ms at 50 moments of a run of 10 s, not at even distances.
    fn late() -> LateWindows {
        let windows: Vec<Stretch> = (0..50_i64)
            .map(|i| {
                let at = i * 200 * MS + (i * i * 7 % 150) * MS;
                (at, at + 10 * MS)
            })
            .collect();
        LateWindows {
            late: 500.0 * MS as f64,
            each: windows.iter().map(|w| (*w, 10.0 * MS as f64)).collect(),
            windows: Stretches::of(windows),
            coarse: false,
            latest: None,
        }
    }

    fn with(own: Vec<Stretch>, cause: Cause, peers: &[i64]) -> Verdict {
        let mut activity = Activity::default();
        activity.own.insert(cause, own.into());
        activity.peers.insert(
            cause,
            peers
                .iter()
                .enumerate()
                .map(|(i, &time)| (i, InWindows { time, events: 1 }))
                .collect::<BTreeMap<_, _>>(),
        );
        judge(&late(), &activity, (0, 10_000 * MS), 1).remove(0)
    }

    #[test]
    fn off_the_cpu_when_late_and_never_else_is_the_cause() {
        let own = late()
            .windows
            .all()
            .iter()
            .map(|w| (w.0 + MS, w.1))
            .collect();
        let v = with(own, Cause::OffCpu, &[MS, 2 * MS, 0, MS]);
        assert!(v.named, "{v:?}");
        assert_eq!(v.time, 450 * MS);
        // 450 of 500 ms, less the median peer's 1 ms.
        assert!(
            v.explains.is_some_and(|e| (e - 0.898).abs() < 1e-9),
            "{v:?}"
        );
    }

    #[test]
    fn what_peers_do_as_well_is_no_cause() {
        let own = late()
            .windows
            .all()
            .iter()
            .map(|w| (w.0 + MS, w.1))
            .collect();
        assert!(!with(own, Cause::OffCpu, &[440 * MS, 430 * MS, 450 * MS]).named);
    }

    #[test]
    fn what_happens_all_the_time_or_explains_little_is_no_cause() {
        let always = (0..1000)
            .map(|i| (i * 10 * MS, i * 10 * MS + 9 * MS))
            .collect();
        assert!(!with(always, Cause::OffCpu, &[]).named);
        let little = late()
            .windows
            .all()
            .iter()
            .map(|w| (w.0, w.0 + MS))
            .collect();
        assert!(!with(little, Cause::OffCpu, &[0, 0, 0]).named);
    }

    #[test]
    fn two_kills_are_anecdotes_and_five_in_as_many_late_times_are_not() {
        let windows = late().windows;
        let at = |n: usize| -> Vec<Stretch> {
            windows
                .all()
                .iter()
                .step_by(9)
                .take(n)
                .map(|w| (w.0 + MS, w.0 + MS))
                .collect()
        };
        assert!(!with(at(2), Cause::OomKill, &[]).named);
        assert!(with(at(5), Cause::OomKill, &[]).named);
    }

    #[test]
    fn kills_are_named_where_late_times_are_only_known_to_an_interval() {
        // Each late time lies somewhere in 100 ms, and these fill half of the run.
        let exact = late();
        let wide = |w: &Stretch, i: usize| {
            let before = (i * i * 11 % 90) as i64 * MS;
            (w.0 - before, w.0 - before + 100 * MS)
        };
        let all = exact.windows.all().iter().enumerate();
        let each: Vec<(Stretch, f64)> = all.map(|(i, w)| (wide(w, i), 10.0 * MS as f64)).collect();
        let coarse = LateWindows {
            windows: Stretches::of(each.iter().map(|e| e.0).collect()),
            each,
            coarse: true,
            ..exact.clone()
        };
        let judged = |at: Vec<Stretch>| {
            let mut activity = Activity::default();
            activity.own.insert(Cause::OomKill, at.into());
            judge(&coarse, &activity, (0, 10_000 * MS), 1)
                .remove(0)
                .named
        };
        let moment = |at: i64| (at, at);
        let in_late = exact.windows.all().iter().step_by(3);
        assert!(judged(in_late.map(|w| moment(w.0 + 5 * MS)).collect()));
        // As many at any time.
        assert!(!judged((0..17).map(|k| moment(k * 588 * MS)).collect()));
    }
}
