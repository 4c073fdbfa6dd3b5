"""Subject of a trace: kernel, dispatch and GPU, and the traced call among the calls of its kernel, in words."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from pathlib import PurePath

import polars as pl

from wavewright.analysis.common.occupancy.architecture import architecture
from wavewright.base.words import counted, percent
from wavewright.errors import UsageError
from wavewright.facts import gpus
from wavewright.model.launch import Launch
from wavewright.model.trace import ThreadTrace


@dataclass(frozen=True)
class Subject:
    """The dispatch that a trace is of."""

    kernel: str | None  #: The kernel with the most time of traced waves, demangled; None = not known.
    kernel_count: int  #: Kernels whose waves were traced, or seen on other CUs where none was.
    dispatch: int | None
    dispatch_key: str  #: What `--dispatch` takes for it.
    dispatch_count: int  #: Dispatches of the input, this one included.
    agent: int | None
    target: str | None  #: gfx942, ...; None = the exact GPU is not known.
    gpu: str  #: The GPU in words.
    duration_ns: int | None  #: Of the dispatch, from the run beside the capture; None = not known.


def subject(trace: ThreadTrace) -> Subject:
    """Name what the trace shows."""
    source = trace.source
    kernels = entered_kernels(trace)
    launch = getattr(trace, "launch", None)
    return Subject(
        kernel=next(iter(kernels["demangled"]), None),
        kernel_count=kernels.height,
        dispatch=source.dispatch,
        dispatch_key=source.dispatch_key or ("" if source.dispatch is None else str(source.dispatch)),
        dispatch_count=1 + len(source.other_dispatches),
        agent=source.agent,
        target=source.target,
        gpu=_gpu(trace),
        duration_ns=launch.duration_ns if launch is not None else None,
    )


def entered_kernels(trace: ThreadTrace) -> pl.DataFrame:
    """The kernels of the traced waves, that with the most cycles first; without waves, those of the occupancy events,
    of PC samples, or all that the trace names."""
    costs = _costs(trace)
    if not costs.height:
        return trace.kernels
    return trace.kernels.join(costs, on="kernel").sort("cost", "kernel", descending=[True, False]).drop("cost")


def _costs(trace: ThreadTrace) -> pl.DataFrame:
    """`kernel` and `cost`, which orders them."""
    lifetime = (pl.col("end_cycles") - pl.col("start_cycles")).sum()
    has_kernel = pl.col("kernel").is_not_null()
    costs = trace.waves.filter(has_kernel).group_by("kernel").agg(cost=lifetime)
    if not costs.height:
        costs = trace.occupancy.filter(has_kernel).group_by("kernel").agg(cost=pl.len())
    if not costs.height and trace.samples.height:
        sampled = trace.samples.select("row", cost=pl.col("issued_count") + pl.col("stalled_count"))
        by_function = sampled.join(trace.code.select("row", "function"), on="row").group_by("function")
        totals = by_function.agg(pl.col("cost").sum())
        costs = trace.kernels.join(totals, left_on="name", right_on="function").select("kernel", "cost")
    return costs


def _gpu(trace: ThreadTrace) -> str:
    target = trace.source.target
    if target is None:
        sure = inferred_gpu(trace)
        return sure or (f"gfx{trace.gfxip}, exact GPU not known" if trace.gfxip else "GPU not known")
    name = target.rsplit("--", 1)[-1].split(":", 1)[0].lower()  # amdgcn-amd-amdhsa--gfx942:sramecc+
    return f"{target} ({gpus.of(name).family})" if name in gpus.TARGETS else target


def inferred_gpu(trace: ThreadTrace) -> str:
    """The GPU that the code is sure to be of; empty = it can be of several."""
    with suppress(UsageError):
        inferred = architecture(trace) if trace.gfxip else None
        if inferred and inferred.is_certain:
            return f"{inferred.facts.target} ({inferred.facts.family}, inferred)"
    return ""


def microseconds(nanoseconds: float) -> str:
    """A duration of a kernel as text."""
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
    """The name of the file that the calls are recorded in."""
    return PurePath(launch.path).name
