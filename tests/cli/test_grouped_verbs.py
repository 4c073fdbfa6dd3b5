"""Runs by category and by file, names in two forms, and runs as Python shows them."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from tests.cli.in_process import call
from wavewright.readers.run.inputs import open_run

if TYPE_CHECKING:
    from pathlib import Path

HEADER = '"Kind","Agent_Id","Queue_Id","Thread_Id","Dispatch_Id","Kernel_Name","Start_Timestamp","End_Timestamp"\n'
KERNELS = {
    "Cijk_Alik_Bljk_HHS_BH_MT64x64x32_MI16x16x1_SN_LDSB1_AFC1_AFEM1_ASEM1_CLR1_CADS0_DTVA0_EPS0_FDSI0_WG64_4_1": 600,
    "Cijk_Alik_Bljk_HHS_BH_MT32x64x32_MI16x16x1_SN_LDSB1_AFC1_AFEM1_ASEM1_CLR1_CADS0_DTVA0_EPS0_FDSI0_WG64_4_1": 200,
    "attn_fwd": 150,
    "my_own_kernel": 50,
}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for number, run in enumerate(("first", "second"), 1):
        rows, time = [], 1_000
        for name, length in KERNELS.items():
            rows.append(f'"KERNEL_DISPATCH","Agent 1",1,7,1,"{name}",{time},{time + number * length}\n')
            time += number * length
        (tmp_path / run).mkdir()
        (tmp_path / run / "out_kernel_trace.csv").write_text(HEADER + "".join(rows))
    return tmp_path


def test_time_per_category(folder: Path) -> None:
    told = json.loads(call("top", folder, "--json").stdout)
    rows = [(row["category"], row["calls"], row["total_ns"], row["name_count"]) for row in told["categories"]["rows"]]
    assert rows == [("GEMM", 4, 2400, 2), ("attention", 2, 450, 1), ("other", 2, 150, 1)]
    text = call("top", folder, "--by", "category").stdout
    assert "GEMM 80.0 %, attention 15.0 %, other 5.0 %" in text
    assert call("top", folder, "--by", "category", "--csv").stdout.splitlines()[0].startswith("category,")


def test_one_table_per_file(folder: Path) -> None:
    text = call("top", folder, "--by", "file").stdout
    assert text.startswith("2 files: 3.0 us of the GPU time")
    assert text.index("second: 2.0 us, 66.7 %") < text.index("first: 1.0 us, 33.3 %")
    assert str(folder) not in text
    grouped = call("summary", folder, "--by", "file").stdout
    assert [line.split()[0] for line in grouped.splitlines() if " KERNEL " in line] == ["first", "second"]


@pytest.mark.first_case
@pytest.mark.parametrize("width", [80, 120])
def test_kernels_have_different_names(folder: Path, width: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", str(width))
    short = call("top", folder).stdout
    assert "MT64x64x32" in short
    assert "MT32x64x32" in short
    assert "WG64_4_1" not in short.replace("_WG64_4_1\n", "")
    full = call("top", folder, "--names", "full").stdout
    assert all(name in "".join(full.split()) for name in KERNELS)
    assert call("top", folder).stdout == short
    for text in (short, full):
        assert max(map(len, text.splitlines())) <= width


def test_a_run_in_python(folder: Path) -> None:
    run = open_run(folder)
    assert repr(run) == "<Run: 2 processes, 8 dispatches, 0 copies, 0 regions; rocprofv3 CSV>"
    dispatches = run.to_pandas()["dispatches"]
    assert not [name for name, dtype in dispatches.dtypes.items() if str(dtype) == "float64"]
    assert str(dispatches["correlation"].dtype) in ("Int64", "int64", "UInt64", "uint64")
