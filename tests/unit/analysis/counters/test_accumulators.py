"""A level metric needs to know which level counter its accumulator added up."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

from synth.counter_capture import CounterCapture, write_counters
from wavewright.analysis.counters.engine.panels import counter_panels
from wavewright.readers.counters import open_counters

LEVELS = ("SQ_LEVEL_WAVES", "SQ_IFETCH_LEVEL", "SQ_INST_LEVEL_LDS")


def joined(folder: Path, levels: tuple[str, ...]) -> pl.DataFrame:
    """The rows of a capture whose level passes are columns of the joined file, which has room for one accumulator."""
    write_counters(folder, CounterCapture("gfx90a"))
    table = pl.read_csv(folder / "pmc_perf.csv")
    for level in levels:
        own = pl.read_csv(folder / f"{level}.csv")
        table = table.with_columns(own[level], own["SQ_ACCUM_PREV_HIRES"])
    for file in folder.glob("SQ*_LEVEL*.csv"):
        file.unlink()
    (folder / "SQC_DCACHE_INFLIGHT_LEVEL.csv").unlink(missing_ok=True)
    table.write_csv(folder / "pmc_perf.csv")
    return counter_panels(open_counters(folder)).rows


def average(rows: pl.DataFrame, metric_id: str) -> float | None:
    found: float | None = rows.filter(pl.col("metric_id") == metric_id)["average"][0]
    return found


@pytest.mark.parametrize("count", [2, 3])
def test_one_accumulator_for_several_levels_is_nobodys(tmp_path: Path, count: int) -> None:
    rows = joined(tmp_path, LEVELS[:count])
    for metric_id in ("2.1.15", "3.1.0", "3.1.20", "2.1.30"):
        assert average(rows, metric_id) is None
    assert "SQ_LEVEL_WAVES" in rows.filter(pl.col("metric_id") == "2.1.15")["reason"][0]


def test_the_accumulator_of_a_single_level_is_read(tmp_path: Path) -> None:
    rows = joined(tmp_path, LEVELS[:1])
    assert (average(rows, "2.1.15") or 0) > 0
    assert average(rows, "3.1.20") is None
