"""Idle time of GPUs by cause: every nanosecond of a gap goes to what the thread did that launched the next work.

`gaps_of` finds the gaps between computation and copies and divides each by cause, `without_cover` takes out the time
in which communication runs, `idle_cells` sums up the rest, and `worst_gaps` keeps the longest gaps with their details.
"""

from __future__ import annotations

from collections.abc import Mapping

import polars as pl

from wavewright.analysis.run.diagnose.host import BLOCKING, CALL_KINDS, Host, calls_within
from wavewright.analysis.run.diagnose.pace import Pace, pace_of
from wavewright.analysis.run.diagnose.work import COMMUNICATE
from wavewright.analysis.run.gpu_time.gap_calls import main_call
from wavewright.analysis.run.measures.event_rows import first_label
from wavewright.analysis.run.measures.intervals import gaps_between, time_within

#: What a gap is divided into. Beyond the kinds of calls: `data loader`, `host code` (outside of calls), `preparation`
#: (the same before the first kernel of a GPU: libraries set themselves up once), `launch` (from the start of the
#: launching call, while nothing else was queued), `first use` (the same where the first launch of a kernel takes far
#: longer than a call: its code is loaded), `stream` (launched, but held up in its stream), `queued` (launched before
#: the gap began by a call that has returned), `unknown` (its launch is not recorded).
CAUSES = (*CALL_KINDS, "data loader", "host code", "preparation", "launch", "first use", "stream", "queued", "unknown")
#: What tells gaps of one rule from those of another, beside the cause.
FLAGS = ("follows", "blocker", "is_early", "has_fault", "is_repeated")
#: A kernel on an idle GPU starts at most this long after its launching call has ended, unless it waits for something.
LATENCY_NS = 20_000
#: A first launch that takes longer than this loads code.
_LOADING_NS = 200_000
_WORST_COUNT = 5  #: How many of the longest gaps of each cause, neighbour and blocker keep their details.
_GAP_DETAILS = ("before", "after", "call", "call_ns", "stack", "launch_stack")  #: Of the longest gaps.
_HALF = 2  #: A part of a gap that is more than half of it: part * _HALF > gap, in integers.
#: Time that the host holds up the work that ends a gap: until its launch takes effect.
_UNTIL_START = pl.col("wait_ns") + pl.col("launch") + pl.col("first use")


def gaps_of(work: pl.DataFrame, host: Host, pace: Mapping[int, Pace]) -> pl.DataFrame:
    """The gaps between the computation and copies of each GPU: `gap_ns`, a column per cause (they add up), the `FLAGS`.

    Communication may go on in a gap: see `without_cover`. Gaps are cut at the borders of the window of their GPU.
    """
    gaps = _cut_at(_bare_gaps(work), pace)
    end = pl.col("gap_start_ns") + pl.col("gap_ns")
    is_known = pl.col("launch_start_ns").is_not_null()
    is_late = is_known & (pl.col("launch_start_ns") > pl.col("gap_start_ns"))
    called = pl.col("launch_start_ns").clip(pl.col("gap_start_ns"), end)
    launch = pl.min_horizontal(end, pl.col("launch_end_ns") + LATENCY_NS) - called
    # In order of time a gap is: waiting for the launching call, the launch until it takes effect, and what comes after.
    gaps = gaps.with_columns(
        wait_ns=pl.when(is_late).then(called - pl.col("gap_start_ns")).otherwise(0),
        launch=pl.when(is_late | (is_known & pl.col("is_first"))).then(launch).otherwise(0).clip(0),
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
    # The wait is divided by what the thread that launched did then: calls, the data loader, else its own code.
    wait_end_ns = pl.col("gap_start_ns") + pl.col("wait_ns")
    waits = gaps.select(thread="launch_thread", start_ns="gap_start_ns", end_ns=wait_end_ns)
    gaps = gaps.hstack(calls_within(host.outer, waits))
    outside = pl.col("wait_ns") - pl.sum_horizontal(CALL_KINDS)
    loader = pl.min_horizontal(pl.lit(time_within(host.loader, waits, ["thread"])), outside)
    gaps = gaps.with_columns(loader.alias("data loader")).with_columns(
        (outside - pl.col("data loader")).alias("host code"),
        has_fault=time_within(host.faults, gaps.select(start_ns="gap_start_ns", end_ns=end), []) * _HALF
        >= gaps["gap_ns"],
        is_early=pl.col("gap_start_ns") < pace_of(pace, "early_ns"),
    )
    firsts = work.filter(~pl.col("is_copy")).group_by("place").agg(first_kernel_ns=pl.col("start_ns").min())
    is_before = pl.col("gap_start_ns") < pl.col("first_kernel_ns")
    gaps = gaps.join(firsts, on="place", how="left", maintain_order="left").with_columns(
        pl.when(is_before).then(0).otherwise("host code").fill_null(pl.col("host code")).alias("host code"),
        preparation=pl.when(is_before).then("host code").otherwise(0).fill_null(0),
    )
    return gaps.with_columns(pl.col("is_early").fill_null(value=False), follows=_follows(), blocker=_blocker())


def _bare_gaps(work: pl.DataFrame) -> pl.DataFrame:
    """Gaps with the work before them and the launch of the work that ends them.

    Before the first and after the last computation or copy, gaps are those between communication.
    """
    gaps, others = _between(work), work.filter(pl.col("kind") != COMMUNICATE)
    if others.height < work.height:
        spans = others.group_by("place").agg(first=pl.col("start_ns").min(), last=pl.col("end_ns").max())
        outside = gaps.join(spans, on="place", how="left", maintain_order="left")
        is_outside = (pl.col("gap_start_ns") < pl.col("first")) | (pl.col("gap_start_ns") >= pl.col("last"))
        outside = outside.filter(is_outside.fill_null(value=True)).drop("first", "last")
        gaps = pl.concat([_between(others), outside])
    before = gaps["before_row"]
    return gaps.with_columns(
        before_direction=work["direction"].gather(before),
        is_after_small=work["is_small"].gather(before),
        ends_copy=work["is_copy"].gather(gaps["row"]),
    )


def _cut_at(gaps: pl.DataFrame, pace: Mapping[int, Pace]) -> pl.DataFrame:
    """The parts of the gaps in the windows of their GPUs."""
    if not pace:
        return gaps.clear()
    start = pl.max_horizontal("gap_start_ns", pace_of(pace, "steady_ns"))
    end = pl.min_horizontal(pl.col("gap_start_ns") + pl.col("gap_ns"), pace_of(pace, "end_ns"))
    return gaps.with_columns(gap_start_ns=start, gap_ns=end - start).filter(pl.col("gap_ns") > 0)


def _between(work: pl.DataFrame) -> pl.DataFrame:
    """The gaps between sorted work, with the row of the work that ended before each."""
    latest = pl.when(pl.col("end_ns") >= pl.col("end_ns").cum_max()).then(pl.col("row")).forward_fill().shift(1)
    launching = ["launch_start_ns", "launch_end_ns", "launch_thread", "is_first", "is_new"]
    by = ["place", "interval"]  # time between two recordings is no gap
    rows = work.select("row", *by, "start_ns", "end_ns", *launching, before_row=latest.over(by))
    return gaps_between(rows, by).drop("start_ns", "end_ns", "interval")


def without_cover(gaps: pl.DataFrame, communication: pl.DataFrame) -> pl.DataFrame:
    """The gaps without the time in which communication goes on: what is left is idle.

    It is taken from the parts until the launch takes effect and after it, as it lies, and there from all causes alike.
    What rounding leaves goes to the largest cause of the part, so that the causes of a gap add up to it.
    """
    end = pl.col("gap_start_ns") + pl.col("gap_ns")
    called = pl.col("gap_start_ns") + _UNTIL_START
    before = gaps.select("place", start_ns="gap_start_ns", end_ns=called)
    after = gaps.select("place", start_ns=called, end_ns=end)
    covers = [time_within(communication, windows, ["place"]) for windows in (before, after)]
    if not any(cover.sum() for cover in covers):
        return gaps
    causes_before = [*CALL_KINDS, "data loader", "host code", "preparation", "launch", "first use"]
    causes_after = [cause for cause in CAUSES if cause not in causes_before]
    columns = []
    for causes, cover in ((causes_before, covers[0]), (causes_after, covers[1])):
        total = pl.sum_horizontal(causes)
        uncovered = pl.when(total > 0).then(total - pl.lit(cover)).otherwise(0)
        uncovered_share = pl.when(total > 0).then(uncovered / total).otherwise(0.0)
        parts = [(pl.col(cause) * uncovered_share).floor().cast(pl.Int64) for cause in causes]
        remainder = uncovered - pl.sum_horizontal(parts)
        largest = pl.max_horizontal(causes)
        for number, (cause, part) in enumerate(zip(causes, parts, strict=True)):
            is_first = pl.col(cause) == largest
            for earlier in causes[:number]:
                is_first &= pl.col(earlier) != largest
            columns.append((part + pl.when(is_first).then(remainder).otherwise(0)).alias(cause))
    return gaps.with_columns(columns).with_columns(gap_ns=pl.sum_horizontal(CAUSES)).filter(pl.col("gap_ns") > 0)


def covered_pieces(gaps: pl.DataFrame, communication: pl.DataFrame, compute: pl.DataFrame) -> pl.DataFrame:
    """Pieces of communication without other work: their times, `exposed_ns`, the flags of the gap, and
    `is_host` until the launch of what ends the gap takes effect. What is in no gap, at the edges and beside copies,
    has no flags."""
    keys = ["follows", "blocker", "is_early"]
    parts = [_cut(gaps, communication, keys)]
    inside = parts[0].group_by("piece").agg(pl.col("exposed_ns").sum()) if parts[0].height else None
    alone = communication.with_row_index("piece")
    hidden_ns = time_within(compute, communication, ["place"])
    alone = alone.with_columns(exposed_ns=pl.col("end_ns") - pl.col("start_ns") - hidden_ns)
    if inside is not None:
        alone = alone.join(inside, on="piece", how="left", suffix="_inside")
        alone = alone.with_columns(exposed_ns=pl.col("exposed_ns") - pl.col("exposed_ns_inside").fill_null(0))
    no_flags = {"follows": pl.lit(""), "blocker": pl.lit(""), "is_early": pl.lit(value=False)}
    edges = alone.filter(pl.col("exposed_ns") > 0).with_columns(**no_flags, is_host=pl.lit(value=False))
    parts.append(edges.select(parts[0].columns))
    return pl.concat(parts).drop("piece")


def _cut(gaps: pl.DataFrame, communication: pl.DataFrame, keys: list[str]) -> pl.DataFrame:
    """The common time of gaps and communication, apart for before and after the launch of what ends the gap."""
    schema: dict[str, type[pl.DataType]] = dict.fromkeys(("piece", "place"), pl.UInt32)
    schema |= dict.fromkeys(("start_ns", "end_ns", "exposed_ns"), pl.Int64)
    schema |= {"follows": pl.String, "blocker": pl.String, "is_early": pl.Boolean, "is_host": pl.Boolean}
    rows = [pl.DataFrame(schema=schema)]
    numbered = communication.with_row_index("piece")
    for (place,), of_gpu in numbered.group_by("place", maintain_order=True):
        near = gaps.filter(pl.col("place") == place).sort("gap_start_ns")
        ends = near["gap_start_ns"] + near["gap_ns"]
        first = ends.search_sorted(of_gpu["start_ns"], side="right").cast(pl.Int64)
        last = near["gap_start_ns"].search_sorted(of_gpu["end_ns"], side="left").cast(pl.Int64)
        pairs = of_gpu.with_columns(gap=pl.int_ranges(first, last)).filter(last > first).explode("gap")
        if not pairs.height:
            continue
        near_gaps = near[pairs["gap"].to_list()].select("gap_start_ns", "gap_ns", *keys, host_ns=_UNTIL_START)
        joined = pairs.hstack(near_gaps)
        gap_start, gap_end = pl.col("gap_start_ns"), pl.col("gap_start_ns") + pl.col("gap_ns")
        called = gap_start + pl.col("host_ns")
        for is_host, part_start, part_end in ((True, gap_start, called), (False, called, gap_end)):
            start, end = pl.max_horizontal("start_ns", part_start), pl.min_horizontal("end_ns", part_end)
            cut = joined.with_columns(start_ns=start, end_ns=end, exposed_ns=end - start, is_host=pl.lit(is_host))
            rows.append(cut.filter(pl.col("exposed_ns") > 0).select(*schema))
    return pl.concat(rows)


def _follows() -> pl.Expr:
    """The small copy before a gap: a `readback` that the next launch waited for, or an `upload`; empty = none."""
    is_after = pl.col("is_after_small").fill_null(value=False)
    is_waited = (pl.col("wait_ns") > 0) & (pl.col("gap_ns") > LATENCY_NS)
    readback = is_after & (pl.col("before_direction") == "D2H") & is_waited
    upload = is_after & (pl.col("before_direction") == "H2D")
    return first_label(("readback", readback), ("upload", upload), otherwise="")


def _blocker() -> pl.Expr:
    """The kind of call that a gap is due to as a whole: the largest part of it, or what the thread was in when the GPU
    ran out of work, unless its own code took longer than all else."""
    largest = pl.max_horizontal(CAUSES)
    is_own_code = pl.sum_horizontal("host code", "preparation", "data loader") * _HALF > pl.col("gap_ns")
    labels = [("data loader", pl.col("data loader") * _HALF > pl.col("gap_ns"))]
    for number, name in enumerate(BLOCKING):
        was_open = (pl.col("open") == number).fill_null(value=False) & ~is_own_code
        labels.append((name, (pl.col(name) > 0) & ((pl.col(name) == largest) | was_open)))
    return first_label(*labels, otherwise="")


def idle_cells(gaps: pl.DataFrame) -> pl.DataFrame:
    """Idle time by `place`, `segment`, `FLAGS` and `cause`: `idle_ns`, and in how many gaps: `gap_count`."""
    keys = ["place", "segment", *FLAGS]
    groups = gaps.group_by(keys, maintain_order=True)
    sums, counts = (
        groups.agg(values).unpivot(CAUSES, index=keys, variable_name="cause", value_name=name)
        for values, name in (
            (pl.col(CAUSES).sum(), "idle_ns"),
            ((pl.col(CAUSES) > 0).sum().cast(pl.Int64), "gap_count"),
        )
    )
    return sums.with_columns(counts["gap_count"]).filter(pl.col("idle_ns") > 0).sort([*keys, "cause"])


def worst_gaps(gaps: pl.DataFrame, work: pl.DataFrame, host: Host) -> pl.DataFrame:
    """The longest gaps of each cause, neighbour and blocker, with what was going on; their parts as in `gaps_of`."""
    rows = [gaps.filter(pl.col(cause) > 0).top_k(_WORST_COUNT, by=cause) for cause in CAUSES]
    rows += [
        gaps.filter(pl.col(flag) == value).top_k(_WORST_COUNT, by="gap_ns")
        for flag, values in (("follows", ("readback", "upload")), ("blocker", BLOCKING), ("has_fault", (True,)))
        for value in values
    ]
    chosen = pl.concat(rows).unique("row", keep="first").sort("place", "gap_start_ns")
    end = pl.col("gap_start_ns") + pl.col("gap_ns")
    thread = pl.col("launch_thread").alias("thread")
    launches = chosen.select(thread, time_ns=pl.coalesce("launch_start_ns", end))
    return (
        chosen.with_columns(
            before=work["name"].gather(chosen["before_row"]).cast(pl.String),
            after=work["name"].gather(chosen["row"]).cast(pl.String),
            stack=host.stacks(chosen.select(thread, time_ns="gap_start_ns")),
            launch_stack=host.stacks(launches),
        )
        .hstack(main_call(chosen.select(thread, start_ns="gap_start_ns", end_ns=end), host.outer))
        .select("place", "segment", *FLAGS, *CAUSES, "gap_start_ns", "gap_ns", *_GAP_DETAILS)
    )
