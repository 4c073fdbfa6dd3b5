"""Curves of busy time, memory, copies, clocks and counters of a run, for drawing at any zoom."""

from __future__ import annotations

import math
from typing import NamedTuple

import polars as pl

from wavewright.analysis.common.step_functions import StepCurve
from wavewright.analysis.run.measures.intervals import intervals, merged
from wavewright.analysis.run.memory import counter_points
from wavewright.analysis.run.select.clocks import NodeClocks, node_clocks
from wavewright.analysis.run.select.gpus import gpu_work, index_gpus
from wavewright.errors import UsageError
from wavewright.model.run import Run
from wavewright.model.run_labels import agent_label

#: Sets of curves -> their unit, and the function of their points.
_POINTS = {
    "memory": ("bytes", counter_points.memory_points),
    "copying": ("bytes", counter_points.copied_bytes),
    "monitors": ("", counter_points.monitored),
    "samples": ("", counter_points.sampled_counters),
    "dispatches": ("", counter_points.dispatch_counters),
}
#: Sets of curves -> their unit: GPUs with work, bytes allocated and reserved, bytes being copied, clocks, counters.
CURVE_UNITS = {"busy": "share of the time"} | {name: unit for name, (unit, _) in _POINTS.items()}
MOST_SERIES = 256  #: At most so many curves of one set are computed: those with most points.


class RunSeries(NamedTuple):
    """One curve: its label, its quantity, and its values in ns since the start of its node."""

    label: str
    quantity: str
    curve: StepCurve


class RunCurves(NamedTuple):
    """A set of curves; `left_out` = the number of curves that were not computed."""

    series: list[RunSeries]
    left_out: int


def run_curves(run: Run, name: str, clocks: NodeClocks | None = None) -> RunCurves:
    """The curves of a set of `CURVE_UNITS`, empty when nothing of it was recorded.

    A GPU is busy (1) while at least one dispatch or copy runs on it, as in `busy`; means over stretches of time are its
    busy share. Raises `UsageError` when there is no such set.
    """
    if name not in CURVE_UNITS:
        raise UsageError(f"no curves {name[:40]!r}", advice=f"curves: {', '.join(CURVE_UNITS)}")
    clocks = clocks or node_clocks(run)
    if name == "busy":
        return _busy(run, clocks)
    before = math.nan if name == "monitors" else 0.0  # what was not sampled yet is not zero
    _, points_of = _POINTS[name]
    return _quantities(run, clocks, points_of(run), before)


def _busy(run: Run, clocks: NodeClocks) -> RunCurves:
    gpu_index = index_gpus(run)
    busy = merged(intervals(gpu_work(run, gpu_index), ["place"]), ["place"])
    starts = clocks.starts("machine")
    several = clocks.nodes.height > 1
    curves: list[tuple[str, pl.DataFrame]] = []
    for place in gpu_index.table.iter_rows(named=True):
        stretches = busy.filter(pl.col("place") == place["place"])
        if not stretches.height:
            continue
        first = starts.get(place["machine"], 0)
        gpu = "GPU not recorded" if place["gpu"] is None else f"GPU {place['gpu']}"
        edges = pl.concat([
            stretches.select(time_ns=pl.col("start_ns") - first, value=pl.lit(1.0)),
            stretches.select(time_ns=pl.col("end_ns") - first, value=pl.lit(0.0)),
        ]).sort("time_ns")  # fmt: skip
        curves.append((f"{place['node']} {gpu}" if several else gpu, edges))
    return _with_longest([(label, "", points) for label, points in curves])


def _quantities(run: Run, clocks: NodeClocks, points: pl.DataFrame, before: float) -> RunCurves:
    begin = clocks.processes["start_ns"].gather(points["process"]).fill_null(0)
    timed = points.with_columns((pl.col("time_ns") - begin).alias("time_ns")).filter(pl.col("time_ns").is_not_null())
    agents = [agent_label(row) for row in run.read("agents").to_dicts()]
    pids = run.read("processes", ["pid", "rank"]).rows()
    several = len(pids) > 1
    curves = []
    for (process, agent, name), part in timed.group_by("process", "agent", "name", maintain_order=True):
        where = agents[int(str(agent))] if agent is not None else ""
        pid, rank = pids[int(str(process))] if process is not None else (None, None)
        owner = (f"process {pid}" if rank is None else f"rank {rank}") if several else ""
        curves.append((" ".join(filter(None, (str(name or ""), where, owner))), str(name or ""), part))
    return _with_longest(curves, before)


def _with_longest(candidates: list[tuple[str, str, pl.DataFrame]], before: float = 0.0) -> RunCurves:
    """The candidates (label, quantity, points) with most points as curves, in their order."""
    longest = sorted(range(len(candidates)), key=lambda number: -candidates[number][2].height)[:MOST_SERIES]
    curves = []
    for label, quantity, points in (candidates[number] for number in sorted(longest)):
        last = points.unique("time_ns", keep="last", maintain_order=True).rename({"time_ns": "time_cycles"})
        curves.append(RunSeries(label, quantity, StepCurve.of_values(last, before=before)))
    return RunCurves(curves, len(candidates) - len(curves))
