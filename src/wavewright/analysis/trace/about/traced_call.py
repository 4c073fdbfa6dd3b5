"""The traced dispatch among the calls of its kernel, in words."""

from __future__ import annotations

from pathlib import PurePath

from wavewright.base.words import counted, percent
from wavewright.model.launch import Launch


def microseconds(nanoseconds: float) -> str:
    """A duration of a kernel.

    >>> microseconds(7149), microseconds(1_500_000)
    ('7.1 µs', '1,500.0 µs')
    """
    return f"{nanoseconds / 1000:,.1f} µs"


def launch_sentence(launch: Launch) -> str:
    """The traced call, its duration, and its distance from the median call.

    >>> from wavewright.model.launch import Launch
    >>> launch_sentence(Launch("gemm", 3, 7100, 1, 150, 4900.0, 4700.0, 5200.0, "28_results.db"))
    'first of 150 calls, 45 % slower than the median (7.1 µs against 4.9 µs)'
    >>> launch_sentence(Launch("gemm", 3, 4900, 7, 9, 4900.0, 4700.0, 5200.0, "28_results.db", kernel_call_count=12))
    'call 7 of 9 with this grid, as long as the median (4.9 µs)'
    >>> launch_sentence(Launch("gemm", 3, 7100, 1, 1, 7100.0, 7100.0, 7100.0, "28_results.db"))
    'the only call, 7.1 µs'
    """
    grid = " with this grid" if launch.kernel_call_count > launch.call_count else ""
    took = microseconds(launch.duration_ns)
    if launch.call_count == 1:
        return f"the only call{grid}, {took}"
    place = "first of" if launch.call_number == 1 else f"call {launch.call_number:,} of"
    number = counted(launch.call_count, "calls") if launch.call_number == 1 else f"{launch.call_count:,}"
    share = percent(abs(launch.above_median_share), 0)
    if share == percent(0.0, 0):
        return f"{place} {number}{grid}, as long as the median ({took})"
    word = "slower" if launch.above_median_share > 0 else "faster"
    median = microseconds(launch.duration_ns_median)
    return f"{place} {number}{grid}, {share} {word} than the median ({took} against {median})"


def launch_source(launch: Launch) -> str:
    """The name of the file that tells it."""
    return PurePath(launch.path).name
