"""Folders of rocKE's benchmark tool (`--artifacts-dir`): counters of several repeats, and what each repeat measured.

`manifest.json` lists the repeats; each has a folder with rocprofv3's tables, and a record of medians over its
dispatches. The names are those of schemas rocke.bench.artifacts/v1 and rocke.bench.measurement/v1 (spec_interop 4).
"""

from __future__ import annotations

from collections.abc import Iterator
from math import isfinite, sqrt
from pathlib import Path
from statistics import mean, median, stdev
from typing import Annotated, TypeVar

import msgspec

from wavewright.base.files import not_read, open_regular
from wavewright.errors import DamagedError
from wavewright.model.baseline import MeasuredCapture, Quantity
from wavewright.model.losses import Loss

MANIFEST = "manifest.json"
_SCHEMA, _RECORD_SCHEMA = "rocke.bench.artifacts/v1", "rocke.bench.measurement/v1"
_MOST_BYTES = 64 << 20
_COMPLETE = "complete"

Content = TypeVar("Content")

_Text = Annotated[str, msgspec.Meta(max_length=4096)]
_Numbers = dict[_Text, float | int | str | bool | None]


class _Repeat(msgspec.Struct):
    status: _Text = ""
    raw_dir: _Text = ""
    measurement: _Text = ""
    profile_capture: dict[str, object] | None = None

    @property
    def has_counters(self) -> bool:
        """True if the profiler says that it recorded them."""
        return self.status == _COMPLETE and (self.profile_capture or {}).get("status") == _COMPLETE


class _Manifest(msgspec.Struct):
    schema: _Text = ""
    status: _Text = ""
    samples: Annotated[list[_Repeat], msgspec.Meta(max_length=10_000)] = []


class _Run(msgspec.Struct):
    arch: _Text = ""
    gpu_name: _Text = ""
    rocm_version: _Text = ""


class _BundleKernel(msgspec.Struct):
    kernel_name: _Text = ""
    op: _Text = ""
    shape: dict[_Text, object] = {}

    @property
    def title(self) -> str:
        """The name, operation and shape: those of another shape are not compared."""
        sizes = ", ".join(f"{name} {self.shape[name]}" for name in sorted(self.shape))
        return ", ".join(filter(None, (self.kernel_name, self.op, sizes)))


class _Record(msgspec.Struct):
    schema: _Text = ""
    run: _Run = msgspec.field(default_factory=_Run)
    kernel: _BundleKernel = msgspec.field(default_factory=_BundleKernel)
    wall: _Numbers | None = None
    counters: _Numbers | None = None


def is_bundle(folder: Path) -> bool:
    """True if a folder is one of rocKE's benchmark tool."""
    try:
        return folder.is_dir() and (folder / "samples").is_dir() and _manifest(folder).schema == _SCHEMA
    except (DamagedError, OSError):
        return False


def counters_of_bundle(folder: Path, losses: list[Loss]) -> Path:
    """The folder with the counters of the first repeat that has some: those of repeats are not added up."""
    manifest = _manifest(folder)
    if manifest.status != _COMPLETE:
        losses.append(Loss("bundle_unfinished", detail=manifest.status or "no status"))
    repeats = [repeat for repeat in manifest.samples if repeat.has_counters]
    if not repeats:
        advice = "wavewright store add reads the durations of its unprofiled runs all the same"
        raise DamagedError("no repeat of this bundle has counters", where=str(folder), advice=advice)
    if len(repeats) > 1:
        losses.append(Loss("bundle_repeats", len(repeats) - 1))
    return _inside(folder, repeats[0].raw_dir)


def capture_of_bundle(folder: Path, label: str) -> MeasuredCapture:
    """The results of the repeats: the duration of unprofiled runs, and the medians of counters."""
    manifest = _manifest(folder)
    places = [repeat.measurement for repeat in manifest.samples if repeat.status == _COMPLETE and repeat.measurement]
    records = [_record(folder, place) for place in places]
    if not records:
        raise DamagedError("no repeat of this bundle is complete", where=str(folder), advice="record it again")
    first = records[0]
    software = {"ROCm": first.run.rocm_version} if first.run.rocm_version else {}
    return MeasuredCapture(
        label=label,
        quantities=tuple(_quantities(records)),
        target=first.run.arch,
        product=first.run.gpu_name,
        software={"rocKE": _RECORD_SCHEMA, **software},
        damages=() if manifest.status == _COMPLETE else (f"the bundle is {manifest.status or 'unfinished'}",),
    )


def _quantities(records: list[_Record]) -> Iterator[Quantity]:
    title = records[0].kernel.title
    alike = [record for record in records if record.kernel.title == title]
    times_ms = _values([record.wall or {} for record in alike], "ms_median")
    if times_ms:
        yield _quantity("kernel", title, "ns", [1e6 * value for value in times_ms])
    for name in sorted({name for record in alike for name in record.counters or {}}):
        values = _values([record.counters or {} for record in alike], name)
        if values:
            yield _quantity("metric", f"{name} of {title}", "", values)


def _values(records: list[_Numbers], name: str) -> list[float]:
    numbers = [record.get(name) for record in records]
    return [float(number) for number in numbers if isinstance(number, int | float) and isfinite(number)]


def _quantity(subject: str, name: str, unit: str, values: list[float]) -> Quantity:
    count = len(values)
    error = stdev(values) / sqrt(count) if count > 1 else None
    degrees = count - 1 if count > 1 else None
    return Quantity(subject, name, unit, count, mean(values), error, degrees, median=median(values))


def _manifest(folder: Path) -> _Manifest:
    return _decoded(folder / MANIFEST, _Manifest)


def _record(folder: Path, place: str) -> _Record:
    record = _decoded(_inside(folder, place), _Record)
    if record.schema != _RECORD_SCHEMA:
        problem = f"a record of schema {record.schema[:60]!r}"
        raise DamagedError(problem, where=place, advice=f"known is {_RECORD_SCHEMA}")
    return record


def _inside(folder: Path, place: str) -> Path:
    reason = "an absolute path" if Path(place).is_absolute() else not_read(folder / place, folder)
    if reason:
        raise DamagedError(f"the manifest names {place[:80]!r}: {reason}", where=str(folder), advice="copy it whole")
    return folder / place


def _decoded(path: Path, kind: type[Content]) -> Content:
    try:
        with open_regular(path) as file:
            content = file.read(_MOST_BYTES + 1)
        if len(content) > _MOST_BYTES:
            raise DamagedError(f"more than {_MOST_BYTES >> 20} MiB", where=str(path))
        return msgspec.json.decode(content, type=kind)
    except (OSError, msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise DamagedError(f"cannot be read: {error}", where=str(path), advice="copy the bundle whole") from error
