"""Rows where all lanes that a kernel ever uses are active: a vector write there ends the old value in every lane.

The mask of active lanes is the register exec. It is followed forwards through a function: `_MaskState` says whether it
is full at a row, and which scalar registers hold a copy of a full one, from which it may be restored.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from typing import Final, NamedTuple

import polars as pl

from wavewright.analysis.code.flow import ANYWHERE, BACK, BRANCH, CALL, END, JUMP, WRITES_ALL
from wavewright.codeobj.registers import EXEC, VCC, WRITES, numbers_of

#: Writes that may switch on lanes which were off when the kernel started.
_WIDER = re.compile(r"-1$|^s_(not|nand|nor|xnor|orn\d|or_not\d|wqm)_|^s_(orn\d|or_not\d|nand|nor|xnor)_saveexec")
_SAVES = re.compile(r"^s_\w+_saveexec_b\d+ (?P<to>[^,]+), (?P<by>.+)$")
_MOVES = re.compile(r"^s_mov_b\d+ (?P<to>[^,]+), (?P<by>.+)$")
_ADDS = re.compile(r"^s_or_b\d+ exec(?:_lo)?, (?P<a>[^,]+), (?P<b>.+)$")
_MASK: Final = ("exec", "exec_lo")
_EXEC: Final = frozenset({EXEC, EXEC + 1})
_NOTHING: Final[frozenset[int]] = frozenset()


class _MaskState(NamedTuple):
    """What is known about the mask of lanes before a row."""

    is_full: bool
    copies: frozenset[str] = frozenset()  #: Registers that hold a full mask, as the code spells them.


def with_full_writes(flow: pl.DataFrame, rows: pl.DataFrame, operands: pl.DataFrame) -> pl.DataFrame:
    """Flow (`flow_of`) whose habits say of vector writes that reach all lanes that they do.

    Matrix instructions read lanes that are off as well: without this no value that they read would ever end.
    """
    is_full = pl.Series(full_rows(rows, flow, operands), dtype=pl.Boolean)
    return flow.with_columns(habits=pl.col("habits") | (is_full.cast(pl.UInt8) * WRITES_ALL))


def full_rows(rows: pl.DataFrame, flow: pl.DataFrame, operands: pl.DataFrame) -> list[bool]:
    """True for each row that is only executed with every lane active that its kernel ever uses.

    A mask that is never written stays what it was at launch; saved and restored, it is that again. Lanes that are off
    at launch hold nothing that is needed, unless something switches them on: then only what follows that is full.
    Of functions that call, are called or are jumped into, nothing is known.
    """
    texts = rows["text"].to_list()
    kinds, targets, starts = (flow[name].to_list() for name in ("flow", "target_row", "starts"))
    scalar_writes = _scalar_writes(operands)
    full = [False] * len(texts)
    functions = list(_functions(rows))
    function_of = [number for number, (first, end) in enumerate(functions) for _ in range(first, end)]
    jumped_into = {
        function_of[target]
        for row, target in enumerate(targets)
        if 0 <= target < len(texts) and function_of[target] != function_of[row]
    }
    for number, (first, end) in enumerate(functions):
        inside = range(first, end)
        leaves = any(kinds[row] in (CALL, BACK, ANYWHERE) for row in inside)
        if number in jumped_into or leaves or starts[first] != 1 or any(starts[first + 1 : end]):
            continue
        changes = [row for row in inside if scalar_writes.get(row, _NOTHING) & _EXEC]
        if not changes:
            full[first:end] = [True] * (end - first)
        elif len({frozenset(scalar_writes[row] & _EXEC) for row in changes}) == 1:  # never a half of it alone
            is_wider = any(_WIDER.search(texts[row]) for row in changes)
            code = _Code(inside, texts, targets, kinds, scalar_writes)
            _follow(full, code, is_full_at_start=not is_wider)
    return full


@dataclass(frozen=True)
class _Code:
    """One function."""

    inside: range  #: Its rows.
    texts: list[str]
    targets: list[int]  #: Row that a branch goes to; -1 = none.
    kinds: list[int]  #: `flow` of every row, as in `analysis.code.flow`.
    scalar_writes: dict[int, set[int]]  #: Row -> scalar registers that it writes.


def _functions(rows: pl.DataFrame) -> Iterable[tuple[int, int]]:
    """First row and end of each run of rows of one function."""
    names = ("code_object", "function")
    is_new = pl.any_horizontal(pl.col(name).ne_missing(pl.col(name).shift()) for name in names)
    places = rows.select(is_new.arg_true()).to_series().to_list()
    firsts = sorted({0, *places})
    return zip(firsts, [*firsts[1:], rows.height], strict=True) if rows.height else ()


def _scalar_writes(operands: pl.DataFrame) -> dict[int, set[int]]:
    """Row -> the scalar registers that it writes, the mask among them."""
    scalar = operands.filter((pl.col("role") & WRITES != 0) & (pl.col("register") <= EXEC + 1))
    scalar_writes: dict[int, set[int]] = {}
    for row, register, count in scalar.select("row", "register", "count").iter_rows():
        scalar_writes.setdefault(row, set()).update(range(register, register + count))
    return scalar_writes


def _follow(full: list[bool], code: _Code, *, is_full_at_start: bool) -> None:
    """Forwards to the fixed point: the mask is full at a row if it is on every way to it."""
    states = {code.inside.start: _MaskState(is_full_at_start)}
    row_queue = [code.inside.start]
    while row_queue:
        row = row_queue.pop()
        kind = code.kinds[row]
        after = _after(states[row], code.texts[row], code.scalar_writes.get(row, _NOTHING))
        next_rows = [code.targets[row]] if kind in (BRANCH, JUMP) else []
        next_rows += [row + 1] if kind not in (JUMP, END) else []
        row_queue += [target for target in next_rows if target in code.inside and _merge(states, target, after)]
    for row, state in states.items():
        full[row] = state.is_full


def _merge(states: dict[int, _MaskState], row: int, state: _MaskState) -> bool:
    """Keep what is true on all ways to a row; True if that changed."""
    known = states.get(row)
    is_first = known is None
    states[row] = state if known is None else _MaskState(known.is_full and state.is_full, known.copies & state.copies)
    return is_first or states[row] != known


def _after(state: _MaskState, text: str, scalar_writes: AbstractSet[int]) -> _MaskState:
    """State behind a row. A mask is followed where it is saved, moved or or-ed; behind other writes it is not full."""
    if not scalar_writes:
        return state

    def is_full(source: str) -> bool:
        return source == "-1" or source in state.copies or (source in _MASK and state.is_full)

    save, move, add = _SAVES.match(text), _MOVES.match(text), _ADDS.match(text)
    is_full_after = state.is_full
    if scalar_writes & _EXEC:  # full if one of the operands that are or-ed is
        operands = [save["by"], "exec"] if save and text.startswith("s_or_saveexec") else []
        operands += [move["by"]] if move else [add["a"], add["b"]] if add else []
        is_full_after = any(map(is_full, operands))
    copies = frozenset(name for name in state.copies if not set(numbers_of(name)) & scalar_writes)
    copy = save["to"] if save else move["to"] if move else ""
    is_full_copy = state.is_full if save else move is not None and move["by"] != "-1" and is_full(move["by"])
    is_scalar = 0 <= max(numbers_of(copy), default=-1) <= VCC + 1  # VCC can hold a mask, too
    return _MaskState(is_full_after, copies | {copy} if is_full_copy and is_scalar else copies)
