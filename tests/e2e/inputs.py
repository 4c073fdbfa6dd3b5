"""What the page is tested with: real traces where `../shared` stands beside the clone, and captures made by us."""

from __future__ import annotations

import re
import tarfile
from functools import cache
from pathlib import Path
from tempfile import mkdtemp

import polars as pl
import pytest

from synth import Scenario, compiled, family_of, synthesize, write_capture
from synth.kernels import source_paths
from synth.rocpd import write_rocpd_ranks
from synth.workload import Workload
from tests.conftest import SHARED
from tests.kit.made_decoded import NAME, PLACEHOLDER, decoded_files, write_files


@cache
def _scratch() -> Path:
    return Path(mkdtemp(prefix="wavewright-e2e-"))


@cache
def made_gemm(gpu: str = "gfx942") -> Path:
    """A raw capture of the self-compiled matrix multiplication, with its source: two shader engines."""
    folder = _scratch() / f"gemm-{gpu}"
    _write_gemm(folder, gpu, seed=7, loop_trips=8)
    return folder


@cache
def exported_gemm() -> Path:
    """The capture of `made_gemm` as a page in one file."""
    from wavewright.export.page import write_html
    from wavewright.readers.opening import open_trace

    file = _scratch() / "gemm.html"
    write_html(open_trace(made_gemm()), file)
    return file


def _write_gemm(folder: Path, gpu: str, *, seed: int, loop_trips: int) -> None:
    scenario = Scenario(
        family=family_of(gpu), kernels=(compiled("tiled_gemm", gpu),), shader_engines=2, workgroups=6,
        waves_per_workgroup=4, waves_per_simd=4, loop_trips=loop_trips, other_waves=40, realtime_pairs=2, seed=seed,
    )  # fmt: skip
    write_capture(synthesize(scenario), folder)
    (folder / "src").mkdir(exist_ok=True)
    for source in source_paths("tiled_gemm"):
        (folder / "src" / source.name).write_bytes(source.read_bytes())


@cache
def real_trace(kernel: str, agent: int) -> Path:
    """A decoded trace of the shared data, unpacked where it is an archive; the test is skipped without it."""
    root = SHARED / "data" / "uiout-mi350x-flydsl" / kernel
    for place in sorted(root.rglob(f"ui_output_agent_{agent}_dispatch_*")) if root.is_dir() else []:
        if place.is_dir():
            return place
        if place.name.endswith(".tar.xz"):
            folder = _scratch() / f"{kernel}-{agent}"
            with tarfile.open(place) as archive:
                archive.extractall(folder)  # noqa: S202 (our own reference data)
            return next(folder.rglob(f"ui_output_agent_{agent}_*"))
    pytest.skip(f"no {kernel} trace of agent {agent} in ../shared")


@cache
def marked_gemm() -> Path:
    """The matrix multiplication as a decoded trace whose waves have marker scopes: `tile` around `load`."""
    from tests.kit.made_markers import ENTER, FIRST, LEAVE, markers
    from wavewright.export.trace.tables import write_parquet
    from wavewright.readers.opening import open_trace

    folder = _scratch() / "marked"
    trace = open_trace(made_gemm())
    tables = []
    for wave in trace.waves.to_dicts():
        begin, length = wave["start_cycles"], wave["end_cycles"] - wave["start_cycles"]
        steps = [(begin + length // 8, ENTER | FIRST, "tile"), (begin + length // 4, ENTER, "load <b>x</b>")]
        steps += [(begin + length // 2, LEAVE, ""), (begin + 3 * length // 4, LEAVE, "")]
        tables.append(markers(steps, **{name: wave[name] for name in ("se", "cu", "simd", "slot")}))
    trace.tables["markers"] = pl.concat(tables).sort("time_cycles", maintain_order=True)
    write_parquet(trace, folder)
    return folder


@cache
def other_gemm() -> Path:
    """The capture of `made_gemm` after a change: more trips, one instruction reads differently, one became another."""
    folder = _scratch() / "gemm-gfx942-after"
    _write_gemm(folder, "gfx942", seed=11, loop_trips=12)
    (listing,) = folder.glob("*.isa.tsv")
    text = listing.read_text().replace("v_and_b32_e32 v4, 15, v0", "v_and_b32_e32 v4, 31, v0")
    listing.write_text(text.replace("v_lshrrev_b32_e32 v3, 4, v0", "v_bfe_u32 v3, v0, 4, 4"))
    return folder


@cache
def renamed_gemm() -> Path:
    """The capture of `made_gemm` with other registers: every VGPR that is only used by itself got another number."""
    folder = _scratch() / "gemm-gfx942-renamed"
    _write_gemm(folder, "gfx942", seed=7, loop_trips=8)
    (listing,) = folder.glob("*.isa.tsv")
    text = listing.read_text()
    paired = {
        number for first, last in re.findall(r"\bv\[(\d+):(\d+)\]", text) for number in range(int(first), int(last) + 1)
    }
    single = {int(number) for number in re.findall(r"\bv(\d+)\b", text)} - paired - {0}
    listing.write_text(re.sub(r"\bv(\d+)\b", lambda match: f"v{int(match[1]) + 100 * (int(match[1]) in single)}", text))
    return folder


@cache
def two_kernels() -> Path:
    """A raw capture in which two kernels ran one after the other."""
    folder = _scratch() / "two-kernels"
    kernels = compiled("tiled_gemm", "gfx942"), compiled("saxpy", "gfx942")
    scenario = Scenario(kernels=kernels, dispatches=2, workgroups=4, waves_per_simd=4, loop_trips=4, seed=3)
    write_capture(synthesize(scenario), folder)
    return folder


HOSTILE = "<img src=x onerror=alert(1)>"
"""A kernel's name that would run a script if it were taken for HTML."""


@cache
def hostile_trace() -> Path:
    """A decoded directory whose kernel, source file and one instruction have names that look like HTML."""
    names = {
        b"_ZN4blas5saxpyILj64EEEvfPKfPfj": HOSTILE.encode(),
        b"void blas::saxpy<64u>(float, float const*, float*, unsigned int)": HOSTILE.encode(),
        b"saxpy.hip": b"<svg onload=alert(2)>.hip",
        b"s_endpgm": b"s_endpgm <script>alert(3)<\\/script>",
    }
    files = dict(decoded_files())
    for name in ("code.json", "occupancy.json", "snapshots.json"):
        for old, new in names.items():
            files[name] = files[name].replace(old, new)
    return write_files(_scratch() / "hostile" / NAME, files)


@cache
def hostile_run() -> Path:
    """A run whose kernels, markers and processes have names that look like HTML, or worse."""
    folder = _scratch() / "hostile-run"
    write_rocpd_ranks(folder, Workload(dispatches=120, ranks=2, seed=3, hostile_names=True))
    return folder


@cache
def empty_trace() -> Path:
    """What rocprofv3 writes for a capture slot that no kernel used: no wave, no code."""
    return write_files(_scratch() / "empty" / NAME, PLACEHOLDER)


@cache
def damaged_capture() -> Path:
    """A raw capture of which the buffer of one shader engine ends in the middle."""
    folder = _scratch() / "damaged"
    folder.mkdir(exist_ok=True)
    for file in made_gemm().iterdir():
        if file.is_file():
            (folder / file.name).write_bytes(file.read_bytes())
    cut = sorted(folder.glob("*.att"))[0]
    cut.write_bytes(cut.read_bytes()[: cut.stat().st_size * 3 // 5])
    return folder


@cache
def sampled() -> Path:
    """A directory of PC samples of the shared data; the test is skipped without it."""
    place = SHARED / "data" / "pcsampling-rcv"
    if not place.is_dir():
        pytest.skip("no PC samples in ../shared")
    return place


@cache
def real_empty_trace() -> Path:
    """A real decoded trace in which no wave ran on the traced CU."""
    for place in sorted((SHARED / "data" / "att-mi300x-bmm" / "c10").glob("ui_output_agent_*_dispatch_3")):
        return place
    pytest.skip("no empty trace in ../shared")


@cache
def hostile_source() -> Path:
    """The matrix multiplication with names and texts of source files that try to be more than text."""
    from wavewright.export.trace.tables import write_parquet
    from wavewright.readers.opening import open_trace

    image = "/src/<img src=x onerror=alert(1)>.hip"
    trace = open_trace(made_gemm())
    chain = pl.col("inline_chain").str.replace("/wavewright/kernels/device.hpp", "../../etc/passwd", literal=True)
    chain = chain.str.replace("/wavewright/kernels/tiled_gemm.hip", image, literal=True)
    trace.tables["code"] = trace.code.with_columns(
        inline_chain=pl.when(pl.col("line") != 22).then(chain), file=chain.str.extract(r"^(.*?):[0-9?]+( -> |$)")
    )
    lines = ["<script>alert(2)</script> /* <b>"] * 30
    trace.tables["sources"] = pl.DataFrame({"file": [image], "text": ["\n".join(lines)]})
    folder = _scratch() / "hostile-source"
    write_parquet(trace, folder)
    return folder
