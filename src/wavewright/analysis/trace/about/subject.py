"""Subject of a trace: kernel, dispatch and GPU, for the first line of every report."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass

import polars as pl

from wavewright.analysis.common.occupancy.architecture import architecture
from wavewright.errors import UsageError
from wavewright.facts import gpus
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
    name = target.rsplit("--", 1)[-1].split(":", 1)[0].lower()
    return f"{target} ({gpus.of(name).family})" if name in gpus.TARGETS else target


def inferred_gpu(trace: ThreadTrace) -> str:
    """The GPU that the code is sure to be of; empty = it can be of several."""
    with suppress(UsageError):
        inferred = architecture(trace) if trace.gfxip else None
        if inferred and inferred.is_certain:
            return f"{inferred.facts.target} ({inferred.facts.family}, inferred)"
    return ""
