"""Traffic between waves, caches and memory: the blocks of a GPU with their numbers, and the wires between them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import polars as pl
from msgspec.structs import replace

from wavewright.analysis.counters.choice import ALL_DISPATCHES, CounterChoice, chosen_dispatches
from wavewright.analysis.counters.engine.answer import CounterPanels
from wavewright.analysis.counters.engine.panels import counter_panels
from wavewright.errors import UsageError
from wavewright.facts.counters.memory_chart import HEAT, Block, Value, Wire, chart_layout
from wavewright.facts.metrics.expression import parse
from wavewright.facts.metrics.metric import metrics_in
from wavewright.facts.metrics.panels import RULES, panels_of
from wavewright.model.answer import Answer
from wavewright.model.counters import CounterSet
from wavewright.model.schema import frame_of

_BUSIEST_FROM = 1.0  #: Percent of a peak below which no block is called the busiest.


@dataclass(frozen=True)
class MemoryChart(Answer, package=__package__):
    """Blocks, their values and the wires between them."""

    target: str
    product: str
    family: str  #: cdna or rdna.
    normalization: str  #: Requests per kernel, wave, cycle or second.
    rules: str
    kernel_names: tuple[str, ...]  #: The chosen kernels, the longest first.
    dispatch_count: int
    duration_ns_mean: float | None
    busiest: str  #: Block whose traffic is nearest to its peak; empty = no traffic can be compared with a peak.
    blocks: pl.DataFrame  #: The columns of the three are in `tables.toml`.
    values: pl.DataFrame  #: One row per number in a block.
    wires: pl.DataFrame  #: One row per kind of traffic between two blocks.
    caveats: tuple[str, ...]


def memory_chart(
    counters: CounterSet, *, choice: CounterChoice = ALL_DISPATCHES, normalization: str = "kernel", amd: bool = False
) -> MemoryChart:
    """The memory chart of the chosen dispatches.

    Raises `UsageError` when nothing is chosen, or the capture does not tell which GPU it is about.
    """
    target = counters.system.target or ""
    family = _family(target)
    layout = chart_layout(family)
    blocks, wires = layout.blocks, layout.wires
    identities = _identities(counters, target, _metrics_of(blocks, wires), amd=amd)
    answer = counter_panels(counters, choice=choice, panels=identities, normalization=normalization, amd=amd)
    numbers = Numbers(answer)
    if not answer.dispatch_count:
        what = "the capture has no dispatches, so nothing flows"
        raise UsageError(what, where=counters.path, advice="was a filter set when it was taken that no kernel passed?")
    if family == "rdna":
        blocks, wires = numbers.measured(blocks, wires)
        if not numbers.has_counted(_metrics_of(blocks, wires)):
            what = f"no counter was measured of which a chart for {target} could be made"
            advice = f"`wavewright counters --plan --target {target}` tells what to collect"
            raise UsageError(what, where=counters.path, advice=advice)
    values = [
        {"block": block.name, "label": value.label, "is_rate": value.is_rate, **number}
        for block in blocks
        for value in block.values
        if (number := numbers.value(value)) is not None  # this target has the metric
    ]
    rows = [row for wire in wires for row in wire_rows(wire, numbers)]
    used_blocks = {row["block"] for row in values} | {row[end] for row in rows for end in ("source", "target")}
    used_stages = sorted({block.stage for block in blocks if block.name in used_blocks} | {0, 1})
    block_rows = [  # stages without gaps: where nothing is known of a level, the next one takes its place
        {"block": block.name, "title": block.title, "stage": used_stages.index(block.stage)}
        for block in blocks
        if block.name in used_blocks
    ]
    duration = (pl.col("end_ns") - pl.col("start_ns")).mean()
    return MemoryChart(
        target=answer.target,
        product=answer.product,
        family=family,
        normalization=normalization,
        rules=RULES[amd],
        kernel_names=tuple(answer.kernels.filter("is_chosen")["kernel_name"]),
        dispatch_count=answer.dispatch_count,
        duration_ns_mean=chosen_dispatches(counters, choice).select(duration).item(),
        busiest=_busiest(values),
        blocks=frame_of(MemoryChart.tables["blocks"], block_rows),
        values=frame_of(MemoryChart.tables["values"], values),
        wires=frame_of(MemoryChart.tables["wires"], rows),
        caveats=answer.caveats,
    )


def one_table(answer: MemoryChart) -> pl.DataFrame:
    """Values and wires below each other, for CSV: a wire has its two blocks as `block` and its kind as `label`."""
    ends = pl.concat_str("source", pl.lit(" to "), "target").alias("block")
    wires = answer.wires.with_columns(ends, pl.col("kind").alias("label")).drop("source", "target", "kind")
    table = pl.concat([answer.values.drop("about", "is_rate"), wires], how="diagonal")
    return table.select("block", "label", pl.exclude("block", "label"))


def _family(target: str) -> str:
    if not target:
        what = "the capture does not tell which GPU it is about, so its blocks are not known"
        raise UsageError(what, advice="name it: --target gfx942, or --target MI300X")
    if not panels_of(target):
        what = f"no memory chart is known for {target}"
        raise UsageError(what, advice="`wavewright counters PATH` shows what was counted")
    return "cdna" if target.startswith("gfx9") else "rdna"


def _identities(counters: CounterSet, target: str, named: Sequence[str], *, amd: bool) -> tuple[str, ...]:
    """Ids of the metrics with these names; empty = all, in a file that stores metrics instead of counters."""
    if not counters.measured:
        return ()
    metric_names = {part for name in named for part in name.split(" + ")}
    metrics = metrics_in(panels_of(target, amd=amd))
    return tuple(metric.id for table, metric in metrics if f"{table.id} {metric.name}" in metric_names)


def _metrics_of(blocks: Iterable[Block], wires: Iterable[Wire]) -> list[str]:
    values = [name for block in blocks for value in block.values for name in (value.metric, value.of)]
    flows = [name for wire in wires for flow in wire.flows for name in (flow.metric, flow.rate)]
    return [name for name in (*values, *flows, *(wire.rate for wire in wires)) if name]


def _busiest(values: list[dict[str, Any]]) -> str:
    shares = {row["block"]: row["peak_share"] or 0.0 for row in values if row["is_rate"]}
    block = max(shares, key=lambda name: shares[name], default="")
    return block if block and shares[block] >= _BUSIEST_FROM else ""


class Numbers:
    """The metrics of a chart by table and name (`3.1 VL1 Hit`)."""

    def __init__(self, answer: CounterPanels) -> None:
        self.rows = {f"{row['table_id']} {row['name']}": row for row in answer.rows.iter_rows(named=True)}
        declared = [(f"{table.id} {metric.name}", metric) for table, metric in metrics_in(panels_of(answer.target))]
        self._counted = {name for name, metric in declared if metric.formula and parse(metric.formula).counters}
        self.about = {name: metric.about for name, metric in declared}
        # Units by the corrected rules: those of the reference leave them out, or misspell them (T4, T5).
        self.units = {name: metric.unit_per(answer.normalization) for name, metric in declared}

    def named(self, name: str) -> dict[str, Any] | None:
        """Columns of `values` for a name (several joined by ` + `: the sum); None = this target has no such metric."""
        parts = [part for part in name.split(" + ") if part in self.rows]
        rows = [self.rows[part] for part in parts]
        if not rows:
            return None
        reasons = [row["reason"] or "not measured" for row in rows if row["average"] is None]
        value = None if reasons else sum(row["average"] for row in rows)
        peak = rows[0]["peak"]
        return {
            "value": value,
            "unit": self.units.get(parts[0], rows[0]["unit"]),
            "metric_id": " + ".join(row["metric_id"] for row in rows),
            "peak": peak,
            "peak_share": _share(value, peak),
            "reason": "; ".join(dict.fromkeys(reasons)),
            "about": " ".join(dict.fromkeys(self.about.get(part, "") for part in parts)).strip(),
        }

    def measured(self, blocks: Sequence[Block], wires: Sequence[Wire]) -> tuple[tuple[Block, ...], tuple[Wire, ...]]:
        """Parts with a number: of a family whose targets have different counters, the rest would be noise."""
        known_wires = [
            replace(wire, flows=tuple(flow for flow in wire.flows if self._is_known(flow.metric))) for wire in wires
        ]
        known_blocks = tuple(
            replace(block, values=tuple(value for value in block.values if self._is_known(value.metric)))
            for block in blocks
        )
        return known_blocks, tuple(wire for wire in known_wires if wire.flows)

    def has_counted(self, names: Iterable[str]) -> bool:
        """True if one of the metrics comes from counters, not from the launch or the GPU."""
        return any(part in self._counted for name in names for part in name.split(" + "))

    def _is_known(self, name: str) -> bool:
        row = self.named(name)
        return row is not None and row["value"] is not None

    def value(self, value: Value) -> dict[str, Any] | None:
        """The number of a value, with its peak and its heat; None = this target has no such metric."""
        row = self.named(value.metric)
        if row is None:
            return None
        if value.is_rate:
            return row | {"heat": _heat(row["peak_share"], HEAT["near_peak"])}
        total = self.named(value.of) or {"value": None}
        is_hot_by_share = value.hot is not None and row["unit"] == "%"
        heat = _heat(row["value"], HEAT[value.hot]) if value.hot is not None and is_hot_by_share else ""
        return row | {"peak": total["value"], "peak_share": _share(row["value"], total["value"]), "heat": heat}


def _share(value: float | None, peak: float | None) -> float | None:
    return 100 * value / peak if value is not None and peak else None


def _heat(share: float | None, limits: tuple[float, float]) -> str:
    """`hot`, `warm` or cool (empty) of a share in percent; where low shares are hot, high ones are `good`."""
    if share is None:
        return ""
    warm, hot = limits
    if hot < warm:
        return "hot" if share < hot else "warm" if share < warm else "good"
    return "hot" if share >= hot else "warm" if share >= warm else ""


def wire_rows(wire: Wire, numbers: Numbers) -> list[dict[str, Any]]:
    """The traffic on a wire: one row per kind, and one for the total bytes where a metric has them."""
    traffic = numbers.named(wire.rate)
    flows = [(flow.kind, numbers.named(flow.metric), numbers.named(flow.rate)) for flow in wire.flows]
    flows.append(("traffic", traffic, traffic))
    rows = []
    for kind, row, rate in flows:
        if row is not None:
            value, share = (rate["value"], rate["peak_share"]) if rate else (None, None)
            about = {"source": wire.source, "target": wire.target, "kind": kind}
            rows.append(about | row | {"rate": value, "rate_share": share, "heat": _heat(share, HEAT["near_peak"])})
    return rows
