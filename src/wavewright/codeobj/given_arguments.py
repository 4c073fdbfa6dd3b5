"""Values of kernel arguments as a user gives them: `NAME=VALUE`, `OFFSET=VALUE`, both with an optional type.

| text | meaning |
|---|---|
| `M=4096` | the argument M, of the type that the metadata tells |
| `scale=0.5` | a float where the argument is one, or where the metadata tells only its size |
| `0x34=65536` | the argument at that offset, or four bytes of a larger one |
| `0x34=65536:u64` | the same, of a given type |
| `grid=64,64,1` | consecutive values of four bytes, or of the given type: structures |
"""

from __future__ import annotations

import re
import struct
from typing import NamedTuple

from wavewright.codeobj.code_object import Kernel
from wavewright.codeobj.metadata import MAX_SEGMENT_BYTES, KernelArgument
from wavewright.errors import UsageError

_OFFSET = re.compile(r"0[xX][0-9a-fA-F]{1,8}|[0-9]{1,8}")
_INTEGER = re.compile(r"[+-]?(?:0[xX][0-9a-fA-F]{1,16}|[0-9]{1,20})")
_SHOWN_CHARACTERS, _SHOWN_ARGUMENTS = 40, 32
_HOW_LARGE = "give every value of it (a=1,2,3), or parts by offset (0x34=1:u32)"
_SCALAR_BYTES = frozenset({1, 2, 4, 8})
_FLOATS = {2: "<e", 4: "<f", 8: "<d"}
#: Words of OpenCL for types, which the metadata uses where it tells types.
_FLOAT_WORDS = frozenset({"half", "float", "double"})
_INTEGER_WORDS = frozenset({"bool", "char", "short", "int", "long", "size_t"})


class _Type(NamedTuple):
    """Type of a value: `size_bytes`, a float or an integer; None = either, as it is written."""

    size_bytes: int
    is_float: bool | None = None
    is_signed: bool | None = None

    @property
    def name(self) -> str:
        if self.is_float:
            return f"a float of {self.size_bytes} bytes"
        return f"an {'unsigned ' if self.is_signed is False else ''}integer of {self.size_bytes} bytes"


_INTEGERS = [(letter, size) for letter in "iu" for size in (1, 2, 4, 8)]
_SUFFIXES = {f"{sign}{8 * size}": _Type(size, is_float=False, is_signed=sign == "i") for sign, size in _INTEGERS}
_SUFFIXES |= {f"f{8 * size}": _Type(size, is_float=True) for size in _FLOATS}
_DWORD = _Type(4)


def given_bytes(text: str, kernel: Kernel) -> tuple[int, bytes]:
    """Offset in the kernarg segment and bytes of one given argument.

    Raises `UsageError`: it names none of the arguments or several, lies outside of them, or the value does not fit.
    """
    key, equals, value = text.partition("=")
    key, value = key.strip(), value.strip()
    if not equals or not key or not value:
        raise UsageError(f"{_shown(text)!r} is not NAME=VALUE or OFFSET=VALUE", kept=argument_list(kernel))
    words, colon, suffix = value.partition(":")
    if colon and suffix not in _SUFFIXES:
        problem = f"no such type: {_shown(suffix)!r} in {_shown(text)}"
        raise UsageError(problem, advice=f"types are {', '.join(_SUFFIXES)}")
    suffix_type = _SUFFIXES[suffix] if colon else None
    if _OFFSET.fullmatch(key):
        offset = int(key, 16 if key[1:2] in ("x", "X") else 10)
        argument = next((a for a in kernel.arguments if a.offset_bytes <= offset < a.end_bytes), None)
        data = _encoded(words, suffix_type or _type_at(argument, offset, words), text)
        _check_place(kernel, argument, offset, len(data), text)
        return offset, data
    argument = _by_name(key, kernel)
    data = _encoded(words, suffix_type or _type_at(argument, argument.offset_bytes, words), text)
    if len(data) != argument.size_bytes:
        problem = f"{_shown(text)} gives {len(data)} bytes, and {key} has {argument.size_bytes}"
        raise UsageError(problem, advice=_HOW_LARGE)
    return argument.offset_bytes, data


def argument_list(kernel: Kernel) -> str:
    """The arguments of a kernel in a sentence: those of its source, not those that the runtime fills in."""
    explicit = [argument for argument in kernel.arguments if not argument.is_hidden]
    if not explicit:
        return f"the code object does not list arguments of {kernel.name}"
    descriptions = [f"0x{argument.offset_bytes:x} {_described(argument)}" for argument in explicit[:_SHOWN_ARGUMENTS]]
    if len(explicit) > len(descriptions):
        descriptions.append(f"and {len(explicit) - len(descriptions):,} more")
    return f"{kernel.name} has the arguments " + ", ".join(descriptions)


def _described(argument: KernelArgument) -> str:
    kind = argument.type_name or argument.value_type or ("pointer" if argument.value_kind == "global_buffer" else "")
    words = (argument.name, f"({kind or f'{argument.size_bytes} bytes'})")
    return " ".join(_shown(word) for word in words if word)


def _by_name(name: str, kernel: Kernel) -> KernelArgument:
    matches = [a for a in kernel.arguments if name == (a.value_kind if a.is_hidden else a.name)]
    if not matches:
        problem = f"no such argument: {_shown(name)!r}"
        raise UsageError(problem, kept=argument_list(kernel), advice="give NAME or OFFSET")
    if len(matches) > 1:
        offsets = ", ".join(f"0x{argument.offset_bytes:x}" for argument in matches[:_SHOWN_ARGUMENTS])
        raise UsageError(f"{len(matches)} arguments are called {name!r}", advice=f"give the offset: {offsets}")
    return matches[0]


def _type_at(argument: KernelArgument | None, offset: int, words: str) -> _Type:
    """The type of a value at an offset: that of the argument which starts there, otherwise four bytes."""
    if argument is None or offset != argument.offset_bytes or "," in words or argument.size_bytes not in _SCALAR_BYTES:
        return _DWORD
    word = argument.type_name
    is_unsigned = word.startswith("u") or argument.value_type.startswith("u")
    if argument.value_kind != "by_value" or word.endswith("*"):
        return _Type(argument.size_bytes, is_float=False, is_signed=False)
    if word in _FLOAT_WORDS or argument.value_type.startswith("f"):
        return _Type(argument.size_bytes, is_float=True)
    if word.removeprefix("u") in _INTEGER_WORDS or argument.value_type[:1] in ("i", "u"):
        return _Type(argument.size_bytes, is_float=False, is_signed=False if is_unsigned else None)
    return _Type(argument.size_bytes)


def _encoded(words: str, kind: _Type, text: str) -> bytes:
    if words.count(",") >= MAX_SEGMENT_BYTES:
        raise UsageError(f"{words.count(',') + 1:,} values are more than any argument has")
    return b"".join(_encoded_value(word.strip(), kind, text) for word in words.split(","))


def _encoded_value(word: str, kind: _Type, text: str) -> bytes:
    is_integer = _INTEGER.fullmatch(word) is not None
    try:
        if kind.is_float or (kind.is_float is None and not is_integer and kind.size_bytes in _FLOATS):
            return struct.pack(_FLOATS[kind.size_bytes], float(word))
        if is_integer:
            number = int(word, 16 if "x" in word.lower() else 10)
            is_negative = number < 0 or kind.is_signed is True
            if not (number < 0 and kind.is_signed is False):
                return number.to_bytes(kind.size_bytes, "little", signed=is_negative)
    except (ValueError, OverflowError, KeyError):
        pass
    more = f", or {_shown(word)}:f{8 * kind.size_bytes} for a float" if kind.is_float is False and "." in word else ""
    raise UsageError(f"{_shown(word)!r} is not {kind.name}", where=_shown(text), advice=f"give such a number{more}")


def _check_place(kernel: Kernel, argument: KernelArgument | None, offset: int, size: int, text: str) -> None:
    """Refuse a place that leaves its argument or the segment: a value there would not be what it was meant to be."""
    end = offset + size
    if argument is None:
        argument = next((a for a in kernel.arguments if offset < a.offset_bytes < end), None)
    if argument is not None and (offset < argument.offset_bytes or end > argument.end_bytes):
        raise UsageError(
            f"{_shown(text)} has {size} bytes, and leaves the argument at 0x{argument.offset_bytes:x} "
            f"with its {argument.size_bytes}",
            advice="give the type (0x34=5:u32), and each argument on its own",
        )
    segment_bytes = kernel.kernarg_bytes
    limit = segment_bytes if segment_bytes and segment_bytes <= MAX_SEGMENT_BYTES else MAX_SEGMENT_BYTES
    if end > limit:
        problem = f"{_shown(text)} lies outside of the {limit:,} bytes of arguments"
        raise UsageError(problem, kept=argument_list(kernel))


def _shown(text: str) -> str:
    """A word of the user or of the code object in a message: not too long, and printable."""
    head = "".join(c if c.isprintable() else "?" for c in text[:_SHOWN_CHARACTERS])
    return head if len(text) <= _SHOWN_CHARACTERS else f"{head}..."
