//! Dumps as the plugin writes them, line by line.

use std::fmt::Write;

use crate::program::Place;

/// A run to compare: one communicator over two hosts, a rank on each, AllReduce of 16 MiB at about 17 GB/s.
#[derive(Debug, Clone)]
pub struct Run {
    /// Where its files go.
    pub folder: String,
    /// Draws its noise, names its processes.
    pub seed: u64,
    /// How many times as long the transfers take.
    pub slower: f64,
    /// Collectives of each rank.
    pub collectives: u64,
    /// Ranks that leave a file, of two.
    pub ranks: u64,
    /// `coll_timing_source`.
    pub timing: &'static str,
    /// When it began: days after the first.
    pub day: u64,
}

impl Run {
    pub fn new(folder: &str, seed: u64) -> Self {
        Self {
            folder: folder.to_owned(),
            seed,
            slower: 1.0,
            collectives: 240,
            ranks: 2,
            timing: "kernel_gpu",
            day: 0,
        }
    }

    pub fn slower(self, slower: f64) -> Self {
        Self { slower, ..self }
    }

    pub fn day(self, day: u64) -> Self {
        Self { day, ..self }
    }

    /// Writes its files.
    pub fn write(&self, place: &Place) {
        const BYTES: f64 = 16_777_216.0;
        // Any generator will do; this one is Knuth's MMIX.
        let mut state = self.seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
        let mut random = || {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            (state >> 11) as f64 / (1_u64 << 53) as f64
        };
        let mut files = vec![String::new(); 2];
        for number in 0..self.collectives {
            let transfer = 1_000.0 * self.slower * (0.98 + 0.04 * random());
            let late = usize::from(random() < 0.5);
            let wait = 30.0 * random();
            for (rank, text) in files.iter_mut().enumerate() {
                let micros = (transfer + if rank == late { 0.0 } else { wait }) as u64;
                let gb_per_s = BYTES / micros as f64 / 1e3;
                let stamp =
                    1_767_323_045_000_000 + self.day * 86_400_000_000 + (number / 5 + 1) * 50_000;
                let pid = 1_000 + self.seed * 10 + rank as u64;
                writeln!(
                    text,
                    r#"{{"header":{{"id":"0x9e7a479f95{:04x}","comm_name":"dp group","rank":{rank},"n_ranks":2,"nnodes":2}},"metadata":{{"inspector_output_format_version":"v4.0","git_rev":"","rec_mechanism":"nccl_profiler_interface","dump_timestamp_us":{stamp},"hostname":"gpu-00{}","pid":{pid}}},"coll_perf":{{"coll":"AllReduce","coll_sn":{number},"coll_msg_size_bytes":16777216,"coll_exec_time_us":{micros},"coll_timing_source":"{}","coll_algobw_gbs":{gb_per_s:.6},"coll_busbw_gbs":{gb_per_s:.6}}}}}"#,
                    self.seed,
                    rank + 1,
                    self.timing
                )
                .expect("a string");
            }
        }
        for (rank, text) in files.iter().enumerate().take(self.ranks as usize) {
            place.write(
                &format!("{}/gpu-00{}-pid{rank}.log", self.folder, rank + 1),
                text,
            );
        }
    }
}

/// Bytes of each collective.
pub const SIZE: u64 = 1 << 20;
/// Collectives of each rank.
pub const COLLECTIVES: u64 = 40;

/// A collective of a communicator of two ranks on one host, in the dialect of NCCL 2.30.
pub fn line(host: &str, pid: u32, rank: u32, number: u64, micros: u64) -> String {
    // 1 byte a microsecond is 1e6 bytes a second; with two ranks the bus bandwidth of AllReduce equals it.
    let gb_per_s = SIZE as f64 / micros as f64 / 1e3;
    let host = serde_json::Value::from(host);
    format!(
        r#"{{"header":{{"id":"0x9e7a479f95a66c","comm_name":"tp group","rank":{rank},"n_ranks":2,"nnodes":1}},"metadata":{{"inspector_output_format_version":"v4.0","git_rev":"25368a7f","rec_mechanism":"nccl_profiler_interface","dump_timestamp_us":{},"hostname":{host},"pid":{pid}}},"coll_perf":{{"coll":"AllReduce","coll_sn":{number},"coll_msg_size_bytes":{SIZE},"coll_exec_time_us":{micros},"coll_timing_source":"kernel_gpu","coll_algobw_gbs":{gb_per_s:.6},"coll_busbw_gbs":{gb_per_s:.6}}}}}"#,
        1_767_323_045_000_000_u64 + number * 1_000
    )
}

/// A healthy job of two ranks on `host`: in `logs/`, a file per process, 80 records.
pub fn healthy(place: &Place, host: &str) {
    for rank in 0..2 {
        let pid = 4711 + rank;
        let mut text = String::new();
        for number in 0..COLLECTIVES {
            let micros = 100 + (number + u64::from(rank)) % 3;
            writeln!(text, "{}", line(host, pid, rank, number, micros)).expect("a string");
        }
        place.write(&format!("logs/node-pid{pid}.log"), text);
    }
}

/// The healthy job with one line that is no JSON any more.
pub fn with_broken_line(place: &Place) {
    healthy(place, "gpu-001");
    let whole = line("gpu-001", 4713, 0, 0, 100);
    let broken = whole.replace("\"rank\":0", "\"rank\":?");
    place.write("logs/node-pid4713.log", format!("{broken}\n"));
}

/// Records, but none that can be analysed: only a marker that says that nothing follows.
pub fn only_markers(place: &Place) {
    let marker = r#"{"header":{"id":"0x9e7a479f95a66c","comm_name":"tp group","rank":0,"n_ranks":2,"nnodes":1},"metadata":{"inspector_output_format_version":"v4.1","git_rev":"25368a7f","rec_mechanism":"nccl_profiler_interface","dump_timestamp_us":1767323045000000,"hostname":"gpu-001","pid":4711},"dump_stats":{"coll_records":0,"coll_dropped_total":0,"coll_dropped_since_last_dump":0,"p2p_records":0,"p2p_dropped_total":0,"p2p_dropped_since_last_dump":0}}"#;
    place.write("logs/node-pid4711.log", format!("{marker}\n"));
}
