"""Regexes for names of kernels that every release understands alike, and warnings about those that users write.

What is compared: the name of a symbol without .kd, demangled unless -M, truncated with -T; searched for, not matched
as a whole; exclusion after inclusion. Until ROCm 7.0 std::regex compares, then a small engine of AMD's own. Here Python
does; where a construct may mean something else to one of them, no answer is given.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterable, Sequence
from contextlib import suppress

from wavewright.capture.rocprofv3.options import Version, is_within
from wavewright.errors import UsageError
from wavewright.facts.loader import packaged

_SPECIAL = re.compile(r"[\^$\\.*+?()\[\]{}|]")
_CONTROL = re.compile(r"[\x00-\x1f\x7f]")
_CLOSING = {")": "(", ">": "<", "]": "["}
#: A shorter part of a name is not worth reading; a longer one costs more than it tells: std::regex is slow.
_PART_MIN, _PART_MAX = 3, 256
_SHOWN = 80  #: Characters of a text that a message repeats, and of a name that is short enough as it is.
#: What the three engines do not read alike, or what may take for ever: not judged here.
_NOT_JUDGED = re.compile(r"\(\?|\\[^dDwWsS\W]|\[\[?:|\[[^\]]*\\|\)[*+?{]|\{\d{4}|\([^()]*[*+?}][^()]*\)|\|.*\)[^.]")


def _is_amds(version: Version) -> bool:
    """True when AMD's own engine compares: it has no (?:, no \\b and no look-around."""
    return is_within(version, "7.1")


def literal(text: str) -> str:
    """A regex that finds a text as it is, in both engines."""
    return _CONTROL.sub(".", _SPECIAL.sub(r"\\\g<0>", text))


def parts_regex(parts: Sequence[str]) -> str:
    """A regex that finds each of some texts anywhere in a name; longer ones first, which AMD's engine needs."""
    texts = sorted(set(parts), key=lambda text: (-len(text), text))
    if not texts or not all(texts):
        raise UsageError("no name of a kernel is given", advice="give a part of its name")
    return literal(texts[0]) if len(texts) == 1 else f".*({'|'.join(map(literal, texts))}).*"


def name_regex(name: str, others: Iterable[str] = ()) -> str:
    """The shortest readable regex that finds a name of a discovery and no other of its names.

    Parts that start where an identifier starts are preferred; when no part tells the name from the others, it is
    matched as a whole. Names are as the discovery prints them; the name itself may be among the others.

    >>> name_regex("void gemm<float>(float*)", ["void gemm<double>(double*)", "void add(float*)"])
    'gemm<f'
    >>> name_regex("add", ["add_one"])
    '^add$'
    """
    rest = {other for other in others if other != name}
    part = _unique_part(name, rest)
    return literal(part) if part else f"^{literal(name)}$"


def _unique_part(name: str, others: set[str]) -> str:
    """The shortest part of a name, from the start of an identifier on, that no other name contains."""
    short = truncated(name)
    if _PART_MIN <= len(short) <= _SHOWN and short in name and not any(short in other for other in others):
        return short
    starts = [match.start() for match in re.finditer(r"(?<![A-Za-z0-9_])[A-Za-z_]", name)] or [0]
    preferred = name.find(short) if short else -1
    best = ""
    for start in starts:
        length = _unique_length(name[start : start + _PART_MAX], others)
        if length is None:
            continue
        part = name[start : start + length]
        if start == preferred:  # where the function's own name starts: what people look for
            return part
        if not best or len(part) < len(best):
            best = part
    return best


def _unique_length(text: str, others: set[str]) -> int | None:
    """The least number of characters of a text's start that no other name contains; None = it is not unique."""
    for length in range(_PART_MIN, len(text) + 1):
        others = {other for other in others if text[:length] in other}
        if not others:
            return length
    return None


def truncated(name: str) -> str:
    """A name as rocprofv3 shows and compares it with -T.

    Trailing (...), <...> and [...] are cut off in turn, and the last word after a space or colon remains.

    >>> truncated("void ns::addition_kernel<float>(float*, int)"), truncated("gemm.kd")
    ('addition_kernel', 'gemm.kd')
    """
    end = len(name)
    while end and (name[end - 1] == " " or name[end - 1] in _CLOSING):
        end = end - 1 if name[end - 1] == " " else _opened(name, end - 1)
    start = max(name.rfind(" ", 0, end), name.rfind(":", 0, end)) + 1
    return name[start:end]


def _opened(name: str, place: int) -> int:
    """The place at which the bracket that is closed at `place` opens; 0 = nowhere."""
    depth, closing = 0, name[place]
    for at in range(place, -1, -1):
        depth += (name[at] == closing) - (name[at] == _CLOSING[closing])
        if depth == 0:
            return at
    return 0


def names_found(pattern: str, names: Iterable[str], version: Version) -> tuple[str, ...] | None:
    """The names that a regex finds in every release; None = not judged here."""
    check_regex(pattern, version)
    if _NOT_JUDGED.search(re.sub(r"\\[^\w-]", "", pattern)):
        return None
    try:
        compiled = re.compile(re.sub(r"(?<!\\)\$", r"\\Z", pattern))
    except re.error:
        return None
    return tuple(name for name in names if compiled.search(name))


#: Python's words for what every engine refuses.
_REFUSED_BY_ALL = ("missing )", "unterminated character set", "unbalanced parenthesis", "bad escape (end of pattern)")
#: What Python takes and std::regex refuses: look-behind, flags and names of groups, a brace that is no count.
_REFUSED_BY_STD = re.compile(r"(?<!\\)(?:\(\?(?![:=!])|\{(?!\d+(?:,\d*)?\}))")


def check_regex(pattern: str, version: Version) -> None:
    """Refuse a regex that the engine of a release would refuse, which ends the program that is profiled."""
    problem = ""
    # Warnings are about what a later Python will read otherwise; what is too large for Python is not judged.
    with warnings.catch_warnings(action="ignore"), suppress(OverflowError, RecursionError):
        try:
            re.compile(pattern)
        except re.error as error:
            problem = str(error)
    if _is_amds(version):
        problem = problem if problem.startswith(_REFUSED_BY_ALL) else ""
    elif not problem and (match := _REFUSED_BY_STD.search(pattern)):
        problem = f"{match[0]} at position {match.start()}"
    if problem:
        what = f"rocprofv3 of this release does not take the regex {pattern[:_SHOWN]!r}: {problem}"
        raise UsageError(what, advice="the program would be ended by it; escape special characters with \\")
    if "\0" in pattern or "\n" in pattern:
        raise UsageError("a regex cannot hold line ends or null characters", advice="use . for any character")


#: Pattern -> what it means to AMD's own engine.
_NOT_IN_AMD: dict[str, str] = packaged("regex.toml", __package__)


def regex_warnings(
    pattern: str, version: Version, *, is_truncating: bool = False, is_mangled: bool = False
) -> tuple[str, ...]:
    """Sentences about what a user's regex does not do in a release.

    With -T (`is_truncating`) name filters see the short names, with -M (`is_mangled`) those of the code object.
    """
    sentences = []
    if _is_amds(version):
        sentences += [sentence for sought, sentence in _NOT_IN_AMD.items() if re.search(sought, pattern)]
        sentences += [
            f"{longer[:_SHOWN]} is never tried where {shorter[:_SHOWN]} fits; write the longer one first"
            for shorter, longer in _hidden_alternatives(pattern)
        ]
    # An escaped bracket is text, a plain one is a group.
    text = re.sub(r"\\.|\(", lambda match: match[0][1:] if match[0].startswith("\\") else "", pattern)
    if is_mangled and re.search(r"[<>(:, ]", text):
        sentences.append("-M compares mangled names, in which namespaces and arguments are written otherwise")
    elif is_truncating and re.search(r"[<>(:]", text):
        sentences.append("-T cuts namespaces and arguments off before names are compared, so that this finds nothing")
    return tuple(sentences)


def _hidden_alternatives(pattern: str) -> list[tuple[str, str]]:
    """Pairs of alternatives of a group with something after it, in which a shorter one comes before a longer one."""
    pairs = []
    for group in re.finditer(r"(?<!\\)\(([^()]*\|[^()]*)\)", pattern):
        if pattern[group.end() :] in ("", ".*"):
            continue  # whatever follows fits after the shorter one as well
        branches = group[1].split("|")
        pairs += [
            (shorter, longer)
            for place, shorter in enumerate(branches)
            for longer in branches[place + 1 :]
            if shorter and longer.startswith(shorter) and longer != shorter
        ]
    return pairs
