"""A kernel with an edited block, as assembly of LLVM: the same rows, branches to labels."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

import polars as pl

from wavewright.analysis.code.control_flow import branch_targets
from wavewright.analysis.trace.what_if import WhatIf
from wavewright.errors import UsageError
from wavewright.model.trace import ThreadTrace

_NAME: Final = re.compile(r"[A-Za-z_.$][\w.$]{0,4000}")
_OWN_ADDRESS: Final = r"^s_(getpc|get_pc|call|swappc|swap_pc|setpc|set_pc|add_pc)"
_IMMEDIATE: Final = re.compile(r"\s(-?\d+|0x[0-9a-fA-F]+)\s*$")
CHECKED: Final = (
    "It assembles and passes the checks of operands, waits, wait states and order."
    " Whether it is right, only a test of its results tells."
)


def assembly(trace: ThreadTrace, answer: WhatIf) -> str:
    """The kernel with the first legal edit; that it assembles to these rows does not prove it right.

    Raises `UsageError` when no edit is legal, or the code cannot be moved in memory.
    """
    return "\n".join(_lines(trace, answer)) + "\n"


def _lines(trace: ThreadTrace, answer: WhatIf) -> Iterator[str]:
    legal = answer.edits.filter(pl.col("vgprs").is_not_null()).head(1)
    if not legal.height:
        raise UsageError("there is no legal edit to write", advice="whatif without --emit says why")
    edit, name, vgprs = legal.select("edit", "name", "vgprs").row(0)
    code = trace.code.sort("row")
    place = code.filter(pl.col("row") == answer.first_row).select("code_object", "function")
    rows = code.join(place, on=["code_object", "function"], how="semi", nulls_equal=True, maintain_order="left")
    unsafe = rows.filter(pl.col("text").str.contains(_OWN_ADDRESS))
    if unsafe.height:
        row, text = unsafe.select("row", "text").row(0)
        raise UsageError(f"row {row} uses its own address: {text}", advice="such code cannot be moved in memory")
    targets = dict(branch_targets(code).rows())
    labels = _labels(rows, targets)
    function = place["function"][0] or "kernel"
    symbol = function if _NAME.fullmatch(function) else "kernel"
    comment = "".join(letter if letter.isprintable() else "?" for letter in name)[:200]
    yield f"// {symbol}: {comment}"
    yield f"// {vgprs} vector registers; the descriptor and the metadata of the kernel must allow as many."
    yield f"// {CHECKED}"
    yield f'.amdgcn_target "amdgcn-amd-amdhsa--{(trace.source.target or "").split(":")[0]}"'
    yield from (".text", f".globl {symbol}", ".p2align 8", f".type {symbol},@function", f"{symbol}:")
    parts = answer.listing.filter(edit=edit).partition_by("part", as_dict=True)
    listing = {part: frame.select("row", "text").rows() for (part,), frame in parts.items()}
    for row, text in rows.select("row", "text").iter_rows():
        if row == answer.first_row:  # rows before a loop stand before its label: its branch leaves them out
            yield from _listed(listing.get("before the loop", []), {}, {}, row)
            yield from _listed(listing["block"], labels, targets, row)
            yield from _listed(listing.get("behind the loop", []), {}, {}, row)
        elif not answer.first_row < row <= answer.last_row:
            yield from _listed([(row, text)], labels, targets, row)
    yield f".size {symbol}, .-{symbol}"


def _labels(rows: pl.DataFrame, targets: dict[int, int | None]) -> dict[int, str]:
    row_set = set(rows["row"].to_list())
    labels = {}
    for row, target in targets.items():
        if row not in row_set:
            continue
        if target is None or target not in row_set:
            raise UsageError(f"the branch in row {row} leaves the kernel", advice="such code cannot be written yet")
        labels[target] = f".Lrow{target}"
    return labels


def _listed(
    listing: list[tuple[int | None, str]], labels: dict[int, str], targets: dict[int, int | None], first: int
) -> Iterator[str]:
    if first in labels:  # a block is entered at its start, whatever row stands there now
        yield f"{labels[first]}:"
    for row, text in listing:
        target = targets.get(row) if row is not None else None
        yield "\t" + (_IMMEDIATE.sub(f" {labels[target]}", text) if target is not None else text)
