"""Assembly of passes, the facts about the GPU, and losses into one `CounterSet`.

Passes execute the same program again with other counters. `joined` tells which execution of which pass is the same
dispatch, `dispatch_times` which of their times counts as the dispatch's.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import replace
from itertools import accumulate
from typing import Any, NamedTuple

import polars as pl

from wavewright.base.shown import shown
from wavewright.base.words import shortened
from wavewright.model.counters import COUNTER_SET, CounterSet, System
from wavewright.model.losses import Loss, loss_frame
from wavewright.readers.counters.execution import Pass


def assembled(
    passes: Sequence[Pass], system: System, losses: list[Loss], *, path: str, ceilings: pl.DataFrame | None = None
) -> CounterSet:
    """The counter set of passes over one program."""
    places = joined(passes, losses)
    # `_measured_rows` shortens the lists of `dispatch_of` with their passes.
    passes = [_measured_rows(pass_, dispatches) for pass_, dispatches in zip(passes, places.dispatch_of, strict=True)]
    origin = origin_of(passes)
    spans = [relative(pass_, origin) for pass_ in passes]
    times = dispatch_times(passes, places.dispatch_of, spans, len(places.rows))
    losses += _time_losses(times)
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
    """The pass without the rows whose dispatch nothing measured; they are removed from `dispatches`, too."""
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
        pl.Series("start_ns", [start for start, _ in times], dtype=pl.Float64, strict=False),
        pl.Series("end_ns", [end for _, end in times], dtype=pl.Float64, strict=False),
    )
    return frame.select(pl.col(name).cast(dtype) for name, dtype in spec.items())


def _agent_order(agent: str) -> tuple[bool, int, str]:
    """Numbers by value, which may be of any length, before names."""
    return (not agent.isdecimal(), len(agent) if agent.isdecimal() else 0, agent)


def _executions(passes: Sequence[Pass], places: Joined, spans: Sequence[Sequence[Span]]) -> pl.DataFrame:
    spec = COUNTER_SET["executions"].dtypes
    parts = [pl.DataFrame(schema=spec)]
    for number, (pass_, dispatches, pass_spans) in enumerate(zip(passes, places.dispatch_of, spans, strict=True)):
        columns = {
            "dispatch": pl.Series(dispatches, dtype=pl.UInt32),
            "pass": pl.Series([number] * len(dispatches), dtype=pl.UInt32),
            "dispatch_id": pass_.rows["dispatch_id"],
            "process_id": pass_.rows["process_id"],
            "start_ns": pl.Series([start for start, _ in pass_spans], dtype=pl.Float64, strict=False),
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


# --- passes over the same program, joined by dispatch: which execution of which pass is which dispatch? ---
Key = tuple[Any, ...]
UNMEASURED = -1  #: In place of the number of a dispatch: no pass with counters has it.


class Joined(NamedTuple):
    """The dispatches of a capture, numbered from 0."""

    rows: list[tuple[int, int]]  #: Per dispatch: the pass and the row there that describes it.
    dispatch_of: list[list[int]]  #: Per pass: the dispatch of each of its rows.


def joined(passes: Sequence[Pass], losses: list[Loss]) -> Joined:
    """Join passes by kernel, grid and dispatch id; where ids do not fit, by kernel, grid and occurrence.

    Positions in files mean nothing. What only some passes with counters have stays a dispatch, and is a loss; what only
    a pass without counters has is none.
    """
    result = Joined([], [])
    dispatch_by_id: dict[Key, int] = {}
    dispatch_by_turn: dict[Key, int] = {}
    known_agents: set[object] = set()
    for number, pass_ in enumerate(passes):
        if number and _has_same_dispatches(passes[0].rows, pass_.rows):
            result.dispatch_of.append(list(range(pass_.rows.height)))
            continue
        agents = set(pass_.rows["agent"].drop_nulls())
        # Passes that have no name of an agent in common name the same agents differently: names then tell nothing.
        uses_agent = not known_agents or not agents or bool(agents & known_agents)
        ids, turns = _keys(pass_.rows, uses_agent=uses_agent)
        known_ids, known_turns = dispatch_by_id, dispatch_by_turn
        if not uses_agent:
            known_ids, known_turns = _without_agent(known_ids), _without_agent(known_turns)
        has_known_ids = len(set(ids)) == len(ids) and all(key in known_ids for key in ids)
        keys, known_keys = (ids, known_ids) if has_known_ids else (turns, known_turns)
        dispatches = []
        for row, key in enumerate(keys):
            dispatch = known_keys.get(key, None if pass_.counters else UNMEASURED)
            if dispatch is None:
                dispatch = len(result.rows)
                result.rows.append((number, row))
                dispatch_by_id.setdefault(ids[row], dispatch)
                dispatch_by_turn.setdefault(turns[row], dispatch)
            dispatches.append(dispatch)
        known_agents |= agents
        result.dispatch_of.append(dispatches)
    _note_partial(result, passes, losses)
    return result


def _has_same_dispatches(base: pl.DataFrame, rows: pl.DataFrame) -> bool:
    names = ("dispatch_id", "agent", "kernel_name", "grid_size")
    return base.height == rows.height and all(base[name].equals(rows[name], null_equal=True) for name in names)


def _keys(rows: pl.DataFrame, *, uses_agent: bool) -> tuple[list[Key], list[Key]]:
    """Two keys of each row: agent, kernel and grid with the dispatch id, or with the number of such launches so far."""
    names = ("agent", "kernel_name", "grid_size", "dispatch_id")
    ids = rows.select(pl.lit(None).alias("agent") if not uses_agent else "agent", *names[1:]).rows()
    turns: list[Key] = [()] * rows.height
    counts: dict[Key, int] = {}
    processes = {process: place for place, process in enumerate(rows["process_id"].unique(maintain_order=True))}
    order = [(processes[process], dispatch or 0) for process, dispatch in rows.select("process_id", names[-1]).rows()]
    for row in sorted(range(rows.height), key=order.__getitem__):
        launch = ids[row][:-1]
        counts[launch] = counts.get(launch, 0) + 1
        turns[row] = (*launch, counts[launch])
    return ids, turns


def _without_agent(dispatch_by_key: dict[Key, int]) -> dict[Key, int]:
    by_key: dict[Key, int] = {}
    for key, dispatch in dispatch_by_key.items():
        by_key.setdefault((None, *key[1:]), dispatch)
    return by_key


def _note_partial(result: Joined, passes: Sequence[Pass], losses: list[Loss]) -> None:
    """Add a loss for dispatches that only some of the passes with counters have."""
    numbers = [set(dispatches) for pass_, dispatches in zip(passes, result.dispatch_of, strict=True) if pass_.counters]
    if len(numbers) < 2:
        return
    partial = len(result.rows) - len(set.intersection(*numbers))
    if partial:
        sizes = ", ".join(
            f"{pass_.name} {len(set(dispatches)):,}"
            for pass_, dispatches in zip(passes, result.dispatch_of, strict=True)
        )
        losses.append(Loss("counter_dispatches", partial, detail=shortened(sizes, 160)))


# --- times of dispatches. Passes are different executions, so one of them speaks for all, or their median ---
Span = tuple[float | None, float | None]  #: Start and end in ns since the origin; None = not recorded.
#: Whose times count for a dispatch, the first kind that has some: a pass without counters; a file that joins passes and
#: averages their times; all others together.
_UNCOUNTED, _AVERAGED, _COUNTED = range(3)


def origin_of(passes: Sequence[Pass]) -> int:
    """The earliest start of all passes in integer ns; 0 = none is recorded."""
    starts = [pass_.rows["start_ns"].min() for pass_ in passes]
    return int(min((start for start in starts if isinstance(start, int | float)), default=0))


def relative(pass_: Pass, origin: int) -> list[Span]:
    """Start and end of each row since the origin, exact although clocks have more digits than Float64."""
    starts, ends = ((pass_.rows[name] - origin).to_list() for name in ("start_ns", "end_ns"))
    return list(zip(starts, ends, strict=True))


def dispatch_times(
    passes: Sequence[Pass], dispatch_of: Sequence[Sequence[int]], spans: Sequence[Sequence[Span]], count: int
) -> list[Span]:
    """Start and end of each of `count` dispatches; no end where no pass says one after the start.

    Passes count in the order of `_rank`. Where all of them have counters: the first start, and the median duration over
    all values that were measured.
    """
    times: list[Span] = [(None, None)] * count
    starts: dict[int, float] = {}  # earliest start of the dispatches that only passes with counters have
    lengths: dict[int, list[tuple[float, int]]] = {}  # their durations, each with the number of counters of its pass
    ranked_passes = sorted(zip(passes, dispatch_of, spans, strict=True), key=lambda item: _rank(item[0]))
    for pass_, dispatches, pass_spans in ranked_passes:
        for dispatch, (start, end) in zip(dispatches, pass_spans, strict=True):
            if times[dispatch][1] is not None or start is None:
                continue
            if end is None or end <= start:
                times[dispatch] = (times[dispatch][0] if times[dispatch][0] is not None else start, None)
            elif _rank(pass_) < _COUNTED:
                times[dispatch] = (start, end)
            else:
                starts[dispatch] = min(start, starts.get(dispatch, start))
                lengths.setdefault(dispatch, []).append((end - start, len(pass_.counters)))
    for dispatch, start in starts.items():
        times[dispatch] = (start, start + _median(lengths[dispatch]))
    return times


def _rank(pass_: Pass) -> int:
    return _AVERAGED if pass_.is_joined else _COUNTED if pass_.counters else _UNCOUNTED


def _time_losses(times: Sequence[Span]) -> list[Loss]:
    without = sum(start is None for start, _ in times)
    unsound = sum(start is not None and end is None for start, end in times)
    losses = [Loss("no_times", without, detail="the files have no timestamps of them")] if without else []
    return [*losses, Loss("counter_times", unsound)] if unsound else losses


def _median(pairs: list[tuple[float, int]]) -> float:
    """The median of lengths, each counted as often as its weight says."""
    lengths, weights = zip(*sorted(pairs), strict=True)
    weights_up_to = list(accumulate(weights))
    low, high = (lengths[find(weights_up_to, weights_up_to[-1] / 2)] for find in (bisect_left, bisect_right))
    return float(low + high) / 2
