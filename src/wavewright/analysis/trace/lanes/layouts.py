"""The patterns that were evaluated, with their rules: the layouts of LDS that would take fewer cycles."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import numpy as np
import polars as pl
from numpy.typing import NDArray

from wavewright.analysis.trace.lanes import lane_patterns, target_of
from wavewright.analysis.trace.lanes.evaluated import LaneOptions, lanes_of_waves
from wavewright.analysis.trace.lanes.fixes import ArrayFixes, Layout, LdsAccessPatterns, find_fixes
from wavewright.errors import UsageError
from wavewright.facts.gpus.facts import of
from wavewright.facts.lanes import CoalescingRuleFact, LdsRuleFact, Refusal, lds_access
from wavewright.model.schema import packaged_spec
from wavewright.model.trace import ThreadTrace

_DWORD_BYTES: Final = 4
#: The evaluator keeps patterns up to multiples of this (cpp/src/evaluate/evaluate.cpp: keep_pattern).
PERIOD_BYTES: Final = 256

FIXES: Final = packaged_spec(__package__, "fixes")


def rule_of(
    space: str, text: str, target: str, options: LaneOptions, lanes: int
) -> LdsRuleFact | CoalescingRuleFact | Refusal:
    """The rule by which LDS or the L1 cache serves the lanes of an instruction, or why there is none."""
    if space != "lds":
        return options.rules.coalescing_rule(target)
    access = lds_access(text.split(maxsplit=1)[0])
    if isinstance(access, Refusal):
        return access
    return options.rules.lds_rule(target, access.operation, access.width_bytes, wave_size=lanes)


def lanes_by_bank(dwords: Mapping[int, int], rule: LdsRuleFact, step: int = 1) -> dict[int, dict[int, list[int]]]:
    """Bank -> dword -> lanes that use it, from the first dword of each lane; only every `step`-th dword counts."""
    by_bank: dict[int, dict[int, list[int]]] = {}
    for lane, first in dwords.items():
        for dword in range(first, first + rule.width_dwords, step):
            by_bank.setdefault(dword % rule.banks, {}).setdefault(dword, []).append(lane)
    return by_bank


def lds_patterns(
    trace: ThreadTrace, options: LaneOptions, rows: pl.DataFrame, patterns: pl.DataFrame
) -> list[LdsAccessPatterns]:
    """The known patterns of LDS accesses whose cost is known; `rows` are those of `LaneAccesses`."""
    target, lanes = target_of(trace, options), lanes_of_waves(trace)
    costed = rows.filter((pl.col("space") == "lds") & (pl.col("cost_known_count") > 0))
    texts = dict(costed.select("row", "text").iter_rows())
    counts = dict(costed.select("row", "known_count").iter_rows())
    accesses = []
    chosen = patterns.filter(pl.col("row").is_in(costed["row"].implode()))
    for (row, _), group in chosen.group_by("row", "place", maintain_order=True):
        rule = rule_of("lds", texts[row], target, options, lanes)
        if not isinstance(rule, LdsRuleFact):
            continue
        address = np.array(group["address"].to_list(), np.int64)[:, :lanes]
        # Every place of a wave in its workgroup was evaluated for all waves; together they are the executions.
        weight = counts[row] / max(1, int(group["count"].sum()))
        dwords = (_not_negative(address) // _DWORD_BYTES).astype(np.uint32)
        executions = np.rint(group["count"].to_numpy() * weight).astype(np.int64)
        accesses.append(LdsAccessPatterns(row, rule, dwords, group["active"].to_numpy().astype(np.uint64), executions))
    return accesses


def layout_fixes(
    trace: ThreadTrace, options: LaneOptions, accesses: list[LdsAccessPatterns]
) -> tuple[pl.DataFrame, list[ArrayFixes]]:
    """Layouts for all of LDS as a frame (`FIXES`), and as they were found."""
    kernels = [trace.compiled_kernel(number) for number in trace.waves["kernel"].drop_nulls().unique()]
    try:
        lds_bytes_max = of(target_of(trace, options)).lds_bytes_per_workgroup_max
    except UsageError:
        lds_bytes_max = None
    arrays = find_fixes(
        accesses,
        lds_bytes=max((kernel.lds_bytes or 0 for kernel in kernels if kernel is not None), default=0),
        lds_bytes_max=lds_bytes_max,
        period_dwords=PERIOD_BYTES // _DWORD_BYTES,
    )
    rows: list[tuple[object, ...]] = []
    for array in arrays:
        if array.extra_cycles and not array.fixes:
            rows.append((None, array.reason, array.extra_cycles, None, None))
        rows.extend(
            (fix.kind, fix.text, array.extra_cycles, fix.removed_cycles, fix.layout.added_share) for fix in array.fixes
        )
    return pl.DataFrame(rows, schema=FIXES.dtypes, orient="row"), arrays


def best_layout(row: int, accesses: list[LdsAccessPatterns], arrays: list[ArrayFixes]) -> tuple[Layout, str] | None:
    """The best layout for the array that a row uses, and what to change; None = there is none, or nothing to gain."""
    for array in arrays:
        if array.fixes and any(accesses[at].row == row for at in array.accesses):
            return array.fixes[0].layout, array.fixes[0].text
    return None


def known_patterns(trace: ThreadTrace, options: LaneOptions) -> pl.DataFrame:
    """As `lane_patterns`, cut to the lanes of a wave."""
    lanes = lanes_of_waves(trace)
    return lane_patterns(trace, options).with_columns(pl.col("address").list.head(lanes))


def _not_negative(address: NDArray[np.int64]) -> NDArray[np.int64]:
    """The same patterns, by whole periods higher, so that no address is below 0."""
    lowest = np.minimum(address.min(axis=1, keepdims=True), 0)
    lifted: NDArray[np.int64] = address - lowest // PERIOD_BYTES * PERIOD_BYTES
    return lifted
