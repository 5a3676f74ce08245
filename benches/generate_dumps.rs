//! Writes the dumps of an invented job, for measuring: the same bytes for the same options, without any dependency on a simulator.
//!
//! The default is the benchmark set: 64 processes on 8 nodes, 8 communicators each, four collectives at six sizes,
//! 2.5 million records, about 1.1 GB. Sequence numbers match over the ranks and times follow
//! `time(rank) = transfer + (last arrival − own arrival)`, so everything that an analysis of a real job does has something to do.
//! Nobody is late on purpose: the set is for speed, not for judging findings.

use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use flate2::Compression;
use flate2::write::GzEncoder;
use rayon::prelude::*;

const USAGE: &str = "\
generate-dumps OUT [options]     writes the dumps of an invented job into the folder OUT

  --records N         records over all processes, rounded up to whole collectives [2500000]
  --bytes N           instead of --records: about so many bytes of JSON, uncompressed
  --ranks N           processes, 8 a node: a multiple of 8 [64]
  --communicators N   communicators of each process [8]
  --format V          v4.0, v4.2 (algorithm and protocol) or v4.3 (context once per dump) [v4.0]
  --verbose N         event traces with N channels a record
  --gzip              gzip files
";

const GPUS_PER_NODE: u32 = 8;
const COLLECTIVES: [&str; 4] = ["AllReduce", "AllGather", "ReduceScatter", "Broadcast"];
/// As the Inspector writes them: a rank's part for AllGather and ReduceScatter.
const SIZES: [u64; 6] = [16 << 10, 256 << 10, 1 << 20, 4 << 20, 16 << 20, 64 << 20];
/// Operations of one communicator between two dumps; under the plugin's default ring of 1024.
const OPERATIONS_PER_DUMP: u64 = 240;
const DUMP_INTERVAL_US: u64 = 500_000;
const JOB_START_US: u64 = 1_767_225_600_000_000;

#[derive(Clone, Copy, PartialEq, Eq)]
enum Format {
    V40,
    V42,
    V43,
}

#[derive(Clone)]
struct Options {
    out: PathBuf,
    operations: u64,
    ranks: u32,
    communicators: u32,
    format: Format,
    channels: u32,
    gzip: bool,
}

/// A communicator as one of its members sees it.
struct Communicator {
    id: u64,
    name: String,
    rank: u32,
    n_ranks: u32,
    nnodes: u32,
}

impl Communicator {
    /// The `index`-th communicator of process `rank` among `ranks`: eight layouts that take turns.
    fn of(index: u32, rank: u32, ranks: u32) -> Self {
        let node = rank / GPUS_PER_NODE;
        let local = rank % GPUS_PER_NODE;
        let nodes = ranks / GPUS_PER_NODE;
        let pair_of_nodes = nodes - (node / 2 * 2) >= 2;
        // (name, which one, own rank, ranks, nodes)
        let (name, group, own, n_ranks, nnodes) = match index % 8 {
            0 => ("default_pg", 0, rank, ranks, nodes),
            1 => ("TP Group", node, local, GPUS_PER_NODE, 1),
            2 => ("DP Group", local, node, nodes, nodes),
            3 => ("TP Pair", rank / 2, rank % 2, 2, 1),
            4 => ("TP Quad", rank / 4, rank % 4, 4, 1),
            5 => (
                "EP Group",
                local / 4,
                node * 4 + local % 4,
                nodes * 4,
                nodes,
            ),
            6 if pair_of_nodes => (
                "CP Group",
                node / 2,
                node % 2 * GPUS_PER_NODE + local,
                2 * GPUS_PER_NODE,
                2,
            ),
            7 if pair_of_nodes => ("PP Group", node / 2 * GPUS_PER_NODE + local, node % 2, 2, 2),
            _ => ("Lone Group", node, local, GPUS_PER_NODE, 1),
        };
        let turn = index / 8;
        let seed = mix(u64::from(index) << 40 | u64::from(group) << 8 | 0x5e);
        Self {
            // 14 digits, as the plugin leaves of a full hash.
            id: (seed >> 8) | 1 << 55,
            name: if turn == 0 {
                format!("{name} {group}")
            } else {
                format!("{name} {group}.{turn}")
            },
            rank: own,
            n_ranks,
            nnodes,
        }
    }

    /// Bus bandwidth of its slowest link, GB/s.
    fn bandwidth(&self) -> f64 {
        match (self.nnodes, self.n_ranks) {
            (1, _) => 370.0,
            (nodes, ranks) => 45.0 * f64::from(ranks / nodes),
        }
    }

    /// Transfer time of its `operation`-th collective, µs.
    fn transfer_us(&self, operation: u64, collective: &str, size: u64) -> f64 {
        let hops = f64::from(self.n_ranks.max(2)).log2();
        let latency = 6.0 * hops * if self.nnodes == 1 { 1.0 } else { 3.0 };
        let wire = traffic(collective, size, self.n_ranks) * bus_factor(collective, self.n_ranks)
            / self.bandwidth()
            / 1e3;
        let noise = 0.97 + 0.06 * unit(mix(self.id ^ mix(operation)));
        (latency + wire) * noise
    }

    /// How late `rank` comes to the `operation`-th collective, µs: exponential, mean 25.
    fn arrival_us(&self, operation: u64, rank: u32) -> f64 {
        let u = unit(mix(
            self.id ^ mix(operation << 20 | u64::from(rank) | 1 << 60)
        ));
        -25.0 * (1.0 - u).ln()
    }
}

/// The finalizer of splitmix64 (Steele, Lea, Flood 2014): every bit of the input moves every bit of the output.
const fn mix(x: u64) -> u64 {
    let x = x.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ (x >> 31)
}

/// The upper 53 bits as a number in 0 ≤ x < 1.
fn unit(bits: u64) -> f64 {
    (bits >> 11) as f64 / (1u64 << 53) as f64
}

/// Bytes behind the algorithm bandwidth: the Inspector's size is per rank for two of the collectives.
fn traffic(collective: &str, size: u64, n_ranks: u32) -> f64 {
    match collective {
        "AllGather" | "ReduceScatter" => size as f64 * f64::from(n_ranks),
        _ => size as f64,
    }
}

/// Bus bandwidth ÷ algorithm bandwidth.
fn bus_factor(collective: &str, n_ranks: u32) -> f64 {
    let n = f64::from(n_ranks);
    match collective {
        "AllReduce" => 2.0 * (n - 1.0) / n,
        "AllGather" | "ReduceScatter" => (n - 1.0) / n,
        _ => 1.0,
    }
}

/// Everything that one process writes.
fn write_process(options: &Options, rank: u32, out: &mut dyn Write) -> io::Result<()> {
    let host = format!("gpu-{:03}", rank / GPUS_PER_NODE + 1);
    let pid = pid_of(rank);
    let communicators: Vec<_> = (0..options.communicators)
        .map(|index| Communicator::of(index, rank, options.ranks))
        .collect();
    let phase = mix(u64::from(rank)) % DUMP_INTERVAL_US;
    let mut line = Vec::with_capacity(16 << 10);
    let mut dump = 0;
    let mut first = 0;
    while first < options.operations {
        let last = (first + OPERATIONS_PER_DUMP).min(options.operations);
        dump += 1;
        let mut now = JOB_START_US + phase + dump * DUMP_INTERVAL_US;
        for communicator in &communicators {
            if options.format == Format::V43 {
                line.clear();
                line.push(b'{');
                write_context(&mut line, options, communicator, now, &host, pid)?;
                writeln!(
                    line,
                    ",\"dump_stats\":{{\"coll_records\":{},\"coll_dropped_total\":0,\"coll_dropped_since_last_dump\":0,\
                     \"p2p_records\":0,\"p2p_dropped_total\":0,\"p2p_dropped_since_last_dump\":0}}}}",
                    last - first
                )?;
                out.write_all(&line)?;
            }
            for operation in first..last {
                // Formatting a line takes the plugin about 4 µs.
                now += 4;
                line.clear();
                line.push(b'{');
                if options.format != Format::V43 {
                    write_context(&mut line, options, communicator, now, &host, pid)?;
                    line.push(b',');
                }
                write_operation(&mut line, options, communicator, operation, now)?;
                line.extend_from_slice(b"}\n");
                out.write_all(&line)?;
            }
        }
        first = last;
    }
    Ok(())
}

/// `header` and `metadata`, without braces around.
fn write_context(
    line: &mut Vec<u8>,
    options: &Options,
    communicator: &Communicator,
    now_us: u64,
    host: &str,
    pid: u64,
) -> io::Result<()> {
    let version = match options.format {
        Format::V40 => "v4.0",
        Format::V42 => "v4.2",
        Format::V43 => "v4.3",
    };
    let Communicator {
        id,
        name,
        rank,
        n_ranks,
        nnodes,
    } = communicator;
    write!(
        line,
        "\"header\":{{\"id\":\"0x{id:x}\",\"comm_name\":\"{name}\",\"rank\":{rank},\"n_ranks\":{n_ranks},\"nnodes\":{nnodes}}},\
         \"metadata\":{{\"inspector_output_format_version\":\"{version}\",\"git_rev\":\"\",\
         \"rec_mechanism\":\"nccl_profiler_interface\",\"dump_timestamp_us\":{now_us},\"hostname\":\"{host}\",\"pid\":{pid}}}"
    )
}

/// `coll_perf`.
fn write_operation(
    line: &mut Vec<u8>,
    options: &Options,
    communicator: &Communicator,
    operation: u64,
    now_us: u64,
) -> io::Result<()> {
    let kinds = COLLECTIVES.len() as u64;
    let collective = COLLECTIVES[(operation % kinds) as usize];
    let sequence_number = operation / kinds;
    let n_ranks = communicator.n_ranks;
    let size = SIZES[(sequence_number % SIZES.len() as u64) as usize];
    let last_arrival = (0..n_ranks)
        .map(|rank| communicator.arrival_us(operation, rank))
        .fold(0.0, f64::max);
    let wait = last_arrival - communicator.arrival_us(operation, communicator.rank);
    let time_us = ((communicator.transfer_us(operation, collective, size) + wait) as u64).max(1);
    let algorithm_bandwidth = traffic(collective, size, n_ranks) / time_us as f64 / 1e3;
    let bus_bandwidth = algorithm_bandwidth * bus_factor(collective, n_ranks);
    write!(line, "\"coll_perf\":{{\"coll\":\"{collective}\",")?;
    if options.format != Format::V40 {
        let (algo, proto) = if size > 1 << 20 {
            ("RING", "SIMPLE")
        } else {
            ("TREE", "LL128")
        };
        write!(line, "\"coll_algo\":\"{algo}\",\"coll_proto\":\"{proto}\",")?;
    }
    write!(
        line,
        "\"coll_sn\":{sequence_number},\"coll_msg_size_bytes\":{size},\"coll_exec_time_us\":{time_us},\
         \"coll_timing_source\":\"kernel_gpu\",\"coll_algobw_gbs\":{algorithm_bandwidth:.6},\"coll_busbw_gbs\":{bus_bandwidth:.6}"
    )?;
    if options.channels > 0 {
        write_trace(line, options.channels, now_us, time_us)?;
    }
    line.push(b'}');
    Ok(())
}

/// `event_trace_sn` and `event_trace_ts` of a verbose record.
fn write_trace(line: &mut Vec<u8>, channels: u32, now_us: u64, time_us: u64) -> io::Result<()> {
    line.extend_from_slice(
        b",\"event_trace_sn\":{\"coll_start_sn\":1,\"coll_stop_sn\":2,\"kernel_events\":[",
    );
    for channel in 0..channels {
        let comma = if channel == 0 { "" } else { "," };
        write!(
            line,
            "{comma}{{\"channel_id\":{channel},\"kernel_start_sn\":{},\"kernel_stop_sn\":{},\"kernel_record_sn\":{}}}",
            3 + channel,
            3 + 2 * channels + channel,
            3 + channels + channel
        )?;
    }
    let stop = now_us - 1000;
    let start = stop - time_us;
    write!(
        line,
        "]}},\"event_trace_ts\":{{\"coll_start_ts\":{},\"coll_stop_ts\":{},\"kernel_events\":[",
        start - 30,
        start - 22
    )?;
    for channel in 0..channels {
        let comma = if channel == 0 { "" } else { "," };
        let noticed = stop + u64::from(channel % 5);
        write!(
            line,
            "{comma}{{\"channel_id\":{channel},\"kernel_start_ts\":{},\"kernel_stop_ts\":{noticed},\"kernel_record_ts\":{noticed}}}",
            start + u64::from(channel % 3)
        )?;
    }
    line.extend_from_slice(b"]}");
    Ok(())
}

fn pid_of(rank: u32) -> u64 {
    4000 + mix(u64::from(rank) << 32) % 4_000_000
}

fn write_file(options: &Options, rank: u32) -> io::Result<()> {
    let node = rank / GPUS_PER_NODE + 1;
    let extension = if options.gzip { "log.gz" } else { "log" };
    let name = format!("gpu-{node:03}-pid{}.{extension}", pid_of(rank));
    let file = BufWriter::with_capacity(1 << 20, File::create(options.out.join(name))?);
    if options.gzip {
        let mut encoder = GzEncoder::new(file, Compression::new(3));
        write_process(options, rank, &mut encoder)?;
        encoder.finish()?.flush()
    } else {
        let mut file = file;
        write_process(options, rank, &mut file)?;
        file.flush()
    }
}

/// Bytes of JSON that a collective of one communicator takes on average, from the first of process 0.
fn bytes_per_record(options: &Options) -> io::Result<u64> {
    let mut sample = options.clone();
    sample.operations = 24;
    let mut bytes = Vec::new();
    write_process(&sample, 0, &mut bytes)?;
    Ok(bytes.len() as u64 / (24 * u64::from(options.communicators)))
}

fn parse(mut arguments: impl Iterator<Item = String>) -> Result<Options, String> {
    let mut out = None;
    let mut records: u64 = 2_500_000;
    let mut bytes: Option<u64> = None;
    let mut options = Options {
        out: PathBuf::new(),
        operations: 0,
        ranks: 64,
        communicators: 8,
        format: Format::V40,
        channels: 0,
        gzip: false,
    };
    while let Some(argument) = arguments.next() {
        let mut value = || {
            arguments
                .next()
                .ok_or_else(|| format!("{argument} needs a value"))
        };
        match argument.as_str() {
            "--records" => records = number(&value()?)?,
            "--bytes" => bytes = Some(number::<u64>(&value()?)?),
            "--ranks" => options.ranks = number(&value()?)?,
            "--communicators" => options.communicators = number(&value()?)?,
            "--verbose" => options.channels = number(&value()?)?,
            "--gzip" => options.gzip = true,
            "--format" => {
                options.format = match value()?.as_str() {
                    "v4.0" => Format::V40,
                    "v4.2" => Format::V42,
                    "v4.3" => Format::V43,
                    other => return Err(format!("{other} is none of v4.0, v4.2, v4.3")),
                }
            }
            other if other.starts_with('-') || out.is_some() => {
                return Err(format!("unexpected argument {other}"));
            }
            other => out = Some(PathBuf::from(other)),
        }
    }
    options.out = out.ok_or("the folder OUT is missing")?;
    if options.ranks == 0 || !options.ranks.is_multiple_of(GPUS_PER_NODE) {
        return Err(format!("--ranks must be a multiple of {GPUS_PER_NODE}"));
    }
    if options.communicators == 0 {
        return Err("--communicators must be at least 1".into());
    }
    if let Some(bytes) = bytes {
        let each = bytes_per_record(&options).map_err(|e| e.to_string())?;
        records = bytes / each.max(1);
    }
    let streams = u64::from(options.ranks) * u64::from(options.communicators);
    options.operations = u64::max(records, 1).div_ceil(streams);
    Ok(options)
}

fn number<N: std::str::FromStr>(text: &str) -> Result<N, String> {
    text.parse().map_err(|_| format!("{text} isn't a number"))
}

fn size_of_folder(folder: &Path) -> io::Result<u64> {
    fs::read_dir(folder)?.try_fold(0, |sum, entry| Ok(sum + entry?.metadata()?.len()))
}

fn run(options: &Options) -> io::Result<()> {
    fs::create_dir_all(&options.out)?;
    if fs::read_dir(&options.out)?.next().is_some() {
        return Err(io::Error::other(format!(
            "{} isn't empty",
            options.out.display()
        )));
    }
    (0..options.ranks)
        .into_par_iter()
        .try_for_each(|rank| write_file(options, rank))?;
    writeln!(
        io::stdout(),
        "{}: {} records of {} processes, {} bytes",
        options.out.display(),
        options.operations * u64::from(options.ranks) * u64::from(options.communicators),
        options.ranks,
        size_of_folder(&options.out)?
    )
}

fn main() -> ExitCode {
    let done = parse(std::env::args().skip(1))
        .map_err(|message| format!("{message}\n\n{USAGE}"))
        .and_then(|options| run(&options).map_err(|e| e.to_string()));
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            // Nothing is left to do when even the error can't be written.
            let _ = writeln!(io::stderr(), "generate-dumps: {message}");
            ExitCode::from(2)
        }
    }
}
