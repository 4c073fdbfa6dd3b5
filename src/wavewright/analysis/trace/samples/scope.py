"""The samples that an answer is about: all of them, or those of one kernel; and how many of them are independent."""

from __future__ import annotations

from dataclasses import dataclass

import polars as pl

from wavewright.model.schema import SAMPLE_COUNTS
from wavewright.model.trace import ThreadTrace

#: Kernels of the runtime, for fills and copies.
_RUNTIME = "__amd_rocclr_"


@dataclass(frozen=True)
class SampleScope:
    """Some samples of a trace, in numbers."""

    kernel_name: str | None  #: The kernel they are of; None = all kernels, or not recorded.
    kernel_count: int  #: Kernels with samples; 0 = not recorded.
    dispatch_count: int | None  #: Dispatches with samples; None = not recorded.
    sample_count: int
    all_sample_count: int  #: Samples of all kernels.
    issued_count: int
    stalled_count: int
    unknown_count: int  #: Samples of a method that does not tell whether the wave issued.
    moment_count: int | None  #: Different times at which each dispatch was sampled, added up; None = not recorded.
    cu_wave_count_mean: float | None  #: Waves on the CU of a sample; None = not recorded.

    @property
    def independent_count(self) -> int:
        """Least number of independent observations.

        Waves that are sampled in the same moment often are in the same place, so moments count, not waves.
        """
        return self.sample_count if self.moment_count is None else min(self.sample_count, self.moment_count)


def scope_of(trace: ThreadTrace, *, one_kernel: bool = False) -> tuple[SampleScope, pl.DataFrame]:
    """All samples, or those of the kernel with the most (of the user, if any); with their rows of `samples`."""
    samples = trace.samples.join(trace.code.select("row", "function"), on="row", how="left", maintain_order="left")
    samples = samples.with_columns(sample_count=pl.sum_horizontal(SAMPLE_COUNTS)).filter(pl.col("sample_count") > 0)
    totals = samples.drop_nulls("function").group_by("function").agg(pl.col("sample_count").sum())
    kernels = totals.sort(pl.col("function").str.starts_with(_RUNTIME), -pl.col("sample_count"), "function")
    dispatches = trace.sampled_dispatches
    function = kernels["function"][0] if kernels.height and (one_kernel or kernels.height == 1) else None
    chosen = samples
    if function is not None:
        chosen = samples.filter(pl.col("function") == function)
        of_kernel = dispatches.filter(pl.col("kernel_name") == function)
        dispatches = of_kernel if of_kernel.height else dispatches
    sums = chosen.select(pl.col("sample_count", *SAMPLE_COUNTS).sum()).row(0, named=True)
    weights = dispatches.drop_nulls("cu_wave_count_mean")
    weighted = float((weights["cu_wave_count_mean"] * weights["sample_count"]).sum())
    scope = SampleScope(
        kernel_name=None if function is None else _readable(trace, function),
        kernel_count=kernels.height,
        dispatch_count=dispatches.height or None,
        all_sample_count=int(samples["sample_count"].sum()),
        moment_count=int(dispatches["moment_count"].sum()) if dispatches.height else None,
        cu_wave_count_mean=weighted / int(weights["sample_count"].sum()) if weights.height else None,
        **sums,
    )
    return scope, chosen.select("row", "sample_count")


def _readable(trace: ThreadTrace, function: str) -> str:
    named = trace.kernels.filter(pl.col("name") == function)["demangled"]
    return str(named[0]) if named.len() else function
