"""Budget files (TOML): limits of kernels, markers and whole captures, and of findings."""

from __future__ import annotations

import re
from collections.abc import Iterator
from math import isfinite
from pathlib import Path

from wavewright.base.toml import read_toml
from wavewright.errors import UsageError
from wavewright.model.baseline import Budget, Limit

_MOST_LIMITS = 1_000
_LONGEST = 1_000  #: Characters of a limit; longer ones are refused.
_LIMIT = re.compile(r"(?P<name>.*\S)\s*(?P<relation><=|>=)\s*(?P<value>[0-9][0-9_]*(?:\.[0-9]+)?)\s*(?P<unit>\S*)")
_TIMES_NS = {"ns": 1.0, "us": 1e3, "µs": 1e3, "ms": 1e6, "s": 1e9}
#: Entry of the file -> the subject of its limits; None = the name of the limit is the subject.
_ENTRIES = {"kernels": "kernel", "copies": "copy", "markers": "marker", "lines": "line", "metrics": "metric"}
#: Subjects of `limits`: quantities of the whole capture.
_WHOLES = ("gpu-time", "step", "wall", "busy", "cycles", "kernel-time")
_ADVICE = 'write kernels = ["attention <= 210 us"], limits = ["busy >= 90 %"] or strongest_finding = "5 %"'


def read_budget(path: Path) -> Budget:
    """The limits of a file. Raises `UsageError` when it cannot be read, or has a mistake."""
    where = str(path)
    declaration = read_toml(path, advice=_ADVICE)
    unknown = [key for key in declaration if key not in (*_ENTRIES, "limits", "strongest_finding")]
    if unknown:
        raise UsageError(f"unknown entry {unknown[0][:60]!r}", where=where, advice=_ADVICE)
    limits = [
        limit
        for entry in (*_ENTRIES, "limits")
        for text in _texts(declaration.get(entry, []), entry, where)
        for limit in _limits(text, _ENTRIES.get(entry), where)
    ]
    strongest_share = None
    if "strongest_finding" in declaration:
        text = declaration["strongest_finding"]
        match = re.fullmatch(r"([0-9]+(?:\.[0-9]+)?)\s*%", text) if isinstance(text, str) else None
        if match is None:
            raise UsageError("strongest_finding is not a percentage", where=where, advice=_ADVICE)
        strongest_share = float(match[1]) / 100
    if not limits and strongest_share is None:
        raise UsageError("holds no limit", where=where, advice=_ADVICE)
    if len(limits) > _MOST_LIMITS:
        raise UsageError(f"{len(limits):,} limits", where=where, advice=f"at most {_MOST_LIMITS:,}")
    return Budget(where, tuple(limits), strongest_share)


def _texts(values: object, entry: str, where: str) -> list[str]:
    if not isinstance(values, list) or not all(isinstance(text, str) for text in values):
        raise UsageError(f"{entry} is not a list of texts", where=where, advice=_ADVICE)
    return values


def _limits(text: str, subject: str | None, where: str) -> Iterator[Limit]:
    match = _LIMIT.fullmatch(text.strip()) if len(text) <= _LONGEST else None
    if match is None:
        problem = f"{text[:60]!r} is not a limit"
        raise UsageError(problem, where=where, advice="write NAME <= NUMBER UNIT or NAME >= NUMBER UNIT")
    name, unit = match["name"], match["unit"]
    if subject is None:
        if name not in _WHOLES:
            raise UsageError(f"{name[:60]!r} has no limits", where=where, advice=f"one of {', '.join(_WHOLES)}")
        subject, name = name, ""
    value = float(match["value"].replace("_", ""))
    value, unit = _with_unit(value, unit, subject, f"{where}, {text[:60]!r}")
    yield Limit(text.strip(), subject, name, is_at_most=match["relation"] == "<=", value=value, unit=unit)


def _with_unit(value: float, unit: str, subject: str, where: str) -> tuple[float, str]:
    """The value in the unit in which its subject is measured."""
    if subject == "metric":
        return value, ""
    if subject == "busy":
        units = {"%": (0.01, "share")}
    elif subject in ("cycles", "line"):
        units = {"cycles": (1.0, "cycles")}
    else:
        units = {name: (factor, "ns") for name, factor in _TIMES_NS.items()}
    if unit not in units or not isfinite(value):
        raise UsageError(f"{unit[:20]!r} is not a unit of this", where=where, advice=f"one of {', '.join(units)}")
    factor, measured_in = units[unit]
    return value * factor, measured_in
