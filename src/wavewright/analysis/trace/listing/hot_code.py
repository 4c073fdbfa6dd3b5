"""Source lines, or instructions where their text is not known, around the hottest of them or around a place."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import polars as pl

from wavewright.analysis.trace.listing import isa_listing, sample_listing
from wavewright.base.bounds import ITEM, ROWS, bounded
from wavewright.errors import UsageError
from wavewright.model.answer import Answer
from wavewright.model.schema import SAMPLE_COUNTS
from wavewright.model.trace import ThreadTrace

_HOTTEST = 10  #: Lines or rows that get a window where no place is asked for.
_AROUND = 3  #: Lines of a window before and after the hottest one.
_LONGEST_LINE = 400  #: Longer lines are cut to so many characters.


@dataclass(frozen=True)
class HotCode(Answer, package=__package__):
    """Lines of code in their order, with what they cost."""

    lines: pl.DataFrame
    unit: str  #: cycles or samples.
    is_source: bool  #: False = instructions.
    total: int  #: All cycles of the traced waves, or all samples.


@bounded(line=ITEM, count=ROWS)
def hot_code(
    trace: ThreadTrace,
    *,
    rows: pl.Series | None = None,
    at: Sequence[int] = (),
    file: str | None = None,
    line: int | None = None,
    count: int = 20,
) -> HotCode:
    """The code around a place, `count` lines of it; without a place, around the hottest lines.

    Raises `UsageError` when the file is none of the trace.

    The place is that of the code rows `at`, or a `line` of the file whose path ends with `file`. `rows` = only the
    costs of these code rows.
    """
    costs = _row_costs(trace, rows)
    total = int(costs["cycles"].sum())
    unit = "cycles" if trace.instructions.height else "samples"
    costs = costs.with_columns(share=pl.col("cost") / total if total else pl.lit(0.0))
    place = _place(costs, at, file, line)
    texts = _texts(trace, costs)
    if place is not None and place[0] in texts and place[1]:
        first = max(1, place[1] - count // 2)
        lines_by_file: dict[str, Sequence[int]] = {place[0]: range(first, first + count)}
        return HotCode(_source_lines(costs, texts, lines_by_file), unit, is_source=True, total=total)
    if place is None and not at and texts:
        hot = costs.filter(pl.col("file").is_in(list(texts)), pl.col("cost") > 0)
        hot = hot.group_by("file", "line").agg(pl.col("cost").sum())
        hot = hot.sort("cost", "file", "line", descending=[True, False, False]).head(_HOTTEST)
        if hot.height:
            windows: dict[str, Sequence[int]] = {}
            for name, number in hot.select("file", "line").iter_rows():
                around = range(max(1, number - _AROUND), number + _AROUND + 1) if number else ()
                windows[name] = sorted({*windows.get(name, ()), *around})
            return HotCode(_source_lines(costs, texts, windows), unit, is_source=True, total=total)
    places = list(at) or _rows_of(costs, place)
    return HotCode(_instructions(costs, places, count), unit, is_source=False, total=total)


def _row_costs(trace: ThreadTrace, rows: pl.Series | None) -> pl.DataFrame:
    """Every code row with cost, hit_count, reason, and `cycles`: all that it took, hidden ones too; or its samples."""
    place = ("row", "address", "text", "function", "file", "line")
    if trace.instructions.height:
        listed = isa_listing(trace, rows=rows).rows
        cycles = pl.col("latency_cycles_total") + pl.col("idle_cycles_total")
        return listed.select(*place, "hit_count", cost="exposed_cycles_total", cycles=cycles, reason="stall_class")
    samples = sample_listing(trace, rows=rows).rows
    count = pl.sum_horizontal(SAMPLE_COUNTS)
    return samples.select(*place, "reason", hit_count=pl.lit(None, pl.Int64), cost=count, cycles=count)


def _place(
    costs: pl.DataFrame, at: Sequence[int], file: str | None, line: int | None
) -> tuple[str | None, int | None] | None:
    """The file and line to show; None = none is asked for, or the rows have none."""
    if at:
        chosen = costs.filter(pl.col("row").is_in(list(at)))
        return chosen.select("file", "line").row(0) if chosen.height and chosen["file"][0] is not None else None
    if file is None:
        return None
    end = pl.col("file").str.ends_with("/" + file.lstrip("/")) | (pl.col("file") == file)
    of_file = costs.filter(end)
    if not of_file.height:
        files = costs["file"].drop_nulls().unique().sort().to_list()
        advice = f"files: {', '.join(files[:8])}{', ...' if len(files) > 8 else ''}" if files else "no debug lines here"
        raise UsageError("no instruction comes from this file", where=file[:80], advice=advice)
    if line is None:
        line = of_file.sort("cost", "line", descending=[True, False])["line"][0]
    return of_file["file"][0], line


def _texts(trace: ThreadTrace, costs: pl.DataFrame) -> dict[str, list[str]]:
    """The lines of the source files that instructions come from and whose text is here."""
    files = costs["file"].drop_nulls().unique()
    sources = trace.sources.filter(pl.col("file").is_in(files.implode()), pl.col("text").is_not_null())
    return {name: text.replace("\r\n", "\n").split("\n") for name, text in sources.select("file", "text").iter_rows()}


def _source_lines(
    costs: pl.DataFrame, texts: Mapping[str, Sequence[str]], windows: Mapping[str, Iterable[int]]
) -> pl.DataFrame:
    """The lines of the windows, files with more cost first."""
    by_line = (
        costs.filter(pl.col("file").is_in(list(windows)), pl.col("hit_count").fill_null(1) > 0)
        .sort("cost", "row", descending=[True, False])
        .group_by("file", "line", maintain_order=True)
        .agg(pl.col("address", "reason").first(), pl.col("cost", "share").sum(), pl.col("hit_count").max())
    )
    lines = pl.DataFrame(
        [
            (name, number, texts[name][number - 1][:_LONGEST_LINE])
            for name, numbers in windows.items()
            for number in numbers
            if number <= len(texts[name])
        ],
        schema={"file": pl.String, "line": pl.UInt32, "text": pl.String},
        orient="row",
    )
    joined = lines.join(by_line, on=["file", "line"], how="left", maintain_order="left")
    filled = joined.with_columns(pl.col("cost").fill_null(0), pl.col("share").fill_null(0.0))
    return filled.select(HotCode.tables["lines"].names)


def _rows_of(costs: pl.DataFrame, place: tuple[str | None, int | None] | None) -> list[int]:
    """The rows to show: those of a place, the costliest first; without one, the hottest."""
    ranked = costs.sort("cost", "row", descending=[True, False])
    if place is None:
        return ranked["row"].head(_HOTTEST).to_list()
    return (
        ranked.filter(pl.col("file").eq_missing(place[0]), pl.col("line").eq_missing(place[1]))["row"].head(1).to_list()
    )


def _instructions(costs: pl.DataFrame, rows: Sequence[int], count: int) -> pl.DataFrame:
    """The instructions around these rows."""
    around = count // 2 if len(rows) == 1 else _AROUND
    places = costs.with_row_index("place").filter(pl.col("row").is_in(list(rows)))["place"].to_list()
    numbers = sorted({number for place in places for number in range(max(0, place - around), place + around + 1)})
    lines = costs[[number for number in numbers if number < costs.height]]
    lines = lines.with_columns(file=pl.col("function").fill_null(""), line=pl.lit(None, pl.UInt32))
    return lines.select(HotCode.tables["lines"].names)
