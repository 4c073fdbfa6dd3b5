"""Which remedy fits which row: patterns over one row's view, tried in order, for each class of stalls.

A remedy that the code has already (wide accesses, loads at the start), or that the GPU cannot do, is not given.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from wavewright.analysis.trace.diagnose.finding import Remedy
from wavewright.analysis.trace.diagnose.row_code import NARROW_BYTES
from wavewright.analysis.trace.waits.classes import stall_class

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from wavewright.analysis.trace.diagnose.facts import RowView

_NEAR_INSTRUCTIONS = 24  #: A producer this close to its wait leaves no room to hide a memory latency.
_MORE_WAVES = (
    "; a SIMD never holds more than one wave: more of them (more or smaller workgroups, fewer registers or less LDS "
    "where these are the limit) would hide the latency, too"
)


@dataclass(frozen=True)
class _Pattern:
    name: str
    text: str  #: `{accesses}` stands for the accesses by their width.
    fits: Callable[[RowView], bool]


def _has_memory(view: RowView) -> bool:
    return any(word in view.stall_class for word in ("vector load", "load to LDS", "flat load"))


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
    """Whether everything that it waits for stands after it in its loop: it was issued in the iteration before."""
    return bool(view.producers) and all(producer.row > view.row for producer in view.producers)


def _is_narrow(view: RowView) -> bool:
    return bool(view.code.access_bytes) and max(view.code.access_bytes) <= NARROW_BYTES


_LOADS = (
    _Pattern(
        "move the narrow loads up",
        "these {accesses} loads stand close to their use, while wide loads run in the same loop: issue them at the top "
        "of the iteration, before the wide ones, or one iteration ahead",
        lambda view: _narrow_beside_wide(view) and _near(view),
    ),
    _Pattern(
        "split the wait",
        "the wait drains everything, also loads issued long after the oldest: wait for the older ones first (a count "
        "above 0), use them, and wait for the rest when it is needed",
        _drains_young_and_old,
    ),
    _Pattern(
        "batch loads before the matrix work",
        "loads and matrix instructions alternate, so only a few matrix instructions hide each load: issue all loads of "
        "a tile first, and let the whole matrix work of the tile before hide them",
        lambda view: view.loop_has_matrix and view.matrix_between > 0 and _near(view),
    ),
    _Pattern(
        "prefetch deeper",
        "the loads are issued one iteration ahead already, and still come too late: issue them two iterations ahead, "
        "or let an iteration compute more",
        lambda view: view.in_loop and _is_prefetched(view),
    ),
    _Pattern(
        "prefetch the next tile",
        "the loads of an iteration are waited for before enough arithmetic has passed: issue those of the next "
        "iteration before the arithmetic of this one (double buffering), so that a whole iteration hides them",
        lambda view: view.in_loop,
    ),
    _Pattern(
        "prefetch deeper",
        "the code repeats the same loads without a loop (unrolled): issue the loads of a step one or two steps "
        "earlier, so that the arithmetic of more steps hides them",
        lambda view: view.code.is_unrolled,
    ),
    _Pattern(
        "give each wave more work",
        "outside of any loop, and the loads start as soon as their addresses are known: more work per wave, so that "
        "this first latency weighs less",
        lambda view: view.code.is_first,
    ),
    _Pattern(
        "start the loads first",
        "outside of any loop: issue the loads before the arithmetic that they do not need, and give each wave more "
        "work, so that the start weighs less",
        lambda view: True,
    ),
)
_PRESSURE = (
    _Pattern(
        "fewer and wider accesses, earlier",
        "{accesses} accesses fill the queues of the memory pipe: let a lane access up to 16 bytes at once where its "
        "addresses follow each other, and issue loads earlier as well; wider accesses alone can move the stall to the "
        "wait for the data",
        _is_narrow,
    ),
    _Pattern(
        "spread the accesses",
        "{accesses} accesses fill the queues of the memory pipe: spread them between arithmetic, and move fewer bytes "
        "(keep data in registers or LDS, smaller types)",
        lambda view: bool(view.code.access_bytes),
    ),
)
_LDS = (
    _Pattern(
        "batch LDS reads",
        "LDS reads stand directly before the instructions that need them: issue all reads of a step first (into more "
        "registers), then compute",
        lambda view: view.in_loop and _near(view),
    ),
)
_SCALAR = (
    _Pattern(
        "hoist scalar loads",
        "a scalar load inside a loop: load it once before the loop, or one iteration ahead",
        lambda view: view.in_loop,
    ),
    _Pattern(
        "load arguments once and early",
        "scalar loads are waited for soon after they are issued: fetch all arguments in one round, preload kernel "
        "arguments into registers (the GPU can), put arithmetic in between, or give each wave more work",
        lambda view: view.code.can_preload,
    ),
    _Pattern(
        "load arguments once and early",
        "scalar loads are waited for soon after they are issued: fetch all arguments in one round, put arithmetic in "
        "between, or give each wave more work",
        lambda view: True,
    ),
)
_PADDING = (
    _Pattern(
        "fill the padding behind matrix instructions",
        "the padding waits for a matrix instruction: put independent work there (another accumulator, the address "
        "arithmetic or the loads of the next tile)",
        lambda view: "matrix" in view.code.hazard,
    ),
    _Pattern(
        "interleave comparisons and selections",
        "the padding stands between a comparison and the instruction that reads its mask: interleave several "
        "independent ones, or use minimum, maximum and clamp instructions, which need no mask",
        lambda view: view.code.hazard.startswith("v_cmp"),
    ),
    _Pattern(
        "interleave exchanges between lanes",
        "the padding stands before an instruction that reads other lanes: interleave independent reductions",
        lambda view: "other lanes" in view.code.hazard,
    ),
    _Pattern(
        "set M0 earlier",
        "the padding stands between a write of M0 and the load to LDS that uses it: write M0 earlier, or advance by "
        "the offset of the instruction instead",
        lambda view: "M0" in view.code.hazard,
    ),
    _Pattern(
        "fill the padding",
        "the padding keeps dependent instructions apart: interleave independent chains, so that useful instructions "
        "stand there",
        lambda view: True,
    ),
)
#: Which patterns are tried for which classes, and whether one wave per SIMD is a reason.
_PATTERNS: tuple[tuple[Callable[[RowView], bool], tuple[_Pattern, ...], bool], ...] = (
    (_has_memory, _LOADS, True),
    (lambda view: view.stall_class in ("VMEM issue", "FLAT issue"), _PRESSURE, False),
    (lambda view: "LDS" in view.stall_class and view.stall_class.startswith("wait"), _LDS, True),
    (lambda view: view.stall_class == "wait scalar load", _SCALAR, False),
    (lambda view: view.stall_class == "s_nop", _PADDING, False),
)


def remedies_for(views: Sequence[RowView]) -> tuple[Remedy, ...]:
    """Remedies for the rows of one stall class, the one about most exposed cycles first.

    Rows that no pattern fits get the general remedy of their class.
    """
    groups: dict[tuple[str, str], list[RowView]] = {}
    for view in views:
        groups.setdefault(_remedy_of(view), []).append(view)
    remedies = [
        Remedy(name, text, tuple(view.row for view in group), sum(view.exposed_cycles_total for view in group))
        for (name, text), group in groups.items()
        if text
    ]
    return tuple(sorted(remedies, key=lambda remedy: -remedy.exposed_cycles_total))


def _remedy_of(view: RowView) -> tuple[str, str]:
    for applies, patterns, hides_with_waves in _PATTERNS:
        if applies(view):
            for pattern in patterns:
                if pattern.fits(view):
                    text = pattern.text.format(accesses=view.code.accesses or "memory")
                    is_alone = hides_with_waves and view.code.waves_per_simd_max == 1
                    return pattern.name, text + (_MORE_WAVES if is_alone else "")
    return "", stall_class(view.stall_class).remedy
