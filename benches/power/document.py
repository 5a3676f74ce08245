"""Results as a table and as a page."""
from .pairs import LAYOUTS, LOST, NOISES, POWER_STEPS, SORTS

MOST_FALSE = 0.01
LEAST_FOUND = 0.95
REQUIRED = "4 %"


def count(results, holds):
    return sum(holds(r) for r in results)


def group(results, **of):
    return [r for r in results if all(getattr(r.pair, k) == v for k, v in of.items())]


def equal_rows(results):
    """A line for each sort of equal pair, and one for all."""
    equal = group(results, equal=True)
    rows = [(sort, group(equal, sort=sort)) for sort in SORTS]
    return [(name, of) for name, of in [*rows, ("all", equal)] if of]


def false_alarms(results):
    return count(results, lambda r: r.false_alarm)


def table(results):
    """Both tables in Markdown."""
    out = ["| equal runs | pairs | called different | unchanged | can't tell | buckets called changed |", "|---|--:|--:|--:|--:|--:|"]
    for name, of in equal_rows(results):
        changed = sum(r.buckets["regression"] + r.buckets["improvement"] for r in of)
        buckets = sum(sum(r.buckets.values()) for r in of)
        verdict = lambda v: count(of, lambda r: r.verdict == v)
        out.append(f"| {name} | {len(of)} | {false_alarms(of)} | {verdict('unchanged')} | {verdict('inconclusive')} | {changed} of {buckets} |")
    out += ["", f"| bandwidth of the network lost | {' | '.join(f'found, {n} noise' for n in NOISES)} | called better, or mixed |", "|---|--:|--:|--:|--:|"]
    for lost in LOST:
        of = group(results, equal=False, sort=lost)
        if not of:
            continue
        cells = []
        for noise in NOISES:
            g = group(of, noise=noise)
            cells.append(f"{count(g, lambda r: r.found)} of {len(g)}" if g else "–")
        wrong = count(of, lambda r: r.verdict in ("improvement", "mixed"))
        out.append(f"| {lost} | {' | '.join(cells)} | {wrong} of {len(of)} |")
    return "\n".join(out)


def holds(results):
    """Whether what is asked holds on what was run."""
    if any(r.error for r in results):
        return False
    equal, lost = group(results, equal=True), group(results, equal=False, sort=REQUIRED)
    found = all(count(g, lambda r: r.found) >= LEAST_FOUND * len(g) for g in (group(lost, noise=n) for n in NOISES))
    return false_alarms(equal) <= MOST_FALSE * len(equal) and found


def write(results, folder):
    """docs/comparison.md"""
    equal, lost = group(results, equal=True), group(results, equal=False)
    required = group(lost, sort=REQUIRED)
    text = PAGE.format(equal=len(equal), false=false_alarms(equal), lost=len(lost), required=len(required), least=REQUIRED,
                       found=count(required, lambda r: r.found), steps=POWER_STEPS, layouts=len(LAYOUTS), table=table(results))
    (folder / "comparison.md").write_text(text)


PAGE = """# How often a comparison is right

Of {equal} pairs of equal runs {false} were called different. Of {required} pairs in which the candidate's network had lost {least} of its bandwidth, {steps} steps each,
{found} were called a regression. Repeat it:

    cargo build --release
    python3 benches/compare_power.py --binary target/release/nccl-report --write-docs

## How it was measured

Both runs of a pair come from the simulator in `benches/simulator` (what it assumes: `engine.py`), so what is true of them is known. Seeds are fixed. The pairs are in
`benches/power/pairs.py`: {layouts} layouts (tensor, data, pipeline and expert parallelism, FSDP, DDP) on 2 to 32 ranks, three levels of noise, several dialects and dump intervals.

Equal runs are of one job with other random numbers: pauses, jitter, the noise of each transfer; and, by kind of pair, on other hosts (whose links
differ by up to 3 %), of other length, with lost records, as sampled dumps, in another dialect, with a drift. *Called different* is a verdict other than `unchanged` and
`inconclusive`, or exit status 1. *Can't tell* isn't wrong, but little help; with records lost in one run alone it is the only honest answer.

A loss is *found* when the verdict is `regression`, with status 1 and at least one bucket called worse. The threshold is that of the program, 3 %: a loss of 2 % is
below it and should not be found; at 3 % the coin decides. A loss of the cards' bandwidth is diluted by the latency of each operation, so small messages lose less than the cards do.

## What came of it

{table}

## How a comparison is made

- Operations are sorted into buckets of like with like: class, function, message size, ranks, nodes, and the family where both runs have the same names.
- What is compared is the shortest time of each collective, which is the transfer: every other rank's time contains the wait for the last. Where hardly any collective is complete it is the
  shortest that is there, at the lower quartile.
- A bucket's level is the median over communicators of the median over stretches of the run. Its error comes from the stretches (a bootstrap, widened where neighbouring stretches
  resemble each other) and from what communicators differ by beyond that, not from single operations, of which there are millions that resemble each other.
- A bucket is worse or better when the change is at least the threshold **and** its probability between equal runs is under 1 %, over all buckets together (Holm). It is unchanged when the change is
  smaller and its 95 % interval excludes twice the threshold. Everything else is inconclusive.
- The whole is worse when the buckets that are make up at least 0.05 % of the communication time, when there is a new finding about speed that costs at least the threshold, or when ranks wait far longer for each other.
"""
