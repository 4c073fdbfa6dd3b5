"""`Launch`: the traced dispatch among all calls of its kernel, from the run that was recorded beside the trace."""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil, floor, sqrt
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import polars as pl

FEWEST_CALLS = 6  #: With fewer calls, no two of them enclose the median with 95 %.
_NORMAL_95 = 1.96  #: Standard deviations that enclose 95 % of a normal distribution.


@dataclass(frozen=True)
class Launch:
    """One call of a kernel among those with the same grid and workgroup on the same GPU."""

    kernel_name: str  #: As the run spells it.
    dispatch_id: int
    duration_ns: int  #: From its start to its end on the GPU.
    call_number: int  #: Its place among the calls in order of their starts; 1 = the first.
    call_count: int  #: Calls with the same grid and workgroup on the same GPU.
    duration_ns_median: float
    duration_ns_p10: float  #: A tenth of the calls is shorter.
    duration_ns_p90: float  #: A tenth of the calls is longer.
    path: str  #: The file of the run.
    #: The median of all such calls lies within this of `duration_ns_median` (95 %); None = too few calls.
    median_noise_ns: float | None = None
    kernel_call_count: int = 0  #: Calls of the kernel with any grid, on any GPU of the process.
    grid_size: tuple[int, int, int] | None = None  #: Work-items; None = not recorded.
    workgroup_size: tuple[int, int, int] | None = None  #: Work-items; None = not recorded.

    @property
    def above_median_share(self) -> float:
        """Share by which it took longer than the median call: 0.45 = 45 % longer, negative = shorter."""
        return self.duration_ns / self.duration_ns_median - 1 if self.duration_ns_median else 0.0


def median_noise(durations_ns: pl.Series) -> float | None:
    """Half of the 95 % interval of the median between two of the values, whatever their distribution; None = too few.

    The ranks are those of the binomial distribution, n / 2 -+ 0.98 sqrt(n) (Conover, Practical Nonparametric
    Statistics, "confidence interval for a quantile").
    """
    count = durations_ns.len()
    if count < FEWEST_CALLS:
        return None
    sorted_ns = durations_ns.sort()
    reach = _NORMAL_95 * sqrt(count) / 2
    low, high = max(floor(count / 2 - reach), 0), min(ceil(count / 2 + reach), count - 1)
    return float(sorted_ns[high] - sorted_ns[low]) / 2
