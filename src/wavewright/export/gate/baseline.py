"""Writes baseline files, the format of which `wavewright.readers.baseline` declares."""

from __future__ import annotations

from dataclasses import fields
from pathlib import Path
from typing import Any

import msgspec

from wavewright.base.shown import shown
from wavewright.export.kit.staging import staged
from wavewright.model.baseline import BASELINE_FORMAT, Baseline, Quantity
from wavewright.readers.baseline import Capture, File, Input, Row

_DIGITS = 9  #: Significant digits of numbers: more than a clock of nanoseconds has.


def write_baseline(baseline: Baseline, path: Path, *, force: bool = False) -> None:
    """Write a baseline; the same captures give the same bytes."""
    with staged([path], force=force) as (twin,):
        twin.write_bytes(baseline_bytes(baseline))


def baseline_bytes(baseline: Baseline) -> bytes:
    """The file's bytes: JSON, one quantity per line."""
    numbers: dict[str, int] = {}
    captures = [
        Capture(
            label=shown(capture.label),
            quantities=[_row(quantity, numbers) for quantity in capture.quantities],
            inputs=[Input(shown(file.path), file.byte_count, file.sha256, file.is_whole) for file in capture.inputs],
            target=capture.target,
            product=shown(capture.product),
            software={shown(name): shown(text) for name, text in capture.software.items()},
            kernel=shown(capture.kernel),
            code=capture.code,
            step_count=capture.step_count,
            damages=[shown(text) for text in capture.damages],
        )
        for capture in baseline.captures
    ]
    file = File(
        format=BASELINE_FORMAT,
        schema_version=baseline.schema_version,
        version=baseline.version,
        kind=baseline.kind,
        names=list(numbers),
        captures=captures,
        step=baseline.step,
        filters=dict(baseline.filters),
    )
    return msgspec.json.encode(file).replace(b'],["', b'],\n["') + b"\n"


def _row(quantity: Quantity, numbers: dict[str, int]) -> Row:
    """A quantity with numbers instead of names; `numbers` (name -> its index in the file) gets the new names."""
    values: dict[str, Any] = {field.name: getattr(quantity, field.name) for field in fields(quantity)}
    for name, value in values.items():
        if isinstance(value, float):
            values[name] = float(f"{value:.{_DIGITS}g}")
    values["name"] = numbers.setdefault(shown(quantity.name), len(numbers))  # may be empty: of a whole capture
    values["file"] = numbers.setdefault(shown(quantity.file), len(numbers)) if quantity.file else None
    return Row(**values)
