//! Writes reports of made-up jobs into a folder, to be looked at: `cargo run -p nccl-report-render --example synthetic -- DIR`.

use std::error::Error;
use std::path::PathBuf;

use nccl_report_render::{Options, write};

#[allow(dead_code, unused_imports, reason = "the tests use all of it")]
#[path = "../src/synthetic/mod.rs"]
mod synthetic;

fn main() -> Result<(), Box<dyn Error>> {
    let folder = PathBuf::from(std::env::args_os().nth(1).ok_or("usage: synthetic DIR")?);
    let jobs = [
        ("ordinary", synthetic::job()),
        ("healthy", synthetic::healthy()),
        ("hostile", synthetic::hostile()),
        ("empty", synthetic::empty()),
        ("large", synthetic::job_of(512)),
    ];
    for (name, job) in jobs {
        write(
            &job,
            &Options {
                out: folder.join(name),
            },
        )?;
    }
    Ok(())
}
