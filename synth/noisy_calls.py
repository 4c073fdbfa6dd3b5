"""Durations of calls with noise of a chosen size within and between captures, and with a planted effect.

Independent of the analyses of wavewright: nothing of them is imported.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["NoisyProgram", "captures"]


@dataclass(frozen=True)
class NoisyProgram:
    """A program of several kernels that is captured again and again."""

    kernel_count: int = 8
    call_count: int = 100  #: Of each kernel.
    call_noise: float = 0.02  #: Deviation of the logarithm of the duration of a call.
    run_noise: float = 0.0  #: The same of a whole capture: clock, temperature, node.
    kernel_noise: float = 0.0  #: The same of a kernel in a capture: placement, caches.
    mean_us: float = 100.0  #: Of the first kernel; each next one takes a fifth less.


def captures(
    program: NoisyProgram, seed: int, count: int, *, effect: float = 0.0, first: int = 0
) -> list[list[NDArray[np.float64]]]:
    """Durations (ns) of the calls of every kernel of `count` captures; the effect makes the first kernel slower.

    `first` is the number of the first capture: captures of other numbers are drawn independently.

    Examples
    --------
    >>> runs = captures(NoisyProgram(kernel_count=2, call_count=3, call_noise=0.0), 1, 1, effect=0.5)
    >>> [[round(float(value)) for value in kernel] for kernel in runs[0]]
    [[150000, 150000, 150000], [80000, 80000, 80000]]
    """
    drawn = []
    for number in range(first, first + count):
        random = np.random.default_rng([seed, number])
        whole = program.run_noise * random.standard_normal()
        kernels = []
        for kernel in range(program.kernel_count):
            place = whole + program.kernel_noise * random.standard_normal()
            logs = place + program.call_noise * random.standard_normal(program.call_count)
            scale = 1e3 * program.mean_us * 0.8**kernel * (1 + effect if kernel == 0 else 1)
            kernels.append(scale * np.exp(logs))
        drawn.append(kernels)
    return drawn
