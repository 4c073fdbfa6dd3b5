"""Samples of amd-smi beside a run, which `capture --monitor` writes: they become its monitors.

Each line is one answer of amd-smi about one GPU, with the time before and after it by three clocks: profilers use
different ones, and the one by which the samples fall into the run is its own.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from fnmatch import fnmatchcase
from itertools import pairwise
from operator import itemgetter
from pathlib import Path
from typing import Any

import polars as pl

from wavewright.base.files import not_read, open_regular
from wavewright.facts.gpus import samples as gpu_samples
from wavewright.facts.loader import packaged
from wavewright.model.losses import Loss
from wavewright.model.run import RunSource
from wavewright.model.run_tables import RUN

_BYTES_MAX = 64 << 20
_LINE_BYTES_MAX = 1 << 20
_NS_MAX = 1 << 62
_VALUE_MAX = 1e12  #: Values from here on, in whatever unit, and NaN are damage.
#: Name of a monitor -> where amd-smi may store it: keys with dots between them, `*` for any.
_PLACES: dict[str, list[str]] = packaged("amd_smi.toml", __package__)
_PCI = re.compile(r"([0-9a-f]{4}):([0-9a-f]{2}):([01][0-9a-f])\.([0-7])")


def samples_beside(path: Path) -> Path | None:
    """The samples beside a file of a run: in its folder, or in the one above, of which each process has a folder."""
    places = (folder / gpu_samples.FILE for folder in path.parents[:2])
    return next((place for place in places if place.is_file() and not not_read(place, place.parent)), None)


class WithSamples:
    """`source` with the samples of a file among its monitors."""

    def __init__(self, source: RunSource, file: Path) -> None:
        self.path, self.format, self.version = source.path, source.format, source.version
        self.extras = source.extras
        self.database = getattr(source, "database", None)
        self._source, self._file = source, file
        self._rows: pl.DataFrame | None = None

    @property
    def losses(self) -> list[Loss]:
        """The losses of the source; `chunks` adds those of the samples."""
        return self._source.losses

    def chunks(self, table: str, columns: Sequence[str]) -> Iterator[pl.DataFrame]:
        """See `RunSource.chunks`."""
        yield from self._source.chunks(table, columns)
        if table == "monitors":
            if self._rows is None:
                self._rows = self._read()
            if self._rows.height:
                yield self._rows.select(columns)

    def _read(self) -> pl.DataFrame:
        """Rows of monitors: a value holds from the middle of its sample to that of the next."""
        samples, lost_count = _samples(self._file)
        if lost_count:
            self.losses.append(Loss("unreadable_samples", lost_count, detail=gpu_samples.FILE))
        clock = self._clock(samples)
        agents = self._agents()
        dtypes = RUN["monitors"].dtypes
        rows: list[dict[str, Any]] = []
        for pci in dict.fromkeys(sample["pci"] for sample in samples) if clock else ():
            of_gpu = [(sum(sample["ns"][clock]) // 2, sample["values"]) for sample in samples if sample["pci"] == pci]
            points = sorted(of_gpu, key=itemgetter(0))
            gpus = agents.get(pci, agents.get("", []))
            if not gpus:
                self.losses.append(Loss("samples_of_other_gpu", len(points), detail=pci))
            ends = [*(later for _, (later, _) in pairwise(points)), points[-1][0]]
            for (start, values), end in zip(points, ends, strict=True):
                times = {"start_ns": start, "end_ns": end}
                rows += [{**gpu, **times, "name": name, "value": values[name]} for gpu in gpus for name in values]
        if samples and not clock:
            self.losses.append(Loss("samples_at_other_times", len(samples), detail=gpu_samples.FILE))
        return pl.DataFrame(rows, schema=dtypes)

    def _clock(self, samples: list[dict[str, Any]]) -> str:
        """The clock by which the samples meet the run; empty = none."""
        spans = [
            (piece["start_ns"].min(), piece["end_ns"].max())
            for table in ("dispatches", "copies", "regions")
            for piece in self._source.chunks(table, ["start_ns", "end_ns"])
        ]
        first = min((low for low, _ in spans if low is not None), default=None)
        last = max((high for _, high in spans if high is not None), default=None)
        if first is None or last is None or not samples:
            return ""
        for clock in gpu_samples.CLOCKS:
            times = [end for sample in samples for end in sample["ns"][clock]]
            if min(times) <= last and first <= max(times):
                return clock
        return ""

    def _agents(self) -> dict[str, list[dict[str, int]]]:
        """PCI address -> `process` and `agent` of the GPU in each process; "" = the only GPU, without an address."""
        columns = ["agent", "process", "kind", "properties"]
        gpus = [row for piece in self._source.chunks("agents", columns) for row in piece.rows(named=True)]
        agents: dict[str, list[dict[str, int]]] = {}
        for row in gpus:
            if row["kind"] == "GPU":
                gpu = {"process": row["process"], "agent": row["agent"]}
                agents.setdefault(_address(row["properties"]), []).append(gpu)
        nameless = agents.get("", [])
        if len(agents) > 1 or len({gpu["process"] for gpu in nameless}) < len(nameless):
            agents.pop("", None)
        return agents


def _address(properties: str | None) -> str:
    """The PCI address of an agent, as the driver's location; empty = not stored."""
    try:
        facts = json.loads(properties or "{}")
        location, domain = facts["location_id"], facts.get("domain", 0)
        return f"{domain:04x}:{location >> 8:02x}:{location >> 3 & 31:02x}.0"
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return ""


def _samples(path: Path) -> tuple[list[dict[str, Any]], int]:
    """The samples of a file (`pci`, `ns`: clock -> times before and after, `values`), and how many lines are none."""
    samples, lost_count = [], 0
    try:
        with open_regular(path) as stream:
            text = stream.read(_BYTES_MAX)
    except OSError:
        return [], 1
    for line in text.splitlines():
        try:
            sample = _sample(json.loads(line)) if len(line) <= _LINE_BYTES_MAX else None
        except (ValueError, TypeError, KeyError, AttributeError, IndexError, RecursionError, OverflowError):
            sample = None
        if sample is None:
            lost_count += 1
        else:
            samples.append(sample)
    return samples, lost_count


def _sample(line: Any) -> dict[str, Any] | None:
    pci = line["pci"].lower()
    ns = {clock: (int(line["begin"][clock]), int(line["end"][clock])) for clock in gpu_samples.CLOCKS}
    if not _PCI.fullmatch(pci) or any(not 0 <= begin <= end < _NS_MAX for begin, end in ns.values()):
        return None
    answer = line["answer"]
    answer = answer.get("gpu_data", answer) if isinstance(answer, dict) else answer
    [metrics] = answer if isinstance(answer, list) else [answer]
    values = {name: value for name, places in _PLACES.items() if (value := _value(metrics, places)) is not None}
    return {"pci": f"{pci[:-1]}0", "ns": ns, "values": values} if values else None


def _value(metrics: Mapping[str, Any], places: Sequence[str]) -> float | None:
    """The number at the first of these places; None = amd-smi has none (N/A)."""
    for place in places:
        nodes: list[Any] = [metrics]
        for name in place.split("."):
            nodes = [node[key] for node in nodes if isinstance(node, dict) for key in node if fnmatchcase(key, name)]
        numbers = [node.get("value") if isinstance(node, dict) else node for node in nodes]
        finite = [number for number in numbers if isinstance(number, int | float) and abs(number) < _VALUE_MAX]
        finite = [number for number in finite if not isinstance(number, bool)]
        if finite:
            return sum(finite) / len(finite)
    return None
