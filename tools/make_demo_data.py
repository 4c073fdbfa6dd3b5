"""Makes the captures that come with wavewright (`wavewright demo`) with the synthesizer; --check compares.

Writes src/wavewright/cli/demo_data/*.tar.xz. The same synthesizer gives the same bytes.
"""

from __future__ import annotations

import io
import lzma
import sys
import tarfile
import tempfile
from dataclasses import replace
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from synth import CounterCapture, Scenario, compiled, family_of, synthesize, write_capture, write_counters  # noqa: E402
from synth.kernels import source_paths  # noqa: E402
from synth.rocpd import write_rocpd_ranks  # noqa: E402
from synth.workload import Workload  # noqa: E402
from wavewright.cli.demo import GPUS  # noqa: E402

FOLDER = ROOT / "src" / "wavewright" / "cli" / "demo_data"
SLOWER_KERNEL = "flash_forward"  # takes 1.3 times as long in the run "after"


def write_traces(folder: Path) -> None:
    """A small matrix multiplication per GPU, as it was and with the next tile loaded ahead."""
    for gpu in GPUS:
        for kernel in ("tiled_gemm", "tiled_gemm_prefetch"):
            scenario = Scenario(
                family=family_of(gpu), kernels=(compiled(kernel, gpu),), shader_engines=2, workgroups=6,
                waves_per_workgroup=4, waves_per_simd=4, loop_trips=8, other_waves=40, realtime_pairs=2, seed=7,
            )  # fmt: skip
            capture = folder / gpu / kernel
            (capture / "src").mkdir(parents=True)
            write_capture(synthesize(scenario), capture)
            for source in source_paths(kernel):
                (capture / "src" / source.name).write_bytes(source.read_bytes())


def write_runs(folder: Path) -> None:
    """Four ranks on two nodes, before and after one kernel got slower."""
    before = Workload(dispatches=8000, ranks=4, nodes=2, gpus=2, imbalance=0.12, seed=7)
    for side, workload in (("before", before), ("after", replace(before, slow=((SLOWER_KERNEL, 1.3),)))):
        (folder / "runs" / side).mkdir(parents=True)
        write_rocpd_ranks(folder / "runs" / side, workload)


def write_counter_captures(folder: Path) -> None:
    """Counters before and after the lanes of the gathering kernel read neighbouring bytes."""
    before = CounterCapture("gfx942")
    copy, gemm, gather = before.works
    coalesced = replace(gather, coalescing=1.0, small_read_share=0.0, duration_ns=gather.duration_ns // 4)
    for side, capture in (("before", before), ("after", replace(before, kernels=(copy, gemm, coalesced), seed=2))):
        write_counters(folder / "counters" / side, capture)


def packed(folder: Path) -> bytes:
    """The files below a folder as tar.xz: no times, owners or modes of this machine."""
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w") as tar:
        for path in sorted(path for path in folder.rglob("*") if path.is_file()):
            entry = tarfile.TarInfo(str(path.relative_to(folder)))
            entry.size = path.stat().st_size
            with path.open("rb") as file:
                tar.addfile(entry, file)
    return lzma.compress(out.getvalue(), preset=9 | lzma.PRESET_EXTREME)


def unpacked(data: bytes) -> dict[str, bytes]:
    """Name -> content of every file of an archive."""
    with tarfile.open(fileobj=io.BytesIO(data)) as tar:
        return {entry.name: tar.extractfile(entry).read() for entry in tar.getmembers()}  # type: ignore[union-attr]


def main() -> int:
    """Write the archives, or say which differ from what the synthesizer makes."""
    stale = []
    for name, write in (("traces", write_traces), ("runs", write_runs), ("counters", write_counter_captures)):
        path = FOLDER / f"{name}.tar.xz"
        with tempfile.TemporaryDirectory() as scratch:
            write(Path(scratch))
            archive = packed(Path(scratch))
        if "--check" in sys.argv:
            # contents, not bytes: xz of another release may compress otherwise
            if not path.exists() or unpacked(path.read_bytes()) != unpacked(archive):
                stale.append(path.name)
        else:
            path.write_bytes(archive)
    for name in stale:
        print(f"{name} is stale: run tools/make_demo_data.py", file=sys.stderr)
    return 1 if stale else 0


if __name__ == "__main__":
    sys.exit(main())
