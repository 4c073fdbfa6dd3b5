"""Reasons why a lane address or its cost is not known, and what must hold for one that is, as clauses.

A reason is a kind and a detail: a row, a register, an offset in the arguments, ... (ReasonKind of
cpp/include/wavewright/evaluate.hpp, which says what the detail of each kind is). `reasons.toml` has the clauses.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from wavewright.base.toml import packaged
from wavewright.codeobj.kernel_arguments import ArgumentValues
from wavewright.codeobj.registers import spelled

_CLAUSES = packaged("reasons.toml", __package__)
#: Bits of `assumptions` (cpp/include/wavewright/evaluate.hpp: Assumption) -> what must hold.
ASSUMPTIONS: Final[dict[int, str]] = {int(bit): clause for bit, clause in _CLAUSES["assumptions"].items()}
_REASONS: Final[dict[str, str]] = _CLAUSES["reasons"]
_AT_START, _WORKGROUP_ID, _ARGUMENT, CONTRADICTION, _ALIGNMENT, NO_RULE = 1, 2, 3, 9, 11, 13
#: Kinds that the native core does not have: it evaluates one wave from its start, at one place.
BY_PLACE, NOT_REACHED, NOT_FROM_START = 100, 101, 102
_NO_BASE: Final = (0, 0)  #: Kind and detail where no base is the reason.
_LONGEST_TEXT: Final = 48  #: Characters of an instruction in a clause.


def assumption_text(bits: int, pointer_bytes: int) -> str:
    """Assumptions, in one line; empty = nothing.

    >>> assumption_text(3, 256)
    'pointer arguments are multiples of 256 bytes; 32-bit offsets do not wrap around'
    """
    return "; ".join(text.format(pointer_bytes=pointer_bytes) for bit, text in ASSUMPTIONS.items() if bits & bit)


def reason_text(
    kind: int, detail: int, texts: Sequence[str], arguments: ArgumentValues, *, base: tuple[int, int] = _NO_BASE
) -> str:
    """A reason as a clause; `texts` are those of the code rows.

    `base`: kind and detail of the reason why the base is not known whose alignment is not known either.
    """
    fields = {"row": f"row {detail}"}
    if 0 <= detail < len(texts):
        text = texts[detail]
        fields["row"] += f" ({text if len(text) <= _LONGEST_TEXT else text[: _LONGEST_TEXT - 3] + '...'})"
    if kind == _AT_START:
        fields["register"] = spelled(detail, 1, 0)
    elif kind == _WORKGROUP_ID:
        fields["axis"] = f" {'xyz'[detail]}" if 0 <= detail < 3 else ""
    elif kind == _ARGUMENT:
        fields["argument"] = _argument(detail, arguments) if detail >= 0 else "arguments"
    elif kind == _ALIGNMENT:
        fields["because"] = _unknown_alignment(*base, texts, arguments)
    return _REASONS.get(str(kind), "not known").format(**fields)


def _unknown_alignment(kind: int, detail: int, texts: Sequence[str], arguments: ArgumentValues) -> str:
    if kind == _ARGUMENT and detail >= 0:
        return f"depends on {_argument(detail, arguments)}"
    because = reason_text(kind, detail, texts, arguments) if kind not in (0, _ALIGNMENT) else ""
    return f"is not known: {because}" if because else "is not known"


def _argument(offset_bytes: int, arguments: ArgumentValues) -> str:
    name = arguments.name_at(offset_bytes)
    return name if name.startswith("argument") else f"the argument {name}"
