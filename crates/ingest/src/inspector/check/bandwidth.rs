//! The plugin's own formulas, for a bandwidth that can't be read.
//!
//! NVIDIA/nccl, `plugins/profiler/inspector/inspector.cc` (`inspectorComputeCollBw`), which follows nccl-tests: algorithm bandwidth is
//! what the call moves per time, bus bandwidth is what a link of a ring carries. Decimal GB/s: bytes ÷ µs ÷ 1000.

/// What a function moves in terms of its message size, and how a ring of `n` ranks carries it.
fn factors(function: &str, n_ranks: u32) -> Option<(f64, f64)> {
    let n = f64::from(n_ranks);
    let ring = (n - 1.0) / n;
    match function {
        "AllReduce" => Some((1.0, 2.0 * ring)),
        // Their size is one rank's share.
        "AllGather" | "ReduceScatter" | "AllGatherV" => Some((n, ring)),
        "Broadcast" | "Reduce" | "SendRecv" | "Send" | "Recv" => Some((1.0, 1.0)),
        // All2All, "Invalid", and what nobody has heard of: the plugin writes 0.
        _ => None,
    }
}

/// Algorithm and bus bandwidth in decimal GB/s of `size` bytes in `micros`, which is above 0.
pub(super) fn bandwidths(function: &str, n_ranks: u32, size: u64, micros: f64) -> (f64, f64) {
    let Some((moved, carried)) = factors(function, n_ranks) else {
        return (0.0, 0.0);
    };
    let algorithm = size as f64 * moved / micros / 1e3;
    (algorithm, algorithm * carried)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Written by the plugin (v2.30.7-1), six decimals: function, ranks, bytes, µs, algorithm and bus bandwidth.
    #[test]
    fn equal_to_what_the_plugin_wrote() {
        for (function, n, size, micros, algorithm, bus) in [
            ("AllReduce", 8, 8192, 39.0, 0.210051, 0.367590),
            (
                "AllReduce",
                4,
                1_073_741_824,
                2063.0,
                520.475921,
                780.713881,
            ),
            ("ReduceScatter", 32, 65536, 110.0, 19.065018, 18.469236),
            ("Broadcast", 4, 1_048_576, 50.0, 20.971520, 20.971520),
            ("Send", 2, 65536, 1.0, 65.536000, 65.536000),
        ] {
            let (a, b) = bandwidths(function, n, size, micros);
            assert!(
                (a - algorithm).abs() < 5.1e-7,
                "{function}: {a} for {algorithm}"
            );
            assert!((b - bus).abs() < 5.1e-7, "{function}: {b} for {bus}");
        }
    }

    #[test]
    fn one_rank_and_unknown_functions_have_no_bus_bandwidth() {
        assert_eq!(bandwidths("AllReduce", 1, 1 << 20, 10.0).1, 0.0);
        assert_eq!(bandwidths("Invalid", 8, 1 << 20, 10.0), (0.0, 0.0));
        assert_eq!(bandwidths("All2All", 8, 1 << 20, 10.0), (0.0, 0.0));
    }
}
