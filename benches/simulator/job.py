"""A job from a scenario to files."""
import json
from pathlib import Path

from .agent import write_traces
from .engine import Engine
from .faults import Faults
from .layout import Layout
from .programs import program_of
from .scenario import complete
from .timing import Timing
from .truth import truth
from .writer import LEAST_SIZE, Writer


def simulate(scenario, folder):
    """Writes `folder`/logs, `folder`/truth.json and, where traces are asked for, `folder`/ebpf; returns the truth."""
    scenario = complete(scenario)
    layout = Layout(scenario)
    faults = Faults(scenario, layout.host_of)
    engine = Engine(layout, Timing(scenario, layout, faults), faults, LEAST_SIZE[scenario["dialect"]])
    step_ends = [0.0] * scenario["steps"]
    steps = program_of(scenario, layout)

    def program(rank):
        value, inner = None, steps(rank)
        while True:
            try:
                operation = inner.send(value)
            except StopIteration:
                break
            value = yield operation
            step_ends[rank.step] = max(step_ends[rank.step], value)

    engine.run(program)
    writer = Writer(scenario, layout)
    folder = Path(folder)
    written, lost = writer.write(engine.ranks, folder / "logs")
    if scenario["traces"]:
        write_traces(scenario, layout, engine, writer, folder / "ebpf")
    out = {**truth(scenario, layout, engine, writer, faults, step_ends), "records": written, "records_lost": lost}
    (folder / "truth.json").write_text(json.dumps(out, indent=1))
    return out
