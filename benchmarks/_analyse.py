"""Run every analysis over one large synthetic trace in this process and print one JSON line per analysis.

The trace is a small one repeated: every repeat has new waves that run after the last ones. Memory is the peak of the
whole process during the analysis, tables included.

usage: python -m benchmarks._analyse INSTRUCTIONS [NAME...]
"""

from __future__ import annotations

import json
import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any

import polars as pl

from synth import Scenario, compiled, synthesize, write_capture
from wavewright import ThreadTrace, decode
from wavewright.readers.trace.waits import match_waits

ANALYSES: dict[str, tuple[str, str, dict[str, Any]]] = {
    "row_totals": ("costs.row_costs", "row_totals", {}),
    "hidden, reference": ("costs.exposure", "hidden_latency", {"amd": True}),
    "hidden, corrected": ("costs.exposure", "hidden_latency", {"amd": False}),
    "hotspots by line": ("costs.hotspots", "hotspots", {"by": "line"}),
    "hotspots by loop": ("costs.hotspots", "hotspots", {"by": "loop"}),
    "loops": ("costs.loops", "loops", {}),
    "stalls": ("stalls", "stalls", {}),
    "classic": ("stalls.classic", "classic", {}),
    "waits": ("waits", "waits", {}),
    "memory_latency": ("memory_latency", "memory_latency", {}),
    "barriers": ("barriers", "barriers", {}),
    "coverage": ("trust.coverage", "coverage", {}),
    "mapping": ("trust.mapping", "mapping", {}),
    "states": ("waves.states", "states", {}),
    "utilization": ("pipes.utilization", "utilization", {}),
    "occupancy": ("occupancy", "occupancy", {}),
    "listing": ("listing", "isa_listing", {}),
    "listing of one execution": ("listing", "isa_listing", {"iteration": 3}),
    "source_lines": ("listing.source_lines", "source_listing", {}),
    "caveats": ("trust.caveats", "caveats_of_cycles", {}),
    "diagnose": ("diagnose", "diagnose", {}),
}


def main() -> None:
    wanted, names = int(sys.argv[1]), sys.argv[2:] or list(ANALYSES)
    trace = repeated(small_trace(), wanted)
    for name in names:
        module, function, options = ANALYSES[name]
        analysis: Callable[..., Any] = getattr(import_module(f"wavewright.analysis.trace.{module}"), function)
        fresh = ThreadTrace(dict(trace.tables), trace.source, trace.lazy_tables)
        Path("/proc/self/clear_refs").write_text("5")  # forget the peak so far
        wall, cpu = time.perf_counter(), time.process_time()
        analysis(fresh, **options)
        row = {"wall_seconds": time.perf_counter() - wall, "cpu_seconds": time.process_time() - cpu}
        row |= {"count": trace.instructions.height, "peak_bytes": peak_bytes()}
        print(json.dumps({"name": name, **row}), flush=True)


def peak_bytes() -> int:
    line = next(line for line in Path("/proc/self/status").read_text().splitlines() if line.startswith("VmHWM"))
    return int(line.split()[1]) * 1024


def small_trace() -> ThreadTrace:
    """A matrix multiplication on four shader engines, 240 waves."""
    scenario = Scenario(
        kernels=(compiled("tiled_gemm", "gfx942"),), shader_engines=4, workgroups=15, waves_per_workgroup=4,
        waves_per_simd=4, loop_trips=12, other_waves=8, realtime_pairs=2, seed=5,
    )  # fmt: skip
    with tempfile.TemporaryDirectory() as folder:
        write_capture(synthesize(scenario), folder)
        return decode(folder)


def repeated(trace: ThreadTrace, instructions: int) -> ThreadTrace:
    """The trace again and again behind itself, to about as many instructions; column by column, to need little room."""
    times = max(1, round(instructions / trace.instructions.height))
    waves = trace.waves
    span = int(waves["end_cycles"].max()) + 1000  # type: ignore[arg-type]
    moves = {
        "time_cycles": span,
        "start_cycles": span,
        "end_cycles": span,
        "shader_clock_cycles": span,
        "wave": waves.height,
        "first_instruction": trace.instructions.height,
        "first_state": trace.states.height,
    }
    tables = {name: trace.table(name) for name in ("kernels", "code", "shader_engines", "sources", "losses")}
    for name in ("instructions", "states", "waves", "occupancy"):
        columns = [moved(column, moves.get(column.name, 0), times) for column in trace.table(name)]
        tables[name] = pl.DataFrame(columns)
    tables["realtime"] = trace.realtime
    made = ThreadTrace(tables, trace.source)
    waits = partial(match_waits, made.instructions, made.code, trace.gfxip)
    return ThreadTrace(tables, trace.source, {"waits": waits})


def moved(column: pl.Series, step: int, times: int) -> pl.Series:
    if not step:
        return pl.concat([column] * times, rechunk=True)
    return pl.concat([(column + repeat * step).cast(column.dtype) for repeat in range(times)], rechunk=True)


if __name__ == "__main__":
    main()
