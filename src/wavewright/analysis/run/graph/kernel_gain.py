"""Effect of a faster kernel on the run and on a step: the gains of its calls, carried through the event graph."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import polars as pl

from wavewright.analysis.common.run_gain import RunGain
from wavewright.analysis.run.graph.change import Change
from wavewright.analysis.run.graph.event_graph import event_graph
from wavewright.analysis.run.graph.path import LEAST_EXPLAINED, path_of
from wavewright.analysis.run.steps import steps
from wavewright.base.words import percent

if TYPE_CHECKING:
    from collections.abc import Sequence

    from wavewright.analysis.run.graph.event_graph import EventGraph
    from wavewright.model.run import Run

    Size = tuple[int, int, int] | None
    Interval = tuple[float, float]

_SIDES = [f"{extent}_{axis}" for extent in ("grid", "workgroup") for axis in "xyz"]


def run_gains(
    run: Run, kernel: str, gains: Sequence[Interval], *, grid: Size = None, workgroup: Size = None
) -> list[RunGain]:
    """The effect of each gain of a kernel, by its name in the run, on the run that calls it.

    `gains` are intervals of the share by which calls become shorter: (0.08, 0.14) = by 8 to 14 %, negative = longer.
    With `grid` or `workgroup` (work-items), only calls of this size become faster. Raises `UsageError` when the run has
    more events than an event graph may have.
    """
    graph = event_graph(run)
    calls = _calls(graph, run, kernel, grid, workgroup)
    path = path_of(graph)
    explained_calls = calls.filter(~pl.col("group").is_in(path.unexplained_groups))
    if not explained_calls.height:
        share = max(path.groups["explained_share"].drop_nulls(), default=0.0)
        reason = (
            f"the record explains {percent(share)} of the time; a prediction needs {percent(LEAST_EXPLAINED)}: "
            f"{path.advice}"
            if calls.height
            else "the run has no call of the kernel with this size"
        )
        return [RunGain(calls.height, _sum_ns(calls), 0, 0, 0, unknown=reason) for _ in gains]
    longest = explained_calls.group_by("group").agg(pl.col("ns").sum()).sort("ns", "group", descending=[True, False])
    group = longest["group"][0]
    calls = explained_calls.filter(pl.col("group") == group)
    in_steps, lengths_ns = _in_steps(graph, run, calls)
    step_count = lengths_ns.len()
    median_ns: Any = lengths_ns.median()
    answers = []
    for gain in gains:
        span_ns, low, high = _interval(graph, group, calls["event"], gain)
        of_run = (calls.height, _sum_ns(calls), span_ns, low, high)
        if step_count and in_steps.height < calls.height:
            _, low, high = _interval(graph, group, in_steps["event"], gain)
        of_step = (step_count, median_ns, low / step_count, high / step_count) if step_count else ()
        answers.append(RunGain(*of_run, *of_step))
    return answers


def _interval(graph: EventGraph, group: int, events: pl.Series, gain: Interval) -> tuple[int, int, int]:
    """The span of a group, and the least and the largest gain of it."""
    predictions = [
        prediction
        for share in gain
        for prediction in graph.what_if(Change.of(events, duration_scale=max(0.0, 1 - share)))
        if prediction.group == group
    ]
    lows, highs = ([getattr(row, name) for row in predictions] for name in ("gain_ns_min", "gain_ns_max"))
    return predictions[0].span_ns, min(lows), max(highs)


def _calls(graph: EventGraph, run: Run, kernel: str, grid: Size, workgroup: Size) -> pl.DataFrame:
    """`event`, `group`, `process`, `at_ns` (of the launch, else of the start) and `ns` of the calls."""
    is_kernel = pl.col("kind").is_in(["kernel", "communication"]) & (pl.col("name").cast(pl.String) == kernel)
    calls = graph.events.filter(is_kernel).with_columns(ns=pl.col("end_ns") - pl.col("start_ns"))
    if grid is not None or workgroup is not None:
        sizes = dict(zip(_SIDES, (*(grid or (None,) * 3), *(workgroup or (None,) * 3)), strict=True))
        is_alike = pl.all_horizontal(pl.col(name) == size for name, size in sizes.items() if size is not None)
        sized = (part.read("dispatches", _SIDES).with_row_index("row").filter(is_alike) for part in run.parts)
        rows = [frame.select("row", part=pl.lit(number, pl.UInt32)) for number, frame in enumerate(sized)]
        calls = calls.join(pl.concat(rows), on=["part", "row"], how="semi")
    launch_ns = graph.events["start_ns"].gather(calls["launch"])
    return calls.with_columns(at_ns=pl.coalesce(launch_ns, "start_ns"))


def _in_steps(graph: EventGraph, run: Run, calls: pl.DataFrame) -> tuple[pl.DataFrame, pl.Series]:
    """The calls that were launched in a step, and the lengths of the steps that have any."""
    places = graph.processes.select("part", "offset_ns", process="local", number="process")
    length_columns = (
        steps(run)
        .steps.join(places, on=["part", "process"])
        .select("step", process="number", from_ns=pl.col("start_ns") + pl.col("offset_ns"), length_ns="length_ns")
    )
    starts = length_columns.with_columns(at_ns="from_ns").sort("at_ns")
    placed_calls = calls.sort("at_ns").join_asof(starts, on="at_ns", by="process", check_sortedness=False)
    placed_calls = placed_calls.filter(pl.col("at_ns") < pl.col("from_ns") + pl.col("length_ns"))
    return placed_calls, placed_calls.group_by("step").agg(pl.col("length_ns").max())["length_ns"]


def _sum_ns(calls: pl.DataFrame) -> int:
    return int(calls["ns"].sum())
