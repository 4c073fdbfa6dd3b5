"""Is a kernel bound by arithmetic or by a level of memory, and how far is it from that roof?"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from wavewright.analysis.counters.choice import ALL_DISPATCHES
from wavewright.analysis.counters.roofline.ceilings import ceiling_rows
from wavewright.analysis.counters.roofline.points import disprove, kernel_row, operation_rows, point_rows
from wavewright.analysis.counters.roofline.roofline_caveats import roofline_caveats
from wavewright.analysis.counters.roofline.work import work_of
from wavewright.base.bounds import ID, ROWS, bounded
from wavewright.errors import UsageError
from wavewright.facts.metrics.panels import RULES
from wavewright.model.answer import Answer
from wavewright.model.schema import TableSpec, frame_of, table_spec

if TYPE_CHECKING:
    from collections.abc import Mapping

    import polars as pl

    from wavewright.analysis.counters.choice import CounterChoice
    from wavewright.model.counters import CounterSet

_WHO = """
    kernel                   UInt32   -          | rank of the kernel by its time, as in `wavewright counters`
    kernel_name              String   -          | name of the kernel
    dispatch                 UInt32   -          | dispatches.dispatch; null = mean over the dispatches of the kernel
    dispatch_id              Int64?   -          | its id, as --dispatch takes it
"""
_CEILINGS = table_spec(
    "ceilings",
    "one roof: the bandwidth of a level of memory, or the rate of one precision on one pipe",
    """
    name            String   -       | HBM, L2, ..., or pipe and precision
    kind            String   -       | bandwidth or compute
    precision       String   -       | fp16, i8, ...; null = bandwidth
    pipe            String   -       | VALU, MFMA or WMMA; null = bandwidth
    unit            String   -       | GB/s, GFLOP/s or GIOP/s: of the numbers of this row
    theoretical     Float64  10^9/s  | rate of the hardware per cycle x units x highest clock; null = not known
    empirical       Float64  10^9/s  | mean of the benchmark beside the capture; null = not measured
    empirical_low   Float64? 10^9/s  | lower end of its 95 % interval
    empirical_high  Float64? 10^9/s  | upper end
    used            Float64  10^9/s  | the one that kernels are compared with; null = see `reason`
    used_from       String   -       | empirical or theoretical; empty = neither
    reason          String   -       | why there is none, or why it is not the benchmark; else empty
    """,
)
_KERNELS = table_spec(
    "kernels",
    "one kernel, or one dispatch, those with most time first",
    f"""{_WHO}
    dispatch_count           UInt32   -          | dispatches that it is about
    duration_ns_mean         Float64  ns         | mean duration; null = no sound timestamps
    duration_share           Float64? -          | of the time of all dispatches of the capture
    flops                    Float64  -          | floating-point operations per dispatch
    gflops_per_second        Float64? GFLOP/s    | flops over the duration
    iops                     Float64  -          | integer operations per dispatch
    giops_per_second         Float64? GIOP/s     | iops over the duration
    flops_missing            String   -          | kinds of them that were not measured: flops is a lower bound
    iops_missing             String   -          | likewise of iops
    bound                    String?  -          | the unit that needs most time for the work: the lowest roof
    share                    Float64? -          | of that roof: its least time over the duration; null also above it
    verdict                  String   -          | the conclusion in words
    """,
)
_POINTS = table_spec(
    "points",
    "one kernel or dispatch at one level of memory, with its floating-point or its integer work",
    f"""{_WHO}
    level                    String   -          | HBM (all that L2 asks the fabric for), L2, L1 or LDS
    work                     String   -          | flop or iop
    operations               Float64  -          | per dispatch
    bytes                    Float64  bytes      | moved at that level, per dispatch
    intensity                Float64  1/byte     | operations per byte; null = see `reason`
    gops_per_second          Float64? 10^9/s     | operations over the duration
    gb_per_second            Float64? GB/s       | bytes over the duration
    roof                     String?  -          | the lowest roof above the point: the level, or the pipe
    roof_gops_per_second     Float64? 10^9/s     | its height at this intensity
    share                    Float64? -          | of the roof, or of the bandwidth without operations; null = above it
    reason                   String   -          | why something is missing; else empty
    """,
)
_OPERATIONS = table_spec(
    "operations",
    "the operations of one precision on one pipe, of one kernel or dispatch",
    f"""{_WHO}
    kind                     String   -          | pipe and precision
    precision                String   -          | fp16, i8, ...
    pipe                     String   -          | VALU, MFMA or WMMA
    work                     String   -          | flop or iop
    operations               Float64  -          | per dispatch; null = see `reason`
    gops_per_second          Float64  10^9/s     | over the duration
    ceiling_gops_per_second  Float64  10^9/s     | the ceiling used
    share                    Float64  -          | of that ceiling; null = above it
    reason                   String   -          | why they are not known; else empty
    """,
)


@dataclass(frozen=True)
class Roofline(Answer):
    """Kernels under their roofs."""

    definition: ClassVar[str] = (
        "Operations and bytes are sums over the dispatches of a kernel, over their number. Each level of memory needs "
        "at least bytes / bandwidth, each pipe the sum over precisions of operations / rate; the unit that needs "
        "longest is the lowest roof, and share is that time over the duration: for one precision, the classic roofline "
        "min(bandwidth x intensity, rate). A kernel above a benchmark disproves it: the theoretical rate counts. "
        "Work above that has no share of it."
    )
    tables: ClassVar[Mapping[str, TableSpec]] = {
        "ceilings": _CEILINGS,
        "kernels": _KERNELS,
        "points": _POINTS,
        "operations": _OPERATIONS,
    }

    target: str
    product: str
    by: str  #: kernel or dispatch.
    rules: str  #: corrected, or the reference whose bytes and rates were applied.
    total_count: int  #: Kernels or dispatches that were chosen; `kernels` has the first of them.
    ceilings: pl.DataFrame
    kernels: pl.DataFrame
    points: pl.DataFrame
    operations: pl.DataFrame
    caveats: tuple[str, ...]  #: What limits the trust in the numbers.


@bounded(top=ROWS, device=ID)
def roofline(
    counters: CounterSet,
    *,
    choice: CounterChoice = ALL_DISPATCHES,
    by: str = "kernel",
    top: int | None = None,
    ceilings: str = "best",
    device: int | None = None,
    amd: bool = False,
) -> Roofline:
    """Where kernels, or single dispatches, stand under the roofs of memory and arithmetic.

    Parameters
    ----------
    by
        kernel (mean over its dispatches) or dispatch.
    top
        Only those with most time; None = all.
    ceilings
        best (empirical where measured), empirical or theoretical.
    device
        The GPU whose benchmark gives the empirical ceilings; None = the first.
    amd
        Bytes as ROCm Compute Profiler 3.3 counts them: 64 per line on every GPU.

    Raises
    ------
    UsageError
        When `by` or `ceilings` is none of these words, or nothing matches the choice or the device.
    """
    if by not in ("kernel", "dispatch"):
        raise UsageError(f"no points by {by[:40]!r}", advice="by kernel or by dispatch")
    ceiling_list = ceiling_rows(counters, choice=ceilings, device=device)
    works = work_of(counters, choice=choice, by=by, amd=amd)
    top_works = works[:top]
    if ceilings == "best":
        ceiling_list = disprove(ceiling_list, works)
    used = {row["name"]: row["used"] for row in ceiling_list}
    rows: dict[str, list[dict[str, Any]]] = {
        "ceilings": ceiling_list,
        "kernels": [kernel_row(work, used) for work in top_works],
        "points": [row for work in top_works for row in point_rows(work, used)],
        "operations": [row for work in top_works for row in operation_rows(work, used)],
    }
    frames = {name: frame_of(spec, rows[name]) for name, spec in Roofline.tables.items()}
    return Roofline(
        target=counters.system.target or "",
        product=counters.system.product or "",
        by=by,
        rules=RULES[amd],
        total_count=len(works),
        **frames,
        caveats=tuple(roofline_caveats(frames, counters, device)),
    )
