"""Costs of code rows, added up by source line and by what was inlined into the lines."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import polars as pl

from wavewright.analysis.trace.code.attribution import place_of, source_of_rows
from wavewright.model.trace import ThreadTrace

#: Depths that `inlined` shows below a line: the paths of deeper chains would grow with the square of their depth.
MOST_DEPTH = 64

_INLINED = ["file", "line", "path", "depth", "inlined_file", "inlined_line"]


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
    code = trace.code if rows is None else trace.code.filter(pl.col("row").is_in(rows.implode()))
    costs = code.select("row").join(costs, on="row", how="left", maintain_order="left").fill_null(0)
    steps = _steps(code, attribution, mine)
    outer = steps.filter(pl.col("depth") == 0)
    texts = _texts(trace.sources)
    file_texts = texts.filter(pl.col("file").is_in(outer["file"].implode()))
    at_line = _summed(outer, costs, reasons, ["file", "line"])
    lines = file_texts.join(at_line, on=["file", "line"], how="full", coalesce=True, nulls_equal=True)
    inlined_texts = texts.rename({"file": "inlined_file", "line": "inlined_line", "text": "inlined_text"})
    return ByLine(
        files=_summed(outer, costs, reasons, ["file"]).with_columns(
            has_text=pl.col("file").is_in(file_texts["file"].implode())
        ),
        lines=lines.with_columns(pl.col("row_count", *sums).fill_null(0)).sort("file", "line", nulls_last=True),
        inlined=_summed(steps.filter(pl.col("depth") > 0), costs, reasons, _INLINED).join(
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


def _texts(sources: pl.DataFrame) -> pl.DataFrame:
    """Every line of every source file whose text is here."""
    lines = sources.filter(pl.col("text").is_not_null()).with_columns(pl.col("text").str.split("\n"))
    numbered = lines.with_columns(line=pl.int_ranges(1, pl.col("text").list.len() + 1, dtype=pl.UInt32))
    return numbered.explode("text", "line").select("file", "line", "text")
