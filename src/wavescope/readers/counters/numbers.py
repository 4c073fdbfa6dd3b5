"""Numbers as people's spreadsheets write them: which mark is the decimal one is decided per file, never guessed."""

from __future__ import annotations

import math
import re

LARGEST = 1e24  #: No counter reaches this: they have 64 bits, and the instances of a block are some thousands.
SMALLEST = 1e-9  #: Nor is a mean of counts between this and 0.

_MAX_DIGITS = 64
_GROUPED = r"[+-]?[1-9]\d{{0,2}}({mark}\d{{3}})+"
_COMMA_DECIMAL = re.compile(
    rf"{_GROUPED.format(mark='[.]')},\d*|[+-]?(0|\d+),(\d{{1,2}}|\d{{4,}})|[+-]?0,\d+|[+-]?\d{{4,}},\d+"
)
_COMMA_GROUPS = re.compile(rf"{_GROUPED.format(mark=',')}[.]\d*|[+-]?[1-9]\d{{0,2}}(,\d{{3}}){{2,}}")
_DOT_GROUPS = re.compile(r"[+-]?[1-9]\d{0,2}([.]\d{3})+(,\d*)?")
_QUOTED = re.compile(rb'"\s*[+-]?\d[\d.]*,\d[\d,.]*\s*"')


def evidence(text: bytes, separator: str) -> set[str]:
    """What commas in numbers of this text can only mean: decimal, groups; unclear where they may mean both.

    Examples
    --------
    >>> sorted(evidence(b'"12,5","1,234"', ",")), evidence(b'"1,234,567"', ","), evidence(b'"1,234"', ",")
    (['decimal', 'unclear'], {'groups'}, {'unclear'})
    """
    if separator != ",":
        return {"decimal"} if re.search(rb"(^|[;\t\n\"])[+-]?\d[\d.]*,\d", text) else set()
    found = set()
    for quoted in set(_QUOTED.findall(text)):
        word = quoted.decode().strip('" ')
        if _COMMA_DECIMAL.fullmatch(word):
            found.add("decimal")
        elif _COMMA_GROUPS.fullmatch(word):
            found.add("groups")
        else:
            found.add("unclear")
    return found


def is_count(value: float) -> bool:
    """Whether a counter can have this value.

    Examples
    --------
    >>> is_count(0.0), is_count(12.5), is_count(-1.0), is_count(1e300), is_count(5e-324), is_count(float("nan"))
    (True, True, False, False, False, False)
    """
    return value == 0 or SMALLEST <= value <= LARGEST


def number(word: str, comma: str = "") -> float | None:
    """The number that a field says; None = it says none, or more than one could be meant.

    Examples
    --------
    >>> number("12"), number(" 1e3 "), number("1.234,5", "decimal"), number("1,234", "groups"), number("1,234")
    (12.0, 1000.0, 1234.5, 1234.0, None)
    """
    word = word.strip()
    if len(word) > _MAX_DIGITS or "_" in word:
        return None
    if comma == "decimal":
        word = word.replace(".", "") if _DOT_GROUPS.fullmatch(word) else word
        word = word.replace(",", ".") if word.count(",") == 1 else word
    elif comma == "groups" and "," in word:
        head, _, tail = word.partition(".")
        if not re.fullmatch(_GROUPED.format(mark=","), head):
            return None
        word = f"{head.replace(',', '')}.{tail}"
    try:
        value = float(word)
    except ValueError:
        return None
    return value if math.isfinite(value) else None
