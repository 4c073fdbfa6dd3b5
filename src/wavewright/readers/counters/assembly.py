"""Assembles passes, node and losses into one `CounterSet`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import polars as pl

from wavewright.base.shown import shown
from wavewright.model.counters import COUNTER_SET, CounterSet, System
from wavewright.model.losses import Loss, loss_frame
from wavewright.readers.counters.execution import Pass
from wavewright.readers.counters.join import UNMEASURED, Joined, joined
from wavewright.readers.counters.times import Span, dispatch_times, origin_of, relative


def assembled(
    passes: Sequence[Pass], system: System, losses: list[Loss], *, path: str, ceilings: pl.DataFrame | None = None
) -> CounterSet:
    """The counter set of passes over one program."""
    places = joined(passes, losses)
    passes = [_measured_rows(pass_, dispatches) for pass_, dispatches in zip(passes, places.dispatch_of, strict=True)]
    origin = origin_of(passes)
    spans = [relative(pass_, origin) for pass_ in passes]
    times, late = dispatch_times(passes, places.dispatch_of, spans, len(places.rows))
    losses += late
    values_by_pass: dict[int, pl.DataFrame] = {}
    for number, (pass_, dispatches) in enumerate(zip(passes, places.dispatch_of, strict=True)):
        dispatch = pl.Series("dispatch", dispatches, dtype=pl.UInt32)
        values_by_pass[number] = pass_.values.insert_column(0, dispatch) if pass_.values.width else dispatch.to_frame()
    tables = {
        "passes": _passes(passes, system),
        "dispatches": _dispatches(passes, places, times),
        "executions": _executions(passes, places, spans),
        "counters": _counters(passes),
        "losses": loss_frame(losses),
    }
    if ceilings is not None:
        tables["ceilings"] = ceilings
    return CounterSet(tables, values_by_pass, system, path, origin)


def _measured_rows(pass_: Pass, dispatches: list[int]) -> Pass:
    """The pass and the numbers of its dispatches without those that nothing measured."""
    if UNMEASURED not in dispatches:
        return pass_
    measured_rows = [row for row, dispatch in enumerate(dispatches) if dispatch != UNMEASURED]
    dispatches[:] = [dispatches[row] for row in measured_rows]
    return replace(pass_, rows=pass_.rows[measured_rows])


def _passes(passes: Sequence[Pass], system: System) -> pl.DataFrame:
    files = list(dict.fromkeys(pass_.file for pass_ in passes))
    rows = [
        {
            "pass": number,
            "run": files.index(pass_.file),
            "name": shown(pass_.name),
            "file": shown(str(pass_.file)),
            "form": pass_.form,
            "is_joined": pass_.is_joined,
            "target": system.target,
            "product": system.product,
        }
        for number, pass_ in enumerate(passes)
    ]
    return pl.DataFrame(rows, schema=COUNTER_SET["passes"].dtypes)


def _dispatches(passes: Sequence[Pass], places: Joined, times: Sequence[Span]) -> pl.DataFrame:
    spec = COUNTER_SET["dispatches"].dtypes
    parts = []
    for number, pass_ in enumerate(passes):
        rows = [row for pass_number, row in places.rows if pass_number == number]
        if rows:
            part = pass_.rows if len(rows) == pass_.rows.height else pass_.rows[rows]
            parts.append(part.drop("start_ns", "end_ns"))
    if not parts:
        return pl.DataFrame(schema=spec)
    frame = pl.concat(parts, how="diagonal_relaxed").with_row_index("dispatch")
    agents = frame["agent"].drop_nulls().unique().to_list()
    ranks = {agent: rank for rank, agent in enumerate(sorted(agents, key=_agent_order))}
    frame = frame.with_columns(
        pl.col("agent").replace_strict(ranks, default=None, return_dtype=pl.Int32).alias("gpu"),
        pl.Series("start_ns", [begin for begin, _ in times], dtype=pl.Float64, strict=False),
        pl.Series("end_ns", [end for _, end in times], dtype=pl.Float64, strict=False),
    )
    return frame.select(pl.col(name).cast(dtype) for name, dtype in spec.items())


def _agent_order(agent: str) -> tuple[bool, int, str]:
    """Numbers by value, before names."""
    return (not agent.isdecimal(), int(agent) if agent.isdecimal() else 0, agent)


def _executions(passes: Sequence[Pass], places: Joined, spans: Sequence[Sequence[Span]]) -> pl.DataFrame:
    spec = COUNTER_SET["executions"].dtypes
    parts = [pl.DataFrame(schema=spec)]
    for number, (pass_, dispatches, pass_spans) in enumerate(zip(passes, places.dispatch_of, spans, strict=True)):
        columns = {
            "dispatch": pl.Series(dispatches, dtype=pl.UInt32),
            "pass": pl.Series([number] * len(dispatches), dtype=pl.UInt32),
            "dispatch_id": pass_.rows["dispatch_id"],
            "process_id": pass_.rows["process_id"],
            "start_ns": pl.Series([begin for begin, _ in pass_spans], dtype=pl.Float64, strict=False),
            "end_ns": pl.Series([end for _, end in pass_spans], dtype=pl.Float64, strict=False),
        }
        parts.append(pl.DataFrame(columns))
    return pl.concat(parts)


def _counters(passes: Sequence[Pass]) -> pl.DataFrame:
    pairs = [(number, counter) for number, pass_ in enumerate(passes) for counter in pass_.counters]
    columns = {
        "pass": [number for number, _ in pairs],
        "counter": [counter.named.counter for _, counter in pairs],
        "channel": [counter.named.channel for _, counter in pairs],
        "column": [counter.named.column for _, counter in pairs],
        "spelled": [counter.spelled for _, counter in pairs],
    }
    return pl.DataFrame(columns, schema=COUNTER_SET["counters"].dtypes)
