"""Names and paths in tables: told apart from their siblings; headings whole; bars drawn to the room they have."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import polars as pl
import pytest

from tests.kit.together import together
from wavewright.base.names_form import NAMES_FORM
from wavewright.model.blocks import Placed
from wavewright.words.kit.brief_names import brief_kernel, brief_kernels, brief_paths
from wavewright.words.kit.frame_tables import Column, bar_cell, frame_table
from wavewright.writers.terminal.blocks import plain_text

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

NAMES = [f"Cijk_Alik_Bljk_BBS_BH_Bias_HA_S_SAV_UserArgs_MT{tile}_MI16x16x1_SN_LDSB1" for tile in ("16x64x8", "32x64x8")]
FOLDERS = [f"/data/{name}/discover_kernel_trace.csv{end}" for name, end in (("moe_gemm", ""), ("softmax", ".gz"))]
ROWS = pl.DataFrame({"name": NAMES, "path": FOLDERS, "share": [0.9, 0.1], "text": ["a/b/c/file.py(7): f", "-"]})


@pytest.fixture
def full_names() -> Iterator[None]:
    token = NAMES_FORM.set("full")
    yield
    NAMES_FORM.reset(token)


def printed(columns: Sequence[Column], width: int, rows: pl.DataFrame = ROWS) -> list[str]:
    return plain_text([frame_table(rows, columns, limit=None, what="rows")], width).splitlines()


def numbers(count: int) -> list[Column]:
    return [Column(f"number {n}", lambda row: f"{row['share']:.3f}") for n in range(count)]


KERNEL = Column("kernel", lambda row: brief_kernel(row["name"], 200), role="rest")
WHERE = Column("GPU", lambda row: Placed(row["path"], " GPU 3"), role="short")
BAR = Column("", lambda row: bar_cell(row["share"], 30), role="bar")


@pytest.mark.parametrize("width", [80, 100, 120])
@pytest.mark.parametrize("count", [0, 3, 5, 12])
def test_tables_fit_and_say_what_they_leave_out(width: int, count: int) -> None:
    lines = printed([WHERE, KERNEL, *numbers(count), BAR], width)
    assert max(map(len, lines)) <= width
    heading = next(line for line in lines if line.startswith("GPU"))
    shown = [n for n in range(count) if f"number {n}" in heading]
    assert "…" not in heading
    assert shown == list(range(len(shown)))
    text = " ".join(lines[: lines.index(heading)])
    assert all(f"number {n}" in text for n in range(len(shown), count))
    assert ("wider terminal" in text) == (len(shown) < count)
    cells = [line for line in lines if " GPU 3" in line]
    assert len(cells) == 2
    assert all(tile in line for tile, line in zip(("16x64x8", "32x64x8"), cells, strict=True))


@pytest.mark.parametrize("width", [80, 120])
def test_bars_end_in_no_ellipsis(width: int) -> None:
    lines = printed([KERNEL, *numbers(4), BAR], width)
    assert any("█" in line for line in lines)
    assert not any("█…" in line or line.endswith("…") for line in lines)
    long, short = (line.count("█") for line in lines if "Cijk" in line)
    assert long > short


def test_paths_lose_what_they_have_in_common() -> None:
    assert [line.split()[0] for line in printed([WHERE, *numbers(1)], 80)[2:]] == ["moe_gemm", "softmax"]


@together(
    "paths, brief",
    [
        ([], []),
        (["/a/b.db"], ["b.db"]),
        (["/"], ["/"]),
        (["/a/b.db", "/a/c.db"], ["b", "c"]),
        (["/a/b.db", "/a/b.csv"], ["b.db", "b.csv"]),
        (["/a/x/r.db", "/a/y/r.db.gz"], ["x", "y"]),
        (["/a", "/a/b"], ["a", "a/b"]),
        (["r/1/out/x.db", "r/2/out/x.db", "r/2/out/y.db"], ["1/out/x", "2/out/x", "2/out/y"]),
    ],
)
def test_brief_paths(paths: list[str], brief: list[str]) -> None:
    assert list(brief_paths(paths).values()) == brief


def test_full_names_are_wrapped(full_names: None) -> None:
    lines = printed([*numbers(2), KERNEL], 80)
    assert max(map(len, lines)) <= 80
    assert "".join("".join(line.split()[-1:]) for line in lines if "0.9" in line or line.startswith(" "))
    assert "_LDSB1" in "".join(lines)
    assert brief_kernel(NAMES[0], 20) == NAMES[0]


def test_names_in_a_sentence_differ() -> None:
    labels: list[Any] = brief_kernels(NAMES, 30)
    assert len(set(labels)) == 2
    assert max(map(len, labels)) <= 30
    assert brief_kernel(None) == "?"


def test_cells_that_would_become_equal_are_cut_in_the_middle() -> None:
    sites = pl.DataFrame(
        {"text": [f"/sgl-workspace/sglang/python/sglang/srt/model_executor/runner.py({n}): f" for n in (7, 8)]}
    )
    lines = printed([Column("site", lambda row: row["text"], role="rest"), *_padding(4)], 80, sites)
    assert len(set(lines[-2:])) == 2


def _padding(count: int) -> list[Column]:
    return [Column(f"number {n}", lambda _row: "0.123") for n in range(count)]
