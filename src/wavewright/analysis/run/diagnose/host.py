"""Activity of the threads of a run: calls into the runtime, and the markers, operators and functions around them.

`host_of` reads the regions of a run once; `calls_within` divides the windows of a thread by kind of call.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import polars as pl

from wavewright.analysis.run.calls.call_sites import open_names
from wavewright.analysis.run.calls.launches import API_DOMAINS, cause_of, outermost
from wavewright.analysis.run.measures.intervals import intervals, merged
from wavewright.model.run import Run

#: Kinds of calls that gaps are divided by.
CALL_KINDS = ("synchronisation", "allocation", "copy call", "loading code", "launch call", "other call")
#: Kinds that hold up the thread until the GPU, or something slow, is done.
BLOCKING = CALL_KINDS[:4]
#: Functions that compile code; frames in a data loader; calls of the kernel driver that make the GPU wait.
_COMPILING = r"(?i)hiprtc|comgr"
_LOADER = r"(?i)data_?loader|next_?batch|batch_?sampler|prefetcher"
_FAULTS = r"(?i)page_?fault|page_?migrat|queue_?evict|KFD_(?:EVENT_)?(?:PAGE|QUEUE)"
_TOOL, _MARKER, _OPERATOR = "TOOL", "MARKER", "OPERATOR"
_COLUMNS = {"thread": pl.UInt32, "name": pl.Categorical, "start_ns": pl.Int64, "end_ns": pl.Int64}
_MOST_FRAMES = 5  #: Of a stack, this many innermost regions are shown.


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

    def stacks(self, moments: pl.DataFrame) -> pl.Series:
        """Names of the regions that are open on a `thread` at a `time_ns`, outermost first; of many, the innermost."""
        numbered = moments.with_row_index("moment")
        names = open_names(self.others, numbered.drop_nulls(), ["thread"])
        inner = pl.col("names").list.tail(_MOST_FRAMES)
        names = names.with_columns(inner.list.eval(pl.element().filter(pl.element() != "")))
        return numbered.join(names, on="moment", how="left", maintain_order="left")["names"]


def host_of(run: Run) -> Host:
    """The regions of a run, read once."""
    call_columns = {"process": pl.UInt32, **_COLUMNS, "correlation": pl.Int64}
    calls = [pl.DataFrame(schema=call_columns)]
    others = [pl.DataFrame(schema=_COLUMNS | {"is_marker": pl.Boolean})]
    tools = [pl.DataFrame(schema=_COLUMNS)]
    kinds = (API_DOMAINS, [_TOOL], [_MARKER])
    is_call, is_tool, is_marker = (pl.col("domain").is_in(domains).fill_null(value=False) for domains in kinds)
    has_operators = False
    for piece in run.chunks("regions", ["domain", *call_columns]):
        calls.append(piece.filter(is_call).select(*call_columns))
        tools.append(piece.filter(is_tool).select(*_COLUMNS))
        others.append(piece.filter(~is_call & ~is_tool).select(*_COLUMNS, is_marker=is_marker))
        has_operators = has_operators or bool((piece["domain"] == _OPERATOR).any())
    runtime_calls = _with_kinds(intervals(pl.concat(calls), []))
    around = pl.concat(others).drop_nulls(["start_ns", "end_ns"])
    tool = merged(intervals(pl.concat(tools), ["thread"]), ["thread"])
    names = around["name"].unique().cast(pl.String)
    times = pl.concat(frame.select("start_ns", "end_ns") for frame in (runtime_calls, around))
    return Host(
        calls=runtime_calls,
        outer=outermost(runtime_calls.select("thread", "name", "kind", "start_ns", "end_ns").drop_nulls("thread")),
        others=around,
        loader=_matching(around, names, _LOADER, ["thread"]),
        faults=_matching(around, names, _FAULTS, []),
        has_operators=has_operators,
        tool_ns=int((tool["end_ns"] - tool["start_ns"]).sum() or 0),
        start_ns=times["start_ns"].min(),  # type: ignore[arg-type]  # integers
        end_ns=times["end_ns"].max(),  # type: ignore[arg-type]
    )


def _with_kinds(calls: pl.DataFrame) -> pl.DataFrame:
    """The calls with `kind`, the number of one of `CALL_KINDS`."""
    text = pl.col("name").cast(pl.String)
    kind = pl.when(text.str.contains(_COMPILING)).then(pl.lit("loading code")).otherwise(cause_of(text))
    numbers = {name: number for number, name in enumerate(CALL_KINDS)}
    names = calls.select(pl.col("name").unique())
    kinds = names.with_columns(kind=kind.replace_strict(numbers, return_dtype=pl.UInt8))
    return calls.join(kinds, on="name", how="left", nulls_equal=True, maintain_order="left")


def _matching(regions: pl.DataFrame, names: pl.Series, pattern: str, by: list[str]) -> pl.DataFrame:
    """The merged times of regions whose names match."""
    chosen = names.filter(names.str.contains(pattern).fill_null(value=False)).cast(pl.Categorical)
    rows = regions.filter(pl.col("name").is_in(chosen.implode())) if len(chosen) else regions.clear()
    return merged(intervals(rows, by), by)


def calls_within(outer: pl.DataFrame, windows: pl.DataFrame) -> pl.DataFrame:
    """Time of each window of a `thread` that its calls take, a column per kind; `open`: the kind of the call that was
    going on when the window began, null = none."""
    threads = outer.partition_by("thread", as_dict=True, maintain_order=True) if windows.height else {}
    numbered = windows.with_row_index("window")
    empty = numbered.select("window").clear()
    empty = empty.with_columns(*(pl.lit(0, pl.Int64).alias(kind) for kind in CALL_KINDS), open=pl.lit(0, pl.UInt8))
    parts = [empty]
    for (thread,), group in numbered.group_by("thread", maintain_order=True):
        if (thread,) in threads:
            parts.append(group.select("window").hstack(_within(threads[thread,], group)))
    sums = pl.concat(parts)
    return (
        numbered.select("window")
        .join(sums, on="window", how="left", maintain_order="left")
        .drop("window")
        .with_columns(pl.col(CALL_KINDS).fill_null(0))
    )


def _within(calls: pl.DataFrame, windows: pl.DataFrame) -> pl.DataFrame:
    """`calls_within` of one thread: what its calls take until the end of each window, less that until its start.

    Outermost calls do not overlap: at a moment at most the last that started before it is open (`_LastCalls`).
    """
    length = calls["end_ns"] - calls["start_ns"]
    at_starts, at_ends = (_last_calls(calls, windows[side]) for side in ("start_ns", "end_ns"))
    sums: list[pl.Series] = []
    for number, name in enumerate(CALL_KINDS):
        of_kind = (calls["kind"] == number).cast(pl.Int64) * length
        before = of_kind.cum_sum() - of_kind
        until = []
        for last in (at_starts, at_ends):
            value = before.gather(last.row) + last.spent_ns * (last.kind == number).cast(pl.Int64)
            until.append(pl.select(pl.when(pl.lit(last.is_there)).then(pl.lit(value)).otherwise(0)).to_series())
        sums.append((until[1] - until[0]).alias(name))
    is_open = at_starts.is_there & (calls["end_ns"].gather(at_starts.row) > windows["start_ns"])
    open_kind = pl.select(pl.when(pl.lit(is_open)).then(pl.lit(at_starts.kind))).to_series()
    return pl.DataFrame(sums).with_columns(open=open_kind)


class _LastCalls(NamedTuple):
    """For each of some moments the last call that started before it."""

    is_there: pl.Series  #: False = no call started before; the other values mean nothing then.
    row: pl.Series
    spent_ns: pl.Series  #: Time in this call until the moment.
    kind: pl.Series


def _last_calls(calls: pl.DataFrame, times: pl.Series) -> _LastCalls:
    place = calls["start_ns"].search_sorted(times, side="right").cast(pl.Int64) - 1
    row = place.clip(0)
    until = pl.select(pl.min_horizontal(pl.lit(times), pl.lit(calls["end_ns"].gather(row)))).to_series()
    return _LastCalls(place >= 0, row, (until - calls["start_ns"].gather(row)).clip(0), calls["kind"].gather(row))
