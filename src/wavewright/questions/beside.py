"""Words of answers that are the answer to no declared question: comparisons, and what options of verbs ask for."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

    from wavewright.model.answer import Answer
    from wavewright.questions.kit.question import Parts, Wording

    Words = Callable[[Any, Wording], Parts]


def words_beside_questions(answer: Answer) -> Words | None:
    """The words of the verb that prints an answer, by its type; None = there are none."""
    kind = type(answer).__module__.removeprefix("wavewright.analysis.").partition(".")[0]
    makers = {"code": _of_code, "counters": _of_counters, "run": _of_runs, "trace": _of_traces}
    return makers[kind]().get(type(answer)) if kind in makers else None


@cache
def _of_code() -> dict[type[Answer], Words]:
    from wavewright.analysis.code.object_overview import CodeOverview
    from wavewright.words.code.object_list import overview_report

    return {CodeOverview: _worded(overview_report)}


@cache
def _of_counters() -> dict[type[Answer], Words]:
    from wavewright.analysis.counters.compare import CounterComparison
    from wavewright.words.counters.capture_changes import counter_comparison_report

    return {CounterComparison: _worded(counter_comparison_report)}


@cache
def _of_runs() -> dict[type[Answer], Words]:
    from wavewright.analysis.run.compare.compare import RunComparison
    from wavewright.analysis.run.contents.run_contents import Contents
    from wavewright.words.run.data.contents import contents_report
    from wavewright.words.run.run_changes import comparison_report

    return {Contents: _limited(contents_report), RunComparison: _limited(comparison_report)}


@cache
def _of_traces() -> dict[type[Answer], Words]:
    from wavewright.analysis.trace.compare import Comparison
    from wavewright.analysis.trace.floors import Floors
    from wavewright.analysis.trace.lanes.pattern import RowPattern
    from wavewright.analysis.trace.stalls.classic import Classic
    from wavewright.words.trace.lane_access.floors import floors_report
    from wavewright.words.trace.lane_access.pattern import pattern_report
    from wavewright.words.trace.stalls import classic_report
    from wavewright.words.trace.trace_changes import compare_report

    return {
        Classic: _limited(classic_report),
        Comparison: _limited(compare_report),
        Floors: _limited(floors_report),
        RowPattern: lambda answer, _wording: pattern_report(answer),
    }


def _limited(report: Callable[..., Parts]) -> Words:
    return lambda answer, wording: report(answer, limit=wording.limit, **wording.how)


def _worded(report: Callable[..., Parts]) -> Words:
    return lambda answer, wording: report(answer, width=wording.width, limit=wording.limit)
