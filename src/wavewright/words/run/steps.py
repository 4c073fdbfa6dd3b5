"""The steps of a run, for the terminal."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import polars as pl

from wavewright.analysis.run.steps import Steps
from wavewright.base.shown import printable
from wavewright.base.words import counted, duration, percent
from wavewright.model.blocks import GAP, AnyBlock, Sentence, headline, sentence
from wavewright.words.kit.brief_names import brief_kernel
from wavewright.words.kit.declared_tables import declared_table
from wavewright.words.run.place_names import rank_limit
from wavewright.words.run.ranks import who_of

_FEWEST_RATED = 10  #: Steps of a phase from which a rate is told as steady.


def steps_report(answer: Steps, *, limit: int | None = 20) -> Iterator[AnyBlock]:
    """The report of `wavewright steps`."""
    if answer.source == "none":
        yield headline("no steps: no marker covers the GPU work, and its kernels do not repeat")
        yield Sentence("name the marker of a step with --step; `wavewright summary --domain MARKER` lists markers")
        return
    yield sentence((_verdict(answer), "bold"))
    yield from _phases(answer)
    yield from _findings(answer)
    if "repetition" in answer.processes["source"]:
        caution = "a repetition of kernels may be a layer of a model instead of a step: name its marker with --step"
        yield Sentence(caution)
    yield GAP
    if answer.processes.height > 1:
        shown = rank_limit(limit)
        yield declared_table("run/steps/process", answer.processes, limit=shown, process=who_of)
        yield GAP
    yield declared_table(
        "run/steps/step",
        answer.steps,
        limit=limit,
        process=who_of,
        several=answer.processes.height > 1,
        is_serving=answer.steps["phase"].count() > 0,
        rate=lambda row: f"{row['tokens_per_second']:,.0f}" if row["tokens_per_second"] else "-",
        is_split=answer.steps["host_ns"].count() > 0,
        kind=lambda row: "" if row["kind"] == "step" else row["kind"],
        cause=_cause,
    )


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
    text = text if spread is None else f"{text}, variation {percent(float(spread))} of the mean"  # type: ignore[arg-type]
    on_gpu = answer.processes["gpu_median_ns"].median()
    if on_gpu is None or "repetition" in answer.source:
        return text
    length = duration(float(on_gpu))  # type: ignore[arg-type]
    return f"{text}; {length} on the GPU, from the first to the last work that a step launches on its main stream"


def _phases(answer: Steps) -> Iterator[Sentence]:
    """Steps of serving by phase, a line each; means only from ten steps on, without the first and the last."""
    last = pl.col("step").max().over("part", "process")
    served_steps = answer.steps.with_columns(is_inner=(pl.col("step") > 0) & (pl.col("step") < last)).drop_nulls(
        "phase"
    )
    for rows in served_steps.partition_by("phase", maintain_order=True):
        phase = str(rows["phase"][0])
        tokens = f"{counted(rows.height, 'steps')} of {phase}, {int(rows['tokens'].sum()):,} tokens"
        inner = rows.filter("is_inner")
        rates = inner["tokens_per_second"].drop_nulls()
        if rates.len() < _FEWEST_RATED:
            yield Sentence(f"{tokens}: too few for a steady rate")
            continue
        low, high = (rates.quantile(at, "nearest") or 0.0 for at in (0.05, 0.95))
        length = duration(float(inner["gpu_length_ns"].median() or 0))  # type: ignore[arg-type]
        median = float(rates.median() or 0.0)  # type: ignore[arg-type]
        speed = f"{tokens}: median {length} on the GPU, {median:,.0f} tokens/s (90 % within {low:,.0f} to {high:,.0f})"
        yield Sentence(speed)


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
            f"{counted(other.height, 'long steps')} that do other work than the usual ones (other kernels or grids, as "
            "prefill and evaluation have); not compared"
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
