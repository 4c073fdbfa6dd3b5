"""Counters themselves for each kernel or dispatch."""

from __future__ import annotations

import polars as pl

from wavewright.analysis.counters.choice import ALL_DISPATCHES, CounterChoice, chosen_dispatches, ranked_dispatches
from wavewright.analysis.counters.engine.evaluate import row_frame
from wavewright.analysis.counters.values.answer import MetricValues, answer_of, declared
from wavewright.model.counters import CounterSet


def raw_values(counters: CounterSet, *, by: str, choice: CounterChoice = ALL_DISPATCHES) -> MetricValues:
    """Amounts of all counters, channels aside, of each dispatch, or the means over the dispatches of each kernel.

    A counter that several passes measured has a column for each of them, as `SQ_WAVES (pass name)`.

    Raises
    ------
    UsageError
        When nothing is chosen.
    """
    rows = ranked_dispatches(counters, chosen_dispatches(counters, choice))
    listed = counters.counters.filter(pl.col("channel").is_null())
    times = dict(listed.group_by("counter").len().iter_rows())
    names = dict(counters.passes.select("pass", "name").iter_rows())
    described = []
    for number, frame in sorted(counters.measured.items()):
        pass_counters = listed.filter(pl.col("pass") == number).select("column", "counter").rows()
        pass_name = names.get(number)
        if list(names.values()).count(pass_name) > 1:
            pass_name = f"{pass_name}, pass {number}"
        spelled = {column: name if times[name] == 1 else f"{name} ({pass_name})" for column, name in pass_counters}
        described += [
            {"column": name, "metric_id": "", "name": name, "unit": "", "series": ""} for name in spelled.values()
        ]
        rows = rows.join(
            frame.select("dispatch", *spelled).rename(spelled), on="dispatch", how="left", maintain_order="left"
        )
    columns = [row["column"] for row in described]
    values = rows.group_by("kernel").agg(pl.col(columns).mean()).sort("kernel") if by == "kernel" else rows
    frame = pl.concat([declared(row_frame(rows, by)), values.select(columns)], how="horizontal")
    for row in described:
        row["reason"] = "" if frame[row["column"]].count() else "no dispatch has a value"
    return answer_of(counters.system.target, by, frame, described, rules="raw")
