#!/usr/bin/env python3
"""Measures `nccl-report compare` on two datasets of 2.5 million records each that are Parquet already.

    python3 benches/compare_speed.py                                      builds, generates, measures
    python3 benches/compare_speed.py --binary … --generator … --work DIR  with programs that are there; tables are kept and used again

Printed: seconds of the clock and of CPU (user and system, all threads), and the largest resident set; the median of --repeat runs.
In the same run and by the same measure the analysis of one of the two alone, and a history of three. benches/whole_job.py measures the way from dumps.
"""
import argparse
import shutil
import subprocess
import tempfile
from pathlib import Path

from whole_job import build, measure, median

RECORDS = 2_500_000


def tables(binary, generator, work, records):
    """The Parquet tables of a generated job."""
    folder = work / f"tables-{records}"
    if not folder.exists():
        dumps, aside = work / "dumps", work / "tables.part"
        for old in (dumps, aside):
            shutil.rmtree(old, ignore_errors=True)
        subprocess.run([generator, dumps, "--records", str(records)], check=True)
        subprocess.run([binary, "ingest", dumps, "--out", aside, "--quiet"], check=True)
        shutil.rmtree(dumps)
        aside.rename(folder)
    return folder


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--binary", type=Path, help="measure this nccl-report instead of building one")
    p.add_argument("--generator", type=Path, help="generate-dumps, with --binary")
    p.add_argument("--records", type=int, default=RECORDS)
    p.add_argument("--repeat", type=int, default=3)
    p.add_argument("--work", type=Path, help="folder for tables and reports; kept [default: a temporary one]")
    a = p.parse_args()
    if bool(a.binary) != bool(a.generator):
        p.error("--binary and --generator go together")
    binary, generator = (a.binary, a.generator) if a.binary else build()
    with tempfile.TemporaryDirectory() as temporary:
        work = a.work or Path(temporary)
        work.mkdir(parents=True, exist_ok=True)
        # The generator draws the same numbers every time: a job that is a little longer isn't the same run.
        runs = [tables(binary, generator, work, a.records + k * a.records // 100) for k in range(5)]
        out = work / "out"
        programs = {
            "analyse one of them": [binary, "analyze", runs[0], "--out", out / "json", "-q"],
            "compare two": [binary, "compare", runs[0], runs[1], "--out", out / "two", "-q"],
            "compare two, and with a history of three": [binary, "compare", runs[0], runs[1], "--out", out / "more", "-q", "--history", *runs[2:]],
        }
        print(f"{a.records:,} records each, median of {a.repeat}\n")
        print(f"{'':<44} {'wall s':>8} {'CPU s':>8} {'peak MiB':>9}")
        for name, command in programs.items():
            run = median([measure(command, allowed=(0, 1, 3)) for _ in range(a.repeat)])
            print(f"{name:<44} {run.wall:>8.2f} {run.cpu:>8.2f} {run.peak / 2**20:>9,.0f}")


if __name__ == "__main__":
    main()
