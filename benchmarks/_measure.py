"""Decode raw buffers in a fresh process and print one JSON line: the child of benchmarks/decode.py.

usage: _measure.py THREADS REPEATS TRACE[,TRACE...] [LISTING@LOAD_ADDRESS:ID ...]
"""

from __future__ import annotations

import json
import re
import sys
import time
from pathlib import Path

import polars as pl

from wavescope import _core


def resident_bytes(field: str) -> int:
    """`VmRSS` (now) or `VmHWM` (the most so far) of this process."""
    line = next(line for line in Path("/proc/self/status").read_text().splitlines() if line.startswith(field))
    return int(line.split()[1]) * 1024


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
            }
        )
    )


if __name__ == "__main__":
    main()
