//! What the starts of kernels say of a rank or a host that is found to be late: in verbose dumps a second witness beside the times.
//!
//! Whoever is late begins after the others. Where it does, the finding is surer; where its kernels begin no later than those of the
//! others, what made them wait is something else, and nobody is woken for it.

use std::collections::BTreeMap;

use serde_json::json;

use super::Told;
use super::verdicts::rounded;
use crate::facts::{Finding, Severity};
use crate::kernels::starts::{self, Starts};
use crate::measured::Measured;

/// Starts confirm a lateness of which they show at least this part: ranks of one group are compared with each other's middle, which is late
/// itself where several are.
const CONFIRMS: f64 = 0.5;

/// They deny one of which they show less than this part, which is what jitter leaves.
const DENIES: f64 = 0.1;

/// Late by less than this, µs, the threads that take the stamps may notice one rank's kernels later than another's by as much.
const NOTICED: f64 = 50.0;

/// What starts say.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Says {
    Late,
    NotLate,
    Nothing,
}

/// Adds to findings about late ranks and hosts what the starts of their kernels say.
pub(super) fn weigh(m: &Measured, told: &mut [Told]) {
    if m.kernels.is_empty() {
        return;
    }
    for t in told {
        let Some(scene) = &t.scene else {
            continue;
        };
        let mut of_comm: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
        for &(comm, member) in &scene.places {
            of_comm.entry(comm).or_default().push(member);
        }
        let window = scene.window.as_ref();
        let starts = of_comm
            .iter()
            .filter_map(|(&comm, ranks)| starts::starts(m, comm, ranks, window, scene.micros))
            .max_by_key(Starts::collectives);
        let Some(starts) = starts else {
            continue;
        };
        let says = match scene.events {
            Some(events) => {
                let as_late = as_late(&starts, scene.micros);
                let looked_at = events / m.kernels.every() as f64;
                of_pauses(as_late, looked_at, m.kernels.every())
            }
            None => of_lateness(starts.mean(), scene.micros),
        };
        let as_late = scene.events.map(|_| as_late(&starts, scene.micros));
        tell(&mut t.finding, &starts, as_late, says);
    }
}

/// Collectives to which ranks began later by at least half of what is typical.
fn as_late(starts: &Starts, typical: f64) -> usize {
    let half = 0.5 * typical;
    starts.after_others.iter().filter(|&&v| v >= half).count()
}

fn of_lateness(seen: f64, claimed: f64) -> Says {
    if seen >= CONFIRMS * claimed {
        Says::Late
    } else if claimed > NOTICED && seen < DENIES * claimed {
        Says::NotLate
    } else {
        Says::Nothing
    }
}

/// Of pauses that should be seen so often. Where only one collective in several was looked at, that there is none among them says little.
fn of_pauses(seen: usize, claimed: f64, every: u64) -> Says {
    if seen > 0 && seen as f64 >= CONFIRMS * claimed {
        Says::Late
    } else if every == 1 && (seen as f64) < DENIES * claimed {
        Says::NotLate
    } else {
        Says::Nothing
    }
}

fn tell(f: &mut Finding, starts: &Starts, as_late: Option<usize>, says: Says) {
    let n = starts.collectives();
    f.evidence.insert("kernel_starts_compared".into(), json!(n));
    f.evidence.insert(
        "kernel_starts_last_share".into(),
        rounded(starts.last as f64 / n.max(1) as f64),
    );
    match as_late {
        Some(seen) => f
            .evidence
            .insert("kernel_starts_as_late".into(), json!(seen)),
        None => f.evidence.insert(
            "kernel_starts_after_peers_us".into(),
            rounded(starts.mean()),
        ),
    };
    match says {
        // Two ways to measure the same: half of the doubt.
        Says::Late => {
            let confidence = f64::midpoint(f.confidence, 1.0);
            f.confidence = ((confidence * 100.0).round() / 100.0).min(0.99);
        }
        Says::NotLate => {
            f.confidence = (f.confidence * 50.0).round() / 100.0;
            f.severity = Severity::Info;
            f.summary
                .push_str(" But the start times of its kernels don't show it late.");
        }
        Says::Nothing => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn starts_confirm_deny_or_say_nothing() {
        // Claimed: 400 µs. Half of it, a tenth of it, and less.
        assert_eq!(of_lateness(200.0, 400.0), Says::Late);
        assert_eq!(of_lateness(60.0, 400.0), Says::Nothing);
        assert_eq!(of_lateness(39.0, 400.0), Says::NotLate);
        // 40 µs may be the threads that take the stamps.
        assert_eq!(of_lateness(-5.0, 40.0), Says::Nothing);
    }

    #[test]
    fn pauses_are_counted() {
        assert_eq!(of_pauses(10, 20.0, 1), Says::Late);
        assert_eq!(of_pauses(1, 20.0, 1), Says::NotLate);
        assert_eq!(of_pauses(5, 20.0, 1), Says::Nothing);
        // One of four was looked at: of 3 pauses 0.75.
        assert_eq!(of_pauses(0, 0.75, 4), Says::Nothing);
        assert_eq!(of_pauses(1, 0.75, 4), Says::Late);
    }
}
