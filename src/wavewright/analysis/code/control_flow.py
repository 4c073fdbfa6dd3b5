"""Control flow between code rows, as far as the code says it: branch targets, calls, basic blocks, nesting of loops."""

from __future__ import annotations

from dataclasses import dataclass

import polars as pl

from wavewright.model.answer import Answer

BRANCH = r"^s_(c?branch|subvector_loop)"  #: Patterns of the texts of instructions.
CALL = r"^s_(call_|swappc_|swap_pc_)"
JUMP = r"^s_(setpc_|set_pc_|add_pc_|rfe_)"
END = r"^s_endpgm"
_BRANCH_BYTES = 4  #: Size of a branch; its distance counts from behind it.
_DEEPEST = 64  #: The parent of a loop is searched among this many of the loops that are still open.


@dataclass(frozen=True)
class Blocks(Answer, package=__package__):
    """The basic blocks of the code."""

    by_row: pl.DataFrame  #: One row per code row, with the number of its block.
    blocks: pl.DataFrame  #: One row per block; columns in `tables.toml`.


def branch_targets(code: pl.DataFrame, pattern: str = BRANCH) -> pl.DataFrame:
    """Targets of the branches of a code table: `row`, `target_row`; null = not in the text, or no code there.

    A branch, or what else fits the pattern, is written with its distance in words behind itself as its last operand,
    16 bits with or without a sign.
    """
    place = pl.col("code_object").cast(pl.Int64, strict=False), pl.col("address").cast(pl.Int64, strict=False)
    places = code.select(*place, target_row="row").drop_nulls().unique(["code_object", "address"], keep="first")
    branches = code.filter(pl.col("text").str.contains(pattern)).select("row", "text", *place)
    operand = pl.col("text").str.extract(r"\s(-?\d+|0x[0-9a-fA-F]+)\s*$")
    number = (
        pl.when(operand.str.starts_with("0x"))
        .then(operand.str.strip_prefix("0x").str.to_integer(base=16, strict=False))
        .otherwise(operand.str.to_integer(strict=False))
    )
    words = pl.when(number > 0x7FFF).then(number - 0x10000).otherwise(number)
    target = branches.select("row", "code_object", address=pl.col("address") + _BRANCH_BYTES + 4 * words)
    targets = target.join(places, on=["code_object", "address"], how="left", maintain_order="left")
    return targets.select("row", "target_row")


def call_rows(code: pl.DataFrame) -> pl.Series:
    """For each row of a code table 1 if it calls a function, else 0."""
    return flags(code, CALL)


def blocks(code: pl.DataFrame, jumps: pl.DataFrame | None = None) -> Blocks:
    """The basic blocks of a code table; `jumps` (from `taken_jumps`) adds targets that are not in the text."""
    targets = branch_targets(code)["target_row"].drop_nulls()
    if jumps is not None:
        targets = pl.concat([targets, jumps["to_row"].cast(targets.dtype)])
    ends_block = pl.col("text").str.contains(f"{BRANCH}|{CALL}|{JUMP}|{END}").fill_null(value=False)
    owners = [pl.col(name) for name in ("code_object", "function") if name in code.columns]
    changes = pl.any_horizontal(owner.ne_missing(owner.shift()) for owner in owners)
    is_start = pl.col("row").is_in(targets.implode()) | ends_block.shift(fill_value=True) | changes
    by_row = code.select("row", function="function", block=is_start.cast(pl.UInt32).cum_sum() - 1)
    table = by_row.group_by("block", maintain_order=True).agg(
        first_row=pl.col("row").first(),
        last_row=pl.col("row").last(),
        row_count=pl.len().cast(pl.UInt32),
        function=pl.col("function").first(),
    )
    return Blocks(by_row.select("row", "block"), table)


def nest(spans: list[tuple[int, int]]) -> tuple[list[int | None], list[int]]:
    """Parent (its number; None = none) and depth of spans (first, last row), which are sorted by first, -last row."""
    parents: list[int | None] = []
    depths: list[int] = []
    around: list[int] = []
    for number, (first, last) in enumerate(spans):
        while around and spans[around[-1]][1] < first:
            around.pop()
        holding = [other for other in around[-_DEEPEST:] if spans[other][1] >= last]
        holder = min(holding, key=lambda other: spans[other][1] - spans[other][0], default=None)
        parents.append(holder)
        depths.append(0 if holder is None else depths[holder] + 1)
        around.append(number)
    return parents, depths


def flags(code: pl.DataFrame, pattern: str) -> pl.Series:
    """For each row of a code table 1 if its text matches a pattern, else 0."""
    return code.select(pl.col("text").str.contains(pattern).fill_null(value=False).cast(pl.UInt8)).to_series()
