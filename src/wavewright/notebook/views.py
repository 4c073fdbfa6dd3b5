"""The views of the page that `show` can bring to the front, by kind of document: those of web/src/app/registry.ts."""

from __future__ import annotations

from wavewright.errors import UsageError
from wavewright.model.document import DOCUMENTS

#: Kind of document -> ids of views, in the order of the page's menu; a test compares them with the page.
VIEWS = {
    "trace": (
        "explorer", "source", "flame", "waves", "compute_unit", "global_view", "heat_map", "utilization",
        "area", "isa", "lanes", "loops", "diagnosis", "stalls", "waits", "barriers", "memory_latency",
        "occupancy_limits", "coverage", "compare", "overlay", "losses", "occupancy", "wave_states",
        "dispatches", "hotspot_histogram", "counters", "summary", "gallery", "answers",
    ),
    "run": (
        "run_losses", "run_timeline", "run_area", "run_diagnosis", "busy", "kernels", "run_summary", "regions",
        "run_flame", "path", "gaps", "overlap", "ranks", "sql", "run_compare", "run_overlay", "run_gallery",
        "run_answers",
    ),
    "counters": (
        "counter_kernels", "counter_diagnosis", "speed_of_light", "roofline", "memory_chart", "panels",
        "by_dispatch", "raw_counters", "counter_compare", "counter_system", "counter_losses", "counter_gallery",
        "counter_answers",
    ),
}  # fmt: skip
_PREFIXES = {"trace": "", "run": "run_", "counters": "counter_"}


def view_id(kind: str, view: str | None) -> str:
    """The id of a view; what the page calls `run_timeline` may be called `timeline`, too. Empty = none was named.

    Raises
    ------
    UsageError
        When documents of this kind have no such view.

    Examples
    --------
    >>> view_id("run", "timeline"), view_id("trace", "isa"), view_id("run", None)
    ('run_timeline', 'isa', '')
    """
    if not view:
        return ""
    name = view.strip().lower().replace("-", "_").replace(" ", "_")
    for candidate in (name, _PREFIXES[kind] + name):
        if candidate in VIEWS[kind]:
            return candidate
    raise UsageError(f"no view {view[:40]!r} of {DOCUMENTS[kind]}", advice=f"views: {', '.join(VIEWS[kind])}")
