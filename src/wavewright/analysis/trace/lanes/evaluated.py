"""Addresses that the lanes of the traced waves used, and their costs, path by path.

The native core (cpp/include/wavewright/evaluate.hpp) evaluates one path of a wave from its start (`start`), at one
place of its workgroup. Waves on the same path execute the same, so every distinct path is evaluated once for each
place, and the results are added up for the waves that took it: `evaluate` gives sums, reasons and patterns by code row,
kernel by kernel, `executions` every single execution. docs/explanation/lane-addresses.md explains what stays unknown.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final, NamedTuple

import polars as pl

from wavewright import _core
from wavewright.analysis.code.control_flow import branch_targets
from wavewright.analysis.trace.barriers import passages
from wavewright.analysis.trace.code.accesses import accesses, lanes_per_wave
from wavewright.analysis.trace.lanes.reasons import BY_PLACE, CONTRADICTION, NOT_FROM_START, NOT_REACHED, reason_text
from wavewright.analysis.trace.lanes.start import StartState, start_state
from wavewright.analysis.trace.parts import pieces_of_waves
from wavewright.codeobj.kernel_arguments import ArgumentValues, DispatchSize, argument_values
from wavewright.codeobj.operands import columns_for
from wavewright.facts.lanes import LaneRules, LdsAccess, Refusal, lane_rules, lds_access
from wavewright.model.answer import once_per_trace
from wavewright.model.schema import packaged_spec
from wavewright.model.trace import ThreadTrace

# cpp/include/wavewright/evaluate.hpp: Space and Direction.
_NO_SPACE, _LDS, _GLOBAL, _BUFFER, _OTHER = range(5)
_DIRECTIONS: Final = {"load": 0, "store": 1, "atomic": 2, "load to LDS": 3}
_WIDEST_BYTES: Final = 255  #: The core takes the bytes of a lane's access as one byte.
_LANES: Final = 64  # addresses of an execution, as the evaluator returns them
_MOST_PATTERNS: Final = 64  #: Different patterns of a row that the core keeps.
_MOST_INSTRUCTIONS: Final = 40_000_000  #: Instructions that are evaluated; further waves stay unknown (`NOT_REACHED`).
#: Sums that say what an access costs; `_combined` drops those that differ between places in the workgroup.
_COSTS: Final = ("cost_known_count", "ideal_cycle_total", "extra_cycle_total", "segment_total", "least_segment_total")
_COUNTS: Final = ("execution_count", "mask_known_count", "active_lane_total", "known_count")
_SUMS: Final = (*_COUNTS, *_COSTS, "requested_byte_total")
_REASONS: Final = packaged_spec(__package__, "lane_reasons").dtypes
_PATTERNS: Final = packaged_spec(__package__, "lane_patterns").dtypes | {"address": pl.List(pl.Int64)}
_ROW_RULES: Final = packaged_spec(__package__, "row_rules").dtypes
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

    rows: pl.DataFrame  #: `row`, the sums and `assumptions` (bits).
    reasons: pl.DataFrame  #: Columns `lane_reasons` of tables.toml, the count as an integer.
    patterns: pl.DataFrame  #: Columns `lane_patterns` of tables.toml, the count as an integer.
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
    lds_rules: list[tuple[int, list[int]]]  #: Banks, and the lanes of each phase as bits.
    accesses: pl.DataFrame  #: As `accesses`, with `confidence` and `refusal` of the rule.


def lanes_of_waves(trace: ThreadTrace) -> int:
    """Lanes of a wave; 32 on RDNA where nothing tells."""
    return lanes_per_wave(trace) or 32


class _CostRule(NamedTuple):
    """The rule for the cost of an access, or why there is none."""

    width_bytes: int  #: Of one address of one lane.
    lds_rule: int = -1  #: Place in `RowRules.lds_rules`; -1 = none.
    has_segments: int = 0  #: 1 = the rule of segments is for it.
    confidence: str | None = None
    refusal: str | None = None


def row_rules(trace: ThreadTrace, target: str, rules: LaneRules, lanes: int) -> RowRules:
    """Spaces, widths and rules of all rows of the code."""
    touching = accesses(trace.code).filter(pl.col("space") != "scalar")
    coalescing = rules.coalescing_rule(target)
    numbers: dict[tuple[int, tuple[int, ...]], int] = {}  #: Banks and phases of a rule of LDS -> its place.

    def lds_rule_of(mnemonic: str, width_bytes: int) -> _CostRule:
        access = lds_access(mnemonic)
        if not isinstance(access, LdsAccess):
            return _CostRule(width_bytes, refusal=access.reason)
        rule = rules.lds_rule(target, access.operation, access.width_bytes, wave_size=lanes)
        if isinstance(rule, Refusal):
            return _CostRule(access.width_bytes, refusal=rule.reason)
        place = numbers.setdefault((rule.banks, rule.phases), len(numbers))
        return _CostRule(access.width_bytes, lds_rule=place, confidence=rule.confidence)

    def memory_rule_of(space: str, direction: str, width_bytes: int) -> _CostRule:
        if space == "flat":
            return _CostRule(width_bytes, refusal="a flat access may go to LDS")
        if isinstance(coalescing, Refusal):
            return _CostRule(width_bytes, refusal=coalescing.reason)
        if direction in ("load", "store"):
            return _CostRule(width_bytes, has_segments=1, confidence=coalescing.confidence)
        return _CostRule(width_bytes, refusal=f"no rule is known for {direction}s on {target}")

    described = []
    for row, space, direction, bytes_per_lane, mnemonic in touching.iter_rows():
        width = bytes_per_lane or 0
        rule = lds_rule_of(mnemonic, width) if space == "lds" else memory_rule_of(space, direction, width)
        space_number = _space_number(space, mnemonic) if 0 < rule.width_bytes <= _WIDEST_BYTES else _OTHER
        rule = rule._replace(width_bytes=min(rule.width_bytes, _WIDEST_BYTES))
        described.append((row, space_number, _DIRECTIONS[direction], *rule))
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


def _space_number(space: str, mnemonic: str) -> int:
    """The space of an access as the core numbers it, by its way of addressing; _OTHER is not evaluated."""
    if space == "memory":
        return _BUFFER if mnemonic.startswith("buffer") else _GLOBAL if mnemonic.startswith("global") else _OTHER
    return {"lds": _LDS, "flat": _GLOBAL}.get(space, _OTHER)


def evaluate(trace: ThreadTrace, target: str, options: LaneOptions, rules: RowRules) -> list[EvaluatedKernel]:
    """Evaluate the traced waves, kernel by kernel."""
    lanes = lanes_of_waves(trace)
    evaluator = path_evaluator(trace, target, options, rules, lanes)
    kernels = []
    steps_left = _MOST_INSTRUCTIONS
    for (kernel,), paths in paths_of(trace).group_by("kernel", maintain_order=True):
        sums = _KernelSums(trace, start_of(trace, target, options, kernel, lanes))
        steps_left -= sums.add_paths(evaluator, paths, _entry_rows(trace, kernel), steps_left)
        kernels.append(sums.evaluated(paths))
    return kernels


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

    Columns: `instruction` (index in `instructions`), `place_in_workgroup`, `place` (which of the addresses of the
    instruction, of those with two), `is_known`, `reason`, `active` (a bit for each lane), `has_base` (whether addresses
    are relative to an unknown base) and `address` (a list, one for each lane).
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
                reason_text(kind, detail, texts, start.arguments) if not is_known else None
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
    hashed = (paths.select("wave", one=rows.hash(1), other=rows.hash(2), count=length) for paths in lists)
    waves = trace.waves.select("wave", "kernel").join(pl.concat(hashed), on="wave", maintain_order="left")
    # Two hashes and the length are taken for the path itself.
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
    own_passages = passages(trace).filter(pl.col("wave").is_in(waves.implode()))
    counts = own_passages.group_by("workgroup").agg(pl.col("wave").n_unique())["wave"].unique().to_list()
    return int(counts[0]) if len(counts) == 1 else None


class _KernelSums:
    """Results of the paths of one kernel, added up for the waves that took them."""

    def __init__(self, trace: ThreadTrace, start: StartState) -> None:
        self.trace, self.start = trace, start
        self.rows: list[pl.DataFrame] = []
        self.reasons: list[pl.DataFrame] = []
        self.patterns: list[pl.DataFrame] = []
        self.branch_count = self.checked_branch_count = 0
        self.contradictions: set[int] = set()
        self.misfits: set[int] = set()

    def add_paths(
        self, evaluator: _core.LaneEvaluator, paths: pl.DataFrame, entry_rows: frozenset[int], most_steps: int
    ) -> int:
        """Evaluate the paths at all places of a workgroup, at most `most_steps` instructions; how many it were."""
        total = 0
        for wave_count, rows in paths.select("wave_count", "rows").iter_rows():
            path, step_count = pl.Series(rows, dtype=pl.Int32), len(rows) * self.start.wave_count
            if rows[0] not in entry_rows:
                self._leave_out(path, wave_count, NOT_FROM_START, rows[0])
                continue
            if total + step_count > most_steps:
                self._leave_out(path, wave_count, NOT_REACHED, 0)
                continue
            total += step_count
            places = range(self.start.wave_count)
            results = [evaluator.run(self.start.wave, place, path, _MOST_PATTERNS) for place in places]
            # A place at which a branch goes another way is not the place of these waves.
            fitting = [result for result in results if result["contradiction_row"] < 0]
            if fitting:
                self._add(fitting, wave_count)
            else:
                self.contradictions.add(results[0]["contradiction_row"])
                self._leave_out(path, wave_count, CONTRADICTION, results[0]["contradiction_row"])
        return total

    def _leave_out(self, path: pl.Series, wave_count: int, kind: int, detail: int) -> None:
        """Count the executions of waves whose path is not evaluated; nothing is known of them, for one reason."""
        counts = path.to_frame("row").group_by("row").agg(execution_count=pl.len().cast(pl.Int64) * wave_count)
        of_code = self.trace.code.select("row").join(counts, on="row", how="left", maintain_order="left")
        unknown = {name: pl.lit(0, pl.Int64) for name in _SUMS if name != "execution_count"}
        rows = of_code.with_columns(pl.col("execution_count").fill_null(0), assumptions=pl.lit(0, pl.UInt8), **unknown)
        self.rows.append(rows)
        touching = accesses(self.trace.code).filter(pl.col("space") != "scalar")["row"]
        executed = rows.filter((pl.col("execution_count") > 0) & pl.col("row").is_in(touching.implode()))
        self.reasons.append(_reason_frame(executed, kind, detail, is_cost=False))

    def _add(self, fitting: list[_core.LaneEvaluation], wave_count: int) -> None:
        """Add the results at the places where waves of a path can be, each for its share of these waves."""
        misfit_row = fitting[0]["misfit_row"]
        self.misfits |= {misfit_row} if misfit_row >= 0 else set()
        self.branch_count += fitting[0]["branch_count"]
        self.checked_branch_count += fitting[0]["checked_branch_count"]
        frames = [pl.DataFrame(result["rows"]) for result in fitting]
        sums, differing = _combined(frames, wave_count, is_sized=self.start.is_sized)
        sums = sums.with_columns(self.trace.code["row"])
        self.rows.append(sums)
        scaled_count = pl.col("count").cast(pl.Float64) * wave_count / len(fitting)
        self.reasons += [
            pl.DataFrame(result["reasons"]).select(*list(_REASONS)[:-1], scaled_count) for result in fitting
        ]
        if differing.height:
            by_place = sums.filter(pl.col("row").is_in(differing["row"].implode()) & (pl.col("known_count") > 0))
            self.reasons.append(_reason_frame(by_place, BY_PLACE, 0, is_cost=True))
        self.patterns += [
            pl.DataFrame(result["patterns"]).with_columns(scaled_count, address=_lists(result["addresses"]))
            for result in fitting
        ]

    def evaluated(self, paths: pl.DataFrame) -> EvaluatedKernel:
        """Everything that was added."""
        totals = _added(self.rows, self.trace)
        return EvaluatedKernel(
            rows=totals,
            reasons=_balanced(
                _added_counts(self.reasons, _REASONS).sort("row", "count", descending=[False, True]), totals
            ),
            patterns=_added_counts(self.patterns, _PATTERNS).sort(
                "row", "place", "count", descending=[False, False, True]
            ),
            start=self.start,
            wave_count=int(paths["wave_count"].sum()),
            path_count=paths.height,
            branch_count=self.branch_count,
            checked_branch_count=self.checked_branch_count,
            contradictions=tuple(sorted(self.contradictions)),
            misfits=tuple(sorted(self.misfits)),
        )


def _entry_rows(trace: ThreadTrace, kernel: int | None) -> frozenset[int]:
    """Rows at which traces of a kernel can start: its entry, and what follows rows that a trace may not show.

    A trace may start behind instructions that write no register and touch no memory. A kernel that has arguments
    preloaded has a second entry behind the code that would load them.
    """
    own_rows = trace.kernels.filter(pl.col("kernel").eq_missing(pl.lit(kernel, pl.UInt32)))
    place = own_rows.select("code_object", "address").rows()
    if not place or None in place[0]:  # nothing tells the entry: the first row of a function can be one
        first = trace.code.group_by("code_object", "function", maintain_order=True).agg(pl.col("row").first())
        return frozenset(first["row"].to_list())
    code_object, address = place[0]
    code = trace.code.filter(pl.col("code_object") == code_object, pl.col("address") >= address).sort("address")
    rows: set[int] = set()
    for start in (address, address + _PRELOAD_BYTES):
        for row, row_address, writes, access in code.select("row", "address", "writes", "access").iter_rows():
            if row_address < start:
                continue
            if row_address == start or rows:
                rows.add(row)
            if writes or access or row_address > start + _PRELOAD_BYTES or not rows:
                break
    return frozenset(rows)


def _combined(frames: list[pl.DataFrame], wave_count: int, *, is_sized: bool) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Sums of waves that are each at one of these places (a frame for each), and the rows whose cost depends on which.

    Waves of whole workgroups are at every place equally often; where the workgroup size is not certain, or the waves
    are no whole workgroups, costs that differ between places are not known.
    """
    by_row = pl.concat([frame.with_row_index("row") for frame in frames]).group_by("row", maintain_order=True)
    assumptions = pl.col("assumptions").bitwise_or()
    if is_sized and wave_count % len(frames) == 0:
        sums = by_row.agg(pl.col(_SUMS).cast(pl.Int64).sum() * wave_count // len(frames), assumptions)
        return sums.drop("row"), sums.select("row").clear()
    differs = pl.any_horizontal(pl.col(name).min() != pl.col(name).max() for name in _COSTS)
    lowest = by_row.agg(pl.col(_SUMS).min().cast(pl.Int64) * wave_count, assumptions, differs=differs)
    sums = lowest.with_columns(pl.when("differs").then(0).otherwise(pl.col(name)).alias(name) for name in _COSTS)
    return sums.drop("row", "differs"), lowest.filter("differs").select("row")


def _reason_frame(rows: pl.DataFrame, kind: int, detail: int, *, is_cost: bool) -> pl.DataFrame:
    """The same reason for all executions of some rows."""
    reason = {"kind": kind, "detail": detail, "base_kind": 0, "base_detail": 0, "is_cost": int(is_cost)}
    numbers = {name: pl.lit(number) for name, number in reason.items()}
    return rows.select("row", **numbers, count="execution_count").cast(_REASONS)  # type: ignore[arg-type]


def _lists(table: _core.Table) -> pl.Series:
    """The addresses of a table of the core as one list per execution, of 64 lanes."""
    return pl.DataFrame(table)["address"].reshape((-1, _LANES)).cast(pl.List(pl.Int64))


def _added(frames: list[pl.DataFrame], trace: ThreadTrace) -> pl.DataFrame:
    sums = pl.concat([frame.select("row", *_SUMS, "assumptions") for frame in frames])
    added = sums.group_by("row", maintain_order=True).agg(pl.col(_SUMS).sum(), pl.col("assumptions").bitwise_or())
    return trace.code.select("row").join(added, on="row", maintain_order="left")


def _added_counts(frames: list[pl.DataFrame], schema: Mapping[str, pl.DataType]) -> pl.DataFrame:
    """Rows that are equal but for their `count` as one, with the sum of the counts as an integer."""
    keys = [name for name in schema if name != "count"]
    equal_rows = pl.concat([pl.DataFrame(schema=schema), *frames]).group_by(keys, maintain_order=True)
    return equal_rows.agg(pl.col("count").sum().round().cast(pl.Int64)).select(list(schema))


def _balanced(reasons: pl.DataFrame, totals: pl.DataFrame) -> pl.DataFrame:
    """Reasons whose executions add up: what differs between places in the workgroup goes to the most frequent one."""
    unknown = totals.select("row", unknown=pl.col("execution_count") - pl.col("known_count"))
    joined = reasons.join(unknown, on="row", how="left", maintain_order="left")
    is_address = pl.col("is_cost") == 0
    is_first = is_address & (pl.int_range(pl.len()).over("row", "is_cost") == 0)
    rest = pl.col("unknown") - pl.col("count").filter(is_address).sum().over("row")
    balanced = joined.with_columns(pl.when(is_first).then(pl.col("count") + rest).otherwise("count").alias("count"))
    return balanced.drop("unknown").filter(pl.col("count") > 0)
