"""The idle time of GPUs, every nanosecond with its cause: what the thread did that launched the next work."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from wavescope.analysis.run.diagnose.host import BLOCKING, CALL_KINDS, calls_within, longest_calls, stacks, time_within
from wavescope.analysis.run.intervals import gaps_between

if TYPE_CHECKING:
    from wavescope.analysis.run.diagnose.host import Host

#: What a gap is divided into. Beyond the kinds of calls: `data loader`, `host code` (outside of calls), `launch` (from
#: the start of the launching call, while nothing else was queued), `first use` (the same where the first launch of a
#: kernel takes far longer than a call: its code is loaded), `stream` (launched, but held up in its stream),
#: `queued` (launched before the gap began), `unknown` (its launch is not recorded).
CAUSES = (*CALL_KINDS, "data loader", "host code", "launch", "first use", "stream", "queued", "unknown")
#: What tells gaps of one rule from those of another, beside the cause.
FLAGS = ("follows", "blocker", "is_early", "has_fault", "is_repeated")
#: From a launching call's end to the start of its kernel on an idle GPU; beyond that it waited for something else.
LATENCY_NS = 20_000
#: A first launch that takes longer than this loads code.
_LOADING_NS = 200_000
_WORST = 5
_HALF = 2


def gaps_of(work: pl.DataFrame, host: Host, early_ns: dict[int, int]) -> pl.DataFrame:
    """The gaps between the work of each GPU: `gap_ns`, a column per cause (they add up), and the `FLAGS`.

    `early_ns` has the end of the first step of each GPU.
    """
    gaps = _bare_gaps(work)
    end = pl.col("gap_start_ns") + pl.col("gap_ns")
    is_known = pl.col("launch_start_ns").is_not_null()
    is_late = is_known & (pl.col("launch_start_ns") > pl.col("gap_start_ns"))
    called = pl.col("launch_start_ns").clip(pl.col("gap_start_ns"), end)
    call_ns = (pl.col("launch_end_ns") - pl.col("launch_start_ns")).clip(0)
    launch = pl.min_horizontal(end - called, call_ns + LATENCY_NS)
    is_near = pl.col("is_first") & (end - pl.col("launch_end_ns") < LATENCY_NS)
    gaps = gaps.with_columns(
        wait_ns=pl.when(is_late).then(called - pl.col("gap_start_ns")).otherwise(0),
        launch=pl.when(is_late).then(launch).when(is_known & is_near).then("gap_ns").otherwise(0),
        unknown=pl.when(~is_known).then("gap_ns").otherwise(0),
    )
    is_loading = pl.col("is_new") & (pl.col("launch") > _LOADING_NS)
    gaps = gaps.with_columns(
        pl.when(is_loading).then("launch").otherwise(0).alias("first use"),
        launch=pl.when(is_loading).then(0).otherwise("launch"),
        called_ns="launch",
    )
    gaps = gaps.with_columns(
        stream=pl.when(is_late).then(pl.col("gap_ns") - pl.col("wait_ns") - pl.col("called_ns")).otherwise(0),
        queued=pl.when(is_known & ~is_late).then(pl.col("gap_ns") - pl.col("called_ns")).otherwise(0),
    )
    waits = gaps.select(
        thread="launch_thread", start_ns="gap_start_ns", end_ns=pl.col("gap_start_ns") + pl.col("wait_ns")
    )
    gaps = gaps.hstack(calls_within(host.outer, waits))
    outside = pl.col("wait_ns") - pl.sum_horizontal(CALL_KINDS)
    loader = pl.min_horizontal(pl.lit(time_within(host.loader, waits, ["thread"])), outside)
    gaps = gaps.with_columns(loader.alias("data loader")).with_columns(
        (outside - pl.col("data loader")).alias("host code"),
        has_fault=time_within(host.faults, gaps.select(start_ns="gap_start_ns", end_ns=end), []) * _HALF >= gaps["gap_ns"],
        is_early=pl.col("gap_start_ns") < pl.col("place").replace_strict(early_ns, default=None, return_dtype=pl.Int64),
    )
    return gaps.with_columns(pl.col("is_early").fill_null(value=False), **_neighbours(), blocker=_blocker())


def _bare_gaps(work: pl.DataFrame) -> pl.DataFrame:
    """Gaps with the work before them and the launch of the work that ends them."""
    latest = pl.when(pl.col("end_ns") >= pl.col("end_ns").cum_max()).then(pl.col("row")).forward_fill().shift(1)
    launching = ["launch_start_ns", "launch_end_ns", "launch_thread", "is_first", "is_new"]
    rows = work.select("row", "place", "start_ns", "end_ns", *launching, before_row=latest.over("place"))
    gaps = gaps_between(rows, ["place"]).drop("start_ns", "end_ns")
    before = gaps["before_row"]
    return gaps.with_columns(
        before_direction=work["direction"].gather(before),
        is_after_small=work["is_small"].gather(before),
        ends_copy=work["is_copy"].gather(gaps["row"]),
    )


def _neighbours() -> dict[str, pl.Expr]:
    """What a gap follows: a small copy to the host that the next launch waited for, or a small upload."""
    is_after = pl.col("is_after_small").fill_null(value=False)
    is_waited = (pl.col("wait_ns") > 0) & (pl.col("gap_ns") > LATENCY_NS)
    readback = is_after & (pl.col("before_direction") == "D2H") & is_waited
    upload = is_after & (pl.col("before_direction") == "H2D")
    follows = pl.when(readback).then(pl.lit("readback")).when(upload).then(pl.lit("upload")).otherwise(pl.lit(""))
    return {"follows": follows}


def _blocker() -> pl.Expr:
    """The kind of call that a gap is due to as a whole: the largest part of it, or what the thread was in when the GPU
    ran out of work, unless its own code took longer than all else."""
    parts = [pl.col(name) for name in CAUSES]
    most = pl.max_horizontal(parts)
    blocker = pl.lit("")
    is_own_code = (pl.col("host code") + pl.col("data loader")) * _HALF > pl.col("gap_ns")
    for number, name in reversed(list(enumerate(BLOCKING))):
        was_open = (pl.col("open") == number).fill_null(value=False) & ~is_own_code
        is_it = (pl.col(name) > 0) & ((pl.col(name) == most) | was_open)
        blocker = pl.when(is_it).then(pl.lit(name)).otherwise(blocker)
    return blocker


def idle_cells(gaps: pl.DataFrame) -> pl.DataFrame:
    """Idle time by `place`, `segment`, `FLAGS` and `cause`: `idle_ns`, and in how many gaps: `gap_count`."""
    keys = ["place", "segment", *FLAGS]
    groups = gaps.group_by(keys, maintain_order=True)
    sums, counts = (
        groups.agg(values).unpivot(CAUSES, index=keys, variable_name="cause", value_name=name)
        for values, name in ((pl.col(CAUSES).sum(), "idle_ns"), ((pl.col(CAUSES) > 0).sum().cast(pl.Int64), "gap_count"))
    )
    return sums.with_columns(counts["gap_count"]).filter(pl.col("idle_ns") > 0).sort([*keys, "cause"])


def worst_gaps(gaps: pl.DataFrame, work: pl.DataFrame, host: Host) -> pl.DataFrame:
    """The longest gaps of each cause, neighbour and blocker, with what was going on; their parts as in `gaps_of`."""
    rows = [gaps.filter(pl.col(cause) > 0).top_k(_WORST, by=cause) for cause in CAUSES]
    rows += [
        gaps.filter(pl.col(flag) == value).top_k(_WORST, by="gap_ns")
        for flag, values in (("follows", ("readback", "upload")), ("blocker", BLOCKING), ("has_fault", (True,)))
        for value in values
    ]
    chosen = pl.concat(rows).unique("row", keep="first").sort("place", "gap_start_ns")
    windows = chosen.select(
        thread="launch_thread", start_ns="gap_start_ns", end_ns=pl.col("gap_start_ns") + pl.col("gap_ns")
    )
    moments = chosen.select(
        thread="launch_thread", time_ns=pl.coalesce("launch_start_ns", pl.col("gap_start_ns") + pl.col("gap_ns"))
    )
    at_start = chosen.select(thread="launch_thread", time_ns="gap_start_ns")
    return chosen.with_columns(
        before=work["name"].gather(chosen["before_row"]).cast(pl.String),
        after=work["name"].gather(chosen["row"]).cast(pl.String),
        call=pl.Series(longest_calls(host.outer, windows), dtype=pl.String),
        stack=pl.Series([list(stack) for stack in stacks(host.others, at_start)], dtype=pl.List(pl.String)),
        launch_stack=pl.Series([list(stack) for stack in stacks(host.others, moments)], dtype=pl.List(pl.String)),
    ).select(
        "place", "segment", *FLAGS, *CAUSES, "gap_start_ns", "gap_ns", "before", "after", "call", "stack", "launch_stack"
    )
