"""Kernels of collectives joined with the calls that a log of RCCL has: both in their order, process by process.

A log says what was called and not when. So the calls of a process, of which those of one group share their number, must
be as many as its kernels, or have only one place where the kinds that kernels name fit; else nothing of it is joined.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import polars as pl

from wavewright.analysis.common.caveats import Caveat
from wavewright.analysis.run.collectives.collectives import kind_of
from wavewright.base.words import counted, percent
from wavewright.model.schema import packaged_spec
from wavewright.readers.run.collective_records import RCCL

_OF_RCCL = "(?i)nccl|rccl"
_PROCESS = ("part", "process")
LOGGED = packaged_spec(__package__, "logged").dtypes  #: What a log adds to a kernel.
_MOST_PLACES = 4_096  #: Where the kernels of a process may begin in its log.


def logged_calls(rows: pl.DataFrame, records: pl.DataFrame) -> tuple[pl.DataFrame, tuple[Caveat, ...]]:
    """`part`, `process`, `row` and `LOGGED` of the kernels in `rows` that a log tells; and of which it does not."""
    empty = pl.DataFrame(schema={"part": pl.UInt32, "process": pl.UInt32, "row": pl.UInt32, **LOGGED})
    logs = records.filter(pl.col("recorder") == RCCL)
    kernels = rows.filter(pl.col("collective").is_null(), pl.col("name").str.contains(_OF_RCCL))
    if not logs.height or not kernels.height:
        return empty, ()
    launches = _launches(logs)
    pieces, reasons = [empty], list[tuple[str, int, int]]()
    for _, process_kernels in kernels.sort("start_ns", "end_ns", "row").group_by(_PROCESS, maintain_order=True):
        calls = _of_process(launches, process_kernels.row(0, named=True))
        place = "its calls are not in a log" if not calls.height else _place(process_kernels, calls)
        if isinstance(place, str):
            reasons.append((place, process_kernels.height, _time(process_kernels)))
        else:
            values = calls.slice(place, process_kernels.height).select(list(LOGGED))
            pieces.append(process_kernels.select(*_PROCESS, "row").hstack(values).cast(empty.schema))
    call_rows = pl.concat(pieces)
    return call_rows, tuple(_caveats(call_rows.height, kernels, reasons))


def _launches(logs: pl.DataFrame) -> pl.DataFrame:
    """Calls that are launched together: of one communicator with one number, one after another."""
    key = ["host", "pid", "group", "sequence"]
    rows = logs.with_columns(kind=kind_of(pl.col("collective"), pl.lit("")), launch=pl.struct(key).rle_id())
    is_one = pl.col("kind").n_unique() == 1
    return rows.group_by("launch", *key, "rank", maintain_order=True).agg(
        pl.when(is_one).then(pl.col("collective").first()).alias("collective"),
        pl.when(is_one).then(pl.col("kind").first()).alias("kind"),
        pl.when(is_one & (pl.col("size_bytes").null_count() == 0)).then(pl.col("size_bytes").sum()).alias("size_bytes"),
        pl.col("group_size").first(),
    )


def _of_process(launches: pl.DataFrame, process: dict[str, Any]) -> pl.DataFrame:
    """The launches of one process, known by its pid (and host, where both are known), else by its rank."""
    if process["pid"] is not None:
        is_host = pl.lit(value=True) if not process["host"] else pl.col("host").is_in(["", process["host"]])
        calls = launches.filter(pl.col("pid") == process["pid"], is_host)
        if calls.height:
            return calls if calls["host"].n_unique() == 1 else calls.clear()
    of_rank = launches.filter(pl.col("rank") == process["rank"]) if process["rank"] is not None else launches.clear()
    return of_rank if of_rank.select("host", "pid").n_unique() == 1 else of_rank.clear()


def _place(kernels: pl.DataFrame, calls: pl.DataFrame) -> int | str:
    """The call of the first kernel, or why it is not known."""
    if kernels["agent"].n_unique() > 1:
        return "one process uses several GPUs, whose order a log does not tell"
    more = calls.height - kernels.height
    if more < 0:
        return "the log has fewer calls than kernels ran"
    if more > _MOST_PLACES:
        return "the log has many more calls than kernels ran"
    kinds, names = calls["kind"], kernels["kind"]
    fits = [at for at in range(more + 1) if not ((names != kinds.slice(at, names.len())).fill_null(value=False)).any()]
    if len(fits) == 1:
        return fits[0]
    if not fits:
        return "kernels and calls are of other kinds"
    return "the log has more calls than kernels ran, and they fit in several places"


def _time(kernels: pl.DataFrame) -> int:
    return int((kernels["end_ns"] - kernels["start_ns"]).sum())


def _caveats(joined_count: int, kernels: pl.DataFrame, reasons: list[tuple[str, int, int]]) -> Iterator[Caveat]:
    if joined_count:
        sentence = (
            f"sizes of {counted(joined_count, 'kernels')} are those of calls in a log of RCCL, joined by their order"
        )
        yield Caveat(
            "collectives_from_log", "note", sentence, "a log has no times: calls that fail or repeat shift the order"
        )
    if reasons:
        most, _, _ = max(reasons, key=lambda reason: reason[2])
        count, time = sum(each[1] for each in reasons), sum(each[2] for each in reasons)
        sentence = (
            f"{counted(count, 'kernels')} of collectives ({percent(time / max(_time(kernels), 1))} of their time) "
            f"could not be joined with a log of RCCL: {most}"
        )
        yield Caveat(
            "collectives_not_in_log", "care", sentence, "start the log and the recording together, and log all ranks"
        )
