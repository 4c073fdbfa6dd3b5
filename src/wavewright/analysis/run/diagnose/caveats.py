"""Beside the findings: caveats about the recording, what could not be checked, and what only looks like a finding."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from wavewright.analysis.run.calls.kernel_names import short_names
from wavewright.analysis.run.diagnose.finding import Note
from wavewright.analysis.run.diagnose.sums import total
from wavewright.base.words import counted, duration, percent
from wavewright.facts.run_rules import OF_LAUNCHES, RULES

if TYPE_CHECKING:
    from collections.abc import Iterator

    from wavewright.analysis.run.diagnose.across import Ranks
    from wavewright.analysis.run.diagnose.whole import Whole

_LEAST_STEPS, _LEAST_NS = 3, 100_000_000
_WORTH_SAYING = 0.05
_HALF = 0.5
_NAME = 60
_LONG_STEP = 2.0
_HOT, _WARM = 0.8, 0.03


def unknown_share(whole: Whole) -> float:
    """The share of the idle time whose launch is not recorded; of all work where nothing is idle."""
    idle = total(whole.cells["idle_ns"])
    unknown = total(whole.cells.filter(pl.col("cause") == "unknown")["idle_ns"])
    if idle:
        return unknown / idle
    count = total(whole.gpus["dispatch_count"]) + total(whole.gpus["copy_count"])
    return total(whole.gpus["unlaunched_count"]) / count if count else 0.0


def caveats(whole: Whole) -> Iterator[Note]:
    """Why the numbers may not stand for the program."""
    yield from _startup(whole)
    tool = max((part.facts["tool_ns"] for part in whole.partials), default=0)
    host = max((part.facts["host_ns"] for part in whole.partials), default=0)
    if host and tool / host >= (RULES["D2"].say or 0):
        yield Note("D2", f"{duration(tool)} in calls of the profiler itself ({percent(tool / host)} of the run)")
    unknown = unknown_share(whole)
    if unknown >= (RULES["D3"].say or 0):
        yield Note(
            "D3",
            f"the launch that ends {percent(unknown)} of the idle time ({duration(whole.time('idle_ns'))}) is not "
            "recorded, so nothing is said about its cause; record with rocprofv3 --runtime-trace",
        )
    if any(part.facts["counter_count"] for part in whole.partials):
        yield Note("D4", "counters were measured in this run: the profiler runs kernels one after another")
    settings = sorted({text for part in whole.partials for text in part.facts["settings"]})
    if settings:
        yield Note("D4", f"kernels run one after another by {', '.join(settings)}")
    if whole.step_count and whole.step_count < _LEAST_STEPS:
        yield Note("D5", f"{counted(whole.step_count, 'steps')} recorded: too few to tell what is usual")
    elif whole.gpu_count and whole.window_ns < _LEAST_NS:
        yield Note("D5", f"{duration(whole.window_ns)} of work recorded: a short sample")


def _startup(whole: Whole) -> Iterator[Note]:
    late = whole.gpus.filter(pl.col("startup") != "")
    if late.height:
        left_out = whole.mean(late["start_ns"] - late["whole_start_ns"])
        whole_ns = whole.mean(whole.gpus["end_ns"] - whole.gpus["whole_start_ns"])
        yield Note(
            "D1",
            f"start-up is left out: {duration(left_out)} of {duration(whole_ns)} ({percent(left_out / whole_ns)}); "
            f"{late['startup'][0]}",
        )
    for name, first, median in (part.first_step for part in whole.partials[:1] if part.first_step):
        if first > _LONG_STEP * median:
            times = f"{first / max(median, 1):.1f} times the median of {duration(median)}"
            yield Note("D1", f"the first step of {name} takes {times}; --time can leave it out")
    before = max((part.facts["before_ns"] for part in whole.partials), default=0)
    spans = [part.facts["host_ns"] for part in whole.partials]
    if spans and before > (RULES["D1"].say or 0) * max(spans):
        allocated = max(part.facts["allocated_before_ns"] for part in whole.partials)
        more = f", {duration(allocated)} of it in allocations" if allocated > _WORTH_SAYING * before else ""
        yield Note("D1", f"start-up: {duration(before)} before the first kernel{more}; it is not counted")
    loaded = whole.mean(whole.cells.filter(pl.col("cause") == "first use")["idle_ns"])
    if whole.share(loaded) >= _WORTH_SAYING:
        yield Note(
            "D1",
            f"first use: the GPU idles {duration(loaded)} ({percent(whole.share(loaded))}) while kernels are loaded at "
            "their first launch; warm up before recording",
        )


def skipped(whole: Whole, ranks: Ranks) -> Iterator[Note]:
    """Rules that could not be checked, and why."""
    if not whole.gpu_count:
        return
    if unknown_share(whole) >= (RULES["D3"].say or 0):
        yield Note(", ".join(OF_LAUNCHES), "causes of gaps (launches are not recorded)")
    if whole.gpu_count < 2:
        yield Note("X2, X3, X4, X5", "ranks (one GPU)")
    elif not ranks.rows.height:
        yield Note("X2, X3, X4, X5", "ranks (no collective is recorded on several of them)")
    elif not ranks.clocks_agree:
        yield Note("X2, X3, X4, X5", "ranks (their clocks could not be aligned)")
    elif not ranks.rows["in_bytes"].count():
        yield Note("X5", "bandwidth of collectives (sizes are not recorded)")
    if not any(part.facts["has_sizes"] for part in whole.partials) and whole.copies.height:
        yield Note("C2", "rates of copies (sizes are not recorded)")
    if whole.copies.height:
        yield Note("C2", "pinned memory (not recorded)")
    if not any(part.facts["has_grids"] for part in whole.partials):
        yield Note("L4", "filling of the GPU (grids are not recorded)")
    yield Note("L5", "tail of the last round (registers are not looked at)")
    if not any(part.clocks.height for part in whole.partials):
        yield Note("T1", "clocks (not sampled)")
    elif not any((part.clocks["sample_count"] >= 20).any() for part in whole.partials):
        yield Note("T1", "clocks (fewer than 20 samples while busy)")
    if not whole.step_count:
        yield Note("T2, G7", "steps (none are known: no marker repeats over the run)")


def not_findings(whole: Whole) -> Iterator[Note]:
    """What other tools alarm about, and why it is none here."""
    busy = 1 - whole.share(whole.time("idle_ns"))
    blocked = sum(whole.calls.get(kind, (0, 0, 0))[1] for kind in ("synchronisation", "copy call"))
    if whole.share(blocked) >= 0.1 and busy >= _HALF:
        yield Note("G5", f"{duration(blocked)} inside blocking calls: the GPU was busy {percent(busy)} of the time")
    graphs, all_count = int(whole.gpus["graph_count"].sum()), int(whole.gpus["dispatch_count"].sum())
    if graphs >= 0.1 * max(1, all_count):
        yield Note("L1", f"kernels shorter than their launch: {graphs:,} of {all_count:,} come from graphs")


def hot_kernels(whole: Whole) -> pl.DataFrame:
    """The fewest kernels that make up 80 % of the computation, and all of 3 % or more."""
    rows = whole.kernels
    computed = total(rows["total_ns"])
    if not computed:
        return rows.head(0).with_columns(share=pl.lit(0.0))
    share = pl.col("total_ns") / computed
    before = (pl.col("total_ns").cum_sum() - pl.col("total_ns")) / computed
    return rows.filter((before < _HOT) | (share >= _WARM)).with_columns(share=share)


def notes(whole: Whole, hot: pl.DataFrame) -> Iterator[Note]:
    """Hot kernels, scratch memory, unused GPUs."""
    if hot.height:
        first = hot.row(0, named=True)
        names = short_names(hot["name"], _NAME)
        name = names[first["name"]]
        few = f"{hot.height} of {counted(whole.kernels.height, 'kernels')} take {percent(total(hot['share']))}"
        yield Note("N1", f"{few} of the computation; the first, {name}, {percent(first['share'])}")
        scratch = hot.filter(pl.col("scratch_bytes") > 0)
        if scratch.height:
            listed = ", ".join(names[name] for name in scratch["name"].head(3))
            count = counted(scratch.height, "hot kernels")
            yield Note("N2", f"{count} with scratch memory (spilled registers?): {listed}")
    unused = max((part.facts["unused_gpu_count"] for part in whole.partials), default=0)
    if unused and len(whole.partials) == 1:
        yield Note("N3", f"{unused} more {'GPU' if unused == 1 else 'GPUs'} visible, unused")
