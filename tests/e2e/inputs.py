"""What the page is tested with: real traces where `../shared` stands beside the clone, and captures made by us."""

from __future__ import annotations

import tarfile
from functools import cache
from pathlib import Path
from tempfile import mkdtemp

import polars as pl
import pytest

from tests.conftest import SHARED
from wavescope.synth import Scenario, compiled, family_of, synthesize, write_capture
from wavescope.synth.kernels import source_paths


@cache
def _scratch() -> Path:
    return Path(mkdtemp(prefix="wavescope-e2e-"))


@cache
def made_gemm(gpu: str = "gfx942") -> Path:
    """A raw capture of the self-compiled matrix multiplication, with its source: two shader engines."""
    folder = _scratch() / f"gemm-{gpu}"
    scenario = Scenario(
        family=family_of(gpu), kernels=(compiled("tiled_gemm", gpu),), shader_engines=2, workgroups=6,
        waves_per_workgroup=4, waves_per_simd=4, loop_trips=8, other_waves=40, realtime_pairs=2, seed=7,
    )  # fmt: skip
    write_capture(synthesize(scenario), folder)
    (folder / "src").mkdir(exist_ok=True)
    for source in source_paths("tiled_gemm"):
        (folder / "src" / source.name).write_bytes(source.read_bytes())
    return folder


@cache
def real_trace(kernel: str, agent: int) -> Path:
    """A decoded trace of the shared data, unpacked where it is an archive; the test is skipped without it."""
    root = SHARED / "data" / "uiout-mi350x-flydsl" / kernel
    for place in sorted(root.rglob(f"ui_output_agent_{agent}_dispatch_*")) if root.is_dir() else []:
        if place.is_dir():
            return place
        if place.name.endswith(".tar.xz"):
            folder = _scratch() / kernel
            with tarfile.open(place) as archive:
                archive.extractall(folder, filter="data")
            return next(folder.rglob("ui_output_agent_*"))
    pytest.skip(f"no {kernel} trace of agent {agent} in ../shared")


@cache
def marked_gemm() -> Path:
    """The matrix multiplication as a decoded trace whose waves have marker scopes: `tile` around `load`."""
    from tests.unit.made_markers import ENTER, FIRST, LEAVE, markers
    from wavescope.export.parquet import write_parquet
    from wavescope.readers.opening import open_trace

    folder = _scratch() / "marked"
    trace = open_trace(made_gemm())
    tables = []
    for wave in trace.waves.to_dicts():
        begin, length = wave["begin_cycles"], wave["end_cycles"] - wave["begin_cycles"]
        steps = [(begin + length // 8, ENTER | FIRST, "tile"), (begin + length // 4, ENTER, "load <b>x</b>")]
        steps += [(begin + length // 2, LEAVE, ""), (begin + 3 * length // 4, LEAVE, "")]
        tables.append(markers(steps, **{name: wave[name] for name in ("se", "cu", "simd", "slot")}))
    trace.tables["markers"] = pl.concat(tables).sort("time_cycles", maintain_order=True)
    write_parquet(trace, folder)
    return folder


@cache
def sampled() -> Path:
    """A directory of PC samples of the shared data; the test is skipped without it."""
    place = SHARED / "data" / "pcsampling-rcv"
    if not place.is_dir():
        pytest.skip("no PC samples in ../shared")
    return place
