//! Communicators in the vocabulary of facts.

use crate::facts::{Communicator, Loss, Member};
use crate::measured::Measured;
use crate::units::{ExecTime, Timestamp};

/// Every communicator.
pub(crate) fn communicators(m: &Measured) -> Vec<Communicator> {
    let mut micros = vec![0.0; m.topology.comms.len()];
    let mut p2p = vec![0_u64; m.topology.comms.len()];
    for (key, sums) in m.census.cells.iter().filter(|(k, _)| k.timing == m.timing) {
        let comm = m.topology.place[key.endpoint as usize].0 as usize;
        micros[comm] += sums.micros;
        if key.p2p {
            p2p[comm] += sums.records;
        }
    }
    m.topology
        .comms
        .iter()
        .enumerate()
        .map(|(i, c)| Communicator {
            id: c.id.clone(),
            name: c.name.clone(),
            class: c.class(),
            n_ranks: c.n_ranks,
            nnodes: c.nnodes,
            members: c
                .members
                .iter()
                .map(|&(rank, process, _)| Member { rank, process })
                .collect(),
            family: u32::try_from(m.family_of[i]).unwrap_or(u32::MAX),
            run: c.run,
            collectives: m.facts[i].collectives(),
            collectives_complete: m.facts[i].complete(),
            p2p_records: p2p[i],
            loss: Loss {
                dropped: m.dropped[i],
                numbers_unseen: m.facts[i].numbers_unseen(),
                records_unmatched: m.facts[i].unmatched,
            },
            time: ExecTime::from_micros(micros[i]),
            first_dump: Timestamp::from_unix_micros(c.seen.0),
            last_dump: Timestamp::from_unix_micros(c.seen.1),
        })
        .collect()
}
