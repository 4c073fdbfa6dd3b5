"""Kerncap folders: the arguments of a recorded dispatch, and folders that are damaged or of something else."""

from __future__ import annotations

import json
import struct
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.unit.codeobj.made_metadata import argument, hidden_arguments, kernel_with
from wavewright.codeobj.kernel_arguments import DispatchSize
from wavewright.errors import NotATraceError, UsageError
from wavewright.readers.trace.kerncap import read_kerncap

GEMM = kernel_with(
    [argument(0, 8, "global_buffer", name="a"), argument(8, 4, name="m"), *hidden_arguments(16)],
    segment_bytes=272,
    group_segment_fixed_size=1024,
)
DISPATCH = {
    "mangled_name": "gemm.kd",
    "demangled_name": "gemm",
    "agent_name": "gfx942",
    "isa_name": "amdgcn-amd-amdhsa--gfx942:sramecc+:xnack-",
    "wavefront_size": 64,
    "grid": [640, 8, 1],
    "block": [64, 4, 1],
    "group_segment_size": 5120,
    "private_segment_size": 0,
    "kernarg_size": 272,
    "dispatch_index": 3,
}
METADATA = {
    "kernel_name": "gemm",
    "kernel_symbol": "gemm.kd",
    "gpu_arch": "gfx942",
    "grid": {"x": 640, "y": 8, "z": 1},
    "block": {"x": 64, "y": 4, "z": 1},
    "lds_size": 5120,
    "kernarg_slots": [{"offset": 0, "size": 8, "value_kind": "global_buffer"}],
    "kernarg_raw": "kernarg_raw.bin",
}


def segment() -> bytes:
    data = bytearray(272)
    data[0:12] = struct.pack("<QI", 0x7F0000000000, 4096)
    data[16:40] = struct.pack("<3I6H", 10, 2, 1, 64, 4, 1, 0, 0, 0)
    data[136:140] = struct.pack("<I", 4096)
    return bytes(data)


def write(folder: Path, *, kernarg: bytes | None = None, **changes: Any) -> Path:
    (folder / "dispatch.json").write_text(json.dumps(DISPATCH | changes, indent=2))
    (folder / "metadata.json").write_text(json.dumps(METADATA, indent=2))
    (folder / "kernarg.bin").write_bytes(segment() if kernarg is None else kernarg)
    return folder


def test_a_folder(tmp_path: Path) -> None:
    dispatch = read_kerncap(write(tmp_path))
    assert (dispatch.kernel_name, dispatch.target, dispatch.wave_size) == ("gemm", "gfx942", 64)
    assert dispatch.size == DispatchSize((64, 4, 1), (640, 8, 1))
    assert (dispatch.lds_bytes, dispatch.dispatch_index) == (5120, 3)
    values = dispatch.values(GEMM, DispatchSize((64, 4, 1)), target="gfx942")
    assert (values.dword(8), values.dword(0), values.dword(16), values.dword(136)) == (4096, 0, 10, 4096)
    assert values.assumptions == ()


def test_a_folder_with_metadata_alone(tmp_path: Path) -> None:
    (tmp_path / "metadata.json").write_text(json.dumps(METADATA))
    (tmp_path / "kernarg_raw.bin").write_bytes(segment())
    dispatch = read_kerncap(tmp_path)
    assert (dispatch.kernel_name, dispatch.target, dispatch.size.grid_size) == ("gemm", "gfx942", (640, 8, 1))
    assert dispatch.values(GEMM).dword(8) == 4096


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"kernarg": segment()[:100]}, "kernarg.bin: is cut short: 100 bytes, and dispatch.json says 272"),
        ({"kernarg": b""}, "is cut short: 0 bytes"),
        ({"kernarg": segment() + bytes(8)}, "is too long: 280 bytes"),
        ({"kernarg": bytes(2 << 20)}, "more than 1,048,576 bytes"),
        ({"grid": [640, 8]}, "dispatch.json: cannot be read"),
        ({"grid": [0, 8, 1]}, "the grid 0x8x1 is impossible"),
        ({"block": [1 << 20, 1, 1]}, "the workgroup size 1048576x1x1 is impossible"),
        ({"block": "64"}, "dispatch.json: cannot be read"),
        ({"mangled_name": None}, "dispatch.json: cannot be read"),
        ({"kernarg_size": -1}, "dispatch.json: cannot be read"),
    ],
)
def test_damaged_folders(tmp_path: Path, changes: dict[str, Any], sentence: str) -> None:
    with pytest.raises(NotATraceError, match=sentence):
        read_kerncap(write(tmp_path, **changes))


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        (lambda folder: (folder / "dispatch.json").write_text('{"mangled_name":'), "dispatch.json: cannot be read"),
        (lambda folder: (folder / "dispatch.json").write_bytes(b"[" * 100_000), "dispatch.json: cannot be read"),
        (lambda folder: (folder / "dispatch.json").write_bytes(b"\xff\xfe"), "dispatch.json: cannot be read"),
        (lambda folder: (folder / "kernarg.bin").unlink(), "a kerncap folder without kernarg.bin"),
        (
            lambda folder: [(folder / name).unlink() for name in ("dispatch.json", "metadata.json")],
            "neither dispatch.json nor metadata.json",
        ),
    ],
)
def test_files_that_are_missing_or_nonsense(tmp_path: Path, change: Callable[[Path], object], sentence: str) -> None:
    change(write(tmp_path))
    with pytest.raises((NotATraceError, UsageError), match=sentence):
        read_kerncap(tmp_path)


def test_links_that_lead_out_are_not_followed(tmp_path: Path) -> None:
    outside = tmp_path / "outside.bin"
    outside.write_bytes(segment())
    (tmp_path / "folder").mkdir()
    folder = write(tmp_path / "folder")
    (folder / "kernarg.bin").unlink()
    (folder / "kernarg.bin").symlink_to(outside)
    with pytest.raises(NotATraceError, match="a link that leads out of the folder"):
        read_kerncap(folder)


def test_a_path_that_is_no_folder(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no such folder"):
        read_kerncap(tmp_path / "nothing")
    (tmp_path / "file").write_bytes(b"")
    with pytest.raises(UsageError, match="not a folder"):
        read_kerncap(tmp_path / "file")


def test_a_dispatch_of_something_else(tmp_path: Path) -> None:
    dispatch = read_kerncap(write(tmp_path))
    other = kernel_with([], name="softmax")
    with pytest.raises(UsageError, match=r"this is a dispatch of gemm, not of softmax; give the arguments"):
        dispatch.values(other)
    with pytest.raises(UsageError, match="a dispatch on gfx942, and the trace is of gfx950"):
        dispatch.values(GEMM, target="gfx950")
    with pytest.raises(UsageError, match="has the grid 640x8x1, and the traced one 1280x8x1"):
        dispatch.values(GEMM, DispatchSize(None, (1280, 8, 1)))
    with pytest.raises(UsageError, match="workgroup size 64x4x1, and the traced one 256x1x1"):
        dispatch.values(GEMM, DispatchSize((256, 1, 1)))
    shorter = kernel_with([argument(0, 8)], segment_bytes=64)
    with pytest.raises(UsageError, match="272 bytes of arguments were recorded, and gemm has 64"):
        dispatch.values(shorter)


def test_given_values_beside_the_recorded_ones(tmp_path: Path) -> None:
    dispatch = read_kerncap(write(tmp_path))
    assert dispatch.values(GEMM, values=["m=4096"]).dword(8) == 4096
    with pytest.raises(UsageError, match="m=4097 and the recorded arguments disagree about m"):
        dispatch.values(GEMM, values=["m=4097"])
