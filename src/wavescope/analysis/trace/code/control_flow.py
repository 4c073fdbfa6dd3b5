"""Control flow between code rows: jumps, basic blocks and loops."""

from __future__ import annotations

from dataclasses import dataclass
from heapq import heappop, heappush
from typing import TYPE_CHECKING, ClassVar

import polars as pl

from wavescope import _core
from wavescope.analysis.trace.parts import added, answers
from wavescope.model.answer import Answer, once_per_trace
from wavescope.model.schema import TableSpec, empty_frame, table_spec

if TYPE_CHECKING:
    from wavescope.model.trace import ThreadTrace

_BRANCH = r"^s_(c?branch|subvector_loop)"
_CALL = r"^s_(call_|swappc_|swap_pc_)"
_JUMP = r"^s_(setpc_|set_pc_|rfe_)"
_END = r"^s_endpgm"
_BRANCH_BYTES = 4
_DEEPEST = 64  #: Loops around a loop among which its parent is searched.

LOOPS = table_spec(
    "loops",
    "one loop, outer ones before inner ones",
    """
    loop         UInt32  -  | number of the loop in this trace
    first_row    Int32   -  | code.row that its backward jumps go to
    last_row     Int32   -  | code.row of the last of these jumps
    parent       UInt32  -  | the smallest loop that holds all its rows; null = none
    depth        UInt32  -  | loops around it
    taken_count  Int64   -  | backward jumps taken; null = no instructions to count
    """,
)


@dataclass(frozen=True)
class Blocks(Answer):
    """The basic blocks of the code."""

    definition: ClassVar[str] = (
        "A basic block starts at the first row of a function or code object, at the target of a jump and after every "
        "branch, call, jump or end; it contains all rows up to the next block."
    )
    tables: ClassVar[dict[str, TableSpec]] = {
        "by_row": table_spec(
            "by_row",
            "one code row",
            """
            row    Int32   -  | code.row
            block  UInt32  -  | number of its block
            """,
        ),
        "blocks": table_spec(
            "blocks",
            "one basic block, in the order of rows",
            """
            block      UInt32  -  | number of the block
            first_row  Int32   -  | first code.row
            last_row   Int32   -  | last code.row
            row_count  UInt32  -  | rows in it
            function   String  -  | symbol that contains it
            """,
        ),
    }

    by_row: pl.DataFrame
    blocks: pl.DataFrame


def branch_targets(code: pl.DataFrame) -> pl.DataFrame:
    """Targets of the branches of a code table: `row`, `target_row`; null = not in the text, or no code there.

    A branch is written with its distance in words behind itself, as 16 bits with or without a sign.

    Examples
    --------
    >>> import polars as pl
    >>> rows = {"row": [0, 1], "code_object": [1, 1], "address": [256, 260], "text": ["s_nop 0", "s_branch 65534"]}
    >>> branch_targets(pl.DataFrame(rows, schema_overrides={"row": pl.Int32})).rows()
    [(1, 0)]
    """
    place = pl.col("code_object").cast(pl.Int64, strict=False), pl.col("address").cast(pl.Int64, strict=False)
    places = code.select(*place, target_row="row").drop_nulls().unique(["code_object", "address"], keep="first")
    branches = code.filter(pl.col("text").str.contains(_BRANCH)).select("row", "text", *place)
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
    """Whether each row of a code table calls a function (1) or not (0).

    Examples
    --------
    >>> import polars as pl
    >>> call_rows(pl.DataFrame({"text": ["s_swappc_b64 s[30:31], s[12:13]", "s_nop 0", None]})).to_list()
    [1, 0, 0]
    """
    return _flags(code, _CALL)


@once_per_trace
def taken_jumps(trace: ThreadTrace) -> pl.DataFrame:
    """Jumps that waves took: `from_row`, `to_row`, `taken_count`, `looped_count`, by rows.

    A jump is seen where the row after a branch, call or jump is not the next one in the code. It has looped when it
    went back to a row that the wave had executed, without having executed an earlier row since.
    """
    return added(answers(trace, jumps_in_part), ["from_row", "to_row"]).sort("from_row", "to_row")


def jumps_in_part(part: ThreadTrace, whole: ThreadTrace) -> pl.DataFrame:
    """Jumps that the waves of a part took (`parts`)."""
    may_jump = _flags(whole.code, f"{_BRANCH}|{_CALL}|{_JUMP}")
    return pl.DataFrame(_core.taken_jumps(part.instructions, may_jump, call_rows(whole.code)))


def blocks(code: pl.DataFrame, jumps: pl.DataFrame | None = None) -> Blocks:
    """The basic blocks of a code table; `jumps` (from `taken_jumps`) adds targets that are not in the text.

    Examples
    --------
    >>> import polars as pl
    >>> texts = ["s_nop 0", "s_cbranch_scc1 65534", "s_endpgm"]
    >>> rows = {"row": [0, 1, 2], "code_object": [1] * 3, "address": [0, 4, 8], "text": texts, "function": ["f"] * 3}
    >>> blocks(pl.DataFrame(rows, schema_overrides={"row": pl.Int32})).by_row["block"].to_list()
    [0, 0, 1]
    """
    targets = branch_targets(code)["target_row"].drop_nulls()
    if jumps is not None:
        targets = pl.concat([targets, jumps["to_row"].cast(targets.dtype)])
    ends_block = pl.col("text").str.contains(f"{_BRANCH}|{_CALL}|{_JUMP}|{_END}").fill_null(value=False)
    changes = pl.any_horizontal(
        pl.col(name).ne_missing(pl.col(name).shift()) for name in ("code_object", "function") if name in code.columns
    )
    is_start = pl.col("row").is_in(targets.implode()) | ends_block.shift(fill_value=True) | changes
    by_row = code.select("row", function="function", block=is_start.cast(pl.UInt32).cum_sum() - 1)
    table = by_row.group_by("block", maintain_order=True).agg(
        first_row=pl.col("row").first(),
        last_row=pl.col("row").last(),
        row_count=pl.len().cast(pl.UInt32),
        function=pl.col("function").first(),
    )
    return Blocks(by_row.select("row", "block"), table)


@once_per_trace
def loops(trace: ThreadTrace) -> pl.DataFrame:
    """The loops of a trace (`LOOPS`): a loop starts at a row that jumps lead back to and ends at the last of them.

    Only jumps that waves took count (`taken_jumps`), and calls and returns do not; without instructions (PC samples)
    the backward branches of the code count instead.
    """
    spans = (
        _backward_jumps(trace)
        .group_by(first_row="to_row")
        .agg(last_row=pl.col("from_row").max(), taken_count=pl.col("taken_count").sum())
        .sort("first_row", "last_row", descending=[False, True])
        .rows()
    )
    if not spans:
        return empty_frame(LOOPS)
    parents, depths = _nest([(first, last) for first, last, _ in spans])
    columns = {
        "loop": range(len(spans)),
        "first_row": [first for first, _, _ in spans],
        "last_row": [last for _, last, _ in spans],
        "parent": parents,
        "depth": depths,
        "taken_count": [taken if trace.instruction_count else None for _, _, taken in spans],
    }
    return pl.DataFrame(columns, schema=LOOPS.dtypes)


def loop_of_rows(trace: ThreadTrace) -> pl.Series:
    """The innermost loop around every row of the code table; null = none."""
    loops_by_row: list[int | None] = [None] * trace.code.height
    around: list[tuple[int, int, int]] = []  # (length, last row, loop) of loops that have begun, the shortest first
    rows = loops(trace).select("loop", "first_row", "last_row").rows()
    loops_from: dict[int, list[tuple[int, int, int]]] = {}
    for loop, first, last in rows:
        loops_from.setdefault(first, []).append((last - first, last, loop))
    for row in range(rows[0][1] if rows else len(loops_by_row), len(loops_by_row)):
        for loop_range in loops_from.get(row, ()):
            heappush(around, loop_range)
        while around and around[0][1] < row:
            heappop(around)
        loops_by_row[row] = around[0][2] if around else None
    return pl.Series("loop", loops_by_row, dtype=pl.UInt32)


def _backward_jumps(trace: ThreadTrace) -> pl.DataFrame:
    if trace.instruction_count:
        jumps = taken_jumps(trace).filter(pl.col("looped_count") > 0)
    else:
        jumps = branch_targets(trace.code).drop_nulls().select(from_row="row", to_row="target_row", taken_count=0)
    places = trace.code.select("row", "code_object", "function", is_call=call_rows(trace.code))
    to_places = places.select("row", to_object="code_object", to_function="function")
    return (
        jumps.filter(pl.col("to_row") <= pl.col("from_row"))
        .join(places, left_on="from_row", right_on="row")
        .join(to_places, left_on="to_row", right_on="row")
        .filter(pl.col("is_call") == 0)
        .filter(
            pl.col("code_object").eq_missing(pl.col("to_object")) & pl.col("function").eq_missing(pl.col("to_function"))
        )
    )


def _nest(spans: list[tuple[int, int]]) -> tuple[list[int | None], list[int]]:
    """Parent and depth of spans that are sorted by their first row, longer ones first."""
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


def _flags(code: pl.DataFrame, pattern: str) -> pl.Series:
    return code.select(pl.col("text").str.contains(pattern).fill_null(value=False).cast(pl.UInt8)).to_series()
