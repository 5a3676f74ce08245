"""Runs a pair: simulate both runs, compare, keep the verdict."""
import json
import shutil
import subprocess
import tempfile
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

from simulator.job import simulate

CHANGED = ("regression", "improvement", "mixed")


@dataclass
class Result:
    """What came of a pair."""

    pair: object
    verdict: str = ""
    status: int = -1
    buckets: Counter = field(default_factory=Counter)
    reasons: list = field(default_factory=list)
    error: str = ""

    @property
    def false_alarm(self):
        """Equal runs that are called different."""
        return self.pair.equal and (self.verdict in CHANGED or self.status == 1)

    @property
    def found(self):
        """A loss that fails the gate, because buckets are called worse and none better."""
        return not self.pair.equal and self.verdict == "regression" and self.status == 1 and self.buckets["regression"] > 0


class Failed(Exception):
    """The program failed."""


def run(job):
    """`job`: (pair, binary, folder to keep the tables and the comparison of every pair in, or None)."""
    pair, binary, keep = job
    folder = Path(keep) / pair.name.replace("/", "__") if keep else Path(tempfile.mkdtemp(prefix="power-"))
    try:
        sides = [tables(binary, getattr(pair, side), folder / side) for side in ("baseline", "candidate")]
        shutil.rmtree(folder / "out", ignore_errors=True)
        status = call([binary, "compare", *sides, "--out", folder / "out", "-q"], (0, 1, 3))
        return judged(pair, status, json.loads((folder / "out" / "compare.json").read_text()))
    except Failed as e:
        return Result(pair, error=str(e))
    finally:
        if not keep:
            shutil.rmtree(folder, ignore_errors=True)


def tables(binary, scenario, folder):
    """The Parquet tables of a simulated run; those of an earlier run of this program are used again."""
    written = folder / "scenario.json"
    text = json.dumps(scenario, sort_keys=True)
    if not written.exists() or written.read_text() != text:
        shutil.rmtree(folder, ignore_errors=True)
        simulate(scenario, folder)
        call([binary, "ingest", folder / "logs", "--out", folder / "run", "-q"], (0,))
        shutil.rmtree(folder / "logs")
        written.write_text(text)
    return folder / "run"


def call(command, allowed):
    """Runs the program; its status."""
    done = subprocess.run([str(c) for c in command], capture_output=True, text=True)
    if done.returncode not in allowed:
        raise Failed(f"status {done.returncode}: {done.stderr[-300:]}")
    return done.returncode


def judged(pair, status, comparison):
    """A result from compare.json."""
    verdicts = Counter(b["verdict"] for b in comparison["buckets"])
    return Result(pair, comparison["verdict"], status, verdicts, comparison["reasons"])
