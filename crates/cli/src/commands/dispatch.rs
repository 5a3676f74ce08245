//! From settings to the command, and from its result to the exit status.

use super::{analyze, compare, completions, ingest, man, merge, report, slurm_script};
use crate::exit::Status;
use crate::failure::Failure;
use crate::settings::{Command, Settings};
use crate::threads;
use crate::ui::Console;

/// Does what was asked, and says why where it can't.
pub fn run(settings: Settings) -> Status {
    let console = Console::new(settings.voice);
    obey(&settings, console).unwrap_or_else(|failure| {
        console.failure(&failure);
        failure.status()
    })
}

fn obey(settings: &Settings, console: Console) -> Result<Status, Failure> {
    if let Some(n) = settings.threads {
        threads::limit(n)?;
    }
    match &settings.command {
        Command::Report(s) => report::run(s, console, settings.memory),
        Command::Ingest(s) => ingest::run(s, console, settings.memory),
        Command::Analyze(s) => analyze::run(s, console, settings.memory),
        Command::Compare(s) => compare::run(s, console, settings.memory),
        Command::Merge(s) => merge::run(s, console, settings.memory),
        Command::SlurmScript(s) => slurm_script::run(s, console),
        Command::Completions(shell) => completions::run(*shell, console),
        Command::Man { folder } => man::run(folder.as_deref(), console),
    }
}
