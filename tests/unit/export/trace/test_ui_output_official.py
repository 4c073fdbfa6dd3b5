"""Official directories -> tables -> our directories: every file must come back equal."""

from __future__ import annotations

import tarfile
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import SHARED
from tests.kit.sampling import every_third
from tests.kit.ui_directories import load, read_json, source_paths
from wavewright.export.trace.ui_output import write_ui_output
from wavewright.export.trace.ui_output.kernel_ids import KernelIds, decode_order

CAPTURES = sorted((SHARED / "data" / "att-mi300x-bmm").glob("c*"))
FLYDSL = sorted((SHARED / "data" / "uiout-mi350x-flydsl").glob("*/*/ui_output_*"))
LARGE = ("softmax", "moe_reduce", "preshuffle_gemm", "flash_attn_func/big")

pytestmark = pytest.mark.skipif(not CAPTURES or not FLYDSL, reason="../shared/data is not here")


def directory_of(capture: Path, dispatch: int) -> Path:
    return next(capture.glob(f"ui_output_agent_*_dispatch_{dispatch}"))


@pytest.mark.some_cases(2)
@pytest.mark.parametrize("capture", every_third(CAPTURES), ids=lambda path: path.name)
def test_a_capture_is_written_as_rocprofv3_did(capture: Path, tmp_path: Path) -> None:
    dispatches = sorted(int(path.name.rpartition("_")[2]) for path in capture.glob("ui_output_*"))
    kernel_ids = KernelIds()
    for dispatch in decode_order(dispatches):
        official = directory_of(capture, dispatch)
        ours = write_ui_output(load(official), tmp_path, kernel_ids=kernel_ids)
        assert ours.name == official.name
        assert parsed(ours) == parsed(official)
        statistics = f"stats_{official.name}.csv"
        assert (tmp_path / statistics).read_bytes() == (capture / statistics).read_bytes()


@pytest.mark.first_case
@pytest.mark.parametrize(
    "packed",
    [
        pytest.param(
            path,
            marks=[pytest.mark.slow] * (number % 3 > 0 or any(name in str(path) for name in LARGE)),
            id=f"{path.parts[-3]}-{path.name}",
        )
        for number, path in enumerate(FLYDSL)
    ],
)
def test_a_directory_with_several_shader_engines(packed: Path, tmp_path: Path) -> None:
    official = unpacked(packed, tmp_path / "official")
    ours = write_ui_output(load(official), tmp_path / "ours")
    found, expected = parsed(ours), parsed(official)
    for directory, files in ((ours, found), (official, expected)):
        files["occupancy.json"] = with_kernel_names(files["occupancy.json"])
        files["snapshots.json"] = set(source_paths(directory))
    assert found == expected


def unpacked(path: Path, folder: Path) -> Path:
    if path.is_dir():
        return path
    with tarfile.open(path) as archive:
        if hasattr(tarfile, "data_filter"):  # Debian 12's Python 3.11.2 has none
            archive.extraction_filter = tarfile.data_filter
        archive.extractall(folder)  # noqa: S202 (our own reference data)
    return next(folder.iterdir())


def parsed(directory: Path) -> dict[str, Any]:
    """File name -> content, without source copies (the public data set has none of them)."""
    return {path.name: read_json(path) for path in directory.iterdir() if not path.name.startswith("source_")}


def with_kernel_names(occupancy: dict[str, Any]) -> dict[str, Any]:
    """Names instead of numbers: a directory alone does not tell what else its process decoded before."""
    names = occupancy.pop("dispatches")
    return {
        key: [[*row[:5], names[str(row[5])]] for row in rows] if key.isdigit() else rows
        for key, rows in occupancy.items()
    }
