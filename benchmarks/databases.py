"""How fast runs are summarised, queried and converted, against AMD's tools, and how time and memory grow.

Each case runs whole programs, best of several. The peers are AMD's `rocpd` (Python package) and `rpd2tracing.py`; they
are measured side by side when their places are given, otherwise the seconds that were measured once on another machine
(2 cores, aarch64) stand for them:

    WAVEWRIGHT_ROCPD          folder that holds the package rocpd
    WAVEWRIGHT_RPD2TRACING    the script rpd2tracing.py

usage: python -m benchmarks.databases [--quick] [--only NAME] [--keep FOLDER]

--quick leaves out everything above 100 k dispatches; --keep makes the databases in FOLDER and uses them again.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from benchmarks._programs import WAVEWRIGHT, Run, best
from synth.rocpd import write_rocpd_ranks
from synth.rpd import write_rpd
from synth.workload import Workload

ROOT = Path(__file__).resolve().parent.parent
GENERATOR = ROOT.parent / "shared" / "tools" / "gen_rocpd.py"
MYTRACE = ROOT.parent / "shared" / "data" / "rpd" / "mytrace.rpd.gz"
GIB = 2**30


@dataclass(frozen=True)
class Case:
    """One of our commands and the peer's."""

    name: str
    ours: list[str]
    peer: list[str]
    """Command of the peer; empty = not at hand."""
    stated_seconds: float
    """What the peer took on the other machine."""
    factor: float
    """How many times faster we want to be."""
    is_slow: bool = False


def main() -> None:
    asked = arguments()
    with place_for_data(asked.keep) as folder:
        repeats = 3 if asked.quick else 5
        for case in cases(folder, quick=asked.quick):
            if not asked.only or asked.only in case.name:
                compare(case, folder, repeats)
        if not asked.only or asked.only in "growth":
            growth(folder, quick=asked.quick)
        if not asked.only or asked.only in "folder of files":
            many_files(folder, repeats)


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--only", default="")
    parser.add_argument("--keep", type=Path)
    return parser.parse_args()


@contextmanager
def place_for_data(kept: Path | None) -> Iterator[Path]:
    if kept:
        kept.mkdir(parents=True, exist_ok=True)
        yield kept
        return
    with tempfile.TemporaryDirectory() as scratch:
        yield Path(scratch)


def cases(folder: Path, *, quick: bool) -> Iterator[Case]:
    out = str(folder / "out")
    one = databases(folder, "100k", dispatches=100_000)
    four = databases(folder, "100k-in-4", dispatches=100_000, ranks=4)
    yield Case("summary, 100 k", ["summary", *one], amd("summary", one, out, "-f", "csv"), 8.3, 15)
    options = ("--domain-summary", "--summary-by-rank", "-f", "csv")
    ranks = ["summary", "--by", "rank", *four]
    yield Case("summary by rank, 100 k in 4 files", ranks, amd("summary", four, out, *options), 222, 150, is_slow=True)
    statement = "SELECT * FROM kernels"
    query = amd("query", one, out, "--query", statement, "--format", "csv")
    yield Case("query to CSV, 100 k", ["query", *one, statement, "--csv"], query, 4.5, 5)
    if MYTRACE.exists():
        plain = unpacked(MYTRACE, folder)
        chrome = ["convert", str(plain), "-f", "chrome", "--force", "-o", f"{out}.json"]
        yield Case("Chrome, mytrace", chrome, tracing(plain, out), 0.49, 2)
    if quick:
        return
    large = operations(folder, "1m.rpd", 1_000_000)
    chrome = ["convert", str(large), "-f", "chrome", "--force", "-o", f"{out}.json"]
    yield Case("Chrome, 1 M operations", chrome, tracing(large, out), float("nan"), 10, is_slow=True)
    two = databases(folder, "5m-in-2", dispatches=5_000_000, ranks=2)
    summary = amd("summary", two[:1], out, "-f", "csv")
    yield Case("summary, 2.5 M", ["summary", two[0]], summary, 222, 20, is_slow=True)
    yield Case("summary, 5 M in 2 files", ["summary", *two], [], 1912, 1912 / 30, is_slow=True)


def databases(folder: Path, name: str, *, dispatches: int, ranks: int = 1) -> list[str]:
    """Paths of ROCpd databases, one per rank: made as those of the stated seconds were, where the generator is here."""
    place = folder / name
    if not place.exists():
        staged = folder / f"{name}.part"
        shutil.rmtree(staged, ignore_errors=True)
        staged.mkdir()
        if GENERATOR.exists():
            made = ["-o", str(staged), "--dispatches", str(dispatches), "--ranks", str(ranks)]
            subprocess.run([sys.executable, str(GENERATOR), *made], check=True, stdout=subprocess.DEVNULL)
        else:
            write_rocpd_ranks(staged, Workload(dispatches=dispatches, ranks=ranks, seed=1))
        staged.rename(place)
    return sorted(str(path) for path in place.glob("*.db"))


def operations(folder: Path, name: str, count: int) -> Path:
    """Path of an RPD database."""
    path = folder / name
    if not path.exists():
        staged = folder / f"{name}.part"
        staged.unlink(missing_ok=True)
        write_rpd(staged, Workload(dispatches=count, seed=1))
        staged.rename(path)
    return path


def unpacked(packed: Path, folder: Path) -> Path:
    import gzip

    plain = folder / packed.stem
    plain.write_bytes(gzip.decompress(packed.read_bytes()))
    return plain


def amd(verb: str, paths: list[str], out: str, *options: str) -> list[str]:
    if "WAVEWRIGHT_ROCPD" not in os.environ:
        return []
    return [sys.executable, "-m", "rocpd", verb, "-i", *paths, "-d", out, *options]


def tracing(path: Path, out: str) -> list[str]:
    script = os.environ.get("WAVEWRIGHT_RPD2TRACING")
    return [sys.executable, script, str(path), f"{out}.peer.json"] if script else []


def compare(case: Case, folder: Path, repeats: int) -> None:
    ours = best(WAVEWRIGHT + case.ours, folder, repeats)
    line = f"{case.name:36} {described(ours)}"
    if case.peer:
        package = os.environ.get("WAVEWRIGHT_ROCPD", "") if "rocpd" in case.peer else ""
        peer = best(case.peer, folder, 1 if case.is_slow else repeats, module_path=package)
        line += f"  peer {peer.wall_seconds:8.2f} s: {peer.wall_seconds / ours.wall_seconds:7.1f} times"
    if case.stated_seconds == case.stated_seconds:
        line += f"  stated {case.stated_seconds:g} s: {case.stated_seconds / ours.wall_seconds:.1f} times"
    print(f"{line} (at least {case.factor:.0f})", flush=True)


def described(run: Run) -> str:
    return f"{run.wall_seconds:7.3f} s, CPU {run.cpu_seconds:7.3f} s, {run.peak_bytes / GIB:5.2f} GiB"


def growth(folder: Path, *, quick: bool) -> None:
    """Nanoseconds per dispatch of a summary, less the time of an empty one."""
    sizes = (10_000, 100_000) if quick else (10_000, 100_000, 1_000_000, 5_000_000)
    start = best([*WAVEWRIGHT, "summary", *databases(folder, "1", dispatches=1)], folder, 3).wall_seconds
    for size in sizes:
        path = databases(folder, f"growth-{size}", dispatches=size)
        run = best([*WAVEWRIGHT, "summary", *path], folder, 3)
        each = (run.wall_seconds - start) / size * 1e9
        print(f"summary of {size:>9,} dispatches in one file: {described(run)}, {each:7.0f} ns each", flush=True)


def many_files(folder: Path, repeats: int) -> None:
    """A folder of 100 files against its parts one by one, and on two processes."""
    paths = databases(folder, "100-files", dispatches=1_000_000, ranks=100)
    place = str(Path(paths[0]).parent)
    parts = sum(inside([path], 1, repeats=1) for path in paths)
    for jobs, limit in ((1, 1.1), (2, 0.6)):
        together = inside([place], jobs, repeats=repeats)
        share = together / parts
        times = f"{together:.2f} s, parts {parts:.2f} s: {share:.2f} (at most {limit})"
        print(f"folder of {len(paths)} files, {jobs} processes: {times}", flush=True)


def inside(paths: list[str], jobs: int, *, repeats: int) -> float:
    """Seconds of a summary without the start of the program."""
    from functools import partial

    from wavewright.analysis.run.contents.summary import combine_summary, partial_summary
    from wavewright.cluster.executor_choice import executor_for
    from wavewright.cluster.gather import gather
    from wavewright.readers.run.inputs import find_runs

    fastest = float("inf")
    for _ in range(repeats):
        began = time.perf_counter()
        inputs = find_runs(paths)
        executor = executor_for(len(inputs), jobs=jobs)
        combine_summary(gather(partial(partial_summary), inputs, executor=executor).values)
        fastest = min(fastest, time.perf_counter() - began)
    return fastest


if __name__ == "__main__":  # worker processes import this module
    main()
