"""The dispatches of a counter capture that a question is about."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import polars as pl

from wavewright.base.bounds import integer_of
from wavewright.base.words import some_of
from wavewright.errors import UsageError
from wavewright.model.counters import CounterSet

_SHOWN_NAMES = 5  #: Kernels, dispatches or GPUs that an error lists.


@dataclass(frozen=True)
class CounterChoice:
    """A selection of dispatches by kernel, id and GPU; empty = all."""

    kernels: tuple[str, ...] = ()  #: Each a rank in `ranked_kernels`, a name, or a part of one.
    dispatches: tuple[int, ...] = ()  #: Values of dispatches.dispatch_id.
    gpus: tuple[int, ...] = ()  #: Values of dispatches.gpu.


ALL_DISPATCHES = CounterChoice()  #: No choice: everything.


def ranked_kernels(dispatches: pl.DataFrame, run_times: Mapping[str, int] | None = None) -> pl.DataFrame:
    """One row per kernel name, the longest in total first; columns as `CounterPanels.kernels`, without `is_chosen`.

    `dispatches` has kernel_name, start_ns and end_ns; kernels of the same duration are sorted by name. Passes measure
    some dispatches of a run only: where `run_times` (kernel name -> ns in the run) are known, shares are of these.
    """
    durations = dispatches.select("kernel_name", duration=pl.col("end_ns") - pl.col("start_ns"))
    grouped = durations.group_by("kernel_name").agg(
        pl.len().cast(pl.UInt32).alias("dispatch_count"),
        pl.when(pl.col("duration").count() > 0).then(pl.col("duration").sum()).alias("duration_ns_total"),
        pl.col("duration").mean().alias("duration_ns_mean"),
        pl.col("duration").median().alias("duration_ns_median"),
    )
    share = pl.col("duration_ns_total") / (grouped["duration_ns_total"].sum() or None)
    if run_times:
        shares = {name: time / (sum(run_times.values()) or 1) for name, time in run_times.items()}
        share = pl.col("kernel_name").replace_strict(shares, default=None, return_dtype=pl.Float64)
    order = grouped.sort(["duration_ns_total", "kernel_name"], descending=[True, False], nulls_last=True)
    return order.with_row_index("kernel").with_columns(duration_share=share.cast(pl.Float64))


def ranked_dispatches(counters: CounterSet, chosen: pl.DataFrame) -> pl.DataFrame:
    """The chosen dispatches with the rank of their kernel in the capture, as `kernel`."""
    ranks = ranked_kernels(counters.dispatches).select("kernel", "kernel_name")
    return chosen.join(ranks, on="kernel_name", how="left", maintain_order="left", nulls_equal=True)


def chosen_dispatches(counters: CounterSet, choice: CounterChoice) -> pl.DataFrame:
    """The rows of `dispatches` that the choice allows.

    Raises `UsageError` when a kernel, dispatch or GPU is asked for that the capture does not have.
    """
    rows = counters.dispatches
    if choice.gpus:
        _all_known("GPU", choice.gpus, rows["gpu"], counters.path)
        rows = rows.filter(pl.col("gpu").is_in(choice.gpus))
    if choice.dispatches:
        _all_known("dispatch", choice.dispatches, rows["dispatch_id"], counters.path)
        rows = rows.filter(pl.col("dispatch_id").is_in(choice.dispatches))
    if choice.kernels:
        names = _kernel_names(counters, choice.kernels)
        rows = rows.filter(pl.col("kernel_name").is_in(names))
        if not rows.height:
            what = "the chosen kernels have no dispatch among those that are chosen"
            raise UsageError(what, where=counters.path, advice="leave out --dispatch or --gpu")
    return rows


def _all_known(word: str, numbers: Sequence[int], recorded: pl.Series, path: str) -> None:
    unknown = sorted(set(numbers) - set(recorded.drop_nulls().to_list()))
    if unknown:
        values = recorded.drop_nulls().unique().sort().to_list()
        shown = ", ".join(map(str, values)) if len(values) <= _SHOWN_NAMES else f"{values[0]} to {values[-1]}"
        advice = f"it has {shown}" if values else "it does not say any"
        raise UsageError(f"no {word} {unknown[0]} in this capture", where=path, advice=advice)


def _kernel_names(counters: CounterSet, words: Sequence[str]) -> list[str]:
    ranked = ranked_kernels(counters.dispatches)["kernel_name"].to_list()
    names: list[str] = []
    for word in words:
        matches = [name for name in ranked if name == word] or [name for name in ranked if word in (name or "")]
        rank = integer_of(word, below=len(ranked))
        if rank is not None:  # a number is always a rank, also where it is part of a name
            matches = [ranked[rank]]
        if not matches:
            examples = some_of(ranked, _SHOWN_NAMES, lambda name: repr((name or "")[:60]))
            what = f"no kernel {word[:80]!r} in this capture"
            raise UsageError(what, where=counters.path, advice=f"it has {examples}" if ranked else "it has none")
        names += matches
    return list(dict.fromkeys(names))
