//! The command line of nccl-report: arguments, progress, what is printed, exit status.
//!
//! The flow of the main job is in `commands/report.rs`: read the dumps, analyse, write the report, print the summary.

mod args;
mod commands;
mod exit;
mod failure;
mod help;
mod input;
mod interrupt;
mod memory;
mod names;
mod output;
mod progress;
mod settings;
mod threads;
mod ui;

use std::process::ExitCode;

fn main() -> ExitCode {
    exit::announce_bugs();
    match args::parse() {
        Ok(cli) => commands::run(settings::Settings::from(cli)).into(),
        Err(status) => status.into(),
    }
}
