"""Answers of the analyses, as they are: the page shows these numbers and makes none of its own."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import replace
from typing import Any

import polars as pl

from wavewright.analysis.beside import with_run
from wavewright.analysis.trace.barriers import barriers
from wavewright.analysis.trace.clocks import alignment
from wavewright.analysis.trace.costs.flame import TREES
from wavewright.analysis.trace.costs.flame import flame as grow
from wavewright.analysis.trace.costs.histogram import RowHistogram, row_histogram
from wavewright.analysis.trace.costs.hotspots import sample_hotspots
from wavewright.analysis.trace.costs.loops import loop_iterations, loop_starts, loops
from wavewright.analysis.trace.costs.row_costs import entered_rows, row_costs
from wavewright.analysis.trace.diagnose import diagnose
from wavewright.analysis.trace.fabric import no_traffic
from wavewright.analysis.trace.lanes import LaneAccesses, lane_accesses, no_lane_accesses
from wavewright.analysis.trace.lanes.service import lane_service
from wavewright.analysis.trace.memory_latency import memory_latency
from wavewright.analysis.trace.occupancy import occupancy
from wavewright.analysis.trace.pipes.utilization import Utilization, utilization
from wavewright.analysis.trace.selection import Selection, select
from wavewright.analysis.trace.stalls import stalls
from wavewright.analysis.trace.trust.coverage import coverage
from wavewright.analysis.trace.trust.verdicts import trust_of
from wavewright.analysis.trace.waits import waits
from wavewright.analysis.trace.waves.by_place import Level, WavesByPlace, waves_by_place
from wavewright.errors import UsageError, WavewrightError
from wavewright.model.document import Document
from wavewright.model.trace import ThreadTrace
from wavewright.page.protocol.question import PageQuestion
from wavewright.page.protocol.serialize import doubles, serialize
from wavewright.questions.catalog import question_of
from wavewright.questions.kit.parameters import engine, place, text
from wavewright.questions.trace.composed import dispatch_traffic
from wavewright.words.trace.diagnose import run_words, verdict

_MOST_EXPORTED = 8

#: The parameter of questions that can be asked about one kernel; without it they are about all waves.
KERNEL = {"kernel": place}


def traced_kernels(document: Document) -> dict[int, int]:
    """Kernels that traced waves entered, and how many waves, the most first."""
    counts = document.trace.waves["kernel"].drop_nulls().value_counts()
    return dict(counts.sort("count", "kernel", descending=[True, False]).iter_rows())


def of_kernel(document: Document, kernel: int | None) -> ThreadTrace:
    """The trace with only the waves of a kernel; None = all of them."""
    if kernel is None:
        return document.trace
    if kernel not in traced_kernels(document):
        raise UsageError(f"no traced wave entered kernel {kernel}")
    waves = document.trace.waves
    numbers = tuple(waves.filter(waves["kernel"] == kernel)["wave"].to_list())
    return document.kept(("kernel", kernel), lambda: select(document.trace, Selection(waves=numbers)))


def every_kernel(document: Document) -> list[dict[str, Any]]:
    """The selections of an exported page: all waves, and with several kernels those with the most waves separately."""
    kernels = list(traced_kernels(document))[:_MOST_EXPORTED]
    return [{}, *({"kernel": kernel} for kernel in kernels if len(kernels) > 1)]


_MOST_ROWS = 2000  # rows of code: the page shows the costliest


def _kept(document: Document, key: tuple[Hashable, ...], make: Callable[[], Any]) -> Any:
    return document.kept(("answers", *key), lambda: serialize(make(), top=_MOST_ROWS))


def _of_kernel(name: str, analysis: Callable[[ThreadTrace], Any]) -> PageQuestion:
    """The answer of an analysis about all waves, or those of a kernel."""

    def answer(document: Document, *, kernel: int | None = None) -> Any:
        return _kept(document, (name, kernel), lambda: analysis(of_kernel(document, kernel)))

    return PageQuestion(name, answer, KERNEL, exported=every_kernel, is_of_time=True)


def stall_rows(document: Document, *, kernel: int | None = None) -> pl.DataFrame:
    """Stall cycles by code row and class, the largest first."""
    return doubles(stalls(of_kernel(document, kernel)).by_row.drop("address"))


def _stall_classes(trace: ThreadTrace) -> dict[str, Any]:
    """Stall cycles by class; the rows go as Arrow: there can be a row and class for every instruction of the code."""
    result = stalls(trace)
    return {"definition": result.definition, **{name: part for name, part in vars(result).items() if name != "by_row"}}


def _diagnosis(trace: ThreadTrace) -> dict[str, Any]:
    """The plan, with its verdict as the command line says it."""
    answer = with_run(diagnose(trace), trace)
    in_run = [run_words(answer.in_run, number) for number in range(1, len(answer.in_run) + 1)]
    return {"definition": answer.definition, **vars(answer), "headline": verdict(answer), "in_run_words": in_run}


def _waits(trace: ThreadTrace) -> Any:
    """Every executed wait with its exposed cycles, and its producers."""
    result = waits(trace)
    stall_costs = row_costs(trace).select("row", "exposed_stall_cycles_total")
    return replace(result, waits=result.waits.join(stall_costs, on="row", how="left", maintain_order="left"))


def limits(document: Document) -> Any:
    """Number of waves that fit on a SIMD, those that were there, and the limit."""
    return _kept(document, ("occupancy",), lambda: occupancy(document.trace))


def coverage_of(document: Document) -> Any:
    """Traced part of the dispatch, the paths of its waves, and waves that are unlike the others."""

    def make() -> dict[str, Any]:
        result = coverage(document.trace)
        shares = {"executed_share": result.executed_share, "traced_share": result.traced_share}
        shares["is_same_short_path"] = result.is_same_short_path
        return {"definition": result.definition, **vars(result), **shares}

    return _kept(document, ("coverage",), make)


def trust(document: Document) -> Any:
    """Judgement about the use of the cycles and source lines of the trace, and every caveat."""
    return _kept(document, ("caveats",), lambda: trust_of(document.trace))


def sampled(document: Document) -> Any:
    """Rows at which PC samples met the waves, and the reasons of their stalls."""
    return _kept(document, ("sample_hotspots",), lambda: sample_hotspots(document.trace))


def _has_limits(document: Document) -> list[dict[str, Any]]:
    """Nothing where the GPU is not known: that is an error, and an exported page says that it has no answer."""
    try:
        limits(document)
    except UsageError:
        return []
    return [{}]


def pipes_in_use(document: Document) -> Utilization:
    """Busy share of every pipe and issue bubbles, of all shader engines and of each."""
    return document.kept("utilization", lambda: utilization(document.trace))


_LEVELS: tuple[Level, ...] = ("cu", "simd")


def heat_map(document: Document, *, by: Level = "cu") -> WavesByPlace:
    """Waves, durations, instructions and stall by place (`analysis.trace.waves.by_place`)."""
    begin, end = document.part
    return waves_by_place(document.trace, by=by, start_cycles=begin, end_cycles=end)


def _level(name: str) -> Level:
    for level in _LEVELS:
        if name == level:
            return level
    raise UsageError(f"{name[:40]!r} is not one of {', '.join(_LEVELS)}")


def _both_levels(_: Document) -> list[dict[str, Any]]:
    return [{}, {"by": "simd"}]


def histogram(
    document: Document, *, bins: int = 32, first: int | None = None, last: int | None = None, se: int | None = None
) -> RowHistogram:
    """Cycles per bin of code rows (`analysis.trace.costs.histogram`); without rows those of entered functions.

    A part of the time has the rows of the whole: bars stay where they are.
    """
    rows = entered_rows((document.whole or document).trace)["row"]
    if first is None:
        first = rows[0] if rows.len() and (last is None or last >= rows[0]) else 0
    if last is None and rows.len() and rows[-1] >= first:
        last = rows[-1]
    return row_histogram(document.trace, bins=bins, first_row=first, last_row=last, se=se)


def _every_engine(document: Document) -> list[dict[str, Any]]:
    return [{}, *({"se": se} for se in document.trace.waves["se"].unique().sort())]


_BINS = {"bins": place, "first": place, "last": place, "se": engine}
_ROWS = (("first", "last"),)
LONGEST_NAME = 300  #: Characters of a frame's name that are sent.


def flame(document: Document, *, tree: str = "source") -> pl.DataFrame:
    """The frames of one of the trees of `wavewright.analysis.trace.costs.flame`, parents before children."""
    frames = grow(document.trace, tree).frames
    return doubles(frames.with_columns(pl.col("name").str.slice(0, LONGEST_NAME), pl.col("line").fill_null(0)))


def _every_tree(document: Document) -> list[dict[str, str]]:
    return [{"tree": tree} for tree in (TREES if document.trace.markers.height else TREES[:2])]


def loops_of(document: Document) -> Any:
    """The answer of `loops`: trip counts, cycles of iterations and costs of every loop."""
    return document.kept("loops", lambda: serialize(loops(document.trace)))


def wave_loops(document: Document, *, wave: int) -> pl.DataFrame:
    """The iterations of all loops in one wave, with aligned starts."""
    iterations = loop_iterations(document.trace, wave)
    se = document.trace.waves.filter(pl.col("wave") == wave)["se"][0]
    move = alignment(document.trace).offset(se)
    return doubles(iterations.with_columns(pl.col("start_cycles") + move))


def _waves_with_loops(document: Document) -> list[dict[str, int]]:
    if not loop_starts(document.trace).height:
        return []
    return [{"wave": number} for number in document.trace.waves["wave"].to_list()]


def lanes(document: Document) -> Any:
    """Every executed memory instruction with the cost of its lane addresses, or why it is not known.

    Where nothing can be evaluated, the answer has no rows, and the reason among its notes.
    """
    return document.kept("lanes", lambda: serialize(_lanes(document)))


def _lanes(document: Document) -> LaneAccesses:
    try:
        return lane_accesses(document.trace)
    except WavewrightError as error:
        return no_lane_accesses(document.trace, str(error))


def traffic(document: Document, **facts: str) -> Any:
    """Traffic between L2 and the fabric; `facts` are known beside the capture; one that does not fit is told."""
    try:
        return serialize(dispatch_traffic(document, **question_of(document.kind, "traffic").parsed(facts)))
    except WavewrightError as error:
        return serialize(no_traffic("", error.what))


def service(document: Document, *, row: int) -> Any:
    """Service of the lanes of one instruction by LDS or the cache."""
    return serialize(lane_service(document.trace, row), top=None)


def _known_rows(document: Document) -> list[dict[str, Any]]:
    """Rows with something to draw; none where nothing can be evaluated: `lanes` says why."""
    try:
        rows = lane_accesses(document.trace).rows
    except WavewrightError:
        return []
    return [{"row": row} for row in rows.filter(pl.col("known_count") > 0)["row"]]


QUESTIONS = (
    _of_kernel("diagnose", _diagnosis),
    _of_kernel("stalls", _stall_classes),
    PageQuestion("stall_rows", stall_rows, KERNEL, exported=every_kernel, is_of_time=True),
    _of_kernel("waits", _waits),
    PageQuestion("occupancy_limits", limits, exported=_has_limits),
    _of_kernel("memory_latency", memory_latency),
    _of_kernel("barriers", barriers),
    PageQuestion("coverage", coverage_of),
    PageQuestion("caveats", trust),
    PageQuestion("sample_hotspots", sampled),
    PageQuestion("utilization", pipes_in_use, is_of_time=True),
    PageQuestion("heat_map", heat_map, {"by": _level}, exported=_both_levels, is_of_time=True),
    PageQuestion("histogram", histogram, _BINS, (), _every_engine, _ROWS, is_of_time=True),
    PageQuestion("flame", flame, {"tree": text}, (), _every_tree, is_of_time=True),
    PageQuestion("loops", loops_of, is_of_time=True),
    PageQuestion("wave_loops", wave_loops, {"wave": place}, ("wave",), _waves_with_loops),
    PageQuestion("lanes", lanes),
    PageQuestion("traffic", traffic, dict.fromkeys(("arg", "grid", "workgroup", "target", "partition"), text)),
    PageQuestion("lane_service", service, {"row": place}, ("row",), _known_rows),
)
