//! The completions of a shell.

use clap::CommandFactory;
use clap_complete::{Shell, generate};

use crate::args::Cli;
use crate::exit::Status;
use crate::failure::Failure;
use crate::ui::Console;

pub fn run(shell: Shell, console: Console) -> Result<Status, Failure> {
    let mut command = Cli::command();
    let name = command.get_name().to_owned();
    let mut script = Vec::new();
    generate(shell, &mut command, name, &mut script);
    console.verbatim(&script)?;
    Ok(Status::Done)
}
