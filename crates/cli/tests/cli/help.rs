//! `--help` and `--version`.

use crate::program::Place;

#[test]
fn the_version_is_the_crate_s() {
    let run = Place::new().run(&["--version"]).ended_with(0);
    assert_eq!(
        run.stdout,
        concat!("nccl-report ", env!("CARGO_PKG_VERSION"), "\n")
    );
}

#[test]
fn the_short_help_fits_a_screen() {
    let run = Place::new().run(&["-h"]).ended_with(0);
    insta::assert_snapshot!(run.stdout, @r"
Reports how the communication of a distributed training job went, from its NCCL Inspector dumps

Usage: nccl-report [OPTIONS] <LOGS>...
       nccl-report <COMMAND>

Commands:
  ingest        Write only the Parquet tables
  analyze       Print only the JSON
  compare       Compare two jobs, and fail on a regression
  merge         Make the report of a job that was read in shards
  slurm-script  Print a batch file that reads a job in shards, for sbatch
  completions   Print the completions of a shell
  man           Print the man page

Arguments:
  <LOGS>...  Dumps and eBPF traces: files, or folders that are searched recursively

Options:
  -o, --out <DIR>              Folder of the report [default: ./<name of LOGS>-report]
      --format <FORMAT>        What to print on stdout: a summary, or the content of report.json
                               [default: text] [possible values: text, json]
      --shard [<INDEX/COUNT>]  Read only this share of the files, and make no report
      --title <TEXT>           Name of the job, for the head of the report [default: name of LOGS]
      --fail-on <SEVERITY>     Exit with status 1 when a finding is at least this severe [default:
                               never] [possible values: warning, critical]
      --rules <FILE>           Limits of your own, in TOML: a broken one is a finding
      --trace <HOST=FILE>      Which host an eBPF trace is of, where nothing else says so
      --slow-ms <MS>           Collectives in eBPF traces that took longer are slow [default: 50]
      --slow-times <N>         The same, as a multiple of the median of their kind
      --compression-level <N>  zstd level of the Parquet files, 1 (fast) to 22 (small) [default: 1]
  -q, --quiet                  Print nothing but errors (and JSON that was asked for)
  -v, --verbose...             Say more on stderr: timings (-v), every file (-vv)
      --threads <N>            Threads to use [default: one per core]
      --memory <SIZE>          Memory to keep to, such as 512M or 8G [default: 512M]
      --color <WHEN>           When to use colours [default: auto] [possible values: auto, always,
                               never]
  -h, --help                   Print help (see more with '--help')
  -V, --version                Print version

Examples:
  nccl-report /logs/job42             write ./job42-report, print a summary
  nccl-report /logs/job42 --out /tmp/r --format json | jq .groups
  nccl-report ingest /logs/job42 --out /tmp/r      only the Parquet

`--help` says more: the files of the report, exit statuses, how to get dumps.
");
}

#[test]
fn the_short_help_of_each_subcommand() {
    let place = Place::new();
    let ingest = place.run(&["ingest", "-h"]).ended_with(0).stdout;
    insta::assert_snapshot!(ingest, @r#"
Write only the Parquet tables

Usage: nccl-report ingest [OPTIONS] --out <DIR> <LOGS>...

Arguments:
  <LOGS>...  Dumps and eBPF traces: files, or folders that are searched recursively

Options:
  -o, --out <DIR>              Folder of the dataset: the tables go to DIR/parquet
      --compression-level <N>  zstd level of the Parquet files, 1 (fast) to 22 (small) [default: 1]
  -q, --quiet                  Print nothing but errors (and JSON that was asked for)
  -v, --verbose...             Say more on stderr: timings (-v), every file (-vv)
      --threads <N>            Threads to use [default: one per core]
      --memory <SIZE>          Memory to keep to, such as 512M or 8G [default: 512M]
      --color <WHEN>           When to use colours [default: auto] [possible values: auto, always,
                               never]
  -h, --help                   Print help (see more with '--help')

Examples:
  nccl-report ingest /logs/job42 --out /data/job42
  duckdb -c "select coll, count(*) from '/data/job42/parquet/collectives/*.parquet' group by 1"
"#);
    let analyze = place.run(&["analyze", "-h"]).ended_with(0).stdout;
    insta::assert_snapshot!(analyze, @r"
Print only the JSON

Usage: nccl-report analyze [OPTIONS] <LOGS>...

Arguments:
  <LOGS>...  Dumps and eBPF traces: files, or folders that are searched recursively

Options:
  -o, --out <DIR>           Write DIR/report.json instead of printing
      --title <TEXT>        Name of the job, for the head of the report [default: name of LOGS]
      --fail-on <SEVERITY>  Exit with status 1 when a finding is at least this severe [default:
                            never] [possible values: warning, critical]
      --rules <FILE>        Limits of your own, in TOML: a broken one is a finding
      --trace <HOST=FILE>   Which host an eBPF trace is of, where nothing else says so
      --slow-ms <MS>        Collectives in eBPF traces that took longer are slow [default: 50]
      --slow-times <N>      The same, as a multiple of the median of their kind
  -q, --quiet               Print nothing but errors (and JSON that was asked for)
  -v, --verbose...          Say more on stderr: timings (-v), every file (-vv)
      --threads <N>         Threads to use [default: one per core]
      --memory <SIZE>       Memory to keep to, such as 512M or 8G [default: 512M]
      --color <WHEN>        When to use colours [default: auto] [possible values: auto, always,
                            never]
  -h, --help                Print help (see more with '--help')

Examples:
  nccl-report analyze /logs/job42 | jq '.communicators[].comm_type'
  nccl-report analyze job42-report --out elsewhere
");
}

#[test]
fn the_long_help_teaches() {
    let help = Place::new().run(&["--help"]).ended_with(0).stdout;
    for topic in [
        "Examples:",
        "Exit status:",
        "The files of the report",
        "NCCL_PROFILER_PLUGIN=",
        "NCCL_INSPECTOR_ENABLE=1",
        "NCCL_INSPECTOR_DUMP_DIR=",
        "NCCL_INSPECTOR_DUMP_THREAD_INTERVAL_MICROSECONDS=",
        "parquet/",
        "130",
    ] {
        assert!(help.contains(topic), "{topic} is missing");
    }
    let too_wide = help.lines().find(|l| l.chars().count() > 100);
    assert_eq!(too_wide, None);
}

/// What the plugin keeps between two dumps differs by version, and with it the interval that loses little.
#[test]
fn the_dump_interval_is_the_same_wherever_it_is_told() {
    let root = concat!(env!("CARGO_MANIFEST_DIR"), "/../../");
    let read = |name: &str| std::fs::read_to_string(format!("{root}{name}")).expect("a file");
    let mut texts: Vec<(String, String)> = ["README.md", "docs/on-call.md", "docs/ci.md"]
        .map(|name| (name.to_owned(), read(name)))
        .into();
    let help = Place::new().run(&["--help"]).ended_with(0).stdout;
    texts.push(("--help".to_owned(), help));
    for (name, text) in texts {
        assert!(text.contains("INTERVAL_MICROSECONDS=100000"), "{name}");
        for (version, interval) in [
            ("2.30 and later", "100000"),
            ("2.29.4", "500"),
            ("2.28.3", "500000"),
        ] {
            let words = |line: &str| {
                let mut words = line.split(|c: char| !c.is_ascii_digit());
                words.any(|word| word == interval)
            };
            let told = text.lines().any(|l| l.contains(version) && words(l));
            assert!(told, "{name}: no {interval} for {version}");
        }
    }
}
