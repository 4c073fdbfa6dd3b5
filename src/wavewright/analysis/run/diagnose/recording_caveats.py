"""Remarks of a diagnosis beside its findings: caveats about the recording, notes, rules that could not be checked.

Each function takes the merged measurements and yields `Note`s: a sentence with the rule that it is about.
"""

from __future__ import annotations

from collections.abc import Iterator

import polars as pl

from wavewright.analysis.run.calls.kernel_names import short_names
from wavewright.analysis.run.calls.launches import without_launch
from wavewright.analysis.run.diagnose.across import Ranks
from wavewright.analysis.run.diagnose.finding import Note
from wavewright.analysis.run.diagnose.merged_diagnosis import MergedDiagnosis, total
from wavewright.analysis.run.kernels.operators import combine_operators
from wavewright.base.words import counted, duration, percent, percents
from wavewright.facts.library_kernels import is_runtime_kernel
from wavewright.facts.run_rules import OF_LAUNCHES, RULES

_LEAST_STEPS, _LEAST_NS = 3, 100_000_000  #: Fewer steps, or less time, are a small sample.
_WORTH_SAYING = 0.05  #: Start-up and first uses are mentioned from this share on.
_HALF = 0.5  #: A GPU that is busy at least this share of the time loses little by blocking calls.
_STEPS_SHOWN = 5  #: Numbers of steps in a sentence, at most.
_NAME = 60  #: Characters of a name in a sentence.
_LONG_STEP = 2.0  #: A step is long if it takes more than this many times the median.
#: Hot kernels make up the first share of the computation together; every kernel of the second share is hot, too.
_HOT, _WARM = 0.8, 0.03


def unknown_share(runs: MergedDiagnosis) -> float:
    """The share of the idle time whose launch is not recorded; of all work where nothing is idle."""
    idle = total(runs.cells["idle_ns"])
    unknown = total(runs.cells.filter(pl.col("cause") == "unknown")["idle_ns"])
    if idle:
        return unknown / idle
    count = total(runs.gpus["dispatch_count"]) + total(runs.gpus["copy_count"])
    return total(runs.gpus["unlaunched_count"]) / count if count else 0.0


def caveats(runs: MergedDiagnosis) -> Iterator[Note]:
    """Reasons why the numbers may not stand for the program."""
    yield from _startup(runs)
    tool = max((part.facts["tool_ns"] for part in runs.partials), default=0)
    host = max((part.facts["host_ns"] for part in runs.partials), default=0)
    if host and tool / host >= (RULES["D2"].say or 0):
        yield Note("D2", f"{duration(tool)} in calls of the profiler itself ({percent(tool / host)} of the run)")
    unknown = unknown_share(runs)
    if unknown >= (RULES["D3"].say or 0):
        yield Note(
            "D3",
            f"the launch that ends {percent(unknown)} of the idle time ({duration(runs.time('idle_ns'))}) is "
            f"{without_launch(has_calls=runs.has_calls)}, so nothing is said about its cause; record with "
            "rocprofv3 --runtime-trace",
        )
    if any(part.facts["counter_count"] for part in runs.partials):
        yield Note("D4", "counters were measured in this run: the profiler runs kernels one after another")
    if settings := sorted({text for part in runs.partials for text in part.facts["settings"]}):
        yield Note("D4", f"kernels run one after another by {', '.join(settings)}")
    recordings = int(runs.gpus["recording_count"].max() or 0)  # type: ignore[arg-type]
    if recordings > 1:
        parts = f"{recordings:,} recordings one after the other, of processes that never ran together"
        yield Note("D6", f"{parts}: the {duration(runs.time('apart_ns'))} between them count nowhere")
    if runs.step_count and runs.step_count < _LEAST_STEPS:
        yield Note("D5", f"{counted(runs.step_count, 'steps')} recorded: too few to tell what is usual")
    elif runs.gpu_count and runs.window_ns < _LEAST_NS:
        yield Note("D5", f"{duration(runs.window_ns)} of work recorded: a short sample")


def startup_times(runs: MergedDiagnosis) -> tuple[float, float]:
    """Time that is set aside as start-up, and the time from the first to the last work, start-up included."""
    late = runs.gpus.filter(pl.col("startup") != "")
    left_out = runs.mean(late["start_ns"] - late["whole_start_ns"])
    return left_out, runs.mean(runs.gpus["end_ns"] - runs.gpus["whole_start_ns"])


def _startup(runs: MergedDiagnosis) -> Iterator[Note]:
    left_out, recorded_ns = startup_times(runs)
    if left_out:
        reason = runs.gpus.filter(pl.col("startup") != "")["startup"][0]
        share = percent(left_out / recorded_ns)
        yield Note("D1", f"start-up is left out: {duration(left_out)} of {duration(recorded_ns)} ({share}); {reason}")
    usual = [step for step in runs.steps if step.is_usual]
    first = usual[0] if len(usual) >= _LEAST_STEPS else None
    if first is not None and first.number == 0:
        median, kernels_ns = (
            sorted(getattr(step, name) for step in usual)[len(usual) // 2] for name in ("length_ns", "gpu_ns")
        )
        runs_ahead = kernels_ns > median  # then the length of a step is that of its launches only
        if first.length_ns > _LONG_STEP * median and not runs_ahead:
            times = f"{first.length_ns / max(median, 1):.1f} times the median of {duration(median)}"
            sentence = f"the first step of {first.name} takes {times}, for the same kernels; --time can leave it out"
            yield Note("D1", sentence)
    before = max((part.facts["before_ns"] for part in runs.partials), default=0)
    spans = [part.facts["host_ns"] for part in runs.partials]
    if spans and before > (RULES["D1"].say or 0) * max(spans):
        allocated = max(part.facts["allocated_before_ns"] for part in runs.partials)
        part = f", {duration(allocated)} of it in allocations" if allocated > _WORTH_SAYING * before else ""
        yield Note("D1", f"start-up: {duration(before)} before the first work of a GPU{part}; it is not counted")
    loaded = runs.mean(runs.cells.filter(pl.col("cause") == "first use")["idle_ns"])
    if runs.share(loaded) >= _WORTH_SAYING:
        yield Note(
            "D1",
            f"first use: the GPU idles {duration(loaded)} ({percent(runs.share(loaded))} of the time) while kernels "
            "are loaded at their first launch; warm up before recording",
        )


def skipped(runs: MergedDiagnosis, ranks: Ranks) -> Iterator[Note]:
    """Rules that could not be checked, and why."""
    if not runs.gpu_count:
        return
    if unknown_share(runs) >= (RULES["D3"].say or 0):
        reason = without_launch(has_calls=runs.has_calls)
        yield Note(", ".join(OF_LAUNCHES), f"causes of gaps (launches are {reason})")
    if runs.gpu_count < 2:
        yield Note("X2, X3, X4, X5", "ranks (one GPU)")
    elif not ranks.rows.height:
        yield Note("X2, X3, X4, X5", "ranks (no collective is recorded on several of them)")
    elif not ranks.clocks_agree:
        yield Note("X2, X3, X4, X5", "ranks (their clocks could not be aligned)")
    elif not ranks.rows["in_bytes"].count():
        yield Note("X5", "bandwidth of collectives (sizes are not recorded)")
    if not any(part.facts["has_sizes"] for part in runs.partials) and runs.copies.height:
        yield Note("C2", "rates of copies (sizes are not recorded)")
    if runs.copies.height:
        yield Note("C2", "pinned memory (not recorded)")
    if not any(part.facts["has_grids"] for part in runs.partials):
        yield Note("L4", "filling of the GPU (grids are not recorded)")
    yield Note("L5", "tail of the last round (registers are not looked at)")
    if not any(part.clocks.height for part in runs.partials):
        count = sum(part.facts["clock_count"] for part in runs.partials)
        is_elsewhere = f"{counted(count, 'samples')} in the file, none of them of a GPU while it was busy"
        yield Note("T1", f"clocks ({is_elsewhere if count else 'not sampled'})")
    elif not any((part.clocks["sample_count"] >= 20).any() for part in runs.partials):
        yield Note("T1", "clocks (fewer than 20 samples while busy)")
    if not runs.step_count:
        yield Note("T2, G7", "steps (none are known: no marker repeats over the run)")


def not_findings(runs: MergedDiagnosis) -> Iterator[Note]:
    """Alarms that other tools raise, with the reason why they are left out here."""
    others = [step for step in runs.steps if not step.is_usual]
    usual = [step for step in runs.steps if step.is_usual]
    if others and len(usual) >= _LEAST_STEPS:
        median = sorted(step.length_ns for step in usual)[len(usual) // 2]
        long = [step for step in others if step.length_ns > _LONG_STEP * median]
        kernel_ns = sum(step.gpu_ns for step in runs.steps)
        if long and kernel_ns:
            share = percent(sum(step.gpu_ns for step in long) / kernel_ns)
            numbers = sorted({step.number for step in long})
            labels = ", ".join(map(str, numbers[:_STEPS_SHOWN])) + (", ..." if len(numbers) > _STEPS_SHOWN else "")
            yield Note(
                "T2",
                f"steps {labels} of {long[0].name} are longer because they do other work (other kernels or grids, as "
                f"prefill has): {share} of the kernel time of all steps",
            )
    busy = 1 - runs.share(runs.time("idle_ns"))
    blocked = sum(runs.calls.get(kind, (0, 0, 0))[1] for kind in ("synchronisation", "copy call"))
    if runs.share(blocked) >= 0.1 and busy >= _HALF:
        yield Note("G5", f"{duration(blocked)} inside blocking calls: the GPU was busy {percent(busy)} of the time")
    graphs, all_count = int(runs.gpus["graph_count"].sum()), int(runs.gpus["dispatch_count"].sum())
    if graphs >= 0.1 * max(1, all_count):
        yield Note("L1", f"kernels shorter than their launch: {graphs:,} of {all_count:,} come from graphs")


def hot_kernels(runs: MergedDiagnosis) -> pl.DataFrame:
    """The fewest kernels that make up 80 % of the computation, and all of 3 % or more."""
    rows = runs.kernels
    computed = total(rows["total_ns"])
    if not computed:
        return rows.head(0).with_columns(share=pl.lit(0.0))
    share = pl.col("total_ns") / computed
    before = (pl.col("total_ns").cum_sum() - pl.col("total_ns")) / computed
    return rows.filter((before < _HOT) | (share >= _WARM)).with_columns(share=share)


def notes(runs: MergedDiagnosis, hot: pl.DataFrame) -> Iterator[Note]:
    """Hot kernels, copies by kernels of the runtime, scratch memory, unused GPUs."""
    rows, computed = runs.kernels, total(runs.kernels["total_ns"])
    is_of_runtime = pl.Series([is_runtime_kernel(name) for name in rows["name"]], dtype=pl.Boolean)
    movement = total(rows.filter(is_of_runtime)["total_ns"])
    if computed and movement >= _WARM * computed:
        share = percent(movement / computed)
        text = f"{share} of the computation is copies and fills that the runtime makes by kernels (__amd_rocclr_...)"
        yield Note("N5", f"{text}: they take compute units, and count as kernels in all answers")
    if hot.height:
        first = hot.row(0, named=True)
        names = short_names(hot["name"], _NAME)
        name = names[first["name"]]
        how_many = f"{hot.height} of {counted(runs.kernels.height, 'kernels')}"
        share = f"{percent(total(hot['share']))} of the computation"
        if hot.height == 1:
            yield Note("N1", f"{how_many} takes {share}: {name}")
        else:
            yield Note("N1", f"{how_many} take {share}; the first, {name}, takes {percent(first['share'])} of it")
        scratch = hot.filter(pl.col("scratch_bytes") > 0)
        if scratch.height:
            listed = ", ".join(names[name] for name in scratch["name"].head(3))
            count = counted(scratch.height, "hot kernels")
            yield Note("N2", f"{count} with scratch memory (spilled registers?): {listed}")
    unused = max((part.facts["unused_gpu_count"] for part in runs.partials), default=0)
    if unused and len(runs.partials) == 1:
        yield Note("N3", f"{unused} more {'GPU' if unused == 1 else 'GPUs'} visible, unused")
    yield from _far_from_roof(runs)


def _far_from_roof(runs: MergedDiagnosis) -> Iterator[Note]:
    """The operator with most time above that at the roof, where its calls are long enough to reach it."""
    answer = combine_operators([part.operators for part in runs.partials if part.operators])
    rows = answer.operators.filter(pl.col("limit").is_in(["computation", "memory"]))
    share = pl.coalesce("roof_share_max", "roof_share")
    rows = rows.filter(share < 1).sort(pl.col("gpu_ns") * (1 - share), descending=True)
    if not rows.height or rows["gpu_share"][0] < (RULES["N4"].say or 0):
        return
    first = rows.row(0, named=True)
    roof = "the matrix unit" if first["limit"] == "computation" else "memory"
    text = (
        f"{first['name'][:_NAME]} takes {percent(first['gpu_share'])} of the GPU time of operators and reaches "
        f"{percents(first['roof_share'], first['roof_share_max'])} of the peak of {roof} ({answer.gpu}): "
        f"wavewright operators {runs.path}"
    )
    yield Note("N4", text)
