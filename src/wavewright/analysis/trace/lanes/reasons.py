"""Why a lane address or a cost is not known, and what must hold for one that is, in words."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

from wavewright.codeobj.kernel_arguments import ArgumentValues
from wavewright.codeobj.registers import spelled

#: Bits of `assumptions` (cpp/include/wavewright/evaluate.hpp: Assumption) -> what must hold.
ASSUMPTIONS: Final = {
    1: "pointer arguments are multiples of {pointer_bytes} bytes",
    2: "32-bit offsets do not wrap around",
    4: "no lane is outside of its buffer",
    8: "buffers are not swizzled",
    16: "workgroups are one-dimensional and full",
}


def assumption_text(bits: int, pointer_bytes: int) -> str:
    """Assumptions, in one line; empty = nothing.

    >>> assumption_text(3, 256)
    'pointer arguments are multiples of 256 bytes; 32-bit offsets do not wrap around'
    """
    return "; ".join(text.format(pointer_bytes=pointer_bytes) for bit, text in ASSUMPTIONS.items() if bits & bit)


def reason_text(kind: int, detail: int, base: tuple[int, int], texts: Sequence[str], arguments: ArgumentValues) -> str:
    """A reason of the evaluator (ReasonKind, its detail and the reason of a base) as a clause."""
    row = f"row {detail} ({_short(texts[detail])})" if 0 <= detail < len(texts) else f"row {detail}"
    words: dict[int, Callable[[], str]] = {
        1: lambda: f"{spelled(detail, 1, 0)} holds something at the start that nothing describes",
        2: lambda: f"depends on the workgroup id {'xyz'[detail]}" if 0 <= detail < 3 else "depends on the workgroup id",
        3: lambda: f"depends on {_argument(detail, arguments)}" if detail >= 0 else "depends on arguments",
        4: lambda: f"depends on data that {row} loads",
        5: lambda: f"depends on data that {row} loads from LDS",
        6: lambda: f"{row} is not evaluated",
        7: lambda: f"which lanes are active at {row} is not known",
        8: lambda: f"{row} cuts an unknown sum into bits",
        9: lambda: f"the trace contradicts the branch at {row}",
        10: lambda: f"the trace does not follow the code behind {row}",
        11: lambda: _alignment(base, texts, arguments),
        12: lambda: "unaligned: no rule is proven for it",
        13: lambda: "no rule is known for it",
        14: lambda: "lanes are outside of the buffer in part",
        15: lambda: "a flat access may go to LDS",
        16: lambda: f"{row} addresses memory in a way that is not evaluated",
        17: lambda: "part of a 64-bit number",
        18: lambda: "depends on the last bit of a reciprocal",
        100: lambda: "depends on the place of the wave in its workgroup; --workgroup gives its size",
        101: lambda: "not evaluated: the traced waves take too many different paths",
        102: lambda: f"the trace shows the wave from {row} on, not from its start",
    }
    return words.get(kind, lambda: "not known")()


def _alignment(base: tuple[int, int], texts: Sequence[str], arguments: ArgumentValues) -> str:
    kind, detail = base
    if kind == 3 and detail >= 0:
        return f"the alignment depends on {_argument(detail, arguments)}"
    because = reason_text(kind, detail, (0, 0), texts, arguments) if kind not in (0, 11) else ""
    return f"the alignment is not known: {because}" if because else "the alignment is not known"


def _argument(offset_bytes: int, arguments: ArgumentValues) -> str:
    name = arguments.name_at(offset_bytes)
    return name if name.startswith("argument") else f"the argument {name}"


def _short(text: str) -> str:
    return text if len(text) <= 48 else text[:45] + "..."
