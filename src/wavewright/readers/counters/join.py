"""Passes over the same program, joined by dispatch: which execution of which pass is which dispatch?"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import polars as pl

from wavewright.model.losses import Loss
from wavewright.readers.counters.execution import Pass

Key = tuple[Any, ...]
UNMEASURED = -1  #: Stands for a dispatch that no pass with counters has.


class Joined:
    """The dispatches of a capture: rows that describe them, and for each pass the dispatch of each of its rows."""

    def __init__(self) -> None:
        self.rows: list[tuple[int, int]] = []  # Per dispatch: the pass and the row there that describes it.
        self.dispatch_of: list[list[int]] = []


def joined(passes: Sequence[Pass], losses: list[Loss]) -> Joined:
    """Join passes by kernel, grid and dispatch id; where ids do not fit, by kernel, grid and occurrence.

    Positions in files mean nothing. What only some passes with counters have stays a dispatch, and is a loss; what only
    a pass without counters has is none.
    """
    result = Joined()
    base: pl.DataFrame | None = None
    dispatch_by_key: dict[Key, int] = {}
    by_occurrence: dict[Key, int] = {}
    has_agents: set[object] = set()
    for number, pass_ in enumerate(passes):
        if base is not None and _same(base, pass_.rows):
            result.dispatch_of.append(list(range(pass_.rows.height)))
            continue
        agents = set(pass_.rows["agent"].drop_nulls())
        uses_agent = not has_agents or not agents or bool(agents & has_agents)
        ids, turns = _keys(pass_.rows, uses_agent=uses_agent or not has_agents)
        if not uses_agent:
            known_ids, known_turns = _without_agent(dispatch_by_key), _without_agent(by_occurrence)
        else:
            known_ids, known_turns = dispatch_by_key, by_occurrence
        fits = len(set(ids)) == len(ids) and all(key in known_ids for key in ids)
        numbering = ids if fits else turns
        table = known_ids if fits else known_turns
        dispatches = []
        for row, key in enumerate(numbering):
            dispatch = table.get(key, None if pass_.counters else UNMEASURED)
            if dispatch is None:
                dispatch = len(result.rows)
                result.rows.append((number, row))
                dispatch_by_key.setdefault(ids[row], dispatch)
                by_occurrence.setdefault(turns[row], dispatch)
            dispatches.append(dispatch)
        has_agents |= agents
        result.dispatch_of.append(dispatches)
        if base is None:
            base = pass_.rows
    _tell(result, passes, losses)
    return result


def _same(base: pl.DataFrame, rows: pl.DataFrame) -> bool:
    names = ("dispatch_id", "agent", "kernel_name", "grid_size")
    return base.height == rows.height and all(base[name].equals(rows[name], null_equal=True) for name in names)


def _keys(rows: pl.DataFrame, *, uses_agent: bool) -> tuple[list[Key], list[Key]]:
    """Per row: the dispatch by its id, and by how often its kernel ran before with that grid."""
    names = ("agent", "kernel_name", "grid_size", "dispatch_id")
    columns = [rows[name].to_list() for name in names]
    if not uses_agent:
        columns[0] = [None] * rows.height
    counts: dict[Key, int] = {}
    ids, turns = [], []
    for agent, kernel, grid, dispatch in zip(*columns, strict=True):
        launch = (agent, kernel, grid)
        counts[launch] = counts.get(launch, 0) + 1
        ids.append((*launch, dispatch))
        turns.append((*launch, counts[launch]))
    return ids, turns


def _without_agent(dispatch_by_key: dict[Key, int]) -> dict[Key, int]:
    by_key: dict[Key, int] = {}
    for key, dispatch in dispatch_by_key.items():
        by_key.setdefault((None, *key[1:]), dispatch)
    return by_key


def _tell(result: Joined, passes: Sequence[Pass], losses: list[Loss]) -> None:
    numbers = [set(dispatches) for pass_, dispatches in zip(passes, result.dispatch_of, strict=True) if pass_.counters]
    if len(numbers) < 2:
        return
    partial = len(result.rows) - len(set.intersection(*numbers) & set(range(len(result.rows))))
    if partial:
        sizes = ", ".join(
            f"{pass_.name} {len(set(dispatches)):,}"
            for pass_, dispatches in zip(passes, result.dispatch_of, strict=True)
        )
        losses.append(Loss("counter_dispatches", partial, detail=_short(sizes)))


def _short(text: str, limit: int = 160) -> str:
    return text if len(text) <= limit else f"{text[: limit - 1]}…"
