"""Plots of thread traces."""

from __future__ import annotations

from wavewright.report.kit.plot import Plot

_HERE = "wavewright.report.trace.pictures"

PLOTS = (
    Plot("heat", "trace", "Heat of the source", "the hottest source lines, or instructions", f"{_HERE}.heat:draw"),
    Plot("hotspots", "trace", "Costliest instructions", "which instructions take the cycles", f"{_HERE}.hotspots:draw"),
    Plot("states", "trace", "Wave states", "how many waves execute, stall and wait over time", f"{_HERE}.states:draw"),
    Plot("waits", "trace", "Awaited instructions", "which instructions waves wait for", f"{_HERE}.waits:draw"),
    Plot("occupancy", "trace", "Occupancy", "how many waves are resident over time", f"{_HERE}.occupancy:draw"),
)
