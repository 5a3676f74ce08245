"""What a perfect reader could say of a simulated job: the faults with their subjects, and how far the records resolve them."""
from .writer import START_US, host_name

SAMPLED = "v4.0-sampled"


def subject(layout, writer, rank):
    local = sum(layout.host_of[r] == layout.host_of[rank] for r in range(rank))
    return {"host": host_name(layout.host_of[rank]), "pid": writer.pids[rank], "local_rank": local, "global_rank": rank}


def link_units(scenario, layout):
    """What shares its links among its members only: a communicator, or a pair of a pipeline. (family, ranks, network)"""
    units = []
    for c in layout.communicators:
        if c.role == "pipeline":
            pairs = {frozenset(c.ranks[i : i + 2]) for i in range(len(c.ranks) - 1)} if scenario["dialect"] != SAMPLED else set()
            for pair in pairs:
                network = len({layout.host_of[r] for r in pair}) > 1
                units.append((("pair", network), pair, network))
        elif c.role == "expert":
            # Sends and Recvs of one group are timed together: the group is the unit.
            if scenario["dialect"] != SAMPLED:
                units.append((c.shape, frozenset(c.ranks), c.network))
        else:
            units.append((c.shape, frozenset(c.ranks), c.network))
    return units


def resolve(fault, scenario, layout):
    """(whether the records can tell, the ranks or hosts among which they leave it open)"""
    kind, host_of = fault["kind"], layout.host_of
    if kind == "congestion":
        return True, []
    if kind == "loss":
        return True, [fault["host"]]
    if kind == "slow-host":
        stages = {layout.stage_of[r] for r in range(layout.size) if host_of[r] == fault["host"]}
        whole = any(all(host_of[r] == fault["host"] for r in range(layout.size) if layout.stage_of[r] == s) for s in stages)
        return not whole and scenario["nodes"] > 1, [fault["host"]]
    if kind in ("slow-gpu", "throttling", "pauses"):
        only_p2p = scenario["dialect"] == SAMPLED and not any(fault["rank"] in c.ranks for c in layout.communicators if c.role not in ("pipeline", "expert"))
        return not only_p2p, [fault["rank"]]
    network = kind != "slow-nvlink"
    hit = (lambda ranks: any(host_of[r] == fault["host"] for r in ranks)) if kind == "slow-host-net" else (lambda ranks: fault["rank"] in ranks)
    units = [u for u in link_units(scenario, layout) if u[2] == network]
    slow = [u for u in units if hit(u[1])]
    fast = [u for u in units if not hit(u[1])]
    comparable = [u for u in slow if any(f[0] == u[0] for f in fast)]
    if not comparable:
        return False, []
    if kind == "slow-host-net":
        return True, sorted(set.intersection(*({host_of[r] for r in u[1]} for u in comparable)))
    return True, sorted(frozenset.intersection(*(u[1] for u in comparable)))


def truth(scenario, layout, engine, writer, faults, step_ends):
    """The whole truth, as JSON."""
    out = []
    for f in faults.all:
        tells, among = resolve(f, scenario, layout)
        start, end = faults.steps_of(f)
        hosts = "host" in f
        out.append({
            **f,
            "subjects": [{"host": host_name(f["host"])}] if hosts else [subject(layout, writer, f["rank"])] if "rank" in f else [],
            "resolvable": tells,
            "among": [{"host": host_name(h)} for h in among] if hosts else [subject(layout, writer, r) for r in among],
            "start_us": START_US + (step_ends[start - 1] if start else 0.0),
            "end_us": START_US + step_ends[min(end, len(step_ends)) - 1],
        })
    return {"scenario": scenario, "ranks": [subject(layout, writer, r) for r in range(layout.size)], "faults": out,
            "duration_us": step_ends[-1]}
