"""Writes baseline files: see `wavewright.readers.baseline`."""

from __future__ import annotations

from dataclasses import fields
from pathlib import Path

import msgspec

from wavewright.base.shown import shown
from wavewright.export.kit.staging import staged
from wavewright.model.baseline import BASELINE_FORMAT, Baseline, Quantity
from wavewright.readers.baseline import Capture, File, Input, Row

_DIGITS = 9  #: Significant ones: more than a clock of nanoseconds has.


def write_baseline(baseline: Baseline, path: Path, *, force: bool = False) -> None:
    """Write the file; the same captures give the same bytes."""
    with staged([path], force=force) as (twin,):
        twin.write_bytes(baseline_bytes(baseline))


def baseline_bytes(baseline: Baseline) -> bytes:
    """The file's bytes: JSON, one quantity per line."""
    numbers: dict[str, int] = {}
    captures = [
        Capture(
            label=shown(capture.label),
            quantities=[_row(each, numbers) for each in capture.quantities],
            inputs=[Input(shown(each.path), each.byte_count, each.sha256, each.is_whole) for each in capture.inputs],
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
    def number_of(name: str) -> int:
        return numbers.setdefault(shown(name), len(numbers))

    values = {field.name: getattr(quantity, field.name) for field in fields(quantity)}
    values = {name: _rounded(value) if isinstance(value, float) else value for name, value in values.items()}
    return Row(
        **values | {"name": number_of(quantity.name), "file": number_of(quantity.file) if quantity.file else None}
    )


def _rounded(value: float) -> float:
    return float(f"{value:.{_DIGITS}g}")
