"""Durations of the kernel's calls in the runs beside the traces, side by side."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from wavewright.analysis.common.noise import LEAST_CHANGE
from wavewright.analysis.trace.about.traced_call import launch_sentence
from wavewright.model.launch import Launch

_NAMES = (
    "call",
    "call_number",
    "call_count",
    "kernel_ns",
    "kernel_ns_median",
    "kernel_ns_delta_share",
    "kernel_ns_noise_share",
)


def kernel_times(launches: Sequence[Launch | None]) -> list[dict[str, Any]]:
    """For every trace, its columns of the table TRACES about the calls of its kernel.

    The noise is that of the difference of two medians, and at least `LEAST_CHANGE`.

    Examples
    --------
    >>> kernel_times([None])[0]["kernel_ns"] is None
    True
    """
    return [_times(launches[0], launch) for launch in launches]


def _times(base: Launch | None, launch: Launch | None) -> dict[str, Any]:
    columns: dict[str, Any] = dict.fromkeys(_NAMES)
    if launch is None:
        return columns
    columns |= {
        "call": launch_sentence(launch),
        "call_number": launch.call_number,
        "call_count": launch.call_count,
        "kernel_ns": launch.duration_ns,
        "kernel_ns_median": launch.duration_ns_median,
    }
    if base is None or not base.duration_ns_median:
        return columns
    columns["kernel_ns_delta_share"] = launch.duration_ns_median / base.duration_ns_median - 1
    if base.median_noise_ns is not None and launch.median_noise_ns is not None:
        noise_ns = (base.median_noise_ns**2 + launch.median_noise_ns**2) ** 0.5
        columns["kernel_ns_noise_share"] = max(noise_ns / base.duration_ns_median, LEAST_CHANGE)
    return columns
