"""Events of Chrome's trace format as columns: times to the nanosecond, and the arguments that profilers write."""

from __future__ import annotations

import re
from collections.abc import Sequence
from contextlib import suppress
from decimal import Decimal, InvalidOperation
from operator import attrgetter
from pathlib import Path
from typing import Any

import msgspec
import polars as pl

from wavewright.base.toml import packaged
from wavewright.errors import NotATraceError
from wavewright.model.losses import Loss
from wavewright.readers.files.text import UNREADABLE_JSON, text_bytes

_HEAD_BYTES = 4096  #: Bytes that are searched for the first character of the JSON.
_BATCH_EVENTS = 1 << 15  #: Events that are Python objects at the same time.
#: Infinities and NaN as values of keys: C++ writers print them, JSON has none.
_NOT_JSON = re.compile(rb'("\s*:\s*)(?:-?[Ii]nf(?:inity)?|-?[Nn]a[Nn])(\s*[,}])')
_INT64_MAX = (1 << 63) - 1
_DIGITS_MAX = len(str(_INT64_MAX))
_NO_SIZE = (None, None, None)
SIZES = [f"{size}_{axis}" for size in ("grid", "block") for axis in "xyz"]  #: Columns of the two lists of lengths.


class ChromeFile(msgspec.Struct, rename={"events": "traceEvents"}):
    """The fields next to the events; PyTorch writes most of them."""

    events: list[msgspec.Raw]
    schemaVersion: Any = None  # noqa: N815
    baseTimeNanoseconds: Any = None  # noqa: N815
    deviceProperties: Any = None  # noqa: N815
    distributedInfo: Any = None  # noqa: N815


class _ChromeEvent(msgspec.Struct, gc=False):
    ph: str = ""
    cat: str = ""
    name: Any = ""
    pid: Any = None
    tid: Any = None
    ts: Any = None
    dur: Any = None
    id: Any = None
    args: msgspec.Raw = msgspec.Raw(b"{}")


_ARGS: dict[str, str] = packaged("names.toml", __package__)["arguments"]
_Args = msgspec.defstruct("_Args", [(name, Any, None) for name in _ARGS], rename=_ARGS, gc=False)
_TEXTS = ("pid", "tid", "pid_raw", "own_pid", "own_tid", "label", "desc", "kind", "direction")
_LISTS = ("grid", "block")


def read_chrome(path: Path, losses: list[Loss]) -> ChromeFile:
    """The file: an object with `traceEvents`, or the bare list of events; without its end it is read with a loss.

    Raises `UsageError, NotATraceError` when it cannot be read.
    """
    data = text_bytes(path, is_json=True)
    try:
        return _decoded(data)
    except UNREADABLE_JSON as error:
        problem = f"not a complete Chrome trace ({error})"
    # Repair infinities and a missing end. Of files of gigabytes, at most two copies are in memory.
    data = _NOT_JSON.sub(rb"\1null\2", data)
    data = data.rstrip().rstrip(b",")
    for end in (b"", b"]", b"]}"):
        with suppress(*UNREADABLE_JSON):
            file = _decoded(data + end)
            if end:
                losses.append(Loss("cut_file", detail=path.name))
            return file
    raise NotATraceError(problem, where=str(path), advice="check that the copy is complete, or record again")


def _decoded(data: bytes) -> ChromeFile:
    if data[:_HEAD_BYTES].lstrip()[:1] == b"[":
        return ChromeFile(msgspec.json.decode(data, type=list[msgspec.Raw]))
    return msgspec.json.decode(data, type=ChromeFile)


def chrome_events(file: ChromeFile, losses: list[Loss]) -> pl.DataFrame:
    """All events in one frame; values that are not events become a loss.

    Columns: strings `ph`, `cat`, `name`, `pid`, `tid`, `args` (JSON); `start_ns`, `dur_ns`; those of names.toml.

    >>> event = b'{"ph": "X", "name": "k", "ts": 1751410836000000.125, "dur": 0.5, "pid": 1, "tid": "a"}'
    >>> frame = chrome_events(ChromeFile([msgspec.Raw(event)]), [])
    >>> frame.select("ph", "name", "pid", "tid", "start_ns", "dur_ns").row(0)
    ('X', 'k', '1', 'a', 1751410836000000125, 500)
    """
    frames = []
    malformed_count = 0
    for start in range(0, len(file.events), _BATCH_EVENTS):
        frame, frame_malformed_count = _frame(file.events[start : start + _BATCH_EVENTS])
        frames.append(frame)
        malformed_count += frame_malformed_count
    if malformed_count:
        losses.append(Loss("malformed_events", malformed_count, detail="events"))
    return pl.concat(frames or [_frame([])[0]])


_EVENTS = msgspec.json.Decoder(list[_ChromeEvent], float_hook=str)
_EVENT = msgspec.json.Decoder(_ChromeEvent, float_hook=str)
_ARGUMENTS = msgspec.json.Decoder(list[_Args], float_hook=str)  # type: ignore[valid-type]
_ARGUMENT = msgspec.json.Decoder(_Args, float_hook=str)


def _frame(batch: Sequence[msgspec.Raw]) -> tuple[pl.DataFrame, int]:
    """The events of a batch as columns, and the number of values that are not events."""
    events: list[Any] = []
    try:
        events = _EVENTS.decode(b"[" + b",".join(batch) + b"]")
        args = _ARGUMENTS.decode(b"[" + b",".join(map(attrgetter("args"), events)) + b"]")
    except UNREADABLE_JSON:
        events, args = _one_by_one(batch)
    fields = ("ph", "cat", "name", "pid", "tid", "ts", "dur", "id")
    values = _columns(events, fields) | _columns(args, tuple(_ARGS))
    columns = {
        "ph": pl.Series(values["ph"], dtype=pl.Categorical),
        "cat": pl.Series(values["cat"], dtype=pl.Categorical),
        "name": _strings(values["name"]).cast(pl.Categorical),
        "start_ns": nanoseconds(values["ts"]),
        "dur_ns": nanoseconds(values["dur"]),
        "flow": _integers(values["id"]),
        "begin": _integers(values["begin"]),
        "end": _integers(values["end"]),
        "args": pl.Series([str(event.args, "utf-8", "replace") for event in events], dtype=pl.String),
    }
    columns |= {name: _strings(values[name]) for name in _TEXTS}
    for name in _LISTS:
        sizes = [value if isinstance(value, list) and len(value) == 3 else _NO_SIZE for value in values[name]]
        by_axis = list(zip(*sizes, strict=True)) or [(), (), ()]
        columns |= {f"{name}_{axis}": _integers(lengths) for axis, lengths in zip("xyz", by_axis, strict=True)}
    missing_args = [name for name in _ARGS if name not in columns and name not in _LISTS]
    columns |= {name: _integers(values[name]) for name in missing_args}
    return pl.DataFrame(columns), len(batch) - len(events)


def _one_by_one(batch: Sequence[msgspec.Raw]) -> tuple[list[Any], list[Any]]:
    """The events of a batch and their arguments, decoded one at a time: values that are not events are left out."""
    events, args = [], []
    for raw in batch:
        with suppress(*UNREADABLE_JSON):
            event = _EVENT.decode(str(raw, "utf-8", "replace"))
            args.append(_ARGUMENT.decode(event.args if bytes(event.args) != b"null" else b"{}"))
            events.append(event)
    return events, args


def _columns(rows: Sequence[Any], names: tuple[str, ...]) -> dict[str, Sequence[Any]]:
    return {name: list(map(attrgetter(name), rows)) for name in names}


def _strings(values: Sequence[Any]) -> pl.Series:
    """Values of any type as strings."""
    with suppress(TypeError, OverflowError, pl.exceptions.PolarsError):
        return pl.Series(values, dtype=pl.String)
    return pl.Series([None if value is None else str(value) for value in values], dtype=pl.String)


def _integers(values: Sequence[Any]) -> pl.Series:
    """Integers, also when written as strings or with `0x`; others are null."""
    with suppress(TypeError, OverflowError, pl.exceptions.PolarsError):
        return pl.Series(values, dtype=pl.Int64)
    frame = pl.select(text=_strings(values))
    text = pl.col("text")
    as_hex = text.str.strip_prefix("0x").str.to_integer(base=16, strict=False)
    number = text.str.strip_suffix(".0").cast(pl.Int64, strict=False)
    return frame.select(pl.when(text.str.starts_with("0x")).then(as_hex).otherwise(number))["text"]


def nanoseconds(microseconds: Sequence[Any]) -> pl.Series:
    """Times in microseconds, as numbers or strings, rounded to nanoseconds without a float in between.

    >>> nanoseconds(["1751410836000000.125", 3, "0.9996", None, "1.5e3"]).to_list()
    [1751410836000000125, 3000, 1000, None, 1500000]
    """
    frame = pl.select(text=_strings(microseconds))
    parts = pl.col("text").str.extract_groups(r"^(-?)(\d{1,15})(?:\.(\d+))?$")
    microsecond_count, fraction = parts.struct[1].cast(pl.Int64), parts.struct[2].fill_null("")
    thousandths = (fraction + "000").str.slice(0, 3).cast(pl.Int64, strict=False)
    rounded_up = (fraction.str.slice(3, 1).cast(pl.Int64, strict=False) >= 5).fill_null(value=False).cast(pl.Int64)
    magnitude = microsecond_count * 1000 + thousandths + rounded_up
    exact = frame.select(pl.when(parts.struct[0] == "-").then(-magnitude).otherwise(magnitude).alias("ns"), "text")
    text_rows = exact.with_row_index().filter(pl.col("ns").is_null() & pl.col("text").is_not_null())
    if not text_rows.height:
        return exact["ns"]
    text_rows_ns = pl.Series([_nanoseconds_of_text(text) for text in text_rows["text"]], dtype=pl.Int64)
    return exact["ns"].scatter(text_rows["index"], text_rows_ns)


def _nanoseconds_of_text(text: str) -> int | None:
    """A time in microseconds that only a decimal parser reads, such as `1.5e3`, in ns; None if it is not an Int64."""
    try:
        number = Decimal(text)
    except InvalidOperation:
        return None
    if not number.is_finite() or number.adjusted() > _DIGITS_MAX:  # before it becomes an integer of a million digits
        return None
    nanoseconds = int((number * 1000).to_integral_value())
    return nanoseconds if abs(nanoseconds) <= _INT64_MAX else None
