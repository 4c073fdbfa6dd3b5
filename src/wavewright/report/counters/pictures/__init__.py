"""Plots of counter captures."""

from __future__ import annotations

from wavewright.report.kit.plot import Plot

_HERE = "wavewright.report.counters.pictures"

PLOTS = (
    Plot("speed", "counters", "Speed of light", "how near each unit is to its limit", f"{_HERE}.speed:draw"),
    Plot(
        "roofline",
        "counters",
        "Roofline",
        "kernels under the roofs of arithmetic and of each level of memory",
        f"{_HERE}.drawings:roofline",
    ),
    Plot(
        "memory-chart",
        "counters",
        "Memory chart",
        "what flows between waves, caches and memory",
        f"{_HERE}.drawings:memory_chart",
    ),
)
