"""Cost, or PC samples, by instruction, kind of instruction, line, file, function, kernel, basic block or loop."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

import polars as pl

from wavewright.analysis.code.control_flow import blocks
from wavewright.analysis.code.mix import kind_of
from wavewright.analysis.trace.code.accesses import requested_bytes
from wavewright.analysis.trace.code.attribution import LANE_SUMS, source_of_rows, with_lane_sums
from wavewright.analysis.trace.code.control_flow import jumps_in_part, loop_of_rows, taken_jumps
from wavewright.analysis.trace.costs.row_costs import ROW_SUMS, cost_questions, row_costs
from wavewright.analysis.trace.parts import ask
from wavewright.analysis.trace.selection import at_rows
from wavewright.errors import UsageError
from wavewright.model.answer import Answer
from wavewright.model.schema import SAMPLE_COUNTS
from wavewright.model.trace import ThreadTrace

UNITS = ("instruction", "line", "file", "function", "kernel", "block", "loop", "kind")
_PARTS = ("latency", "stall", "idle")
#: A line with at least this share of the rows of its file, and so many rows, collects code that belongs elsewhere.
_COLLECTS_SHARE, _COLLECTS_ROWS = 0.25, 64
_MOST_PAIRS = 1 << 24  #: Pairs of kernel and code row, for each of which the core's tables have an entry.
#: What units can be sorted by, and its column.
SORTS = {
    "exposed": "exposed_cycles_total",
    "stall": "stall_cycles_total",
    "latency": "latency_cycles_total",
    "idle": "idle_cycles_total",
    "hits": "hit_count",
}


@dataclass(frozen=True)
class Hotspots(Answer, package=__package__):
    """Cost of units of the code, costliest first."""

    by: str
    attribution: str  #: Which frame of an inline chain represents a row: innermost, outermost or mine.
    sort: str
    basis: str  #: `instructions`, or `stored totals` when the trace has none and its files' own sums had to do.
    amd: bool  #: Whether hidden latency follows AMD's rule.
    hit_count: int
    latency_cycles_total: int
    stall_cycles_total: int
    idle_cycles_total: int
    exposed_cycles_total: int | None
    cycles_share: float  #: Latency and idle of the requested rows / of the whole trace.
    units: pl.DataFrame


def hotspots(
    trace: ThreadTrace,
    *,
    rows: pl.Series | None = None,
    by: str = "instruction",
    attribution: str = "innermost",
    mine: Sequence[str] = (),
    sort: str = "exposed",
    amd: bool | None = None,
    lane_sums: pl.DataFrame | None = None,
) -> Hotspots:
    """Return the cost of each unit of the code; `by` one of `UNITS`, `sort` one of `SORTS`.

    `amd`: hidden latency by the rule of AMD's viewer; None = as the trace was opened. `lane_sums`: what
    `lanes.answer.lane_sums` says about the trace, to show it as well.

    Without instructions the sums that a decoded directory stores are used; they know no exposed cycles, nor kernels.
    Raises `UsageError` when there is no such unit, sort key, or attribution; when lanes are asked for by kernel.
    """
    for value, choices, subject in ((by, UNITS, "unit"), (sort, tuple(SORTS), "sort key")):
        if value not in choices:
            raise UsageError(f"no {subject} {value!r}", advice=f"one of {', '.join(choices)}")
    is_measured = trace.instruction_count > 0 or not trace.stored_totals.height
    if by in ("block", "loop"):
        ask(trace, [(jumps_in_part,), *cost_questions(trace, amd=amd)])
    if is_measured:
        costs = kernel_costs(trace, amd=amd) if by == "kernel" else row_costs(trace, amd=amd)
    else:
        nothing = {name: pl.lit(None, pl.Int64) for name in ROW_SUMS if "exposed" in name}
        executed = trace.stored_totals.filter(pl.col("hit_count") > 0)
        costs = executed.with_columns(**nothing, kernel=pl.lit(None, pl.UInt32))
    chosen = at_rows(costs, rows)
    sort = sort if is_measured or sort != "exposed" else "latency"
    totals = {name: int(chosen[name].sum() or 0) for name in ROW_SUMS}
    cycles = pl.col("latency_cycles_total") + pl.col("idle_cycles_total")
    all_cycles, own_cycles = (int(frame.select(cycles.sum()).item() or 0) for frame in (costs, chosen))
    if by == "kernel":
        names = trace.kernels.select("kernel", unit="demangled")
        chosen = chosen.join(names, on="kernel", how="left", maintain_order="left")
        sources = source_of_rows(trace.code, attribution, mine)
    else:
        sources = units_of_rows(trace, by, attribution, mine)
    if lane_sums is not None and by == "kernel":
        raise UsageError("lanes belong to instructions and lines, not to kernels", advice="choose another --by")
    requested = requested_bytes(trace)
    chosen = chosen.join(requested.select("row", "requested_bytes"), on="row", how="left", maintain_order="left")
    moved = (pl.col("hit_count") * pl.col("requested_bytes")).fill_null(0)  # 0 also where nobody knows how much
    chosen = with_lane_sums(chosen.with_columns(requested_bytes_total=moved), lane_sums)
    units = unit_totals(trace, chosen, sources, (*ROW_SUMS, "requested_bytes_total", *LANE_SUMS), SORTS[sort])
    widths = requested.select("bytes_per_lane", first_row="row")
    widths = widths if by == "instruction" else widths.clear()
    units = units.join(widths, on="first_row", how="left", maintain_order="left")
    is_collecting = pl.lit(by == "line") & collecting()
    shares = {
        "latency_cycles_mean": pl.col("latency_cycles_total") / pl.max_horizontal("hit_count", 1),
        "is_collecting": is_collecting & pl.col("file").is_not_null(),
        "cycles_share": cycles / (all_cycles or 1),
        "stall_share": pl.col("stall_cycles_total") / (int(costs["stall_cycles_total"].sum()) or 1),
        "exposed_share": pl.col("exposed_cycles_total") / (int(costs["exposed_cycles_total"].sum() or 0) or 1),
    }
    return Hotspots(
        by=by,
        attribution=attribution,
        sort=sort,
        basis="instructions" if is_measured else "stored totals",
        amd=trace.source.amd if amd is None else amd,
        **{name: totals[name] for name in ("hit_count", *(f"{part}_cycles_total" for part in _PARTS))},
        exposed_cycles_total=totals["exposed_cycles_total"] if is_measured else None,
        cycles_share=own_cycles / all_cycles if all_cycles else 0.0,
        units=units.with_columns(**shares).select(Hotspots.tables["units"].casts),
    )


def collecting() -> pl.Expr:
    """True for lines (`file`, `row_count`) that more instructions have than anybody wrote there."""
    share = pl.col("row_count") / pl.col("row_count").sum().over("file")
    return (share >= _COLLECTS_SHARE) & (pl.col("row_count") >= _COLLECTS_ROWS)


def units_of_rows(
    trace: ThreadTrace, by: str, attribution: str = "innermost", mine: Sequence[str] = ()
) -> pl.DataFrame:
    """The unit of every code row (`row`, `unit`, `file`, `line`); null where a row belongs to none. Not for kernels."""
    code = trace.code
    sources = source_of_rows(code, attribution, mine)
    if by == "instruction":
        unit = "row " + pl.col("row").cast(pl.String)
    elif by == "line":
        unit = pl.col("file") + ":" + pl.col("line").cast(pl.String).fill_null("?")
    elif by == "file":
        unit = pl.col("file")
    elif by == "function":
        unit = pl.lit(code["function"])
    elif by == "kind":
        kinds = {name: kind_of(name) for name in code["class"].drop_nulls().unique()}
        unit = pl.lit(code["class"].replace_strict(kinds, default=None, return_dtype=pl.String))
    elif by == "block":
        unit = "block " + pl.lit(blocks(code, taken_jumps(trace)).by_row["block"]).cast(pl.String)
    else:
        unit = "loop " + pl.lit(loop_of_rows(trace)).cast(pl.String)
    return sources.select("row", unit.alias("unit"), "file", "line")


def unit_totals(
    trace: ThreadTrace, costs: pl.DataFrame, sources: pl.DataFrame, totals: Sequence[str], weight: str
) -> pl.DataFrame:
    """Add up the `totals` of the rows of each unit; the row with the largest `weight` gives text, file and line.

    `costs` has one row per code row (per kernel and code row), `sources` are joined to it by row; one of them has the
    `unit`. Units come by weight, then by their first row.
    """
    rows = costs.join(sources, on="row", how="left", maintain_order="left")
    rows = rows.join(trace.code.select("row", "address", "text"), on="row", how="left", maintain_order="left")
    costliest = pl.col(weight).arg_max()
    return (
        rows.group_by("unit", maintain_order=True)
        .agg(
            pl.col("row").first().alias("first_row"),
            pl.col("address").first(),
            *(pl.col(name).gather(costliest).first() for name in ("text", "file", "line")),
            pl.len().cast(pl.Int64).alias("row_count"),
            *(pl.col(name).sum() if costs[name].null_count() == 0 else pl.col(name).first() for name in totals),
        )
        .sort(weight, "first_row", descending=[True, False], nulls_last=True)
    )


def kernel_costs(trace: ThreadTrace, *, amd: bool | None = None) -> pl.DataFrame:
    """The columns of `row_costs` for every pair of kernel and code row, with `kernel` in front; null = unknown.

    Kernels can share code (functions they call), so the rows of a kernel are told by its waves. Raises `UsageError`
    when there are too many kernels for so much code.
    """
    kernels = trace.waves["kernel"].unique().sort()
    if kernels.len() <= 1:
        only = pl.lit(kernels[0] if kernels.len() else None, pl.UInt32)
        return row_costs(trace, amd=amd).select(only.alias("kernel"), pl.all())
    rows = max(trace.code.height, 1)
    if kernels.len() * rows > _MOST_PAIRS:
        problem = f"{kernels.len():,} kernels with {rows:,} rows of code are too many to tell apart"
        raise UsageError(problem, where=trace.source.path, advice="choose some of them with --kernel")
    costs = row_costs(_one_code_per_kernel(trace, kernels, rows), amd=amd)
    place = (pl.col("row") // rows).cast(pl.UInt32)
    return costs.select(kernels.gather(costs.select(place).to_series()).alias("kernel"), pl.all()).with_columns(
        pl.col("row") % rows
    )


def _one_code_per_kernel(trace: ThreadTrace, kernels: pl.Series, rows: int) -> ThreadTrace:
    """The trace as if every kernel had its own copy of the code: the n-th one's rows start at n times `rows`."""
    numbers = pl.DataFrame(
        {"kernel": kernels, "first": pl.Series(range(0, kernels.len() * rows, rows), dtype=pl.Int32)}
    )
    waves = trace.waves.join(numbers, on="kernel", how="left", nulls_equal=True, maintain_order="left")
    first = waves.select("wave", "first")
    code = pl.concat([trace.code.select("row", "text")] * kernels.len())
    tables = {"waves": trace.waves, "code": code, "other_simd": trace.other_simd}
    if trace.parts is not None:  # `map` lets go of a part before the next one is decoded
        with_own_code = partial(_one_code_per_kernel, kernels=kernels, rows=rows)
        return ThreadTrace(tables, trace.source, parts=lambda: map(with_own_code, trace.each_part()))
    numbered_rows = trace.instructions.join(first, on="wave", how="left", maintain_order="left").with_columns(
        row=pl.when(pl.col("row") < 0).then(-1).otherwise(pl.col("row") + pl.col("first"))
    )
    tables["instructions"] = numbered_rows.drop("first")
    part_of = None
    if trace.part_of is not None:
        whole_trace, is_selected = trace.part_of
        all_kernels = pl.concat([kernels, whole_trace.waves["kernel"]]).unique(maintain_order=True)
        part_of = _one_code_per_kernel(whole_trace, all_kernels, rows), is_selected
    return ThreadTrace(tables, trace.source, part_of=part_of)


_TOTALS = ("sample_count", *SAMPLE_COUNTS)  #: Counts of PC samples that are added up per unit.


@dataclass(frozen=True)
class SampleHotspots(Answer, package=__package__):
    """PC samples of units of the code, the most frequent first."""

    by: str
    attribution: str
    sample_count: int
    issued_count: int
    stalled_count: int
    unknown_count: int
    reasons: pl.DataFrame
    units: pl.DataFrame


def sample_hotspots(
    trace: ThreadTrace,
    *,
    rows: pl.Series | None = None,
    by: str = "instruction",
    attribution: str = "innermost",
    mine: Sequence[str] = (),
) -> SampleHotspots:
    """Samples of each unit of the code; `by` as in `hotspots`, where a kernel is the same as a function.

    Raises `UsageError` when blocks or loops are asked for and only the sampled instructions are known.
    """
    if by in ("block", "loop") and trace.code.height and trace.code["size"].null_count() == trace.code.height:
        what = f"only the sampled instructions are known, so there is no {by} to count by"
        advice = "record with --output-format json, and put the code objects into the folder of the samples"
        raise UsageError(what, where=trace.source.path, advice=advice)
    samples = trace.samples.with_columns(sample_count=pl.sum_horizontal(SAMPLE_COUNTS))
    samples = samples.filter(pl.col("sample_count") > 0).sort("row")
    total = int(samples["sample_count"].sum())
    reasons = trace.sample_reasons
    samples, reasons = (at_rows(frame, rows) for frame in (samples, reasons))
    sources = units_of_rows(trace, "function" if by == "kernel" else by, attribution, mine)
    if by == "kernel":
        names = trace.kernels.select(unit="name", signature="demangled").unique("unit", keep="first")
        named = sources.join(names, on="unit", how="left", maintain_order="left")
        sources = named.with_columns(unit=pl.coalesce("signature", "unit")).drop("signature")
    units = unit_totals(trace, samples, sources, _TOTALS, "sample_count")
    top = _top_reason(reasons.join(sources.select("row", "unit"), on="row", how="left"))
    units = units.join(top, on="unit", how="left", nulls_equal=True, maintain_order="left")
    totals = samples.select(pl.col(_TOTALS).sum()).row(0, named=True)
    return SampleHotspots(
        by=by,
        attribution=attribution,
        **totals,
        reasons=reasons.group_by("reason")
        .agg(pl.col("count").sum())
        .filter(pl.col("count") > 0)
        .sort("count", "reason", descending=[True, False])
        .with_columns(share=pl.col("count") / (total or 1)),
        units=units.with_columns(sample_share=pl.col("sample_count") / (total or 1)).select(
            SampleHotspots.tables["units"].casts
        ),
    )


def _top_reason(reasons: pl.DataFrame) -> pl.DataFrame:
    """The most frequent reason of every unit."""
    return (
        reasons.group_by("unit", "reason")
        .agg(reason_count=pl.col("count").sum())
        .filter(pl.col("reason_count") > 0)
        .sort("reason_count", "reason", descending=[True, False])
        .unique("unit", keep="first", maintain_order=True)
    )
