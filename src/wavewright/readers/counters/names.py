"""Names in tables of counters: one spelling for counters, and the columns that describe a dispatch."""

from __future__ import annotations

import math
import re
from typing import NamedTuple

from wavewright.base.toml import packaged

_FACTS = packaged("columns.toml", __package__)
#: Ours -> theirs, of all generations of tools, in small letters.
COLUMNS: dict[str, list[str]] = _FACTS["dispatches"]
_KNOWN = frozenset(name for names in COLUMNS.values() for name in names).union(_FACTS["not_counters"])
TAKEN = frozenset(_FACTS["taken"])  #: Names of our columns beside counters: a counter of such a name gets a `_`.
_BLOCK = re.compile(
    r"(SQC?|SQG|SP|SPI|TA|TD|TC[ACP]|TCI|GDS|GRBM|GRBMH|CP[CFG]|GL[12][ACXR]|GCEA|GCR|GC|EA|MC|GUS|CHA|CHC|RLC)_[A-Z0-9]"
)
_PLAIN = re.compile(r"[A-Za-z]\w*(\[\d{1,4}\])?")
_CHANNEL = re.compile(r"(.+)\[(\d{1,4})\]")
_REPEATED = re.compile(r"_\d{1,4}$")
_OTHER_NAMES = {"FetchSize": "FETCH_SIZE", "WriteSize": "WRITE_SIZE"}  #: Names of rocprof's metrics before ROCm 5.
KERNEL_SUFFIX = r"( \[clone \.kd\]| \(\.kd\)|\.kd)$"  #: What tools append to the names of kernels.


class Named(NamedTuple):
    """A counter as the model calls it."""

    counter: str
    channel: int | None
    column: str


def counter_named(spelling: str) -> Named:
    """The counter that a tool spells so: without _sum, under one name of the fabric interface, channel apart.

    >>> counter_named("TCC_EA_RDREQ_sum").column, counter_named("TCC_EA_RDREQ[3]")
    ('TCC_EA0_RDREQ', Named(counter='TCC_EA0_RDREQ', channel=3, column='TCC_EA0_RDREQ[3]'))
    """
    match = _CHANNEL.fullmatch(spelling)
    name, channel = (match[1], int(match[2])) if match else (spelling, None)
    name = _OTHER_NAMES.get(name, name).removesuffix("_sum")
    if name.startswith("TCC_EA_"):
        name = f"TCC_EA0_{name[7:]}"
    if name in TAKEN:
        name += "_"
    return Named(name, channel, name if channel is None else f"{name}[{channel}]")


def level_of(counter: str) -> str | None:
    """The level that a counter of the ROCpd form accumulates; None = not an accumulating counter.

    >>> level_of("SQ_LEVEL_WAVES_ACCUM"), level_of("SQ_WAVES")
    ('SQ_LEVEL_WAVES', None)
    """
    level = counter.removesuffix("_ACCUM")
    return level if level != counter and "LEVEL" in level else None


def is_counter(column: str) -> bool:
    """True if a column is named like a counter of a known block.

    >>> is_counter("SQ_WAVES"), is_counter("obj_3"), is_counter("LDS_Per_Workgroup")
    (True, False, False)
    """
    return _BLOCK.match(column) is not None


def may_be_counter(column: str) -> bool:
    """True if a column that is not named like a counter of a block can be one, such as FETCH_SIZE or a user's own.

    >>> may_be_counter("FETCH_SIZE"), may_be_counter("wave_size_7"), may_be_counter("SQ_WAVES.1")
    (True, False, False)
    """
    plain = column.lower()
    if plain in _KNOWN or _REPEATED.sub("", plain) in _KNOWN or plain.startswith("unnamed"):
        return False
    return _PLAIN.fullmatch(column) is not None


def plain_kernel(name: str) -> str:
    """The kernel name without suffixes of tools.

    >>> plain_kernel("copy(double*) [clone .kd]"), plain_kernel("copy.kd")
    ('copy(double*)', 'copy')
    """
    return re.sub(KERNEL_SUFFIX, "", name)


# --- numbers of counters: the valid range, and the cells of a CSV file ---
LARGEST = 1e24  #: Above the largest possible count: 64 bits, summed over the thousands of instances of a block.
SMALLEST = 1e-9  #: Below the smallest possible mean of counts that is not 0.
_MAX_DIGITS = 64


def is_count(value: float) -> bool:
    """True if a counter can have this value.

    >>> is_count(0.0), is_count(12.5), is_count(-1.0), is_count(1e300), is_count(5e-324), is_count(float("nan"))
    (True, True, False, False, False, False)
    """
    return value == 0 or SMALLEST <= value <= LARGEST


def number(cell: str) -> float | None:
    """The number in a cell; None = not a finite number.

    >>> number("12"), number(" 1e3 "), number("1,234"), number("1_000"), number("inf")
    (12.0, 1000.0, None, None, None)
    """
    if len(cell.strip()) > _MAX_DIGITS or "_" in cell:
        return None
    try:
        value = float(cell)
    except ValueError:
        return None
    return value if math.isfinite(value) else None
