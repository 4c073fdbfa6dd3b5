"""The classic stall types: what the widely used analyzer script of decoded traces would say.

It looks at texts only, one row at a time; `stalls` says what is really waited for. It is here to compare with reports
that were made with it (`docs/explanation/differences.md` lists where it misleads).
"""

from __future__ import annotations

from dataclasses import dataclass

import polars as pl

from wavewright.analysis.trace.costs.row_costs import row_totals
from wavewright.analysis.trace.selection import at_rows
from wavewright.base.toml import packaged
from wavewright.model.answer import Answer
from wavewright.model.trace import ThreadTrace

_TYPES = packaged("classic.toml", __package__)


@dataclass(frozen=True)
class Classic(Answer, package=__package__):
    """Stall by the mnemonics of the rows that stalled."""

    instruction_count: int  #: Rows of the code, executed or not.
    latency_cycles_total: int
    stall_cycles_total: int
    stall_share: float  #: Stall of latency.
    types: pl.DataFrame
    lines: pl.DataFrame
    instructions: pl.DataFrame


def classic_type(text: str) -> str:
    """The classic type of an instruction."""
    lowered = text.lower()
    if "s_waitcnt" in lowered:
        return next((name for word, name in _TYPES["waits"] if word in lowered), "waitcnt")
    return next((name for name, words in _TYPES["texts"] if any(word in lowered for word in words)), "other")


def classic(trace: ThreadTrace, *, rows: pl.Series | None = None) -> Classic:
    """Stall by classic type, source location and instruction; `rows` = only these code rows.

    Where the instructions are missing, the sums that a decoded directory stores are used.
    """
    code = at_rows(trace.code, rows)
    texts = code["text"].fill_null("").unique(maintain_order=True)
    types = pl.DataFrame({"text": texts, "type": pl.Series(map(classic_type, texts), dtype=pl.String)})
    source = pl.col("inline_chain").fill_null("<unknown>").alias("source")
    named = code.select("row", "address", pl.col("text").fill_null(""), source)
    totals = row_totals(trace) if trace.instructions.height else trace.stored_totals.filter(pl.col("hit_count") > 0)
    costs = totals.join(named, on="row", maintain_order="left").join(
        types, on="text", how="left", maintain_order="left"
    )
    latency, stall = (int(costs[f"{name}_cycles_total"].sum()) for name in ("latency", "stall"))
    share = (pl.col("stall_cycles_total") / stall) if stall else pl.lit(0.0)
    tables = Classic.tables
    by_type = costs.group_by("type", maintain_order=True).agg(pl.col("stall_cycles_total").sum())
    return Classic(
        instruction_count=code.height,
        latency_cycles_total=latency,
        stall_cycles_total=stall,
        stall_share=stall / latency if latency else 0.0,
        types=_largest_first(by_type).with_columns(stall_share=share).select(tables["types"].names),
        lines=_lines(costs).with_columns(stall_share=share).select(tables["lines"].names),
        instructions=_largest_first(costs).with_columns(stall_share=share).select(tables["instructions"].names),
    )


def _largest_first(frame: pl.DataFrame) -> pl.DataFrame:
    """Rows that stalled, largest stall first; equal ones stay in order."""
    stalled = frame.filter(pl.col("stall_cycles_total") > 0)
    return stalled.sort("stall_cycles_total", descending=True, maintain_order=True)


def _lines(costs: pl.DataFrame) -> pl.DataFrame:
    sums = pl.col("stall_cycles_total", "latency_cycles_total").sum()
    lines = costs.group_by("source", maintain_order=True).agg(sums)
    types = costs.group_by("source", "type", maintain_order=True).agg(pl.col("stall_cycles_total").sum())
    largest = _largest_first(types).unique("source", keep="first", maintain_order=True).select("source", "type")
    stalled = pl.col("stall_cycles_total") / pl.col("latency_cycles_total")
    joined = lines.join(largest, on="source", how="left", maintain_order="left")
    return _largest_first(joined).with_columns(stalled_share=stalled)
