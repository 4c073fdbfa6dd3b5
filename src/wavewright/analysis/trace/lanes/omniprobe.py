"""Measurements of Omniprobe, joined to the code of a trace by source line, and beside what was evaluated from it.

Omniprobe instruments loads and stores before instructions are selected, and names places of the source, not of the
code. So an access meets all instructions of its line that touch the same kind of memory in the same direction: several
accesses may have become one instruction, or one of them several.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import PurePosixPath
from typing import Final

import polars as pl

from wavewright.analysis.trace.code.accesses import LOAD, LOAD_TO_LDS, STORE, accesses
from wavewright.model.schema import packaged_spec

#: How the spaces and directions of code rows are called in Omniprobe's tables; atomics and scratch are not in them.
_SPACES: Final = {"memory": "memory", "flat": "memory", "scalar": "memory", "lds": "lds"}
_KINDS: Final = {LOAD: "read", LOAD_TO_LDS: "read", STORE: "write"}
_KEY: Final = ("file", "line", "space", "kind")  #: Columns that are equal for an access and the instructions it became.
_TOLERANCE: Final = 1e-9  # of averages: the counts are integers, the quotients are not

LINES: Final = packaged_spec(__package__, "omniprobe_lines")

COMPARISON: Final = packaged_spec(__package__, "comparison")


def omniprobe_by_line(omniprobe: pl.DataFrame, code: pl.DataFrame) -> pl.DataFrame:
    """The accesses that Omniprobe counted (`ACCESSES`), with the rows of `code` that they became; columns `LINES`.

    An access that meets no row stays, with `row_count` 0.
    """
    rows = _rows_by_line(code)
    meeting = (
        rows.group_by(_KEY)
        .agg(pl.len().cast(pl.UInt32).alias("row_count"), pl.col("row").min().alias("first_row"))
        .sort("first_row")
    )
    files = rows["file"].unique().to_list()
    names = {name: _same_file(name, files) for name in omniprobe["file"].drop_nulls().unique().to_list()}
    translated = pl.col("file").replace_strict(names, default=None, return_dtype=pl.String)
    named = omniprobe.with_columns(translated, omniprobe_file=pl.col("file"))
    joined = named.join(meeting, on=_KEY, how="left", maintain_order="left")
    return joined.with_columns(pl.col("row_count").fill_null(0)).select(LINES.casts)


def omniprobe_comparison(omniprobe: pl.DataFrame, code: pl.DataFrame, evaluated: pl.DataFrame) -> pl.DataFrame:
    """Averages per execution of what was evaluated and of what Omniprobe measured; columns `COMPARISON`.

    `evaluated` has one row per code row: `row`, `execution_count`, `extra_cycles_total`, `segment_count_total`; null =
    unknown.

    Totals differ where a trace has only some of the waves, so averages are compared. Bank conflicts follow the same
    definition on both sides, segments do not: Omniprobe counts the cache lines of a whole wave.
    """
    lines = omniprobe_by_line(omniprobe, code).filter(pl.col("row_count") > 0)
    measured = lines.group_by(_KEY).agg(
        pl.col("row_count").first(),
        pl.col("execution_count").sum().alias("omniprobe_execution_count"),
        _average("bank_conflict_count").alias("omniprobe_conflicts_per_execution"),
        _average("cache_lines_used_count").alias("omniprobe_lines_per_execution"),
    )
    from_trace = (
        _rows_by_line(code)
        .join(evaluated.filter(pl.col("execution_count") > 0), on="row", how="inner")
        .group_by(_KEY)
        .agg(
            pl.col("row").min(),
            pl.col("execution_count").sum(),
            _average("extra_cycles_total").alias("extra_cycles_per_execution"),
            _average("segment_count_total").alias("segments_per_execution"),
        )
    )
    is_lds = pl.col("space") == "lds"
    both = from_trace.join(measured, on=_KEY, how="inner").sort("row")
    both = both.with_columns(
        extra_cycles_per_execution=pl.when(is_lds).then("extra_cycles_per_execution"),
        segments_per_execution=pl.when(~is_lds).then("segments_per_execution"),
    )
    difference = (
        pl.when(is_lds)
        .then(pl.col("extra_cycles_per_execution") - pl.col("omniprobe_conflicts_per_execution"))
        .otherwise(pl.col("segments_per_execution") - pl.col("omniprobe_lines_per_execution"))
    )
    verdict = (
        pl.when(difference.is_null())
        .then(pl.lit("not comparable"))
        .when(difference.abs() <= _TOLERANCE)
        .then(pl.lit("equal"))
        .otherwise(pl.lit("different"))
    )
    return both.with_columns(verdict=verdict).select(COMPARISON.casts)


def _average(total: str) -> pl.Expr:
    """A total per execution; null where a part of it is unknown, or nothing was executed."""
    is_complete = pl.col(total).is_not_null().all() & (pl.col("execution_count").sum() > 0)
    return pl.when(is_complete).then(pl.col(total).sum() / pl.col("execution_count").sum())


def _rows_by_line(code: pl.DataFrame) -> pl.DataFrame:
    """Code rows with a source line that load or store: `row` and the columns of `_KEY`."""
    touching = accesses(code).select(
        "row",
        pl.col("space").replace_strict(_SPACES, default=None, return_dtype=pl.String),
        pl.col("direction").replace_strict(_KINDS, default=None, return_dtype=pl.String).alias("kind"),
    )
    return code.select("row", "file", "line").join(touching, on="row", how="inner", maintain_order="left").drop_nulls()


def _same_file(name: str, files: Iterable[str]) -> str | None:
    """The file that agrees with `name` in the most folders, from the end; None where two do, or none has its name.

    The same source has different folders where the two programs were built in different places.
    """
    parts = PurePosixPath(name).parts[::-1]
    lengths: dict[str, int] = {}
    for file in files:
        others = PurePosixPath(file).parts[::-1]
        pairs = zip(parts, others, strict=False)
        lengths[file] = next((n for n, (a, b) in enumerate(pairs) if a != b), min(len(parts), len(others)))
    most = max(lengths.values(), default=0)
    nearest = [file for file, length in lengths.items() if length == most]
    return nearest[0] if most and len(nearest) == 1 else None
