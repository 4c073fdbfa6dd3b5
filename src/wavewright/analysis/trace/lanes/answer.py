"""Instructions that conflict in LDS, that do not coalesce, and their active lanes: rows, source lines, remedies."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar, Final

import polars as pl

from wavewright.analysis.trace.lanes import LaneAccesses, lane_accesses
from wavewright.analysis.trace.lanes.evaluated import LaneOptions
from wavewright.analysis.trace.lanes.layouts import FIXES, known_patterns, layout_fixes, lds_patterns
from wavewright.analysis.trace.lanes.omniprobe import COMPARISON, omniprobe_comparison
from wavewright.analysis.trace.selection import at_rows, check_whole_waves
from wavewright.analysis.trace.waits.wait_producers import resolve
from wavewright.model.answer import Answer
from wavewright.model.schema import TableSpec
from wavewright.model.trace import ThreadTrace

#: Extra cycles that explain less than this share of the stall of their waits are called harmless.
HARMLESS_SHARE: Final = 0.05
#: Sums that only some rows have: LDS accesses or accesses of memory.
_NULLABLE = (
    *("ideal_cycles_total", "extra_cycles_total"),
    *("segment_count_total", "least_segment_count_total", "moved_bytes_total"),
)
_SUMS = ("execution_count", "known_count", "cost_known_count", "requested_bytes_total", *_NULLABLE)
#: Fields that `Lanes` takes over from `LaneAccesses`.
_SHARED = ("target", "lane_count", "segment_bytes", "wave_count", "path_count", "branch_count", "checked_branch_count")


@dataclass(frozen=True)
class Lanes(Answer, package=__package__):
    """Bank conflicts, coalescing and active lanes of the traced waves, the costliest first."""

    definition: ClassVar[str] = (
        f"{LaneAccesses.definition} Extra cycles explain at most themselves of the stall of the waits that the row "
        "feeds; where that is little, the conflict is harmless."
    )
    tables: ClassVar[Mapping[str, TableSpec]] = {
        "branches": LaneAccesses.tables["branches"],
        "reasons": LaneAccesses.tables["reasons"],
        "fixes": FIXES,
        "comparison": COMPARISON,
    }

    rows: pl.DataFrame
    lines: pl.DataFrame
    branches: pl.DataFrame
    reasons: pl.DataFrame
    fixes: pl.DataFrame  #: Empty unless asked for.
    comparison: pl.DataFrame  #: Empty without measurements of Omniprobe.
    target: str
    lane_count: int  #: Lanes of a wave.
    segment_bytes: int | None  #: Size of a segment; None = no rule for this GPU.
    wave_count: int
    path_count: int  #: Different paths of waves; each was evaluated once.
    branch_count: int  #: Conditional branches on these paths.
    checked_branch_count: int  #: Of these, those with a certain condition: all of them go the way the trace went.
    notes: tuple[str, ...]


def lanes(
    trace: ThreadTrace,
    options: LaneOptions | None = None,
    *,
    rows: pl.Series | None = None,
    fixes: bool = False,
    omniprobe: pl.DataFrame | None = None,
    traffic: pl.DataFrame | None = None,
) -> Lanes:
    """Evaluate the traced waves lane by lane.

    Raises `UnsupportedError`: the GPU is not known, or its instructions are not; `UsageError`: an argument or size does
    not fit the kernel, or the trace is a part of its waves' time.

    `options` is what is known beyond the capture: arguments, workgroup size, rules. `rows` = only these code rows.
    `fixes` searches layouts of LDS without conflicts, over all rows. `omniprobe` is what Omniprobe measured
    (`OmniprobeLog.accesses`), to compare with; `traffic` what rows move between L2 and the fabric
    (`FabricTraffic.rows`), where arguments tell it.
    """
    check_whole_waves(trace)
    answer = lane_accesses(trace, options)
    options = options or LaneOptions()
    layouts = pl.DataFrame(schema=FIXES.dtypes)
    if fixes:
        of_lds = lds_patterns(trace, options, answer.rows, known_patterns(trace, options))
        layouts, _ = layout_fixes(trace, options, of_lds)
    comparison = pl.DataFrame(schema=COMPARISON.dtypes)
    if omniprobe is not None:
        is_known = pl.col("cost_known_count") == pl.col("execution_count")
        certain = {name: pl.when(is_known).then(name) for name in _NULLABLE}
        comparison = omniprobe_comparison(omniprobe, trace.code, answer.rows.with_columns(**certain))
    chosen = {name: at_rows(getattr(answer, name), rows) for name in ("rows", "branches", "reasons")}
    return Lanes(
        rows=_sorted_rows(trace, chosen["rows"], traffic),
        lines=_lines(chosen["rows"], chosen["branches"]),
        branches=chosen["branches"],
        reasons=chosen["reasons"],
        fixes=layouts,
        comparison=comparison,
        **{name: getattr(answer, name) for name in _SHARED},
        notes=tuple(dict.fromkeys(answer.notes)),
    )


def lane_sums(trace: ThreadTrace) -> pl.DataFrame:
    """`row`, `extra_lds_cycles_total` and `segment_count_total` of memory instructions: 0 where nothing is known.

    Raises `UnsupportedError`: the GPU is not known, or its instructions are not; `UsageError`: the trace is a part of
    its waves' time.
    """
    check_whole_waves(trace)
    return lane_accesses(trace).rows.select(
        "row",
        extra_lds_cycles_total=pl.col("extra_cycles_total").fill_null(0),
        segment_count_total=pl.col("segment_count_total").fill_null(0),
    )


def costliest_first() -> list[pl.Expr]:
    """Sort keys of rows and lines, descending: extra LDS cycles, then segments above the least."""
    above = pl.col("segment_count_total") - pl.col("least_segment_count_total")
    return [pl.col("extra_cycles_total").fill_null(0), above.fill_null(0)]


def _sorted_rows(trace: ThreadTrace, rows: pl.DataFrame, traffic: pl.DataFrame | None) -> pl.DataFrame:
    explained = explained_stalls(trace, rows)
    move_names = ("fabric_bytes", "distinct_bytes")
    no_moves = pl.DataFrame(schema={"row": pl.Int32, **dict.fromkeys(move_names, pl.Int64)})
    moves = no_moves if traffic is None else traffic
    of_row = moves.group_by("row", maintain_order=True).agg(pl.col(*move_names).sum())
    joined = rows.join(explained, on="row", how="left", maintain_order="left").join(
        of_row, on="row", how="left", maintain_order="left"
    )
    return joined.sort(*costliest_first(), "row", descending=[True, True, False]).select(Lanes.tables["rows"].casts)


def _lines(rows: pl.DataFrame, branches: pl.DataFrame) -> pl.DataFrame:
    keys = ["file", "line"]
    is_costed = pl.col("cost_known_count") > 0
    sums = [
        pl.when((pl.col(name).is_not_null() & is_costed).any()).then(pl.col(name).sum()).alias(name)
        if name in _NULLABLE
        else pl.col(name).sum()
        for name in _SUMS
    ]
    touching = rows.filter(pl.col("file").is_not_null()).group_by(keys).agg(pl.len().alias("row_count"), *sums)
    shares = ["row", *keys, "execution_count", "active_lane_share"]
    both = pl.concat([rows.select(shares), branches.select(shares)]).unique("row", maintain_order=True)
    weighted = (pl.col("active_lane_share") * pl.col("execution_count")).sum() / pl.col("execution_count").sum()
    is_certain = pl.col("active_lane_share").is_not_null().all()
    active = (
        both.filter(pl.col("file").is_not_null())
        .group_by(keys)
        .agg(pl.when(is_certain).then(weighted).alias("active_lane_share"), pl.col("row").min())
    )
    lines = active.join(touching, on=keys, how="left", nulls_equal=True)
    filled = [pl.col(name).fill_null(0) for name in ("row_count", *_SUMS) if name not in _NULLABLE]
    ordered = lines.with_columns(filled).sort(*costliest_first(), "row", descending=[True, True, False])
    return ordered.select(Lanes.tables["lines"].casts)


def explained_stalls(trace: ThreadTrace, rows: pl.DataFrame) -> pl.DataFrame:
    """Waits for each row with extra cycles: `row`, `awaited_stall_cycles_total`, `explained_stall_share`.

    `rows` has `row` and `extra_cycles_total`. The stall is that of all waits which the row is a producer of, over all
    executions; its own extra cycles cannot have caused more of it than there are of them. Null: nothing waits for it.
    """
    conflicting = rows.filter(pl.col("extra_cycles_total") > 0).select("row", "extra_cycles_total")
    resolved = resolve(trace)
    stalls = (
        resolved.groups.filter(pl.col("is_wait") == 1)
        .group_by("row")
        .agg(pl.col("stall_cycles_total").cast(pl.Int64).sum())
        .rename({"row": "wait_row"})
    )
    awaited = (
        conflicting.join(resolved.edges.select(wait_row="row", row="producer_row").unique(), on="row")
        .join(stalls, on="wait_row")
        .group_by("row")
        .agg(awaited_stall_cycles_total=pl.col("stall_cycles_total").sum())
    )
    stall = pl.col("awaited_stall_cycles_total")
    share = pl.min_horizontal("extra_cycles_total", stall) / stall
    return conflicting.join(awaited, on="row", how="left", maintain_order="left").select(
        "row", "awaited_stall_cycles_total", explained_stall_share=pl.when(stall > 0).then(share)
    )
