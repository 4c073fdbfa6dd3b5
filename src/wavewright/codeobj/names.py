"""C++ names behind mangled symbols. The mangled name stays the key everywhere; this is only what people read."""

from __future__ import annotations

import math
import re
import sys
from collections.abc import Iterable
from functools import lru_cache

from wavewright import _core
from wavewright.codeobj.process import run_bounded

_MAX_NAME_BYTES = 1 << 14
_MAX_TEXT_BYTES = 1 << 20
# Each reference to an earlier part of the name can double what is printed: 270 bytes can stand for gigabytes.
# Names below this many doublings, or with a better bound, are demangled here; the others in a child process, which may
# die of them.
_MAX_DOUBLINGS = 14
_MAX_EXPANSION = 1 << 24
_REFERENCE = re.compile(r"[ST][0-9A-Z]*_")
# Parameters at the end that are builtin types, references and members of template parameters (NT_8ArgumentE) only: no
# template argument ends there, so the template parameters are in none.
_MEMBER = r"NT[0-9A-Z]*_(?P<length>[0-9]+)(?P<name>[A-Za-z_]+)E"
_MEMBERS = re.compile(_MEMBER)
_SIMPLE_TAIL = re.compile(rf"(?:[PKROV]|Dp(?=T)|[a-z]|[ST][0-9A-Z]*_|{_MEMBER})*\Z")
_MAX_BOUNDED_NAME = 2048  # no demangler takes more
_PACK_EXPANSION = re.compile(r"Dp|sp|sP")
_DOUBLINGS_PER_PACK = 8
_ITANIUM_NAME = re.compile(r"_Z[\x21-\x7e]+")
_CHILD_IDLE_S = 5.0
# Types that the demangler of GCC 12 and older misreads, and ones that it knows and that take the same place:
# (code, code of the substitute, how the substitute is printed, how the type is printed since GCC 13).
_NEW_TYPES = (("DF16_", "Dd", "decimal64", "_Float16"), ("DF16b", "De", "decimal128", "std::bfloat16_t"))
_MAX_RESTARTS = 3


def demangle(name: str) -> str:
    """Readable form of a symbol: `.kd` and clone suffixes stripped, C++ names demangled, others as they are.

    >>> demangle("_Z5saxpyfPKfPf.kd")
    'saxpy(float, float const*, float*)'
    """
    return demangle_all([name])[name]


def demangle_all(names: Iterable[str]) -> dict[str, str]:
    """Readable form of many symbols at once; one that cannot be demangled within bounds stays as it is."""
    stems = {name: name.removesuffix(".kd") for name in names}
    bases = {name: text.split(".", 1)[0] for name, text in stems.items()}
    old = {base: _with_old_types(base) for base in bases.values()}
    answers = _answers([*bases.values(), *old.values()])
    # Older types first: an old demangler does not fail on new types, it reads them as something else.
    readable = {base: _with_new_types(answers[old[base]]) or answers[base] for base in old}
    return {name: readable[bases[name]] or text for name, text in stems.items()}


def _answers(names: Iterable[str]) -> dict[str, str]:
    """Demangled names, "" for what is not a mangled name or cannot be demangled within bounds."""
    answers = dict.fromkeys(names, "")
    mangled_names = [name for name in answers if _ITANIUM_NAME.fullmatch(name) and len(name) <= _MAX_NAME_BYTES]
    harmless = {name for name in mangled_names if _is_harmless(name)}
    answers.update((name, _demangle_here(name) or "") for name in harmless)
    suspects = tuple(name for name in mangled_names if name not in harmless)
    if suspects:
        answers.update(_demangle_apart(suspects))
    return answers


def _with_old_types(name: str) -> str:
    """The name with older types in place of new ones; "" where there is nothing to replace."""
    old_name = name
    for code, substitute, printed_type, _ in _NEW_TYPES:
        if printed_type in name:
            return ""
        old_name = old_name.replace(code, substitute)
    return old_name if old_name != name else ""


def _with_new_types(text: str) -> str:
    for _, _, printed_type, proper in _NEW_TYPES:
        text = re.sub(rf"\b{printed_type}\b", proper, text)
    return text


def _is_harmless(name: str) -> bool:
    return _doublings(name) <= _MAX_DOUBLINGS or _expansion(name) <= _MAX_EXPANSION


def _doublings(name: str) -> int:
    return len(_REFERENCE.findall(name)) + _DOUBLINGS_PER_PACK * len(_PACK_EXPANSION.findall(name))


def _expansion(name: str) -> float:
    """Bound of what a name prints, in letters of mangled names; infinity where this cannot tell.

    A part that `S2_` refers to was complete before, so it holds only references to parts with lower numbers, and only
    some of those before the first reference to it (Itanium C++ ABI, 5.1.10). Template arguments are before the tail.
    """
    if len(name) > _MAX_BOUNDED_NAME:
        return math.inf
    tail = next(match.start() for match in _SIMPLE_TAIL.finditer(name))
    is_misread = any(int(member["length"]) != len(member["name"]) for member in _MEMBERS.finditer(name, tail))
    if is_misread or _PACK_EXPANSION.search(name, 0, tail):
        return math.inf
    sizes: dict[int, int] = {}  # bound of each part that is referred to
    before: list[tuple[int, int]] = []  # references so far: number of the part, its bound
    total, arguments = len(name), 0
    for reference in _REFERENCE.finditer(name):
        if reference.start() >= tail and not arguments:
            arguments = total
        if reference[0][0] == "T":
            if not arguments:
                return math.inf
            number, size = -1, arguments
        else:
            digits = reference[0][1:-1]
            number = int(digits, 36) + 1 if digits else 0
            if number not in sizes:
                sizes[number] = len(name) + sum(part for lower, part in before if lower < number)
            size = sizes[number]
        before.append((number, size))
        total += size
    return total


@lru_cache(maxsize=4096)
def _demangle_here(name: str) -> str | None:
    return _core.demangle(name)


@lru_cache(maxsize=64)
def _demangle_apart(names: tuple[str, ...]) -> dict[str, str]:
    """Answers of the child; the name it dies of is left out, and it is started again behind that one."""
    argv = [sys.executable or "python3", "-I", "-m", "wavewright.codeobj.demangle_child"]
    answers: dict[str, str] = {}
    for _ in range(_MAX_RESTARTS + 1):
        if not names:
            break
        outcome = run_bounded(
            argv,
            "\n".join(names).encode("ascii"),
            idle_s=_CHILD_IDLE_S,
            total_s=4 * _CHILD_IDLE_S,
            output_limit_bytes=_MAX_TEXT_BYTES + 64 * sum(map(len, names)),
        )
        lines = outcome.stdout.split(b"\n")[:-1]
        answers.update(zip(names, (line.decode("utf-8", "replace") for line in lines), strict=False))
        names = names[len(lines) + 1 :]
    return answers
