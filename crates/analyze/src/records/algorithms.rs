//! Which algorithm and protocol NCCL chose, where the dumps say (v4.2 and later).

use std::collections::BTreeMap;
use std::fs::File;
use std::path::Path;

use arrow::array::AsArray;
use arrow::datatypes::{Int32Type, Int64Type};
use nccl_report_ingest::{Dataset, Table};
use parquet::arrow::ProjectionMask;
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use rayon::prelude::*;

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
    let parquet = |source| Error::Parquet {
        path: path.to_owned(),
        source,
    };
    let foreign = |column: &str| Error::NotOurs {
        path: path.to_owned(),
        column: column.to_owned(),
    };
    let file = File::open(path).map_err(|source| Error::Read {
        path: path.to_owned(),
        source,
    })?;
    let builder = ParquetRecordBatchReaderBuilder::try_new(file).map_err(parquet)?;
    let mask = ProjectionMask::columns(builder.parquet_schema(), COLUMNS);
    let mut counts: BTreeMap<(String, u64, i32, i32, String, String), u64> = BTreeMap::new();
    for batch in builder
        .with_projection(mask)
        .with_batch_size(16_384)
        .build()
        .map_err(parquet)?
    {
        let batch = batch.map_err(|e| parquet(e.into()))?;
        let column = |name: &str| batch.column_by_name(name).ok_or_else(|| foreign(name));
        let texts = |name: &str| -> Result<(Vec<i32>, Vec<String>), Error> {
            let dictionary = column(name)?
                .as_dictionary_opt::<Int32Type>()
                .ok_or_else(|| foreign(name))?;
            let values = dictionary
                .values()
                .as_string_opt::<i32>()
                .ok_or_else(|| foreign(name))?;
            Ok((
                dictionary.keys().iter().map(|k| k.unwrap_or(-1)).collect(),
                values
                    .iter()
                    .map(|v| v.unwrap_or_default().to_owned())
                    .collect(),
            ))
        };
        let (algorithm, protocol) = (texts("coll_algo")?, texts("coll_proto")?);
        if algorithm.0.iter().all(|&k| k < 0) {
            continue;
        }
        let operation = texts("coll")?;
        let size = column("coll_msg_size_bytes")?
            .as_primitive_opt::<Int64Type>()
            .ok_or_else(|| foreign("coll_msg_size_bytes"))?;
        let ranks = column("n_ranks")?
            .as_primitive_opt::<Int32Type>()
            .ok_or_else(|| foreign("n_ranks"))?;
        let nodes = column("nnodes")?
            .as_primitive_opt::<Int32Type>()
            .ok_or_else(|| foreign("nnodes"))?;
        let mut numbered: BTreeMap<(i32, i64, i32, i32, i32, i32), u64> = BTreeMap::new();
        for i in 0..batch.num_rows() {
            if algorithm.0[i] >= 0 {
                let key = (
                    operation.0[i],
                    size.value(i),
                    ranks.value(i),
                    nodes.value(i),
                    algorithm.0[i],
                    protocol.0[i],
                );
                *numbered.entry(key).or_default() += 1;
            }
        }
        let text = |of: &(Vec<i32>, Vec<String>), k: i32| {
            usize::try_from(k)
                .ok()
                .and_then(|k| of.1.get(k).cloned())
                .unwrap_or_default()
        };
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
