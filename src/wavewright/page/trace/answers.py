"""Results of trace analyses for the page, which shows their numbers and computes none of its own."""

from __future__ import annotations

from collections.abc import Callable
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
from wavewright.analysis.trace.lanes import lane_accesses, no_lane_accesses
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
from wavewright.page.protocol.question import PageQuestion, once_per_document
from wavewright.page.protocol.serialize import doubles, serialize
from wavewright.questions.catalog import question_of
from wavewright.questions.kit.parameters import engine, place, text
from wavewright.questions.trace.composed import dispatch_traffic
from wavewright.words.trace.diagnose import run_words, verdict

_MOST_EXPORTED = 8  #: Kernels of which an exported page stores the answers.
_MOST_ROWS = 2000  #: Of code: the page shows the costliest.

#: The parameter of questions that can be asked about one kernel; without it they are about all waves.
KERNEL = {"kernel": place}


def traced_kernels(document: Document) -> dict[int, int]:
    """Kernel -> number of its traced waves, the largest first."""
    counts = document.trace.waves["kernel"].drop_nulls().value_counts()
    return dict(counts.sort("count", "kernel", descending=[True, False]).iter_rows())


def of_kernel(document: Document, kernel: int | None) -> ThreadTrace:
    """The trace with only the waves of a kernel; None = all of them."""
    if kernel is None:
        return document.trace
    if kernel not in traced_kernels(document):
        raise UsageError(f"no traced wave entered kernel {kernel}")
    return _waves_of_kernel(document, kernel)


@once_per_document
def _waves_of_kernel(document: Document, kernel: int) -> ThreadTrace:
    waves = document.trace.waves.filter(pl.col("kernel") == kernel)["wave"]
    return select(document.trace, Selection(waves=tuple(waves)))


def every_kernel(document: Document) -> list[dict[str, Any]]:
    """The choices that an exported page stores: all waves, and each of the kernels with the most waves."""
    kernels = list(traced_kernels(document))[:_MOST_EXPORTED]
    return [{}, *({"kernel": kernel} for kernel in kernels if len(kernels) > 1)]


def _of_kernel(name: str, analysis: Callable[[ThreadTrace], Any]) -> PageQuestion:
    """A question that an analysis answers, about all waves or about those of a kernel."""

    def answer(document: Document, *, kernel: int | None = None) -> Any:
        key = ("answers", name, kernel)
        return document.kept(key, lambda: serialize(analysis(of_kernel(document, kernel)), top=_MOST_ROWS))

    return PageQuestion(name, answer, KERNEL, exported=every_kernel, is_of_time=True)


def _of_trace(name: str, analysis: Callable[[ThreadTrace], Any]) -> PageQuestion:
    """A question that an analysis answers about the whole trace."""

    def answer(document: Document) -> Any:
        return document.kept(("answers", name), lambda: serialize(analysis(document.trace), top=_MOST_ROWS))

    return PageQuestion(name, answer)


def stall_rows(document: Document, *, kernel: int | None = None) -> pl.DataFrame:
    """Stall cycles by code row and class, the largest first."""
    return doubles(stalls(of_kernel(document, kernel)).by_row.drop("address"))


def _stall_classes(trace: ThreadTrace) -> dict[str, Any]:
    """Stall cycles by class; `stall_rows` sends the rows, of which there can be several per instruction, as Arrow."""
    result = stalls(trace)
    return {"definition": result.definition, **{name: part for name, part in vars(result).items() if name != "by_row"}}


def _diagnosis(trace: ThreadTrace) -> dict[str, Any]:
    """The diagnosis, with the sentences in which the command line says its verdict and the share in a run."""
    answer = with_run(diagnose(trace), trace)
    in_run = [run_words(answer.in_run, number) for number in range(1, len(answer.in_run) + 1)]
    return {"definition": answer.definition, **vars(answer), "headline": verdict(answer), "in_run_words": in_run}


def _waits(trace: ThreadTrace) -> Any:
    """Every executed wait with its exposed cycles and its producers."""
    result = waits(trace)
    stall_costs = row_costs(trace).select("row", "exposed_stall_cycles_total")
    return replace(result, waits=result.waits.join(stall_costs, on="row", how="left", maintain_order="left"))


@once_per_document
def limits(document: Document) -> Any:
    """The number of waves that fit on a SIMD, the number that were there, and what limits it."""
    return serialize(occupancy(document.trace), top=_MOST_ROWS)


def _coverage(trace: ThreadTrace) -> dict[str, Any]:
    """The traced part of the dispatch, the paths of its waves, and waves that are unlike the others."""
    result = coverage(trace)
    shares = {name: getattr(result, name) for name in ("executed_share", "traced_share", "is_same_short_path")}
    return {"definition": result.definition, **vars(result), **shares}


def _has_limits(document: Document) -> list[dict[str, Any]]:
    """The `exported` of `limits`: nothing where it raises because the GPU is not known."""
    try:
        limits(document)
    except UsageError:
        return []
    return [{}]


@once_per_document
def pipes_in_use(document: Document) -> Utilization:
    """Busy share of every pipe and issue bubbles, of all shader engines and of each."""
    return utilization(document.trace)


_LEVELS: tuple[Level, ...] = ("cu", "simd")


def heat_map(document: Document, *, by: Level = "cu") -> WavesByPlace:
    """Waves, durations, instructions and stall by place (`analysis.trace.waves.by_place`)."""
    begin, end = document.part
    return waves_by_place(document.trace, by=by, start_cycles=begin, end_cycles=end)


def _level(name: str) -> str:
    if name not in _LEVELS:
        raise UsageError(f"{name[:40]!r} is not one of {', '.join(_LEVELS)}")
    return name


def histogram(
    document: Document, *, bins: int = 32, first: int | None = None, last: int | None = None, se: int | None = None
) -> RowHistogram:
    """Cycles per bin of code rows (`analysis.trace.costs.histogram`); without bounds, of the rows of entered functions.

    The bounds of a part of the time are those of the whole trace, so that bars do not move.
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
    return [{"tree": tree} for tree in (TREES if document.trace.markers.height else TREES[:2])]  # the others: markers


@once_per_document
def loops_of(document: Document) -> Any:
    """Trip counts, cycles of iterations and costs of every loop (`analysis.trace.costs.loops`)."""
    return serialize(loops(document.trace))


def wave_loops(document: Document, *, wave: int) -> pl.DataFrame:
    """The iterations of all loops in one wave, with aligned starts."""
    iterations = loop_iterations(document.trace, wave)
    se = document.trace.waves.filter(pl.col("wave") == wave)["se"][0]
    offset = alignment(document.trace).offset(se)
    return doubles(iterations.with_columns(pl.col("start_cycles") + offset))


def _waves_with_loops(document: Document) -> list[dict[str, int]]:
    if not loop_starts(document.trace).height:
        return []
    return [{"wave": number} for number in document.trace.waves["wave"].to_list()]


@once_per_document
def lanes(document: Document) -> Any:
    """Every executed memory instruction with the cost of its lane addresses, or why it is not known.

    Where nothing can be evaluated, the answer has no rows, and the reason among its notes.
    """
    try:
        return serialize(lane_accesses(document.trace))
    except WavewrightError as error:
        return serialize(no_lane_accesses(document.trace, str(error)))


def traffic(document: Document, **facts: str) -> Any:
    """Traffic between L2 and the fabric; `facts` are what the user knows beside the capture, such as the grid."""
    try:
        return serialize(dispatch_traffic(document, **question_of(document.kind, "traffic").parsed(facts)))
    except WavewrightError as error:
        return serialize(no_traffic("", error.what))


def service(document: Document, *, row: int) -> Any:
    """The service of the lanes of one instruction by LDS or the cache."""
    return serialize(lane_service(document.trace, row), top=None)


def _known_rows(document: Document) -> list[dict[str, Any]]:
    """Rows whose lane addresses are known; none where nothing can be evaluated: `lanes` says why."""
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
    _of_trace("coverage", _coverage),
    _of_trace("caveats", trust_of),
    _of_trace("sample_hotspots", sample_hotspots),
    PageQuestion("utilization", pipes_in_use, is_of_time=True),
    PageQuestion("heat_map", heat_map, {"by": _level}, exported=lambda _: ({}, {"by": "simd"}), is_of_time=True),
    PageQuestion("histogram", histogram, _BINS, exported=_every_engine, ranges=_ROWS, is_of_time=True),
    PageQuestion("flame", flame, {"tree": text}, exported=_every_tree, is_of_time=True),
    PageQuestion("loops", loops_of, is_of_time=True),
    PageQuestion("wave_loops", wave_loops, {"wave": place}, required=("wave",), exported=_waves_with_loops),
    PageQuestion("lanes", lanes),
    PageQuestion("traffic", traffic, dict.fromkeys(("arg", "grid", "workgroup", "target", "partition"), text)),
    PageQuestion("lane_service", service, {"row": place}, required=("row",), exported=_known_rows),
)
