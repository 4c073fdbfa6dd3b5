"""Memory over the run, for the terminal."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

import polars as pl

from wavewright.analysis.run.memory.memory import Memory
from wavewright.base.shown import printable
from wavewright.base.words import counted, duration, percent, size
from wavewright.model.blocks import GAP, AnyBlock, Sentence, Table, headline
from wavewright.words.kit.charts import resampled
from wavewright.words.kit.declared_tables import declared_table
from wavewright.words.run.place_names import gpu_name, process_name
from wavewright.writers.terminal.bars import sparkline
from wavewright.writers.terminal.fitted_table import WIDE

_KEYS = ("host", "pid", "rank", "run", "kind", "gpu", "pool")  #: Columns of `places` and `curve` that name a place.
_PLACES = {"HOST": "host", None: "unknown"}
_POOLS = {"FRAMEWORK": "framework", "HIP": "HIP"}


def memory_report(answer: Memory, *, width: int = WIDE, limit: int = 20) -> Iterator[AnyBlock]:
    """The report of `wavewright memory`."""
    yield headline(_headline(answer))
    if not answer.places.height:
        yield Sentence("record allocations with rocprofv3 --memory-allocation-trace, or PyTorch's profile_memory=True")
        return
    yield Sentence(_unfreed(answer))
    if answer.pools.height:
        yield Sentence(_reserved(answer))
    yield GAP
    yield _place_table(answer, width=width, limit=limit)
    for name, rows in (("category", answer.categories), ("pool", answer.pools)):
        if rows.height:
            yield GAP
            yield _table(name, rows, answer, limit=limit)
    yield GAP
    yield _site_table(answer, "peak", "alive at the peak", limit=limit)
    if answer.sites["unfreed_bytes"].sum():
        yield GAP
        yield _site_table(answer, "unfreed", _never(answer), limit=limit)


def _headline(answer: Memory) -> str:
    if not answer.places.height:
        return "no allocations were recorded"
    first = answer.places.row(0, named=True)
    where = place_label(first, with_process=answer.places["pid"].n_unique() > 1)
    before = (
        f", {size(first['peak_before_bytes'])} of it from before the recording" if first["peak_before_bytes"] else ""
    )
    place = f" in {printable(first['peak_marker'])[:80]}" if first["peak_marker"] else ""
    return f"{where}: at most {size(first['peak_bytes'])} in use, at +{duration(first['peak_ns'])}{place}{before}"


def _never(answer: Memory) -> str:
    return "not freed before the process ended" if answer.covers_end else "not freed before the recording ended"


def _unfreed(answer: Memory) -> str:
    count, total = int(answer.places["unfreed_count"].sum()), int(answer.places["unfreed_bytes"].sum())
    calls, spent = int(answer.places["allocation_count"].sum()), int(answer.places["call_ns"].sum())
    in_calls = f", {duration(spent)} in the calls" if spent else ""
    unfreed = f"{size(total)} of {counted(count, 'allocations')} {_never(answer)}"
    most = max(answer.places["reserved_peak_bytes"].drop_nulls().to_list(), default=0)
    reserved = f"; the allocator held at most {size(most)} at once" if most else ""
    return f"{counted(calls, 'allocations')}{in_calls}; {unfreed if count else 'all of them were freed'}{reserved}"


def _reserved(answer: Memory) -> str:
    """The memory that the allocator of a framework held when it was asked."""
    total, use, gaps, caches = (
        int(answer.pools[f"{name}_bytes"].sum()) for name in ("reserved", "used", "fragmented", "cached")
    )
    padding = use - int(answer.pools["requested_bytes"].sum())
    return (
        f"at the end {size(total)} were reserved: {size(use)} in use ({size(padding)} of it rounding), "
        f"{size(gaps)} ({percent(gaps / max(total, 1))} of all) free between blocks in use, and "
        f"{size(caches)} that torch.cuda.empty_cache() gives back"
    )


def _table(name: str, rows: pl.DataFrame, answer: Memory, *, limit: int) -> Table:
    several = answer.places["pid"].n_unique() > 1
    total = {"category": "peak_bytes", "pool": "reserved_bytes"}[name]
    table_rows = rows.with_columns(share=pl.col(total) / pl.max_horizontal(pl.col(total).sum(), 1))
    return declared_table(
        f"run/memory/{name}", table_rows, limit=limit, memory=lambda row: place_label(row, with_process=several)
    )


def place_label(row: dict[str, Any], *, with_process: bool) -> str:
    """The label of a row of `places`."""
    place = _PLACES.get(row["kind"]) or gpu_name(None, row["gpu"], with_node=False)
    who = f" {process_name(row['rank'], row['pid'])}" if with_process else ""
    return f"{place} ({_POOLS.get(row['pool'], row['pool'])}){who}"


def place_curve(answer: Memory, place: dict[str, Any]) -> pl.DataFrame:
    """The rows of `curve` of one of `places`."""
    is_its = [pl.col(key).eq_missing(pl.lit(place[key], answer.curve.schema[key])) for key in _KEYS]
    return answer.curve.filter(*is_its)


def _place_table(answer: Memory, *, width: int, limit: int) -> Table:
    several = answer.places["pid"].n_unique() > 1
    points = 20 if width >= WIDE else 10

    def drawn(row: dict[str, Any], of: str = "live_bytes") -> str:
        return sparkline(resampled(place_curve(answer, row)[of].fill_null(0).to_list(), points))

    return declared_table(
        "run/memory/place",
        answer.places,
        limit=limit,
        memory=lambda row: place_label(row, with_process=several),
        over_time=drawn,
        reserved_over_time=partial(drawn, of="reserved_bytes"),
        reserved=answer.places["reserved_peak_bytes"].count() > 0,
    )


def _site_table(answer: Memory, kind: str, what: str, *, limit: int) -> Table:
    sites = answer.sites.with_columns(size_bytes=f"{kind}_bytes", count=f"{kind}_count").filter(pl.col("count") > 0)
    rows = sites.sort(-pl.col("size_bytes"), "pool", "site").with_columns(
        share=pl.col("size_bytes") / pl.max_horizontal(pl.col("size_bytes").sum(), 1),
        allocator=pl.col("pool").cast(pl.String).replace(_POOLS),
    )
    return declared_table("run/memory/site", rows, limit=limit, title=what)
