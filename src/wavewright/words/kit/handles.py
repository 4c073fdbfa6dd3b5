"""Handles: short names by which an answer offers what can be asked about next, and which questions take back.

`i0x1814` is an instruction, `k3` a kernel by rank of time, `d45` a dispatch, `w12` a wave, `f2` a finding, `r0` a rank
(process), `s7` a step, `g0` a GPU. A number without its letter, as people type it, means the same.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import NamedTuple

from wavewright.errors import UsageError

_INSTRUCTION = re.compile(r"i?(?:(?P<code_object>[0-9]{1,9}):)?0x(?P<address>[0-9a-fA-F]{1,16})")
_NUMBER = re.compile(r"(?P<letter>[a-z]?)(?P<number>[0-9]{1,15})")
_LONGEST = 40  #: Characters of a handle that a message repeats.

#: Letter -> what it names.
HANDLES = {
    "i": "an instruction",
    "k": "a kernel",
    "d": "a dispatch",
    "w": "a wave",
    "f": "a finding",
    "r": "a rank",
    "s": "a step",
    "g": "a GPU",
}


class InstructionHandle(NamedTuple):
    """An instruction by its address; `code_object` is None where the address alone names it."""

    address: int
    code_object: int | None = None


def instruction_handle(address: int, code_object: int | None = None) -> str:
    """The handle of an instruction."""
    return f"i0x{address:x}" if code_object is None else f"i{code_object}:0x{address:x}"


def parse_instruction(given: str) -> int:
    """The address of the instruction that a handle names; the letter may be missing."""
    return parse_code_place(given).address


def parse_code_place(given: str) -> InstructionHandle:
    """The instruction that a handle names, with its code object where the handle has one; the letter may be missing.

    Raises `UsageError` when it is not the handle of an instruction.
    """
    match = _INSTRUCTION.fullmatch(given.strip())
    if match is None:
        what = f"{given[:_LONGEST]!r} is not an instruction"
        raise UsageError(what, advice="give its address as i0x1814, or i1:0x1814 with the number of the code object")
    code_object = match["code_object"]
    return InstructionHandle(int(match["address"], 16), None if code_object is None else int(code_object))


def handle(letter: str, number: int) -> str:
    """The handle of what has a number."""
    if letter not in HANDLES or letter == "i":
        raise ValueError(letter)
    return f"{letter}{number}"


def parse_handle(given: str, letter: str) -> int:
    """The number in a handle of this letter; the letter may be missing.

    Raises `UsageError` when it is not such a handle.
    """
    match = _NUMBER.fullmatch(given.strip())
    if match is None or match["letter"] not in ("", letter):
        raise UsageError(f"{given[:_LONGEST]!r} is not {HANDLES[letter]}", advice=f"give its handle, such as {letter}3")
    return int(match["number"])


def handle_parser(letter: str) -> Callable[[str], int]:
    """A parser of handles of this letter, for the parameters of a topic."""
    return lambda given: parse_handle(given, letter)


def is_handle(given: str) -> bool:
    """True if a text has the form of a handle, letter included."""
    if _INSTRUCTION.fullmatch(given):
        return given.startswith("i")
    match = _NUMBER.fullmatch(given)
    return match is not None and match["letter"] in HANDLES and match["letter"] != "i"
