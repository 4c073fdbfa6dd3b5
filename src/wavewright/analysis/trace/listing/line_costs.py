"""Exclusive and inclusive cost of each source line; inclusive: with everything that was inlined into it."""

from __future__ import annotations

from dataclasses import dataclass

import polars as pl

from wavewright.analysis.trace.costs.row_costs import ROW_SUMS, row_costs
from wavewright.analysis.trace.pipes import MATRIX, matrix_rows
from wavewright.analysis.trace.waits.stall_rows import stall_rows
from wavewright.model.answer import Answer, once_per_trace
from wavewright.model.schema import SAMPLE_COUNTS
from wavewright.model.trace import ThreadTrace

_SUMS = ("row_count", *ROW_SUMS, *SAMPLE_COUNTS)


@dataclass(frozen=True)
class LineCosts(Answer, package=__package__):
    """Costs of source lines, own and inclusive."""

    files: pl.DataFrame
    lines: pl.DataFrame
    calls: pl.DataFrame
    categories: pl.DataFrame
    reasons: pl.DataFrame


@once_per_trace
def line_costs(trace: ThreadTrace) -> LineCosts:
    """Return the exclusive and inclusive cost of every source line, in cycles and PC samples.

    Its time follows the number of frames in all distinct inline chains, however deep they are.
    """
    costs = _costs(trace)
    chains, frames = _frames(trace.code)
    of_chains = chains.join(costs, on="row", maintain_order="left").group_by("chain").agg(pl.col(_SUMS).sum())
    lines = _both(frames, of_chains, "place")
    at_files, names = frames.of_files()
    classes = _largest_class(trace, chains.join(frames.innermost("place"), on="chain", maintain_order="left"))
    files_with_text = trace.sources.filter(pl.col("text").is_not_null())["file"]
    files = (
        _both(at_files, of_chains, "number")
        .join(names, on="number", maintain_order="left")
        .join(frames.places.group_by("file").agg(line_count=pl.len().cast(pl.Int64)), on="file", maintain_order="left")
        .with_columns(has_text=pl.col("file").is_in(files_with_text.implode()))
        .sort(
            pl.col("latency_cycles_total") + pl.col("idle_cycles_total"),
            pl.sum_horizontal(SAMPLE_COUNTS),
            descending=True,
        )
    )
    tables = LineCosts.tables
    reasons = trace.sample_reasons.join(chains, on="row").group_by("chain", "reason").agg(pl.col("count").sum())
    return LineCosts(
        pl.concat([part.select(tables["files"].names) for part in (files, _without_line(trace, costs))]),
        frames.named(lines.join(classes, on="place", how="left"))
        .sort("file", "line", nulls_last=True)
        .select(tables["lines"].names),
        _calls(frames, of_chains).select(tables["calls"].names),
        _categories(trace, chains, frames).select(tables["categories"].names),
        _spread(frames, reasons, "reason", "count").select(tables["reasons"].names),
    )


def _costs(trace: ThreadTrace) -> pl.DataFrame:
    """Cycles and samples of every code row."""
    return (
        trace.code.select("row", row_count=pl.lit(1, pl.Int64))
        .join(row_costs(trace).select("row", *ROW_SUMS), on="row", how="left", maintain_order="left")
        .join(trace.samples.select("row", *SAMPLE_COUNTS), on="row", how="left", maintain_order="left")
        .with_columns(pl.col(*ROW_SUMS, *SAMPLE_COUNTS).fill_null(0))
    )


@dataclass(frozen=True)
class _Frames:
    """The frames of every inline chain, as numbers of places: chains can be long, and strings are slow."""

    steps: pl.DataFrame  #: `chain`, `depth` (0 = innermost), `place`.
    places: pl.DataFrame  #: `place`, `file`, `line`.

    def innermost(self, key: str) -> pl.DataFrame:
        return self.steps.filter(pl.col("depth") == 0).select("chain", key)

    def anywhere(self, key: str) -> pl.DataFrame:
        """Every place of a chain once, however often the chain names it."""
        return self.steps.select("chain", key).unique(maintain_order=True)

    def named(self, frame: pl.DataFrame, *, prefix: str = "") -> pl.DataFrame:
        """`frame` with file and line instead of a place."""
        names = self.places.rename({name: prefix + name for name in self.places.columns})
        return frame.join(names, on=f"{prefix}place", how="left", maintain_order="left").drop(f"{prefix}place")

    def of_files(self) -> tuple[_Frames, pl.DataFrame]:
        """The same with the column `number` of the file for every step, and the files by number."""
        files = self.places.select("file").unique(maintain_order=True).with_row_index("number")
        numbers = self.places.join(files, on="file", maintain_order="left").select("place", "number")
        return _Frames(self.steps.join(numbers, on="place", maintain_order="left"), self.places), files


def _frames(code: pl.DataFrame) -> tuple[pl.DataFrame, _Frames]:
    """The chain of every row, and the frames of the chains."""
    chains = code.filter(pl.col("inline_chain").is_not_null()).select("row", "inline_chain")
    unique = chains.select("inline_chain").unique(maintain_order=True).with_row_index("chain")
    steps = (
        unique.select("chain", frame=pl.col("inline_chain").str.split(" -> "))
        .with_columns(depth=pl.int_ranges(0, pl.col("frame").list.len(), dtype=pl.UInt32))
        .explode("frame", "depth")
    )
    frame = pl.col("frame")
    number = frame.str.extract(r"^.+:([0-9]+)$").cast(pl.UInt32, strict=False)
    parsed = (
        steps.select("frame")
        .unique(maintain_order=True)
        .with_columns(
            file=pl.coalesce(frame.str.extract(r"^(.+):[0-9]+$"), frame.str.strip_suffix(":?")),
            line=pl.when(number > 0).then(number),
        )
    )
    places = parsed.select("file", "line").unique(maintain_order=True).with_row_index("place")
    numbered = parsed.join(places, on=["file", "line"], nulls_equal=True).select("frame", "place")
    steps = steps.join(numbered, on="frame", maintain_order="left").select("chain", "depth", "place")
    return chains.join(unique, on="inline_chain", maintain_order="left").select("row", "chain"), _Frames(steps, places)


def _both(frames: _Frames, of_chains: pl.DataFrame, key: str) -> pl.DataFrame:
    """Own sums (`_SUMS`) and inclusive ones (`inclusive_*`) by `key`, a place or the number of a file."""

    def summed(places: pl.DataFrame, prefix: str) -> pl.DataFrame:
        joined = places.join(of_chains, on="chain", maintain_order="left")
        return joined.group_by(key, maintain_order=True).agg(pl.col(_SUMS).sum().name.prefix(prefix))

    anywhere = summed(frames.anywhere(key), "inclusive_")
    both = anywhere.join(summed(frames.innermost(key), ""), on=key, how="left", maintain_order="left")
    return both.with_columns(pl.col(_SUMS).fill_null(0))


def _without_line(trace: ThreadTrace, costs: pl.DataFrame) -> pl.DataFrame:
    """The rows without a debug line as one file without a name; no row if there are none that cost anything."""
    rows = trace.code.filter(pl.col("inline_chain").is_null()).select("row")
    sums = costs.join(rows, on="row", how="semi").select(pl.col(_SUMS).sum())
    names = {"file": pl.lit(None, pl.String), "has_text": pl.lit(value=False), "line_count": pl.lit(0, pl.Int64)}
    nameless = sums.with_columns(**{f"inclusive_{name}": pl.col(name) for name in _SUMS}, **names)
    return nameless.filter(pl.sum_horizontal(*ROW_SUMS, *SAMPLE_COUNTS) > 0)


def _largest_class(trace: ThreadTrace, rows: pl.DataFrame) -> pl.DataFrame:
    """The class that the rows of each place stalled on most; `rows` are numbers with their innermost places.

    Where there are only PC samples, their most frequent reason.
    """
    if trace.instructions.height:
        stalls = stall_rows(trace).select("row", pl.col("class").alias("stall_class"), "stall_cycles_total")
    else:
        stalls = trace.sample_reasons.select("row", stall_class="reason", stall_cycles_total="count")
    return (
        rows.join(stalls, on="row")
        .group_by("place", "stall_class")
        .agg(pl.col("stall_cycles_total").sum())
        .filter(pl.col("stall_cycles_total") > 0)
        .sort("stall_cycles_total", "stall_class", descending=[True, False])
        .unique("place", keep="first", maintain_order=True)
        .select("place", "stall_class")
    )


def _calls(frames: _Frames, of_chains: pl.DataFrame) -> pl.DataFrame:
    keys = ["place", "inlined_place"]
    # neighbours in the list of frames are neighbours in a chain, but for the ends of chains
    inner = pl.col("place").shift(1)
    pairs = frames.steps.select("chain", "depth", "place", inlined_place=inner).filter(pl.col("depth") > 0)
    sums = (
        pairs.select("chain", *keys)
        .unique(maintain_order=True)
        .join(of_chains, on="chain", maintain_order="left")
        .group_by(keys, maintain_order=True)
        .agg(pl.col("row_count", "latency_cycles_total", "idle_cycles_total").sum())
    )
    return frames.named(frames.named(sums), prefix="inlined_")


def _categories(trace: ThreadTrace, chains: pl.DataFrame, frames: _Frames) -> pl.DataFrame:
    """Latency by line and category of instructions."""
    matrix = trace.code.filter(matrix_rows(trace.code))["row"]
    category = pl.when(pl.col("row").is_in(matrix.implode())).then(pl.lit(MATRIX, pl.UInt8)).otherwise("category")
    of_rows = (
        trace.instructions.lazy()
        .filter(pl.col("row") >= 0)
        .group_by("row", "category")
        .agg(pl.col("duration_cycles").cast(pl.Int64).sum())
        .collect()
    )
    by_chain = of_rows.join(chains, on="row").group_by("chain", category=category)
    of_chains = by_chain.agg(latency_cycles_total=pl.col("duration_cycles").sum())
    return _spread(frames, of_chains, "category", "latency_cycles_total")


def _spread(frames: _Frames, of_chains: pl.DataFrame, kind: str, amount: str) -> pl.DataFrame:
    """Amounts of each kind by line, own and inclusive, from those of chains."""
    keys = ["place", kind]

    def summed(places: pl.DataFrame, name: str) -> pl.DataFrame:
        joined = places.join(of_chains, on="chain", maintain_order="left")
        return joined.group_by(keys, maintain_order=True).agg(pl.col(amount).sum().alias(name))

    anywhere = summed(frames.anywhere("place"), f"inclusive_{amount}")
    innermost = summed(frames.innermost("place"), amount)
    both = anywhere.join(innermost, on=keys, how="left").with_columns(pl.col(amount).fill_null(0))
    return frames.named(both).sort("file", "line", kind, nulls_last=True)
