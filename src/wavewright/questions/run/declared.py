"""Every question about runs, in the order of a report."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from wavewright.questions.kit import groups
from wavewright.questions.kit.parameters import text
from wavewright.questions.kit.question import Analysis, Display, Plot, then
from wavewright.questions.run.composed import busy_as_drawn, memory_as_drawn, several_ranks, time_budget
from wavewright.questions.run.next_questions import HOTTEST, after_diagnosis, after_kernels, after_ranks
from wavewright.questions.run.run_question import CHOICE, RunQuestion, kernels_named

if TYPE_CHECKING:
    from wavewright.analysis.run.contents.launch_statistics import LaunchStatistics
    from wavewright.analysis.run.contents.regions import Regions
    from wavewright.analysis.run.contents.summary import Summary
    from wavewright.analysis.run.diagnose import RunDiagnosis
    from wavewright.analysis.run.diagnose.budget import TimeBudget
    from wavewright.analysis.run.gpu_time.busy import Busy
    from wavewright.analysis.run.gpu_time.gaps import Gaps
    from wavewright.analysis.run.gpu_time.overlap import Overlap
    from wavewright.analysis.run.graph.path import CriticalPath
    from wavewright.analysis.run.kernels import Kernels
    from wavewright.analysis.run.kernels.operators import Operators
    from wavewright.analysis.run.kernels.top import Top
    from wavewright.analysis.run.memory.memory import Memory
    from wavewright.analysis.run.ranks.collective_times import Collectives
    from wavewright.analysis.run.ranks.ranks import Ranks
    from wavewright.analysis.run.select.recording import Recording
    from wavewright.analysis.run.steps import Steps
    from wavewright.model.blocks import Picture
    from wavewright.model.document import Document
    from wavewright.questions.kit.question import Parts, Wording


def _about() -> Analysis[Recording]:
    from wavewright.analysis.run.select.recording import Recording, recording

    return Analysis((Recording,), recording)


def _about_words(answer: Recording, wording: Wording) -> Parts:
    from wavewright.words.run.data.origin import about_parts

    return about_parts(answer, limit=wording.limit)


ABOUT = RunQuestion(
    name="about",
    group=groups.WHAT_IS_IT,
    title="What was measured",
    sentence=groups.ABOUT_SENTENCE,
    analysis=_about,
    words=_about_words,
    parameters={},
    next_always=(then("diagnose", "what set the time"), then("summary", "where the time went")),
    verb="info",
    tools=(),
    view="run_timeline",
    display=Display(2, 0),
)


def _diagnose() -> Analysis[RunDiagnosis]:
    from wavewright.analysis.run.diagnose import RunDiagnosis, diagnose_run

    return Analysis((RunDiagnosis,), diagnose_run)


def _diagnose_words(answer: RunDiagnosis, wording: Wording) -> Parts:
    from wavewright.words.run.diagnose import diagnosis_report

    return diagnosis_report(answer, limit=wording.limit)


DIAGNOSE = RunQuestion(
    name="diagnose",
    group=groups.CHANGES,
    title="Findings",
    sentence=groups.DIAGNOSE_SENTENCE,
    analysis=_diagnose,
    words=_diagnose_words,
    parameters=CHOICE,
    next_of_answer=after_diagnosis,
    next_always=(then("summary", "where the time went"),),
    verb_options=("--run",),
    tools=("diagnose",),
    view="run_diagnosis",
)


def _budget() -> Analysis[TimeBudget]:
    from wavewright.analysis.run.diagnose.budget import TimeBudget

    return Analysis((TimeBudget,))


def _budget_words(answer: TimeBudget, wording: Wording) -> Parts:
    from wavewright.words.run.diagnose import budget_report

    return budget_report(answer, limit=wording.limit)


def _budget_plot(document: Document, theme: str, top: int | None) -> Picture:
    from wavewright.words.run.pictures.budget import draw

    return draw(document, time_budget(document), theme, top)


BUDGET = RunQuestion(
    name="budget",
    title="Time budget",
    sentence="What was the time of the GPUs spent on: computation, exposed communication, exposed copies, idle?",
    analysis=_budget,
    words=_budget_words,
    composed=time_budget,
    parameters=CHOICE,
    rows=lambda answer: answer.parts,
    without_rows="no GPU work was recorded",
    next_always=(then("gaps", "why the GPUs idle"), then("overlap", "what is hidden behind what")),
    plots=(
        Plot(
            "budget",
            "Time budget",
            "computation, exposed communication, exposed copies and idle time of each GPU, which add up to 100 %",
            _budget_plot,
        ),
    ),
    verb="diagnose",
    verb_options=("--run",),
    display=Display(1, 1),
)


def _summary() -> Analysis[Summary]:
    from wavewright.analysis.run.contents.summary import Summary, summary

    return Analysis((Summary,), summary)


def _summary_words(answer: Summary, wording: Wording) -> Parts:
    from wavewright.words.run.summary import summary_report

    return summary_report(answer, width=wording.width, limit=wording.limit, **wording.how)


SUMMARY = RunQuestion(
    name="summary",
    title="Where the time went",
    sentence="Where did the time go: kernels, copies, allocations, calls, markers?",
    analysis=_summary,
    words=_summary_words,
    parameters=CHOICE,
    rows=lambda answer: answer.domains,
    without_rows="no event was recorded",
    next_always=(then("diagnose", "what set the time"), HOTTEST),
    view="run_summary",
    display=Display(1, 0),
)


def _kernels() -> Analysis[Kernels]:
    from wavewright.analysis.run.kernels import Kernels, kernels

    return Analysis((Kernels,), kernels)


def _kernels_words(answer: Kernels, wording: Wording) -> Parts:
    from wavewright.words.run.kernels import kernels_report

    return kernels_report(answer, **{"name": ""} | {**wording.how}, width=wording.width, limit=wording.limit)


def _histogram_plot(document: Document, theme: str, top: int | None) -> Picture:
    from wavewright.words.run.pictures.histogram import draw

    return draw(document, theme, top)


KERNELS = RunQuestion(
    name="kernels",
    title="Kernels",
    sentence="How do the dispatches of kernels behave: durations, launch parameters, registers, occupancy?",
    analysis=_kernels,
    words=_kernels_words,
    composed=kernels_named,
    parameters={**CHOICE, "name": text},
    rows=lambda answer: answer.kernels,
    without_rows="no dispatch was recorded",
    next_of_answer=after_kernels,
    next_always=(
        then("overlap", "what runs at the same time"),
        then("diagnose", "whether kernels set the time at all"),
    ),
    plots=(Plot("histogram", "Durations of kernels", "how the durations of the top kernels vary", _histogram_plot),),
    option_names={"name": ""},
    tools=("hotspots", "summary"),
    view="kernels",
)


def _busy() -> Analysis[Busy]:
    from wavewright.analysis.run.gpu_time.busy import Busy, busy

    return Analysis((Busy,), busy)


def _busy_words(answer: Busy, wording: Wording) -> Parts:
    from wavewright.words.run.busy import busy_report

    return busy_report(answer, width=wording.width, limit=wording.limit, **wording.how)


def _busy_plot(document: Document, theme: str, top: int | None) -> Picture:
    from wavewright.words.run.pictures.busy import draw

    return draw(document, theme, top)


BUSY = RunQuestion(
    name="busy",
    title="How busy the GPUs are",
    sentence="How busy is each GPU, in total and over time?",
    analysis=_busy,
    words=_busy_words,
    composed=busy_as_drawn,
    parameters=CHOICE,
    rows=lambda answer: answer.gpus,
    without_rows="no GPU work was recorded",
    next_always=(then("gaps", "when the GPUs idle, and why"), then("overlap", "what runs at the same time")),
    plots=(Plot("busy", "Busy over time", "when each GPU had kernels and copies to do", _busy_plot),),
    view="busy",
)


def _gaps() -> Analysis[Gaps]:
    from wavewright.analysis.run.gpu_time.gaps import Gaps, gaps

    return Analysis((Gaps,), gaps)


def _gaps_words(answer: Gaps, wording: Wording) -> Parts:
    from wavewright.words.run.gaps import gaps_report

    return gaps_report(answer, width=wording.width, limit=wording.limit, **wording.how)


def _gaps_plot(document: Document, theme: str, top: int | None) -> Picture:
    from wavewright.words.run.pictures.gaps import draw

    return draw(document, theme, top)


GAPS = RunQuestion(
    name="gaps",
    title="Idle time",
    sentence="When do the GPUs idle between their work, and who makes them wait?",
    analysis=_gaps,
    words=_gaps_words,
    parameters=CHOICE,
    rows=lambda answer: answer.gpus,
    without_rows="no GPU work was recorded",
    next_always=(
        then("launches", "by which calls, and how long before it starts"),
        then("path", "which chain of events set the time"),
    ),
    plots=(Plot("gaps", "Idle time", "what GPUs waited for between work, and how long the gaps were", _gaps_plot),),
    tools=("timeline",),
    view="gaps",
)


def _launches() -> Analysis[LaunchStatistics]:
    from wavewright.analysis.run.contents.launch_statistics import (
        LaunchStatistics,
        combine_launch_statistics,
        launch_statistics,
        partial_launch_statistics,
    )

    return Analysis((LaunchStatistics,), launch_statistics, partial_launch_statistics, combine_launch_statistics)


def _launches_words(answer: LaunchStatistics, wording: Wording) -> Parts:
    from wavewright.words.run.launches import launches_report

    return launches_report(answer, limit=wording.limit)


LAUNCHES = RunQuestion(
    name="launches",
    title="Launches",
    sentence="By which calls is GPU work launched, how long before it starts, how much is queued, how many per step?",
    analysis=_launches,
    words=_launches_words,
    parameters=CHOICE,
    rows=lambda answer: answer.functions,
    without_rows="no call that launches GPU work was recorded",
    next_always=(then("gaps", "what the GPUs wait for"), then("path", "which chain of events set the time")),
    tools=("timeline",),
    view="launches",
)


def _overlap() -> Analysis[Overlap]:
    from wavewright.analysis.run.gpu_time.overlap import Overlap, combine_overlap, overlap, partial_overlap

    return Analysis((Overlap,), overlap, partial_overlap, combine_overlap)


def _overlap_words(answer: Overlap, wording: Wording) -> Parts:
    from wavewright.words.run.overlap import overlap_report

    return overlap_report(answer, width=wording.width, limit=wording.limit)


OVERLAP = RunQuestion(
    name="overlap",
    title="What runs at the same time",
    sentence="What runs at the same time: copies, kernels, communication, computation, streams, processes, calls?",
    analysis=_overlap,
    words=_overlap_words,
    parameters=CHOICE,
    rows=lambda answer: answer.gpus,
    without_rows="no GPU work was recorded",
    next_always=(then("budget", "what nothing hides"), then("collectives", "communication by itself")),
    tools=("timeline",),
    view="overlap",
)


def _path() -> Analysis[CriticalPath]:
    from wavewright.analysis.run.graph.path import CriticalPath, critical_path

    return Analysis((CriticalPath,), critical_path)


def _path_words(answer: CriticalPath, wording: Wording) -> Parts:
    from wavewright.words.run.path import path_report

    return path_report(answer, width=wording.width, limit=wording.limit, **wording.how)


PATH = RunQuestion(
    name="path",
    title="Critical path",
    sentence="Which chain of host code, launches, kernels, copies and late ranks set the time?",
    analysis=_path,
    words=_path_words,
    parameters={name: CHOICE[name] for name in ("rank", "time")},
    rows=lambda answer: answer.segments,
    without_rows="no calls and no GPU work were recorded",
    next_always=(then("gaps", "idle time by cause"), then("regions", "which code launched it")),
    tools=("timeline",),
    view="path",
)


def _steps() -> Analysis[Steps]:
    from wavewright.analysis.run.steps import Steps, steps

    return Analysis((Steps,), steps)


def _steps_words(answer: Steps, wording: Wording) -> Parts:
    from wavewright.words.run.steps import steps_report

    return steps_report(answer, limit=wording.limit)


def _steps_plot(document: Document, theme: str, top: int | None) -> Picture:
    from wavewright.words.run.pictures.steps import draw

    return draw(document, theme, top)


STEPS = RunQuestion(
    name="steps",
    title="Steps",
    sentence="How long are the steps, what are they made of, and why do some take longer?",
    analysis=_steps,
    words=_steps_words,
    parameters=CHOICE,
    rows=lambda answer: answer.steps,
    without_rows="no steps: no marker covers the GPU work, and its kernels do not repeat",
    next_always=(then("gaps", "idle time by cause"), then("ranks", "whether ranks wait for each other")),
    plots=(Plot("steps", "Steps", "how long each step took, by what its GPUs did", _steps_plot),),
    tools=("timeline",),
)


def _ranks() -> Analysis[Ranks]:
    from wavewright.analysis.run.ranks.ranks import Ranks, combine_ranks, partial_ranks, ranks

    return Analysis((Ranks,), ranks, partial_ranks, combine_ranks)


def _ranks_words(answer: Ranks, wording: Wording) -> Parts:
    from wavewright.words.run.ranks import ranks_report

    return ranks_report(answer, limit=wording.limit)


def _ranks_plot(document: Document, theme: str, top: int | None) -> Picture:
    from wavewright.words.run.pictures.ranks import draw

    return draw(document, theme, top)


RANKS = RunQuestion(
    name="ranks",
    title="Ranks",
    sentence="Which ranks have more work, arrive late, and let the others wait?",
    analysis=_ranks,
    words=_ranks_words,
    composed=several_ranks,
    parameters={name: CHOICE[name] for name in ("kernel", "time")},
    rows=lambda answer: answer.processes,
    next_of_answer=after_ranks,
    next_always=(then("collectives", "who is late, and why"),),
    plots=(Plot("ranks", "Ranks", "what each rank had to do, and how long it waited for others", _ranks_plot),),
    tools=("timeline",),
    view="ranks",
)


def _collectives() -> Analysis[Collectives]:
    from wavewright.analysis.run.ranks.collective_times import Collectives, collectives

    return Analysis((Collectives,), collectives)


def _collectives_words(answer: Collectives, wording: Wording) -> Parts:
    from wavewright.words.run.collectives import collectives_report

    return collectives_report(answer, limit=wording.limit, **wording.how)


COLLECTIVES = RunQuestion(
    name="collectives",
    title="Collectives",
    sentence="How long do collectives of ranks take, at which bandwidth, who waits in them, and what made them late?",
    analysis=_collectives,
    words=_collectives_words,
    parameters={name: CHOICE[name] for name in ("rank", "time")},
    rows=lambda answer: answer.collectives,
    without_rows="no collective was recorded",
    next_always=(then("ranks", "who has more work"), then("overlap", "what is hidden behind computation")),
    tools=("timeline",),
    view="collectives",
)


def _memory() -> Analysis[Memory]:
    from wavewright.analysis.run.memory.memory import Memory, memory

    return Analysis((Memory,), memory)


def _memory_words(answer: Memory, wording: Wording) -> Parts:
    from wavewright.words.run.memory import memory_report

    return memory_report(answer, width=wording.width, limit=wording.limit)


def _memory_plot(document: Document, theme: str, top: int | None) -> Picture:
    from wavewright.words.run.pictures.memory import draw

    return draw(document, theme, top)


MEMORY = RunQuestion(
    name="memory",
    title="Memory",
    sentence="How much memory is in use, what is alive at the peak, what is not freed?",
    analysis=_memory,
    words=_memory_words,
    composed=memory_as_drawn,
    parameters={name: CHOICE[name] for name in ("rank", "gpu", "time")},
    rows=lambda answer: answer.places,
    without_rows="no allocation was recorded",
    next_always=(then("regions", "which code allocates"), then("gaps", "whether allocations stop the GPU")),
    plots=(Plot("memory", "Memory in use", "memory over time with its peak", _memory_plot),),
    view="memory",
)


def _regions() -> Analysis[Regions]:
    from wavewright.analysis.run.contents.regions import Regions, regions

    return Analysis((Regions,), regions)


def _regions_words(answer: Regions, wording: Wording) -> Parts:
    from wavewright.words.run.regions import folded_report

    return folded_report(answer, limit=wording.limit)


REGIONS = RunQuestion(
    name="regions",
    title="Regions",
    sentence="Which calls, markers and operators take the time, as a tree, and what GPU work do they cause?",
    analysis=_regions,
    words=_regions_words,
    parameters={name: CHOICE[name] for name in ("rank", "gpu", "time")},
    rows=lambda answer: answer.tree,
    without_rows="no call, marker or operator was recorded",
    next_always=(then("launches", "how work is launched"), then("path", "which of it set the time")),
    view="regions",
)


def _operators() -> Analysis[Operators]:
    from wavewright.analysis.run.kernels.operators import Operators, operators

    return Analysis((Operators,), operators)


def _operators_words(answer: Operators, wording: Wording) -> Parts:
    from wavewright.words.run.operators import operators_report

    return operators_report(answer, limit=wording.limit)


OPERATORS = RunQuestion(
    name="operators",
    title="Operators against the roof",
    sentence="Which operators take the GPU time, for which shapes, and how far are they from the roof of the GPU?",
    analysis=_operators,
    words=_operators_words,
    parameters={name: CHOICE[name] for name in ("rank", "gpu", "time")},
    rows=lambda answer: answer.operators,
    without_rows="no operator that launched GPU work was recorded",
    next_always=(then("regions", "which modules they are called in"), HOTTEST),
    tools=("summary",),
)


def _top() -> Analysis[Top]:
    from wavewright.analysis.run.kernels.top import Top, top

    return Analysis((Top,), top)


def _top_words(answer: Top, wording: Wording) -> Parts:
    from wavewright.words.run.top import top_report

    return top_report(answer, limit=wording.limit, **wording.how)


TOP = RunQuestion(
    name="top",
    title="Kernels and copies with most time",
    sentence="Which kernels and copies take most GPU time?",
    analysis=_top,
    words=_top_words,
    parameters=CHOICE,
    rows=lambda answer: answer.things,
    without_rows="no GPU work was recorded",
    next_always=(then("summary", "where the time went"), HOTTEST, then("diagnose", "what set the time")),
    is_asked_for=True,
)


#: In the order of a report, which is that of this file.
QUESTIONS: tuple[RunQuestion[Any], ...] = tuple(each for each in [*globals().values()] if isinstance(each, RunQuestion))
