"""Remedies: conditions over a code row and over the whole capture, for the texts of `facts/stall_classes.toml`.

A remedy that the code has already (wide accesses, loads at the start), or that the GPU cannot do, is not given. What is
not known fulfils no condition.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import polars as pl

from wavewright.analysis.trace.code.accesses import accesses
from wavewright.analysis.trace.costs.row_costs import row_costs
from wavewright.analysis.trace.diagnose.facts import RowView
from wavewright.analysis.trace.diagnose.finding import Remedy
from wavewright.analysis.trace.diagnose.gpu_fill import Filling, WorkgroupWork
from wavewright.analysis.trace.diagnose.row_code import NARROW_BYTES
from wavewright.analysis.trace.floors import Floors
from wavewright.base.toml import packaged
from wavewright.facts.stall_classes import remedy_clauses, stall_class, stall_remedies
from wavewright.model.trace import ThreadTrace

_WIDEST_BYTES = 16  #: The widest access of one lane.
_INSTRUCTION_CACHE_BYTES = 32 << 10  #: The smallest of the families (AMD's ISA documents, "Instruction cache").
#: Waves are uneven if one executes this share more instructions than the mean of its workgroup; less is a final store.
_UNEVEN_SHARE = 0.05
#: Arithmetic that has a packed form for two values (v_pk_add_f32, v_pk_fma_f16, ...).
_SINGLE_ARITHMETIC = re.compile(r"v_(add|mul|fma|fmac)_f(16|32)(_e\d+)?$")


@dataclass(frozen=True)
class CaptureFacts:
    """Executed code, lanes and waves of a capture; the defaults stand for what is not known."""

    mnemonics: frozenset[str] = frozenset()  #: Of executed instructions.
    lds_access_bytes: frozenset[int] = frozenset()  #: Per lane, of executed LDS accesses.
    memory_access_bytes: frozenset[int] = frozenset()
    scalar_load_bytes: frozenset[int] = frozenset()
    conflict_cycles: int | None = None  #: LDS cycles lost to bank conflicts.
    code_bytes: int = 0  #: From the first to the last executed instruction of a kernel.
    wave_instruction_excess: float | None = None  #: Within workgroups: most over mean of the waves, less 1.
    waves_per_simd_max: int = 0
    round_count: float = 1.0  #: Rounds of workgroups.
    gfxip: int = 0


def _has(pattern: str) -> Callable[[CaptureFacts], bool]:
    match = re.compile(pattern).match
    return lambda facts: any(match(mnemonic) for mnemonic in facts.mnemonics)


#: Conditions over the capture, by the name that `needs` of a clause of stall_classes.toml has for it.
CAPTURE_CONDITIONS: dict[str, Callable[[CaptureFacts], bool]] = {
    "bank_conflicts": lambda facts: bool(facts.conflict_cycles),
    "conflicts_not_known": lambda facts: facts.conflict_cycles is None and bool(facts.lds_access_bytes),
    "narrow_lds": lambda facts: any(size < _WIDEST_BYTES for size in facts.lds_access_bytes),
    "narrow_memory": lambda facts: any(size <= NARROW_BYTES for size in facts.memory_access_bytes),
    "narrow_scalar_loads": lambda facts: any(size < _WIDEST_BYTES for size in facts.scalar_load_bytes),
    "single_arithmetic": lambda facts: any(map(_SINGLE_ARITHMETIC.match, facts.mnemonics)) and not _has("v_pk_")(facts),
    "conversions": _has("v_cvt_"),
    "permutes": _has("ds_b?permute_"),
    "matrix": _has("v_(mfma|smfmac|wmma|swmmac)"),
    "returning_atomics": _has(r"\w+_rtn_|\w+_atomic\w*_ret"),
    "uneven_waves": lambda facts: (facts.wave_instruction_excess or 0.0) >= _UNEVEN_SHARE,
    "several_waves": lambda facts: facts.waves_per_simd_max > 1,
    "several_rounds": lambda facts: facts.round_count > 1,
    "large_code": lambda facts: facts.code_bytes > _INSTRUCTION_CACHE_BYTES,
    "one_memory_counter": lambda facts: facts.gfxip == 9,
}


def capture_facts(
    trace: ThreadTrace, floors: Floors | None, residency: Filling, work: WorkgroupWork | None, waves_per_simd_max: int
) -> CaptureFacts:
    """Facts of a trace, once for all findings; `work` of its workgroups, None where nobody asks for it."""
    rows = row_costs(trace).filter(pl.col("hit_count") > 0).select("row")
    code = trace.code.join(rows, on="row").with_columns(pl.col("text").fill_null(""))
    moves = accesses(code).drop_nulls("bytes_per_lane")

    def sizes(*spaces: str) -> frozenset[int]:
        return frozenset(moves.filter(pl.col("space").is_in(spaces))["bytes_per_lane"].to_list())

    extent = pl.col("address").max() - pl.col("address").min()
    spans = code.group_by("code_object", "function").agg(span=extent)["span"].drop_nulls()
    return CaptureFacts(
        mnemonics=frozenset(code["text"].str.split(" ").list.first().to_list()),
        lds_access_bytes=sizes("lds"),
        memory_access_bytes=sizes("memory", "flat"),
        scalar_load_bytes=sizes("scalar"),
        conflict_cycles=_conflict_cycles(floors),
        code_bytes=max(spans.to_list(), default=0),
        wave_instruction_excess=work.wave_excess if work else None,
        waves_per_simd_max=waves_per_simd_max,
        round_count=residency.round_count,
        gfxip=trace.gfxip,
    )


def general_remedy(name: str, text: str, facts: CaptureFacts) -> str:
    """Remedy of a stall class, a gap or a finding of that name: what always fits, and the clauses whose needs hold."""
    clauses = [clause.text for clause in remedy_clauses(name) if CAPTURE_CONDITIONS[clause.needs](facts)]
    return "; ".join(part for part in (text, *clauses) if part)


def _conflict_cycles(floors: Floors | None) -> int | None:
    """Cycles that LDS loses; None where the lanes of an access are not known, and none is lost at those that are."""
    if floors is None or not (lds := floors.pipes.filter(pipe="LDS")).height:
        return None
    conflict_cycles = int(floors.changes.filter(pipe="LDS")["saved_cycles_total"].sum())
    return conflict_cycles or (0 if lds["counted_count"][0] == lds["execution_count"][0] else None)


NOTHING = CaptureFacts()  #: Nothing is known of the capture.
_NEAR_INSTRUCTIONS = 24  #: A producer this close to its wait leaves no room to hide a memory latency.
_MORE_WAVES: str = packaged("texts.toml", __package__)["more_waves"]


def _drains_young_and_old(view: RowView) -> bool:
    """A wait for everything, although its youngest producer was issued much later than the oldest."""
    if "cnt(0)" not in view.text and " 0x0" not in view.text:
        return False
    distances = [producer.distance_cycles_mean for producer in view.producers]
    return len(distances) > 1 and max(distances) - min(distances) > view.stall_cycles_mean > 0


def _narrow_beside_wide(view: RowView) -> bool:
    loads = [producer for producer in view.producers if "load" in producer.text.split(" ", 1)[0]]
    return bool(loads) and all(load.is_narrow_load for load in loads) and view.loop_has_wide_loads


def _near(view: RowView) -> bool:
    return any(producer.distance_instructions_mean < _NEAR_INSTRUCTIONS for producer in view.producers)


def _is_prefetched(view: RowView) -> bool:
    """True if everything that it waits for stands after it in its loop: it was issued in the iteration before."""
    return bool(view.producers) and all(producer.row > view.row for producer in view.producers)


#: Conditions over a code row, by the name that `fits` of a remedy in stall_classes.toml has for it.
CONDITIONS: dict[str, Callable[[RowView], bool]] = {
    "always": lambda view: True,
    "in_loop": lambda view: view.in_loop,
    "in_loop_and_near": lambda view: view.in_loop and _near(view),
    "narrow_and_near": lambda view: _narrow_beside_wide(view) and _near(view),
    "drains_young_and_old": _drains_young_and_old,
    "between_matrix": lambda view: view.loop_has_matrix and view.matrix_between > 0 and _near(view),
    "prefetched": lambda view: view.in_loop and _is_prefetched(view),
    "unrolled": lambda view: view.code.is_unrolled,
    "first": lambda view: view.code.is_first,
    "narrow": lambda view: 0 < max(view.code.access_bytes, default=0) <= NARROW_BYTES,
    "accesses": lambda view: bool(view.code.access_bytes),
    "preloadable": lambda view: view.code.can_preload,
    "after_matrix": lambda view: "matrix" in view.code.hazard,
    "after_comparison": lambda view: view.code.hazard.startswith("v_cmp"),
    "before_other_lanes": lambda view: "other lanes" in view.code.hazard,
    "after_m0": lambda view: "M0" in view.code.hazard,
}
#: Group of remedies -> whether it is for a row, and whether more waves per SIMD would hide the stall, too.
GROUPS: dict[str, tuple[Callable[[RowView], bool], bool]] = {
    "loads": (lambda view: re.search("vector load|load to LDS|flat load", view.stall_class) is not None, True),
    "pressure": (lambda view: view.stall_class in ("VMEM issue", "FLAT issue"), False),
    "lds": (lambda view: "LDS" in view.stall_class and view.stall_class.startswith("wait"), True),
    "scalar": (lambda view: view.stall_class == "wait scalar load", False),
    "padding": (lambda view: view.stall_class == "s_nop", False),
}


def remedies_for(views: Sequence[RowView], capture: CaptureFacts = NOTHING) -> tuple[Remedy, ...]:
    """Remedies for the rows of one stall class, the one about most exposed cycles first.

    Rows that no pattern fits get the general remedy of their class.
    """
    groups: dict[tuple[str, str], list[RowView]] = {}
    for view in views:
        groups.setdefault(_remedy_of(view, capture), []).append(view)
    remedies = [
        Remedy(name, text, tuple(view.row for view in group), sum(view.exposed_cycles_total for view in group))
        for (name, text), group in groups.items()
        if text
    ]
    return tuple(sorted(remedies, key=lambda remedy: -remedy.exposed_cycles_total))


def _remedy_of(view: RowView, capture: CaptureFacts) -> tuple[str, str]:
    for group, (applies, hides_with_waves) in GROUPS.items():
        if applies(view):
            for remedy in stall_remedies()[group]:
                if CONDITIONS[remedy.fits](view):
                    text = remedy.text.format(accesses=view.code.accesses or "memory")
                    is_alone = hides_with_waves and view.code.waves_per_simd_max == 1
                    return remedy.name, text + (_MORE_WAVES if is_alone else "")
    return "", general_remedy(view.stall_class, stall_class(view.stall_class).remedy, capture)
