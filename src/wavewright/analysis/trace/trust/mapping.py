"""Quality of the mapping from instructions to source lines."""

from __future__ import annotations

import re
from dataclasses import dataclass
from math import exp, log

import polars as pl

from wavewright.analysis.trace.costs.hotspots import collecting
from wavewright.analysis.trace.costs.row_costs import entered_rows, row_totals
from wavewright.analysis.trace.selection import at_rows
from wavewright.base.toml import packaged
from wavewright.model.answer import Answer
from wavewright.model.schema import SAMPLE_COUNTS
from wavewright.model.trace import ThreadTrace

#: Source lines that are no operation: decorators, heads of functions, `with`, templates.
_HEAD_LINE = re.compile(r"\s*(@|def\s|async\s+def\s|class\s|with\s|template\b|__global__|__device__)")
_REMEDIES: dict[str, str] = packaged("caveats.toml", __package__)["source_mapping"]


@dataclass(frozen=True)
class SourceMapping(Answer, package=__package__):
    """Shares of the code that have a source line, and how the cost spreads over lines."""

    row_count: int
    mapped_row_count: int
    hit_share: float  #: Executions of mapped rows, of all executions with a known PC.
    latency_share: float  #: Latency cycles on mapped rows, of all.
    line_count: int
    top_line_share: float
    effective_line_count: float
    remedy: str  #: What to do about it; empty when nothing needs to be done.
    files: pl.DataFrame
    lines: pl.DataFrame

    @property
    def mapped_share(self) -> float:
        """Mapped rows of all rows."""
        return self.mapped_row_count / self.row_count if self.row_count else 0.0

    @property
    def swallowing(self) -> pl.DataFrame:
        """The lines with suspiciously many rows."""
        return self.lines.filter("swallows")


def mapping(trace: ThreadTrace, *, rows: pl.Series | None = None) -> SourceMapping:
    """Quality of the source mapping of the code that waves could run, all of it or only `rows`."""
    entered = entered_rows(trace)["row"]
    code = trace.code.filter(pl.col("row").is_in(entered.implode())) if entered.len() else trace.code
    code = at_rows(code, rows)
    totals = ("hit_count", "latency_cycles_total", "stall_cycles_total")
    costs = (
        code.select("row", "file", "line")
        .with_columns(file=pl.when(pl.col("line").is_not_null()).then("file"))
        .join(_totals(trace).select("row", *totals), on="row", how="left")
        .with_columns(pl.col(name).fill_null(0) for name in totals)
    )
    mapped = costs.filter(pl.col("file").is_not_null())
    lines = _lines(trace, mapped)
    # Shares below zero come from impossible times, which are a loss of the trace.
    shares = [share for share in lines["weight_share"].to_list() if share > 0]
    return SourceMapping(
        row_count=code.height,
        mapped_row_count=mapped.height,
        hit_share=_share(mapped, costs, "hit_count"),
        latency_share=_share(mapped, costs, "latency_cycles_total"),
        line_count=lines.height,
        top_line_share=max(shares, default=0.0),
        effective_line_count=exp(-sum(share * log(share) for share in shares)) if shares else 0.0,
        remedy=_remedy(code.height, mapped.height, lines),
        files=_files(costs),
        lines=lines,
    )


def _totals(trace: ThreadTrace) -> pl.DataFrame:
    """Totals per row; of PC samples, those that were issued count as hits and the others as stall."""
    if trace.instructions.height or not trace.samples.height:
        return row_totals(trace)
    sample_count = pl.sum_horizontal(SAMPLE_COUNTS).alias("latency_cycles_total")
    return trace.samples.select("row", sample_count, hit_count="issued_count", stall_cycles_total="stalled_count")


def _share(part: pl.DataFrame, whole: pl.DataFrame, column: str) -> float:
    total = int(whole[column].sum())
    return int(part[column].sum()) / total if total else 0.0


def _files(costs: pl.DataFrame) -> pl.DataFrame:
    def share(column: str) -> pl.Expr:
        return pl.col(column).sum() / max(int(costs[column].sum()), 1)

    return (
        costs.group_by("file")
        .agg(
            line_count=pl.col("line").drop_nulls().n_unique().cast(pl.Int64),
            row_count=pl.len().cast(pl.Int64),
            row_share=pl.len() / max(costs.height, 1),
            hit_share=share("hit_count"),
            latency_share=share("latency_cycles_total"),
            stall_share=share("stall_cycles_total"),
        )
        .sort("latency_share", "row_count", "file", descending=[True, True, False])
    )


def _lines(trace: ThreadTrace, mapped: pl.DataFrame) -> pl.DataFrame:
    weight = pl.col("hit_count") + pl.col("stall_cycles_total")
    all_weight = max(int(mapped.select(weight.sum()).item() or 0), 1)
    lines = (
        mapped.group_by("file", "line")
        .agg(
            row_count=pl.len().cast(pl.Int64),
            hit_count=pl.col("hit_count").sum(),
            latency_cycles_total=pl.col("latency_cycles_total").sum(),
            stall_cycles_total=pl.col("stall_cycles_total").sum(),
            weight_share=weight.sum() / all_weight,
        )
        .with_columns(row_share=pl.col("row_count") / pl.col("row_count").sum().over("file"))
        .sort("weight_share", "row_count", "file", "line", descending=[True, True, False, False])
    )
    texts = _source_lines(trace, lines)
    return lines.with_columns(swallows=collecting(), text=texts).select(SourceMapping.tables["lines"].names)


def _source_lines(trace: ThreadTrace, lines: pl.DataFrame) -> pl.Series:
    files = set(lines["file"].to_list())
    split = {file: text.splitlines() for file, text in trace.sources.iter_rows() if text is not None and file in files}
    line_texts = []
    for file, line in lines.select("file", "line").iter_rows():
        texts = split.get(file, [])
        line_texts.append(texts[line - 1].strip() if line and line <= len(texts) else None)
    return pl.Series("text", line_texts, dtype=pl.String)


def _remedy(row_count: int, mapped_row_count: int, lines: pl.DataFrame) -> str:
    if mapped_row_count * 2 < row_count or not row_count:
        return _REMEDIES["none"]
    swallowing = lines.filter("swallows")
    if not swallowing.height:
        return ""
    file, text = swallowing.select("file", "text").row(0)
    remedy = _REMEDIES["py" if file.endswith(".py") else "other"]
    if text is not None and _HEAD_LINE.match(text):
        return f"{text!r} is not an operation: {remedy}"
    return remedy
