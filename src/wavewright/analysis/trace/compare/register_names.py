"""Instructions that do what they did before with other registers, told apart from those that changed."""

from __future__ import annotations

import re
from collections.abc import Sequence

_REGISTERS = re.compile(r"\b([vsa])(?:\[(\d{1,4})(?::(\d{1,4}))?\]|(\d{1,4}))(?!\w)")
_MOST = 64  #: Registers of one operand.
#: What writes no register, what writes two, and what also reads its result; all others write their first operand.
_WRITES_NONE = re.compile(r"\w+_store|ds_write|s_(cmp|bitcmp|cbranch|setreg|wait|barrier|branch|setprio|sleep|nop)")
_WRITES_TWO = re.compile(r"v_\w*_co_|v_div_scale|v_mad_[iu]64|v_swap")
_READS_RESULT = re.compile(r"v_\w*(mac|dot\d+c)_|v_writelane|v_swap|s_(addk|mulk|cmov)")

#: Where a value comes from: the unit that wrote it, and which of its registers; None = nothing wrote it before.
_Origin = tuple[int, int] | None


def renamed(
    base_units: Sequence[int], base_texts: Sequence[str | None], units: Sequence[int], texts: Sequence[str | None]
) -> list[int]:
    """The units that read differently but only name other registers.

    `units` are those of the code rows, `texts` what each unit reads; None = that side does not have it. Such an
    instruction is equal to its partner but for the numbers of registers, and everything that it reads was last
    written, in the order of the code, by partners too, or on both sides by what has none.

    Examples
    --------
    >>> before = ["v_mov_b32 v1, 0", "v_add_u32 v2, v1, v0"]
    >>> renamed([0, 1], before, [0, 1], ["v_mov_b32 v5, 0", "v_add_u32 v2, v5, v0"])
    [0, 1]
    >>> renamed([0, 1], before, [0, 1], ["v_mov_b32 v5, 0", "v_add_u32 v2, v0, v5"])
    [0]
    """
    shared = {unit for unit, pair in enumerate(zip(base_texts, texts, strict=True)) if None not in pair}
    before, after = _described(base_units, base_texts, shared), _described(units, texts, shared)
    return [
        unit
        for unit in sorted(before.keys() & after.keys())
        if base_texts[unit] != texts[unit] and before[unit] == after[unit]
    ]


def _described(
    units: Sequence[int], texts: Sequence[str | None], shared: set[int]
) -> dict[int, tuple[str, tuple[_Origin, ...]]]:
    """Every unit without the numbers of its registers, and where what it reads comes from."""
    writers: dict[tuple[str, int], _Origin] = {}
    described = {}
    for unit in units:
        text = texts[unit] if unit >= 0 else None
        if text is None:
            continue
        shape, operands, result_count, reads_result = _parsed(text)
        reads = operands if reads_result else operands[result_count:]
        described[unit] = (shape, tuple(writers.get(register) for operand in reads for register in operand))
        results = (register for operand in operands[:result_count] for register in operand)
        for number, register in enumerate(results):
            writers[register] = (unit, number) if unit in shared else None
    return described


def _parsed(text: str) -> tuple[str, list[list[tuple[str, int]]], int, bool]:
    """The instruction with widths in place of registers, its registers, how many operands are results, read or not."""
    operands: list[list[tuple[str, int]]] = []

    def width(match: re.Match[str]) -> str:
        first = int(match[2] or match[4])
        last = min(int(match[3] or first), first + _MOST - 1)
        operands.append([(match[1], number) for number in range(first, last + 1)])
        return f"{match[1]}[{last - first + 1}]"

    mnemonic, space, operand_text = text.partition(" ")
    results = (
        [] if _WRITES_NONE.match(mnemonic) else operand_text.split(", ")[: 2 if _WRITES_TWO.match(mnemonic) else 1]
    )
    count = sum(bool(_REGISTERS.match(result)) for result in results)
    return mnemonic + space + _REGISTERS.sub(width, operand_text), operands, count, bool(_READS_RESULT.match(mnemonic))
