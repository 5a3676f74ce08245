#!/usr/bin/env python3
"""Measures how often nccl-report names the right cause, and how often a wrong one, against the strength of the fault.

    python3 benches/accuracy.py --binary target/release/nccl-report                  the whole sweep, about a quarter of an hour
    python3 benches/accuracy.py --binary … --write-docs                              and writes docs/accuracy.md and docs/accuracy.svg
    python3 benches/accuracy.py --binary … --only 'slow-GPU/1.08' --keep DIR         some cases, everything kept
    python3 benches/accuracy.py --list                                               the names of all cases
    python3 benches/accuracy.py --binary … --every 5                                 about a fifth of them

Jobs are simulated (benches/simulator), so the truth is known; seeds are fixed, so two runs judge the same jobs. How a
report is judged: benches/scoring/judge.py. Exit status 1 when the program failed on a case.
"""
import argparse
import sys
import time
import zlib
from multiprocessing import Pool
from pathlib import Path

from scoring import document
from scoring.run import run
from scoring.sweep import cases

ROOT = Path(__file__).resolve().parent.parent


def arguments():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--binary", help="nccl-report to measure")
    p.add_argument("--only", default="", help="cases whose name contains this")
    p.add_argument("--every", type=int, default=1, help="about one case in so many")
    p.add_argument("--keep", help="folder to keep dumps, truth, report and verdict of every case in")
    p.add_argument("--jobs", type=int, default=2, help="processes")
    p.add_argument("--list", action="store_true", help="print the names of the cases")
    p.add_argument("--write-docs", action="store_true", help="write docs/accuracy.md and docs/accuracy.svg")
    return p.parse_args()


def describe(finding):
    who = ", ".join(s["host"] + (f"/{s['pid']}" if s.get("pid") else "") for s in finding.get("subjects", [])[:3])
    return f"{finding['kind']}{' ' + finding['scope'] if finding.get('scope') else ''} {finding.get('severity', '')} {who}"


def main():
    args = arguments()
    # By a checksum of the name: every n-th in order would meet the same layouts again and again.
    chosen = [c for c in cases() if args.only in c.name and zlib.crc32(c.name.encode()) % args.every == 0]
    if args.list:
        print("\n".join(c.name for c in chosen))
        return
    if not args.binary or not Path(args.binary).is_file():
        sys.exit("--binary must name nccl-report: cargo build --release")
    if args.write_docs and args.only:
        sys.exit("--write-docs needs cases of all kinds")
    start, results = time.monotonic(), []
    with Pool(args.jobs) as pool:
        for r in pool.imap(run, [(c, str(Path(args.binary).resolve()), args.keep) for c in chosen]):
            results.append(r)
            if r.error:
                print(f"FAILED {r.case.name}: {r.error}")
            elif r.verdict.missed or r.verdict.invented:
                print(f"{r.case.name}: missed {len(r.verdict.missed)}, invented {[describe(f) for f in r.verdict.invented]}")
    print()
    print(document.table(results))
    print(f"{len(results)} jobs, {sum(r.records for r in results)} records, {time.monotonic() - start:.0f} s")
    if args.write_docs:
        document.write(results, args.every, ROOT / "docs")
    sys.exit(1 if any(r.error for r in results) else 0)


if __name__ == "__main__":
    main()
