"""Totals per code row, against the rule spelled out and against official directories."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import polars as pl
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.kit.made_traces import made
from tests.kit.sampling import examples
from tests.kit.ui_directories import load, read_json
from wavewright.analysis.trace.costs.row_costs import row_totals

if TYPE_CHECKING:
    from pathlib import Path

COLUMNS = ["hit_count", "latency_cycles_total", "stall_cycles_total", "idle_cycles_total"]


def spelled_out(waves: list[dict[str, Any]]) -> dict[int, list[int]]:
    """The accumulation rule of docs/formats/ui_output.md, one instruction after the other."""
    totals: dict[int, list[int]] = {}
    for wave in waves:
        end = wave["begin"]
        for time, stall, duration, _, row in wave["instructions"]:
            if row < 0:
                continue
            gap = max(0, time - end)
            old = totals.get(row, [0, 0, 0, 0])
            totals[row] = [a + b for a, b in zip(old, (1, duration, stall, gap), strict=True)]
            end = max(end, time + duration)
    return totals


tokens = st.tuples(
    st.integers(0, 400), st.integers(0, 60), st.integers(0, 2**31 - 1), st.integers(0, 12), st.integers(-1, 5)
)
waves = st.builds(
    lambda begin, instructions: {"begin": begin, "end": begin + 999, "instructions": instructions},
    st.integers(0, 300),
    st.lists(tokens, max_size=12),
)


@settings(deadline=None, max_examples=examples(60))
@given(st.lists(waves, max_size=4))
def test_totals_follow_the_rule(made_waves: list[dict[str, Any]]) -> None:
    totals = row_totals(made(made_waves))
    found = {row["row"]: [row[name] for name in COLUMNS] for row in totals.iter_rows(named=True)}
    assert found == spelled_out(made_waves)
    assert totals["row"].is_sorted()


def test_totals_equal_those_of_an_official_directory(shared: Path) -> None:
    directory = shared / "data" / "att-mi300x-bmm" / "c03" / "ui_output_agent_47531_dispatch_3"
    totals = row_totals(load(directory))
    official = [row[6:10] for row in read_json(directory / "code.json")["code"] if row[6]]
    assert totals.select(COLUMNS).rows() == [tuple(row) for row in official]
    assert totals.select(pl.col(COLUMNS).sum()).row(0) == (23072, 2783508, 2674136, 38144)
