//! What the hosts and their networks did while collectives were slow or ranks late, from the traces of eBPF agents.
//!
//! In order: whose trace it is (`attribution`), the slow collectives and the retransmits in their windows (`slow_calls`, `transfers`,
//! `retransmit`), then for each late rank and host the times in which it was late (`late_windows`), what its host did in these times and
//! its peers' hosts did (`activity`), and whether that is the cause (`causes`). Nothing here accuses anyone whom the dumps don't.

mod activity;
mod attribution;
mod causes;
mod clocks;
mod coincidence;
mod destinations;
mod ended;
mod excess;
mod explain;
pub(crate) mod given;
mod kept;
mod late_windows;
mod naming;
mod notes;
mod over_time;
mod pairs;
mod pictures;
mod prepared;
mod receiver;
pub(crate) mod retransmit;
mod running;
mod sides;
mod slow_calls;
mod slow_spans;
mod store;
mod stretches;
mod transfers;
mod unsure;
mod ways;

pub(crate) use explain::{Examined, Suspect, SuspectOf, examine, explain};
