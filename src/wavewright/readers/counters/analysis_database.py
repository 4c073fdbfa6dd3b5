"""The analysis database of ROCm Compute Profiler: metrics that it computed, instead of the counters themselves."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import polars as pl

from wavewright.base.toml import packaged
from wavewright.errors import NotATraceError
from wavewright.model.counters import COUNTER_SET, CounterSet
from wavewright.model.losses import Loss, loss_frame
from wavewright.readers.counters.ceilings import ceilings_of_rows
from wavewright.readers.counters.execution import LARGEST_INTEGER, bounded
from wavewright.readers.counters.names import LARGEST, plain_kernel
from wavewright.readers.counters.system import system_of_row, with_facts
from wavewright.readers.files.sqlite import Database, note_missing

#: Tables and columns that every version has.
_REQUIRED: dict[str, list[str]] = packaged("columns.toml", __package__)["analysis_database"]


def read_analysis_database(file: Path, losses: list[Loss], *, target: str | None = None) -> CounterSet:
    """Dispatches, stored metrics, the machine and its ceilings; there are no counters.

    Of several workloads in one database, the first one is read, and the others are a loss. Raises `NotATraceError` when
    it has no workload. `losses` are those of finding the file, to which those of reading it are added.
    """
    database = Database(file)
    try:
        note_missing(database, _REQUIRED, _REQUIRED)
        texts = dict.fromkeys(("name", "sys_info_extdata", "roofline_bench_extdata"), pl.String)
        workloads = database.frame("compute_workload", {"workload_id": pl.Int64, **texts})
        if not workloads.height:
            problem = "an analysis database without a workload"
            raise NotATraceError(problem, where=str(file), advice="let rocprof-compute analyze write it again")
        workload = workloads.row(0, named=True)
        kernels = _kernels(database, workload["workload_id"])
        dispatches, origin = _dispatches(database, kernels)
        metrics = _metrics(database, kernels, workload["workload_id"])
    finally:
        database.close()
    losses += database.losses
    unsound = dispatches["end_ns"].null_count()
    if unsound:
        losses.append(Loss("counter_times", unsound))
    if workloads.height > 1:
        names = ", ".join(str(name) for name in workloads["name"][1:7])
        losses.append(Loss("other_workloads", workloads.height - 1, detail=names))
    system = with_facts(system_of_row(_texts(workload["sys_info_extdata"]), file.name), target, losses)
    tables = {
        "dispatches": dispatches,
        "stored_metrics": metrics,
        "ceilings": ceilings_of_rows([{"device": "0"} | _texts(workload["roofline_bench_extdata"])]),
        "losses": loss_frame(losses),
    }
    return CounterSet(tables, {}, system, str(file), origin)


def _texts(text: str | None) -> dict[str, str]:
    """A JSON object as texts; nothing where it is none."""
    try:
        values = json.loads(text or "{}")
    except (ValueError, RecursionError):
        return {}
    if not isinstance(values, dict):
        return {}
    return {str(name): "" if value is None else str(value) for name, value in values.items()}


def _kernels(database: Database, workload: int) -> pl.DataFrame:
    columns = {"kernel_uuid": pl.Int64, "workload_id": pl.Int64, "kernel_name": pl.String}
    rows = database.frame("compute_kernel", columns).filter(pl.col("workload_id").eq_missing(workload))
    kernels = rows.drop_nulls("kernel_name").unique("kernel_uuid", keep="first", maintain_order=True)
    if kernels.height < rows.height:
        database.losses.append(Loss("counter_rows", rows.height - kernels.height, detail="compute_kernel"))
    return bounded(kernels, "kernel_name").select(
        "kernel_uuid",
        pl.col("kernel_name").alias("kernel_name_spelled"),
        pl.col("kernel_name").map_elements(plain_kernel, return_dtype=pl.String),
    )


def _dispatches(database: Database, kernels: pl.DataFrame) -> tuple[pl.DataFrame, int]:
    """The dispatches, and the time from which theirs are counted in ns."""
    columns: dict[str, Any] = dict.fromkeys(_REQUIRED["compute_dispatch"], pl.Int64)
    within = (pl.when(pl.col(name).is_between(0, LARGEST_INTEGER)).then(name) for name in columns)
    rows = database.frame("compute_dispatch", columns).select(within)
    rows = rows.join(kernels, on="kernel_uuid", how="inner", maintain_order="left").sort("dispatch_uuid")
    first = rows["start_timestamp"].min()
    origin = first if isinstance(first, int) else 0
    is_sound = pl.col("end_timestamp") > pl.col("start_timestamp")
    frame = rows.with_row_index("dispatch").with_columns(
        pl.col("gpu_id").cast(pl.String).alias("agent"),
        pl.col("gpu_id").rank("dense").cast(pl.Int32).sub(1).alias("gpu"),
        (pl.col("start_timestamp") - origin).cast(pl.Float64).alias("start_ns"),
        pl.when(is_sound).then(pl.col("end_timestamp") - origin).cast(pl.Float64).alias("end_ns"),
    )
    dispatches = frame.select(
        (pl.col(name) if name in frame.columns else pl.lit(None)).cast(dtype).alias(name)
        for name, dtype in COUNTER_SET["dispatches"].dtypes.items()
    )
    return dispatches, origin


#: As the tool writes them -> what the values are: they are compared with peaks in bytes.
_UNITS = {"Gb/s": "GB/s", "Gbps": "GB/s"}


def _metrics(database: Database, kernels: pl.DataFrame, workload: int) -> pl.DataFrame:
    texts = ("name", "metric_id", "table_name", "sub_table_name", "unit")
    columns: dict[str, Any] = {"metric_uuid": pl.Int64, "workload_id": pl.Int64} | dict.fromkeys(texts, pl.String)
    metrics = database.frame("compute_metric_definition", columns).filter(pl.col("workload_id").eq_missing(workload))
    metrics = metrics.drop_nulls(["name", "metric_id"]).unique("metric_uuid", keep="first", maintain_order=True)
    values: dict[str, Any] = {"metric_uuid": pl.Int64, "value_name": pl.String, "value": pl.Float64}
    of_kernels = database.frame("compute_kernel_metric_value", values | {"kernel_uuid": pl.Int64})
    of_kernels = of_kernels.join(kernels, on="kernel_uuid", how="inner", maintain_order="left")
    of_workload = database.frame("compute_workload_metric_value", values | {"workload_id": pl.Int64})
    of_workload = of_workload.filter(pl.col("workload_id").eq_missing(workload))
    of_all = pl.concat([of_kernels.select("kernel_name", *values), of_workload.select(*values)], how="diagonal")
    return of_all.join(metrics, on="metric_uuid", how="inner", maintain_order="left").select(
        "kernel_name",
        "metric_id",
        pl.col("table_name").alias("panel_title"),
        pl.col("sub_table_name").alias("table_title"),
        "name",
        pl.col("unit").replace(_UNITS),
        pl.col("value_name").alias("statistic"),
        pl.when(pl.col("value").abs() <= LARGEST).then("value").alias("value"),
    )
