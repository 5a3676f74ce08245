#!/usr/bin/env python3
"""Checks that known causes are named, and nothing else: small simulated jobs, each with a fault or none.

    python3 benches/check_causes.py BINARY [NAME...]

Each job is written by benches/simulator, BINARY makes its report, and benches/scoring holds that against the truth: every fault
must be named by a finding of its kind with the right subject, no other finding about speed may be a warning, and a healthy job must have
none at all. Exit status 0 when all hold. With Python alone it takes well under a minute; accuracy.py measures how often what holds here holds.
"""
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from scoring.run import run
from scoring.sweep import Case

# Small, and each for another part of the search: what is shared is taken off through tensor groups, pipelines or not at all.
TENSOR = {"nodes": 2, "gpus_per_node": 4, "tensor": 4, "steps": 24, "buckets": 3}
WIDE = {"nodes": 4, "gpus_per_node": 4, "tensor": 4, "steps": 20, "buckets": 3}
PIPELINE = {"nodes": 4, "gpus_per_node": 4, "tensor": 2, "pipeline": 2, "layers": 1, "buckets": 2, "microbatches": 3, "steps": 30}
BARE_PIPELINE = {"nodes": 3, "gpus_per_node": 4, "tensor": 1, "pipeline": 2, "layers": 1, "buckets": 2, "microbatches": 4, "steps": 40}
DDP = {"layout": "ddp", "nodes": 2, "gpus_per_node": 4, "steps": 80, "buckets": 4}
FSDP = {"layout": "fsdp", "nodes": 2, "gpus_per_node": 4, "steps": 40, "layers": 2}
LOSSY = {"dialect": "v4.1", "ring": 24}

JOBS = {
    "healthy, tensor groups": {**TENSOR, "noise": "high"},
    "healthy, a pipeline and clocks that are off": {**PIPELINE, "clock_off_us": 300_000.0},
    "healthy, sharded, records lost": {**FSDP, **LOSSY},
    "healthy, data parallel": {**DDP, "noise": "high"},
    "slow GPU in a tensor group": {**TENSOR, "faults": [{"kind": "slow-gpu", "rank": 5, "factor": 1.08}]},
    "slow GPU in a pipeline": {**PIPELINE, "faults": [{"kind": "slow-gpu", "rank": 8, "factor": 1.15}]},
    "slow GPU in a pipeline without tensor groups": {**BARE_PIPELINE, "faults": [{"kind": "slow-gpu", "rank": 8, "factor": 1.2}]},
    "slow GPU, data parallel": {**DDP, "faults": [{"kind": "slow-gpu", "rank": 2, "factor": 1.08}]},
    "slow GPU, sharded, half of the run": {**FSDP, "steps": 60, "faults": [{"kind": "slow-gpu", "rank": 6, "factor": 1.15, "from": 0.5}]},
    "a rank pauses": {**PIPELINE, "steps": 60, "faults": [{"kind": "pauses", "rank": 9, "chance": 0.2, "delay_us": 20_000.0}]},
    "slow host": {**WIDE, "faults": [{"kind": "slow-host", "host": 2, "factor": 1.15}]},
    "slow card": {**WIDE, "faults": [{"kind": "slow-nic", "rank": 6, "factor": 0.5}]},
    "slow card in a pipeline": {**PIPELINE, "faults": [{"kind": "slow-nic", "rank": 3, "factor": 0.5}]},
    "slow network of a host": {**BARE_PIPELINE, "faults": [{"kind": "slow-host-net", "host": 1, "factor": 0.5}]},
    "slow NVLink": {**WIDE, "faults": [{"kind": "slow-nvlink", "rank": 13, "factor": 0.5}]},
    "congestion": {**WIDE, "steps": 40, "layer_us": 10_000.0, "faults": [{"kind": "congestion", "factor": 0.5, "from": 0.4, "to": 0.7}]},
    "slow GPU and slow NVLink elsewhere": {**WIDE, "faults": [{"kind": "slow-gpu", "rank": 1, "factor": 1.15}, {"kind": "slow-nvlink", "rank": 10, "factor": 0.5}]},
}
COMMON = {"seed": 7, "dump_interval_us": 100_000}


def wrong(result):
    """What is wrong with a result, in words."""
    if result.verdict is None:
        return [f"no report: {result.error}"]
    verdict = result.verdict
    out = [f"not found: {fault['kind']} of {fault['subjects'] or 'the fabric'}" for fault in verdict.missed]
    out += [f"said instead: {f['summary']}" for f in verdict.invented]
    if not result.case.scenario.get("faults"):
        # That one forward, one backward in turn keeps a stage's Sends waiting is told as information, of the model and no rank.
        out += [f"remarked on a healthy job: {f['summary']}" for f in verdict.noted if f["kind"] != "stage_imbalance"]
    elif not verdict.resolvable:
        out.append("the records can't tell this fault: the job checks nothing")
    return out


def main(args):
    if not args or args[0].startswith("-"):
        sys.exit(__doc__)
    binary, names = str(Path(args[0]).resolve()), args[1:]
    unknown = set(names) - set(JOBS)
    if unknown:
        sys.exit(f"no such job: {', '.join(sorted(unknown))}")
    start, failed = time.monotonic(), 0
    cases = [Case(name, "check", None, scenario.get("noise", "normal"), {**COMMON, **scenario}) for name, scenario in JOBS.items() if not names or name in names]
    # The reports are made by processes of their own, while this one writes the next job.
    with ThreadPoolExecutor(2) as pool:
        for result in pool.map(lambda case: run((case, binary, None)), cases):
            problems = wrong(result)
            failed += bool(problems)
            print(f"{'FAIL' if problems else 'ok  '} {result.case.name}", *(f"\n       {p}" for p in problems), sep="", flush=True)
    print(f"{len(cases) - failed} of {len(cases)} jobs right; {time.monotonic() - start:.0f} s")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main(sys.argv[1:])
