//! What an operation does to bandwidth and to time.

/// How a function's bandwidth and times are to be read.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Semantics {
    /// Algorithm bandwidth = size × this / time; `None` when the plugin reports none.
    pub(crate) traffic_factor: Option<f64>,
    /// Bus bandwidth = algorithm bandwidth × this.
    pub(crate) bus_factor: f64,
    /// Every rank's kernel ends at about the same moment, so the last to arrive shows the shortest time.
    pub(crate) ends_together: bool,
}

/// Semantics of `function` among `n_ranks` ranks.
///
/// Factors are those of NCCL's own performance notes: algorithm bandwidth counts the size for `AllReduce`, `Broadcast`,
/// `Reduce` and Send/Recv, and the size times the ranks for `AllGather` and `ReduceScatter`, whose size is per rank.
/// `Broadcast`, `Reduce`, Send and Recv need not end together; of functions nobody has heard of nothing is assumed.
pub(crate) fn semantics(function: &str, n_ranks: u32) -> Semantics {
    let n = f64::from(n_ranks.max(1));
    match function {
        "AllReduce" => Semantics {
            traffic_factor: Some(1.0),
            bus_factor: 2.0 * (n - 1.0) / n,
            ends_together: true,
        },
        "AllGather" | "ReduceScatter" | "AllGatherV" => Semantics {
            traffic_factor: Some(n),
            bus_factor: (n - 1.0) / n,
            ends_together: true,
        },
        "Broadcast" | "Reduce" | "SendRecv" | "Send" | "Recv" => Semantics {
            traffic_factor: Some(1.0),
            bus_factor: 1.0,
            ends_together: false,
        },
        _ => Semantics {
            traffic_factor: None,
            bus_factor: 0.0,
            ends_together: false,
        },
    }
}

/// Bus bandwidth × time of an operation of `size` bytes, in bytes; `None` where the function has no bandwidth.
pub(crate) fn bus_work(function: &str, n_ranks: u32, size: u64) -> Option<f64> {
    let s = semantics(function, n_ranks);
    Some(s.traffic_factor? * size as f64 * s.bus_factor)
}

/// Bus bandwidth in GB/s of an operation with this [`bus_work`] in `micros`; `None` where the time is zero.
pub(crate) fn bandwidth_of(work: f64, micros: f64) -> Option<f64> {
    (micros > 0.0).then(|| work / micros / 1e3)
}

/// Bus bandwidth in GB/s of `size` bytes in `micros`; `None` where the function has none or the time is zero.
pub(crate) fn bus_bandwidth(function: &str, n_ranks: u32, size: u64, micros: f64) -> Option<f64> {
    bandwidth_of(bus_work(function, n_ranks, size)?, micros)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Lines written by the plugin itself (2.28.9 and 2.30.7): 8192 bytes in 39 µs over 8 ranks, 4 MiB in 26 µs over 2.
    #[test]
    fn bandwidths_are_those_of_the_plugin() {
        let all_reduce = bus_bandwidth("AllReduce", 8, 8192, 39.0).expect("defined");
        assert!((all_reduce - 0.367_590).abs() < 5e-7);
        let all_gather = bus_bandwidth("AllGather", 2, 4_194_304, 26.0).expect("defined");
        assert!((all_gather - 161.319_385).abs() < 5e-7);
        assert_eq!(bus_bandwidth("Invalid", 8, 1, 1.0), None);
        assert_eq!(bus_bandwidth("AllReduce", 8, 1, 0.0), None);
    }
}
