//! Which algorithm and protocol NCCL chose, where the dumps say (v4.2 and later).

use std::collections::BTreeMap;
use std::path::Path;

use nccl_report_ingest::{Dataset, Table};
use rayon::prelude::*;

use super::scan;
use crate::Error;
use crate::facts::{CommClass, GroupKey};
use crate::units::MessageSize;

/// Records by "ALGORITHM PROTOCOL", of each group.
pub(crate) type Algorithms = BTreeMap<GroupKey, BTreeMap<String, u64>>;

const COLUMNS: [&str; 6] = [
    "coll",
    "coll_msg_size_bytes",
    "n_ranks",
    "nnodes",
    "coll_algo",
    "coll_proto",
];

/// Counts the choices of a dataset; empty where no dump says.
pub(crate) fn algorithms(dataset: &Dataset) -> Result<Algorithms, Error> {
    let files: Vec<Algorithms> = dataset
        .table(Table::Collectives)
        .par_iter()
        .map(|p| of_file(p))
        .collect::<Result<_, _>>()?;
    let mut out = Algorithms::new();
    for (group, counts) in files.into_iter().flatten() {
        let into = out.entry(group).or_default();
        for (name, n) in counts {
            *into.entry(name).or_default() += n;
        }
    }
    Ok(out)
}

fn of_file(path: &Path) -> Result<Algorithms, Error> {
    let mut counts: BTreeMap<(String, u64, i32, i32, String, String), u64> = BTreeMap::new();
    for columns in scan::open(path, COLUMNS)? {
        let columns = columns?;
        let (algorithm, protocol) = (columns.texts("coll_algo")?, columns.texts("coll_proto")?);
        if algorithm.keys.iter().all(|&k| k < 0) {
            continue;
        }
        let operation = columns.texts("coll")?;
        let size = columns.longs("coll_msg_size_bytes")?;
        let (ranks, nodes) = (columns.ints("n_ranks")?, columns.ints("nnodes")?);
        let mut numbered: BTreeMap<(i32, i64, i32, i32, i32, i32), u64> = BTreeMap::new();
        for i in 0..columns.rows() {
            if algorithm.keys[i] >= 0 {
                let key = (
                    operation.keys[i],
                    size[i],
                    ranks[i],
                    nodes[i],
                    algorithm.keys[i],
                    protocol.keys[i],
                );
                *numbered.entry(key).or_default() += 1;
            }
        }
        let text = |of: &scan::Texts<'_>, k: i32| of.get(k).unwrap_or_default().to_owned();
        for ((o, size, ranks, nodes, a, p), n) in numbered {
            let key = (
                text(&operation, o),
                size.unsigned_abs(),
                ranks,
                nodes,
                text(&algorithm, a),
                text(&protocol, p),
            );
            *counts.entry(key).or_default() += n;
        }
    }
    let mut out = Algorithms::new();
    for ((operation, size, ranks, nodes, algorithm, protocol), n) in counts {
        let (n_ranks, nnodes) = (
            u32::try_from(ranks).unwrap_or(0),
            u32::try_from(nodes).unwrap_or(0),
        );
        let key = GroupKey {
            class: CommClass::of(n_ranks, nnodes),
            operation,
            size: MessageSize::from_bytes(size),
            n_ranks,
            nnodes,
        };
        *out.entry(key)
            .or_default()
            .entry(format!("{algorithm} {protocol}").trim().to_owned())
            .or_default() += n;
    }
    Ok(out)
}
