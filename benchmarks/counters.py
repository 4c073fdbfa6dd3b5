"""How fast captures of counters are analysed in full, against ROCm Compute Profiler, and how time and memory grow.

Each case runs whole programs, best of several; ours computes and writes every table, the peer computes, writes and
prints every table. The peer is measured side by side when WAVEWRIGHT_ROCPROF_COMPUTE names its command (the interpreter
and the script), otherwise the seconds that were measured once on another machine (2 cores, aarch64) stand for it.

usage: python -m benchmarks.counters [--repeats N] [--only NAME]
"""

from __future__ import annotations

import argparse
import os
import shlex
import shutil
import tempfile
from dataclasses import replace
from pathlib import Path

from benchmarks._programs import WAVEWRIGHT, Run, best
from synth import CounterCapture, typical_kernels, write_counters

SHARED = Path(__file__).resolve().parents[2] / "shared" / "golden" / "compute" / "inputs"
STATED_SECONDS = {
    "path/MI100": 6.7,
    "path/MI200": 8.7,
    "path/MI300A_A1": 17.5,
    "path/MI300X_A1": 23.0,
    "vcopy/MI350": 15.5,
    "vcopy/MI300X_A1_rocpd": 26.1,
}
"""Capture -> what the peer took on the other machine (../shared/golden/compute)."""
FACTOR = 10
SIZES = (1_250, 5_000, 20_000)
LIMIT_DISPATCHES, LIMIT_SECONDS, LIMIT_BYTES = 5_000, 5.0, 300e6


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--only", default="")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        for name, stated in STATED_SECONDS.items():
            if asked.only in name and (SHARED / name).exists():
                compare(name, stated, folder, asked.repeats)
        if asked.only in "growth":
            growth(folder, asked.repeats)


def compare(name: str, stated: float, folder: Path, repeats: int) -> None:
    ours = best(full_analysis(SHARED / name, folder), folder, repeats)
    line = f"{name:22} {described(ours)}"
    peer_command = os.environ.get("WAVEWRIGHT_ROCPROF_COMPUTE", "")
    if peer_command:
        copy = folder / "copy"  # the peer writes into what it reads
        shutil.rmtree(copy, ignore_errors=True)
        shutil.copytree(SHARED / name, copy)
        copy.chmod(0o700)
        options = ["analyze", "-p", str(copy), "--save-dfs", str(folder / "peer")]
        peer = best([*shlex.split(peer_command), *options], folder, min(repeats, 3))
        line += f"  peer {peer.wall_seconds:6.2f} s: {peer.wall_seconds / ours.wall_seconds:5.1f} times"
    print(f"{line}  stated {stated:g} s: {stated / ours.wall_seconds:.1f} times (at least {FACTOR})", flush=True)


def growth(folder: Path, repeats: int) -> None:
    """Microseconds per dispatch of a full analysis, less the time of a small one."""
    start = best(full_analysis(capture_of(6, folder), folder), folder, repeats).wall_seconds
    for size in SIZES:
        run = best(full_analysis(capture_of(size, folder), folder), folder, min(repeats, 3))
        each = (run.wall_seconds - start) / size * 1e6
        limit = ""
        if size == LIMIT_DISPATCHES:
            limit = f" (at most {LIMIT_SECONDS:g} s and {LIMIT_BYTES / 1e6:.0f} MB)"
        print(f"{size:>9,} dispatches {described(run)}, {each:5.0f} us each{limit}", flush=True)


def capture_of(count: int, folder: Path) -> Path:
    """A capture of gfx942 with all its channels: about 2,000 columns."""
    place = folder / f"made-{count}"
    if not place.exists():
        capture = CounterCapture("gfx942")
        works = typical_kernels(capture.device)
        shares = [count // len(works)] * len(works)
        shares[0] += count - sum(shares)
        kernels = tuple(replace(work, dispatch_count=share) for work, share in zip(works, shares, strict=True))
        write_counters(place, replace(capture, kernels=kernels))
    return place


def full_analysis(path: Path, folder: Path) -> list[str]:
    return [*WAVEWRIGHT, "counters", str(path), "--csv-dir", str(folder / "tables"), "--force"]


def described(run: Run) -> str:
    return f"{run.wall_seconds:6.3f} s, CPU {run.cpu_seconds:6.3f} s, {run.peak_bytes / 1e6:4.0f} MB"


if __name__ == "__main__":
    main()
