"""The cost of each source line in cycles or PC samples, and of the lines that were inlined into it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import polars as pl

from wavewright.analysis.trace.code.attribution import LANE_SUMS, place_of, source_of_rows, with_lane_sums
from wavewright.analysis.trace.costs.row_costs import ROW_SUMS, row_costs
from wavewright.analysis.trace.selection import at_rows
from wavewright.analysis.trace.waits.stall_rows import stall_rows
from wavewright.model.answer import Answer
from wavewright.model.schema import SAMPLE_COUNTS
from wavewright.model.trace import ThreadTrace


@dataclass(frozen=True)
class _Lines(Answer):
    """The source with one kind of cost."""

    attribution: str
    files: pl.DataFrame
    lines: pl.DataFrame
    inlined: pl.DataFrame
    unmapped_row_count: int  #: Rows without a debug line.

    @property
    def has_text(self) -> bool:
        """True if the text of any file with rows is here."""
        return bool(self.files["has_text"].any())

    @classmethod
    def select(cls, sums: ByLine, order: pl.Expr) -> dict[str, pl.DataFrame]:
        """Return the tables with the columns of this class, files with the largest `order` first."""
        files = sums.files.sort(order, "file", descending=[True, False])
        frames = {"files": files, "lines": sums.lines, "inlined": sums.inlined}
        return {name: frame.select(cls.tables[name].names) for name, frame in frames.items()}


@dataclass(frozen=True)
class SourceListing(_Lines, package=__package__):
    """The source with its costs."""

    unmapped_cycles_total: int  #: Latency and idle of these rows.


@dataclass(frozen=True)
class SampleLines(_Lines, package=__package__):
    """The source with its samples."""

    unmapped_sample_count: int  #: Samples of these rows.


def source_listing(
    trace: ThreadTrace,
    *,
    rows: pl.Series | None = None,
    attribution: str = "outermost",
    mine: Sequence[str] = (),
    lane_sums: pl.DataFrame | None = None,
) -> SourceListing:
    """The source files with what each line cost. Raises `UsageError` when there is no such attribution.

    `attribution` says which line of an inline chain a row belongs to: innermost, outermost or mine (the first from the
    inside that is not in a library, or that is below one of the paths `mine`). `rows` = only the cost of these code
    rows. `lane_sums` is what `lanes.answer.lane_sums` says about the trace, to show it as well.
    """
    costs = with_lane_sums(row_costs(trace).select("row", *ROW_SUMS), lane_sums)
    classes = stall_rows(trace).select("row", pl.col("class").alias("stall_class"), "stall_cycles_total")
    cycles = pl.col("latency_cycles_total") + pl.col("idle_cycles_total")
    sums = by_line(trace, rows, costs, classes, attribution=attribution, mine=mine)
    if lane_sums is None:
        sums = sums.without(LANE_SUMS)
    return SourceListing(
        attribution,
        **SourceListing.select(sums, pl.col("exposed_cycles_total")),
        unmapped_row_count=sums.unmapped.height,
        unmapped_cycles_total=int(sums.unmapped.select(cycles.sum()).item()),
    )


def sample_lines(
    trace: ThreadTrace, *, rows: pl.Series | None = None, attribution: str = "outermost", mine: Sequence[str] = ()
) -> SampleLines:
    """Return the source files with the samples of each line; parameters as in `source_listing`.

    Raises `UsageError` when there is no such attribution.
    """
    counts = trace.samples.select("row", *SAMPLE_COUNTS)
    reasons = trace.sample_reasons.select("row", "reason", "count")
    sums = by_line(trace, rows, counts, reasons, attribution=attribution, mine=mine)
    samples = pl.sum_horizontal(SAMPLE_COUNTS)
    return SampleLines(
        attribution,
        **SampleLines.select(sums, samples),
        unmapped_row_count=sums.unmapped.height,
        unmapped_sample_count=int(sums.unmapped.select(samples.sum()).item()),
    )


#: Depths that `inlined` shows below a line: the paths of deeper chains would grow with the square of their depth.
MOST_DEPTH = 64

_INLINE_COLUMNS = ["file", "line", "path", "depth", "inlined_file", "inlined_line"]


@dataclass(frozen=True)
class ByLine:
    """Sums by file, by line (with all lines of files whose text is here) and by inlined line; rows without a line."""

    files: pl.DataFrame
    lines: pl.DataFrame
    inlined: pl.DataFrame
    unmapped: pl.DataFrame

    def without(self, names: Sequence[str]) -> ByLine:
        """The same with null instead of these sums."""
        nothing = [pl.lit(None, pl.Int64).alias(name) for name in names]
        return ByLine(*(frame.with_columns(nothing) for frame in (self.files, self.lines, self.inlined, self.unmapped)))


def by_line(
    trace: ThreadTrace,
    rows: pl.Series | None,
    costs: pl.DataFrame,
    reasons: pl.DataFrame,
    *,
    attribution: str,
    mine: Sequence[str],
) -> ByLine:
    """Add up `costs` (`row` and columns of numbers), and name the largest of the `reasons` (`row`, name, amount).

    The column of the reason's name stands again in the answer, with its share of all amounts in `<name>_share`.
    """
    sums = costs.columns[1:]
    code = at_rows(trace.code, rows)
    costs = code.select("row").join(costs, on="row", how="left", maintain_order="left").fill_null(0)
    steps = _steps(code, attribution, mine)
    outer = steps.filter(pl.col("depth") == 0)
    sources = trace.sources.filter(pl.col("text").is_not_null()).with_columns(pl.col("text").str.split("\n"))
    numbers = pl.int_ranges(1, pl.col("text").list.len() + 1, dtype=pl.UInt32)
    texts = sources.with_columns(line=numbers).explode("text", "line").select("file", "line", "text")
    file_texts = texts.filter(pl.col("file").is_in(outer["file"].implode()))
    at_line = _summed(outer, costs, reasons, ["file", "line"])
    lines = file_texts.join(at_line, on=["file", "line"], how="full", coalesce=True, nulls_equal=True)
    inlined_texts = texts.rename({"file": "inlined_file", "line": "inlined_line", "text": "inlined_text"})
    return ByLine(
        files=_summed(outer, costs, reasons, ["file"]).with_columns(
            has_text=pl.col("file").is_in(file_texts["file"].implode())
        ),
        lines=lines.with_columns(pl.col("row_count", *sums).fill_null(0)).sort("file", "line", nulls_last=True),
        inlined=_summed(steps.filter(pl.col("depth") > 0), costs, reasons, _INLINE_COLUMNS).join(
            inlined_texts, on=["inlined_file", "inlined_line"], how="left", maintain_order="left"
        ),
        unmapped=costs.filter(code["inline_chain"].is_null()),
    )


def _steps(code: pl.DataFrame, attribution: str, path_prefixes: Sequence[str]) -> pl.DataFrame:
    """Every row at the line it belongs to (depth 0), and at every line from there inwards."""
    with_chain = code.filter(pl.col("inline_chain").is_not_null()).select("row", "inline_chain")
    chains = with_chain.unique("inline_chain", maintain_order=True)
    places = source_of_rows(chains, attribution, path_prefixes).select("file", "line").rows()
    paths = []
    for chain, (file, line) in zip(chains["inline_chain"], places, strict=True):
        frames = chain.split(" -> ")
        index = next((at for at, frame in enumerate(frames) if place_of(frame) == (file, line)), len(frames) - 1)
        if attribution == "outermost":
            index = len(frames) - 1
        for depth in range(min(index, MOST_DEPTH) + 1):
            path = " -> ".join(frames[index - depth : index][::-1])
            paths.append((chain, depth, path, file, line, *place_of(frames[index - depth])))
    names = ("inline_chain", "depth", "path", "file", "line", "inlined_file", "inlined_line")
    schema = [(name, pl.UInt32 if name in ("depth", "line", "inlined_line") else pl.String) for name in names]
    steps = pl.DataFrame(paths, schema=schema, orient="row")
    return with_chain.join(steps, on="inline_chain", maintain_order="left_right").drop("inline_chain")


def _summed(steps: pl.DataFrame, costs: pl.DataFrame, reasons: pl.DataFrame, keys: list[str]) -> pl.DataFrame:
    """Costs of the rows of each key, and the largest of their reasons."""
    _, name, amount = reasons.columns
    sums = (
        steps.join(costs, on="row", maintain_order="left")
        .group_by(keys, maintain_order=True)
        .agg(pl.len().cast(pl.Int64).alias("row_count"), pl.col(costs.columns[1:]).sum())
    )
    share = pl.col(amount).first() / pl.col(amount).sum()
    largest = (
        steps.join(reasons, on="row")
        .group_by([*keys, name])
        .agg(pl.col(amount).sum())
        .filter(pl.col(amount) > 0)
        .sort(amount, name, descending=[True, False])
        .group_by(keys, maintain_order=True)
        .agg(pl.col(name).first(), share.alias(f"{name}_share"))
    )
    return sums.join(largest, on=keys, how="left", nulls_equal=True, maintain_order="left")
