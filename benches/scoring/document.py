"""Results as tables and as a page."""
from . import chart
from .sweep import CHECKPOINT, KINDS


class Line:
    """Sums over some jobs."""

    def __init__(self, results):
        judged = [r.verdict for r in results if r.verdict]
        self.jobs = len(judged)
        self.resolvable = sum(v.resolvable for v in judged)
        self.found = sum(v.found for v in judged)
        self.open = sum(not v.resolvable for v in judged)
        self.invented = sum(len(v.invented) for v in judged)
        self.with_note = sum(bool(v.noted) for v in judged)
        self.with_invention = sum(bool(v.invented) for v in judged)

    @property
    def recall(self):
        return self.found / self.resolvable if self.resolvable else None

    @property
    def false_share(self):
        return self.with_invention / self.jobs if self.jobs else None


def percent(share):
    return "–" if share is None else f"{100 * share:.0f} %"


def strength(kind, value):
    """A strength in words."""
    if isinstance(value, tuple):
        return f"{100 * (value[0] - 1):.0f} % slower, {100 * value[1]:.0f} % of NVLink"
    if "pauses" in kind:
        return f"{value} ms"
    return f"{100 * (value - 1):.0f} % slower" if value > 1 else f"{100 * value:.0f} % of the bandwidth"


def lines(results):
    """(kind, strength, noise) → sums, in the order of the sweep."""
    groups = {}
    for r in results:
        if r.case.kind in KINDS:
            groups.setdefault((r.case.kind, r.case.strength, r.case.noise), []).append(r)
    return {k: Line(v) for k, v in groups.items()}


def table(results):
    """The result as a Markdown table."""
    out = ["| fault | strength | found, normal noise | found, high noise | jobs with a false alarm |", "|---|---|---|---|---|"]
    done = lines(results)
    for kind, level in dict.fromkeys((k, s) for k, s, _ in done):
        both = [done.get((kind, level, n)) for n in ("normal", "high")]
        found = [f"{l.found} of {l.resolvable}" if l and l.resolvable else "–" for l in both]
        present = [l for l in both if l]
        out.append(f"| {kind} | {strength(kind, level)} | {found[0]} | {found[1]} | {sum(l.with_invention for l in present)} of {sum(l.jobs for l in present)} |")
    out += ["", "| healthy jobs | noise | jobs | with a false alarm | false alarms | with a false remark |", "|---|---|---|---|---|---|"]
    healthy = {}
    for r in results:
        if r.case.kind in ("healthy", CHECKPOINT):
            healthy.setdefault((r.case.kind if r.case.kind == CHECKPOINT else r.case.strength, r.case.noise), []).append(r)
    for (sort, noise), group in sorted(healthy.items()):
        l = Line(group)
        out.append(f"| {sort} | {noise} | {l.jobs} | {l.with_invention} | {l.invented} | {l.with_note} |")
    return "\n".join(out)


def write(results, every_nth, folder):
    """docs/accuracy.md and docs/accuracy.svg, of about one case in `every_nth`."""
    done = lines(results)
    healthy = Line([r for r in results if r.case.kind == "healthy"])
    every = Line([r for r in results if r.case.kind in KINDS])
    text = PAGE.format(
        option=f" --every {every_nth}" if every_nth > 1 else "", jobs=len(results), records=sum(r.records for r in results) // 1000, healthy=healthy.jobs, healthy_false=healthy.with_invention, healthy_noted=healthy.with_note,
        faulty=every.jobs, faulty_false=every.with_invention, open=every.open, table=table(results))
    (folder / "accuracy.md").write_text(text)
    (folder / "accuracy.svg").write_text(chart.draw(done))


PAGE = """# How often it is right

Measured on {jobs} simulated jobs with {records} thousand records, of 8 to 128 ranks. Of {healthy} healthy jobs {healthy_false} raised a warning, and {healthy_noted} got a remark of severity info about their speed. Of {faulty} jobs with a
fault {faulty_false} raised a warning about something else as well or instead. Repeat it:

    cargo build --release
    python3 benches/accuracy.py --binary target/release/nccl-report --write-docs{option}

![Share of faults found, and of jobs with a false alarm, against the strength of the fault](accuracy.svg)

A simulated job is not a job. It shows how the conclusions follow from the records under stated assumptions, and where they stop following;
it can't show what a cluster does that the model doesn't know. The model (`benches/simulator`): ranks with a stream that computes and streams that
communicate, synchronous collectives in which the last to arrive shows the shortest time, transfers as fast as the slowest link among their members.
Layouts: tensor × data × pipeline parallelism (one forward, one backward in turn), FSDP, hybrid FSDP, DDP, experts with all-to-all. Noise: launches with a long tail, lasting differences of a few
microseconds between ranks and of a few thousandths between GPUs, links that differ by 3 %, pauses of every rank now and then, slow first steps, drift,
clocks off by up to 0.3 s, lost records, ranks without a file, sampled dumps, communicators without names, dump intervals from 20 ms to 5 s.

## Rules

- **Found**: a finding of the right kind and scope names the right rank or host, at any severity. A late rank or host must be named alone. For a slow link the data often leaves several candidates:
  then the finding must hold the right one, say that it is one of them (`candidates_only`), and name no more than sit in every slow communicator or pair that has a fast sibling to be
  compared with. A window, where one is given, must overlap the fault's; for congestion shared part and union must be as 1 to 2 or better.
- **False alarm**: any other finding about speed of severity warning or critical. The victims of a fault count as false alarms.
- **False remark**: the same of severity info.
- **Not resolvable in principle**, and so not counted as missed; silence and naming the cause are both right there, anything else is a false alarm ({open} jobs):
  - a slow link where every communicator of its shape contains it, the whole run: a network card or a host's network in a job with one communicator over everything,
    a host's network where every data-parallel communicator spans all hosts. There is no fast one to compare with;
  - a network card among the members of one data-parallel communicator: it is found when they are named as candidates;
  - a slow host that holds a whole pipeline stage: that is what an uneven split of the model looks like;
  - Send and Recv in dumps of NCCL 2.28 and 2.29, which don't record them.

## Results

{table}

The last rows are no faults and no noise: rank 0 writes a checkpoint every eighth step while the others wait. It is late now and then, and saying so is fair; it isn't counted above.
"""
