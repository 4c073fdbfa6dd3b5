"""Steps of a run: their length, the kinds of time in them, their work, and why some take longer than others."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import polars as pl

from wavewright.analysis.run.calls.launches import region_pieces
from wavewright.analysis.run.gpu_time.process_time import HOST, KINDS, ProcessTime
from wavewright.analysis.run.measures.event_rows import first_label
from wavewright.analysis.run.measures.statistics import is_timed
from wavewright.analysis.run.ranks.stragglers import CAUSES
from wavewright.analysis.run.select.identities import PROCESS, processes_of
from wavewright.analysis.run.select.serving_steps import serving_step
from wavewright.analysis.run.select.step_ranges import alike_steps, in_steps, lanes_of_grid, step_ranges
from wavewright.facts.loader import packaged
from wavewright.model.answer import Answer
from wavewright.model.run import Run
from wavewright.model.schema import empty_frame

_OUTLIER_RATIO = 1.5  #: A step is long if it takes more than this many times the median of the steps like it.
_FEWEST_STEPS = 3  #: Fewer steps, or fewer with the same kernels, have no usual length.
_SAME_SHARE_MIN = 0.5  #: Repetitions of kernels are steps only if at least this share of them have the same kernels.
_MOST_CAUSES = 200  #: Only for this many long steps the cause is looked for, those with the largest excess.
_DETAIL_SHARE_MIN = 0.3  #: A kernel or call is named if it grew by at least this share of what the cause grew by.
_SERVING = ("phase", "requests", "tokens", "context", "tokens_per_second")  #: Columns that markers of serving fill.
_GRID = ("grid_x", "grid_y", "grid_z")


@dataclass(frozen=True, eq=False, repr=False)
class PartialSteps:
    """The contribution of one run."""

    steps: pl.DataFrame  #: The columns of `Steps.steps` without `part` and those of serving.
    processes: pl.DataFrame  #: `process`, its `source` and `name` of steps, and the columns of `PROCESS`.


@dataclass(frozen=True, eq=False)
class Steps(Answer, package=__package__):
    """The steps of a run."""

    steps: pl.DataFrame
    processes: pl.DataFrame
    source: str  #: How steps were found, in words.


def partial_steps(run: Run, marker: str | None = None) -> PartialSteps:
    """The contribution of one run."""
    time = ProcessTime(run, ["name", "stream", *_GRID])
    ranges = step_ranges(run, time.spans, marker)
    processes = processes_of(run)
    number = pl.int_range(pl.len(), dtype=pl.Int64).over("process")
    steps = ranges.steps.with_columns(step=number)
    work = _launched(time.work, steps, ranges.sources)
    steps = _measured(run, steps, work, time)
    kernels = work.filter(~pl.col("is_copy")).with_columns(pl.col("name").cast(pl.String), lanes=lanes_of_grid())
    groups = kernels.group_by("process", "step", "name")
    kernels = groups.agg(pl.col("lanes").sum(), total_ns=(pl.col("end_ns") - pl.col("start_ns")).sum())
    columns = ["process", "name", "start_ns", "end_ns"]
    calls = _times((calls for calls, _ in region_pieces(run, columns)), steps)
    sources = ranges.sources
    described = []
    for (process,), frame in steps.partition_by("process", maintain_order=True, as_dict=True).items():
        is_own = pl.col("process") == process
        rows = _described(frame, kernels.filter(is_own), calls.filter(is_own))
        source = sources.filter(is_own)["source"][0]
        largest_share = rows.select(pl.len().over("alike").max() / pl.len()).item(0, 0)
        if source == "repetition" and largest_share < _SAME_SHARE_MIN:  # they share a kernel, but are no repetition
            unknown = [pl.when(is_own).then(pl.lit("none")).otherwise("source").alias("source")]
            sources = sources.with_columns(*unknown, pl.when(~is_own).then("name").alias("name"))
        else:
            described.append(rows)
    schema = Steps.tables["steps"].dtypes
    names = [name for name in schema if name not in ("part", *PROCESS, *_SERVING)]
    empty = pl.DataFrame(schema={name: schema[name] for name in names})
    rows_of_all = [frame.select(pl.col(name).cast(schema[name]) for name in names) for frame in described]
    all_steps = pl.concat([empty, *rows_of_all]).join(processes, on="process", how="left", maintain_order="left")
    return PartialSteps(all_steps, sources.join(processes, on="process", how="left", maintain_order="left"))


def combine_steps(partials: Sequence[PartialSteps]) -> Steps:
    """The combined result of all runs."""
    spec = Steps.tables
    names_before = [name for name in spec["steps"].names if name not in _SERVING]
    parts = [part.steps.with_columns(part=pl.lit(n, pl.UInt32)).select(names_before) for n, part in enumerate(partials)]
    steps = _with_serving(pl.concat([empty_frame(spec["steps"]).select(names_before), *parts]))
    schema = {name: spec["processes"].dtypes[name] for name in (*PROCESS, "source", "name")}
    rows = [
        part.processes.select("process", *schema).with_columns(part=pl.lit(n, pl.UInt32))
        for n, part in enumerate(partials)
    ]
    processes = pl.concat([pl.DataFrame(schema={"process": pl.UInt32, **schema, "part": pl.UInt32}), *rows])
    order = ["rank", *PROCESS, "part", "process"]
    processes = processes.join(_spread(steps), on=["part", "process"], how="left").with_columns(
        pl.col("step_count", "warm_up_count", "other_count", "outlier_count", "excess_ns").fill_null(0)
    )
    return Steps(
        steps=steps.sort(*order, "step", nulls_last=True),
        processes=processes.sort(*order, nulls_last=True).select(spec["processes"].names),
        source=_source(processes),
    )


def _with_serving(steps: pl.DataFrame) -> pl.DataFrame:
    """The steps with what their markers tell of serving, and tokens per second until the next step on the GPU."""
    parsed = {name: serving_step(name) for name in steps["name"].unique().drop_nulls()}
    for column in _SERVING[:-1]:
        values = {name: getattr(step, column) for name, step in parsed.items() if step}
        dtype = Steps.tables["steps"].dtypes[column]
        series = pl.col("name").replace_strict(values, default=None, return_dtype=dtype)
        steps = steps.with_columns(series.alias(column))
    begin = pl.col("stream_start_ns")
    length = pl.coalesce(begin.shift(-1).over("part", "process", order_by="step"), "stream_end_ns") - begin
    steps = steps.with_columns(tokens_per_second=pl.when(length > 0).then(pl.col("tokens") * 1e9 / length))
    return steps.select(Steps.tables["steps"].names)


def steps(run: Run, marker: str | None = None) -> Steps:
    """The steps of a run, their spread, and why some take longer."""
    return combine_steps([partial_steps(part, marker) for part in run.parts])


def _source(processes: pl.DataFrame) -> str:
    """Origin of the steps of most processes."""
    stepped = processes.filter(pl.col("source") != "none")
    if not stepped.height:
        return "none"
    order = stepped.group_by("source", "name").len().sort(-pl.col("len").cast(pl.Int64), "source", "name")
    source, name = order.select("source", "name").row(0)
    sentence: str = packaged("step_sources.toml", __package__)[source]
    return sentence.format(name=name)


def _spread(steps: pl.DataFrame) -> pl.DataFrame:
    """Per process: how many steps, how long."""
    usual = pl.col("kind").is_in(["step", "outlier"])
    length = pl.col("length_ns").filter(usual)
    is_outlier = pl.col("kind") == "outlier"
    excess = pl.col("excess_ns").filter(is_outlier).sum()
    return steps.group_by("part", "process").agg(
        step_count=pl.len().cast(pl.Int64),
        warm_up_count=(pl.col("kind") == "warm-up").sum().cast(pl.Int64),
        other_count=(pl.col("kind") == "other").sum().cast(pl.Int64),
        outlier_count=is_outlier.sum().cast(pl.Int64),
        median_ns=length.median(),
        gpu_median_ns=pl.col("gpu_length_ns").filter(usual).median(),
        min_ns=length.min(),
        max_ns=length.max(),
        variation=pl.when((length.len() > 1) & (length.mean() > 0)).then(length.std() / length.mean()),
        excess_ns=excess,
        excess_share=pl.when(length.sum() > 0).then(excess / length.sum()),
    )


def _launched(work: pl.DataFrame, steps: pl.DataFrame, sources: pl.DataFrame) -> pl.DataFrame:
    """Kernels and copies with the `step` in which they were launched, or start where launches tell nothing."""
    is_launched = (pl.col("launch_start_ns") <= pl.col("start_ns")) & (pl.col("source") != "repetition")
    rows = work.join(sources.select("process", "source"), on="process", how="left", maintain_order="left")
    return in_steps(rows.with_columns(at_ns=pl.when(is_launched).then("launch_start_ns").otherwise("start_ns")), steps)


def _measured(run: Run, steps: pl.DataFrame, work: pl.DataFrame, time: ProcessTime) -> pl.DataFrame:
    """Steps with the time of each kind, what was work in them, and how long that took."""
    ends = time.before(steps.select("process", time_ns="end_ns"))
    begins = time.before(steps.select("process", time_ns="start_ns"))
    is_known = steps.join(time.spans, on="process", how="left", maintain_order="left")["is_launch_known"]
    length = pl.col("end_ns") - pl.col("start_ns")
    steps = steps.hstack(ends - begins).with_columns(length_ns=length, is_known=is_known)
    steps = steps.with_columns(idle_ns=pl.col("length_ns") - pl.sum_horizontal(KINDS[:-1]))
    if_launched = pl.when("is_known")
    steps = steps.with_columns(
        if_launched.then(pl.col("idle_ns") - pl.col("queued_ns")).alias(HOST),
        if_launched.then("queued_ns").alias("queued_ns"),
    ).drop("is_known")
    keys = ["process", "step"]
    calls = [
        in_steps(piece.rename({"start_ns": "at_ns"}), steps).group_by(keys).agg(call_count=pl.len().cast(pl.Int64))
        for piece, _ in region_pieces(run, ["process", "start_ns"])
    ]
    no_calls = pl.DataFrame(schema={"process": pl.UInt32, "step": pl.Int64, "call_count": pl.Int64})
    duration = pl.col("end_ns") - pl.col("start_ns")
    busiest = duration.sum().over("process", "stream")
    work = work.with_columns(is_main=busiest == busiest.max().over("process"))
    of_work = work.group_by(keys).agg(
        kernel_count=(~pl.col("is_copy")).sum().cast(pl.Int64),
        copy_count=pl.col("is_copy").sum().cast(pl.Int64),
        gpu_start_ns=pl.col("start_ns").min(),
        gpu_end_ns=pl.col("end_ns").max(),
        stream_start_ns=pl.col("start_ns").filter("is_main").min(),
        stream_end_ns=pl.col("end_ns").filter("is_main").max(),
    )
    for counts in (of_work, pl.concat([no_calls, *calls]).group_by(keys).agg(pl.col("call_count").sum())):
        steps = steps.join(counts, on=keys, how="left", maintain_order="left")
    return steps.with_columns(
        pl.col("kernel_count", "copy_count", "call_count").fill_null(0),
        gpu_length_ns=pl.col("stream_end_ns") - pl.col("stream_start_ns"),
    )


_CAUSE = {"cause": pl.String, "cause_ns": pl.Int64, "detail": pl.String, "detail_ns": pl.Int64}


def _described(steps: pl.DataFrame, kernels: pl.DataFrame, calls: pl.DataFrame) -> pl.DataFrame:
    """The steps of one process with kind, excess and cause."""
    steps = steps.with_columns(alike=alike_steps(kernels, steps.height))
    is_usual = pl.len().over("alike") >= _FEWEST_STEPS
    base = pl.when(is_usual).then(pl.col("length_ns").median().over("alike")).otherwise(pl.col("length_ns").median())
    is_long = (pl.col("length_ns") > _OUTLIER_RATIO * base) & (pl.len() >= _FEWEST_STEPS)
    excess_ns = (pl.col("length_ns") - base).cast(pl.Int64)
    steps = steps.with_columns(excess_ns=excess_ns, is_long=is_long, is_usual=is_usual)
    has_usual = bool(steps["is_usual"].any())
    is_first = pl.col("is_long").cast(pl.Int8).cum_min().cast(pl.Boolean)
    is_other = ~pl.col("is_usual") & has_usual
    kinds = (("step", ~pl.col("is_long")), ("other", is_other), ("warm-up", is_first))
    steps = steps.with_columns(kind=first_label(*kinds, otherwise="outlier"))
    longest = steps.filter("is_long").sort(-pl.col("excess_ns"), "step").head(_MOST_CAUSES)
    usual = steps.filter(~pl.col("is_long"))
    of_kernels, of_calls = _Grown(kernels, usual), _Grown(calls, usual)
    causes = [{"step": row["step"], **_cause(row, steps, of_kernels, of_calls)} for row in longest.to_dicts()]
    explained = pl.DataFrame(causes, schema={"step": pl.Int64, **_CAUSE})
    return steps.join(explained, on="step", how="left", maintain_order="left")


def _times(pieces: Iterable[pl.DataFrame], steps: pl.DataFrame) -> pl.DataFrame:
    """`process`, `step`, `name`, `total_ns` of the events that start in each step."""
    schema = {"process": pl.UInt32, "step": pl.Int64, "name": pl.String, "total_ns": pl.Int64}
    sums = [pl.DataFrame(schema=schema)]
    for piece in pieces:
        placed = in_steps(piece.filter(is_timed()).with_columns(at_ns="start_ns"), steps)
        duration = pl.col("end_ns") - pl.col("start_ns")
        totals = placed.group_by("process", "step", pl.col("name").cast(pl.String)).agg(total_ns=duration.sum())
        sums.append(totals.select(*schema))
    return pl.concat(sums).group_by("process", "step", "name").agg(pl.col("total_ns").sum())


def _cause(row: dict[str, Any], steps: pl.DataFrame, kernels: _Grown, calls: _Grown) -> dict[str, Any]:
    """The part that grew most in a long step against the median of the others."""
    others = kernels.others
    if not others.height:  # every step is long: all but this one are the measure
        others = steps.filter(pl.col("step") != row["step"])
        kernels, calls = (_Grown(grown.times, others) for grown in (kernels, calls))
    names = [name for name in CAUSES if row[name] is not None and (name != "idle_ns" or row["host_ns"] is None)]
    grown = {name: row[name] - kernels.median(name) for name in names}
    largest = max(grown, key=lambda name: grown[name])
    of_kernels = largest in ("compute_ns", "communication_ns")
    detail, detail_ns = (kernels if of_kernels else calls).most(row["step"])
    if detail_ns < _DETAIL_SHARE_MIN * grown[largest]:
        detail = None
    return {
        "cause": CAUSES[largest],
        "cause_ns": grown[largest],
        "detail": detail,
        "detail_ns": detail_ns if detail else None,
    }


class _Grown:
    """Times by name of kernels or calls in single steps against those in `others`, whose sums are computed once."""

    def __init__(self, times: pl.DataFrame, others: pl.DataFrame) -> None:
        self.times, self.others = times, others
        self._medians: dict[str, int] = {}

    @cached_property
    def _sums_of_others(self) -> dict[str, int]:
        chosen = self.times.filter(pl.col("step").is_in(self.others["step"].implode()))
        return dict(chosen.group_by("name").agg(pl.col("total_ns").sum()).iter_rows())

    @cached_property
    def _by_step(self) -> dict[int, list[tuple[str | None, int]]]:
        by_step: dict[int, list[tuple[str | None, int]]] = {}
        for step, name, total in self.times.select("step", "name", "total_ns").iter_rows():
            by_step.setdefault(step, []).append((name, total))
        return by_step

    def median(self, column: str) -> int:
        """The median of a time over the other steps."""
        if column not in self._medians:
            self._medians[column] = int(self.others[column].median() or 0)  # type: ignore[arg-type]
        return self._medians[column]

    def most(self, step: int) -> tuple[str | None, int]:
        """The name whose time in a step is most above its mean over the other steps."""
        count = max(self.others.height, 1)
        growths = [
            (total - (self._sums_of_others.get(name, 0) if name is not None else 0) // count, name)
            for name, total in self._by_step.get(step, ())
        ]
        if not growths:
            return None, 0
        # nameless events come first, as in a sorted frame
        growth_ns, name = min(growths, key=lambda row: (-row[0], row[1] is not None, row[1] or ""))
        return name, growth_ns
