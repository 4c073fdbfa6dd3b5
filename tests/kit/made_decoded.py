"""Small decoded directories, made by our own synthesizer and exporter."""

from __future__ import annotations

import io
import json
import lzma
import tarfile
import zipfile
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import synth
import wavewright
from synth import Scenario, compiled, synthesize, write_capture
from wavewright.export.trace.ui_output import write_ui_output

SOURCES = Path(synth.__file__).parent / "kernels" / "sources"
NAME = "ui_output_agent_1_dispatch_1"
_HEADER = "ISA, _, LineNumber, Source, Codeobj, Vaddr, Hit, Latency, Stall, Idle"
_MANIFEST = {"version": "3.0.0", "gfxip": 9, "gfxv": "vega", "counter_names": [], "wave_filenames": None}
PLACEHOLDER = {
    "filenames.json": json.dumps(_MANIFEST).encode(),
    "code.json": json.dumps({"code": None, "version": "3.0.0", "header": _HEADER}).encode(),
    "occupancy.json": b'{"version":"3.0.0","dispatches":{"0":"0 / 0x0"}}',
}
"""What rocprofv3 writes for a capture slot that no kernel used."""


@cache
def decoded_files(gpu: str = "gfx942", waves: int = 4) -> dict[str, bytes]:
    """The files of a decoded directory with everything in it, but no more than `waves` waves."""
    family = {"gfx942": "gfx9", "gfx1100": "gfx11", "gfx1201": "gfx12"}[gpu]
    scenario = Scenario(
        family=family,
        kernels=(compiled("saxpy", gpu),),
        shader_engines=1,
        realtime_pairs=2,
        counters=family == "gfx9",
        shader_data=True,
        events=2,
        other_simd=0 if family == "gfx9" else 3,
    )
    with TemporaryDirectory() as folder:
        write_capture(synthesize(scenario), Path(folder, "capture"))
        trace = wavewright.decode(Path(folder, "capture"), source_root=SOURCES)
        kept = trace.waves.head(waves)
        part = trace.instructions.filter(trace.instructions["wave"] < waves)
        trace.tables |= {
            "waves": kept,
            "instructions": part,
            "waits": trace.waits.filter(trace.waits["wave"] < waves),
            "states": trace.states.filter(trace.states["wave"] < waves),
        }
        written = write_ui_output(trace, Path(folder, "out"), schema="3.1")
        return {file.name: file.read_bytes() for file in sorted(written.iterdir())}


def write_files(folder: Path, files: dict[str, bytes]) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    for name, data in files.items():
        (folder / name).write_bytes(data)
    return folder


def write_decoded(parent: Path, name: str = NAME, **options: Any) -> Path:
    """Write a decoded directory below `parent`."""
    return write_files(parent / name, decoded_files(**options))


def edit(folder: Path, file: str, change: Any) -> None:
    """Change the parsed JSON of a file: `change` gets it and returns the new one (None = it was changed in place)."""
    content = json.loads((folder / file).read_text())
    changed = change(content)
    (folder / file).write_text(json.dumps(content if changed is None else changed))


def tar_xz(path: Path, files: dict[str, bytes]) -> Path:
    stream = io.BytesIO()
    with tarfile.open(fileobj=stream, mode="w") as tar:
        for name, data in files.items():
            member = tarfile.TarInfo(name)
            member.size = len(data)
            tar.addfile(member, io.BytesIO(data))
    path.write_bytes(lzma.compress(stream.getvalue()))
    return path


def zipped(path: Path, files: dict[str, bytes]) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in files.items():
            archive.writestr(name, data)
    return path
