"""The keys of a jobs file, declared once: what each may be, for which kinds of job, and what it means."""

from __future__ import annotations

import re
import shlex
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from wavewright.base.bounds import Bounds
from wavewright.capture.jobs.stored import KINDS

if TYPE_CHECKING:
    from collections.abc import Callable

NAME_LETTERS_MAX = 200
_WORDS_MAX, _WORD_LETTERS_MAX = 4096, 128 * 1024
_LAUNCHES_MAX = 10_000
_SECONDS = Bounds(0.01, 1e7)
_UNITS = {"": 1, "B": 1, "kB": 10**3, "MB": 10**6, "GB": 10**9, "KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30}


class WrongValueError(Exception):
    """What is wrong with a value, and what it may be."""


@dataclass(frozen=True)
class Key:
    """One key of a job."""

    name: str
    read: Callable[[Any], Any]  #: Raises WrongValueError.
    form: str  #: What it may be, for people.
    meaning: str
    field: str = ""  #: Of Wanted, Limits or Job; empty = the key's name.
    kinds: tuple[str, ...] = tuple(KINDS)
    is_for_defaults: bool = True


def text(value: Any) -> str:
    """A text without control characters."""
    if not isinstance(value, str):
        raise WrongValueError("a text in quotes")
    if "\0" in value or len(value) > _WORD_LETTERS_MAX:
        raise WrongValueError(f"a text without NUL characters, at most {_WORD_LETTERS_MAX:,} characters long")
    return value


def name(value: Any) -> str:
    """The name of a job: one printable line."""
    line = text(value)
    if not line.strip() or len(line) > NAME_LETTERS_MAX or not line.isprintable():
        raise WrongValueError(f"a printable line of 1 to {NAME_LETTERS_MAX} characters")
    return line


def kind(value: Any) -> str:
    """The kind of a job."""
    if not isinstance(value, str) or value not in KINDS:
        raise WrongValueError(" or ".join(KINDS))
    return str(value)


def words(value: Any) -> tuple[str, ...]:
    """A list of words, or a text that is split like a line of a shell.

    Examples
    --------
    >>> words("python 'a b.py'"), words(["python", "a b.py"])
    (('python', 'a b.py'), ('python', 'a b.py'))
    """
    if isinstance(value, str):
        try:
            value = shlex.split(text(value))
        except ValueError as error:
            raise WrongValueError(f"a line that a shell could split ({error})") from error
    if not isinstance(value, list) or not value or len(value) > _WORDS_MAX:
        raise WrongValueError(f"a text, or a list of 1 to {_WORDS_MAX:,} texts")
    return tuple(text(word) for word in value)


def names(value: Any) -> tuple[str, ...]:
    """One text, or a list of texts."""
    if isinstance(value, str):
        value = [value]
    if not isinstance(value, list) or len(value) > _WORDS_MAX:
        raise WrongValueError("a text, or a list of texts")
    return tuple(text(word) for word in value)


def passes(value: Any) -> tuple[tuple[str, ...], ...]:
    """Lists of counters, one per run of the program."""
    if not isinstance(value, list) or not value or not all(isinstance(part, list) and part for part in value):
        raise WrongValueError("a list of lists of names of counters")
    return tuple(tuple(text(word) for word in part) for part in value)


def variables(value: Any) -> dict[str, str]:
    """Variables for the program."""
    if not isinstance(value, dict):
        raise WrongValueError('a table, as { OMP_NUM_THREADS = "1" }')
    for variable, content in value.items():
        if not isinstance(content, str) or "\0" in content:
            raise WrongValueError(f"a table of texts; {variable!r} is none")
        if not re.fullmatch(r"[^=\0\s][^=\0]*", variable):
            raise WrongValueError(f"a table of names and texts; {variable!r} cannot be the name of a variable")
    return dict(value)


def launches(value: Any) -> tuple[int, ...]:
    """Launches of the kernel, from 1.

    Examples
    --------
    >>> launches("7-9,12"), launches([7, 8]), launches(3)
    ((7, 8, 9, 12), (7, 8), (3,))
    """
    wrong = WrongValueError(f"numbers from 1 on, at most {_LAUNCHES_MAX:,}: 7, [7, 8] or '7-8'")
    if isinstance(value, str):
        numbers: list[int] = []
        for part in value.split(","):
            form = re.fullmatch(r"\s*(\d{1,9})\s*(?:-\s*(\d{1,9})\s*)?", part)
            if not form:
                raise wrong
            first, last = int(form[1]), int(form[2] or form[1])
            if last < first or last - first >= _LAUNCHES_MAX:
                raise wrong
            numbers += range(first, last + 1)
        value = numbers
    value = value if isinstance(value, list) else [value]
    if not value or len(value) > _LAUNCHES_MAX:
        raise wrong
    if not all(type(number) is int and 1 <= number < 1 << 31 for number in value):
        raise wrong
    return tuple(sorted(set(value)))


def size(value: Any) -> int:
    """Bytes, with or without a unit.

    Examples
    --------
    >>> size("256 MiB"), size(4096)
    (268435456, 4096)
    """
    form = re.fullmatch(r"(\d{1,15})\s*([A-Za-z]{0,3})", value) if isinstance(value, str) else None
    count = int(form[1]) * _UNITS.get(form[2], 0) if form else value
    if type(count) is not int or not 1 <= count < 1 << 50:
        raise WrongValueError(f"a number of bytes, or a text with a unit ({', '.join(list(_UNITS)[1:])})")
    return count


def flag(value: Any) -> bool:
    """True or false."""
    if not isinstance(value, bool):
        raise WrongValueError("true or false")
    return value


def whole(low: int, high: int) -> Callable[[Any], int]:
    """A reader of integers within bounds."""

    def read(value: Any) -> int:
        if type(value) is not int or not low <= value <= high:
            raise WrongValueError(f"an integer from {low:,} to {high:,}")
        return value

    return read


def seconds(value: Any) -> float:
    """A time."""
    if type(value) not in (int, float) or not _SECONDS.holds(value):
        raise WrongValueError(f"a number of seconds, from {_SECONDS.low:g} to {_SECONDS.high:g}")
    return float(value)


def word(*choices: str) -> Callable[[Any], str]:
    """A reader of one of some words."""

    def read(value: Any) -> str:
        if not isinstance(value, str) or value not in choices:
            raise WrongValueError(" or ".join(choices))
        return str(value)

    return read


_FILTERED = ("att", "counters")
_ATT = ("att",)

KEYS = {
    key.name: key
    for key in (
        Key("name", name, "a line", "What the job is called; no two jobs have the same name.", is_for_defaults=False),
        Key(
            "kind",
            kind,
            "att, counters, samples, run, discover",
            "What is recorded, as the verbs of `wavewright capture`.",
        ),
        Key(
            "program",
            words,
            "a list of words, or a line",
            "The program and its arguments; a line is split as a shell would.",
        ),
        Key(
            "after",
            names,
            "a list of names",
            "Jobs that must have finished, with whatever verdict, before it starts.",
            is_for_defaults=False,
        ),
        Key(
            "env",
            variables,
            "a table",
            "Variables for the program; those of `[defaults]` are set too.",
            field="variables",
        ),
        Key(
            "cwd",
            text,
            "a path",
            "Folder in which it runs; relative to the folder of the jobs file, which is the default.",
        ),
        Key("seconds", seconds, "seconds", "After this time the program is told to stop. Default: 900."),
        Key("grace_seconds", seconds, "seconds", "Time to write its data after SIGINT, until SIGTERM. Default: 120."),
        Key(
            "attempts",
            whole(1, 100),
            "1 to 100",
            "How often it is tried at most, with changes that fit what went wrong. Default: 4.",
        ),
        Key(
            "expected_seconds",
            seconds,
            "seconds",
            "How long it will take: the longest jobs start first. Default: what it took before.",
        ),
        Key(
            "disk",
            size,
            "bytes, or with a unit",
            "Free space that must be there when it starts. Default: 1 GB.",
            field="disk_bytes",
        ),
        Key("extra", words, "a list of words, or a line", "More words for rocprofv3."),
        Key("kernel", text, "a text", "Kernels whose name contains this.", kinds=_FILTERED),
        Key(
            "regex",
            text,
            "a regular expression",
            "Kernels whose name matches this, as rocprofv3 compares. Not together with `kernel`.",
            field="kernel_regex",
            kinds=_FILTERED,
        ),
        Key(
            "exclude",
            text,
            "a regular expression",
            "Kernels that are left out.",
            field="exclude_regex",
            kinds=_FILTERED,
        ),
        Key("launches", launches, '7, [7, 8] or "7-8"', "Launches of the kernel, counted from 1.", kinds=_FILTERED),
        Key("cu", whole(0, 255), "0 to 255", "The traced CU or WGP.", field="target_cu", kinds=_ATT),
        Key("simds", whole(0, 15), "0 to 15", "gfx9: mask of SIMDs; gfx10 and newer: number of one SIMD.", kinds=_ATT),
        Key("se_mask", whole(1, (1 << 32) - 1), "a mask, as 0x11", "The traced shader engines.", kinds=_ATT),
        Key(
            "buffer",
            size,
            "bytes, or with a unit",
            "Buffer of all traced shader engines together.",
            field="buffer_bytes",
            kinds=_ATT,
        ),
        Key("counters", names, "a list of names", "SQ counters sampled into the trace; gfx9 only.", kinds=_ATT),
        Key(
            "counter_period", whole(1, 32), "1 to 32", "How often they are sampled; smaller is more often.", kinds=_ATT
        ),
        Key("activity", whole(1, 16), "1 to 16", "The eight activity counters, at this period.", kinds=_ATT),
        Key("serialize", flag, "true or false", "Kernels run one after the other.", field="serialize_all", kinds=_ATT),
        Key(
            "consecutive", whole(1, 10_000), "1 to 10000", "Dispatches from a chosen one on into one trace.", kinds=_ATT
        ),
        Key(
            "panels",
            names,
            "a list of names",
            "Counters for the metrics of panels: sol, l2, lds, ...",
            kinds=("counters",),
        ),
        Key("metrics", names, "a list of ids or names", "Counters for single metrics.", kinds=("counters",)),
        Key("pmc", names, "a list of names", "Counters by name; passes are made of them.", kinds=("counters",)),
        Key(
            "target",
            text,
            "as gfx942 or MI300X",
            "The GPU for which passes are made. Default: the first one of this machine.",
            kinds=("counters",),
        ),
        Key(
            "passes",
            passes,
            "a list of lists of names",
            "Counters; the program runs once per list. Not with `panels`, `metrics` and `pmc`.",
            kinds=("counters",),
        ),
        Key(
            "method",
            word("host_trap", "stochastic"),
            "host_trap or stochastic",
            "How the program counter is sampled.",
            kinds=("samples",),
        ),
        Key(
            "unit",
            word("time", "cycles", "instructions"),
            "time, cycles or instructions",
            "What the interval counts.",
            kinds=("samples",),
        ),
        Key(
            "interval",
            whole(1, (1 << 31) - 1),
            "an integer",
            "Distance of two samples, in that unit.",
            kinds=("samples",),
        ),
        Key(
            "parts",
            names,
            "a list of kernel, hip, memory, markers",
            "What a trace of the run contains.",
            kinds=("run",),
        ),
        Key(
            "tool",
            word("rocprofv3", "rpd", "rocprof-compute"),
            "rocprofv3, rpd or rocprof-compute",
            "What records the run.",
            kinds=("run",),
        ),
    )
}
