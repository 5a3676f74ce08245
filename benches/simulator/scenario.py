"""What a simulated job is made of: every setting with its default, and the noise that real jobs have."""

DEFAULTS = {
    "seed": 1,
    "hardware": None,  # a number: two jobs with the same one run over the same links; else the links are the seed's
    "nodes": 4,
    "gpus_per_node": 8,
    # tensor-data, fsdp, hybrid-fsdp, ddp, expert, tensor-fsdp; a pipeline where "pipeline" is above 1.
    "layout": "tensor-data",
    "tensor": 8,
    "pipeline": 1,
    "expert": 8,
    "steps": 60,
    "layers": 2,
    "microbatches": 2,
    "buckets": 6,
    "layer_us": 2500.0,  # forward computing of a layer; backward takes twice as long
    "stage_imbalance": 0.0,  # the last pipeline stage computes this much more
    "message_scale": 1.0,
    "nvlink_gbs": 360.0,
    "nic_gbs": 42.0,
    "noise": "normal",
    "drift": 0.0,  # all ranks compute this much slower at the end than at the start
    "checkpoint_every": 0,  # steps; rank 0 then keeps the others waiting for 150 ms
    # v4.0-sampled, v4.0, v4.1, v4.3
    "dialect": "v4.1",
    "named": True,  # else the communicators are called "unknown"
    "dump_interval_us": 200_000,
    "ring": 1024,
    "teardown_loses": True,  # what was recorded since the last dump
    "clock_off_us": 0.0,  # hosts' clocks differ by up to this, either way
    "missing": [],  # ranks that left no file
    "verbose": False,  # with times per channel: when each kernel started and stopped
    # none, or an eBPF agent's database of each host in OUT/ebpf: what of it shows the faults, and how busy the hosts are besides.
    # {"shows": "off_cpu" | "cuda_sync" | "block_io" | "page_alloc" | "oom_kill" | "process_exit" | "nothing", "background": events a second
    # and rank, "hosts": which have one, "clock_off_us": of the agents' clocks, "retransmits": a second and host that come anyway, to any other,
    # "addresses": whether the events tell them}; see agent.py
    "traces": None,
    # {"kind": …, "rank" or "host": index, "factor": …, "from": share of the steps, "to": …}; see faults.py
    "faults": [],
}

# jitter: median µs and log-deviation of the launch. offset: lasting differences between ranks, µs. silicon: lasting
# differences of computing speed. computing, transfer: log-deviations of one operation. tail: chance that a transfer takes up
# to three times as long. links: bandwidths differ by up to this. pause: chance for a computation and mean µs.
NOISE = {
    "quiet": {"jitter": (4.0, 0.5), "offset": 1.0, "silicon": 0.0005, "computing": 0.003, "transfer": 0.01, "tail": 0.0,
              "links": 0.01, "pause": (0.0001, 1000.0)},
    "normal": {"jitter": (8.0, 0.8), "offset": 3.0, "silicon": 0.001, "computing": 0.01, "transfer": 0.02, "tail": 0.002,
               "links": 0.03, "pause": (0.0005, 2000.0)},
    "high": {"jitter": (20.0, 1.2), "offset": 6.0, "silicon": 0.002, "computing": 0.03, "transfer": 0.05, "tail": 0.01,
             "links": 0.03, "pause": (0.002, 4000.0)},
}


def complete(scenario):
    """The scenario with every default filled in; refuses what it doesn't know."""
    unknown = set(scenario) - set(DEFAULTS)
    if unknown:
        raise ValueError(f"unknown settings: {', '.join(sorted(unknown))}")
    return {**DEFAULTS, **scenario}
