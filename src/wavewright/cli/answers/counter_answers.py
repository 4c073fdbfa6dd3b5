"""Answers about counter captures, by the options of their verbs."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from wavewright.cli.kit.io import console, progress
from wavewright.cli.kit.question_verb import Shown

if TYPE_CHECKING:
    from collections.abc import Callable

    from wavewright.cli.kit.counters import CounterRequest
    from wavewright.cli.kit.picture import PictureRequest
    from wavewright.cli.kit.request import Parts, Request
    from wavewright.questions.kit.question import Wording

_TEXT_KERNELS = 5  #: Without --top, text shows the limits of so many kernels.


def diagnose(request: CounterRequest) -> Shown:
    """Limits of kernels, in text of the longest."""
    from wavewright.analysis.counters.limiters import limiter_table, limiters

    is_text = not (request.as_json or request.as_csv)
    kernel_count = _TEXT_KERNELS if is_text and request.top is None else request.top or None
    # Not for CSV, which cuts rows of kernels and limiters itself.
    answer = limiters(request.counters, choice=request.choice, top=None if request.as_csv else kernel_count)
    return Shown(answer, limiter_table(answer))


def l2(request: Request, target: str | None, **options: Any) -> Shown:
    """L2 and memory of captures, side by side."""
    import polars as pl

    from wavewright.analysis.counters.l2 import l2 as analysis
    from wavewright.readers.counters import open_counters

    captures = []
    for path in dict.fromkeys(request.paths):
        with progress(f"reading {path.name}"):  # type: ignore[union-attr]
            captures.append(open_counters(path))
    answer = analysis(*captures, gpu=target, **options)
    return Shown(answer, losses=pl.concat([counters.losses for counters in captures]))


def closure(request: Request, kernel: str | None, target: str | None, arguments: tuple[str, ...]) -> Shown:
    """Grid, passes and a thread trace against the counters."""
    from wavewright.analysis.trace.diagnose.balance import balance
    from wavewright.analysis.trace.lanes.evaluated import LaneOptions
    from wavewright.errors import UsageError
    from wavewright.readers.counters import open_counters
    from wavewright.readers.files.kinds import THREAD_TRACES, Kind, sniff
    from wavewright.readers.opening import open_trace

    paths = [Path(path) for path in dict.fromkeys(request.paths)]
    trace_paths = [path for path in paths if (kind := sniff(path)) in THREAD_TRACES and kind is not Kind.SAMPLES]
    counter_paths = [path for path in paths if path not in trace_paths]
    if len(counter_paths) != 1 or len(trace_paths) > 1:
        message = f"{len(counter_paths)} counter captures and {len(trace_paths)} thread traces"
        raise UsageError(message, advice="give one counter capture, and one thread trace at most")
    with progress(f"reading {counter_paths[0].name}"):
        trace = open_trace(trace_paths[0]) if trace_paths else None
        counters = open_counters(counter_paths[0], target=target)
        if trace is not None and counters.system.target is None:
            counters = open_counters(counter_paths[0], target=trace.source.target)
    lanes = LaneOptions(arguments=arguments) if arguments else None
    return Shown(balance(counters, trace, kernel=kernel, lanes=lanes), losses=counters.losses)


def memory_chart(request: CounterRequest, normalization: str, amd: bool, picture: PictureRequest) -> Shown:
    """Traffic between caches, per kernel, wave, cycle or second."""
    from wavewright.analysis.counters.memory_chart import memory_chart as analysis
    from wavewright.analysis.counters.memory_chart import one_table

    picture.check()
    counters, choice = request.counters, request.choice
    with progress("computing metrics"):
        answer = analysis(counters, choice=choice, normalization=normalization, amd=amd)

    def drawn(theme: str) -> str:
        from wavewright.words.counters.memory_chart.svg import memory_chart_svg

        return memory_chart_svg(answer, theme=theme)

    def words(wording: Wording) -> Parts:
        from wavewright.words.counters.memory_chart import memory_chart_report

        screen = console()
        has_colours = screen.color_system is not None and not screen.no_color
        return memory_chart_report(answer, width=wording.width, has_colours=has_colours)

    return Shown(answer, one_table(answer), words=words, drawn=drawn, is_cut=True)


def roofline(request: CounterRequest, precision: str, level: str, picture: PictureRequest, **options: Any) -> Shown:
    """Points below chosen roofs."""
    from wavewright.analysis.counters.roofline import roofline as analysis
    from wavewright.analysis.counters.roofline.kinds import chosen_levels, chosen_precisions

    picture.check()
    roofs = {"levels": chosen_levels(level), "precisions": chosen_precisions(precision)}
    answer = analysis(request.counters, choice=request.choice, top=request.top or None, **options)

    def drawn(theme: str) -> str:
        from wavewright.words.counters.roofline.svg import roofline_svg

        return roofline_svg(answer, theme=theme, limit=request.limit, **roofs)

    return Shown(answer, answer.points, roofs, drawn=drawn, is_cut=True)


#: Name of a question -> the function that answers it by the options of its verb.
ANSWERS: dict[str, Callable[..., Shown]] = {
    function.__name__.replace("_", "-"): function for function in (closure, diagnose, l2, memory_chart, roofline)
}
