"""Reads Inspector dumps, slowly and plainly: the second opinion that the checks hold the program against.

Nothing here shares a line with the program's reader. Only Python's standard library is needed.
"""
import gzip
import hashlib
import json
import re
import zlib
from collections import Counter
from pathlib import Path

# Above these a size (1 PiB) or a time (30 days) is a wrapped unsigned number, not a measurement.
MAX_SIZE = 1 << 50
MAX_TIME_US = 30 * 86400 * 1000000
BANDWIDTH_COMMA = re.compile(rb'("(?:coll|p2p)_(?:algobw|busbw)_gbs"\s*:\s*)-?\d+,\d+')
BARE_NOT_A_NUMBER = re.compile(rb'("(?:coll|p2p)_(?:algobw|busbw)_gbs"\s*:\s*)[-+]?(?:nan|inf(?:inity)?)\b', re.I)


class Record:
    """A collective or a Send/Recv on one rank."""
    __slots__ = ("p2p", "id", "name", "rank", "n_ranks", "nnodes", "host", "pid", "dump_us",
                 "function", "sn", "peer", "size", "time_us", "timing", "busbw")

    @property
    def comm_type(self):
        return comm_type(self.n_ranks, self.nnodes)


class Account:
    """What became of the lines of one file, or of several."""

    def __init__(self):
        self.records, self.rejected = Counter(), Counter()
        self.repaired = self.truncated_dumps = self.lines = self.files = 0
        self.skipped, self.damaged = [], []

    def add(self, other):
        self.records += other.records
        self.rejected += other.rejected
        for name in ("repaired", "truncated_dumps", "lines", "files", "skipped", "damaged"):
            setattr(self, name, getattr(self, name) + getattr(other, name))


def comm_type(n_ranks, nnodes):
    if n_ranks == 1:
        return "single-rank"
    if nnodes == 1:
        return "nvlink-only"
    return "hca-only" if n_ranks == nnodes else "mixed"


def bandwidth(function, size, time_us, n_ranks):
    """Bus bandwidth in GB/s from size and time, as the plugin computes it."""
    n = n_ranks
    if function in ("AllGather", "ReduceScatter", "AllGatherV"):
        return size * n / time_us / 1e3 * (n - 1) / n
    if function == "AllReduce":
        return size / time_us / 1e3 * 2 * (n - 1) / n
    return size / time_us / 1e3


def decompressed(blob):
    """The bytes of a file and whether it is damaged. Of a cut gzip file: what is before the cut."""
    if blob[:2] != b"\x1f\x8b":
        return blob, False
    try:
        return gzip.decompress(blob), False
    except (EOFError, OSError, zlib.error):
        pass
    out = []
    while blob:
        member = zlib.decompressobj(31)
        try:
            out.append(member.decompress(blob))
        except zlib.error:
            return b"".join(out), True
        if not member.eof:
            return b"".join(out), True
        blob = member.unused_data
    return b"".join(out), False


def objects(text):
    """(text of an object, was repaired, is the unfinished last line) for each line that isn't blank.

    Lines from a lone `{` to the `}` in the first column are one pretty-printed object."""
    lines = text.split(b"\n")
    i = 0
    while i < len(lines):
        line, repaired, last = lines[i], False, i == len(lines) - 1
        i += 1
        if line.startswith(b"\xef\xbb\xbf"):
            line, repaired = line[3:], True
        if line.endswith(b"\r"):
            line, repaired = line[:-1], True
        if not line.strip():
            continue
        if line == b"{":
            end = next((k for k in range(i, len(lines)) if lines[k].rstrip(b"\r") == b"}"), None)
            if end is not None:
                line, repaired = b"\n".join([line] + lines[i:end + 1]), True
                last = False
                i = end + 1
        yield line, repaired, last


def parsed(line):
    """The object of a line and whether it had to be repaired; None when it is no JSON."""
    try:
        return json.loads(line), False
    except ValueError:
        pass
    mended = BARE_NOT_A_NUMBER.sub(rb"\1null", BANDWIDTH_COMMA.sub(rb"\1null", line))
    if mended == line:
        return None, False
    try:
        return json.loads(mended), True
    except ValueError:
        return None, False


def as_number(value):
    """A finite number, or None."""
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return None
    return value if value == value and abs(value) != float("inf") else None


def operation(context, perf, kind):
    """(record, was repaired), or (None, reason)."""
    header, metadata = context
    r = Record()
    try:
        r.p2p = kind == "p2p"
        r.id, r.name = header["id"], header.get("comm_name")
        r.rank, r.n_ranks, r.nnodes = header["rank"], header["n_ranks"], header["nnodes"]
        r.host, r.pid, r.dump_us = metadata["hostname"], metadata["pid"], metadata["dump_timestamp_us"]
        r.function, r.sn = perf[kind], perf[f"{kind}_sn"]
        r.peer = perf["p2p_peer"] if r.p2p else None
        r.size, r.time_us = perf[f"{kind}_msg_size_bytes"], perf[f"{kind}_exec_time_us"]
    except KeyError:
        return None, "missing_field"
    r.timing = perf.get(f"{kind}_timing_source")
    size, time_us = as_number(r.size), as_number(r.time_us)
    if size is None or time_us is None or not 0 <= size <= MAX_SIZE or not 1 <= time_us <= MAX_TIME_US:
        return None, "implausible"
    if not 0 <= r.rank < r.n_ranks or not 0 < r.nnodes <= r.n_ranks or (r.p2p and not 0 <= r.peer < r.n_ranks):
        return None, "implausible"
    written = [as_number(perf.get(f"{kind}_{name}_gbs")) for name in ("algobw", "busbw")]
    r.busbw = written[1] if written[1] is not None else bandwidth(r.function, size, time_us, r.n_ranks)
    return r, None in written


def read_text(text, account):
    """Yields the operations of one file's text; counts everything into `account`."""
    context, promised = None, Counter()
    for line, repaired, last in objects(text):
        account.lines += 1
        value, mended = parsed(line)
        if value is None:
            account.rejected["truncated" if last else "invalid_json"] += 1
            continue
        if not isinstance(value, dict):
            account.rejected["invalid_json"] += 1
            continue
        if "coll_sn" in value or "p2p_sn" in value:          # the flat variant
            kind = "coll" if "coll_sn" in value else "p2p"
            value = {"header": value, "metadata": value, f"{kind}_perf": value}
        own = (value["header"], value["metadata"]) if isinstance(value.get("header"), dict) and isinstance(value.get("metadata"), dict) else None
        if "dump_stats" in value:
            if own is None:
                account.rejected["missing_field"] += 1
                continue
            account.truncated_dumps += sum(promised.values()) > 0
            context, promised = own, Counter()
            if str(own[1].get("inspector_output_format_version", "")) >= "v4.3":
                stats = value["dump_stats"]
                promised = Counter({k: stats.get(f"{k}_records", 0) for k in ("coll", "p2p", "proxy")})
            account.records["dump_stats"] += 1
            account.repaired += repaired or mended
            continue
        key = next((k for k in ("coll_perf", "p2p_perf", "proxy_trace") if k in value), None)
        if key is None:
            others = [k for k in value if k not in ("header", "metadata")]
            if others:
                account.records["other"] += 1
            else:
                account.rejected["missing_field"] += 1
            continue
        kind = key.split("_")[0]
        mine = own
        if mine is None:
            if "header" in value or "metadata" in value:
                account.rejected["missing_field"] += 1
                continue
            if promised[kind] <= 0:
                account.rejected["orphaned"] += 1
                continue
            promised[kind] -= 1
            mine = context
        if kind == "proxy":
            account.records["proxy"] += 1
            account.repaired += repaired or mended
            continue
        record, extra = operation(mine, value[key], kind)
        if record is None:
            account.rejected[extra] += 1
            continue
        account.records["p2p" if record.p2p else "collective"] += 1
        account.repaired += bool(repaired or mended or extra)
        yield record
    account.truncated_dumps += sum(promised.values()) > 0


def read(paths, account, exclude=()):
    """Yields the operations of all dumps under `paths`; a copy of a file read before is passed over."""
    exclude = [Path(e).resolve() for e in exclude]
    seen = set()
    for path in sorted(files_under(paths)):
        if any(e == path.resolve() or e in path.resolve().parents for e in exclude):
            continue
        if not re.search(r"\.(log|jsonl|json)(\.gz)?$", path.name):
            continue
        text, damaged = decompressed(path.read_bytes())
        digest = hashlib.sha256(text).digest()
        if text and digest in seen:
            account.skipped.append(f"{path} (a copy)")
            continue
        seen.add(digest)
        mine = Account()
        yield from read_text(text, mine)
        if not mine.records.keys() - {"other"}:               # a job's own output may hold JSON objects too
            account.skipped.append(str(path))
            continue
        mine.files = 1
        if damaged:
            mine.damaged.append(str(path))
        account.add(mine)


def files_under(paths):
    for path in map(Path, paths):
        if path.is_dir():
            yield from (p for p in path.rglob("*") if p.is_file())
        else:
            yield path
