"""Plots of runs."""

from __future__ import annotations

from wavewright.report.kit.plot import Plot

_HERE = "wavewright.report.run.pictures"

PLOTS = (
    Plot(
        "budget",
        "run",
        "Time budget",
        "computation, exposed communication, exposed copies and idle time of each GPU, which add up to 100 %",
        f"{_HERE}.budget:draw",
    ),
    Plot("busy", "run", "Busy over time", "when each GPU had kernels and copies to do", f"{_HERE}.busy:draw"),
    Plot(
        "gaps",
        "run",
        "Idle time",
        "what GPUs waited for between work, and how long the gaps were",
        f"{_HERE}.gaps:draw",
    ),
    Plot("ranks", "run", "Ranks", "what each rank had to do, and how long it waited for others", f"{_HERE}.ranks:draw"),
    Plot("steps", "run", "Steps", "how long each step took, by what its GPUs did", f"{_HERE}.steps:draw"),
    Plot("path", "run", "Critical path", "what set the time of the run", f"{_HERE}.path:draw"),
    Plot(
        "categories", "run", "GPU time by category", "what kernels do: GEMM, attention, ...", f"{_HERE}.categories:draw"
    ),
    Plot(
        "histogram",
        "run",
        "Durations of kernels",
        "how the durations of the top kernels vary",
        f"{_HERE}.histogram:draw",
    ),
    Plot("memory", "run", "Memory in use", "memory over time with its peak", f"{_HERE}.memory:draw"),
)
