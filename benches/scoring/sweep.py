"""The jobs of the sweep: kinds of fault × strengths × layouts × noise, and healthy jobs of all sorts."""
import random
from dataclasses import dataclass

LAYOUTS = {
    "tp8-dp4": {"nodes": 4, "tensor": 8, "steps": 40},
    "tp4-dp4": {"nodes": 2, "tensor": 4, "steps": 60},
    "tp4-pp2-dp4": {"nodes": 4, "tensor": 4, "pipeline": 2, "microbatches": 3, "layers": 1, "steps": 40},
    "tp2-pp4-dp4": {"nodes": 4, "tensor": 2, "pipeline": 4, "microbatches": 6, "layers": 1, "buckets": 3, "steps": 30},
    "tp8-pp2-dp2": {"nodes": 4, "tensor": 8, "pipeline": 2, "microbatches": 3, "layers": 1, "steps": 40},
    "fsdp16": {"layout": "fsdp", "nodes": 2, "layers": 3, "steps": 100},
    "hsdp4x8": {"layout": "hybrid-fsdp", "nodes": 4, "steps": 60},
    "ddp16": {"layout": "ddp", "nodes": 2, "steps": 120},
    "ddp8": {"layout": "ddp", "nodes": 1, "steps": 150},
    "ddp64": {"layout": "ddp", "nodes": 8, "steps": 60},
    "ep8": {"layout": "expert", "nodes": 4, "expert": 8, "layers": 1, "steps": 25},
    "ep16": {"layout": "expert", "nodes": 4, "expert": 16, "layers": 1, "steps": 16},
    "tp4-fsdp": {"layout": "tensor-fsdp", "nodes": 4, "tensor": 4, "layers": 2, "steps": 40},
    "tp8-dp16": {"nodes": 16, "tensor": 8, "layers": 1, "buckets": 4, "microbatches": 1, "steps": 30},
}
ANY = ["tp8-dp4", "tp4-dp4", "tp4-pp2-dp4", "tp2-pp4-dp4", "fsdp16", "hsdp4x8", "ddp16", "ep8"]
CARDS = ["tp8-dp4", "tp4-dp4", "tp4-pp2-dp4", "tp2-pp4-dp4", "tp4-fsdp", "hsdp4x8", "ep16", "tp8-dp16"]
HOSTS = ["tp4-pp2-dp4", "tp2-pp4-dp4", "tp8-pp2-dp2", "ep16", "tp4-pp2-dp4", "tp2-pp4-dp4", "hsdp4x8", "tp8-dp4"]
NVLINK = ["tp8-dp4", "tp4-dp4", "tp4-pp2-dp4", "tp2-pp4-dp4", "hsdp4x8", "ep8", "tp4-fsdp", "tp8-dp16"]

COMPUTING = [1.01, 1.02, 1.04, 1.08, 1.15, 1.3]
BANDWIDTH = [0.9, 0.8, 0.7, 0.6, 0.4, 0.25]

# Kind of the sweep: (strengths, layouts, the faults of a strength for a rank and a host)
KINDS = {
    "slow GPU": (COMPUTING, ANY, lambda x, rank, host: [{"kind": "slow-gpu", "rank": rank, "factor": x}]),
    "slow GPU for a quarter of the run": (COMPUTING, ANY, lambda x, rank, host: [{"kind": "slow-gpu", "rank": rank, "factor": x, "from": 0.4, "to": 0.65}]),
    "GPU that throttles gradually": ([1.02, 1.04, 1.08, 1.15, 1.3, 1.6], ANY, lambda x, rank, host: [{"kind": "throttling", "rank": rank, "factor": x, "from": 0.2}]),
    "rank that pauses in a quarter of its steps": ([1, 3, 10, 20, 40, 80], ANY, lambda x, rank, host: [{"kind": "pauses", "rank": rank, "chance": 0.25, "delay_us": 1000.0 * x}]),
    "slow host": (COMPUTING, ["tp8-dp4", "tp4-dp4", "fsdp16", "hsdp4x8", "ddp16", "ddp64", "ep8", "tp4-fsdp"],
                  lambda x, rank, host: [{"kind": "slow-host", "host": host, "factor": x}]),
    "slow network card": (BANDWIDTH, CARDS, lambda x, rank, host: [{"kind": "slow-nic", "rank": rank, "factor": x}]),
    "slow network of a host": (BANDWIDTH, HOSTS, lambda x, rank, host: [{"kind": "slow-host-net", "host": host, "factor": x}]),
    "slow NVLink": (BANDWIDTH, NVLINK, lambda x, rank, host: [{"kind": "slow-nvlink", "rank": rank, "factor": x}]),
    "congestion for a quarter of the run": (BANDWIDTH, [*HOSTS[:4], "ddp16", "hsdp4x8", "tp8-dp4", "tp4-fsdp"],
                                            lambda x, rank, host: [{"kind": "congestion", "factor": x, "from": 0.4, "to": 0.65}]),
    "slow GPU and slow NVLink elsewhere": ([(1.02, 0.8), (1.04, 0.7), (1.08, 0.6), (1.15, 0.5), (1.3, 0.4), (1.5, 0.25)], NVLINK,
                                           lambda x, rank, host: [{"kind": "slow-gpu", "rank": rank, "factor": x[0]}, {"kind": "slow-nvlink", "rank": None, "factor": x[1]}]),
}
CHECKPOINT = "rank 0 writes checkpoints"


@dataclass(frozen=True)
class Case:
    """A job of the sweep."""

    name: str
    kind: str  # "healthy", CHECKPOINT, or of KINDS
    strength: object
    noise: str
    scenario: dict


def circumstances(draw, layout):
    """What varies from job to job without being a fault: how long steps take, how dumps are written."""
    layer_us, interval = draw.choice([(2000.0, 50_000), (2500.0, 100_000), (4000.0, 200_000), (6000.0, 300_000)])
    dialect = draw.choice(["v4.0", "v4.1", "v4.1", "v4.3"])
    if layout.startswith("ep"):
        interval = min(interval, 100_000)
    return {**LAYOUTS[layout], "seed": draw.randrange(1 << 30), "layer_us": layer_us, "dump_interval_us": interval, "dialect": dialect,
            "named": draw.random() < 0.75, "clock_off_us": draw.choice([0.0, 1000.0, 300_000.0]), "drift": draw.choice([0.0, 0.0, 0.02])}


def faulty():
    """Every job with a fault."""
    for kind, (strengths, layouts, faults_of) in KINDS.items():
        for level, strength in enumerate(strengths):
            for noise in ("normal", "high"):
                for k, layout in enumerate(layouts):
                    name = f"{kind}/{strength}/{noise}/{k + 1}-{layout}".replace(" ", "-")
                    # The same jobs at every strength, so that nothing but the strength changes along a curve.
                    draw = random.Random(f"{kind}/{noise}/{k}")
                    scenario = circumstances(draw, layout)
                    if kind.startswith("congestion"):
                        scenario["layer_us"] *= 4  # so that the window is long against what clocks are off by
                    per_host = scenario.get("gpus_per_node", 8)
                    size = scenario["nodes"] * per_host
                    rank = draw.randrange(size)
                    other = (rank + size // 2 + draw.randrange(1, per_host)) % size
                    faults = faults_of(strength, rank, draw.randrange(scenario["nodes"]))
                    for f in faults:
                        if f.get("rank", 0) is None:
                            f["rank"] = other
                    yield Case(name, kind, strength, noise, {**scenario, "noise": noise, "faults": faults})


HEALTHY = {
    "plain": {},
    "unnamed, clocks off": {"named": False, "clock_off_us": 300_000.0},
    "ring too small": {"ring": 24, "dump_interval_us": 300_000, "dialect": "v4.1"},
    "sampled": {"dialect": "v4.0-sampled", "dump_interval_us": 20_000},
    "missing ranks": {"missing": [3, 9]},
    "long interval": {"layer_us": 25_000.0, "dump_interval_us": 2_000_000},
    "drift": {"drift": 0.08},
}
LONG = {"layer_us": 60_000.0, "dump_interval_us": 5_000_000}


def healthy():
    """Jobs without a fault: every layout, each in several circumstances."""
    sorts = list(HEALTHY.items())
    for k, layout in enumerate(LAYOUTS):
        for noise in ("quiet", "normal", "high"):
            for j in range(1 if noise == "quiet" else 3):
                sort, settings = sorts[(k + 3 * j + (noise == "high")) % len(sorts)]
                draw = random.Random(f"healthy/{layout}/{noise}/{j}")
                scenario = {**circumstances(draw, layout), **settings, "noise": noise}
                if layout.startswith("ddp8"):
                    scenario["missing"] = [m for m in scenario.get("missing", []) if m < 8]
                yield Case(f"healthy/{sort}/{noise}/{j + 1}-{layout}".replace(" ", "-"), "healthy", sort, noise, scenario)
    for layout in ("tp8-dp4", "fsdp16", "ddp16", "ddp64", "hsdp4x8"):
        draw = random.Random(f"healthy/{layout}/five seconds")
        yield Case(f"healthy/five-seconds/normal/{layout}", "healthy", "dump interval of 5 s", "normal",
                   {**circumstances(draw, layout), **LONG, "steps": 2 * LAYOUTS[layout]["steps"] // 2, "noise": "normal"})
    for layout in ("tp8-dp4", "fsdp16", "ddp16", "hsdp4x8"):
        draw = random.Random(f"checkpoint/{layout}")
        yield Case(f"checkpoint/{layout}", CHECKPOINT, "checkpoint", "normal", {**circumstances(draw, layout), "checkpoint_every": 8, "noise": "normal"})


def cases():
    """The whole sweep."""
    return [*healthy(), *faulty()]
