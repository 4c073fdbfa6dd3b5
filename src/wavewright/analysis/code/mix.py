"""Instruction mix of a kernel and of its loops."""

from __future__ import annotations

import polars as pl

from wavewright.base.toml import packaged
from wavewright.model.schema import packaged_spec

#: Kinds in the order in which they are shown -> how the classes in them begin.
KINDS: dict[str, tuple[str, ...]] = {kind: tuple(starts) for kind, starts in packaged("mix.toml", __package__).items()}
MIX = packaged_spec(__package__, "mix")


def kind_of(instruction_class: str) -> str:
    """Kind of an instruction class."""
    return next(kind for kind, beginnings in KINDS.items() if instruction_class.startswith(beginnings))


def instruction_mix(rows: pl.DataFrame, loops: pl.DataFrame) -> pl.DataFrame:
    """Instructions by class (`MIX`) of rows with `row`, `class`, `is_reached`, and of the rows of each loop.

    Padding and words that no wave can reach do not count.
    """
    reached = rows.filter("is_reached").select("row", "class")
    kinds = {name: kind_of(name) for name in reached["class"].unique()}
    parts = [_counted(reached, None, kinds)]
    for loop, first, last in loops.select("loop", "first_row", "last_row").iter_rows():
        start, end = (int(reached["row"].search_sorted(at, side="left")) for at in (first, last + 1))
        parts.append(_counted(reached.slice(start, end - start), loop, kinds))
    return pl.concat(parts)


def kind_counts(mix: pl.DataFrame, loop: int | None) -> dict[str, int]:
    """Kind -> instructions, in the order of `KINDS`, of the kernel or of a loop."""
    chosen = mix.filter(pl.col("loop").eq_missing(pl.lit(loop, pl.UInt32)))
    sums = dict(chosen.group_by("kind").agg(pl.col("row_count").sum()).iter_rows())
    return {kind: sums[kind] for kind in KINDS if kind in sums}


def _counted(rows: pl.DataFrame, loop: int | None, kinds: dict[str, str]) -> pl.DataFrame:
    return (
        rows.group_by("class")
        .agg(row_count=pl.len().cast(pl.UInt32))
        .with_columns(
            loop=pl.lit(loop, pl.UInt32),
            kind=pl.col("class").replace_strict(kinds, return_dtype=pl.String),
            share=pl.col("row_count") / max(1, rows.height),
        )
        .sort(pl.col("kind").cast(pl.Enum(list(KINDS))), "class")
        .select(MIX.names)
    )
