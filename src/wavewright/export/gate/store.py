"""Adds the measurements of captures to a store: a Parquet file per capture, which appears completely or not at all."""

from __future__ import annotations

import hashlib
import io
from dataclasses import dataclass, fields

import msgspec
import polars as pl

from wavewright.base.shown import shown
from wavewright.errors import OutputError
from wavewright.model.baseline import (
    STORE_FORMAT,
    STORE_MARK,
    STORE_ROWS,
    STORE_VERSION,
    Baseline,
    CaptureLabels,
    MeasuredCapture,
    Quantity,
)
from wavewright.model.schema import frame_of
from wavewright.readers.store import CAPTURES, ENDING, PACKS, check_mark, filter_text, open_store, place_of

_PACK_FROM = 256  #: From this many captures without a pack on they are packed; fewer files are read fast enough singly.
_QUANTITY_COLUMNS = {field.name for field in fields(Quantity)} & set(STORE_ROWS.names)


@dataclass(frozen=True)
class Added:
    """The outcome for one capture."""

    capture: str  #: Its identity, a hash.
    label: str
    is_new: bool  #: False = the store had it.
    quantity_count: int


def make_store(address: str) -> None:
    """Make a store where there is none."""
    place = place_of(address)
    names = place.names("")
    if STORE_MARK in names:
        check_mark(address)
        return
    if names:
        advice = "name a new folder, or an empty one"
        raise OutputError(f"a store would be among other files ({names[0]})", where=address, advice=advice)
    place.publish(STORE_MARK, msgspec.json.encode({"format": STORE_FORMAT, "version": STORE_VERSION}) + b"\n")


def add_captures(address: str, measured: Baseline, labels: CaptureLabels, *, path: str, newest_ns: int) -> list[Added]:
    """Add the captures at a path; those that the store has already stay unchanged.

    `newest_ns` is the last change of their files, since 1970. Raises `WavewrightError` when the store cannot be
    written, or is not one.
    """
    place = check_mark(address)
    added = []
    for capture in measured.captures:
        identity = _identity(measured, capture)
        rows = _rows(measured, capture, labels, identity=identity, path=path, newest_ns=newest_ns)
        name = f"{CAPTURES}/kind={measured.kind}/{identity}{ENDING}"
        try:
            is_new = place.publish(name, _parquet(rows))
        except OSError as error:
            problem = f"the store cannot be written: {error.strerror or error}"
            raise OutputError(problem, where=address, advice="check its permissions and free space") from error
        added.append(Added(identity, capture.label, is_new, rows.height))
    return added


def pack(address: str, kind: str) -> int:
    """Put the captures that are in no pack into one if they are many; returns the number of packed captures."""
    store = open_store(address)
    captures = store.unpacked(kind)
    if len(captures) < _PACK_FROM:
        return 0
    rows = store.of_captures(kind, captures)
    name = hashlib.sha256("\n".join(captures).encode()).hexdigest()[:32]
    store.place.publish(f"{PACKS}/kind={kind}/{name}{ENDING}", _parquet(rows))
    return len(captures)


def _identity(measured: Baseline, capture: MeasuredCapture) -> str:
    """A hash of the files that were measured and of the choice in them; without files, of the measurements."""
    origin: list[object] = [measured.kind, measured.step, sorted(measured.filters.items()), capture.code]
    if capture.inputs:
        _, mark, dispatch = capture.label.rpartition(" dispatch ")  # several dispatches can be in the same files
        origin += [sorted((file.sha256, file.byte_count) for file in capture.inputs), dispatch if mark else ""]
    else:
        origin += [capture.label, [msgspec.to_builtins(quantity) for quantity in capture.quantities]]
    return hashlib.sha256(msgspec.json.encode(origin)).hexdigest()[:32]


def _rows(
    measured: Baseline, capture: MeasuredCapture, labels: CaptureLabels, *, identity: str, path: str, newest_ns: int
) -> pl.DataFrame:
    """A row of `STORE_ROWS` per quantity of the capture."""
    common = {
        "capture": identity,
        "taken_ns": newest_ns if labels.taken_ns is None else labels.taken_ns,
        "label": shown(capture.label),
        "series": shown(labels.series),
        "kind": measured.kind,
        "target": shown(capture.target or capture.product),
        "commit_id": shown(labels.commit),
        "labels": "\n".join(shown(label) for label in labels.others),
        "software": "\n".join(shown(f"{name}={value}") for name, value in sorted(capture.software.items())),
        "step": measured.step or "",
        "filter": filter_text(measured.filters),
        "kernel": shown(capture.kernel),
        "code": capture.code,
        "step_count": capture.step_count,
        "damages": "\n".join(shown(damage) for damage in capture.damages),
        "path": shown(path),
    }
    rows = [common | {name: getattr(quantity, name) for name in _QUANTITY_COLUMNS} for quantity in capture.quantities]
    return frame_of(STORE_ROWS, rows)


def _parquet(rows: pl.DataFrame) -> bytes:
    content = io.BytesIO()
    rows.write_parquet(content, compression="zstd")
    return content.getvalue()
