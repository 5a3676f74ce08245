"""The pairs: equal runs of all sorts, and runs whose network lost a few percent of its bandwidth."""
import random
from dataclasses import dataclass

# Small jobs of every layout; the last two have more ranks.
LAYOUTS = {
    "tp4-dp2": {"nodes": 2, "gpus_per_node": 4, "tensor": 4, "layers": 1, "buckets": 3, "microbatches": 1},
    "tp2-dp4": {"nodes": 2, "gpus_per_node": 4, "tensor": 2, "layers": 1, "buckets": 3, "microbatches": 2},
    "tp2-pp2-dp2": {"nodes": 2, "gpus_per_node": 4, "tensor": 2, "pipeline": 2, "layers": 1, "buckets": 2, "microbatches": 2},
    "fsdp8": {"layout": "fsdp", "nodes": 2, "gpus_per_node": 4, "layers": 2},
    "hsdp4x2": {"layout": "hybrid-fsdp", "nodes": 2, "gpus_per_node": 4, "layers": 2},
    "ddp8": {"layout": "ddp", "nodes": 2, "gpus_per_node": 4, "layers": 2, "buckets": 4},
    "ep4": {"layout": "expert", "nodes": 2, "gpus_per_node": 4, "expert": 4, "layers": 1},
    "tp4-fsdp4": {"layout": "tensor-fsdp", "nodes": 4, "gpus_per_node": 4, "tensor": 4, "layers": 1},
    "tp8-dp4": {"nodes": 4, "tensor": 8, "layers": 1, "buckets": 3, "microbatches": 1},
    "ddp2": {"layout": "ddp", "nodes": 2, "gpus_per_node": 1, "layers": 2, "buckets": 4},
}
NOISES = ("quiet", "normal", "high")
STEPS = (60, 100, 200)
EQUAL = 240
LOST = {"2 %": 0.98, "3 %": 0.97, "4 %": 0.96, "6 %": 0.94, "10 %": 0.90}
POWER = 20  # pairs of each loss and noise
POWER_STEPS = 200

# What two equal runs may differ in all the same.
SORTS = {
    "same hosts": {},
    "other hosts": {"hardware": None},
    "other length": {"steps": 2.0},
    "both lost records": {"both": {"ring": 12, "dump_interval_us": 300_000}},
    "one lost records": {"ring": 12, "dump_interval_us": 300_000},
    "sampled dumps": {"both": {"dialect": "v4.0-sampled", "dump_interval_us": 20_000}},
    "other dialect": {"dialect": "v4.3"},
    "drifting": {"both": {"drift": 0.05}},
}


@dataclass(frozen=True)
class Pair:
    """Two runs, and what is true of them."""

    name: str
    sort: str  # of SORTS, or of LOST
    noise: str
    equal: bool
    baseline: dict
    candidate: dict


def equal_pairs():
    """Runs of one job on one cluster: only chance and the circumstances differ."""
    layouts = list(LAYOUTS.items())
    for k in range(EQUAL):
        draw = random.Random(f"equal/{k}")
        layout, settings = layouts[k % len(layouts)]
        sort = draw.choice(list(SORTS))
        noise = draw.choice(NOISES)
        baseline, candidate = both(draw, settings, noise, draw.choice(STEPS))
        changes = dict(SORTS[sort])
        for side in (baseline, candidate):
            side.update(changes.get("both", {}))
        changes.pop("both", None)
        if "steps" in changes:
            changes["steps"] = int(candidate["steps"] * changes["steps"])
        candidate.update(changes)
        yield Pair(f"equal/{k:03}-{layout}-{noise}-{sort}".replace(" ", "-"), sort, noise, True, baseline, candidate)


def network_pairs():
    """The candidate's network cards have lost a part of their bandwidth. The same jobs at every loss."""
    layouts = list(LAYOUTS.items())
    for lost, factor in LOST.items():
        for noise in NOISES:
            for k in range(POWER):
                draw = random.Random(f"network/{noise}/{k}")
                layout, settings = layouts[k % len(layouts)]
                baseline, candidate = both(draw, settings, noise, POWER_STEPS)
                candidate["nic_gbs"] = baseline["nic_gbs"] * factor
                yield Pair(f"network-{lost}/{noise}/{k:02}-{layout}".replace(" ", ""), lost, noise, False, baseline, candidate)


def both(draw, settings, noise, steps):
    """Two runs that differ in their seeds only."""
    common = {**settings, "noise": noise, "steps": steps, "hardware": draw.randrange(1 << 30), "nic_gbs": draw.choice([21.0, 42.0]),
              "layer_us": draw.choice([1000.0, 2500.0]), "dump_interval_us": draw.choice([50_000, 100_000]),
              "dialect": draw.choice(["v4.0", "v4.1", "v4.3"]), "named": draw.random() < 0.75}
    return {**common, "seed": draw.randrange(1 << 30)}, {**common, "seed": draw.randrange(1 << 30)}


def pairs():
    """All of them."""
    return [*equal_pairs(), *network_pairs()]
