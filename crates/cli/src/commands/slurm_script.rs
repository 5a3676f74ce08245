//! A batch file for SLURM: an array whose tasks read a share each, and a merge after all of them.

use std::path::{Path, PathBuf, absolute};

use crate::exit::Status;
use crate::failure::Failure;
use crate::names;
use crate::settings::SlurmScript;
use crate::ui::Console;

pub fn run(settings: &SlurmScript, console: Console) -> Result<Status, Failure> {
    let program = std::env::current_exe()
        .map_err(|e| Failure::new(format_args!("failed to tell where this program lies: {e}")))?;
    console.verbatim(script(settings, &program)?.as_bytes())?;
    Ok(Status::Done)
}

fn script(settings: &SlurmScript, program: &Path) -> Result<String, Failure> {
    let out = (settings.out.clone()).unwrap_or_else(|| names::report_folder(&settings.logs));
    let logs: Vec<String> = (settings.logs.iter())
        .map(|l| whole_path(l))
        .collect::<Result<_, _>>()?;
    for option in &settings.options {
        if !option.starts_with('-') || option.chars().any(char::is_control) {
            return Err(Failure::new(format_args!(
                "failed to use {option:?} as an option for sbatch"
            ))
            .hint("it begins with a dash, and is one line: --sbatch=--partition=cpu"));
        }
    }
    let directives: String = (settings.options.iter())
        .map(|o| format!("#SBATCH {}\n", directive(o)))
        .collect();
    let options: Vec<String> = settings.options.iter().map(|o| quoted(o)).collect();
    Ok(format!(
        r#"#!/bin/bash
#SBATCH --job-name=nccl-report
#SBATCH --array=0-{last}
#SBATCH --ntasks=1
#SBATCH --requeue
{directives}#
# Each task reads a share of the dumps; when all have succeeded, one more job makes the report. Submit this file with sbatch, as
# often as you like: what was read is not read again.
set -u

program=${{NCCL_REPORT:-{program}}}
logs=({logs})
out={out}
options=({options})

# The first task queues the merge, once: not when it is run again.
if [ "$SLURM_ARRAY_TASK_ID" -eq "$SLURM_ARRAY_TASK_MIN" ] && [ "${{SLURM_RESTART_COUNT:-0}}" -eq 0 ]; then
    sbatch --job-name=nccl-report-merge --ntasks=1 "${{options[@]}}" \
        --dependency="afterok:$SLURM_ARRAY_JOB_ID" --kill-on-invalid-dep=yes \
        --wrap "exec $(printf '%q ' "$program" merge "$out")" || exit
fi

status=1
for try in 1 2 3; do
    "$program" "${{logs[@]}}" --out "$out" --shard && exit 0
    status=$?
    echo "shard $SLURM_ARRAY_TASK_ID: status $status at try $try" >&2
    sleep $((try * 5))
done
exit "$status"
"#,
        last = settings.shards - 1,
        program = quoted(&whole_path(program)?),
        logs = logs.iter().map(|l| quoted(l)).collect::<Vec<_>>().join(" "),
        out = quoted(&whole_path(&out)?),
        options = options.join(" "),
    ))
}

/// A path that means the same on every machine; a script can hold it only if it is text.
fn whole_path(path: &Path) -> Result<String, Failure> {
    let fail = |why: &dyn std::fmt::Display| {
        Failure::new(format_args!("failed to use {}: {why}", path.display()))
    };
    let whole: PathBuf = absolute(path).map_err(|e| fail(&e))?;
    let text = whole
        .to_str()
        .ok_or_else(|| fail(&"its name isn't valid UTF-8"))?;
    Ok(text.to_owned())
}

/// A word of the shell that stands for the text and nothing else.
fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', r"'\''"))
}

/// An option as a line of `#SBATCH` has it: sbatch splits at blanks that no double quotes hold.
fn directive(option: &str) -> String {
    if option.contains(char::is_whitespace) {
        format!("\"{}\"", option.replace('\\', r"\\").replace('"', "\\\""))
    } else {
        option.to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn made(logs: &str, options: &[&str]) -> Result<String, String> {
        let settings = SlurmScript {
            logs: vec![PathBuf::from(logs)],
            shards: 16,
            out: Some(PathBuf::from("/scratch/r")),
            options: options.iter().map(|o| (*o).to_owned()).collect(),
        };
        script(&settings, Path::new("/opt/nccl-report")).map_err(|e| e.to_string())
    }

    #[test]
    fn the_array_has_a_task_for_each_shard() {
        let script = made("/logs/job42", &["--partition=cpu"]).expect("a script");
        assert!(script.contains("#SBATCH --array=0-15\n"));
        assert!(script.contains("#SBATCH --partition=cpu\n"));
        assert!(script.contains("logs=('/logs/job42')\n"));
        assert!(script.contains("out='/scratch/r'\n"));
    }

    #[test]
    fn options_that_would_be_more_than_one_are_refused() {
        assert!(made("/l", &["cpu"]).is_err());
        assert!(made("/l", &["--comment=a\n#SBATCH --nodes=9"]).is_err());
    }

    /// bash itself says what it makes of the words.
    #[cfg(unix)]
    #[test]
    #[expect(clippy::print_stderr, reason = "a skipped test says so")]
    fn hostile_names_are_words_and_the_script_is_one() {
        let hostile = "/logs/a b'; echo $(id) \"`x`\n*";
        let script = made(hostile, &["--comment=$(id) it's"]).expect("a script");
        let run = |text: &str| {
            let out = std::process::Command::new("bash")
                .args(["-c", text])
                .output();
            out.map(|o| {
                (
                    o.status.success(),
                    String::from_utf8_lossy(&o.stdout).into_owned(),
                )
            })
        };
        let Ok((valid, _)) = run("exit 0") else {
            eprintln!("SKIPPED: no bash here to read the script");
            return;
        };
        assert!(valid);
        let assigned = script
            .lines()
            .skip_while(|l| !l.starts_with("logs="))
            .collect::<Vec<_>>();
        let end = assigned
            .iter()
            .position(|l| l.starts_with("# The first"))
            .expect("the part");
        let text = format!("{}\nprintf %s \"${{logs[0]}}\"", assigned[..end].join("\n"));
        assert_eq!(run(&text).expect("bash runs"), (true, hostile.to_owned()));
    }
}
