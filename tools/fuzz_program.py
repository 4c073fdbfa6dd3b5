"""Call the program with changed inputs and see that it never breaks: no crash, no hang, no bug, no half output.

    tools/fuzz_program.py files|rows|chrome|mcp [--count N | --seconds N] [--seed N]

files: bytes of every kind of input below ../shared/data are changed. rows: rows, columns and tables of databases.
chrome: values and bytes of Chrome traces. mcp: lines of a client's talk with `wavewright mcp`.
Cases are drawn by the seed and their number, so that one can be tried again: --first 4711 --count 1. Those that fail
are listed at the end, and their inputs stay in build/fuzz/failures. The same with a native module under ASan and UBSan:
tools/sanitized/run.sh PYTHON tools/fuzz_program.py ...
"""

from __future__ import annotations

import argparse
import gzip
import json
import random
import re
import resource
import select
import shutil
import subprocess
import sys
import tempfile
import time
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))  # called as a program, too

from tests.kit.mutations import json_bytes, mutate_rows, mutated_bytes  # noqa: E402
from tests.kit.real_inputs import COUNTERS, INPUTS, RUN, TRACE, copied  # noqa: E402

DATA = ROOT.parent / "shared/data"
FAILURES = ROOT / "build/fuzz/failures"

DATABASES = {
    "att-mi300x-bmm/c10/raw/163_results.db": (*RUN, *TRACE),
    "rpd/matmul_result.rpd": RUN,
    "rocprofcompute-analysisdb/rocprof_compute_3kernels.db": COUNTERS,
}
CHROME = (
    "rpd/matmul_result.json",
    "kineto-amd/torch_compile_triton.json.gz",
    "kineto-amd/sglang_Qwen3-8B_decode.json.gz",
)
MOST_EVENTS = 400  #: Of a Chrome trace: what breaks does so with few.
FORMS: tuple[tuple[str, ...], ...] = ((), ("--json",), ("--brief",))

MOST_CPU_S, MOST_WAIT_S, MOST_MIB = 60, 600, 6 << 10
STATUSES = (0, 1, 2, 3, 4)
_CONTROLS = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")


def make_file(draw: random.Random, folder: Path) -> list[str]:
    """An input with a changed file, and the words to call the program with."""
    name = draw.choice(list(INPUTS))
    copy, files = copied(DATA, name, folder)
    file = draw.choice(files)
    data = file.read_bytes()
    if file.suffix == ".gz" and draw.random() < 0.7:  # else only the checksum of the archive is tried
        file.write_bytes(gzip.compress(mutated_bytes(draw, gzip.decompress(data)), 1))
    else:
        file.write_bytes(mutated_bytes(draw, data))
    return [draw.choice(INPUTS[name][1]), str(copy), *draw.choice(FORMS)]


def make_rows(draw: random.Random, folder: Path) -> list[str]:
    """A database with changed rows, and the words."""
    name = draw.choice(list(DATABASES))
    copy = folder / Path(name).name
    shutil.copyfile(DATA / name, copy)
    (folder / "changes").write_text(mutate_rows(draw, copy), errors="backslashreplace")
    return [draw.choice(DATABASES[name]), str(copy), *draw.choice(FORMS)]


def make_chrome(draw: random.Random, folder: Path) -> list[str]:
    """A Chrome trace with changed values, and the words."""
    whole = _chrome_trace(draw.choice(CHROME))
    first = draw.randrange(max(1, len(whole["traceEvents"]) - MOST_EVENTS))
    trace = {**whole, "traceEvents": whole["traceEvents"][first : first + MOST_EVENTS]}
    copy = folder / "trace.json"
    copy.write_bytes(json_bytes(draw, draw.choice((trace, trace["traceEvents"]))))
    return [draw.choice(RUN), str(copy), *draw.choice(FORMS)]


@cache
def _chrome_trace(name: str) -> dict[str, Any]:
    data = (DATA / name).read_bytes()
    trace = json.loads(gzip.decompress(data) if name.endswith(".gz") else data)
    return trace if isinstance(trace, dict) else {"traceEvents": trace}


MAKERS: dict[str, Callable[[random.Random, Path], list[str]]] = {
    "files": make_file,
    "rows": make_rows,
    "chrome": make_chrome,
}


def called(arguments: list[str]) -> str:
    """Call the program; the promise that it broke, empty = none."""
    from tests.cli.in_process import call

    began_s = time.process_time()
    try:
        done = call(*arguments)
    except BaseException as error:  # whatever it is, it is what we look for
        return f"{type(error).__name__}: {error}"[:300]
    if done.status not in STATUSES or "Traceback" in done.stderr or "a bug" in done.stderr:
        return f"status {done.status}: {done.stderr.strip()[-300:]}"
    if done.status == 0 and "--json" in arguments:
        try:
            json.loads(done.stdout)
        except ValueError as error:
            return f"not JSON: {error}"
    if control := _CONTROLS.search(done.stdout + done.stderr):
        return f"the output has the control character {control.group()!r}"
    if (cpu_s := time.process_time() - began_s) > MOST_CPU_S:
        return f"{cpu_s:.0f} s of processor time"
    memory_mib = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss >> 10
    return f"{memory_mib:,} MiB of memory" if memory_mib > MOST_MIB else ""


def work(target: str, seed: int, first: int) -> None:
    """Try cases one after the other; each is a line with its number before, and a line with its outcome after."""
    from tests.mcp.mutated_talk import talk

    with tempfile.TemporaryDirectory() as scratch:
        for number in range(first, sys.maxsize):
            print(number, flush=True)
            draw = random.Random(f"{target} {seed} {number}")  # noqa: S311  nothing secret
            folder = Path(scratch) / str(number)
            folder.mkdir()
            if target == "mcp":
                arguments, outcome = [], talk(draw, DATA, folder)
            else:
                arguments = MAKERS[target](draw, folder)
                outcome = called(arguments)
            if outcome:
                shutil.copytree(folder, FAILURES / f"{target}-{seed}-{number}", dirs_exist_ok=True)
            shutil.rmtree(folder)
            print(json.dumps({"number": number, "call": arguments, "outcome": outcome}), flush=True)


def supervise(target: str, seed: int, first: int, count: int | None, seconds: float | None) -> list[dict[str, Any]]:
    """Start workers and start them again after one died or hung; what failed."""
    FAILURES.mkdir(parents=True, exist_ok=True)
    failures: list[dict[str, Any]] = []
    began_s, number, done = time.monotonic(), first, 0

    def is_over() -> bool:
        return done >= count if count is not None else time.monotonic() - began_s >= (seconds or 0)

    while not is_over():
        worker = subprocess.Popen(
            [sys.executable, __file__, "work", target, "--seed", str(seed), "--first", str(number)],
            stdout=subprocess.PIPE,
            text=True,
        )
        assert worker.stdout is not None  # noqa: S101  for mypy
        while not is_over():
            ready, _, _ = select.select([worker.stdout], [], [], MOST_WAIT_S)
            line = worker.stdout.readline() if ready else ""
            if not line:
                problem = f"the process ended with {worker.wait()}" if ready else f"no answer in {MOST_WAIT_S} s"
                failures.append({"number": number, "outcome": problem})
                number, done = number + 1, done + 1
                break
            message = json.loads(line)
            if isinstance(message, int):
                number = message
                continue
            done, number = done + 1, number + 1
            if message["outcome"]:
                failures.append(message)
                print(json.dumps(message), flush=True)
            if done % 500 == 0:
                print(f"{target}: {done:,} cases, {len(failures)} failed", flush=True)
        worker.kill()
        worker.wait()
    cpu_s = resource.getrusage(resource.RUSAGE_CHILDREN)
    minutes, cpu_minutes = (time.monotonic() - began_s) / 60, (cpu_s.ru_utime + cpu_s.ru_stime) / 60
    print(f"{target}: {done:,} cases, {len(failures)} failed, {minutes:.1f} minutes, {cpu_minutes:.1f} of a processor")
    return failures


def main() -> int:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("target", choices=[*MAKERS, "mcp", "work"])
    parser.add_argument("worked_on", nargs="?", choices=[*MAKERS, "mcp"], help=argparse.SUPPRESS)
    parser.add_argument("--count", type=int, help="cases")
    parser.add_argument("--seconds", type=float, default=60, help="of all, unless --count is given; 60")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--first", type=int, default=0, help="number of the first case")
    arguments = parser.parse_args()
    if arguments.target == "work":
        work(arguments.worked_on, arguments.seed, arguments.first)
        return 0
    failures = supervise(arguments.target, arguments.seed, arguments.first, arguments.count, arguments.seconds)
    for failure in failures:
        print(json.dumps(failure))
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
