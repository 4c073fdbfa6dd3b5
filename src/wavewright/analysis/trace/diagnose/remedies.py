"""Remedies for rows: conditions over one row's view, tried in order, for each class of stalls.

A remedy that the code has already (wide accesses, loads at the start), or that the GPU cannot do, is not given.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from wavewright.analysis.trace.diagnose.capture_facts import CaptureFacts, general_remedy
from wavewright.analysis.trace.diagnose.facts import RowView
from wavewright.analysis.trace.diagnose.finding import Remedy
from wavewright.analysis.trace.diagnose.row_code import NARROW_BYTES
from wavewright.facts.stall_classes import stall_class, stall_remedies

NOTHING = CaptureFacts()  #: Nothing is known of the capture.
_NEAR_INSTRUCTIONS = 24  #: A producer this close to its wait leaves no room to hide a memory latency.
_MORE_WAVES = (
    "; a SIMD never holds more than one wave: more of them (more or smaller workgroups, fewer registers or less LDS "
    "where these are the limit) would hide the latency, too"
)


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
    """True if everything that it waits for stands after it in its loop: it was issued in the iteration before."""
    return bool(view.producers) and all(producer.row > view.row for producer in view.producers)


def _is_narrow(view: RowView) -> bool:
    return bool(view.code.access_bytes) and max(view.code.access_bytes) <= NARROW_BYTES


#: The conditions that stall_classes.toml names.
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
    "narrow": _is_narrow,
    "accesses": lambda view: bool(view.code.access_bytes),
    "preloadable": lambda view: view.code.can_preload,
    "after_matrix": lambda view: "matrix" in view.code.hazard,
    "after_comparison": lambda view: view.code.hazard.startswith("v_cmp"),
    "before_other_lanes": lambda view: "other lanes" in view.code.hazard,
    "after_m0": lambda view: "M0" in view.code.hazard,
}
#: Group of remedies -> the classes that it is for, and whether one wave per SIMD is a reason.
GROUPS: dict[str, tuple[Callable[[RowView], bool], bool]] = {
    "loads": (_has_memory, True),
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
