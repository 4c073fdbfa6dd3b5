"""How fast raw traces become finished columns with PCs, and how much memory that takes.

Prints MB/s, million instructions/s and peak memory for synthetic traces of 1, 10 and 100 MB of every family, on one
thread and with two shader engines on one and two threads, and, where ../shared is present, for repeats of real traces
beside the figures of AMD's decoder (ratio = how many times faster, scaled by the machines' yardsticks). `decode()` is
the public call, from files to finished tables, and how many times the CPU time of the core it takes.

usage: python -m benchmarks.decode [--quick]
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any, NamedTuple

ROOT = Path(__file__).resolve().parent.parent
SHARED = ROOT.parent / "shared"
FAMILIES = ("gfx9", "gfx10", "gfx11", "gfx12", "gfx1250")
REFERENCE_YARDSTICK = 189  # shared/golden/README.md: the machine on which AMD's decoder was measured
REPEATS = 5
REAL_REPEATS = 15  # the best counts: virtual machines have noisy neighbours


class Peer(NamedTuple):
    """AMD's decoder on a repeated real trace (shared/golden/README.md)."""

    name: str
    trace: str
    repeats: int
    mb_per_second: float
    m_instructions_per_second: float


PEERS = (
    Peer("gfx942 c01 dispatch 1", "data/att-mi300x-bmm/c01/raw/28_5600_shader_engine_0_1.att", 1, 44, 4.3),
    Peer("gfx942 c01 dispatch 1", "data/att-mi300x-bmm/c01/raw/28_5600_shader_engine_0_1.att", 300, 46, 4.4),
    Peer("gfx942 c01 dispatch 2", "data/att-mi300x-bmm/c01/raw/28_5600_shader_engine_0_2.att", 300, 51, 4.0),
    Peer("gfx1200 handwritten", "golden/gfx1200/profile_handwritten_run_0/", 4000, 56, 7.4),
    Peer("gfx1200 gemm", "golden/gfx1200/profile_gemm_run_0/", 5000, 35, 2.8),
    Peer("gfx1100 gemm", "golden/gfx1100/profile_gemm_run_0/", 4500, 48, 2.0),
)


def measure(traces: list[Path], listings: list[str], threads: int = 1, repeats: int = REPEATS) -> dict[str, Any]:
    command = [sys.executable, str(Path(__file__).with_name("_measure.py")), str(threads), str(repeats)]
    names = ",".join(map(str, traces))
    done = subprocess.run([*command, names, *listings], check=True, capture_output=True, text=True)
    result: dict[str, Any] = json.loads(done.stdout)
    return result


def show(name: str, result: dict[str, Any], note: str = "") -> None:
    size, wall = result["input_bytes"], result["wall_seconds"]
    memory = result["peak_bytes"] / (size + result["output_bytes"])
    busy = result["cpu_seconds"] / wall
    print(
        f"{name:34} {size / 1e6:8.1f} MB {size / wall / 1e6:8.1f} MB/s"
        f" {result['instructions'] / wall / 1e6:7.1f} M inst/s"
        f"  peak {memory:4.2f}x of input+columns  cpu/wall {busy:4.2f}  spread {result['wall_spread']:4.0%}"
        f"  decode() {result['file_bytes'] / result['decode_seconds'] / 1e6:6.1f} MB/s,"
        f" {result['decode_seconds'] / result['core_seconds']:4.2f}x the core  {note}",
        flush=True,
    )


def synthetic(scratch: Path, sizes_mb: tuple[int, ...]) -> None:
    from synth import Scenario, grow, synthesize

    for family in FAMILIES:
        capture = synthesize(Scenario(family=family, dispatches=2, workgroups=8, loop_trips=12, other_waves=16))
        listings = []
        for code_object in capture.code_objects:
            file = scratch / f"{family}.{code_object.id}.isa.tsv"
            file.write_bytes(code_object.listing_tsv)
            listings.append(f"{file}@{code_object.load_address}:{code_object.id}")
        walls = {}
        for size in sizes_mb:
            trace = _alone(scratch, f"{family}.att")
            trace.write_bytes(grow(capture.traces[0], size * 1_000_000).data)
            result = measure([trace], listings)
            walls[size] = result["wall_seconds"]
            growth = f"{walls[size] / walls[size // 10]:.1f}x of a tenth" if size // 10 in walls else ""
            show(f"{family} synthetic, 1 thread", result, growth)
        one = measure([trace, trace], listings, threads=1)
        two = measure([trace, trace], listings, threads=2)
        show(f"{family} synthetic, 2 SE, 1 thread", one)
        show(f"{family} synthetic, 2 SE, 2 threads", two, f"{one['wall_seconds'] / two['wall_seconds']:.2f}x faster")
        trace.unlink()


def real(scratch: Path) -> None:
    yardstick = float(subprocess.check_output([sys.executable, SHARED / "tools" / "calibrate.py"], text=True))
    print(f"yardstick {yardstick:.0f} (AMD's figures were measured at {REFERENCE_YARDSTICK})")
    for peer in PEERS:
        source, listings = _real_input(peer, scratch)
        trace = _alone(scratch, "real.att")
        subprocess.run(
            [sys.executable, SHARED / "tools" / "bigtrace.py", source, trace, str(peer.repeats)],
            check=True,
            stdout=subprocess.DEVNULL,
        )
        result = measure([trace], listings, repeats=200 if peer.repeats == 1 else REAL_REPEATS)
        rate = result["input_bytes"] / result["wall_seconds"] / 1e6
        ratio = (rate / yardstick) / (peer.mb_per_second / REFERENCE_YARDSTICK)
        show(f"{peer.name} x{peer.repeats}", result, f"{ratio:.1f} times AMD's decoder ({peer.mb_per_second:.0f} MB/s)")


def _alone(scratch: Path, name: str) -> Path:
    """Where a trace stands by itself: `decode()` reads every code object that it finds beside one."""
    folder = scratch / "traces"
    folder.mkdir(exist_ok=True)
    return folder / name


def _real_input(peer: Peer, scratch: Path) -> tuple[Path, list[str]]:
    """The trace with the most instructions of a folder (or the file itself) and the listings of its code."""
    path = SHARED / peer.trace
    if path.is_dir():
        meta = json.loads((path / "meta.json").read_text())
        best = max(meta["traces"], key=lambda trace: trace["instructions"])
        listings = [f"{path / Path(o['file']).stem}.isa.tsv@{o['load_addr']}:0" for o in meta["code_objects"]]
        return path / best["file"], listings
    from wavewright.codeobj.code_object import CodeObject
    from wavewright.codeobj.disassemble import disassemble
    from wavewright.readers.files.capture import find_capture

    listings = []
    for code_object in find_capture([path]).code_objects:
        file = scratch / f"real.{code_object.id}.isa.tsv"
        file.write_bytes(disassemble(CodeObject.read(code_object.path)).tsv)
        listings.append(f"{file}:{code_object.id}")
    return path, listings


def main() -> None:
    sizes = (1, 10) if "--quick" in sys.argv else (1, 10, 100)
    with tempfile.TemporaryDirectory(prefix="wavewright-bench-") as scratch:
        if SHARED.is_dir():
            real(Path(scratch))
        else:
            print("../shared is not here: no comparison with AMD's decoder")
        synthetic(Path(scratch), sizes)


if __name__ == "__main__":
    main()
