#!/usr/bin/env python3
"""Writes the NCCL Inspector dumps of a simulated training job whose faults are known.

    python3 benches/simulate.py OUT                                     a healthy job with the defaults
    python3 benches/simulate.py OUT layout=fsdp nodes=2 noise=high      other settings
    python3 benches/simulate.py OUT 'faults=[{"kind": "slow-gpu", "rank": 5, "factor": 1.2}]'
    python3 benches/simulate.py OUT scenario.json
    python3 benches/simulate.py --settings                              every setting and its default

OUT/logs gets the dumps, OUT/truth.json the faults with their subjects. benches/simulator/ is the model, a file an idea;
engine.py says what it assumes, faults.py what can go wrong.
"""
import json
import sys
import time
from pathlib import Path

from simulator.job import simulate
from simulator.scenario import DEFAULTS


def scenario_of(words):
    """A scenario from files and key=value words; values are JSON, or else text."""
    scenario = {}
    for word in words:
        key, equals, value = word.partition("=")
        if not equals:
            scenario.update(json.loads(Path(word).read_text()))
            continue
        try:
            scenario[key] = json.loads(value)
        except json.JSONDecodeError:
            scenario[key] = value
    return scenario


def main(words):
    if words == ["--settings"]:
        print(json.dumps(DEFAULTS, indent=1))
        return
    if not words or words[0].startswith("-"):
        sys.exit(__doc__)
    start = time.monotonic()
    truth = simulate(scenario_of(words[1:]), words[0])
    print(f"{words[0]}: {len(truth['ranks'])} ranks, {truth['duration_us'] / 1e6:.1f} s of job, {truth['records']} records, "
          f"{truth['records_lost']} lost, {len(truth['faults'])} faults; {time.monotonic() - start:.1f} s")


if __name__ == "__main__":
    main(sys.argv[1:])
