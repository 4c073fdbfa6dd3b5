"""Which remedy fits which row: patterns over one row's view, tried in order, for each class of stalls."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from wavescope.analysis.trace.diagnose.finding import Remedy
from wavescope.analysis.trace.waits.classes import stall_class

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from wavescope.analysis.trace.diagnose.facts import RowView

_NEAR_INSTRUCTIONS = 24  #: A producer this close to its wait leaves no room to hide a memory latency.


@dataclass(frozen=True)
class _Pattern:
    name: str
    text: str
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


_PATTERNS: tuple[tuple[Callable[[RowView], bool], tuple[_Pattern, ...]], ...] = (
    (
        _has_memory,
        (
            _Pattern(
                "move scale loads up",
                "these loads are narrow (scales, indices) and stand close to their use: issue them at the top of the "
                "iteration, before the wide loads, or one iteration ahead",
                lambda view: _narrow_beside_wide(view) and _near(view),
            ),
            _Pattern(
                "split the wait",
                "the wait drains everything, also loads issued long after the oldest: wait for the older ones first "
                "(a count above 0), use them, and wait for the rest when it is needed",
                _drains_young_and_old,
            ),
            _Pattern(
                "batch loads before the matrix work",
                "loads and matrix instructions alternate, so only a few matrix instructions hide each load: issue all "
                "loads of a tile first, and let the whole matrix work of the tile before hide them",
                lambda view: view.loop_has_matrix and view.matrix_between > 0 and _near(view),
            ),
            _Pattern(
                "prefetch the next tile",
                "the loads of an iteration are waited for before enough arithmetic has passed: issue those of the next "
                "iteration before the arithmetic of this one (double buffering), so that a whole iteration hides them",
                lambda view: view.in_loop,
            ),
            _Pattern(
                "start the loads first",
                "outside of any loop: issue the loads before the address and setup arithmetic that does not need "
                "them, and give each wave more work, so that the start weighs less",
                lambda view: not view.in_loop,
            ),
        ),
    ),
    (
        lambda view: "LDS" in view.stall_class and view.stall_class.startswith("wait"),
        (
            _Pattern(
                "batch LDS reads",
                "LDS reads stand directly before the instructions that need them: issue all reads of a step first "
                "(into more registers), then compute",
                lambda view: view.in_loop and _near(view),
            ),
        ),
    ),
    (
        lambda view: view.stall_class == "wait scalar load",
        (
            _Pattern(
                "hoist scalar loads",
                "a scalar load inside a loop: load it once before the loop, or one iteration ahead",
                lambda view: view.in_loop,
            ),
            _Pattern(
                "load arguments once and early",
                "kernel arguments are loaded at the start and waited for at once: one wide load, kernel-argument "
                "preloading (gfx942 and later), arithmetic in between, or more work per wave so that it weighs less",
                lambda view: not view.in_loop,
            ),
        ),
    ),
    (
        lambda view: view.stall_class == "s_nop",
        (
            _Pattern(
                "remove s_nop padding behind matrix instructions",
                "the padding waits for a matrix result: put independent work there (another accumulator, the next "
                "tile's address arithmetic or loads)",
                lambda view: view.follows_matrix,
            ),
            _Pattern(
                "remove s_nop padding",
                "the compiler keeps hazards apart (DPP, transcendental and lane-access results): interleave "
                "independent chains, so that useful instructions stand there",
                lambda view: True,
            ),
        ),
    ),
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
    for applies, patterns in _PATTERNS:
        if applies(view):
            for pattern in patterns:
                if pattern.fits(view):
                    return pattern.name, pattern.text
    return "", stall_class(view.stall_class).remedy
