"""Activity of the threads of a run: calls into the runtime, and the markers, operators and functions around them."""

from __future__ import annotations

from dataclasses import dataclass

import polars as pl

from wavewright.analysis.run.calls.launches import API_DOMAINS, cause_of, outermost, touching
from wavewright.analysis.run.measures.intervals import covered_before, intervals, merged
from wavewright.model.run import Run

#: Kinds of calls that gaps are divided by.
CALL_KINDS = ("synchronisation", "allocation", "copy call", "loading code", "launch call", "other call")
#: Kinds that hold up the thread until the GPU, or something slow, is done.
BLOCKING = CALL_KINDS[:4]
_COMPILING = r"(?i)hiprtc|comgr"
_LOADER = r"(?i)data_?loader|next_?batch|batch_?sampler|prefetcher"
_FAULTS = r"(?i)page_?fault|page_?migrat|queue_?evict|KFD_(?:EVENT_)?(?:PAGE|QUEUE)"
_TOOL, _MARKER, _OPERATOR = "TOOL", "MARKER", "OPERATOR"
_COLUMNS = {"thread": pl.UInt32, "name": pl.Categorical, "start_ns": pl.Int64, "end_ns": pl.Int64}
_MOST_FRAMES = 5


@dataclass(frozen=True, eq=False, repr=False)
class Host:
    """The regions of a run."""

    #: Calls into a runtime: `process`, `thread`, `correlation`, `name`, `kind`, `start_ns`, `end_ns`.
    calls: pl.DataFrame
    outer: pl.DataFrame  #: Those that no other call of their thread encloses, sorted by thread and time.
    others: pl.DataFrame  #: Markers, operators and functions; `is_marker`.
    loader: pl.DataFrame  #: When each thread was in a data loader, merged.
    faults: pl.DataFrame  #: Page faults, migrations, evictions of queues, merged.
    has_operators: bool  #: Whether a framework recorded some.
    tool_ns: int  #: Time in calls of the profiler, merged per thread.
    start_ns: int | None  #: First start of any region.
    end_ns: int | None


def host_of(run: Run) -> Host:
    """The regions of a run, read once."""
    schema = {"process": pl.UInt32, **_COLUMNS, "correlation": pl.Int64}
    calls, others, tools = (
        [pl.DataFrame(schema=schema)],
        [pl.DataFrame(schema=_COLUMNS | {"is_marker": pl.Boolean})],
        [_times()],
    )
    is_call = pl.col("domain").is_in(API_DOMAINS).fill_null(value=False)
    is_tool = (pl.col("domain") == _TOOL).fill_null(value=False)
    has_operators = False
    for piece in run.chunks("regions", ["domain", *schema]):
        calls.append(piece.filter(is_call).select(*schema))
        tools.append(piece.filter(is_tool).select("thread", "start_ns", "end_ns"))
        has_operators = has_operators or bool((piece["domain"] == _OPERATOR).any())
        is_marker = (pl.col("domain") == _MARKER).fill_null(value=False)
        others.append(piece.filter(~is_call & ~is_tool).select(*_COLUMNS, is_marker=is_marker))
    called = _kinds(intervals(pl.concat(calls), []))
    around = pl.concat(others).drop_nulls(["start_ns", "end_ns"])
    tool = merged(intervals(pl.concat(tools), ["thread"]), ["thread"])
    names = around["name"].unique().cast(pl.String)
    times = pl.concat([called.select("start_ns", "end_ns"), around.select("start_ns", "end_ns")])
    return Host(
        calls=called,
        outer=outermost(called.select("thread", "name", "kind", "start_ns", "end_ns").drop_nulls("thread")),
        others=around,
        loader=_matching(around, names, _LOADER, ["thread"]),
        faults=_matching(around, names, _FAULTS, []),
        has_operators=has_operators,
        tool_ns=int((tool["end_ns"] - tool["start_ns"]).sum() or 0),
        start_ns=times["start_ns"].min(),  # type: ignore[arg-type]  # integers
        end_ns=times["end_ns"].max(),  # type: ignore[arg-type]
    )


def _times() -> pl.DataFrame:
    return pl.DataFrame(schema={"thread": pl.UInt32, "start_ns": pl.Int64, "end_ns": pl.Int64})


def _kinds(calls: pl.DataFrame) -> pl.DataFrame:
    """With `kind`, one of `CALL_KINDS` as a number."""
    names = calls.select(pl.col("name").unique()).with_columns(text=pl.col("name").cast(pl.String))
    kind = (
        pl.when(pl.col("text").str.contains(_COMPILING))
        .then(pl.lit("loading code"))
        .otherwise(cause_of(pl.col("text")))
    )
    numbers = {name: number for number, name in enumerate(CALL_KINDS)}
    kinds = names.select("name", kind=kind.replace_strict(numbers, return_dtype=pl.UInt8))
    return calls.join(kinds, on="name", how="left", nulls_equal=True, maintain_order="left")


def _matching(regions: pl.DataFrame, names: pl.Series, pattern: str, by: list[str]) -> pl.DataFrame:
    """The merged times of regions whose names match."""
    chosen = names.filter(names.str.contains(pattern).fill_null(value=False)).cast(pl.Categorical)
    rows = regions.filter(pl.col("name").is_in(chosen.implode())) if len(chosen) else regions.clear()
    return merged(intervals(rows, by), by)


def time_within(whole: pl.DataFrame, windows: pl.DataFrame, by: list[str]) -> pl.Series:
    """Time of each window (`start_ns`, `end_ns`) that the merged intervals of its group cover.

    >>> import polars as pl
    >>> whole = pl.DataFrame({"start_ns": [0, 9], "end_ns": [5, 12]})
    >>> time_within(whole, pl.DataFrame({"start_ns": [3, 20], "end_ns": [10, 30]}), []).to_list()
    [3, 0]
    """
    if not whole.height or not windows.height:
        return pl.repeat(0, windows.height, dtype=pl.Int64, eager=True)
    upto = [covered_before(whole, windows.select(*by, time_ns=pl.col(name)), by) for name in ("start_ns", "end_ns")]
    return upto[1] - upto[0]


def calls_within(outer: pl.DataFrame, windows: pl.DataFrame) -> pl.DataFrame:
    """Time of each window of a `thread` that its calls take: a column per kind; and `open`, the kind of the call that
    was going on when the window began; null = none."""
    parts = []
    threads = outer.partition_by("thread", as_dict=True, maintain_order=True) if windows.height else {}
    numbered = windows.with_row_index("window")
    for (thread,), group in numbered.group_by("thread", maintain_order=True):
        own_calls = threads.get((thread,))
        if own_calls is None:
            continue
        parts.append(group.select("window").hstack(_within(own_calls, group)))
    empty = pl.DataFrame(
        schema={"window": numbered.schema["window"], **dict.fromkeys(CALL_KINDS, pl.Int64), "open": pl.UInt8}
    )
    sums = pl.concat([empty, *parts])
    return (
        numbered.select("window")
        .join(sums, on="window", how="left", maintain_order="left")
        .drop("window")
        .with_columns(pl.col(CALL_KINDS).fill_null(0))
    )


def _within(calls: pl.DataFrame, windows: pl.DataFrame) -> pl.DataFrame:
    """`calls_within` of one thread."""
    length = calls["end_ns"] - calls["start_ns"]
    last = {}
    reached = {}
    for side in ("start_ns", "end_ns"):
        time = windows[side]
        at = calls["start_ns"].search_sorted(time, side="right").cast(pl.Int64) - 1
        index = at.clip(0)
        spent = (
            pl.select(pl.min_horizontal(pl.lit(time), pl.lit(calls["end_ns"].gather(index)))).to_series()
            - calls["start_ns"].gather(index)
        ).clip(0)
        last[side] = (at, index, spent, calls["kind"].gather(index))
    sums: list[pl.Series] = []
    for number, name in enumerate(CALL_KINDS):
        of_kind = (calls["kind"] == number).cast(pl.Int64) * length
        before = of_kind.cum_sum() - of_kind
        for side, (at, index, spent, kind) in last.items():
            value = before.gather(index) + spent * (kind == number).cast(pl.Int64)
            reached[side] = pl.select(pl.when(pl.lit(at) < 0).then(0).otherwise(pl.lit(value))).to_series()
        sums.append((reached["end_ns"] - reached["start_ns"]).alias(name))
    at, index, _, kind = last["start_ns"]
    is_open = (at >= 0) & (calls["end_ns"].gather(index) > windows["start_ns"])
    return pl.DataFrame(sums).with_columns(open=pl.select(pl.when(pl.lit(is_open)).then(pl.lit(kind))).to_series())


def longest_calls(outer: pl.DataFrame, windows: pl.DataFrame) -> list[tuple[str, int]]:
    """For each of few windows of a thread: the call that takes more of it than any other, and its time in it."""
    calls: list[tuple[str, int]] = []
    outer = touching(outer, merged(intervals(windows, []), []))
    for thread, start, end in windows.select("thread", "start_ns", "end_ns").iter_rows():
        if thread is None:
            calls.append(("", 0))
            continue
        near = outer.filter(pl.col("thread") == thread, pl.col("start_ns") < end, pl.col("end_ns") > start)
        inside = pl.min_horizontal("end_ns", pl.lit(end)) - pl.max_horizontal("start_ns", pl.lit(start))
        best = near.select(pl.col("name").cast(pl.String), inside=inside).sort("inside", descending=True).head(1)
        calls.append((str(best["name"][0] or ""), int(best["inside"][0])) if best.height else ("", 0))
    return calls


def stacks(others: pl.DataFrame, moments: pl.DataFrame) -> list[tuple[str, ...]]:
    """For each of few moments (`thread`, `time_ns`): the regions that are open, outermost first; of many, the inner."""
    names: list[tuple[str, ...]] = []
    times = moments["time_ns"].sort()
    first, last = (times.search_sorted(others[name], side="left") for name in ("start_ns", "end_ns"))
    others = others.filter((first < last) | (first != times.search_sorted(others["start_ns"], side="right")))
    for thread, time in moments.select("thread", "time_ns").iter_rows():
        if thread is None or time is None:
            names.append(())
            continue
        is_open = (pl.col("thread") == thread) & (pl.col("start_ns") <= time) & (pl.col("end_ns") > time)
        opened = others.filter(is_open).sort("start_ns", "end_ns", descending=[False, True], maintain_order=True)
        names.append(tuple(name for name in opened["name"].cast(pl.String).tail(_MOST_FRAMES) if name))
    return names
