"""The passes that a capture needs, so that some metrics can be computed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl

from wavewright.analysis.counters.engine.answer import requested_panels
from wavewright.analysis.counters.plan.passes import Need, Packed, block_of, pack
from wavewright.base.bounds import SOME, bounded
from wavewright.errors import UsageError
from wavewright.facts import gpus
from wavewright.facts.gpus.counting import Counting, counting_of
from wavewright.facts.metrics.expression import parse
from wavewright.facts.metrics.metric import Metric, metrics_in
from wavewright.facts.metrics.names import QUANTITY_COUNTERS
from wavewright.facts.metrics.panels import panels_of
from wavewright.model.answer import Answer
from wavewright.model.counters import ACCUMULATED
from wavewright.model.schema import frame_of

#: What amounts are divided by: cycles are in every pass, waves where there is room.
_CYCLES, _WAVES = "GRBM_GUI_ACTIVE", "SQ_WAVES"
_CHANNELS_PANEL = "channels"


@dataclass(frozen=True)
class CapturePlan(Answer, package=__package__):
    """The passes of a capture."""

    target: str
    product: str
    channel_count: int  #: L2 channels of the product; 0 = not known, or none are asked for.
    channels_per_xcd: int
    slots: dict[str, int]  #: Block -> counters that it can count in one pass.
    passes: pl.DataFrame
    counters: pl.DataFrame
    metrics: pl.DataFrame
    notes: tuple[str, ...]


@bounded(max_passes=SOME)
def plan_capture(
    gpu: str,
    *,
    panels: Sequence[str] = (),
    metrics: Sequence[str] = (),
    more: Sequence[Path] = (),
    max_passes: int | None = None,
) -> CapturePlan:
    """The passes for some panels (words, numbers or table ids), and of them for some metrics (ids or parts of names).

    Without either, all panels are planned for but that of single L2 channels; the word `all` means that one too. `gpu`
    is a target (gfx942) or a product (MI300X), which also tells the number of channels; `more` are files with metrics
    of the user. Of a plan with more than `max_passes`, those are kept that make the most metrics complete. Raises
    `UsageError` when the GPU, a panel or a metric is not known, or the target has no metrics.
    """
    facts = gpus.of(gpu)
    counting = counting_of(facts.target)
    declared = panels_of(facts.target, more=more)
    if not declared:
        what = f"no metrics are declared for {facts.target}"
        raise UsageError(what, advice="--more FILE takes metrics of your own; `wavewright metrics` lists what there is")
    notes = [counting.note] if counting.note else []
    if "all" in panels:
        panels = ()
    elif not panels and not metrics:
        panels = [panel.word for panel in declared if panel.word != _CHANNELS_PANEL]
        if len(panels) < len(declared):
            notes.append("single L2 channels are left out, as they make long lists: --panel channels plans them too")
    chosen = requested_panels(declared, panels, metrics)
    channel_count = facts.product.l2_channel_count or 0
    metric_needs = [need_of_metric(metric, counting, channel_count) for _, metric in metrics_in(chosen)]
    if any(item.has_channels for item in metric_needs):
        notes.append(f"{channel_count} L2 channels, as of {facts.product.name}; --target names another product")
    else:
        channel_count = 0
    packed = _packed(metric_needs, counting)  # numbered from 1 in tables and sentences
    if max_passes is not None and len(packed) > max_passes:
        part = f"{max_passes} of the {len(packed)} passes that it would take"
        notes.append(f"{part}, those that complete the most metrics")
        packed = _most_useful(packed, metric_needs, max_passes)
    return CapturePlan(
        target=facts.target,
        product=facts.product.name,
        channel_count=channel_count,
        channels_per_xcd=counting.l2_channels_per_xcd or 0,
        slots=dict(counting.slots),
        notes=tuple(notes),
        **_frames(metric_needs, packed, counting),
    )


def _packed(metric_needs: Sequence[MetricNeed], counting: Counting) -> list[Packed]:
    needs = [item.need for item in metric_needs if item.need.counters or item.need.level]
    if not needs:
        return []
    everywhere = [_CYCLES] if _CYCLES not in counting.missing else []
    packed = pack([*needs, Need(frozenset({_WAVES}))], counting.slots, everywhere=everywhere)
    for item in packed:
        used = Counter(block_of(counter) for counter in item.counters)["SQ"]
        if _WAVES not in item.counters and used < counting.slots.get("SQ", 1):
            item.counters.append(_WAVES)
        item.counters.sort(key=lambda counter: (block_of(counter), counter))
    return packed


def _most_useful(packed: Sequence[Packed], metric_needs: Sequence[MetricNeed], count: int) -> list[Packed]:
    """The passes, chosen one after the other, that complete most of the metrics which are not complete yet."""
    unmet = [item.need for item in metric_needs if item.need.counters or item.need.level]
    selected: set[int] = set()
    while len(selected) < count:
        candidates = (place for place in range(len(packed)) if place not in selected)
        best = max(candidates, key=lambda place: sum(_holds(packed[place], need) for need in unmet))
        selected.add(best)
        unmet = [need for need in unmet if not _holds(packed[best], need)]
    return [packed[place] for place in sorted(selected)]


def _frames(metric_needs: Sequence[MetricNeed], packed: list[Packed], counting: Counting) -> dict[str, pl.DataFrame]:
    rows: list[dict[str, Any]] = []
    channels: set[tuple[int, str]] = set()
    completed: Counter[int] = Counter()
    for item in metric_needs:
        row, used = _metric_row(item, packed)
        rows.append(row)
        completed[row["pass"] or 0] += 1  # 0 = no single pass has it all
        if item.has_channels:
            channels |= {(number, counter) for number in used for counter in item.need.counters}
    counters = [
        {
            "pass": number,
            "counter": counter,
            "spelled": f"{item.level}_ACCUM" if counter == ACCUMULATED else counting.spelled(counter),
            "block": block_of(counter),
            "has_channels": (number, counter) in channels and block_of(counter) == "TCC",
        }
        for number, item in enumerate(packed, start=1)
        for counter in item.counters
    ]
    passes = [
        {"pass": number, "level": item.level, "counter_count": len(item.counters), "metric_count": completed[number]}
        for number, item in enumerate(packed, start=1)
    ]
    return {
        "passes": frame_of(CapturePlan.tables["passes"], passes),
        "counters": frame_of(CapturePlan.tables["counters"], counters),
        "metrics": frame_of(CapturePlan.tables["metrics"], rows),
    }


def _metric_row(item: MetricNeed, packed: Sequence[Packed]) -> tuple[dict[str, Any], list[int]]:
    """The row of a metric, and the numbers of the passes that measure it."""
    row: dict[str, Any] = {
        "metric_id": item.metric.id,
        "name": item.metric.name,
        "is_measured": not item.obstacle,
        "is_ratio": item.need.is_ratio,
        "pass": None,
        "passes": "",
        "reason": item.obstacle,
    }
    if item.obstacle:
        return row, []
    if not item.need.counters and not item.need.level:
        return row | {"reason": "a fact of the launch or of the GPU: no counters needed"}, []
    holder = next((number for number, pass_ in enumerate(packed, start=1) if _holds(pass_, item.need)), None)
    if holder is not None:
        return row | {"pass": holder}, [holder]
    used = _cover(item.need.counters, packed)
    if not used:
        return row | {"reason": "left out for fewer passes", "is_measured": False}, []
    reason = "more counters of a block than a pass can count" if item.need.is_ratio else "counters are added up only"
    return row | {"passes": " ".join(map(str, used)), "reason": reason}, used


def _holds(pass_: Packed, need: Need) -> bool:
    return need.counters <= set(pass_.counters) and need.level in ("", pass_.level)


def _cover(counters: frozenset[str], packed: Sequence[Packed]) -> list[int]:
    """Numbers of few passes that have all the counters, each with most of those still missing; [] = impossible."""
    unmet = set(counters)
    used = []
    while unmet:
        best = max(range(len(packed)), key=lambda place: len(unmet.intersection(packed[place].counters)), default=None)
        if best is None or not unmet.intersection(packed[best].counters):
            return []
        unmet -= set(packed[best].counters)
        used.append(best + 1)
    return sorted(used)


@dataclass(frozen=True)
class MetricNeed:
    """One metric and the counters it needs."""

    metric: Metric
    need: Need  #: Empty when `obstacle` says why it cannot be measured, or when it needs no counters.
    has_channels: bool = False  #: Whether it reads single L2 channels.
    obstacle: str = ""


def need_of_metric(metric: Metric, counting: Counting, channel_count: int = 0) -> MetricNeed:
    """The counters of a metric on a target with this number of L2 channels; 0 = unknown."""
    nothing = Need(frozenset())
    if metric.formula is None:
        return MetricNeed(metric, nothing, obstacle="this target has no counters for it")
    expression = parse(metric.formula)
    counters = set(expression.counters)
    for quantity in expression.quantities:  # `norm` may be waves or cycles, which are in every pass with room for them
        counters.update(QUANTITY_COUNTERS.get(quantity, ()))
    level = metric.level if "accumulated" in expression.quantities else ""
    absent = sorted(name for name in {*counters, level} if name in counting.missing)
    if absent:
        return MetricNeed(metric, nothing, obstacle=f"the collector cannot count {', '.join(absent)} on this target")
    if "accumulated" in expression.quantities and (not level or not counting.accumulates):
        reason = "no level counter is named" if not level else f"this target cannot add up {level} cycle by cycle"
        return MetricNeed(metric, nothing, obstacle=reason)
    reads_channels = any(leaf.counter and leaf.first is not None for leaf in expression.leaves)
    if reads_channels and not (counting.l2_channels_per_xcd and channel_count):
        reason = "it is not known how many L2 channels there are; --target with the name of a product tells it"
        return MetricNeed(metric, nothing, obstacle=reason)
    counters.discard(ACCUMULATED)
    is_ratio = len(counters) > 1 and not _is_sum(metric.formula)
    return MetricNeed(metric, Need(frozenset(counters), level, is_ratio), has_channels=reads_channels)


def _is_sum(formula: str) -> bool:
    """True if counters are only added and scaled: then they may come from different passes."""
    expression = parse(formula)
    scales = frozenset(expression.quantities) - {"grbm_cycles", "spi_busy_cycles"}
    return "-" not in formula and expression.degree(scales) == 1.0
