"""How fast decoded traces are opened and analysed, and how analyses grow.

1. Opening the largest real directory and printing its hotspots, against plain `json.load` over the same files.
2. `wavewright hotspots` on flash_attn_func, against `python -c pass`.
3. Nanoseconds per instruction and peak memory of every analysis over synthetic traces of 1.25 to 50 million
   instructions.

1 and 2 need ../shared. Times are the best of several runs.

usage: python -m benchmarks.analysis [--quick] [--only open|start|growth]
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tarfile
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
FLYDSL = ROOT.parent / "shared" / "data" / "uiout-mi350x-flydsl"
SOFTMAX = FLYDSL / "softmax" / "big" / "ui_output_agent_47920_dispatch_13.tar.xz"
FLASH = FLYDSL / "flash_attn_func" / "big" / "ui_output_agent_38430_dispatch_44.tar.xz"
SIZES = (1_250_000, 5_000_000, 12_500_000, 50_000_000)
MEMORY_LIMIT_GIB = 4
JSON_CHILD = (
    "import json, pathlib, sys\nfor file in pathlib.Path(sys.argv[1]).glob('*.json'):\n    json.load(file.open('rb'))\n"
)
IMPORTS_CHILD = "import os, click, polars, rich.console, rich.table; os._exit(0)"


def main() -> None:
    quick = "--quick" in sys.argv
    only = sys.argv[sys.argv.index("--only") + 1] if "--only" in sys.argv else ""
    repeats = 3 if quick else 9
    with tempfile.TemporaryDirectory() as scratch:
        if only in ("", "open") and (folder := unpacked(SOFTMAX, scratch)):
            opening(folder, repeats)
        if only in ("", "start") and (folder := unpacked(FLASH, scratch)):
            start(folder, repeats)
    if only in ("", "growth"):
        growth(SIZES[:2] if quick else SIZES)


def unpacked(archive: Path, scratch: str) -> Path | None:
    if not archive.exists():
        print(f"{archive.name}: ../shared is not here, skipped")
        return None
    with tarfile.open(archive) as packed:
        packed.extractall(scratch, filter="data")
    return Path(scratch) / archive.name.removesuffix(".tar.xz")


def opening(folder: Path, repeats: int) -> None:
    files = sorted(folder.glob("*.json"))
    size = sum(file.stat().st_size for file in files)
    print(f"{folder.name}: {len(files):,} files, {size / 1e6:.1f} MB of JSON")
    ours, peer = alternately(open_and_print(folder), lambda: load_all(files), repeats)
    print(f"  in one process: hotspots {ours:.3f} s, json.load {peer:.3f} s, ratio {ours / peer:.3f} (at most 0.333)")
    scratch = folder.parent
    hotspots = child([sys.executable, "-m", "wavewright", "hotspots", str(folder)], scratch)
    ours, peer = alternately(hotspots, child([sys.executable, "-c", JSON_CHILD, str(folder)], scratch), repeats)
    imports, _ = alternately(child([sys.executable, "-c", IMPORTS_CHILD], scratch), lambda: None, repeats)
    print(
        f"  as programs:    hotspots {ours:.3f} s, json.load {peer:.3f} s, ratio {ours / peer:.3f}; "
        f"importing polars, click and rich alone takes {imports:.3f} s",
        flush=True,
    )


def start(folder: Path, repeats: int) -> None:
    hotspots = [sys.executable, "-m", "wavewright", "hotspots", str(folder)]
    ours, nothing = alternately(
        child(hotspots, folder.parent), child([sys.executable, "-c", "pass"], folder.parent), repeats
    )
    print(
        f"{folder.name}: hotspots {ours:.3f} s, python -c pass {nothing:.3f} s, "
        f"difference {ours - nothing:.3f} s (under 0.5)",
        flush=True,
    )


def child(command: list[str], scratch: Path) -> Callable[[], None]:
    """Runs a program as users have it: with compiled modules and buffered output."""
    unusual = ("PYTHONDONTWRITEBYTECODE", "PYTHONUNBUFFERED")
    variables = {name: value for name, value in os.environ.items() if name not in unusual}
    variables["PYTHONPYCACHEPREFIX"] = str(scratch / "pycache")

    def run() -> None:
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL, env=variables)

    run()
    return run


def open_and_print(folder: Path) -> Callable[[], None]:
    import io

    from rich.console import Console

    import wavewright
    from wavewright.analysis.trace.costs.hotspots import hotspots
    from wavewright.words.trace.hotspots import hotspots_report
    from wavewright.writers.terminal.blocks import renderable

    def run() -> None:
        console = Console(file=io.StringIO(), width=120)
        for part in hotspots_report(hotspots(wavewright.open(folder)), limit=20):
            console.print(renderable(part))

    return run


def load_all(files: list[Path]) -> None:
    for file in files:
        with file.open("rb") as opened:
            json.load(opened)


def alternately(ours: Callable[[], None], peer: Callable[[], None], repeats: int) -> tuple[float, float]:
    """Best time of both; in turns, so that a noisy neighbour disturbs both."""
    best = [float("inf"), float("inf")]
    for _ in range(repeats):
        for at, work in enumerate((ours, peer)):
            began = time.perf_counter()
            work()
            best[at] = min(best[at], time.perf_counter() - began)
    return best[0], best[1]


def growth(sizes: tuple[int, ...]) -> None:
    """One line per analysis: CPU time per instruction at every size, wall time and peak memory of the largest."""
    found: dict[str, list[dict[str, float]]] = {}
    for size in sizes:
        done = subprocess.run(
            [sys.executable, "-m", "benchmarks._analyse", str(size)],
            check=False,
            stdout=subprocess.PIPE,
            text=True,
            cwd=ROOT,
        )
        for line in done.stdout.splitlines():
            row = json.loads(line)
            found.setdefault(row["name"], []).append(row)
        if done.returncode:
            print(f"{size / 1e6:g} M instructions: ended with status {done.returncode}")
    print(
        f"\n{'CPU ns per instruction':22}"
        + "".join(f"{size / 1e6:>9g} M" for size in sizes)
        + "  growth  seconds  peak GiB"
    )
    for name, rows in found.items():
        each = [row["cpu_seconds"] / row["count"] * 1e9 for row in rows]
        peak = max(row["peak_bytes"] for row in rows) / 2**30
        too_much = "  over the limit" if peak > MEMORY_LIMIT_GIB else ""
        print(
            f"{name:22}"
            + "".join(f"{ns:11.1f}" for ns in each)
            + f"  {each[-1] / each[0]:5.2f}x {rows[-1]['wall_seconds']:8.2f} {peak:9.2f}{too_much}"
        )


main()
