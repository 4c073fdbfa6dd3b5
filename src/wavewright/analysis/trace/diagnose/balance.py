"""The balance sheet of counters with a thread trace: work of its whole waves, by instructions and lane addresses."""

from __future__ import annotations

import math
import re
from dataclasses import replace
from typing import Any

import polars as pl

from wavewright.analysis.common.caveats import Caveat
from wavewright.analysis.counters.choice import CounterChoice, chosen_dispatches, ranked_kernels
from wavewright.analysis.counters.closure import Closure, TracedWork, closure
from wavewright.analysis.trace.fabric import TrafficOptions, fabric_traffic
from wavewright.analysis.trace.lanes import lane_accesses
from wavewright.analysis.trace.lanes.evaluated import LaneOptions
from wavewright.errors import UsageError, WavewrightError
from wavewright.model.counters import CounterSet
from wavewright.model.executions import is_execution
from wavewright.model.trace import ThreadTrace

_BY_COUNTERS = "counter-proven"  #: Highest confidence in a rule of lane addresses: counters agreed with it.
#: Endings that tools append to names of kernels.
_SUFFIXES = re.compile(r"(\s*(\[clone [^\]]*\]|\(\.kd\))|\.kd)+$")
#: Space -> cost -> columns of `LaneAccesses.rows` that add up to it.
_COSTS: dict[str, dict[str, tuple[str, ...]]] = {
    "lds": {"lds_cycles": ("ideal_cycles_total", "extra_cycles_total"), "lds_extra_cycles": ("extra_cycles_total",)},
    "memory": {"segments": ("segment_count_total",)},
}


def balance(
    counters: CounterSet,
    trace: ThreadTrace | None = None,
    *,
    kernel: str | None = None,
    lanes: LaneOptions | None = None,
) -> Closure:
    """The balance sheet of the kernel that was traced, or of all kernels; `kernel` picks one by name or rank.

    `lanes` are arguments of the kernel, which tell more addresses. Raises `UsageError` when the counters have no kernel
    that fits, or several.
    """
    if trace is None:
        return closure(counters, choice=CounterChoice(kernels=() if kernel is None else (kernel,)))
    candidates, _ = same_kernel(traced_kernel(trace), counters, kernel)
    if len(candidates) != 1:
        message = f"{len(candidates) or 'no'} kernels of the counters fit the traced one"
        raise UsageError(message, where=counters.path, advice="choose one with --kernel")
    work = replace(traced_work(trace, lanes), fabric=_fabric(trace, lanes))
    return closure(counters, choice=CounterChoice(kernels=(candidates[0],)), work=work)


def traced_work(trace: ThreadTrace, lanes: LaneOptions | None = None) -> TracedWork:
    """The work of the waves that were traced from their start to their end."""
    waves = trace.waves.filter(pl.col("complete").fill_null(value=True) & (pl.col("instruction_count") > 0))
    executions = _executions(trace, waves)
    counts = executions.group_by("wave").agg(pl.col("execution_count").sum())["execution_count"]
    kernel = trace.kernels.filter(pl.col("kernel").is_in(waves["kernel"].drop_nulls().unique().implode()))
    grid = trace.launch.grid_size if trace.launch else None
    sizes = kernel["wave_size"].drop_nulls().unique().to_list() if kernel.height else []
    return TracedWork(
        target=trace.source.target,
        wave_count=waves.height,
        wave_size=sizes[0] if len(sizes) == 1 else None,
        grid_size=math.prod(grid) if grid else None,
        executions=executions,
        lane_costs=_lane_costs(trace, lanes, waves.height),
        has_several_paths=counts.n_unique() > 1,
        has_branches=bool((executions["class"] == "branch_conditional").any()),
    )


def _fabric(trace: ThreadTrace, lanes: LaneOptions | None) -> dict[str, tuple[str, float, float]]:
    """Counters of L2 that follow from the lines of all workgroups: name -> what it counts, least and most."""
    try:
        answer = fabric_traffic(trace, TrafficOptions(lanes or LaneOptions()))
    except WavewrightError:
        return {}
    if answer.problem or answer.known_share < 1 or answer.confidence != _BY_COUNTERS:
        return {}
    least, most = (answer.mappings[name][0] for name in ("read_bytes", "most_bytes"))
    bounds = (least / answer.line_bytes, (least if most is None else most) / answer.line_bytes)
    counters = {"TCC_EA0_RDREQ": ("lines that XCDs read from the fabric", *bounds)}
    if (writes := answer.write_request_count) is not None:
        counters["TCC_WRITE"] = ("writes of L1 to L2", writes, writes)
    return counters


def _executions(trace: ThreadTrace, waves: pl.DataFrame) -> pl.DataFrame:
    """`wave`, `class` and `execution_count`, by wave and class."""
    is_inside = pl.col("wave").is_in(waves["wave"].implode())
    rows = trace.instructions.filter(is_execution() & is_inside).select("wave", "row")
    classes = rows.join(trace.code.select("row", "class"), on="row", how="left", maintain_order="left")
    by_class = classes.group_by("wave", pl.col("class").fill_null("unknown")).agg(execution_count=pl.len())
    return by_class.sort("wave", "class")


def _lane_costs(trace: ThreadTrace, lanes: LaneOptions | None, wave_count: int) -> dict[str, tuple[float, bool]]:
    """Cost -> its mean per wave, and whether the rule is proven; only where all accesses of its space are known."""
    try:
        answer = lane_accesses(trace, lanes)
    except WavewrightError:
        if lanes is not None:
            raise
        return {}
    if not answer.wave_count or answer.wave_count != wave_count:
        return {}
    is_other_space = pl.col("space").is_in(["flat", "scratch"]) | (pl.col("direction") == "load to LDS")
    if answer.rows.filter(is_other_space).height:
        return {}
    costs = {}
    for space, columns in _COSTS.items():
        rows = answer.rows.filter(pl.col("space") == space)
        if not (rows["cost_known_count"] == rows["execution_count"]).all():
            continue
        is_proven = bool((rows["confidence"] == _BY_COUNTERS).all())
        for name, totals in columns.items():
            costs[name] = (sum(float(rows[column].sum()) for column in totals) / answer.wave_count, is_proven)
    changes = answer.rows.filter((pl.col("space") == "memory") & pl.col("direction").is_in(["store", "atomic"]))
    lane_bytes = pl.col("execution_count") * pl.col("bytes_per_lane") * pl.col("active_lane_share")
    store_bytes = changes.select((lane_bytes * answer.lane_count).sum()).item() if changes.height else 0.0
    has_gaps = changes["active_lane_share"].null_count() or changes["bytes_per_lane"].null_count()
    if changes.height and not has_gaps and not (changes["direction"] == "atomic").any():
        costs["store_bytes"] = (store_bytes / answer.wave_count, False)
    return costs


def plain_names(name: str) -> tuple[str, str, str]:
    """A kernel's name without suffixes of tools; without arguments and return type; and without template arguments.

    >>> plain_names("void ns::gemm<float, 4>(float const*, int) [clone .kd]")
    ('voidns::gemm<float,4>(floatconst*,int)', 'ns::gemm<float,4>', 'ns::gemm')
    """
    plain = _SUFFIXES.sub("", name.strip())
    called = _last_word(_without_arguments(plain))
    return "".join(plain.split()), "".join(called.split()), "".join(_without_templates(called).split())


def traced_kernel(trace: ThreadTrace) -> dict[str, Any]:
    """The row of `kernels` that most waves of the trace ran."""
    kernels = trace.kernels
    if not kernels.height:
        return {}
    ran = trace.waves["kernel"].drop_nulls().value_counts(sort=True)["kernel"].head(1)
    most_run = kernels.filter(pl.col("kernel").is_in(ran.implode()))
    return (most_run if most_run.height else kernels).row(0, named=True)


def same_kernel(traced: dict[str, Any], counters: CounterSet, kernel: str | None) -> tuple[list[str], list[Caveat]]:
    """Kernels of the counters with the same name, as exactly as possible, and caveats where it is not exact."""
    measured = [name or "" for name in ranked_kernels(counters.dispatches)["kernel_name"].to_list()]
    if kernel is not None:
        picked = chosen_dispatches(counters, CounterChoice(kernels=(kernel,)))["kernel_name"].unique().to_list()
        measured = [name for name in measured if name in picked]
        if len(measured) == 1:
            return measured, _named_otherwise(traced, measured[0])
    traced_names = [plain_names(name) for name in (traced.get("name"), traced.get("demangled")) if name]
    for exactness in range(3):
        matches = [
            name for name in measured if any(plain_names(name)[exactness] == names[exactness] for names in traced_names)
        ]
        if matches:
            caveats = _named_otherwise(traced, matches[0]) if exactness == 2 and len(matches) == 1 else []
            return matches, caveats
    return [], []


def _named_otherwise(traced: dict[str, Any], name: str) -> list[Caveat]:
    labels = [label for label in (traced.get("demangled"), traced.get("name")) if label]
    traced_name = next(iter(labels), "a kernel without a name")
    if any(plain_names(name)[1] == plain_names(label)[1] for label in labels):
        return []
    what = f"the trace is of {brief_name(traced_name)}, the counters are of {brief_name(name)}"
    return [Caveat("other_kernel_name", "care", what, "the reasons hold only if both are the same code")]


def _without_arguments(text: str) -> str:
    """Without parentheses outside of template arguments, and what follows them."""
    characters, angles, depth = [], 0, 0
    for character in text.replace("operator()", "operator").replace("(anonymous namespace)", "anonymous"):
        if character in "()" and not angles:
            depth += 1 if character == "(" else -1
            continue
        if not depth:
            characters.append(character)
            angles += {"<": 1, ">": -1}.get(character, 0)
    return "".join(characters).strip().removesuffix(" const")


def _without_templates(text: str) -> str:
    characters, depth = [], 0
    for character in text:
        depth += character == "<"
        if not depth:
            characters.append(character)
        depth -= character == ">" and depth > 0
    return "".join(characters)


def _last_word(text: str) -> str:
    """Without a return type: what stands behind the last space outside of template arguments."""
    depth, start = 0, 0
    stripped = text.strip()
    for place, character in enumerate(stripped):
        if character == "<":
            depth += 1
        elif character == ">" and depth:
            depth -= 1
        elif character == " " and not depth:
            start = place + 1
    return stripped[start:]


def brief_name(name: str) -> str:
    """At most the first 60 characters of a name."""
    return name if len(name) <= 60 else f"{name[:59]}…"
