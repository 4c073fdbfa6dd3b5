"""The steps of a run, for the terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import polars as pl

from wavewright.base.shown import printable
from wavewright.base.words import counted, duration, percent
from wavewright.model.blocks import GAP, AnyBlock, Sentence, headline, sentence
from wavewright.words.kit.brief_names import brief_kernel
from wavewright.words.kit.frame_tables import Column, frame_table
from wavewright.words.run.ranks import who_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from wavewright.analysis.run.steps import Steps


def steps_report(answer: Steps, *, limit: int | None = 20) -> Iterator[AnyBlock]:
    """The report of `wavewright steps`."""
    if answer.source == "none":
        yield headline("no steps: no marker covers the GPU work, and its kernels do not repeat")
        yield Sentence("name the marker of a step with --step; `wavewright summary --domain MARKER` lists markers")
        return
    yield sentence((_verdict(answer), "bold"))
    yield from _findings(answer)
    if "repetition" in answer.processes["source"]:
        yield Sentence(
            "a repetition of kernels may be a layer of a model instead of a step: name its marker with --step"
        )
    yield GAP
    if answer.processes.height > 1:
        shown = None if limit is None else max(limit, 64)
        yield frame_table(answer.processes, _PROCESS_COLUMNS, limit=shown, what="processes")
        yield GAP
    yield frame_table(answer.steps, _step_columns(answer), limit=limit, what="steps")


def _verdict(answer: Steps) -> str:
    usual = answer.steps.filter(pl.col("kind").is_in(["step", "outlier"]))["length_ns"]
    count = counted(answer.steps.height, "steps")
    where = f" of {counted(answer.processes.height, 'processes')}" if answer.processes.height > 1 else ""
    source = (
        answer.source
        if "repetition" not in answer.source
        else f"repetition of kernels ({brief_kernel(_anchor(answer))})"
    )
    if not usual.len():
        return f"{count}{where}, by {printable(source)}"
    low, high = duration(usual.min()), duration(usual.max())  # type: ignore[arg-type]
    text = f"{count}{where}, by {printable(source)}: median {duration(usual.median())}, {low} to {high}"  # type: ignore[arg-type]
    spread = answer.processes["variation"].median()
    return text if spread is None else f"{text}, variation {percent(float(spread))} of the mean"  # type: ignore[arg-type]


def _anchor(answer: Steps) -> str:
    names = answer.processes.filter(pl.col("source") == "repetition")["name"]
    return str(names[0])


def _findings(answer: Steps) -> Iterator[Sentence]:
    """Unusual steps, a line each."""
    warm_up = answer.steps.filter(pl.col("kind") == "warm-up")
    if warm_up.height:
        more = duration(int(warm_up["excess_ns"].sum()))
        yield Sentence(f"warm-up: {counted(warm_up.height, 'steps')}, {more} more than the median")
    other = answer.steps.filter(pl.col("kind") == "other")
    if other.height:
        yield Sentence(
            f"{counted(other.height, 'long steps')} with kernels that the usual ones do not have; not compared"
        )
    outliers = answer.steps.filter(pl.col("kind") == "outlier")
    if not outliers.height:
        if answer.steps.height >= 3:
            yield Sentence("no step is longer than 1.5 times the median")
        return
    usual = int(answer.steps.filter(pl.col("kind").is_in(["step", "outlier"]))["length_ns"].sum())
    excess = int(outliers["excess_ns"].sum())
    worst = outliers.sort("excess_ns", descending=True, maintain_order=True).row(0, named=True)
    several = "together " if outliers.height > 1 else ""
    yield Sentence(
        f"{counted(outliers.height, 'outliers')}, {several}{duration(excess)} ({percent(excess / max(usual, 1))} of "
        f"the steps) above the median; the worst is step {worst['step']}{_of(answer, worst)}, "
        f"{duration(worst['length_ns'])}: {_cause(worst)}"
    )


def _of(answer: Steps, row: dict[str, Any]) -> str:
    return f" of {who_of(row)}" if answer.processes.height > 1 else ""


def _cause(row: dict[str, Any]) -> str:
    if row["cause"] is None:
        return ""
    detail = f" ({brief_kernel(row['detail'], 60)} +{duration(row['detail_ns'])})" if row["detail"] else ""
    return f"{row['cause']} +{duration(row['cause_ns'])}{detail}"


_PROCESS_COLUMNS = [
    Column("process", who_of, is_text=True, is_fixed=True),
    Column("steps", lambda row: f"{row['step_count']:,}"),
    Column("median", lambda row: duration(row["median_ns"])),
    Column("shortest", lambda row: duration(row["min_ns"])),
    Column("longest", lambda row: duration(row["max_ns"])),
    Column("variation", lambda row: percent(row["variation"])),
    Column("warm-up", lambda row: f"{row['warm_up_count']:,}", is_wide=True),
    Column("other", lambda row: f"{row['other_count']:,}", is_wide=True),
    Column("outliers", lambda row: f"{row['outlier_count']:,}"),
    Column("by", lambda row: row["source"], is_text=True, is_fixed=True, is_wide=True),
]


def _step_columns(answer: Steps) -> list[Column]:
    several = answer.processes.height > 1
    is_known = answer.steps["host_ns"].null_count() < answer.steps.height
    idle = [Column("idle", lambda row: duration(row["idle_ns"]))]
    parts = [
        Column("launched", lambda row: duration(row["queued_ns"])),
        Column("host", lambda row: duration(row["host_ns"])),
    ]
    return [
        *([Column("process", who_of, is_text=True, is_fixed=True)] if several else []),
        Column("step", lambda row: f"{row['step']:,}"),
        Column("length", lambda row: duration(row["length_ns"])),
        Column("compute", lambda row: duration(row["compute_ns"])),
        Column("comm.", lambda row: duration(row["communication_ns"])),
        Column("copies", lambda row: duration(row["copy_ns"])),
        *(parts if is_known else idle),
        Column("kernels", lambda row: f"{row['kernel_count']:,}", is_wide=True),
        Column("calls", lambda row: f"{row['call_count']:,}", is_wide=True),
        Column("", lambda row: "" if row["kind"] == "step" else row["kind"], is_text=True, is_fixed=True),
        Column("cause", _cause, takes_rest=True, is_text=True, is_wide=True),
    ]
