"""Kernels of collectives joined with the calls in a log of RCCL, process by process, to learn sizes and groups.

A log says what was called and not when, so kernels and calls are joined by their order. A process is joined where it
has as many calls as kernels, or where the kinds that its kernels name fit at one place of the log only. Calls with the
same number in one communicator are launched as one kernel.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import polars as pl

from wavewright.analysis.common.caveats import Caveat
from wavewright.analysis.run.collectives.collectives import kind_of
from wavewright.base.words import counted, percent
from wavewright.model.schema import packaged_spec
from wavewright.readers.run.collective_records import RCCL

_RCCL_KERNEL = "(?i)nccl|rccl"
_PROCESS = ("part", "process")
LOGGED = packaged_spec(__package__, "logged").dtypes  #: Columns that a log adds to a kernel.
_EXTRA_CALLS_MAX = 4_096  #: A log may have this many more calls than its process has kernels: each is a place to try.


class _NotJoined(NamedTuple):
    """The kernels of a process that were not joined, and why."""

    reason: str
    kernel_count: int
    duration_ns: int


def logged_calls(rows: pl.DataFrame, records: pl.DataFrame) -> tuple[pl.DataFrame, tuple[Caveat, ...]]:
    """`part`, `process`, `row` and `LOGGED` of the kernels in `rows` that could be joined, and caveats about it.

    `rows` are collectives as `collective_rows` describes them, `records` those of `collective_records`.
    """
    empty = pl.DataFrame(schema={"part": pl.UInt32, "process": pl.UInt32, "row": pl.UInt32, **LOGGED})
    logs = records.filter(pl.col("recorder") == RCCL)
    kernels = rows.filter(pl.col("collective").is_null(), pl.col("name").str.contains(_RCCL_KERNEL))
    if not logs.height or not kernels.height:
        return empty, ()
    launches = _launches(logs)
    pieces, not_joined = [empty], list[_NotJoined]()
    for _, process_kernels in kernels.sort("start_ns", "end_ns", "row").group_by(_PROCESS, maintain_order=True):
        calls = _launches_of_process(launches, process_kernels.row(0, named=True))
        first_call = "its calls are not in a log" if not calls.height else _first_call(process_kernels, calls)
        if isinstance(first_call, str):
            not_joined.append(_NotJoined(first_call, process_kernels.height, _duration_ns(process_kernels)))
        else:
            values = calls.slice(first_call, process_kernels.height).select(list(LOGGED))
            pieces.append(process_kernels.select(*_PROCESS, "row").hstack(values).cast(empty.schema))
    joined = pl.concat(pieces)
    return joined, tuple(_caveats(joined.height, kernels, not_joined))


def _launches(logs: pl.DataFrame) -> pl.DataFrame:
    """One row per launch, in the order of the log: consecutive calls with one number in one communicator."""
    key = ["host", "pid", "group", "sequence"]
    rows = logs.with_columns(kind=kind_of(pl.col("collective"), pl.lit("")), launch=pl.struct(key).rle_id())
    is_one = pl.col("kind").n_unique() == 1
    return rows.group_by("launch", *key, "rank", maintain_order=True).agg(
        pl.when(is_one).then(pl.col("collective").first()).alias("collective"),
        pl.when(is_one).then(pl.col("kind").first()).alias("kind"),
        pl.when(is_one & (pl.col("size_bytes").null_count() == 0)).then(pl.col("size_bytes").sum()).alias("size_bytes"),
        pl.col("group_size").first(),
    )


def _launches_of_process(launches: pl.DataFrame, process: dict[str, Any]) -> pl.DataFrame:
    """The launches of one process, known by its pid (and host, where both are known), else by its rank."""
    if process["pid"] is not None:
        is_host = pl.lit(value=True) if not process["host"] else pl.col("host").is_in(["", process["host"]])
        calls = launches.filter(pl.col("pid") == process["pid"], is_host)
        if calls.height:
            return calls if calls["host"].n_unique() == 1 else calls.clear()
    of_rank = launches.filter(pl.col("rank") == process["rank"]) if process["rank"] is not None else launches.clear()
    return of_rank if of_rank.select("host", "pid").n_unique() == 1 else of_rank.clear()


def _first_call(kernels: pl.DataFrame, calls: pl.DataFrame) -> int | str:
    """The index of the call that launched the first kernel; or, as text, the reason why it is not known."""
    if kernels["agent"].n_unique() > 1:
        return "one process uses several GPUs, whose order a log does not tell"
    extra = calls.height - kernels.height
    if extra < 0:
        return "the log has fewer calls than kernels ran"
    if extra > _EXTRA_CALLS_MAX:
        return "the log has many more calls than kernels ran"
    kinds, names = calls["kind"], kernels["kind"]
    # A kernel whose name tells no kind (null) fits every call.
    fits = [n for n in range(extra + 1) if not (names != kinds.slice(n, names.len())).fill_null(value=False).any()]
    if len(fits) == 1:
        return fits[0]
    if not fits:
        return "kernels and calls are of other kinds"
    return "the log has more calls than kernels ran, and they fit in several places"


def _duration_ns(kernels: pl.DataFrame) -> int:
    return int((kernels["end_ns"] - kernels["start_ns"]).sum())


def _caveats(joined_count: int, kernels: pl.DataFrame, not_joined: list[_NotJoined]) -> Iterator[Caveat]:
    if joined_count:
        joined = counted(joined_count, "kernels")
        sentence = f"sizes of {joined} are those of calls in a log of RCCL, joined by their order"
        reason = "a log has no times: calls that fail or repeat shift the order"
        yield Caveat("collectives_from_log", "note", sentence, reason)
    if not_joined:
        longest = max(not_joined, key=lambda process: process.duration_ns)
        count = sum(process.kernel_count for process in not_joined)
        share = sum(process.duration_ns for process in not_joined) / max(_duration_ns(kernels), 1)
        sentence = (
            f"{counted(count, 'kernels')} of collectives ({percent(share)} of their time) "
            f"could not be joined with a log of RCCL: {longest.reason}"
        )
        advice = "start the log and the recording together, and log all ranks"
        yield Caveat("collectives_not_in_log", "care", sentence, advice)
