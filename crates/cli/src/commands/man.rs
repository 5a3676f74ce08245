//! The man page: all on one page, or a page per subcommand.

use std::fs;
use std::io;
use std::path::Path;

use clap::{Command, CommandFactory};
use clap_mangen::Man;
use clap_mangen::roff::{Roff, roman};

use crate::args::Cli;
use crate::exit::Status;
use crate::failure::Failure;
use crate::ui::Console;

pub fn run(folder: Option<&Path>, console: Console) -> Result<Status, Failure> {
    let mut command = Cli::command();
    command.build();
    match folder {
        None => console.verbatim(&one_page(&command)?)?,
        Some(folder) => {
            write_pages(&command, folder).map_err(|e| {
                Failure::new(format_args!(
                    "failed to write man pages to {}: {e}",
                    folder.display()
                ))
            })?;
        }
    }
    Ok(Status::Done)
}

/// The main page, with a section per subcommand.
fn one_page(command: &Command) -> io::Result<Vec<u8>> {
    let mut page = Vec::new();
    head(command, &mut page)?;
    for subcommand in command.get_subcommands() {
        subcommand_section(subcommand, &mut page)?;
    }
    notes(command, &mut page)?;
    Ok(page)
}

fn write_pages(command: &Command, folder: &Path) -> io::Result<()> {
    fs::create_dir_all(folder)?;
    let mut page = Vec::new();
    head(command, &mut page)?;
    Man::new(command.clone()).render_subcommands_section(&mut page)?;
    notes(command, &mut page)?;
    fs::write(folder.join(Man::new(command.clone()).get_filename()), page)?;
    for subcommand in command.get_subcommands() {
        let mut page = Vec::new();
        head(subcommand, &mut page)?;
        notes(subcommand, &mut page)?;
        fs::write(
            folder.join(Man::new(subcommand.clone()).get_filename()),
            page,
        )?;
    }
    Ok(())
}

fn head(command: &Command, page: &mut Vec<u8>) -> io::Result<()> {
    let man = Man::new(command.clone());
    man.render_title(page)?;
    man.render_name_section(page)?;
    man.render_synopsis_section(page)?;
    man.render_description_section(page)?;
    man.render_options_section(page)
}

/// One section, whose parts are subsections.
fn subcommand_section(subcommand: &Command, page: &mut Vec<u8>) -> io::Result<()> {
    let man = Man::new(subcommand.clone());
    let mut parts = Vec::new();
    man.render_synopsis_section(&mut parts)?;
    man.render_description_section(&mut parts)?;
    man.render_options_section(&mut parts)?;
    notes(subcommand, &mut parts)?;
    let name = subcommand.get_bin_name().unwrap_or(subcommand.get_name());
    let mut roff = Roff::new();
    roff.control("SH", [name.to_uppercase().as_str()]);
    roff.to_writer(page)?;
    let parts = String::from_utf8_lossy(&parts).replace("\n.SH ", "\n.SS ");
    page.extend_from_slice(parts.as_bytes());
    Ok(())
}

/// Examples and the like: a section per heading of the help, its lines left as they are.
fn notes(command: &Command, page: &mut Vec<u8>) -> io::Result<()> {
    let help = command
        .get_after_long_help()
        .or_else(|| command.get_after_help())
        .map(ToString::to_string)
        .unwrap_or_default();
    let mut roff = Roff::new();
    for line in help.lines() {
        match line.strip_suffix(':') {
            Some(heading) if !heading.starts_with(' ') => {
                roff.control("fi", []);
                roff.control("SH", [heading.to_uppercase().as_str()]);
                roff.control("nf", []);
            }
            _ => {
                roff.text([roman(line)]);
            }
        }
    }
    roff.control("fi", []);
    roff.to_writer(page)
}
