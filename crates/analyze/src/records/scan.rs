//! Reads the Parquet of dumps: batches of operations, their names replaced by small numbers.

use std::fs::File;
use std::path::Path;

use arrow::array::{Array, AsArray, RecordBatch};
use arrow::datatypes::{Float64Type, Int32Type, Int64Type};
use nccl_report_ingest::Table;
use parquet::arrow::ProjectionMask;
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;

use super::registry::{EndpointKey, Registry};
use crate::Error;
use crate::facts::TimingSource;

/// Rows decoded at a time.
const BATCH_ROWS: usize = 32_768;

/// Names met in one Parquet file, by the numbers that batches use.
#[derive(Debug, Default)]
pub(crate) struct Names {
    /// Endpoints.
    pub(crate) endpoints: Registry<EndpointKey>,
    /// Functions: `AllReduce`, `Send`, …
    pub(crate) functions: Registry<String>,
    /// Whether any record has a communicator name, be it "unknown": the first writers of v4.0 give none.
    pub(crate) named: bool,
    /// Format version and `git_rev`.
    pub(crate) dialects: Registry<(Option<String>, Option<String>)>,
}

/// Operations, column by column. All columns have one length.
#[derive(Debug, Default)]
pub(crate) struct Batch {
    /// Number of the endpoint in [`Names`].
    pub(crate) endpoint: Vec<u32>,
    /// Number of the function in [`Names`].
    pub(crate) function: Vec<u32>,
    /// Number of the dialect in [`Names`].
    pub(crate) dialect: Vec<u32>,
    /// `coll_sn` or `p2p_sn`.
    pub(crate) sequence_number: Vec<i64>,
    /// Peer rank of a Send or Recv; -1 for collectives.
    pub(crate) peer: Vec<i32>,
    /// Message size, bytes.
    pub(crate) size: Vec<u64>,
    /// Kernel time, µs.
    pub(crate) micros: Vec<f64>,
    /// Where the time comes from.
    pub(crate) timing: Vec<TimingSource>,
    /// Bus bandwidth as written, GB/s.
    pub(crate) busbw: Vec<f64>,
    /// When the line was written, µs since the epoch.
    pub(crate) dumped: Vec<i64>,
}

impl Batch {
    /// How many operations.
    pub(crate) fn len(&self) -> usize {
        self.endpoint.len()
    }
}

/// Reads the operations of one Parquet file of the collectives or the p2p table; returns all names met.
pub(crate) fn operations(
    path: &Path,
    table: Table,
    mut visit: impl FnMut(&Names, &Batch) -> Result<(), Error>,
) -> Result<Names, Error> {
    let prefix = if table == Table::P2p { "p2p" } else { "coll" };
    let mut wanted: Vec<String> = [
        "id",
        "comm_name",
        "rank",
        "n_ranks",
        "nnodes",
        "hostname",
        "pid",
        "dump_timestamp_us",
        "inspector_output_format_version",
        "git_rev",
        prefix,
    ]
    .map(str::to_owned)
    .to_vec();
    wanted.extend(
        [
            "sn",
            "msg_size_bytes",
            "exec_time_us",
            "exec_time_fraction_us",
            "timing_source",
            "busbw_gbs",
        ]
        .map(|c| format!("{prefix}_{c}")),
    );
    if table == Table::P2p {
        wanted.push("p2p_peer".into());
    }
    let parquet = |source| Error::Parquet {
        path: path.to_owned(),
        source,
    };
    let file = File::open(path).map_err(|source| Error::Read {
        path: path.to_owned(),
        source,
    })?;
    let builder = ParquetRecordBatchReaderBuilder::try_new(file).map_err(parquet)?;
    let mask = ProjectionMask::columns(builder.parquet_schema(), wanted.iter().map(String::as_str));
    let reader = builder
        .with_projection(mask)
        .with_batch_size(BATCH_ROWS)
        .build()
        .map_err(parquet)?;
    let mut names = Names::default();
    let mut batch = Batch::default();
    for record_batch in reader {
        let record_batch = record_batch.map_err(|e| parquet(e.into()))?;
        Decoder {
            path,
            columns: &record_batch,
            prefix,
        }
        .decode(&mut names, &mut batch)?;
        visit(&names, &batch)?;
    }
    Ok(names)
}

/// Reads the dump statistics of one Parquet file: for each endpoint the largest total of records dropped that it admits.
pub(crate) fn dropped(path: &Path) -> Result<Vec<(EndpointKey, u64)>, Error> {
    let parquet = |source| Error::Parquet {
        path: path.to_owned(),
        source,
    };
    let file = File::open(path).map_err(|source| Error::Read {
        path: path.to_owned(),
        source,
    })?;
    let builder = ParquetRecordBatchReaderBuilder::try_new(file).map_err(parquet)?;
    let wanted = [
        "id",
        "comm_name",
        "rank",
        "n_ranks",
        "nnodes",
        "hostname",
        "pid",
        "coll_dropped_total",
        "p2p_dropped_total",
    ];
    let mask = ProjectionMask::columns(builder.parquet_schema(), wanted);
    let reader = builder
        .with_projection(mask)
        .with_batch_size(BATCH_ROWS)
        .build()
        .map_err(parquet)?;
    let mut endpoints: Registry<EndpointKey> = Registry::default();
    let mut most: Vec<(i64, i64)> = Vec::new();
    for columns in reader {
        let columns = columns.map_err(|e| parquet(e.into()))?;
        let decoder = Decoder {
            path,
            columns: &columns,
            prefix: "",
        };
        let mut of = Vec::new();
        decoder.endpoints(&mut endpoints, &mut of)?;
        most.resize(endpoints.items().len(), (0, 0));
        let (coll, p2p) = (
            decoder.longs("coll_dropped_total")?,
            decoder.longs("p2p_dropped_total")?,
        );
        for ((e, c), p) in of.into_iter().zip(coll).zip(p2p) {
            let m = &mut most[e as usize];
            *m = (m.0.max(c), m.1.max(p));
        }
    }
    Ok(endpoints
        .items()
        .iter()
        .cloned()
        .zip(most)
        .map(|(k, (c, p))| (k, c.unsigned_abs().saturating_add(p.unsigned_abs())))
        .collect())
}

/// Decodes a record batch. A missing or mistyped column means that the file isn't ours.
struct Decoder<'a> {
    path: &'a Path,
    columns: &'a RecordBatch,
    prefix: &'a str,
}

/// A dictionary column: a key for each row (-1 for null), and the values.
struct Texts {
    keys: Vec<i32>,
    values: Vec<String>,
}

impl Texts {
    fn get(&self, key: i32) -> Option<&String> {
        usize::try_from(key)
            .ok()
            .and_then(|k| self.values.get(k))
            .filter(|s| !s.is_empty())
    }
}

impl Decoder<'_> {
    fn decode(&self, names: &mut Names, out: &mut Batch) -> Result<(), Error> {
        let own = |c: &str| format!("{}_{c}", self.prefix);
        let rows = self.columns.num_rows();
        self.endpoints(&mut names.endpoints, &mut out.endpoint)?;
        names.named |= self.texts("comm_name")?.keys.iter().any(|&k| k >= 0);
        let function = self.texts(self.prefix)?;
        let timing = self.texts(&own("timing_source"))?;
        let (version, revision) = (
            self.texts("inspector_output_format_version")?,
            self.texts("git_rev")?,
        );

        out.function.clear();
        let functions: Vec<u32> = function
            .values
            .iter()
            .map(|f| names.functions.intern(f))
            .collect();
        let unnamed = names.functions.intern(&String::new());
        out.function.extend(function.keys.iter().map(|&k| {
            usize::try_from(k)
                .ok()
                .and_then(|k| functions.get(k).copied())
                .unwrap_or(unnamed)
        }));
        out.dialect.clear();
        let mut last: Option<((i32, i32), u32)> = None;
        for i in 0..rows {
            let key = (version.keys[i], revision.keys[i]);
            let dialect = match last {
                Some((k, d)) if k == key => d,
                _ => names
                    .dialects
                    .intern(&(version.get(key.0).cloned(), revision.get(key.1).cloned())),
            };
            last = Some((key, dialect));
            out.dialect.push(dialect);
        }
        let sources: Vec<TimingSource> = timing.values.iter().map(|s| timing_source(s)).collect();
        out.timing.clear();
        out.timing.extend(timing.keys.iter().map(|&k| {
            usize::try_from(k)
                .ok()
                .and_then(|k| sources.get(k).copied())
                .unwrap_or(TimingSource::Unknown)
        }));

        out.sequence_number = self.longs(&own("sn"))?;
        out.dumped = self.longs("dump_timestamp_us")?;
        out.size.clear();
        out.size.extend(
            self.longs(&own("msg_size_bytes"))?
                .iter()
                .map(|&s| s.unsigned_abs()),
        );
        out.micros.clear();
        out.micros
            .extend(self.longs(&own("exec_time_us"))?.iter().map(|&t| t as f64));
        self.add_fractions(&own("exec_time_fraction_us"), &mut out.micros)?;
        out.busbw.clear();
        let column = self.column(&own("busbw_gbs"))?;
        let busbw = column
            .as_primitive_opt::<Float64Type>()
            .ok_or_else(|| self.foreign(&own("busbw_gbs")))?;
        out.busbw
            .extend(busbw.iter().map(|v| v.unwrap_or(f64::NAN)));
        out.peer.clear();
        if self.prefix == "p2p" {
            out.peer = self.ints("p2p_peer")?;
        } else {
            out.peer.resize(rows, -1);
        }
        Ok(())
    }

    /// The endpoint of each row. Neighbours mostly share one, so the last is remembered.
    fn endpoints(
        &self,
        registry: &mut Registry<EndpointKey>,
        out: &mut Vec<u32>,
    ) -> Result<(), Error> {
        let (id, name, host) = (
            self.texts("id")?,
            self.texts("comm_name")?,
            self.texts("hostname")?,
        );
        let (rank, n_ranks, nnodes) = (
            self.ints("rank")?,
            self.ints("n_ranks")?,
            self.ints("nnodes")?,
        );
        let pid = self.longs("pid")?;
        let mut last = None;
        out.clear();
        for i in 0..self.columns.num_rows() {
            let key = (
                id.keys[i],
                name.keys[i],
                host.keys[i],
                rank[i],
                n_ranks[i],
                nnodes[i],
                pid[i],
            );
            let endpoint = match last {
                Some((k, e)) if k == key => e,
                _ => registry.intern(&EndpointKey {
                    id: id.get(key.0).cloned().unwrap_or_default(),
                    name: name.get(key.1).filter(|n| *n != "unknown").cloned(),
                    n_ranks: u32::try_from(key.4).unwrap_or(0),
                    nnodes: u32::try_from(key.5).unwrap_or(0),
                    rank: u32::try_from(key.3).unwrap_or(0),
                    host: host.get(key.2).cloned().unwrap_or_default(),
                    pid: key.6,
                }),
            };
            last = Some((key, endpoint));
            out.push(endpoint);
        }
        Ok(())
    }

    fn foreign(&self, column: &str) -> Error {
        Error::NotOurs {
            path: self.path.to_owned(),
            column: column.to_owned(),
        }
    }

    fn column(&self, name: &str) -> Result<&dyn Array, Error> {
        self.columns
            .column_by_name(name)
            .map(AsRef::as_ref)
            .ok_or_else(|| self.foreign(name))
    }

    fn texts(&self, name: &str) -> Result<Texts, Error> {
        let dictionary = self
            .column(name)?
            .as_dictionary_opt::<Int32Type>()
            .ok_or_else(|| self.foreign(name))?;
        let values = dictionary
            .values()
            .as_string_opt::<i32>()
            .ok_or_else(|| self.foreign(name))?;
        Ok(Texts {
            keys: dictionary.keys().iter().map(|k| k.unwrap_or(-1)).collect(),
            values: values
                .iter()
                .map(|v| v.unwrap_or_default().to_owned())
                .collect(),
        })
    }

    fn ints(&self, name: &str) -> Result<Vec<i32>, Error> {
        let array = self
            .column(name)?
            .as_primitive_opt::<Int32Type>()
            .ok_or_else(|| self.foreign(name))?;
        Ok(if array.null_count() == 0 {
            array.values().to_vec()
        } else {
            array.iter().map(|v| v.unwrap_or(-1)).collect()
        })
    }

    fn longs(&self, name: &str) -> Result<Vec<i64>, Error> {
        let array = self
            .column(name)?
            .as_primitive_opt::<Int64Type>()
            .ok_or_else(|| self.foreign(name))?;
        Ok(if array.null_count() == 0 {
            array.values().to_vec()
        } else {
            array.iter().map(|v| v.unwrap_or(-1)).collect()
        })
    }

    fn add_fractions(&self, name: &str, micros: &mut [f64]) -> Result<(), Error> {
        let array = self
            .column(name)?
            .as_primitive_opt::<Float64Type>()
            .ok_or_else(|| self.foreign(name))?;
        if array.null_count() < array.len() {
            for (t, f) in micros.iter_mut().zip(array.iter()) {
                *t += f.unwrap_or(0.0);
            }
        }
        Ok(())
    }
}

fn timing_source(text: &str) -> TimingSource {
    match text {
        "kernel_gpu" => TimingSource::KernelGpu,
        "" => TimingSource::Unknown,
        _ => TimingSource::Cpu,
    }
}
