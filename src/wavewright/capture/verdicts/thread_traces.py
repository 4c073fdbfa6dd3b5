"""Verdicts about thread traces: decoded by us, whatever AMD's tools said.

First the dispatches that the filters let pass are told from others, then the worst thing that is true of them decides:
unreadable, empty, truncated, lossy, fewer than launches were named (incomplete), else good.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from wavewright.base.words import counted, percent, shortened
from wavewright.capture.judgement import Judgement, TracedDispatch, Verdict
from wavewright.capture.verdicts.launches import LaunchTables, launch_count, number_arguments, passes, why_none
from wavewright.capture.verdicts.streams import Look, Looks, listed_engines, looks_below
from wavewright.errors import WavewrightError
from wavewright.facts.kernel_titles import kernel_title

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from wavewright.capture.gpus.topology import Gpu
    from wavewright.capture.kinds import ThreadTraces

NOISE_BYTES_MAX = 32 << 20  #: Two launches of more bytes are not compared: their instructions are in memory at once.


def judge_data(recording: ThreadTraces, attempt: Path, gpu: Gpu | None = None) -> Judgement:
    """Judge the thread traces below `attempt/raw`."""
    looks, tables = looks_below(attempt, recording, gpu), LaunchTables(attempt / "raw")
    looks = replace(looks, looks=tuple(_with_launch(look, attempt, tables) for look in looks.looks))
    judgement = _of_data(looks, recording, tables)
    if recording.arguments_library and judgement.dispatches:
        count = number_arguments(attempt, judgement.dispatches)
        note = f"arguments were recorded of {count} of {counted(len(judgement.dispatches), 'traced dispatches')}."
        judgement = replace(judgement, reasons=(*judgement.reasons, note))
    return judgement


def rank_of(dispatch: TracedDispatch) -> tuple[int, int, float]:
    """The worth of a dispatch: more waves, more instructions, more of them with a source line."""
    return dispatch.wave_count, dispatch.instruction_count, dispatch.mapped_share or 0.0


def _with_launch(look: Look, attempt: Path, tables: LaunchTables) -> Look:
    place = attempt / look.dispatch.folder
    hit = tables.launch_of(look.dispatch.dispatch, place if look.window else attempt / "raw")
    if hit is None:
        return look
    name, launch = hit
    dispatch = replace(look.dispatch, kernel=look.dispatch.kernel or name, launch=launch)
    return replace(look, dispatch=dispatch, recorded_kernel=name)


def _of_data(looks: Looks, recording: ThreadTraces, tables: LaunchTables) -> Judgement:
    ranked = sorted(looks.looks, key=lambda look: rank_of(look.dispatch), reverse=True)
    candidates = _candidates(ranked, recording)
    others = [look for look in ranked if look not in candidates]
    dispatches = tuple(look.dispatch for look in (*candidates, *others))
    if not candidates:
        has_output = looks.has_code_objects or bool(ranked)
        judgement = why_none(recording, tables.everything, has_output=has_output)
        names = sorted({shortened(kernel_title(look.dispatch.kernel)) for look in others})
        more = (f"traced were only other kernels: {', '.join(names[:3])}.",) if others else ()
        return replace(judgement, reasons=(*judgement.reasons, *more), dispatches=dispatches)
    readable = [look for look in candidates if look.is_readable]
    full = [look for look in readable if look.dispatch.wave_count]
    verdict, reasons, advice = _verdict(readable, full, recording)
    notes = tuple(dict.fromkeys(note for look in candidates for note in look.notes))
    if looks.left_out:
        notes += (f"{counted(looks.left_out, 'smaller dispatches')} were not decoded.",)
    places = [look.seen for look in readable]
    noise = _noise_share(full, looks) if len(full) > 1 else None
    if noise is not None:
        notes += (f"two launches differ by {percent(noise)} in the mean duration of their waves.",)
    return Judgement(
        verdict=verdict,
        reasons=(*reasons, *notes),
        advice=advice,
        dispatches=dispatches,
        busy_engines=tuple(sorted({engine for place in places for engine in place.engines})),
        busy_cus=tuple(sorted({cu for place in places for cu in place.cus})),
        busy_simds=tuple(sorted({simd for place in places for simd in place.simds})),
        launch_count=launch_count(recording, tables.everything),
        noise_share=noise,
    )


def _candidates(looks: Sequence[Look], recording: ThreadTraces) -> list[Look]:
    """The dispatches that the filters of the capture were meant to let pass.

    rocprofv3 filtered by names as it spells them. Where they are not recorded ours stand in, which may be spelled
    another way: then a dispatch is only left out if another one fits.
    """
    fitting = [look for look in looks if passes(recording, look.recorded_kernel or look.dispatch.kernel)]
    if fitting:
        return [look for look in looks if look in fitting or not look.dispatch.kernel]
    return [look for look in looks if not look.recorded_kernel]


def _verdict(
    readable: Sequence[Look], full: Sequence[Look], recording: ThreadTraces
) -> tuple[Verdict, tuple[str, ...], str]:
    """The verdict, its reasons, and the advice; `full` are the readable dispatches that have waves."""
    if not readable:
        advice = "Use the aqlprofile and rocprofv3 of one installation; `wavewright doctor` compares them."
        return Verdict.FAILED, ("no stream can be read as a thread trace.",), advice
    if not full:
        return (Verdict.EMPTY, *_why_empty(readable))
    truncated = [look.dispatch for look in full if look.dispatch.is_truncated]
    lossy = [look.dispatch for look in full if look.dispatch.is_lossy]
    if truncated:
        cause = "the buffer was full, or the trace stopped, before the kernel ended"
        what = f"{_how_many(truncated, full)} cut off: {cause}."
        return Verdict.TRUNCATED, (what,), "Use a larger --buffer, or fewer shader engines (--se)."
    if lossy:
        cause = "the GPU could not write the trace fast enough, and dropped parts of it"
        what = f"{_how_many(lossy, full)} not whole: {cause}."
        advice = "Sample counters more rarely (--period) or not at all, or trace fewer shader engines (--se)."
        return Verdict.LOSSY, (what,), advice
    good = _facts(full[0].dispatch)
    empty = len(readable) - len(full)
    if len(recording.launches) > len(full) and recording.consecutive is None:
        came = counted(len(full), "traces that have waves")
        floor = ": there is no noise floor" if len(full) == 1 else ""
        missing = f"{len(recording.launches)} launches were asked for, and {came} came{floor}."
        advice = "Trace more shader engines (--se), so that every launch has waves there."
        if not empty:
            last = max(recording.launches)
            advice = f"The kernel may be launched fewer than {last} times: choose earlier launches (--launch)."
        return Verdict.INCOMPLETE, (missing, good), advice
    placeholders = (f"{counted(empty, 'other dispatches')} without waves.",) if empty else ()
    return Verdict.GOOD, (good, *placeholders), ""


def _how_many(part: Sequence[TracedDispatch], full: Sequence[Look]) -> str:
    if len(full) == 1:
        return "the trace is"
    return f"{len(part)} of {len(full)} traces {'is' if len(part) == 1 else 'are'}"


def _facts(best: TracedDispatch) -> str:
    mapped = "" if best.mapped_share is None else f", {percent(best.mapped_share, 0)} with a source line"
    waves, instructions = counted(best.wave_count, "waves"), counted(best.instruction_count, "instructions")
    launch = f" (launch {best.launch})" if best.launch else ""
    return f"dispatch {best.dispatch}{launch} has {waves} and {instructions}{mapped}."


def _why_empty(looks: Sequence[Look]) -> tuple[tuple[str, ...], str]:
    """The reasons why no dispatch has waves, and the advice: by where other waves were seen."""
    engines: frozenset[int] = frozenset().union(*(look.seen.engines for look in looks))
    cus: frozenset[int] = frozenset().union(*(look.seen.cus for look in looks))
    traced = counted(len(looks), "dispatches")
    what = f"{traced} {'was' if len(looks) == 1 else 'were'} traced, but no wave ran on the traced CU and SIMDs"
    if not engines:
        advice = "Trace more shader engines (--se), or a larger problem that fills the GPU."
        return (f"{what}, and none on the selected shader engines.",), advice
    where = f"waves were seen on {listed_engines(cus, 'CUs')} of {listed_engines(engines, 'shader engines')}"
    choice = f" (--cu {min(cus)})" if cus else ""
    advice = (
        f"Trace another CU{choice} or more shader engines (--se); or run a larger problem, or set HSA_CU_MASK so "
        "that only the traced CU works."
    )
    return (f"{what}; {where}.",), advice


def _noise_share(full: Sequence[Look], looks: Looks) -> float | None:
    """The difference of the two best launches of one kernel; None = they cannot be compared."""
    from wavewright.analysis.trace.compare import compare
    from wavewright.readers.trace.att import decode_window

    first = full[0]
    second = next((look for look in full[1:] if look.dispatch.kernel == first.dispatch.kernel), None)
    if second is None or first.window is None or second.window is None or looks.capture is None:
        return None
    if first.dispatch.size_bytes + second.dispatch.size_bytes > NOISE_BYTES_MAX:
        return None
    try:
        traces = [decode_window(looks.capture, window) for window in (first.window, second.window)]
        share = compare(traces, by="function").traces["duration_delta_share"].to_list()[1]
    except (WavewrightError, OSError):
        return None
    return None if share is None else abs(float(share))
