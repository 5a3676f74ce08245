#!/usr/bin/env python3
"""Writes the databases of this folder: one small eBPF trace per shape and version, with what readers stumble over.

    python3 testdata/traces/make.py [FOLDER]

The same bytes in every run with the same SQLite. No real machine, no real job.
"""
import sqlite3
import sys
from pathlib import Path

START = 1_767_225_600_000_000_000
MS = 1_000_000


def database(folder, name, schema):
    path = folder / name
    path.unlink(missing_ok=True)
    db = sqlite3.connect(path)
    db.execute("PRAGMA page_size = 1024")
    db.executescript(schema)
    return db


def simple(folder):
    """Calls into NCCL beside TCP events: nulls, ties, a length that is no number, an event that is no retransmit."""
    db = database(folder, "gpu-001-nccl.db", """
        CREATE TABLE nccl_events (timestamp_ns INTEGER, duration_ns INTEGER, pid INTEGER, op TEXT, rank INTEGER, nranks INTEGER,
          comm_id_hash INTEGER, peer_rank INTEGER);
        CREATE TABLE tcp_events (timestamp_ns INTEGER, event TEXT, saddr TEXT, daddr TEXT, sport INTEGER, dport INTEGER, seq INTEGER);""")
    calls = [(START + k * 100 * MS, (60 if k % 7 == 3 else 2) * MS, 4711 + k % 2, "ALL_REDUCE", k % 2, 2, -5, None) for k in range(60)]
    calls += [
        (START + 300 * MS, 60 * MS, 4711, "ALL_REDUCE", 1, 2, -5, None),  # the same rank, length and start as another
        (START + 9 * MS, 80 * MS, 4711, "ALL_REDUCE", None, 2, -5, None),
        (None, 70 * MS, 4711, "ALL_REDUCE", 0, 2, -5, None),
        (START, None, 4711, "ALL_REDUCE", 0, 2, -5, None),
        (START + 1, 90 * MS, 4711, "SEND", 0, 2, -5, 1),
        (START + 2, 900 * MS, 4711, "COMM_INIT_RANK", 0, 2, -5, None),
        (START + 3, "no number", 4711, "ALL_REDUCE", 0, 2, -5, None),
    ]
    db.executemany("INSERT INTO nccl_events VALUES (?, ?, ?, ?, ?, ?, ?, ?)", calls)
    for k in range(60):
        if k % 7 == 3:
            for n in range(1 + k % 3):
                db.execute("INSERT INTO tcp_events VALUES (?, 'tcp_retransmit_skb', '10.0.0.1', '10.0.0.2', 40000, 50000, ?)", (START + k * 100 * MS + n * MS, k))
    # On the very edges of a window, between the windows, and no retransmit at all.
    for at, event in ((START + 360 * MS, "tcp_retransmit_skb"), (START + 361 * MS, "tcp_retransmit_skb"), (None, "tcp_retransmit_skb"), (START + 310 * MS, "tcp_reset")):
        db.execute("INSERT INTO tcp_events VALUES (?, ?, '10.0.0.1', '10.0.0.3', 40001, 50000, 1)", (at, event))
    db.commit()
    db.close()


OLD_EVENTS = """CREATE TABLE events (id INTEGER PRIMARY KEY AUTOINCREMENT, timestamp INTEGER NOT NULL, pid INTEGER NOT NULL, tid INTEGER NOT NULL,
  source INTEGER NOT NULL, op INTEGER NOT NULL, duration INTEGER NOT NULL, gpu_id INTEGER NOT NULL DEFAULT 0, arg0 INTEGER NOT NULL DEFAULT 0,
  arg1 INTEGER NOT NULL DEFAULT 0, ret_code INTEGER NOT NULL DEFAULT 0, stack_hash INTEGER NOT NULL DEFAULT 0, stack_ips TEXT NOT NULL DEFAULT '',
  cgroup_id INTEGER NOT NULL DEFAULT 0);"""
NEW_EVENTS = """CREATE TABLE events (id TEXT PRIMARY KEY, timestamp INTEGER NOT NULL, pid INTEGER NOT NULL, tid INTEGER NOT NULL,
  source INTEGER NOT NULL, op INTEGER NOT NULL, duration INTEGER NOT NULL, gpu_id INTEGER NOT NULL DEFAULT 0, arg0 INTEGER NOT NULL DEFAULT 0,
  arg1 INTEGER NOT NULL DEFAULT 0, ret_code INTEGER NOT NULL DEFAULT 0, stack_hash INTEGER NOT NULL DEFAULT 0, node TEXT NOT NULL DEFAULT '',
  rank INTEGER, local_rank INTEGER, world_size INTEGER, comm TEXT NOT NULL DEFAULT '', cgroup_id INTEGER NOT NULL DEFAULT 0);"""
SIDE = """
CREATE TABLE sources (id INTEGER PRIMARY KEY, name TEXT NOT NULL, description TEXT NOT NULL);
CREATE TABLE ops (source_id INTEGER NOT NULL, op_id INTEGER NOT NULL, name TEXT NOT NULL, description TEXT NOT NULL, PRIMARY KEY (source_id, op_id));
CREATE TABLE schema_info (key TEXT PRIMARY KEY, value TEXT NOT NULL);
CREATE TABLE process_names (pid INTEGER NOT NULL, name TEXT NOT NULL, seen_at INTEGER NOT NULL DEFAULT 0, PRIMARY KEY (pid));
CREATE TABLE system_snapshots (id INTEGER PRIMARY KEY, timestamp INTEGER NOT NULL, cpu_pct REAL NOT NULL, mem_pct REAL NOT NULL, mem_avail INTEGER NOT NULL, swap_mb INTEGER NOT NULL, load_avg REAL NOT NULL);
CREATE TABLE event_aggregates (bucket INTEGER NOT NULL, source INTEGER NOT NULL, op INTEGER NOT NULL, pid INTEGER NOT NULL DEFAULT 0, count INTEGER NOT NULL DEFAULT 0,
  stored INTEGER NOT NULL DEFAULT 0, sum_dur INTEGER NOT NULL DEFAULT 0, min_dur INTEGER NOT NULL DEFAULT 0, max_dur INTEGER NOT NULL DEFAULT 0, sum_arg0 INTEGER NOT NULL DEFAULT 0,
  PRIMARY KEY (bucket, source, op, pid));
CREATE TABLE stack_traces (hash INTEGER PRIMARY KEY, ips TEXT NOT NULL, frames TEXT NOT NULL DEFAULT '');
CREATE TABLE cgroup_metadata (cgroup_id INTEGER PRIMARY KEY, container_id TEXT NOT NULL DEFAULT '', cgroup_path TEXT NOT NULL DEFAULT '');
CREATE TABLE cgroup_schedstat (cgroup_id INTEGER NOT NULL, p99_off_cpu INTEGER NOT NULL, total_off_cpu INTEGER NOT NULL, event_count INTEGER NOT NULL, window_start INTEGER NOT NULL, window_end INTEGER NOT NULL);
CREATE TABLE causal_chains (id TEXT PRIMARY KEY, detected_at INTEGER NOT NULL, severity TEXT NOT NULL, summary TEXT NOT NULL, root_cause TEXT NOT NULL, explanation TEXT NOT NULL);
"""


def packed(source, destination):
    """Two IPv4 addresses as agents pack them: the first part of each in its lowest byte."""
    number = lambda address: int.from_bytes(bytes(map(int, address.split("."))), "little")
    value = number(source) << 32 | number(destination)
    return value - (1 << 64) if value >= 1 << 63 else value


def agent(folder, name, events, codes, version, node):
    """An agent's database. `codes`: what its own tables say a switch and a retransmit are."""
    (switch, retransmit) = codes
    sessions = "CREATE TABLE sessions (id INTEGER PRIMARY KEY, started_at INTEGER NOT NULL, stopped_at INTEGER NOT NULL DEFAULT 0, gpu_model TEXT NOT NULL DEFAULT ''"
    sessions += ", node TEXT NOT NULL DEFAULT '', rank INTEGER);" if node else ");"
    db = database(folder, name, events + SIDE + sessions)
    db.executemany("INSERT INTO sources VALUES (?, ?, '')", [(switch[0], "HOST"), (retransmit[0], "TCP")])
    db.executemany("INSERT INTO ops VALUES (?, ?, ?, '')", [(*switch, "sched_switch"), (*retransmit, "tcp_retransmit")])
    db.execute("INSERT INTO schema_info VALUES ('version', ?)", (version,))
    for k in range(50):
        identity = f"{node}:{k + 1}" if node else k + 1
        what, arg0, arg1 = ((retransmit, packed("10.0.0.2", "200.1.0.3"), 40000 << 16 | 50000)) if k % 10 == 0 else (switch, 0, 99)
        columns, values = "id, timestamp, pid, tid, source, op, duration, arg0, arg1", [identity, START + k * MS, 0 if what == retransmit else 4711, 4711, *what, 1000 * k, arg0, arg1]
        if node:
            columns, values = columns + ", node, comm", values + [node, "python3"]
        db.execute(f"INSERT INTO events ({columns}) VALUES ({', '.join('?' * len(values))})", values)
    db.execute(f"INSERT INTO sessions (started_at, gpu_model{', node' if node else ''}) VALUES (?, 'GPU'{', ?' if node else ''})", (START,) + ((node,) if node else ()))
    db.executemany("INSERT INTO process_names VALUES (?, ?, ?)", [(4711, "python3", START), (99, "=cmd|' /C calc'!A0", 0)])
    db.execute("INSERT INTO system_snapshots VALUES (1, ?, 12.5, 40.0, 1000, 0, 0.5)", (START,))
    db.executemany("INSERT INTO event_aggregates VALUES (?, ?, ?, 4711, 1000, 45, 99000, 1, 500, 0)", [(START, *switch), (START + 60_000 * MS, *switch)])
    db.execute("INSERT INTO stack_traces VALUES (-7, '[]', '[]')")
    db.execute("INSERT INTO cgroup_metadata VALUES (1, '', '/user.slice')")
    db.execute("INSERT INTO cgroup_schedstat VALUES (1, 10, 20, 2, ?, ?)", (START, START + MS))
    db.execute("INSERT INTO causal_chains VALUES ('tail', ?, 'HIGH', 's', 'r', 'e')", (START,))
    db.commit()
    db.close()


def main():
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).resolve().parent
    simple(folder)
    agent(folder, "gpu-002.db", OLD_EVENTS, ((3, 1), (6, 1)), "0.8", None)
    # Codes of its own, which the usual ones would misread.
    agent(folder, "trace.sqlite", NEW_EVENTS, ((17, 4), (3, 1)), "0.12", "gpu-003")


if __name__ == "__main__":
    main()
