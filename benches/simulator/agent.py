"""Writes the database of an eBPF agent for each host of a simulated job.

What a fault added to a rank's computing shows as what "shows" says; every host also has its ordinary noise. As released agents do it: a
switch back to a process and a finished block request are stamped at their end, a call into CUDA at its start.
"""
import random
import sqlite3

from .writer import START_US, host_name

SCHEMA = """
CREATE TABLE events (id TEXT PRIMARY KEY, timestamp INTEGER NOT NULL, pid INTEGER NOT NULL, tid INTEGER NOT NULL, source INTEGER NOT NULL,
  op INTEGER NOT NULL, duration INTEGER NOT NULL, gpu_id INTEGER NOT NULL DEFAULT 0, arg0 INTEGER NOT NULL DEFAULT 0,
  arg1 INTEGER NOT NULL DEFAULT 0, ret_code INTEGER NOT NULL DEFAULT 0, stack_hash INTEGER NOT NULL DEFAULT 0,
  node TEXT NOT NULL DEFAULT '', rank INTEGER, local_rank INTEGER, world_size INTEGER, comm TEXT NOT NULL DEFAULT '', cgroup_id INTEGER NOT NULL DEFAULT 0);
CREATE TABLE sources (id INTEGER PRIMARY KEY, name TEXT NOT NULL, description TEXT NOT NULL);
CREATE TABLE ops (source_id INTEGER NOT NULL, op_id INTEGER NOT NULL, name TEXT NOT NULL, description TEXT NOT NULL, PRIMARY KEY (source_id, op_id));
CREATE TABLE sessions (id INTEGER PRIMARY KEY, started_at INTEGER NOT NULL, stopped_at INTEGER NOT NULL DEFAULT 0, node TEXT NOT NULL DEFAULT '');
CREATE TABLE process_names (pid INTEGER PRIMARY KEY, name TEXT NOT NULL, seen_at INTEGER NOT NULL DEFAULT 0);
"""
SOURCES = {1: "CUDA", 3: "HOST", 5: "IO", 6: "TCP"}
OPS = {(6, 1): "tcp_retransmit", (1, 5): "cudaStreamSync", (3, 1): "sched_switch", (3, 3): "mm_page_alloc", (3, 4): "oom_kill", (3, 6): "process_exit", (5, 2): "block_write"}
CODES = {name: codes for codes, name in OPS.items()}
INTRUDER = 4242


def write_traces(scenario, layout, engine, writer, folder):
    """Writes folder/<host>.db for each host that has one."""
    settings = {"shows": "nothing", "background": 20.0, "hosts": None, "clock_off_us": 0.0, "retransmits": 0.0, "addresses": True, **scenario["traces"]}
    folder.mkdir(parents=True, exist_ok=True)
    end = max(max(rank.streams) for rank in engine.ranks)
    for host in range(scenario["nodes"]):
        if settings["hosts"] is not None and host not in settings["hosts"]:
            continue
        draw = random.Random(scenario["seed"] * 7919 + host)
        ranks = [rank for rank in engine.ranks if layout.host_of[rank.number] == host]
        events = []
        for rank in ranks:
            pid = writer.pids[rank.number]
            events += background(draw, pid, end, settings["background"])
            for start, stop in rank.held:
                events += shown(draw, settings["shows"], pid, start, stop)
        events += retransmits(draw, scenario["nodes"], host, end, engine.resent, settings)
        off = writer.clock[host] + draw.uniform(-1, 1) * settings["clock_off_us"]
        save(folder / f"{host_name(host)}.db", host_name(host), START_US + off, end, sorted(events))


def background(draw, pid, end, rate):
    """What happens to a process anyway: short switches, waits for the GPU, pages, and now and then a request to the disk."""
    out = []
    for kind, share, length in (("sched_switch", 1.0, 60), ("cudaStreamSync", 1.0, 200), ("mm_page_alloc", 1.0, 0), ("block_write", 0.2, 800), ("process_exit", 0.005, 0)):
        moment = draw.expovariate(max(rate * share, 1e-9) / 1e6)
        while moment < end:
            out.append((moment, kind, pid, draw.expovariate(1 / length) if length else 0, 4096 if kind == "mm_page_alloc" else 0, 0))
            moment += draw.expovariate(max(rate * share, 1e-9) / 1e6)
    return out


def retransmits(draw, hosts, host, end, resent, settings):
    """What a host sends again: in transfers that lose segments, and anyway. The addresses lie in an argument, lowest byte first."""
    moments = [(at, to) for at, sender, to in resent if sender == host]
    moment = draw.expovariate(settings["retransmits"] / 1e6) if settings["retransmits"] and hosts > 1 else end
    while moment < end:
        moments.append((moment, (host + draw.randrange(1, hosts)) % hosts))
        moment += draw.expovariate(settings["retransmits"] / 1e6)
    address = lambda of: 10 | (of % 250 + 1) << 24 | (of // 250) << 16
    return [(at, "tcp_retransmit", 0, 0, (address(host) << 32 | address(to)) if settings["addresses"] else 0, 0) for at, to in moments]


def shown(draw, shows, pid, start, stop):
    """What a trace shows of the time that a rank was held up."""
    length = stop - start
    if shows == "off_cpu":
        return [(stop, "sched_switch", pid, length * draw.uniform(0.8, 1.0), 0, INTRUDER)]
    if shows == "cuda_sync":
        # The main thread sleeps while it waits, as blocking synchronisation does.
        return [(start, "cudaStreamSync", pid, length * 0.95, 0, 0), (stop - length * 0.07, "sched_switch", pid, length * 0.85, 0, 0)]
    if shows == "block_io":
        parts = max(int(length / 2000), 1)
        return [(start + length * (k + 1) / parts, "block_write", INTRUDER, length / parts * 0.9, 64, 0) for k in range(parts)]
    if shows == "page_alloc":
        return [(start + length * draw.random(), "mm_page_alloc", pid, 0, 2 << 20, 0) for _ in range(30)]
    if shows in ("oom_kill", "process_exit"):
        return [(start + length * draw.random(), shows, INTRUDER, 0, 0, 0)]
    return []


def save(path, host, base_us, end, events):
    path.unlink(missing_ok=True)
    db = sqlite3.connect(path)
    db.executescript(SCHEMA)
    db.executemany("INSERT INTO sources VALUES (?, ?, '')", SOURCES.items())
    db.executemany("INSERT INTO ops VALUES (?, ?, ?, '')", [(*codes, name) for codes, name in OPS.items()])
    db.execute("INSERT INTO process_names VALUES (?, 'backup', 0)", (INTRUDER,))
    db.execute("INSERT INTO sessions (started_at, stopped_at, node) VALUES (?, ?, ?)", (int(base_us * 1000), int((base_us + end) * 1000), host))
    rows = ((f"{host}:{n}", int((base_us + at) * 1000), pid, pid, *CODES[kind], int(length * 1000), arg0, arg1, host) for n, (at, kind, pid, length, arg0, arg1) in enumerate(events, 1))
    db.executemany("INSERT INTO events (id, timestamp, pid, tid, source, op, duration, arg0, arg1, node) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", rows)
    db.commit()
    db.close()
