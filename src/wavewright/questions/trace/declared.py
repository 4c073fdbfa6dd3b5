"""Every question about thread traces, in the order of a report."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from wavewright.base.bounds import ITEM
from wavewright.questions.kit import groups
from wavewright.questions.kit.parameters import Number, size, text
from wavewright.questions.kit.question import Analysis, Display, Plot, then
from wavewright.questions.trace.beside_trace import edits_with_run
from wavewright.questions.trace.composed import (
    dispatch_traffic,
    either_diagnosis,
    either_hotspots,
    either_stalls,
    occupancy_over_time,
    source_at,
    trace_contents,
    trace_coverage,
    waits_at,
    wave_states,
)
from wavewright.questions.trace.next_questions import (
    COSTLIEST_LINES,
    after_diagnosis,
    after_hotspots,
    after_lanes,
    after_source,
    after_stalls,
    after_waits,
)
from wavewright.questions.trace.trace_question import AT, CHOICE, LINES, UNIT, TraceQuestion

if TYPE_CHECKING:
    from wavewright.analysis.trace.about.overview import Contents
    from wavewright.analysis.trace.barriers import Barriers
    from wavewright.analysis.trace.compare.slow_waves import SlowWaves
    from wavewright.analysis.trace.costs.hotspots import Hotspots, SampleHotspots
    from wavewright.analysis.trace.costs.loops import Loops
    from wavewright.analysis.trace.diagnose import Diagnosis
    from wavewright.analysis.trace.fabric import FabricTraffic
    from wavewright.analysis.trace.lanes.answer import Lanes
    from wavewright.analysis.trace.listing.hot_code import HotCode
    from wavewright.analysis.trace.memory_latency import MemoryLatency
    from wavewright.analysis.trace.occupancy import Occupancy
    from wavewright.analysis.trace.samples.diagnosis import SampleDiagnosis, SampleStalls
    from wavewright.analysis.trace.stalls import Stalls
    from wavewright.analysis.trace.waits import Waits
    from wavewright.analysis.trace.what_if import WhatIf
    from wavewright.model.blocks import Picture
    from wavewright.model.document import Document
    from wavewright.questions.kit.question import Parts, Wording
    from wavewright.questions.trace.answers import OccupancyOverTime, TraceCoverage, WaveStates


def _about() -> Analysis[Contents]:
    from wavewright.analysis.trace.about.overview import Contents

    return Analysis((Contents,))


def _about_words(answer: Contents, wording: Wording) -> Parts:
    from wavewright.words.trace.input.trace_facts import about_parts

    return about_parts(answer, limit=wording.limit)


ABOUT = TraceQuestion(
    name="about",
    group=groups.WHAT_IS_IT,
    title="What was measured",
    sentence=groups.ABOUT_SENTENCE,
    analysis=_about,
    words=_about_words,
    composed=trace_contents,
    parameters={},
    next_always=(then("diagnose", "what to change first"), then("coverage", "how far to trust it")),
    verb="info",
    tools=(),
    view="summary",
    display=Display(1, 0),
)


def _diagnose() -> Analysis[Diagnosis | SampleDiagnosis]:
    from wavewright.analysis.trace.diagnose import Diagnosis
    from wavewright.analysis.trace.samples.diagnosis import SampleDiagnosis

    return Analysis((Diagnosis, SampleDiagnosis))


def _diagnose_words(answer: Diagnosis | SampleDiagnosis, wording: Wording) -> Parts:
    from wavewright.words.trace.diagnose import diagnosis_report

    return diagnosis_report(answer, limit=wording.limit)


DIAGNOSE = TraceQuestion(
    name="diagnose",
    group=groups.CHANGES,
    title="Findings",
    sentence=groups.DIAGNOSE_SENTENCE,
    analysis=_diagnose,
    words=_diagnose_words,
    composed=either_diagnosis,
    parameters=CHOICE,
    next_of_answer=after_diagnosis,
    next_always=(COSTLIEST_LINES,),
    tools=("diagnose",),
    view="diagnosis",
    display=Display(2, 0),
)


def _plan_words(answer: Diagnosis | SampleDiagnosis, wording: Wording) -> Parts:
    from wavewright.words.trace.plan import plan_report

    return plan_report(answer, limit=wording.limit)


PLAN = TraceQuestion(
    name="plan",
    title="Plan",
    sentence="What is to be done in which order: cause, fix, effort and expected gain of each place that stalls?",
    analysis=_diagnose,
    words=_plan_words,
    composed=either_diagnosis,
    parameters=CHOICE,
    next_always=(COSTLIEST_LINES,),
    verb="diagnose",
    verb_options=("--format", "plan"),
    tools=("diagnose",),
    is_asked_for=True,
)


def _hotspots() -> Analysis[Hotspots | SampleHotspots]:
    from wavewright.analysis.trace.costs.hotspots import Hotspots, SampleHotspots

    return Analysis((Hotspots, SampleHotspots))


def _hotspots_words(answer: Hotspots | SampleHotspots, wording: Wording) -> Parts:
    from wavewright.words.trace.hotspots import hotspots_report

    return hotspots_report(answer, limit=wording.limit)


HOTSPOTS = TraceQuestion(
    name="hotspots",
    title="Costliest instructions",
    sentence="Which instructions, lines, files, functions, kernels, blocks or loops take the cycles?",
    analysis=_hotspots,
    words=_hotspots_words,
    composed=either_hotspots,
    parameters={**CHOICE, "by": UNIT},
    rows=lambda answer: answer.units,
    without_rows="no instruction was executed",
    next_of_answer=after_hotspots,
    next_always=(then("diagnose", "what to change first"),),
    tools=("hotspots",),
    view="isa",
    display=Display(0, 1),
)


def _source() -> Analysis[HotCode]:
    from wavewright.analysis.trace.listing.hot_code import HotCode

    return Analysis((HotCode,))


def _source_words(answer: HotCode, _wording: Wording) -> Parts:
    from wavewright.words.trace.listing.hot_code import hot_code_parts

    return hot_code_parts(answer)


def _heat_plot(document: Document, theme: str, top: int | None) -> Picture:
    from wavewright.words.trace.pictures.heat import draw

    return draw(document, theme, top)


SOURCE = TraceQuestion(
    name="source",
    title="Source of the hot lines",
    sentence="What does each line of the code or its source cost, and what does it wait for?",
    analysis=_source,
    words=_source_words,
    composed=source_at,
    parameters={**AT, "file": text, "line": CHOICE["line"], **LINES},
    rows=lambda answer: answer.lines,
    without_rows="no line of code is known",
    next_of_answer=after_source,
    next_always=(COSTLIEST_LINES,),
    plots=(Plot("heat", "Heat of the source", "the hottest source lines, or instructions", _heat_plot),),
    option_names={"lines": "--context"},
    tools=("source",),
    view="source",
)


def _stalls() -> Analysis[Stalls | SampleStalls]:
    from wavewright.analysis.trace.samples.diagnosis import SampleStalls
    from wavewright.analysis.trace.stalls import Stalls

    return Analysis((Stalls, SampleStalls))


def _stalls_words(answer: Stalls | SampleStalls, wording: Wording) -> Parts:
    from wavewright.words.trace.stalls import either_report

    return either_report(answer, limit=wording.limit)


STALLS = TraceQuestion(
    name="stalls",
    group=groups.KERNEL_WAITS,
    needs="instructions",
    title="Stalls",
    sentence="What do the waves stall on, and what helps against it?",
    analysis=_stalls,
    words=_stalls_words,
    composed=either_stalls,
    parameters=CHOICE,
    next_of_answer=after_stalls,
    next_always=(then("diagnose", "what to change first"),),
    view="stalls",
)


def _waits() -> Analysis[Waits]:
    from wavewright.analysis.trace.waits import Waits, waits

    return Analysis((Waits,), waits)


def _waits_words(answer: Waits, wording: Wording) -> Parts:
    from wavewright.words.trace.waits import waits_report

    return waits_report(answer, limit=wording.limit)


WAITS = TraceQuestion(
    name="waits",
    group=groups.KERNEL_WAITS,
    title="Waits",
    sentence="Which instruction does each wait wait for, and how much earlier should it be issued?",
    analysis=_waits,
    words=_waits_words,
    composed=waits_at,
    parameters={**CHOICE, **AT},
    rows=lambda answer: answer.waits,
    without_rows="no wait was executed",
    next_of_answer=after_waits,
    next_always=(then("latency", "how long memory operations take"),),
    tools=("explain_wait",),
    view="waits",
)


def _loops() -> Analysis[Loops]:
    from wavewright.analysis.trace.costs.loops import Loops, loops

    return Analysis((Loops,), loops)


def _loops_words(answer: Loops, wording: Wording) -> Parts:
    from wavewright.words.trace.loops import loops_report

    return loops_report(answer, limit=wording.limit, **wording.how)


LOOPS = TraceQuestion(
    name="loops",
    title="Loops",
    sentence="How often do loops run, and what does an iteration cost?",
    analysis=_loops,
    words=_loops_words,
    parameters=CHOICE,
    rows=lambda answer: answer.loops,
    without_rows="no loop was executed",
    next_always=(then("source", "the hot lines"), then("waits", "what the loop waits for")),
    tools=("hotspots",),
    view="loops",
)


def _latency() -> Analysis[MemoryLatency]:
    from wavewright.analysis.trace.memory_latency import MemoryLatency, memory_latency

    return Analysis((MemoryLatency,), memory_latency)


def _latency_words(answer: MemoryLatency, wording: Wording) -> Parts:
    from wavewright.words.trace.latency import latency_report

    return latency_report(answer, width=wording.width, limit=wording.limit)


LATENCY = TraceQuestion(
    name="latency",
    group=groups.KERNEL_WAITS,
    title="Memory latency",
    sentence="How long does each memory operation take, and how much of it is hidden?",
    analysis=_latency,
    words=_latency_words,
    parameters=CHOICE,
    rows=lambda answer: answer.by_row,
    without_rows="no memory operation was executed",
    next_always=(then("waits", "who waits for it"), then("hotspots", "the costliest instructions")),
    tools=("hotspots",),
    view="memory_latency",
)


def _barriers() -> Analysis[Barriers]:
    from wavewright.analysis.trace.barriers import Barriers, barriers

    return Analysis((Barriers,), barriers)


def _barriers_words(answer: Barriers, wording: Wording) -> Parts:
    from wavewright.words.trace.barriers import barriers_report

    return barriers_report(answer, limit=wording.limit)


BARRIERS = TraceQuestion(
    name="barriers",
    group=groups.KERNEL_WAITS,
    title="Barriers",
    sentence="Which wave arrives last at each barrier, and what do the others lose?",
    analysis=_barriers,
    words=_barriers_words,
    parameters=CHOICE,
    rows=lambda answer: answer.rows,
    without_rows="no barrier was executed",
    next_always=(then("waits", "what the last wave waits for"), then("states", "what waves do over time")),
    tools=("hotspots",),
    view="barriers",
)


def _occupancy() -> Analysis[OccupancyOverTime | Occupancy]:
    from wavewright.analysis.trace.occupancy import Occupancy
    from wavewright.questions.trace.answers import OccupancyOverTime

    return Analysis((OccupancyOverTime, Occupancy))


def _occupancy_words(answer: OccupancyOverTime | Occupancy, wording: Wording) -> Parts:
    from wavewright.questions.trace.answers import OccupancyOverTime
    from wavewright.words.trace.occupancy import occupancy_report

    if not isinstance(answer, OccupancyOverTime):
        return occupancy_report(answer, (), limit=wording.limit)
    return occupancy_report(answer.occupancy, answer.curves, limit=wording.limit)


OCCUPANCY = TraceQuestion(
    name="occupancy",
    group=groups.KERNEL_TRUST,
    needs="instructions",
    title="Occupancy",
    sentence="How many waves fit on a SIMD, how many were there, and what limits them?",
    analysis=_occupancy,
    words=_occupancy_words,
    composed=occupancy_over_time,
    parameters={},
    next_always=(then("states", "what waves do over time"), then("diagnose", "whether it matters")),
    view="occupancy_limits",
)


def _states() -> Analysis[WaveStates]:
    from wavewright.analysis.trace.pipes.utilization import Utilization
    from wavewright.analysis.trace.waves.resident import KernelResidency
    from wavewright.analysis.trace.waves.states import States
    from wavewright.questions.trace.answers import WaveStates

    return Analysis((WaveStates,), parts=(States, Utilization, KernelResidency))


def _states_words(answer: WaveStates, wording: Wording) -> Parts:
    from wavewright.words.trace.states import states_report

    return states_report(
        answer.states, answer.pipes, answer.residency, issue_share=answer.issue_share, width=100, limit=wording.limit
    )


def _states_plot(document: Document, theme: str, top: int | None) -> Picture:
    from wavewright.words.trace.pictures.states import draw

    return draw(document, theme, top)


STATES = TraceQuestion(
    name="states",
    group=groups.KERNEL_TRUST,
    needs="instructions",
    title="What the waves do over time",
    sentence="What do waves do over time: states, busy pipes, residency, clock, counters?",
    analysis=_states,
    words=_states_words,
    composed=wave_states,
    parameters={name: CHOICE[name] for name in ("kernel", "se")},
    next_always=(then("stalls", "what they stall on"), then("occupancy", "how many waves fit")),
    plots=(Plot("states", "Wave states", "how many waves execute, stall and wait over time", _states_plot),),
    view="wave_states",
)


def _coverage() -> Analysis[TraceCoverage]:
    from wavewright.analysis.trace.trust.coverage import Coverage
    from wavewright.analysis.trace.trust.mapping import SourceMapping
    from wavewright.questions.trace.answers import TraceCoverage

    return Analysis((TraceCoverage,), parts=(Coverage, SourceMapping))


def _coverage_words(answer: TraceCoverage, wording: Wording) -> Parts:
    from wavewright.words.trace.input.coverage import coverage_report

    return coverage_report(answer.trust, answer.coverage, answer.mapping, limit=wording.limit)


COVERAGE = TraceQuestion(
    name="coverage",
    group=groups.KERNEL_TRUST,
    needs="instructions",
    title="Coverage and trust",
    sentence="Which code, waves and lines does the trace cover, and can it be trusted?",
    analysis=_coverage,
    words=_coverage_words,
    composed=trace_coverage,
    parameters={},
    next_always=(then("diagnose", "what to change first"), then("hotspots", "where the cycles go")),
    view="coverage",
)


def _waves() -> Analysis[SlowWaves]:
    from wavewright.analysis.trace.compare.slow_waves import SlowWaves, slow_waves

    return Analysis((SlowWaves,), slow_waves)


def _waves_words(answer: SlowWaves, wording: Wording) -> Parts:
    from wavewright.words.trace.waves import waves_report

    return waves_report(answer, limit=wording.limit)


WAVES = TraceQuestion(
    name="waves",
    title="Waves",
    sentence="Which waves are slow or unlike the others, and at which instructions?",
    analysis=_waves,
    words=_waves_words,
    parameters=CHOICE,
    needs="instructions",
    rows=lambda answer: answer.waves,
    without_rows="no wave was traced",
    next_always=(
        then("barriers", "who arrives last"),
        then("hotspots", "the costliest instructions"),
        then("diagnose", "what to change first"),
    ),
    tools=("hotspots",),
    view="waves",
    is_asked_for=True,
)


def _lanes() -> Analysis[Lanes]:
    from wavewright.analysis.trace.lanes.answer import Lanes, lanes

    return Analysis((Lanes,), lanes)


def _lanes_words(answer: Lanes, wording: Wording) -> Parts:
    from wavewright.words.trace.lane_access import lanes_report

    return lanes_report(answer, limit=wording.limit, **wording.how)


LANES = TraceQuestion(
    name="lanes",
    group=groups.KERNEL_WAITS,
    title="Lanes",
    sentence="Which instruction conflicts in LDS, which does not coalesce, which lanes are active?",
    analysis=_lanes,
    words=_lanes_words,
    parameters=CHOICE,
    rows=lambda answer: answer.rows,
    without_rows="no memory instruction was executed",
    next_of_answer=after_lanes,
    next_always=(then("latency", "how long memory operations take"), then("diagnose", "what to change first")),
    tools=("hotspots",),
    view="lanes",
    is_asked_for=True,
)


def _traffic() -> Analysis[FabricTraffic]:
    from wavewright.analysis.trace.fabric import FabricTraffic

    return Analysis((FabricTraffic,))


def _traffic_words(answer: FabricTraffic, wording: Wording) -> Parts:
    from wavewright.words.trace.fabric_traffic import traffic_report

    return traffic_report(answer, limit=wording.limit)


def _traffic_plot(document: Document, theme: str, _top: int | None) -> Picture:
    return _traffic_picture(dispatch_traffic(document), theme)


def _traffic_picture(answer: FabricTraffic, theme: str) -> Picture:
    from wavewright.words.trace.pictures.traffic import traffic_picture

    return traffic_picture(answer, theme)


TRAFFIC = TraceQuestion(
    name="traffic",
    title="Traffic of L2",
    sentence="Which bytes leave the XCDs, and which order of workgroups saves them?",
    analysis=_traffic,
    words=_traffic_words,
    composed=dispatch_traffic,
    parameters={**CHOICE, "arg": text, "grid": size, "workgroup": size, "target": text, "partition": text},
    rows=lambda answer: answer.mappings,
    next_always=(then("lanes", "how its instructions coalesce"), then("diagnose", "what to change first")),
    plots=(
        Plot(
            "traffic",
            "Workgroups by XCD",
            "which workgroups read the same lines, and on which XCD",
            _traffic_plot,
            _traffic_picture,
        ),
    ),
    tools=("summary",),
    view="traffic",
    is_asked_for=True,
)


def _whatif() -> Analysis[WhatIf]:
    from wavewright.analysis.trace.what_if import WhatIf, what_if

    return Analysis((WhatIf,), what_if)


def _whatif_words(answer: WhatIf, wording: Wording) -> Parts:
    from wavewright.words.trace.what_if import what_if_report

    return what_if_report(answer, limit=wording.limit)


WHATIF = TraceQuestion(
    name="whatif",
    title="What if",
    sentence="What would another order of the hot code gain: is it legal, which waits, how many registers?",
    analysis=_whatif,
    words=_whatif_words,
    composed=edits_with_run,
    parameters={**CHOICE, "edit": text, "assume": text, "at_row": Number(ITEM)},
    rows=lambda answer: answer.edits,
    without_rows="no order could be tried",
    next_always=(then("waits", "what the loop waits for"), then("loops", "what its iterations cost")),
    option_names={"at_row": "--at-row"},
    tools=("summary",),
    is_asked_for=True,
)


#: In the order of a report, which is that of this file.
QUESTIONS: tuple[TraceQuestion[Any], ...] = tuple(v for v in [*globals().values()] if isinstance(v, TraceQuestion))
