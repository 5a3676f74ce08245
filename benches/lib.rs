//! Benchmarks by criterion: `cargo bench --manifest-path benches/Cargo.toml`.
