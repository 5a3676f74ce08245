#!/usr/bin/env python3
"""How the time and memory of the main job grow with the size of the dumps, and at one size with ranks and communicators.

    python3 benches/scaling.py --binary target/release/nccl-report --generator target/release/examples/generate-dumps
    python3 benches/scaling.py ... --write-docs         also draws docs/scaling.svg
    python3 benches/scaling.py ... --gigabytes 0.1 1    other sizes

CPU seconds are of all threads, user and system; memory is the largest resident set. Both come from the kernel's account of the process.
Dumps are generated, read once to warm the page cache, measured, and deleted before the next are generated.
"""
import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
WIDTH, HEIGHT, LEFT, TOP, RIGHT, BOTTOM = 380, 260, 56, 40, 16, 46


class Measured:
    def __init__(self, size, cpu, peak):
        self.size, self.cpu, self.peak = size, cpu, peak


def measure(binary, generator, work, *options):
    """One whole job, from dumps to report."""
    logs, out = work / "logs", work / "report"
    for folder in (logs, out):
        shutil.rmtree(folder, ignore_errors=True)
    subprocess.run([generator, logs, *map(str, options)], check=True, stdout=subprocess.DEVNULL)
    size = 0
    for path in sorted(logs.rglob("*.log")):
        with open(path, "rb", buffering=0) as file:
            while block := file.read(1 << 20):
                size += len(block)
    # ext4 looks long for an inode that wasn't deleted just now.
    time.sleep(6)
    process = subprocess.Popen([str(binary), str(logs), "--out", str(out), "--quiet"], stdin=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode not in (0, 3):
        sys.exit(f"nccl-report ended with status {process.returncode}")
    for folder in (logs, out):
        shutil.rmtree(folder, ignore_errors=True)
    unit = 1 if sys.platform == "darwin" else 1024
    return Measured(size, usage.ru_utime + usage.ru_stime, usage.ru_maxrss * unit)


def panel(title, unit, points, x0):
    """A line through (GB, value) from the origin on, values labelled."""
    inner_w, inner_h = WIDTH - LEFT - RIGHT, HEIGHT - TOP - BOTTOM
    most_x, most_y = max(p[0] for p in points), 1.15 * max(p[1] for p in points)
    x = lambda v: x0 + LEFT + inner_w * v / most_x
    y = lambda v: TOP + inner_h * (1 - v / most_y)
    out = [f'<text x="{x0 + LEFT}" y="24" font-weight="bold">{title}</text>',
           f'<line x1="{x(0):.1f}" x2="{x(most_x):.1f}" y1="{y(0):.1f}" y2="{y(0):.1f}" stroke="#999"/>',
           f'<line x1="{x(0):.1f}" x2="{x(0):.1f}" y1="{y(0):.1f}" y2="{TOP}" stroke="#999"/>',
           f'<text x="{x(most_x):.1f}" y="{HEIGHT - 10}" text-anchor="end">GB of JSON</text>']
    for tick in (0.5 * most_x, most_x):
        out.append(f'<text x="{x(tick):.1f}" y="{y(0) + 16:.1f}" text-anchor="middle">{tick:.3g}</text>')
    path = " ".join(f"{x(a):.1f},{y(b):.1f}" for a, b in points)
    out.append(f'<polyline points="{path}" fill="none" stroke="#0072b2" stroke-width="2"/>')
    for n, (a, b) in enumerate(points):
        out.append(f'<circle cx="{x(a):.1f}" cy="{y(b):.1f}" r="3" fill="#0072b2"><title>{a:.2f} GB: {b:.3g} {unit}</title></circle>')
        # A label ends at its point: further to the left it would lie over the axis.
        if n >= len(points) - 3 and a > 0.2 * most_x:
            out.append(f'<text x="{x(a):.1f}" y="{y(b) - 8:.1f}" text-anchor="end">{b:.3g} {unit}</text>')
    return out


def draw(by_size):
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {2 * WIDTH} {HEIGHT}" width="{2 * WIDTH}" height="{HEIGHT}" font-family="system-ui, sans-serif" font-size="12" fill="#333">',
           "<title>CPU time and memory of the whole job against the size of the dumps</title>",
           f'<rect width="{2 * WIDTH}" height="{HEIGHT}" fill="white"/>']
    out += panel("CPU time", "s", [(m.size / 1e9, m.cpu) for m in by_size], 0)
    out += panel("Memory at its peak", "MiB", [(m.size / 1e9, m.peak / 2**20) for m in by_size], WIDTH)
    return "\n".join([*out, "</svg>"]) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--binary", type=Path, required=True)
    parser.add_argument("--generator", type=Path, required=True)
    parser.add_argument("--gigabytes", type=float, nargs="*", default=[0.1, 0.5, 1, 2, 5, 10])
    parser.add_argument("--ranks", type=int, nargs="*", default=[16, 64, 256, 1024])
    parser.add_argument("--communicators", type=int, nargs="*", default=[8, 64, 512])
    parser.add_argument("--work", type=Path, help="where dumps are generated [default: a temporary folder]")
    parser.add_argument("--write-docs", action="store_true")
    a = parser.parse_args()
    with tempfile.TemporaryDirectory(dir=a.work) as temporary:
        work = Path(temporary)

        def row(what, *options):
            m = measure(a.binary, a.generator, work, *options)
            print(f"| {what} | {m.size / 1e6:,.0f} | {m.cpu:.2f} | {m.cpu / m.size * 1e9:.2f} | {m.peak / 2**20:,.0f} |", flush=True)
            return m

        print("| | MB of JSON | CPU s | CPU s a GB | peak MiB |\n|---|--:|--:|--:|--:|")
        by_size = [row(f"{g:g} GB, 64 ranks, 8 communicators a rank", "--bytes", int(g * 1e9)) for g in a.gigabytes]
        for ranks in a.ranks:
            row(f"{ranks} ranks, 8 communicators a rank", "--bytes", 300_000_000, "--ranks", ranks)
        for communicators in a.communicators:
            row(f"16 ranks, {communicators} communicators a rank", "--bytes", 300_000_000, "--ranks", 16, "--communicators", communicators)
    if a.write_docs and by_size:
        (ROOT / "docs" / "scaling.svg").write_text(draw(by_size))


if __name__ == "__main__":
    main()
