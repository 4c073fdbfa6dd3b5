"""Metrics: formulas over counters with unit, peak, meaning and source; panels of them per GPU target."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from wavewright.facts.loader import packaged

_LAYOUTS: dict[str, list[str]] = packaged("metrics/formula_names.toml")["layouts"]
COLUMNS = {layout: tuple(names) for layout, names in _LAYOUTS.items()}  #: Layout of a table -> its statistics in order.
SPEED_OF_LIGHT = "2.1"  #: Table of how near each unit is to its limit, on every GPU.


@dataclass(frozen=True)
class Metric:
    """One metric on one target."""

    id: str  #: panel.table.index; the index counts the metrics of the table on this target.
    name: str
    unit: str  #: `/N` in it stands for the normalization: Req/N is requests per wave, per cycle, ...
    #: Per dispatch, over counters and quantities only; None = listed, but this target has no counters for it.
    formula: str | None
    peak: str | None = None  #: Formula of the peak, in the same unit.
    written: str = ""  #: The formula as declared, with names of sub-expressions.
    written_peak: str = ""  #: The peak as declared.
    level: str = ""  #: The level counter whose own pass measures `accumulated` and the other counters, except cycles.
    #: What a division by zero gives: blank, zero or infinity; anything but blank only under the reference's rules.
    zero: str = "blank"
    #: The statistic in the column of the maximum: `minimum` where the reference mixes them up (T3).
    maximum: str = "maximum"
    #: Not empty: only counters that the capture spells so are read, under the reference's rules (T1).
    fabric_prefix: str = ""
    labels: tuple[tuple[str, str], ...] = ()  #: Further columns of the table that describe the row: (header, text).
    series: str = ""  #: Of per-channel tables with several columns: the column.
    about: str = ""
    source: str = ""  #: Where the formula comes from.
    defect: str = ""  #: Defect of the reference that the formula corrects, or repeats under its rules: T1 to T18.

    def unit_per(self, normalization: str) -> str:
        """The unit with the normalization put in.

        >>> Metric("17.3.0", "Req", "Req/N", "TCC_REQ / norm").unit_per("second")
        'Req/s'
        """
        return self.unit.replace("/N", "/s" if normalization == "second" else f"/{normalization}")


@dataclass(frozen=True)
class MetricTable:
    """One table of metrics."""

    id: str
    title: str
    layout: str  #: Key of COLUMNS.
    metrics: tuple[Metric, ...]
    per_channel: bool = False  #: Whether each metric stands for all L2 channels: `[i]` in formulas is the channel.
    unit_header: str = "Unit"  #: Header of the units in the reference's table.

    @property
    def columns(self) -> tuple[str, ...]:
        """The statistics that it shows, in order."""
        return COLUMNS[self.layout]


@dataclass(frozen=True)
class Panel:
    """Tables about one part of the hardware."""

    number: int
    word: str  #: How to ask for it: --panel l2.
    title: str
    tables: tuple[MetricTable, ...]


def metrics_in(panels: Iterable[Panel]) -> Iterator[tuple[MetricTable, Metric]]:
    """The metrics of panels in order, each with its table."""
    return ((table, metric) for panel in panels for table in panel.tables for metric in table.metrics)
