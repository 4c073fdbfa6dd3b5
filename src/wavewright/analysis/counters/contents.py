"""Contents of a capture of hardware counters, and the panels that can be computed from it."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Any

import polars as pl

from wavewright.analysis.counters.engine.sources import LEVEL
from wavewright.base.words import some_of
from wavewright.facts.metrics.catalog import counters_of
from wavewright.facts.metrics.metric import Panel, metrics_in
from wavewright.facts.metrics.panels import panels_of
from wavewright.model.answer import Answer
from wavewright.model.counters import ACCUMULATED, CounterSet
from wavewright.model.schema import frame_of

_MISSING_NAMED = 4  #: Counters that the row of a panel names as missing.
_DERIVED = "derived"  #: Block of counters that the profiler computes from others.


@dataclass(frozen=True)
class CounterContents(Answer, package=__package__):
    """Contents of a capture of counters."""

    target: str | None
    product: str | None
    assumed: dict[str, str]  #: Facts of the GPU that nothing in the capture says -> where they come from.
    gpu_count: int
    dispatch_count: int
    kernel_count: int
    stored_metric_count: int  #: Metrics that another tool stored instead of counters.
    ceiling_count: int
    passes: pl.DataFrame
    blocks: pl.DataFrame
    panels: pl.DataFrame


def counter_contents(counters: CounterSet) -> CounterContents:
    """Contents of a capture: GPU, dispatches, passes, counters of each block, and the panels they suffice for."""
    measured = _measured(counters)
    system = counters.system
    return CounterContents(
        target=system.target,
        product=system.product,
        assumed={name: source for name, source in system.said_by.items() if source.startswith("facts of")},
        gpu_count=counters.dispatches["gpu"].drop_nulls().n_unique(),
        dispatch_count=counters.dispatches.height,
        kernel_count=counters.dispatches["kernel_name"].n_unique(),
        stored_metric_count=counters.stored_metrics.select("metric_id").n_unique(),
        ceiling_count=counters.ceilings.select("name").n_unique(),
        passes=_passes(counters),
        blocks=_blocks(counters, measured),
        panels=_panels(counters, measured),
    )


def counter_next_steps(path: str, answer: CounterContents) -> list[str]:
    """Next commands that this capture can answer."""
    if not answer.dispatch_count:
        return ["collect again: no dispatch was measured"]
    named = "" if answer.target else " --target GPU"
    steps = [f"wavewright counters {path}{named} shows the speed of light and the panels"]
    measured = set(answer.panels.filter(answer.panels["measured_count"] > 0)["word"])
    if "l2" in measured:
        steps.append(f"wavewright roofline {path} and wavewright memory-chart {path} show what limits it")
    if measured:
        steps.append(f"wavewright diagnose {path} says which limit each kernel is at")
    lacking = answer.panels.filter(answer.panels["measured_count"] < answer.panels["metric_count"])["word"]
    if lacking.len():
        plan = f"wavewright counters --plan --panel {lacking[0]} --target {answer.target}"
        steps.append(f"{plan} prints the passes for a whole panel")
    return steps


def _measured(counters: CounterSet) -> pl.DataFrame:
    """The rows of `counters` whose column has a value."""
    places = [
        (number, name)
        for number, frame in counters.measured.items()
        for name, null_count in zip(frame.columns, frame.null_count().row(0), strict=True)
        if null_count < frame.height
    ]
    measured = pl.DataFrame(places, schema={"pass": pl.UInt32, "column": pl.String}, orient="row")
    return counters.counters.join(measured, on=["pass", "column"], how="semi", maintain_order="left")


def _passes(counters: CounterSet) -> pl.DataFrame:
    counts = counters.counters.group_by("pass").agg(counter_count=pl.col("counter").n_unique())
    ran = counters.executions.group_by("pass").agg(dispatch_count=pl.col("dispatch").n_unique())
    frame = counters.passes
    for counts_of_pass in (ran, counts):
        frame = frame.join(counts_of_pass, on="pass", how="left", maintain_order="left")
    frame = frame.with_columns(pl.col("dispatch_count", "counter_count").fill_null(0))
    return frame.select(pl.col(name).cast(dtype) for name, dtype in CounterContents.tables["passes"].dtypes.items())


def _blocks(counters: CounterSet, measured: pl.DataFrame) -> pl.DataFrame:
    block = pl.col("counter").str.extract(r"^([A-Z][A-Z0-9]*)_").fill_null(_DERIVED)
    block = pl.when(block.is_in(("FETCH", "WRITE"))).then(pl.lit(_DERIVED)).otherwise(block).alias("block")
    counts = counters.counters.group_by(block, maintain_order=True).agg(asked_count=pl.col("counter").n_unique())
    channel_count = pl.col("channel").drop_nulls().n_unique()
    blocks = measured.group_by(block).agg(counter_count=pl.col("counter").n_unique(), channel_count=channel_count)
    frame = counts.join(blocks, on="block", how="left", maintain_order="left")
    frame = frame.with_columns(pl.col("counter_count", "channel_count").fill_null(0))
    frame = frame.with_columns(silent_count=pl.col("asked_count") - pl.col("counter_count"))
    frame = frame.sort("counter_count", descending=True, maintain_order=True)
    return frame.select(pl.col(name).cast(dtype) for name, dtype in CounterContents.tables["blocks"].dtypes.items())


def _panels(counters: CounterSet, measured: pl.DataFrame) -> pl.DataFrame:
    if not counters.system.target or not measured.height:
        return frame_of(CounterContents.tables["panels"], [])
    collected = set(measured["counter"])
    levels = _accumulated(counters, measured)
    return frame_of(
        CounterContents.tables["panels"],
        [_panel(panel, collected, levels) for panel in panels_of(counters.system.target)],
    )


def _accumulated(counters: CounterSet, measured: pl.DataFrame) -> set[str]:
    """Level counters whose accumulator was measured: in passes called after them, or beside them alone."""
    passes = measured.filter(pl.col("counter") == ACCUMULATED)["pass"].unique().to_list()
    pass_names = set(counters.passes.filter(pl.col("pass").is_in(passes))["name"].drop_nulls())
    if len(passes) == 1:
        beside = [name for name in measured.filter(pl.col("pass") == passes[0])["counter"] if LEVEL.fullmatch(name)]
        pass_names |= set(beside) if len(beside) == 1 else set()
    return pass_names


def _panel(panel: Panel, collected: set[str], levels: set[str]) -> dict[str, Any]:
    levels_of_panel = {metric.level for _, metric in metrics_in([panel]) if metric.level}
    # A level counter tells nothing unless its accumulator was measured, whose column has the same name in every pass.
    collected = (collected - levels_of_panel) | {ACCUMULATED} | levels
    needed = [names for _, metric in metrics_in([panel]) if metric.formula and (names := counters_of(metric))]
    missing = Counter(name for names in needed for name in names if name not in collected)
    return {
        "panel": panel.number,
        "word": panel.word,
        "title": panel.title,
        "metric_count": len(needed),
        "measured_count": sum(collected.issuperset(names) for names in needed),
        "missing_counters": some_of([name for name, _ in missing.most_common()], _MISSING_NAMED),
    }
