"""Memory of a run: bytes in use over time, allocations alive at the peak, and allocations that are never freed.

Each allocation ends with the release, or the next allocation, at its address (`_allocations`); the changes of live
bytes add up to the curve of a place: the memory of one GPU, or of the host, that one process has from one allocator.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import polars as pl

from wavewright.analysis.run.calls.call_sites import call_sites
from wavewright.analysis.run.calls.markers import MARKER
from wavewright.analysis.run.measures.event_rows import rows_where
from wavewright.analysis.run.memory.allocation_rows import allocation_rows
from wavewright.analysis.run.memory.reserved_pools import reserved_blocks, reserved_points, reserved_pools
from wavewright.analysis.run.memory.stacks import allocation_stacks
from wavewright.analysis.run.select.clocks import node_clocks
from wavewright.analysis.run.select.identities import PROCESS, processes_of
from wavewright.base.bounds import BINS, bounded
from wavewright.model.answer import Answer
from wavewright.model.run import Run
from wavewright.model.schema import empty_frame

_PLACE_KEYS = ("host", "pid", "rank", "run", "kind", "gpu", "pool")
_SITE_KEYS = ("pool", "site")
_CATEGORY_KEYS = ("pool", "category")
_NO_BYTES, _NO = pl.lit(0, pl.Int64), pl.lit(value=False)


@dataclass(frozen=True, eq=False)
class Memory(Answer, package=__package__):
    """The memory of a run over time."""

    places: pl.DataFrame
    sites: pl.DataFrame
    categories: pl.DataFrame
    pools: pl.DataFrame
    curve: pl.DataFrame
    covers_end: bool  #: Whether the recording covers the end of every process, so that what is not freed is a leak.


@bounded(bins=BINS)
def partial_memory(run: Run, *, bins: int = 64) -> Memory:
    """The contribution of one run; the curves have `bins` points."""
    ends = run.read("processes", ["end_ns"])["end_ns"]
    covers_end = ends.len() > 0 and ends.null_count() == 0 and bool((ends > 0).all())
    rows, blocks = allocation_rows(run), reserved_blocks(run)
    points = reserved_points(run, rows)
    if not (rows.height or blocks.height or points.height):
        return Memory(**{name: empty_frame(spec) for name, spec in Memory.tables.items()}, covers_end=covers_end)
    pieces = _allocations(rows)
    lives, changes, reservations = (_with_places(run, frame) for frame in (pieces.lives, pieces.changes, points))
    clocks = node_clocks(run)
    # When the run began on the node of each process: times of the answer count from there.
    begins = pl.DataFrame({"process": range(clocks.processes.height), "zero_ns": clocks.processes["start_ns"]})
    begins = begins.cast({"process": pl.UInt32})
    changes, reservations = (
        frame.join(begins, on="process", how="left", maintain_order="left").with_columns(
            time_ns=pl.col("time_ns") - pl.col("zero_ns").fill_null(0)
        )
        for frame in (changes, reservations)
    )
    live = _live_bytes(changes)
    peaks = _peaks(live)
    lives = lives.join(begins, on="process", how="left", maintain_order="left")
    lives = lives.join(peaks.select(*_PLACE_KEYS, "peak_ns", "peak_row"), on=_PLACE_KEYS, how="left", nulls_equal=True)
    at_peak = (pl.col("row") <= pl.col("peak_row")) & (pl.col("freed_row") > pl.col("peak_row")).fill_null(value=True)
    lives = lives.with_columns(is_at_peak=at_peak.fill_null(value=False), is_unfreed=pl.col("freed_row").is_null())
    stacks = allocation_stacks(run, lives)
    sites = pl.coalesce(stacks["site"], call_sites(run, lives.select("thread", time_ns="start_ns")))
    lives = lives.with_columns(category=stacks["category"], site=sites)
    return Memory(
        _with_markers(run, _places(lives, changes, peaks, reservations), begins).select(Memory.tables["places"].names),
        _sums(lives, _SITE_KEYS, "sites"),
        _sums(lives.drop_nulls("category"), _CATEGORY_KEYS, "categories"),
        reserved_pools(_with_places(run, blocks), list(_PLACE_KEYS)).select(Memory.tables["pools"].casts),
        _curve(live, reservations, clocks.duration_ns, bins),
        covers_end=covers_end,
    )


def combine_memory(partials: Sequence[Memory]) -> Memory:
    """The combined result of all runs."""
    frames = {
        name: pl.concat([pl.DataFrame(schema=spec.dtypes), *(getattr(part, name) for part in partials)])
        for name, spec in Memory.tables.items()
    }
    sums = {
        name: frames[name]
        .group_by(keys)
        .agg(pl.exclude(keys).sum())
        .select(frames[name].columns)
        .sort(-pl.col("peak_bytes"), -pl.col("allocated_bytes"), *keys)
        for name, keys in (("sites", _SITE_KEYS), ("categories", _CATEGORY_KEYS))
    }
    return Memory(
        places=frames["places"].sort(-pl.col("peak_bytes"), *_PLACE_KEYS, nulls_last=True),
        **sums,
        pools=frames["pools"].sort(-pl.col("reserved_bytes"), *_PLACE_KEYS, "owner", "stream", nulls_last=True),
        curve=frames["curve"].sort(*_PLACE_KEYS, "start_ns", nulls_last=True),
        covers_end=bool(partials) and all(part.covers_end for part in partials),
    )


@bounded(bins=BINS)
def memory(run: Run, *, bins: int = 64) -> Memory:
    """Live memory over time, the peak with what is alive then, and what is never freed, by call site."""
    return combine_memory([partial_memory(part, bins=bins) for part in run.parts])


def live_bytes(run: Run) -> pl.DataFrame:
    """Bytes alive after each allocation and release: `process`, `agent`, `pool`, `time_ns`, `live_bytes`."""
    changes = _with_places(run, _allocations(allocation_rows(run)).changes)
    return _live_bytes(changes).select("process", "agent", "pool", "time_ns", "live_bytes")


@dataclass(frozen=True, eq=False, repr=False)
class _Allocations:
    """Allocations with the row that ends them, and the changes of live bytes."""

    lives: pl.DataFrame
    #: One row per allocation, per release, and per end of an allocation, by the `row` of the call that made it:
    #: `change_bytes` of live bytes; `is_earlier`: a release that matches no recorded allocation, of `earlier_bytes`
    #: that were allocated before; `is_end`: the end that a call makes of an allocation, beside the row of that call.
    changes: pl.DataFrame


def _allocations(rows: pl.DataFrame) -> _Allocations:
    """A release ends the allocation before it at its address; so does a further allocation there."""
    key = ["process", "pool", "address"]
    ordered = rows.with_row_index("row").sort(*key, "row", nulls_last=True)
    following = {"freed_row": "row", "freed_ns": "end_ns", "is_freed_by_release": "is_release"}
    # `taken_agent` and `taken_kind`: where a release frees its allocation; the release itself may name another place.
    ordered = ordered.with_columns(
        *(pl.col(name).shift(-1).over(key).alias(alias) for alias, name in following.items()),
        was_live=(~pl.col("is_release")).shift(1).over(key).fill_null(value=False),
        taken_agent=pl.when(~pl.col("is_release")).then("agent").shift(1).over(key),
        taken_kind=pl.when(~pl.col("is_release")).then("kind").shift(1).over(key),
    )
    has_address = pl.col("address").is_not_null()
    ordered = ordered.with_columns(
        *(pl.when(has_address).then(name).alias(name) for name in following), was_live=has_address & pl.col("was_live")
    )
    lives = ordered.filter(~pl.col("is_release")).with_columns(pl.col("size_bytes").fill_null(0)).sort("row")
    lives = lives.with_columns(is_reused=~pl.col("is_freed_by_release").fill_null(value=True))
    releases = ordered.filter("is_release").sort("row")
    is_earlier = ~pl.col("was_live")
    where = {name: pl.when(is_earlier).then(name).otherwise(f"taken_{name}") for name in ("agent", "kind")}
    freed_before = pl.when(is_earlier).then(pl.col("size_bytes").fill_null(0)).otherwise(_NO_BYTES)
    allocated = _changes(lives, pl.col("size_bytes"))
    releases = releases.with_columns(**where)
    released = _changes(releases, -freed_before, earlier_bytes=freed_before, is_release=True, is_earlier=is_earlier)
    # What a release or a further allocation ends, at its row, before what that row adds.
    none = pl.lit(None, pl.Int64)
    ends = lives.filter(pl.col("freed_row").is_not_null())
    ends = ends.with_columns(row="freed_row", start_ns=none, end_ns="freed_ns", in_use_bytes=none)
    ended = _changes(ends, -pl.col("size_bytes"), is_end=True).with_columns(end_ns=none)
    changes = pl.concat([allocated, released, ended]).sort("row", ~pl.col("is_end"), maintain_order=True)
    return _Allocations(lives, changes)


def _changes(
    rows: pl.DataFrame,
    change_bytes: pl.Expr,
    *,
    earlier_bytes: pl.Expr = _NO_BYTES,
    is_release: bool = False,
    is_earlier: pl.Expr = _NO,
    is_end: bool = False,
) -> pl.DataFrame:
    """Rows of `changes`, each at the end of its call."""
    return rows.select(
        *("process", "agent", "kind", "pool", "row", "start_ns", "end_ns", "in_use_bytes"),
        time_ns="end_ns",
        change_bytes=change_bytes,
        earlier_bytes=earlier_bytes,
        is_release=pl.lit(is_release),
        is_earlier=is_earlier,
        is_end=pl.lit(is_end),
    )


def _with_places(run: Run, frame: pl.DataFrame) -> pl.DataFrame:
    """The rows with the identity of their process and their GPU: the columns `_PLACE_KEYS`."""
    agents = run.read("agents", ["agent", "kind", "type_index", "absolute_index"])
    gpu = pl.coalesce("type_index", "absolute_index")
    gpus = agents.filter(pl.col("kind") == "GPU").select("agent", gpu=gpu)
    named = frame.join(processes_of(run), on="process", how="left", maintain_order="left")
    return named.join(gpus, on="agent", how="left", maintain_order="left")


def _live_bytes(changes: pl.DataFrame) -> pl.DataFrame:
    """The bytes alive after each change; `before_bytes` is what was alive before the first."""
    keys = list(_PLACE_KEYS)
    reports = changes.drop_nulls("in_use_bytes").group_by(keys, maintain_order=True)
    first = reports.agg(pl.col("row", "in_use_bytes").first())
    summed = changes.with_columns(sum_bytes=pl.col("change_bytes").cum_sum().over(keys))
    last_of_row = pl.struct(*keys, "row").is_last_distinct()
    at_first = summed.filter(last_of_row).join(first, on=[*keys, "row"], nulls_equal=True)
    reported = at_first.select(*keys, reported=pl.col("in_use_bytes_right") - pl.col("sum_bytes"))
    released = changes.group_by(keys, maintain_order=True).agg(pl.col("earlier_bytes").sum())
    before = released.join(reported, on=keys, how="left", nulls_equal=True)
    before = before.select(*keys, before_bytes=pl.coalesce("reported", "earlier_bytes").clip(lower_bound=0))
    live = summed.join(before, on=keys, how="left", nulls_equal=True, maintain_order="left")
    return live.with_columns(live_bytes=(pl.col("before_bytes") + pl.col("sum_bytes")).clip(lower_bound=0))


def _peaks(live: pl.DataFrame) -> pl.DataFrame:
    """The first row of each place after which most bytes are alive."""
    keys = list(_PLACE_KEYS)
    highest = pl.col("live_bytes").arg_max()
    peaks = live.group_by(keys, maintain_order=True).agg(
        pl.col("before_bytes").first(),
        peak_bytes=pl.col("live_bytes").max(),
        peak_ns=pl.col("time_ns").get(highest),
        peak_row=pl.col("row").get(highest).cast(pl.Int64),
        end_bytes=pl.col("live_bytes").last(),
    )
    if_first = pl.when(pl.col("before_bytes") >= pl.col("peak_bytes"))  # nothing is ever added to what was there
    return peaks.with_columns(
        peak_bytes=pl.max_horizontal("peak_bytes", "before_bytes"),
        peak_ns=if_first.then(pl.lit(0, pl.Int64)).otherwise("peak_ns"),
        peak_row=if_first.then(pl.lit(-1, pl.Int64)).otherwise("peak_row"),  # -1: before the first row
    )


def _places(
    lives: pl.DataFrame, changes: pl.DataFrame, peaks: pl.DataFrame, reservations: pl.DataFrame
) -> pl.DataFrame:
    keys = list(_PLACE_KEYS)
    spent = (pl.col("end_ns") - pl.col("start_ns")).clip(lower_bound=0)
    counts = {"release_count": pl.col("is_release").sum(), "earlier_count": pl.col("is_earlier").sum()}
    calls = changes.filter(~pl.col("is_end")).group_by(keys).agg(**counts, call_ns=spent.sum())
    totals = lives.group_by(keys).agg(
        allocation_count=pl.len(),
        allocated_bytes=pl.col("size_bytes").sum(),
        unfreed_count=pl.col("is_unfreed").sum(),
        unfreed_bytes=pl.col("size_bytes").filter("is_unfreed").sum(),
        reused_count=pl.col("is_reused").sum(),
        site_bytes=pl.col("size_bytes").filter("is_at_peak").sum(),
    )
    reserved_peaks = reservations.group_by(keys).agg(reserved_peak_bytes=pl.col("reserved_bytes").max())
    places = peaks
    for sums in (calls, totals, reserved_peaks):
        places = places.join(sums, on=keys, how="left", nulls_equal=True, maintain_order="left")
    at_sites = pl.col("site_bytes").fill_null(0)
    places = places.with_columns(peak_before_bytes=(pl.col("peak_bytes") - at_sites).clip(lower_bound=0))
    dtypes = {name: dtype for name, dtype in Memory.tables["places"].dtypes.items() if name != "peak_marker"}
    are_null = (*_PLACE_KEYS, "peak_ns", "reserved_peak_bytes")
    places = places.with_columns(pl.col(name).fill_null(0) for name in dtypes if name not in are_null)
    return places.with_columns(pl.col(name).cast(dtype) for name, dtype in dtypes.items())


def _with_markers(run: Run, places: pl.DataFrame, begins: pl.DataFrame) -> pl.DataFrame:
    """The places with `peak_marker`, the innermost marker of the process that is open at the peak."""
    columns = ["process", "domain", "name", "start_ns", "end_ns"]
    markers = rows_where(run, "regions", columns, pl.col("domain") == MARKER)
    identities = processes_of(run).join(begins, on="process", how="left").unique(PROCESS, keep="first")
    peaks = places.join(identities, on=PROCESS, how="left", nulls_equal=True, maintain_order="left")
    names = []
    # Peaks count from the start of their node, markers are on its clock.
    for process, zero_ns, peak_ns in peaks.select("process", "zero_ns", "peak_ns").rows() if markers.height else ():
        peak_time = pl.lit((peak_ns or 0) + (zero_ns or 0))
        of_process = markers.filter(pl.col("process") == process, peak_time.is_between("start_ns", "end_ns"))
        around = of_process.sort("start_ns", -pl.col("end_ns"))
        names.append(around["name"].cast(pl.String).last() if around.height else None)
    return places.with_columns(pl.Series("peak_marker", names or [None] * places.height, dtype=pl.String))


def _sums(lives: pl.DataFrame, keys: tuple[str, ...], table: str) -> pl.DataFrame:
    spent = (pl.col("end_ns") - pl.col("start_ns")).clip(lower_bound=0)
    sums = lives.group_by(keys).agg(
        allocation_count=pl.len(),
        allocated_bytes=pl.col("size_bytes").sum(),
        peak_count=pl.col("is_at_peak").sum(),
        peak_bytes=pl.col("size_bytes").filter("is_at_peak").sum(),
        unfreed_count=pl.col("is_unfreed").sum(),
        unfreed_bytes=pl.col("size_bytes").filter("is_unfreed").sum(),
        call_ns=spent.sum(),
    )
    return sums.select(Memory.tables[table].casts)


def _curve(live: pl.DataFrame, reservations: pl.DataFrame, duration_ns: int, bins: int) -> pl.DataFrame:
    """Most live and reserved bytes in each of `bins` equal parts of the run, with those before it."""
    keys = list(_PLACE_KEYS)
    width = max(1, -(-duration_ns // bins))  # rounded up
    count = max(1, -(-duration_ns // width)) if duration_ns else 1
    places = live.select(*keys, "before_bytes").unique(keys, maintain_order=True)
    curve = places.join(pl.DataFrame({"bin": range(count)}), how="cross")
    number = (pl.col("time_ns") // width).clip(0, count - 1)
    before = {"live_bytes": pl.col("before_bytes"), "reserved_bytes": pl.lit(None, pl.Int64)}
    for points, (column, first) in zip((live, reservations), before.items(), strict=True):
        in_bins = points.with_columns(bin=number).group_by([*keys, "bin"], maintain_order=True)
        binned = in_bins.agg(highest=pl.col(column).max(), last=pl.col(column).last())
        curve = curve.join(binned, on=[*keys, "bin"], how="left", nulls_equal=True, maintain_order="left")
        carried = pl.coalesce(pl.col("last").shift(1).forward_fill().over(keys), first)
        curve = curve.with_columns(pl.max_horizontal("highest", carried).alias(column)).drop("highest", "last")
    start = pl.col("bin") * width
    end = pl.min_horizontal(start + width, pl.lit(max(duration_ns, 1)))
    return curve.with_columns(start_ns=start, end_ns=end).select(Memory.tables["curve"].casts)
