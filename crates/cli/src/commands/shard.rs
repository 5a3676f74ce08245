//! A share of a job's files, read on one of several machines.

use std::env;
use std::path::PathBuf;

use nccl_report_ingest::{Dataset, Shard, Share};

use super::phases::{Phases, Reading, title};
use crate::exit::Status;
use crate::failure::Failure;
use crate::memory::Memory;
use crate::names;
use crate::output::{OutputFolder, SHARDS};
use crate::settings::{Report, WhichShard};
use crate::ui::{Console, tables};

/// Names of the numbers that SLURM gives to the tasks of an array: this one's, the first one's, how many.
const ARRAY: [&str; 3] = [
    "SLURM_ARRAY_TASK_ID",
    "SLURM_ARRAY_TASK_MIN",
    "SLURM_ARRAY_TASK_COUNT",
];
/// The same for the tasks of `srun`, which count from 0.
const STEP: [&str; 2] = ["SLURM_PROCID", "SLURM_NTASKS"];

/// Reads the share into `OUT/shards/INDEX-of-COUNT`, for `nccl-report merge` to find there.
pub fn run(
    settings: &Report,
    which: WhichShard,
    console: Console,
    memory: Memory,
) -> Result<Status, Failure> {
    let shard = match which {
        WhichShard::Numbered(shard) => shard,
        WhichShard::Slurm => of_slurm(|name| env::var(name).ok())?,
    };
    let logs = &settings.inputs;
    let whole = (settings.out.clone()).unwrap_or_else(|| names::report_folder(logs));
    let folder = whole.join(SHARDS).join(shard.folder());
    let mut out = OutputFolder::claim(&folder, &[], logs)?;
    let phases = Phases::begin(console, memory);
    let dataset = read(settings, &phases, shard, &whole, &folder)?;
    // A share may hold no record: those of the others do.
    out.keep();
    console.result(&tables(&dataset, &folder, console.width()))?;
    Ok(Status::Done)
}

fn read(
    settings: &Report,
    phases: &Phases,
    shard: Shard,
    whole: &std::path::Path,
    folder: &std::path::Path,
) -> Result<Dataset, Failure> {
    let logs = &settings.inputs;
    let holds_logs = logs.iter().any(|l| crate::output::is_within(l, whole));
    let exclude: Vec<PathBuf> = match holds_logs {
        true => vec![whole.join(SHARDS)],
        false => vec![whole.to_owned()],
    };
    // A database named beside the logs is one of the files that are shared out.
    let inputs = settings.traces.with(logs);
    phases.read(Reading {
        logs: &inputs,
        dataset: folder.to_owned(),
        exclude,
        compression_level: settings.compression_level,
        share: Some(Share {
            shard,
            job: title(settings.title.as_deref(), logs),
        }),
    })
}

/// This task's number: of a job array, else of `srun`.
fn of_slurm(variable: impl Fn(&str) -> Option<String>) -> Result<Shard, Failure> {
    let number = |name: &str| -> Result<Option<u32>, Failure> {
        variable(name)
            .map(|text| {
                text.trim()
                    .parse()
                    .map_err(|_| Failure::new(format_args!("{name} is no number: {text:?}")))
            })
            .transpose()
    };
    let [id, first, count] = [number(ARRAY[0])?, number(ARRAY[1])?, number(ARRAY[2])?];
    let (index, of) = match (id, count, number(STEP[0])?, number(STEP[1])?) {
        (Some(id), Some(count), ..) => (id.wrapping_sub(first.unwrap_or(0)), count),
        (None, _, Some(id), Some(count)) => (id, count),
        _ => {
            return Err(Failure::new(
                "failed to tell which shard this is: SLURM gave this process no number",
            )
            .hint("--shard INDEX/COUNT says it, such as --shard 0/16")
            .hint("--shard alone needs a job array (sbatch --array=0-15) or srun --ntasks=16"));
        }
    };
    Shard::new(index, of).map_err(|why| {
        Failure::new(format_args!("failed to tell which shard this is: {why}"))
            .hint("an array must be without gaps, such as --array=0-15")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(variables: &[(&str, &str)]) -> Result<String, String> {
        let find = |name: &str| {
            let found = variables.iter().find(|v| v.0 == name);
            found.map(|v| v.1.to_owned())
        };
        of_slurm(find)
            .map(|s| s.to_string())
            .map_err(|e| e.to_string())
    }

    #[test]
    fn an_array_numbers_its_tasks_from_where_it_begins() {
        let array = |id, min, count| of(&[(ARRAY[0], id), (ARRAY[1], min), (ARRAY[2], count)]);
        assert_eq!(array("0", "0", "16"), Ok("0/16".into()));
        assert_eq!(array("16", "1", "16"), Ok("15/16".into()));
        // An array with a gap: 0, 1, 5.
        assert!(array("5", "0", "3").is_err());
        assert!(array("x", "0", "3").is_err_and(|m| m.contains("no number")));
    }

    #[test]
    fn tasks_of_srun_are_shards_and_an_array_comes_first() {
        let step = [(STEP[0], "2"), (STEP[1], "3")];
        assert_eq!(of(&step), Ok("2/3".into()));
        let both = [
            &step[..],
            &[(ARRAY[0], "1"), (ARRAY[1], "0"), (ARRAY[2], "4")],
        ]
        .concat();
        assert_eq!(of(&both), Ok("1/4".into()));
        assert!(of(&[]).is_err_and(|m| m.contains("no number")));
    }
}
