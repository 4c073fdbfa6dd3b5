"""Stall cycles of every code row by class: what `stalls` and `waits` share."""

from __future__ import annotations

import polars as pl

from wavewright.analysis.trace.costs.row_costs import cost_questions, row_costs
from wavewright.analysis.trace.parts import ask
from wavewright.analysis.trace.waits.wait_producers import PORT_BUSY, UNCERTAIN, UNKNOWN, resolve, resolved_in_part
from wavewright.facts import stall_classes
from wavewright.model.answer import once_per_trace
from wavewright.model.trace import ThreadTrace

_IMMEDIATE = 9  # instructions.category: waits, barriers and s_nop; only the PC distinguishes them


@once_per_trace
def stall_rows(trace: ThreadTrace) -> pl.DataFrame:
    """Stalls of all code rows by class, largest first; columns as in `Stalls.by_row` and `is_wait`."""
    ask(trace, [(resolved_in_part,), *cost_questions(trace)])
    groups = resolve(trace).groups
    classes = _classes(groups, trace.code)
    rows = (
        groups.with_columns(
            pl.Series("class", [entry.name for entry in classes], pl.String),
            pl.Series("kind", [entry.kind for entry in classes], pl.String),
        )
        .group_by("row", "class", "kind", pl.col("is_wait").cast(pl.Boolean))
        .agg(pl.col("stall_cycles_total", "execution_count", "stalled_count", "latency_cycles_total").sum())
        .sort("stall_cycles_total", "row", "class", descending=[True, False, False])
    )
    costs = row_costs(trace).select("row", "hit_count", "exposed_stall_cycles_total", of="stall_cycles_total")
    # Arrival and release of a gfx9 barrier are two records of one execution.
    counts = [pl.min_horizontal(name, "hit_count").alias(name) for name in ("execution_count", "stalled_count")]
    return _with_exposed(rows, costs).with_columns(counts).drop("hit_count")


def class_names(groups: pl.DataFrame, code: pl.DataFrame) -> list[str]:
    """Name of the stall class of every group of the native pass (`Resolved.groups`), in their order."""
    return [entry.name for entry in _classes(groups, code)]


def _classes(groups: pl.DataFrame, code: pl.DataFrame) -> list[stall_classes.StallClass]:
    of_rows = groups.join(code.select("row", "class"), on="row", how="left", maintain_order="left")
    keys = of_rows.select("is_wait", "key", pl.when(pl.col("is_wait") == 0).then("class"))
    class_of_key = {key: _class_of(*key) for key in keys.unique().iter_rows()}
    return [class_of_key[key] for key in keys.iter_rows()]


def _with_exposed(rows: pl.DataFrame, costs: pl.DataFrame) -> pl.DataFrame:
    """The exposed stall of every row, given to its classes by their stall, so that the parts add up to the whole.

    Nothing is known to hide what has no PC: all of its stall is exposed.
    """
    reached = pl.col("stall_cycles_total").cum_sum().over("row") / pl.col("of")
    upto = (pl.col("exposed_stall_cycles_total") * reached.fill_nan(0)).round().cast(pl.Int64)
    return (
        rows.join(costs, on="row", how="left", maintain_order="left")
        .with_columns(upto=upto.fill_null(0))
        .with_columns(part=pl.col("upto") - pl.col("upto").shift(1, fill_value=0).over("row"))
        .with_columns(
            exposed_stall_cycles_total=pl.when(pl.col("of").is_null()).then("stall_cycles_total").otherwise("part")
        )
        .drop("upto", "part", "of")
    )


def _class_of(is_wait: int, key: int, code_class: str | None) -> stall_classes.StallClass:
    """Class of a group: from its producers when it is a wait, else from what the instruction is."""
    if not is_wait and code_class is None and key & ~PORT_BUSY == _IMMEDIATE:
        return stall_classes.UNRESOLVED
    if not is_wait:
        by_category = stall_classes.ISSUE_OF_CATEGORY.get(key & ~PORT_BUSY, stall_classes.OTHER_ISSUE)
        declared = stall_classes.OWN_CLASS.get(code_class or "") or by_category
        return stall_classes.busy_class(declared) if key & PORT_BUSY else declared
    mask = key & (UNKNOWN - 1)
    if mask != stall_classes.CACHE_BIT:  # an invalidation is done long before the loads next to it
        mask &= ~stall_classes.CACHE_BIT
    one_kind = mask & (mask - 1) == 0
    if key & UNKNOWN or (key & UNCERTAIN and not one_kind):
        return stall_classes.UNRESOLVED
    return stall_classes.wait_class(mask)
