#!/usr/bin/env python3
"""Measures how often `nccl-report compare` calls equal runs different, and how often it finds a loss of network bandwidth.

    python3 benches/compare_power.py --binary target/release/nccl-report                all pairs, about a quarter of an hour
    python3 benches/compare_power.py --binary … --write-docs                            and writes docs/comparison.md
    python3 benches/compare_power.py --binary … --only 'network-4%/normal' --keep DIR   some pairs, everything kept
    python3 benches/compare_power.py --list                                             the names of all pairs

Both runs of a pair are simulated (benches/simulator), so what is true of them is known; seeds are fixed, so two runs judge the
same pairs. Which pairs: benches/power/pairs.py. Exit status 1 when the program failed on a pair, when more than 1 % of the equal
pairs raise a false alarm, or when a loss of 4 % is found in less than 19 of 20.
"""
import argparse
import sys
import tempfile
import time
from multiprocessing import Pool
from pathlib import Path

from power import document
from power.pairs import pairs
from power.run import run

ROOT = Path(__file__).resolve().parent.parent


def arguments():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--binary", help="nccl-report to measure")
    p.add_argument("--only", default="", help="pairs whose name contains this")
    p.add_argument("--keep", help="folder for the tables of every run and the comparison of every pair; tables that are there are used again")
    p.add_argument("--jobs", type=int, default=2, help="processes")
    p.add_argument("--list", action="store_true", help="print the names of the pairs")
    p.add_argument("--write-docs", action="store_true", help="write docs/comparison.md")
    return p.parse_args()


def main():
    args = arguments()
    chosen = [p for p in pairs() if args.only in p.name]
    if args.list:
        print("\n".join(p.name for p in chosen))
        return
    if not args.binary or not Path(args.binary).is_file():
        sys.exit("--binary must name nccl-report: cargo build --release")
    if args.write_docs and args.only:
        sys.exit("--write-docs needs all pairs")
    start, results = time.monotonic(), []
    with tempfile.TemporaryDirectory() as temporary, Pool(args.jobs) as pool:
        work = args.keep or temporary
        for r in pool.imap(run, [(p, str(Path(args.binary).resolve()), work) for p in chosen]):
            results.append(r)
            if r.error:
                print(f"FAILED {r.pair.name}: {r.error}", flush=True)
            elif r.false_alarm or (not r.pair.equal and not r.found):
                print(f"{r.pair.name}: {r.verdict}, {dict(r.buckets)}; {' '.join(r.reasons)[:400]}", flush=True)
    print()
    print(document.table(results))
    print(f"{len(results)} pairs, {time.monotonic() - start:.0f} s")
    if args.write_docs:
        document.write(results, ROOT / "docs")
    sys.exit(0 if document.holds(results) else 1)


if __name__ == "__main__":
    main()
