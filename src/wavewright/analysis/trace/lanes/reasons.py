"""Why a lane address or a cost is not known, and what must hold for one that is, in words (`reasons.toml`)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from wavewright.base.toml import packaged
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
_REASONS: Final[dict[str, str]] = packaged("reasons.toml", __package__)["reasons"]
_AT_START, _WORKGROUP_ID, _ARGUMENT, _ALIGNMENT = 1, 2, 3, 11


def assumption_text(bits: int, pointer_bytes: int) -> str:
    """Assumptions, in one line; empty = nothing.

    >>> assumption_text(3, 256)
    'pointer arguments are multiples of 256 bytes; 32-bit offsets do not wrap around'
    """
    return "; ".join(text.format(pointer_bytes=pointer_bytes) for bit, text in ASSUMPTIONS.items() if bits & bit)


def reason_text(kind: int, detail: int, base: tuple[int, int], texts: Sequence[str], arguments: ArgumentValues) -> str:
    """A reason of the evaluator (ReasonKind, its detail and the reason of a base) as a clause."""
    text = texts[detail] if 0 <= detail < len(texts) else ""
    shown = f" ({text if len(text) <= 48 else text[:45] + '...'})" if 0 <= detail < len(texts) else ""
    words = {"row": f"row {detail}{shown}"}
    if kind == _AT_START:
        words["register"] = spelled(detail, 1, 0)
    elif kind == _WORKGROUP_ID:
        words["axis"] = f" {'xyz'[detail]}" if 0 <= detail < 3 else ""
    elif kind == _ARGUMENT:
        words["argument"] = _argument(detail, arguments) if detail >= 0 else "arguments"
    elif kind == _ALIGNMENT:
        words["because"] = _unknown_alignment(*base, texts, arguments)
    return _REASONS.get(str(kind), "not known").format(**words)


def _unknown_alignment(kind: int, detail: int, texts: Sequence[str], arguments: ArgumentValues) -> str:
    if kind == _ARGUMENT and detail >= 0:
        return f"depends on {_argument(detail, arguments)}"
    because = reason_text(kind, detail, (0, 0), texts, arguments) if kind not in (0, _ALIGNMENT) else ""
    return f"is not known: {because}" if because else "is not known"


def _argument(offset_bytes: int, arguments: ArgumentValues) -> str:
    name = arguments.name_at(offset_bytes)
    return name if name.startswith("argument") else f"the argument {name}"
