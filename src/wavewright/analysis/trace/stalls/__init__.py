"""Stall cycles by class, and waits by the operations they waited for."""

from __future__ import annotations

from dataclasses import dataclass

import polars as pl

from wavewright.analysis.trace.code.attribution import located
from wavewright.analysis.trace.selection import at_rows
from wavewright.analysis.trace.waits.stall_rows import stall_rows
from wavewright.analysis.trace.waits.wait_producers import IDLE_COLUMNS, resolve
from wavewright.facts.stall_classes import UNRESOLVED, stall_class
from wavewright.model.answer import Answer
from wavewright.model.trace import ThreadTrace

#: Causes of idle cycles, and their columns in the frame of the native pass.
_PARTS = ("start-up", "cold instruction fetch", "instruction fetch", "dependency gap", "store drain")
IDLE_PARTS = dict(zip(_PARTS, IDLE_COLUMNS, strict=True))


@dataclass(frozen=True)
class Stalls(Answer, package=__package__):
    """Stall cycles by class, and by code row and class."""

    classes: pl.DataFrame
    by_row: pl.DataFrame
    idle: pl.DataFrame
    stall_cycles_total: int
    exposed_stall_cycles_total: int
    latency_cycles_total: int
    idle_cycles_total: int
    ending_cycles_total: int  #: Of the issue cycles those in which `s_endpgm` waited for stores: store drain, too.
    wait_count: int  #: Executed waits.
    unresolved_wait_count: int  #: Waits among them with unknown producers.


def stalls(trace: ThreadTrace, *, rows: pl.Series | None = None) -> Stalls:
    """Stall cycles by class; `rows` = only these code rows."""
    by_row, idle = at_rows(stall_rows(trace), rows), at_rows(resolve(trace).idle, rows)
    total = int(by_row["stall_cycles_total"].sum())
    by_row = by_row.with_columns(stall_share=_share("stall_cycles_total", total))
    waits = by_row.filter(pl.col("is_wait"))
    idle_sums = [(part, int(idle[column].sum())) for part, column in IDLE_PARTS.items()]
    parts = pl.DataFrame(idle_sums, schema={"part": pl.String, "idle_cycles_total": pl.Int64}, orient="row")
    parts = parts.with_columns(idle_share=_share("idle_cycles_total", int(parts["idle_cycles_total"].sum())))
    return Stalls(
        classes=_classes(by_row, total),
        by_row=located(by_row, trace).select(Stalls.tables["by_row"].names),
        idle=parts,
        stall_cycles_total=total,
        exposed_stall_cycles_total=int(by_row["exposed_stall_cycles_total"].sum()),
        latency_cycles_total=int(by_row["latency_cycles_total"].sum()),
        idle_cycles_total=int(parts["idle_cycles_total"].sum()),
        ending_cycles_total=int(idle["ending_cycles_total"].sum()),
        wait_count=int(waits["execution_count"].sum()),
        unresolved_wait_count=int(waits.filter(pl.col("class") == UNRESOLVED.name)["execution_count"].sum()),
    )


def _classes(by_row: pl.DataFrame, total: int) -> pl.DataFrame:
    sums = pl.col(
        "stall_cycles_total", "exposed_stall_cycles_total", "execution_count", "stalled_count", "latency_cycles_total"
    )
    top = pl.col("stall_cycles_total").first() / pl.col("stall_cycles_total").sum()
    return (
        by_row.group_by("class", "kind", maintain_order=True)
        .agg(
            sums.sum(),
            row_count=pl.col("row").n_unique().cast(pl.Int64),
            top_row=pl.col("row").first(),
            top_row_share=top.fill_nan(None),
        )
        .with_columns(stall_share=_share("stall_cycles_total", total), **_meanings_and_remedies(by_row["class"]))
        .sort("stall_cycles_total", "class", descending=[True, False])
        .select(Stalls.tables["classes"].names)
    )


def _meanings_and_remedies(names: pl.Series) -> dict[str, pl.Expr]:
    """Meaning and remedy of classes, by their name."""
    classes = {name: stall_class(name) for name in names.unique()}
    columns = {part: [getattr(entry, part) for entry in classes.values()] for part in ("meaning", "remedy")}
    return {
        part: pl.col("class").replace_strict(list(classes), texts, default="", return_dtype=pl.String)
        for part, texts in columns.items()
    }


def _share(column: str, total: int) -> pl.Expr:
    return pl.col(column) / total if total else pl.lit(0.0)
