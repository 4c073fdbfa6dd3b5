"""Counters inside the run: ROCpd databases and rocprofv3 JSON. Every file is a pass, or several."""

from __future__ import annotations

import json
from collections.abc import Sequence
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any

import polars as pl

from wavewright.base.shown import quoted
from wavewright.errors import NotATraceError, WavewrightError
from wavewright.model.counters import System
from wavewright.model.losses import LOSSES, Loss
from wavewright.model.run import Run
from wavewright.readers.counters.execution import INTEGERS, LARGEST_INTEGER, Pass
from wavewright.readers.counters.long import passes_of_values
from wavewright.readers.counters.names import KERNEL_SUFFIX, LARGEST, SMALLEST
from wavewright.readers.counters.system import system_of_agents
from wavewright.readers.run.inputs import find_runs, open_inputs, open_run

_CHANNELS_PER_XCD = 16
_TIMES = ("start_ns", "end_ns")
_LOSSES_SHOWN = 3


@cache
def times_of_run(path: Path) -> dict[str, int]:
    """Kernel -> its time in the run that is in the folder of passes, in ns; empty = there is none."""
    with suppress(WavewrightError):
        if inputs := [run_input for run_input in find_runs([path]) if not run_input.is_pass] if path.is_dir() else []:
            rows = open_inputs(inputs).read("dispatches", ["name", "start_ns", "end_ns"])
            times = rows.group_by(pl.col("name").cast(pl.String)).agg(ns=(pl.col("end_ns") - pl.col("start_ns")).sum())
            return dict(times.iter_rows())
    return {}


def passes_of_runs(files: Sequence[Path], losses: list[Loss]) -> tuple[list[Pass], System]:
    """The passes in runs, and the GPU that they name.

    Raises `NotATraceError` when none of them has counters of dispatches.
    """
    passes: list[Pass] = []
    system = System()
    problems: list[WavewrightError] = []
    for file in files:
        try:
            run = open_run(file)
            rows = _values(run, file, losses) if run.count("counters") else pl.DataFrame()
        except WavewrightError as error:
            problems.append(error)
            continue
        if rows.height:
            name = file.parent.name if len({other.parent for other in files}) > 1 else file.stem
            passes += passes_of_values(rows, name, file, "database", losses)
            system = system if system.target else _system(run, file.name)
        losses += [loss for origin in run.origins for loss in origin.losses if LOSSES[loss.kind].is_damage]
    if not passes:
        if problems:
            raise problems[0]
        advice = losses[0].advice if losses else "record with rocprofv3 --pmc"
        advice += f"; wavewright summary {quoted(files[0])} tells about the run"
        messages = "; ".join(loss.message for loss in losses[:_LOSSES_SHOWN])
        raise NotATraceError("no counters of dispatches inside", where=str(files[0]), kept=messages, advice=advice)
    losses += [Loss("unreadable_source", detail=str(problem)) for problem in problems]
    return passes, system


def _values(run: Run, file: Path, losses: list[Loss]) -> pl.DataFrame:
    """One row per value of a counter, in the columns of `described`; instances of a block are summed."""
    rows = run.read("counters", ["process", "counter", "event", "value", "xcc", "instance"])
    rows = rows.filter(pl.col("event").is_not_null())
    counts = rows.filter((pl.col("value") == 0) | pl.col("value").is_between(SMALLEST, LARGEST))
    if counts.height < rows.height:
        losses.append(Loss("counter_numbers", rows.height - counts.height, detail=file.name))
    names = run.read("counter_info", ["counter", "name"])
    values = counts.join(names, on="counter", how="inner", maintain_order="left").rename({"name": "spelled"})
    key = ("process", "event", "spelled")
    sums = values.group_by(key, maintain_order=True).agg(pl.col("value").sum())
    is_channel = pl.col("spelled").str.contains(r"^TCC_\w*$") & ~pl.col("spelled").str.ends_with("_sum")
    channels = values.filter(is_channel & pl.col("instance").is_not_null())
    if channels.height:
        channel = pl.col("xcc").fill_null(0) * _CHANNELS_PER_XCD + pl.col("instance")
        by_channel = channels.with_columns(spelled=pl.format("{}[{}]", "spelled", channel))
        sums = pl.concat([sums, by_channel.group_by(key, maintain_order=True).agg(pl.col("value").sum())])
    return sums.join(_dispatches(run), on=("process", "event"), how="inner", maintain_order="left").select(
        pl.col("agent", *_TIMES, *INTEGERS),
        pl.col("kernel_name").str.replace(KERNEL_SUFFIX, ""),
        pl.col("kernel_name").alias("kernel_name_spelled"),
        pl.col("spelled").alias("counter"),
        "value",
    )


def _dispatches(run: Run) -> pl.DataFrame:
    sizes = [f"{extent}_{axis}" for extent in ("grid", "workgroup") for axis in "xyz"]
    registers = ["lds_bytes", "scratch_bytes", "vgpr_count", "accum_vgpr_count", "sgpr_count"]
    columns = ["process", "event", "agent", "dispatch_id", "name", "start_ns", "end_ns", *sizes, *registers]
    dispatches = run.read("dispatches", columns)
    agent_text = pl.coalesce("absolute_index", "agent_id").cast(pl.String)
    agents = run.read("agents", ["agent", "absolute_index", "agent_id"]).select("agent", agent_text=agent_text)
    processes = run.read("processes", ["process", "pid"])
    dispatches = dispatches.join(agents, on="agent", how="left", maintain_order="left")
    dispatches = dispatches.join(processes, on="process", how="left", maintain_order="left")
    names = {"pid": "process_id", "agent_text": "agent", "name": "kernel_name", "vgpr_count": "arch_vgprs"}
    names |= {"accum_vgpr_count": "accum_vgprs", "sgpr_count": "sgprs"}
    casts = (pl.col("pid").cast(pl.Int64), pl.col("name").cast(pl.String))
    return dispatches.drop("agent").with_columns(*casts, _product("grid"), _product("workgroup")).rename(names)


def _product(name: str) -> pl.Expr:
    """Work-items in all directions; null where they are more than a number holds."""
    sides = [pl.col(f"{name}_x"), *(pl.col(f"{name}_{axis}").fill_null(1).clip(1) for axis in "yz")]
    lanes_as_float = sides[0].cast(pl.Float64) * sides[1].cast(pl.Float64) * sides[2].cast(pl.Float64)
    product = sides[0].cast(pl.Int64) * sides[1].cast(pl.Int64) * sides[2].cast(pl.Int64)
    return pl.when(lanes_as_float.is_between(0, LARGEST_INTEGER)).then(product).alias(f"{name}_size")


def _system(run: Run, file: str) -> System:
    """The GPU of a run, from what is stored about the agents that its dispatches used."""
    used_agents = set(run.read("dispatches", ["agent"])["agent"].drop_nulls())
    rows: list[dict[str, str]] = []
    for agent in run.agents.iter_rows(named=True):
        if agent["agent"] not in used_agents:
            continue
        values: dict[str, Any] = {}
        with suppress(ValueError, TypeError):
            values = json.loads(agent["properties"] or "{}")
        properties = {name: str(value) for name, value in values.items() if isinstance(value, str | int | float)}
        rows.append(properties | {
            "node_id": str(agent["agent"]),
            "agent_type": "GPU",
            "name": agent["target"] or "",
            "product_name": agent["product"] or "",
            "cu_count": str(agent["cu_count"] or ""),
            "wave_front_size": str(agent["wave_lanes"] or ""),
        })  # fmt: skip
    return system_of_agents(rows, [], file)
