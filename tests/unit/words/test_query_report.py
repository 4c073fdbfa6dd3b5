"""Rows of a query: as wide as the terminal, and never two texts that look the same when they are not."""

from __future__ import annotations

import polars as pl
import pytest

from wavewright.words.run.data.query import query_report
from wavewright.writers.terminal.blocks import plain_text

PATHS = [f"/workspace/python/a_long_folder_of_sources/model_executor/runner.py({n}): forward_batch" for n in (7, 8)]


def lines(rows: pl.DataFrame, width: int) -> list[str]:
    return plain_text(query_report(rows, rows.height, width=width), width).splitlines()


def test_texts_have_the_whole_terminal() -> None:
    shown = "\n".join(lines(pl.DataFrame({"name": PATHS, "n": [1, 2]}), 120))
    assert all(path in shown for path in PATHS)


@pytest.mark.parametrize("width", [40, 60, 80])
def test_texts_that_are_cut_still_differ(width: int) -> None:
    shown = lines(pl.DataFrame({"name": PATHS, "n": [1, 2]}), width)[2:]
    assert len({line.rstrip()[:-1] for line in shown}) == len(shown) == 2
    assert all(len(line) <= width and "…" in line for line in shown)


def test_what_does_not_fit_comes_row_by_row() -> None:
    rows = pl.DataFrame({f"column_{n}": ["x" * 30] for n in range(8)})
    assert "row 1" in lines(rows, 80)


def test_nothing_and_endless_texts() -> None:
    assert lines(pl.DataFrame({"name": []}, schema={"name": pl.String}), 80)[1].strip() == "name"
    assert max(map(len, lines(pl.DataFrame({"a": ["y" * 100_000], "b": ["z" * 100_000]}), 80))) <= 80
