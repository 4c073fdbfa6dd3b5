"""How long the critical path, the diagnosis and the report of a large run take, and how much memory.

One process with a million dispatches, launched by as many calls, in steps that end with a synchronisation.

usage: python -m benchmarks.run_path [--dispatches N] [--repeats N] [--keep FOLDER] [--verb VERB ...]
"""

from __future__ import annotations

import argparse
import sqlite3
import tempfile
from contextlib import closing
from pathlib import Path

from benchmarks._programs import WAVEWRIGHT, Run, best
from synth.runs import Host, Launch, Operation, Program, Range, Rank, Synchronise, simulate, write_rocpd

GIB = 2**30
MOST_SECONDS, MOST_GIB = 5.0, 1.0
MORE_SECONDS = 2.0  #: That a report of 100,000 dispatches may take more than their summary.
STEPS, KERNELS = 5, 200
DURATIONS_NS = (6_130, 31_470, 4_210, 12_890, 22_310)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--dispatches", type=int, default=1_000_000)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--keep", type=Path)
    parser.add_argument("--verb", nargs="*", default=["path", "diagnose", "summary", "report"])
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        folder = asked.keep or Path(scratch)
        path = large_run(folder, asked.dispatches)
        runs: dict[str, Run] = {}
        for verb in asked.verb:
            output = ["-o", str(folder / "report.html"), "--force"] if verb == "report" else []
            runs[verb] = run = best([*WAVEWRIGHT, verb, str(path), *output], folder, asked.repeats)
            sizes = f"{run.wall_seconds:6.2f} s (at most {MOST_SECONDS:g}), {run.peak_bytes / GIB:5.2f} GiB"
            print(f"{verb:9} of {asked.dispatches:,} dispatches: {sizes} (at most {MOST_GIB:g})", flush=True)
        if {"report", "summary"} <= runs.keys():
            wall, cpu = (
                getattr(runs["report"], name) - getattr(runs["summary"], name)
                for name in ("wall_seconds", "cpu_seconds")
            )
            print(
                f"report takes {wall:.2f} s more than summary (at most {MORE_SECONDS:g}), {cpu:.2f} s of processor time"
            )


def large_run(folder: Path, dispatches: int) -> Path:
    """A ROCpd database with about so many dispatches and calls; made once per folder."""
    place = folder / f"run-{dispatches}"
    path = place / "rank0_results.db"
    if not path.exists():
        run = simulate(Program((Rank((training(),)),)))
        write_rocpd(run, place)
        tile(path, max(1, dispatches // (STEPS * KERNELS)), run.span_ns + 20_000)
    return path


def training() -> tuple[Operation, ...]:
    """Steps of many kernels, some of which wait for their launch and some for the kernel before."""
    steps = []
    for step in range(STEPS):
        launches = [
            Launch(f"kernel_{number % 40}", DURATIONS_NS[(number + step) % 5] + 10 * number, call_ns=5_000 + number)
            for number in range(KERNELS)
        ]
        steps.append(Range(f"step {step}", (Host(40_000), *launches, Synchronise())))
    return tuple(steps)


def tile(path: Path, times: int, period_ns: int) -> None:
    """Repeat all events of a database so often, each time later by a period."""
    with closing(sqlite3.connect(path)) as database:
        for pragma in ("journal_mode=OFF", "synchronous=OFF", "cache_size=-65536"):
            database.execute(f"PRAGMA {pragma}")
        tables = [name for (name,) in database.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
        event_table = next(name for name in tables if name.startswith("rocpd_event_"))
        suffix = event_table.removeprefix("rocpd_event")
        (stride,) = database.execute(f'SELECT max(max(id), max(stack_id)) FROM "{event_table}"').fetchone()  # noqa: S608
        database.execute("CREATE TEMP TABLE again (n INTEGER)")
        database.executemany("INSERT INTO again VALUES (?)", ((number,) for number in range(1, times)))
        for table in ("event", "region", "kernel_dispatch", "arg"):
            name = f"rocpd_{table}{suffix}"
            columns = [row[1] for row in database.execute(f'PRAGMA table_info("{name}")')]
            values = ", ".join(_shifted(column, stride, period_ns) for column in columns)
            database.execute(
                f'INSERT INTO "{name}" SELECT {values} FROM again CROSS JOIN "{name}" AS old '  # noqa: S608
                "ORDER BY n, old.id"
            )
        database.commit()


def _shifted(column: str, stride: int, period_ns: int) -> str:
    quoted = f'old."{column}"'
    if column in ("start", "end"):
        return f"{quoted} + n * {period_ns}"
    if column in ("id", "event_id", "stack_id", "dispatch_id"):
        return f"{quoted} + n * {stride}"
    if column == "parent_stack_id":
        return f"CASE WHEN {quoted} = 0 THEN 0 ELSE {quoted} + n * {stride} END"
    return quoted


if __name__ == "__main__":
    main()
