"""Plots of runs."""

from __future__ import annotations

from wavescope.report.kit.plot import Plot

_HERE = "wavescope.report.run.pictures"

PLOTS = (
    Plot(
        "budget",
        "run",
        "Time budget",
        "computation, exposed communication, exposed copies and idle time of each GPU, which add up to 100 %",
        f"{_HERE}.budget:draw",
    ),
    Plot(
        "categories", "run", "GPU time by category", "what kernels do: GEMM, attention, ...", f"{_HERE}.categories:draw"
    ),
)
