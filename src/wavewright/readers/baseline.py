"""Baseline files (`*.wwbase`): JSON with a version, names once, and one row of numbers per quantity and capture."""

from __future__ import annotations

from dataclasses import fields
from pathlib import Path
from typing import Annotated, Any

import msgspec
from msgspec import Meta, Struct, structs

from wavewright.base.files import open_regular
from wavewright.errors import NotATraceError, UnsupportedError, UsageError
from wavewright.model.baseline import BASELINE_FORMAT, BASELINE_SCHEMA_VERSION, Baseline, MeasuredCapture, Quantity
from wavewright.model.report import InputFile

_MOST_BYTES = 64 << 20

Text = Annotated[str, Meta(max_length=1 << 20)]
ShortText = Annotated[str, Meta(max_length=200)]
Count = Annotated[int, Meta(ge=0, le=1 << 62)]
Number = float | None


class Row(Struct, array_like=True, forbid_unknown_fields=True):
    """One quantity of one capture, as an array; `name` and `file` are places in the list of names."""

    subject: ShortText
    name: Count
    unit: ShortText
    count: Count
    mean: float
    error: Number = None
    degrees: Count | None = None
    median: Number = None
    deviation: Number = None
    total: Number = None
    lanes: Number = None
    file: Count | None = None
    line: Count = 0


class Input(Struct, forbid_unknown_fields=True):
    """A file that was read."""

    path: Text
    byte_count: Count
    sha256: ShortText
    is_whole: bool = True


class Capture(Struct):
    """One capture."""

    label: Text
    quantities: Annotated[list[Row], Meta(max_length=1_000_000)]
    inputs: Annotated[list[Input], Meta(max_length=10_000)] = []
    target: Text = ""
    product: Text = ""
    software: dict[str, str] = {}
    kernel: Text = ""
    code: ShortText = ""
    step_count: Annotated[int, Meta(ge=1, le=1 << 62)] = 1
    damages: Annotated[list[Text], Meta(max_length=1_000)] = []


class File(Struct):
    """The whole file."""

    format: str
    schema_version: int
    version: ShortText
    kind: str
    names: Annotated[list[Text], Meta(max_length=1_000_000)]
    captures: Annotated[list[Capture], Meta(min_length=1, max_length=10_000)]
    step: str | None = None
    filters: dict[str, str] = {}


class _Head(Struct):
    format: str = ""
    schema_version: int = 0


def is_baseline(path: Path) -> bool:
    """True if a file says that it is a baseline; its name does not matter."""
    try:
        with open_regular(path) as stream:
            head = stream.read(200)
    except OSError:
        return False
    return head.lstrip().startswith(b"{") and f'"{BASELINE_FORMAT}"'.encode() in head


def read_baseline(path: Path) -> Baseline:
    """A baseline file, checked.

    Raises `NotATraceError` when it is not a baseline, or damaged; `UnsupportedError` when a newer version of wavewright
    wrote it.
    """
    where, again = str(path), "make it again with `wavewright baseline`"
    try:
        with open_regular(path) as stream:
            data = stream.read(_MOST_BYTES + 1)
        if len(data) > _MOST_BYTES:
            raise NotATraceError(f"more than {_MOST_BYTES >> 20} MiB are not a baseline", where=where, advice=again)
    except OSError as error:
        raise UsageError(error.strerror or "cannot be read", where=where) from error
    try:
        head = msgspec.json.decode(data, type=_Head)
        if head.format != BASELINE_FORMAT:
            raise NotATraceError("not a baseline of wavewright", where=where, advice=again)
        if head.schema_version != BASELINE_SCHEMA_VERSION:
            problem = f"a baseline of version {head.schema_version}; this wavewright reads {BASELINE_SCHEMA_VERSION}"
            raise UnsupportedError(problem, where=where, advice=f"update wavewright, or {again}")
        return _opened(msgspec.json.decode(data, type=File))
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise NotATraceError(f"a damaged baseline ({error})", where=where, advice=again) from error
    except IndexError as error:
        raise NotATraceError("a damaged baseline (a name is missing)", where=where, advice=again) from error


def _opened(file: File) -> Baseline:
    """The baseline in a decoded file. Raises `IndexError` when it refers to a name that it does not list."""
    if file.kind not in ("run", "trace", "counters"):
        raise msgspec.ValidationError(f"unknown kind {file.kind[:40]!r}")
    captures = []
    for capture in file.captures:
        lists: dict[str, Any] = {
            "quantities": tuple(_quantity(row, file.names) for row in capture.quantities),
            "inputs": tuple(InputFile(**structs.asdict(item)) for item in capture.inputs),
            "damages": tuple(capture.damages),
        }
        captures.append(MeasuredCapture(**(structs.asdict(capture) | lists)))
    return Baseline(file.kind, tuple(captures), file.step, file.filters, file.version, file.schema_version)


def _quantity(row: Row, names: list[str]) -> Quantity:
    values: dict[str, Any] = {field.name: getattr(row, field.name) for field in fields(Quantity)}
    return Quantity(**values | {"name": names[row.name], "file": "" if row.file is None else names[row.file]})
