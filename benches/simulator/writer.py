"""Writes the records as the plugin does, in its dialects.

    v4.0-sampled  NCCL 2.28: at each dump the latest collective of each communicator; no names, no Send/Recv
    v4.0          2.30: a ring of records between two dumps
    v4.1          and a line of statistics before each communicator's records
    v4.3          the context once, in the line of statistics
"""
import random
from pathlib import Path

from .timing import bus_factor, total_bytes

START_US = 1_760_000_000_000_000
LEAST_SIZE = {"v4.0-sampled": 1, "v4.0": 8192, "v4.1": 8192, "v4.3": 8192}


def host_name(host):
    return f"node{host + 1:02d}"


class Writer:
    """Names, process numbers, clocks and dump threads of a job."""

    def __init__(self, scenario, layout):
        draw = random.Random(scenario["seed"] * 15485863 + 3)
        self.scenario, self.layout = scenario, layout
        self.pids = [draw.randrange(1000, 4_000_000) for _ in range(layout.size)]
        off = scenario["clock_off_us"]
        self.clock = [draw.uniform(-off, off) for _ in range(scenario["nodes"])]
        self.phase = [draw.uniform(0, scenario["dump_interval_us"]) for _ in range(layout.size)]

    def write(self, ranks, folder):
        """Writes a file for each rank; returns how many records it holds and how many were lost."""
        folder = Path(folder)
        folder.mkdir(parents=True, exist_ok=True)
        written = lost = 0
        for rank in ranks:
            if rank.number in self.scenario["missing"]:
                lost += len(rank.records)
                continue
            lines, kept = self._file(rank)
            written += kept
            lost += len(rank.records) - kept
            name = f"{host_name(self.layout.host_of[rank.number])}-pid{self.pids[rank.number]}.log"
            (folder / name).write_text("".join(lines))
        return written, lost

    def _file(self, rank):
        interval, phase = self.scenario["dump_interval_us"], self.phase[rank.number]
        dumps = {}
        for record in rank.records:
            dump = int((record[0] - phase) // interval) + 1
            dumps.setdefault(dump, {}).setdefault(record[1].identity, []).append(record)
        if self.scenario["teardown_loses"] and len(dumps) > 1:
            del dumps[max(dumps)]
        lines, kept, dropped = [], 0, {}
        for dump in sorted(dumps):
            stamp = int(START_US + self.clock[self.layout.host_of[rank.number]] + phase + dump * interval)
            for identity in sorted(dumps[dump]):
                kept += self._dump(lines, rank, sorted(dumps[dump][identity], key=lambda r: r[0]), stamp, dropped)
        return lines, kept

    def _dump(self, lines, rank, records, stamp, dropped):
        dialect, comm = self.scenario["dialect"], records[0][1]
        ring = 1 if dialect == "v4.0-sampled" else self.scenario["ring"]
        context = self._context(rank, comm, stamp)
        kinds = []
        for prefix, chosen in (("coll", [r for r in records if r[6] < 0]), ("p2p", [r for r in records if r[6] >= 0])):
            kept = chosen[-ring:] if prefix == "coll" or dialect != "v4.0-sampled" else []
            key = comm.identity, prefix
            dropped[key] = dropped.get(key, 0) + len(chosen) - len(kept)
            kinds.append((prefix, kept, dropped[key], len(chosen) - len(kept)))
        if dialect in ("v4.1", "v4.3"):
            counts = ",".join(f'"{p}_records":{len(k)},"{p}_dropped_total":{total},"{p}_dropped_since_last_dump":{since}' for p, k, total, since in kinds)
            lines.append(f'{{{context},"dump_stats":{{{counts}}}}}\n')
        lead = "{" if dialect == "v4.3" else f"{{{context},"
        for prefix, kept, _, _ in kinds:
            for r in kept:
                lines.append(lead + self._payload(prefix, r, self.layout.host_of[rank.number]))
        return sum(len(k[1]) for k in kinds)

    def _context(self, rank, comm, stamp):
        s = self.scenario
        name = "" if s["dialect"] == "v4.0-sampled" else f'"comm_name":"{comm.name}",'
        return (
            f'"header":{{"id":"{comm.identity}",{name}"rank":{comm.place[rank.number]},"n_ranks":{len(comm.ranks)},"nnodes":{len(comm.hosts)}}},'
            f'"metadata":{{"inspector_output_format_version":"{s["dialect"][:4]}","git_rev":"","rec_mechanism":"nccl_profiler_interface",'
            f'"dump_timestamp_us":{stamp},"hostname":"{host_name(self.layout.host_of[rank.number])}","pid":{self.pids[rank.number]}}}'
        )

    def _payload(self, prefix, record, host):
        _, comm, function, number, size, micros, peer = record
        n, us = len(comm.ranks), max(micros, 1)
        algorithm = total_bytes(function, n, size) / us / 1e3
        modern = self.scenario["dialect"] == "v4.3" and prefix == "coll"
        how = '"coll_algo":"RING","coll_proto":"SIMPLE",' if modern else ""
        who = f'"p2p_peer":{peer},' if prefix == "p2p" else ""
        return (
            f'"{prefix}_perf":{{"{prefix}":"{function}",{how}"{prefix}_sn":{number},{who}"{prefix}_msg_size_bytes":{size},"{prefix}_exec_time_us":{us},'
            f'"{prefix}_timing_source":"kernel_gpu","{prefix}_algobw_gbs":{algorithm:.6f},"{prefix}_busbw_gbs":{algorithm * bus_factor(function, n):.6f}{self._trace(prefix, record, host)}}}}}\n'
        )

    def _trace(self, prefix, record, host):
        """When the kernel ran, channel by channel, by the host's clock."""
        if not self.scenario["verbose"]:
            return ""
        stop = START_US + self.clock[host] + record[0]
        start, stop = int(stop - record[5]), int(stop)
        numbers = ",".join(f'{{"channel_id":{c},"kernel_start_sn":{3 + c},"kernel_stop_sn":{7 + c},"kernel_record_sn":{5 + c}}}' for c in range(2))
        times = ",".join(f'{{"channel_id":{c},"kernel_start_ts":{start + c},"kernel_stop_ts":{stop - c},"kernel_record_ts":{stop - c}}}' for c in range(2))
        return (
            f',"event_trace_sn":{{"{prefix}_start_sn":1,"{prefix}_stop_sn":2,"kernel_events":[{numbers}]}}'
            f',"event_trace_ts":{{"{prefix}_start_ts":{start - 30},"{prefix}_stop_ts":{start - 20},"kernel_events":[{times}]}}'
        )
