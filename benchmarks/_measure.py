"""Decode raw buffers in a fresh process and print one JSON line: the child of benchmarks/decode.py.

Besides the core alone it measures `wavewright.decode`, from the same files: both in turn, because machines change their
speed within seconds, and by medians of CPU time.

usage: _measure.py THREADS REPEATS TRACE[,TRACE...] [LISTING@LOAD_ADDRESS:ID ...]
"""

from __future__ import annotations

import json
import re
import statistics
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

import polars as pl

import wavewright
from wavewright import _core

if TYPE_CHECKING:
    from collections.abc import Callable


def resident_bytes(field: str) -> int:
    """`VmRSS` (now) or `VmHWM` (the most so far) of this process."""
    line = next(line for line in Path("/proc/self/status").read_text().splitlines() if line.startswith(field))
    return int(line.split()[1]) * 1024


def in_turn(repeats: int, *calls: Callable[[], object]) -> list[float]:
    """Median CPU seconds of each of the calls."""
    seconds: list[list[float]] = [[] for _ in calls]
    for _ in range(repeats):
        for call, spent in zip(calls, seconds, strict=True):
            begin = time.process_time()
            result = call()
            spent.append(time.process_time() - begin)
            del result
    return [statistics.median(spent) for spent in seconds]


def main() -> None:
    threads, repeats, traces, *listings = sys.argv[1:]
    program = _core.Program()
    for spec in listings:
        match = re.fullmatch(r"(.+?)(?:@(\w+))?(?::(\d+))?", spec)
        if match is None:
            sys.exit(f"not FILE[@LOAD_ADDRESS][:ID]: {spec}")
        file, load, number = match.groups()
        load_address = int(load, 0) if load else None
        program.add_listing(int(number or 0), load_address, Path(file).read_bytes())
    program.link()
    Path("/proc/self/clear_refs").write_text("5")  # forget the peak that was inherited from the parent process
    before = resident_bytes("VmRSS")
    buffers = [Path(trace).read_bytes() for trace in traces.split(",")]
    runs = []
    records = None
    for _ in range(int(repeats)):
        records = None
        wall, cpu = time.perf_counter(), time.process_time()
        records = _core.decode(buffers, program, threads=int(threads))
        runs.append((time.perf_counter() - wall, time.process_time() - cpu))
    peak = resident_bytes("VmHWM") - before
    tables = [pl.DataFrame(t) for record in records or [] for t in _core.tables(record).values()]
    instructions = [pl.DataFrame(_core.tables(record)["instructions"]) for record in records or []]
    wall, cpu = min(runs)
    del records
    paths = [Path(trace) for trace in dict.fromkeys(traces.split(","))]
    core_seconds, decode_seconds = in_turn(
        int(repeats),
        lambda: _core.decode([path.read_bytes() for path in paths], program, threads=int(threads)),
        lambda: wavewright.decode(paths, listings, threads=int(threads)),
    )
    print(
        json.dumps(
            {
                "input_bytes": sum(map(len, buffers)),
                "output_bytes": sum(table.estimated_size() for table in tables),
                "instructions": sum(table.height for table in instructions),
                "unresolved": sum(int((table["row"] < 0).sum()) for table in instructions),
                "wall_seconds": wall,
                "cpu_seconds": cpu,
                "wall_spread": max(w for w, _ in runs) / wall - 1,
                "peak_bytes": peak,
                "file_bytes": sum(path.stat().st_size for path in paths),
                "core_seconds": core_seconds,
                "decode_seconds": decode_seconds,
            }
        )
    )


if __name__ == "__main__":
    main()
