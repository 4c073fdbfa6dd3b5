"""The numbers of a chart, from the rows of panels: by table and name, with units, peaks and heat."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from msgspec.structs import replace

from wavewright.analysis.counters.engine.answer import CounterPanels
from wavewright.facts.memory_chart import HEAT, Block, Value, Wire
from wavewright.facts.metrics.expression import parse
from wavewright.facts.metrics.panels import panels_of


class Numbers:
    """The rows of an answer by table and name."""

    def __init__(self, answer: CounterPanels) -> None:
        self.rows = {f"{row['table_id']} {row['name']}": row for row in answer.rows.iter_rows(named=True)}
        declared = [
            (f"{table.id} {metric.name}", metric)
            for panel in panels_of(answer.target)
            for table in panel.tables
            for metric in table.metrics
        ]
        self._counted = {name for name, metric in declared if metric.formula and parse(metric.formula).counters}
        self.about = {name: metric.about for name, metric in declared}
        # Ours: the reference's rules leave them out, or misspell them (T4, T5).
        self.units = {name: metric.unit_per(answer.normalization) for name, metric in declared}

    def of(self, name: str) -> dict[str, Any] | None:
        """The number under `name`, or the sum of several; None = this target has no such metric."""
        parts = [part for part in name.split(" + ") if part in self.rows]
        rows = [self.rows[part] for part in parts]
        if not rows:
            return None
        missing = [row["reason"] or "not measured" for row in rows if row["average"] is None]
        value = None if missing else sum(row["average"] for row in rows)
        peak = rows[0]["peak"]
        return {
            "value": value,
            "unit": self.units.get(parts[0], rows[0]["unit"]),
            "metric_id": " + ".join(row["metric_id"] for row in rows),
            "peak": peak,
            "peak_share": _share(value, peak),
            "reason": "; ".join(dict.fromkeys(missing)),
            "about": " ".join(dict.fromkeys(self.about.get(part, "") for part in parts)).strip(),
        }

    def only_measured(
        self, blocks: Sequence[Block], wires: Sequence[Wire]
    ) -> tuple[tuple[Block, ...], tuple[Wire, ...]]:
        """Parts with a number: of a family whose targets have different counters, the rest would be noise."""
        kept_wires = tuple(
            replace(wire, flows=flows)
            for wire in wires
            if (flows := tuple(flow for flow in wire.flows if self._is_known(flow.metric)))
        )
        kept_blocks = tuple(
            replace(block, values=tuple(value for value in block.values if self._is_known(value.metric)))
            for block in blocks
        )
        return kept_blocks, kept_wires

    def has_counted(self, names: Iterable[str]) -> bool:
        """True if one of the metrics comes from counters, not from the launch or the GPU."""
        return any(part in self._counted for name in names for part in name.split(" + "))

    def _is_known(self, name: str) -> bool:
        row = self.of(name)
        return row is not None and row["value"] is not None

    def value(self, value: Value) -> dict[str, Any] | None:
        """The number of a value, with its peak and its heat; None = this target has no such metric."""
        row = self.of(value.metric)
        if row is None:
            return None
        if not value.is_rate:
            whole = self.of(value.of) or {"value": None}
            row |= {"peak": whole["value"], "peak_share": _share(row["value"], whole["value"])}
        share, name = (row["peak_share"], "near_peak") if value.is_rate else (row["value"], value.hot)
        is_share = value.is_rate or row["unit"] == "%"
        return row | {"heat": _heat(share, HEAT[name]) if name and is_share else ""}


def _share(value: float | None, peak: float | None) -> float | None:
    return 100 * value / peak if value is not None and peak else None


def _heat(share: float | None, limits: tuple[float, float]) -> str:
    if share is None:
        return ""
    warm, hot = limits
    if hot < warm:
        return "hot" if share < hot else "warm" if share < warm else "good"
    return "hot" if share >= hot else "warm" if share >= warm else ""


def wire_rows(wire: Wire, numbers: Numbers) -> list[dict[str, Any]]:
    """The traffic on a wire: one row per kind, and one for the total bytes where a metric has them."""
    flows = [(flow.kind, numbers.of(flow.metric), numbers.of(flow.rate)) for flow in wire.flows]
    flows.append(("traffic", row := numbers.of(wire.rate), row))
    rows = []
    for kind, row, rate in flows:
        if row is not None:
            share = rate["peak_share"] if rate else None
            more = {
                "rate": rate["value"] if rate else None,
                "rate_share": share,
                "heat": _heat(share, HEAT["near_peak"]),
            }
            rows.append({"source": wire.source, "target": wire.target, "kind": kind, **row, **more})
    return rows
