"""Numbers of the serving step around each call of an operator, from the markers that vLLM and SGLang write."""

from __future__ import annotations

import json

import polars as pl

from wavewright.analysis.run.calls.launches import work_rows
from wavewright.analysis.run.select.serving_steps import serving_step
from wavewright.model.run import Run


class StepSums:
    """The steps of a run whose tokens are known."""

    def __init__(self, run: Run) -> None:
        columns = ["process", "name", "start_ns", "end_ns"]
        schema = {"process": pl.UInt32, "start_ns": pl.Int64, "end_ns": pl.Int64, "step": pl.String}
        rows = [pl.DataFrame(schema=schema)]
        for piece in run.chunks("regions", ["domain", *columns]):
            markers = piece.filter(pl.col("domain").cast(pl.String) == "MARKER")
            names = markers["name"].unique().cast(pl.String).drop_nulls().to_list()
            parsed = ((name, serving_step(name)) for name in names)
            sums_by_name = {name: json.dumps(step.sums) for name, step in parsed if step and step.sums}
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
        work = work_rows(run, ["graph_call", "correlation"]).drop_nulls().unique()
        launches = work.join(calls, on="graph_call").select("process", "graph", "correlation").unique()
        regions = run.read("regions", ["process", "correlation", "start_ns"]).drop_nulls()
        launches = launches.join(regions, on=["process", "correlation"])
        steps = launches.with_columns(step=self.around(launches)).drop_nulls("step")
        means: dict[tuple[int, int], str] = {}
        for (process, graph), rows in steps.partition_by("process", "graph", as_dict=True).items():
            sums = [json.loads(step) for step in rows["step"]]
            mean = {name: sum(step_sums[name] for step_sums in sums) / len(sums) for name in sums[0]}
            means[process, graph] = json.dumps(mean)
        return {call: means[key] for call, *pair in calls.rows() if (key := (pair[0], pair[1])) in means}
