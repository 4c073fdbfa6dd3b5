"""Code as edits see it: rows with those that may follow each, operations in flight at blocks, and live registers.

All three follow from the flow of the code (`analysis.code.flow`). Behind calls and computed jumps it cannot be
followed: what is in flight or live there is None, not known.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import polars as pl

from wavewright import _core
from wavewright.analysis.code.edits.code_rows import CodeRow, bits, code_rows
from wavewright.analysis.code.edits.hazards import MOST_STATES
from wavewright.analysis.code.edits.in_flight import State, copied, merged, outside, passed
from wavewright.analysis.code.flow import ANYWHERE, BACK, BRANCH, CALL, END, JUMP, NEXT, flow_of
from wavewright.analysis.code.lane_mask import with_full_writes
from wavewright.codeobj.registers import HIGH_HALF, LOW_HALF, READS, WRITES, numbers_of

#: Column of operands in a code table -> how its registers are used.
_COLUMNS: Final = {"writes": WRITES, "implicit_writes": WRITES, "reads": READS, "implicit_reads": READS}
_OPERANDS: Final = {"row": pl.UInt32, "register": pl.UInt16, "count": pl.UInt8, "role": pl.UInt8}
_LEAVING_FLOWS: Final = (CALL, ANYWHERE, BACK)  #: Of rows behind which nothing is known.
_ENDING_FLOWS: Final = (END, JUMP, BACK, ANYWHERE)  #: Of rows that the next row does not follow.
_MOST_STEPS: Final = 400_000  #: Rows that are walked to find what is in flight; beyond it nothing is known.


@dataclass(frozen=True)
class EditedBlock:
    """Rows that are always executed one after the other."""

    first: int
    last: int
    is_loop: bool  #: Whether its last row branches back to its first.

    @property
    def rows(self) -> range:
        """Its rows of the code."""
        return range(self.first, self.last + 1)


@dataclass(frozen=True)
class KernelRows:
    """Code as edits see it."""

    target: str
    family: str
    rows: list[CodeRow]
    flow: pl.DataFrame  #: As `flow_of`; the three lists are columns of it.
    operands: pl.DataFrame  #: `row`, `register` (its number), `count`, `role` (`codeobj.registers`).
    flows: list[int]
    targets: list[int]
    starts: list[int]  #: 1 = a kernel starts at the row, 2 = another function.
    functions: list[int]  #: Number of the function of each row.
    given_registers: pl.Series  #: Registers that hold values when a kernel starts.

    def function_rows(self, row: int) -> list[CodeRow]:
        """The rows of the function that holds a row."""
        return [other for other, number in zip(self.rows, self.functions, strict=True) if number == self.functions[row]]

    def rows_of(self, block: EditedBlock) -> list[CodeRow]:
        """The rows of a block."""
        return self.rows[block.first : block.last + 1]

    def followers(self, row: int) -> list[int]:
        """Rows that may come after a row."""
        flow, target = self.flows[row], self.targets[row]
        targets = [target] if flow in (BRANCH, JUMP) and 0 <= target < len(self.rows) else []
        behind = [row + 1] if flow not in _ENDING_FLOWS and row + 1 < len(self.rows) else []
        return targets + behind


def kernel_rows(code: pl.DataFrame, target: str, family: str, given_registers: pl.Series) -> KernelRows:
    """Rows of a code table with operands; its rows count from 0 without holes.

    Columns: `row`, `code_object`, `address`, `size`, `text`, `function`, `starts` (1 = a kernel starts here, 2 =
    another function), `writes`, `reads`, `implicit_writes`, `implicit_reads`, `tied`.
    """
    operands = operand_rows(code)
    flow = with_full_writes(flow_of(code, operands), code, operands)
    flows, targets, starts = (flow[name].to_list() for name in ("flow", "target_row", "starts"))
    functions = code.select(pl.struct("code_object", "function").rank("dense")).to_series().to_list()
    return KernelRows(
        target, family, code_rows(code, family), flow, operands, flows, targets, starts, functions, given_registers
    )


def operand_rows(code: pl.DataFrame) -> pl.DataFrame:
    """Registers of every row by their numbers, from the words of the code table."""
    parts = [
        code.select("row", word=pl.col(column).str.split(" "))
        .explode("word")
        .filter(pl.col("word") != "")
        .with_columns(use=pl.lit(use))
        for column, use in _COLUMNS.items()
    ]
    words = pl.concat(parts)
    distinct = words["word"].unique()
    ranges = [numbers_of(word) for word in distinct]
    halves = [HIGH_HALF if word.endswith(".h") else LOW_HALF if word.endswith(".l") else 0 for word in distinct]
    meanings = pl.DataFrame(
        {"word": distinct, "register": [numbers.start for numbers in ranges], "count": list(map(len, ranges))}
    ).with_columns(half=pl.Series(halves, dtype=pl.Int32))
    return (
        words.join(meanings, on="word", how="left", maintain_order="left")
        .filter(pl.col("count") > 0)
        .sort("row", maintain_order=True)
        .select("row", "register", "count", role=pl.col("use") | pl.col("half"))
        .cast(_OPERANDS)  # type: ignore[arg-type]
    )


def blocks_of(code: KernelRows) -> list[EditedBlock]:
    """The basic blocks, in the order of rows."""
    starts = {0} | {row for row, start in enumerate(code.starts) if start}
    for row, (flow, target) in enumerate(zip(code.flows, code.targets, strict=True)):
        if flow != NEXT:
            starts |= {row + 1, target}
    first_rows = sorted(row for row in starts if 0 <= row < len(code.rows))
    ends = [*(row - 1 for row in first_rows[1:]), len(code.rows) - 1]
    return [
        EditedBlock(first, last, code.flows[last] == BRANCH and code.targets[last] == first)
        for first, last in zip(first_rows, ends, strict=True)
        if last >= first
    ]


def states_before(code: KernelRows, blocks: Sequence[EditedBlock]) -> dict[int, State | None]:
    """Operations in flight before each block, on all ways but around a loop of its own; None = not known.

    Behind calls, and wherever computed jumps may lead, nothing is known.
    """
    block_at = {block.first: block for block in blocks}
    jumps_anywhere = ANYWHERE in code.flows
    starts = {row: start for row, start in enumerate(code.starts) if start and row in block_at}
    ways = _Ways({row: None if start == 2 or jumps_anywhere else {} for row, start in starts.items()})
    queue = list(ways.entries)
    budget = _MOST_STEPS
    while queue and budget > 0:
        block = block_at[queue.pop(0)]
        budget -= len(block.rows)
        state = _state_behind(code, block, ways)
        for target in code.followers(block.last):
            if target in block_at and ways.bring(state, block.first, target) and target not in queue:
                queue.append(target)
    return {first: state if budget > 0 else None for first, state in ways.entries.items()}


class _Ways:
    """What is in flight on all ways to each block so far, by the first row of the block; None = not known."""

    def __init__(self, entries: dict[int, State | None]) -> None:
        self.entries = entries  #: From other blocks, or from the start of a function.
        self.around: dict[int, State] = {}  #: From the block itself, a loop of its own.

    def bring(self, state: State | None, source: int, target: int) -> bool:
        """Bring what is in flight behind one block to the next; True if it changes what is known there."""
        if target == source and state is not None:
            return merged(self.around.setdefault(target, {}), state)
        is_new, before = target not in self.entries, self.entries.get(target)
        if before is not None and state is not None:
            return merged(before, state)
        self.entries[target] = copied(state) if is_new and state is not None else None
        return is_new or before is not None


def _state_behind(code: KernelRows, block: EditedBlock, ways: _Ways) -> State | None:
    entry = ways.entries[block.first]
    if entry is None or code.flows[block.last] in _LEAVING_FLOWS:
        return None
    state = copied(entry)
    merged(state, ways.around.get(block.first, {}))
    return outside(passed(state, code.rows_of(block)))


def live_behind(code: KernelRows, block: EditedBlock) -> int | None:
    """Registers whose values may be read behind a block, as bits; None = not known."""
    if code.flows[block.last] in _LEAVING_FLOWS:
        return None
    return live_at(code, sorted(set(code.followers(block.last))))


def live_at(code: KernelRows, rows: Sequence[int]) -> int | None:
    """Registers whose values may be read from some rows on, as bits; None = not known."""
    if not rows:
        return 0
    row_series = pl.Series(rows, dtype=pl.Int32)
    answer = _core.live_registers(code.flow.to_dict(), code.operands.to_dict(), code.given_registers, row_series)
    return None if answer is None else bits(pl.DataFrame(answer[1])["register"].unique().to_list())


def rows_leading_to(code: KernelRows, block: EditedBlock) -> set[int]:
    """Rows of the block, and all from which it may still be reached."""
    earlier_rows: dict[int, list[int]] = {}
    for row in range(len(code.rows)):
        for follower in code.followers(row):
            earlier_rows.setdefault(follower, []).append(row)
    leading_rows, queue = set(block.rows), [block.first]
    while queue:
        before = [row for row in earlier_rows.get(queue.pop(), []) if row not in leading_rows]
        leading_rows.update(before)
        queue += before
    return leading_rows


def rows_before(code: KernelRows, block: EditedBlock) -> list[CodeRow]:
    """The rows that stand before a block, back to a jump, as far as wait states reach."""
    rows: list[CodeRow] = []
    for number in range(block.first - 1, max(-1, block.first - 1 - MOST_STATES), -1):
        if code.flows[number] in _ENDING_FLOWS:
            break
        rows.insert(0, code.rows[number])
    return rows


def rows_behind(code: KernelRows, block: EditedBlock) -> list[CodeRow]:
    """The rows that follow a block without a jump, as far as wait states reach."""
    if code.flows[block.last] in _ENDING_FLOWS:
        return []
    return code.rows[block.last + 1 : block.last + 1 + MOST_STATES]
