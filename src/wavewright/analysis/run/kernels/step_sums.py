"""Tokens of the steps of serving, as vLLM and SGLang write them into the marker around a step."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

import polars as pl

if TYPE_CHECKING:
    from wavewright.model.run import Run

_SUMS = ("sq", "sk", "sqsq", "sqsk")
_GROUP = "".join(rf"{name}(\d{{1,17}})" for name in _SUMS)
_VLLM = re.compile(rf"execute_\d+_context_\d+\({_GROUP}\)_generation_\d+\({_GROUP}\)")
_SGLANG = re.compile(r"step\[.*\]")
_FIELD = re.compile(r"\b([cg]_sq|[cg]_sk|[cg]_sqsq|[cg]_sqsk)=(\d{1,17})")
_NAMES = [f"{group}_{name}" for group in "cg" for name in _SUMS]


def sums_of(marker: str) -> dict[str, int] | None:
    """Numbers of a step: c_ of requests in prefill, g_ in decode; None = the marker has none.

    Examples
    --------
    >>> sums_of("execute_2_context_0(sq0sk0sqsq0sqsk0)_generation_2(sq2sk9sqsq2sqsk9)")["g_sk"]
    9
    """
    if groups := _VLLM.match(marker):
        return dict(zip(_NAMES, map(int, groups.groups()), strict=True))
    if _SGLANG.match(marker):
        fields = {name: int(number) for name, number in _FIELD.findall(marker)}
        return dict.fromkeys(_NAMES, 0) | fields if fields else None
    return None


class StepSums:
    """The steps of a run whose tokens are known."""

    def __init__(self, run: Run) -> None:
        columns = ["process", "name", "start_ns", "end_ns"]
        rows = [
            pl.DataFrame(schema={"process": pl.UInt32, "start_ns": pl.Int64, "end_ns": pl.Int64, "step": pl.String})
        ]
        for piece in run.chunks("regions", ["domain", *columns]):
            markers = piece.filter(pl.col("domain").cast(pl.String) == "MARKER")
            names = markers["name"].unique().cast(pl.String).drop_nulls().to_list()
            sums_by_name = {name: json.dumps(sums) for name in names if (sums := sums_of(name)) is not None}
            step = pl.col("name").cast(pl.String).replace_strict(sums_by_name, default=None, return_dtype=pl.String)
            rows.append(markers.select("process", "start_ns", "end_ns", step=step).drop_nulls())
        self.steps = pl.concat(rows).sort("start_ns")

    def around(self, calls: pl.DataFrame) -> pl.Series:
        """The numbers of the step around the start of each call (`process`, `start_ns`), as JSON; null = none."""
        if not self.steps.height:
            return pl.repeat(None, calls.height, dtype=pl.String, eager=True)
        rows = calls.select("process", "start_ns").with_row_index("row").sort("start_ns")
        rows = rows.join_asof(
            self.steps.rename({"start_ns": "begin"}),
            left_on="start_ns",
            right_on="begin",
            by="process",
            strategy="backward",
            check_sortedness=False,
        )
        is_inside = pl.col("start_ns") <= pl.col("end_ns")
        return rows.sort("row").select(pl.when(is_inside).then("step"))["step"]

    def of_graphs(self, run: Run) -> dict[int, str]:
        """Means of the numbers over the steps that replay each graph, by captured call: formulas are linear in them."""
        calls = run.read("graph_calls", ["graph_call", "process", "graph"])
        if not calls.height or not self.steps.height:
            return {}
        work = pl.concat(
            run.read(table, ["graph_call", "correlation"]).drop_nulls().unique() for table in ("dispatches", "copies")
        )
        launches = work.join(calls, on="graph_call").select("process", "graph", "correlation").unique()
        regions = run.read("regions", ["process", "correlation", "start_ns"]).drop_nulls()
        launches = launches.join(regions, on=["process", "correlation"])
        steps = launches.with_columns(step=self.around(launches)).drop_nulls("step")
        means: dict[tuple[int, int], str] = {}
        for (process, graph), rows in steps.partition_by("process", "graph", as_dict=True).items():
            sums = [json.loads(step) for step in rows["step"]]
            mean = {name: sum(each[name] for each in sums) / len(sums) for name in _NAMES}
            means[process, graph] = json.dumps(mean)
        return {call: means[key] for call, *pair in calls.rows() if (key := (pair[0], pair[1])) in means}
