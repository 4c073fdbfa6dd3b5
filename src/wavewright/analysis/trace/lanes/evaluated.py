"""Executed paths of waves, evaluated lane by lane: every distinct path once for each place in the workgroup."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

import polars as pl

from wavewright import _core
from wavewright.analysis.code.control_flow import branch_targets
from wavewright.analysis.trace.barriers import passages
from wavewright.analysis.trace.code.accesses import accesses, lanes_per_wave
from wavewright.analysis.trace.lanes.reasons import reason_text
from wavewright.analysis.trace.lanes.start import StartState, start_state
from wavewright.analysis.trace.parts import pieces_of_waves
from wavewright.codeobj.kernel_arguments import ArgumentValues, DispatchSize, argument_values
from wavewright.codeobj.operands import columns_for
from wavewright.facts.lanes import LaneRules, LdsAccess, Refusal, lane_rules, lds_access
from wavewright.model.answer import once_per_trace
from wavewright.model.trace import ThreadTrace

# cpp/include/wavewright/evaluate.hpp: Space and Direction.
_NO_SPACE, _LDS, _GLOBAL, _BUFFER, _OTHER = range(5)
_DIRECTIONS: Final = {"load": 0, "store": 1, "atomic": 2, "load to LDS": 3}
_WIDEST_BYTES: Final = 255
_MOST_PATTERNS: Final = 64  #: Different patterns of a row that are kept.
_MOST_INSTRUCTIONS: Final = 40_000_000  #: That are evaluated; waves behind them stay unknown, which is said.
#: Where these differ between places in the workgroup, no single wave's cost is known.
_COSTS: Final = ("cost_known_count", "ideal_cycle_total", "extra_cycle_total", "segment_total", "least_segment_total")
_COUNTS: Final = ("execution_count", "mask_known_count", "active_lane_total", "known_count")
_SUMS: Final = (*_COUNTS, *_COSTS, "requested_byte_total")
#: Kinds of reasons; those from 100 on are ours alone.
CONTRADICTION, PATH, BY_PLACE, NOT_REACHED, NOT_FROM_START = 9, 10, 100, 101, 102
#: Columns of reasons: the row, what the native core says of it, and the executions.
_REASONS: Final = pl.Schema(
    {
        "row": pl.Int32,
        "kind": pl.UInt8,
        "detail": pl.Int32,
        "base_kind": pl.UInt32,
        "base_detail": pl.Int32,
        "is_cost": pl.UInt8,
        "count": pl.Float64,
    }
)
_PATTERNS: Final[dict[str, pl.DataType | type[pl.DataType]]] = {
    "row": pl.Int32,
    "count": pl.Float64,
    "active": pl.UInt64,
    "width_bytes": pl.UInt8,
    "place": pl.UInt8,
    "address": pl.List(pl.Int64),
}
_ROW_RULES: Final = {
    "row": pl.Int32,
    "space": pl.UInt8,
    "direction": pl.UInt8,
    "width_bytes": pl.UInt8,
    "lds_rule": pl.Int32,
    "has_segments": pl.UInt8,
    "confidence": pl.String,
    "refusal": pl.String,
}
_PRELOAD_BYTES: Final = 256  #: Code before the second entry of kernels that have arguments preloaded.


@dataclass(frozen=True)
class LaneOptions:
    """Facts that the user knows beyond the capture."""

    arguments: tuple[str, ...] = ()  #: `NAME=VALUE` or `OFFSET=VALUE` of the kernel's arguments.
    workgroup_size: tuple[int, int, int] | None = None
    grid_size: tuple[int, int, int] | None = None
    recorded_arguments: bytes | None = None  #: The kernarg segment as kerncap recorded it.
    rules: LaneRules = field(default_factory=lane_rules)
    target: str | None = None  #: The GPU, where the trace does not name it.
    pointer_bytes: int = 256  #: Pointer arguments are multiples of this, by assumption.


@dataclass(frozen=True)
class EvaluatedKernel:
    """Evaluation of the traced waves of one kernel. Sums are over its waves."""

    kernel: int | None
    rows: pl.DataFrame  #: `row`, the sums and `assumptions` (bits).
    reasons: pl.DataFrame  #: `row`, `kind`, `detail`, `base_kind`, `base_detail`, `is_cost`, `count`.
    patterns: pl.DataFrame  #: `row`, `count`, `active`, `width_bytes`, `place`, `address` (a list, one for each lane).
    start: StartState
    wave_count: int
    path_count: int
    branch_count: int  #: Conditional branches that were executed, in one wave of each path.
    checked_branch_count: int  #: Of these, those whose condition is certain.
    contradictions: tuple[int, ...]  #: Rows of branches that contradict what was evaluated, in every place.
    misfits: tuple[int, ...]  #: Rows behind which a path does not fit the code.


@dataclass(frozen=True)
class RowRules:
    """Accesses of each row, and the rules for them."""

    frame: pl.DataFrame  #: One row per code row: target_row, space, direction, width_bytes, lds_rule, has_segments.
    lds_rules: list[tuple[int, list[int]]]
    accesses: pl.DataFrame  #: As `accesses`, with `confidence` and `refusal` of the rule.


def lanes_of_waves(trace: ThreadTrace) -> int:
    """Lanes of a wave; 32 on RDNA where nothing tells."""
    return lanes_per_wave(trace) or 32


def row_rules(trace: ThreadTrace, target: str, rules: LaneRules, lanes: int) -> RowRules:
    """Spaces, widths and rules of all rows of the code."""
    touching = accesses(trace.code).filter(pl.col("space") != "scalar")
    coalescing = rules.coalescing_rule(target)
    numbers: dict[tuple[int, tuple[int, ...]], int] = {}
    described = []
    for row, space, direction, bytes_per_lane, mnemonic in touching.iter_rows():
        width, rule_number, has_segments, confidence, refusal = bytes_per_lane or 0, -1, 0, None, None
        number = {"lds": _LDS, "memory": _BUFFER if mnemonic.startswith("buffer") else _GLOBAL}.get(space, _OTHER)
        if space == "flat" or (number == _GLOBAL and not mnemonic.startswith("global")):
            number = _GLOBAL if space == "flat" else _OTHER
        if space == "lds":
            access = lds_access(mnemonic)
            if isinstance(access, LdsAccess):
                width = access.width_bytes
                rule = rules.lds_rule(target, access.operation, width, wave_size=lanes)
                if isinstance(rule, Refusal):
                    refusal = rule.reason
                else:
                    rule_number = numbers.setdefault((rule.banks, rule.phases), len(numbers))
                    confidence = rule.confidence
            else:
                refusal = access.reason
        elif space == "flat":
            refusal = "a flat access may go to LDS"
        elif isinstance(coalescing, Refusal):
            refusal = coalescing.reason
        elif direction in ("load", "store"):
            has_segments, confidence = 1, coalescing.confidence
        else:
            refusal = f"no rule is known for {direction}s on {target}"
        number = number if 0 < width <= _WIDEST_BYTES else _OTHER
        access_facts = (number, _DIRECTIONS[direction], min(width, _WIDEST_BYTES), rule_number, has_segments)
        described.append((row, *access_facts, confidence, refusal))
    by_row = pl.DataFrame(described, schema=_ROW_RULES, orient="row")
    frame = (
        trace.code.select("row")
        .join(branch_targets(trace.code), on="row", how="left", maintain_order="left")
        .join(by_row, on="row", how="left", maintain_order="left")
        .select(
            pl.col("target_row").fill_null(-1).cast(pl.Int32),
            pl.col("space").fill_null(_NO_SPACE),
            pl.col("direction", "width_bytes", "has_segments").fill_null(0),
            pl.col("lds_rule").fill_null(-1),
        )
    )
    listed = [(banks, list(phases)) for banks, phases in numbers]
    refusals = by_row.select("row", "confidence", "refusal")
    return RowRules(frame, listed, touching.join(refusals, on="row", maintain_order="left"))


def evaluate(trace: ThreadTrace, target: str, options: LaneOptions, rules: RowRules) -> list[EvaluatedKernel]:
    """Evaluate the traced waves, kernel by kernel."""
    lanes = lanes_of_waves(trace)
    evaluator = path_evaluator(trace, target, options, rules, lanes)
    paths = paths_of(trace)
    answers = []
    budget = _MOST_INSTRUCTIONS
    for (kernel,), of_kernel in paths.group_by("kernel", maintain_order=True):
        start = start_of(trace, target, options, kernel, lanes)
        evaluated, spent = _evaluate_kernel(evaluator, kernel, of_kernel, start, budget, trace)
        budget -= spent
        answers.append(evaluated)
    return answers


def path_evaluator(
    trace: ThreadTrace, target: str, options: LaneOptions, rules: RowRules, lanes: int
) -> _core.LaneEvaluator:
    """Evaluator of the code of a trace, for any path."""
    coalescing = options.rules.coalescing_rule(target)
    group, segment = (0, 0) if isinstance(coalescing, Refusal) else (coalescing.group_lanes, coalescing.segment_bytes)
    return _core.LaneEvaluator(
        texts=trace.code["text"].fill_null("").to_list(),
        rows=rules.frame.to_dict(),
        column=columns_for(target)[0],
        lds_rules=rules.lds_rules,
        group_lanes=group,
        segment_bytes=segment,
        pointer_bytes=options.pointer_bytes,
        lane_count=lanes,
    )


def executions(trace: ThreadTrace, options: LaneOptions) -> pl.DataFrame:
    """Every execution of a memory instruction, as if its wave were at each place of its workgroup.

    Columns: `instruction` (index in `instructions`), `place_in_workgroup`, `place` (which address of the instruction),
    `is_known`, `reason`, `active` (a bit for each lane), `has_base` (whether addresses are relative to an unknown base)
    and `address` (a list, one for each lane).
    """
    target = options.target or str(trace.source.target)
    lanes = lanes_of_waves(trace)
    evaluator = path_evaluator(trace, target, options, row_rules(trace, target, options.rules, lanes), lanes)
    texts = trace.code["text"].fill_null("").to_list()
    numbered = trace.instructions.select("wave", "row").with_row_index("instruction")
    frames = []
    for (wave,), of_wave in numbered.group_by("wave", maintain_order=True):
        kernel = trace.waves.filter(pl.col("wave") == wave)["kernel"][0]
        start = start_of(trace, target, options, kernel, lanes)
        for place in range(start.wave_count):
            result = evaluator.run(start.wave, place, of_wave["row"].cast(pl.Int32), 0, keeps_executions=True)
            rows = pl.DataFrame(result["executions"])
            reasons = [
                reason_text(kind, detail, (0, 0), texts, start.arguments) if not is_known else None
                for is_known, kind, detail in rows.select("is_known", "kind", "detail").iter_rows()
            ]
            frames.append(
                rows.select(
                    instruction=of_wave["instruction"].gather(rows["position"]),
                    place_in_workgroup=pl.lit(place),
                    place=pl.col("place").cast(pl.Int64),
                    is_known=pl.col("is_known") == 1,
                    reason=pl.Series(reasons, dtype=pl.String),
                    active="active",
                    has_base=pl.col("has_base") == 1,
                    address=_lists(result["execution_addresses"]),
                )
            )
    return pl.concat(frames)


def paths_of(trace: ThreadTrace) -> pl.DataFrame:
    """One row per distinct path: `kernel`, `wave_count`, `rows` (a list)."""
    distinct = _distinct_paths(trace)
    chosen = trace.instructions.lazy().select("wave", "row").filter(pl.col("wave").is_in(distinct["wave"].implode()))
    lists = chosen.group_by("wave", maintain_order=True).agg(rows=pl.col("row")).collect()
    return distinct.join(lists, on="wave", maintain_order="left").select("kernel", "wave_count", "rows")


@once_per_trace
def _distinct_paths(trace: ThreadTrace) -> pl.DataFrame:
    """`kernel`, `wave` (the first) and `wave_count` of each path, without its rows: they may be all instructions."""
    rows, length = pl.col("row"), pl.col("row").list.len()
    lists = (piece.group_by("wave", maintain_order=True).agg(rows) for piece in pieces_of_waves(trace, "wave", "row"))
    signatures = pl.concat([each.select("wave", one=rows.hash(1), other=rows.hash(2), count=length) for each in lists])
    waves = trace.waves.select("wave", "kernel").join(signatures, on="wave", maintain_order="left")
    distinct = waves.group_by("kernel", "one", "other", "count", maintain_order=True)
    return distinct.agg(pl.col("wave").first(), wave_count=pl.len()).select("kernel", "wave", "wave_count")


def start_of(trace: ThreadTrace, target: str, options: LaneOptions, kernel: int | None, lanes: int) -> StartState:
    """Start of the waves of a kernel, as far as the capture and the options tell."""
    compiled = None if kernel is None else trace.compiled_kernel(kernel)
    size = dispatch_size(trace, options, kernel)
    if compiled is None:
        arguments = ArgumentValues()
    else:
        arguments = argument_values(compiled, size, given=options.arguments, recorded=options.recorded_arguments)
        if size.workgroup_size is None and compiled.workgroup_size_required:
            size = size._replace(workgroup_size=compiled.workgroup_size_required)
    limit = None if size.workgroup_size else _waves_of_workgroup(trace, kernel, lanes)
    return start_state(compiled, target, size, arguments, lanes, limit)


def dispatch_size(trace: ThreadTrace, options: LaneOptions, kernel: int | None) -> DispatchSize:
    """Size of the dispatch: given, else as the trace or the run beside it recorded it."""
    group, grid = options.workgroup_size, options.grid_size
    sizes = [f"workgroup_size_{axis}" for axis in "xyz"]
    recorded = trace.dispatches.filter(pl.col("kernel").eq_missing(pl.lit(kernel, pl.UInt32))).select(sizes).unique()
    if group is None and recorded.height == 1 and 0 not in recorded.row(0) and None not in recorded.row(0):
        group = recorded.row(0)
    launch = trace.launch
    if launch is not None and launch.workgroup_size is not None:
        group = group or launch.workgroup_size
        grid = grid or launch.grid_size
    size = DispatchSize(group, grid)
    size.check()
    return size


def _waves_of_workgroup(trace: ThreadTrace, kernel: int | None, lanes: int) -> int | None:
    """Waves of a workgroup: as recorded, or where all workgroups that passed barriers had the same number of them."""
    recorded = trace.kernels.filter(pl.col("kernel").eq_missing(pl.lit(kernel, pl.UInt32)))["workgroup_size"].to_list()
    if recorded and recorded[0]:
        return -(-int(recorded[0]) // lanes)
    waves = trace.waves.filter(pl.col("kernel").eq_missing(pl.lit(kernel, pl.UInt32)))["wave"]
    met = passages(trace).filter(pl.col("wave").is_in(waves.implode()))
    counts = met.group_by("workgroup").agg(pl.col("wave").n_unique())["wave"].unique().to_list()
    return int(counts[0]) if len(counts) == 1 else None


def _evaluate_kernel(
    evaluator: _core.LaneEvaluator,
    kernel: int | None,
    paths: pl.DataFrame,
    start: StartState,
    budget: int,
    trace: ThreadTrace,
) -> tuple[EvaluatedKernel, int]:
    rows, reasons, patterns = [], [], []
    spent = branches = checked = 0
    contradictions: list[int] = []
    misfits: list[int] = []
    entries = _entry_rows(trace, kernel)
    for waves, path in paths.select("wave_count", "rows").iter_rows():
        series, step_count = pl.Series(path, dtype=pl.Int32), len(path) * start.wave_count
        refusal, fitting = None, []
        if path[0] not in entries:
            refusal = (NOT_FROM_START, path[0])
        elif spent + step_count > budget:
            refusal = (NOT_REACHED, 0)
        else:
            results = [evaluator.run(start.wave, place, series, _MOST_PATTERNS) for place in range(start.wave_count)]
            spent += step_count
            fitting = [result for result in results if result["contradiction_row"] < 0]
            if not fitting:
                refusal = (CONTRADICTION, results[0]["contradiction_row"])
                contradictions.append(results[0]["contradiction_row"])
        if refusal:
            rows.append(_not_evaluated(trace, series, waves))
            reasons.append(_one_reason(trace, rows[-1], *refusal))
            continue
        misfits += [fitting[0]["misfit_row"]] if fitting[0]["misfit_row"] >= 0 else []
        branches += fitting[0]["branch_count"]
        checked += fitting[0]["checked_branch_count"]
        frames = [pl.DataFrame(result["rows"]) for result in fitting]
        sums, differing = _combined(frames, waves, is_sized=start.is_sized)
        sums = sums.with_columns(trace.code["row"])
        rows.append(sums)
        count = pl.col("count").cast(pl.Float64) * waves / len(fitting)
        keys = list(_REASONS)[:-1]
        reasons += [pl.DataFrame(result["reasons"]).select(*keys, count) for result in fitting]
        if differing.height:
            by_place = sums.filter(pl.col("row").is_in(differing["row"].implode()) & (pl.col("known_count") > 0))
            reasons.append(_reason_frame(by_place, BY_PLACE, 0, is_cost=True))
        for result in fitting:
            table = pl.DataFrame(result["patterns"])
            scaled = pl.col("count") * waves / len(fitting)
            patterns.append(table.with_columns(scaled, address=_lists(result["addresses"])))
    totals = _added(rows, trace)
    evaluated = EvaluatedKernel(
        kernel,
        totals,
        _balanced(_added_reasons(reasons), totals),
        _added_patterns(patterns),
        start,
        wave_count=int(paths["wave_count"].sum()),
        path_count=paths.height,
        branch_count=branches,
        checked_branch_count=checked,
        contradictions=tuple(sorted(set(contradictions))),
        misfits=tuple(sorted(set(misfits))),
    )
    return evaluated, spent


def _entry_rows(trace: ThreadTrace, kernel: int | None) -> frozenset[int]:
    """Rows at which traces of a kernel can start: its entry, and what follows rows that a trace may not show."""
    own_rows = trace.kernels.filter(pl.col("kernel").eq_missing(pl.lit(kernel, pl.UInt32)))
    place = own_rows.select("code_object", "address").rows()
    if not place or None in place[0]:  # nothing tells the entry: the first row of a function can be one
        first = trace.code.group_by("code_object", "function", maintain_order=True).agg(pl.col("row").first())
        return frozenset(first["row"].to_list())
    code_object, address = place[0]
    code = trace.code.filter(pl.col("code_object") == code_object, pl.col("address") >= address).sort("address")
    rows: set[int] = set()
    for start in (address, address + _PRELOAD_BYTES):
        for row, at, writes, access in code.select("row", "address", "writes", "access").iter_rows():
            if at < start:
                continue
            if at == start or rows:
                rows.add(row)
            if writes or access or at > start + _PRELOAD_BYTES or not rows:
                break
    return frozenset(rows)


def _combined(frames: list[pl.DataFrame], waves: int, *, is_sized: bool) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Sums of `waves` waves that are each at one of these places, and the rows whose cost depends on which.

    Waves of whole workgroups are at every place equally often; where the workgroup size is not certain, or the waves
    are no whole workgroups, costs that differ between places are not known.
    """
    by_row = pl.concat([frame.with_row_index("row") for frame in frames]).group_by("row", maintain_order=True)
    assumptions = pl.col("assumptions").bitwise_or()
    if is_sized and waves % len(frames) == 0:
        sums = by_row.agg(pl.col(_SUMS).cast(pl.Int64).sum() * waves // len(frames), assumptions)
        return sums.drop("row"), sums.select("row").clear()
    differs = pl.any_horizontal(pl.col(name).min() != pl.col(name).max() for name in _COSTS)
    lowest = by_row.agg(pl.col(_SUMS).min().cast(pl.Int64) * waves, assumptions, differs=differs)
    sums = lowest.with_columns(pl.when("differs").then(0).otherwise(pl.col(name)).alias(name) for name in _COSTS)
    return sums.drop("row", "differs"), lowest.filter("differs").select("row")


def _not_evaluated(trace: ThreadTrace, path: pl.Series, waves: int) -> pl.DataFrame:
    """The sums of waves whose path is not evaluated: their executions, and nothing known of them."""
    counts = path.to_frame("row").group_by("row").agg(execution_count=pl.len().cast(pl.Int64) * waves)
    rows = trace.code.select("row").join(counts, on="row", how="left", maintain_order="left")
    unknown = {name: pl.lit(0, pl.Int64) for name in _SUMS if name != "execution_count"}
    return rows.with_columns(pl.col("execution_count").fill_null(0), assumptions=pl.lit(0, pl.UInt8), **unknown)


def _reason_frame(rows: pl.DataFrame, kind: int, detail: int, *, is_cost: bool) -> pl.DataFrame:
    """The same reason for all executions of some rows."""
    reason = {"kind": kind, "detail": detail, "base_kind": 0, "base_detail": 0, "is_cost": int(is_cost)}
    numbers = {name: pl.lit(number) for name, number in reason.items()}
    return rows.select("row", **numbers, count="execution_count").cast(_REASONS)


def _one_reason(trace: ThreadTrace, rows: pl.DataFrame, kind: int, detail: int) -> pl.DataFrame:
    """The same reason for all executed accesses of memory."""
    touching = accesses(trace.code).filter(pl.col("space") != "scalar")["row"]
    executed = rows.filter((pl.col("execution_count") > 0) & pl.col("row").is_in(touching.implode()))
    return _reason_frame(executed, kind, detail, is_cost=False)


def _lists(table: _core.Table) -> pl.Series:
    """Addresses of 64 lanes each as lists."""
    return pl.DataFrame(table)["address"].reshape((-1, 64)).cast(pl.List(pl.Int64))


def _added(frames: list[pl.DataFrame], trace: ThreadTrace) -> pl.DataFrame:
    sums = pl.concat([frame.select("row", *_SUMS, "assumptions") for frame in frames])
    added = sums.group_by("row", maintain_order=True).agg(pl.col(_SUMS).sum(), pl.col("assumptions").bitwise_or())
    return trace.code.select("row").join(added, on="row", maintain_order="left")


def _added_reasons(frames: list[pl.DataFrame]) -> pl.DataFrame:
    by_reason = pl.concat([pl.DataFrame(schema=_REASONS), *frames]).group_by(list(_REASONS)[:-1], maintain_order=True)
    added = by_reason.agg(pl.col("count").sum().round().cast(pl.Int64))
    return added.sort("row", "count", descending=[False, True])


def _balanced(reasons: pl.DataFrame, totals: pl.DataFrame) -> pl.DataFrame:
    """Reasons whose executions add up: what differs between places in the workgroup goes to the most frequent one."""
    unknown = totals.select("row", unknown=pl.col("execution_count") - pl.col("known_count"))
    joined = reasons.join(unknown, on="row", how="left", maintain_order="left")
    is_address = pl.col("is_cost") == 0
    is_first = is_address & (pl.int_range(pl.len()).over("row", "is_cost") == 0)
    rest = pl.col("unknown") - pl.col("count").filter(is_address).sum().over("row")
    balanced = joined.with_columns(pl.when(is_first).then(pl.col("count") + rest).otherwise("count").alias("count"))
    return balanced.drop("unknown").filter(pl.col("count") > 0)


def _added_patterns(frames: list[pl.DataFrame]) -> pl.DataFrame:
    keys = [name for name in _PATTERNS if name != "count"]
    by_pattern = pl.concat([pl.DataFrame(schema=_PATTERNS), *frames]).group_by(keys, maintain_order=True)
    added = by_pattern.agg(pl.col("count").sum().round().cast(pl.Int64))
    return added.select(list(_PATTERNS)).sort("row", "place", "count", descending=[False, False, True])
