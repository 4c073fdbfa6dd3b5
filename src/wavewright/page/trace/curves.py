"""Curves over the time of a trace: waves, pipes, counters and derived counters, tile by tile."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import polars as pl

from wavewright.analysis.common.step_functions import StepLevels
from wavewright.analysis.common.time_bins import FARTHEST_CYCLES
from wavewright.analysis.trace.derived_counters import BUILTIN, DerivedValues, derived_values, summary_of
from wavewright.analysis.trace.timeline.curves import CURVES, curve_engines, curve_series, curve_steps, derived_steps
from wavewright.analysis.trace.timeline.layers.pipes import busy_shares, pipe_shares
from wavewright.analysis.trace.timeline.layers.wave_layer import wave_states
from wavewright.errors import UsageError
from wavewright.model.document import Document
from wavewright.page.protocol.curve_tiles import Grid, coarse_tiles, tile_of, tiling_of
from wavewright.page.protocol.question import TILE, PageQuestion, once_per_document
from wavewright.page.trace.times import time_range
from wavewright.questions.kit.parameters import Parameters, engine
from wavewright.questions.kit.parameters import text as text_parser

DERIVED = "derived"
PIPES = "pipes"
BUSY_PIPES = "busy_pipes"
_MOST_DERIVED_CACHED = 4  #: Pairs of definitions and shader engine whose values (large tensors) stay in memory.
_LONGEST_DEFINITIONS = 12_000  #: Characters.
_EXPORTED_TILES, _FEW_EXPORTED_TILES = 16, 2  #: Levels with more tiles are left out of exported pages.


@once_per_document
def grid_of(document: Document) -> Grid:
    """The grid of all curves of a trace: from its first to its last aligned cycle."""
    begin, end = time_range(document.trace)
    first = max(-FARTHEST_CYCLES, min(begin, FARTHEST_CYCLES - 1))
    return Grid(first, max(first + 1, min(end, FARTHEST_CYCLES)))


def curve_names_of_trace(document: Document) -> dict[str, Any]:
    """The available curves, of the whole trace (`se` is null) and of each shader engine, and their tiling."""
    return tiling_of(grid_of(document)) | {"curves": _curve_names(document)}


@once_per_document
def _curve_names(document: Document) -> list[dict[str, Any]]:
    trace = document.trace
    return [
        {"name": name, "unit": unit, "se": se, "series": series}
        for name, unit in CURVES.items()
        for se in (None, *curve_engines(trace, name))
        if (series := curve_series(trace, name, se=se))
    ]


def curves_of_trace(
    document: Document, *, name: str, level: int, tile: int, se: int | None = None, text: str | None = None
) -> pl.DataFrame:
    """One tile of all curves of a name: mean, smallest and largest value per series and bin; null = no value.

    `text` has the definitions of derived counters; None = the built-in ones.
    """
    return tile_of(grid_of(document), lambda: _levels(document, name, se, text), level, tile)


def derived(document: Document, *, text: str | None = None, se: int | None = None) -> dict[str, Any]:
    """Derived counters: a summary of their values, their curves, and the problems of the definitions with lines.

    `counters` are the sampled counters that definitions can name; the page lists each with its shape (XCC x SE x CU x
    steps) and its first values, so that the user sees what a formula works on.
    """
    answer = _derived(document, text, se)
    problems = sorted((*answer.mistakes, *answer.problems), key=lambda problem: problem.position)
    series_names = [series for series, _ in derived_steps(answer)]
    drawn_counters = {series.keys["counter"] for series in series_names}
    return tiling_of(grid_of(document)) | {
        "name": DERIVED,
        "unit": "",
        "se": se,
        "series": series_names,
        "summary": summary_of(answer),
        "without_curve": [counter.name for counter in answer.definitions if counter.name not in drawn_counters],
        "problems": [
            {"line": problem.position.line, "column": problem.position.column}
            | {"name": problem.name, "message": problem.message}
            for problem in problems
        ],
        "counters": [
            {"name": name, "shape": " x ".join(map(str, answer.raw.values[name].shape)),
             "first": answer.raw.values[name].ravel()[:10].tolist()}
            for name in answer.raw.counters
        ],
        "builtin": BUILTIN,
        "longest": _LONGEST_DEFINITIONS,
    }  # fmt: skip


def pipe_curves(document: Document) -> dict[str, Any]:
    """Busy shares of all pipes of each SIMD as curves (`analysis.trace.timeline.layers.pipes`), and their tiling."""
    shares, names = pipe_shares(document.trace), ("se", "simd", "pipe", "start_cycles", "end_cycles")
    return _of_pipes(document, PIPES, [{name: getattr(share, name) for name in names} for share in shares])


def busy_pipe_curves(document: Document) -> dict[str, Any]:
    """The same for the pipes that are busy for longer than they issue."""
    shares, names = busy_shares(document.trace), ("se", "simd", "pipe")
    return _of_pipes(document, BUSY_PIPES, [{name: getattr(share, name) for name in names} for share in shares])


def _of_pipes(document: Document, name: str, keys: list[dict[str, Any]]) -> dict[str, Any]:
    ending = " busy" if name == BUSY_PIPES else ""
    series = [{"label": f"SE {key['se']} SIMD {key['simd']} {key['pipe']}{ending}", "keys": key} for key in keys]
    return tiling_of(grid_of(document)) | {"name": name, "unit": "busy share", "se": None, "series": series}


def definitions(text: str) -> str:
    """A parser of definitions of bounded length: they are part of the address of every tile."""
    if len(text) > _LONGEST_DEFINITIONS:
        problem = f"the definitions are longer than {_LONGEST_DEFINITIONS:,} characters"
        raise UsageError(problem, advice="define only what is to be shown")
    return text


def _levels(document: Document, name: str, se: int | None, text: str | None) -> Sequence[StepLevels]:
    grid = grid_of(document)
    if name == DERIVED:
        return [StepLevels(curve, grid.begin, grid.end) for _, curve in derived_steps(_derived(document, text, se))]
    if text is not None:
        raise UsageError("only derived counters have definitions")
    if se is not None and se not in _engines(document, name):  # raises for pipes: only the whole trace has their curves
        return []  # not cached: a client can send any number
    return _recorded_levels(document, name, se)


@once_per_document
def _engines(document: Document, name: str) -> list[int]:
    return curve_engines(document.trace, name)


@once_per_document
def _recorded_levels(document: Document, name: str, se: int | None) -> list[StepLevels]:
    """The curves of a name that follow from the trace alone, without definitions."""
    trace, grid = document.trace, grid_of(document)
    curves: Iterable[Any]
    if name in (PIPES, BUSY_PIPES):
        curves = pipe_shares(trace) if name == PIPES else busy_shares(trace)
    elif name == "wave_states":
        curves = wave_states(trace, grid.begin, se=se)
    else:
        curves = curve_steps(trace, name, se=se)
    return [StepLevels(curve, grid.begin, grid.end) for curve in curves]


def _derived(document: Document, text: str | None, se: int | None) -> DerivedValues:
    """Derived counters by definitions, of all engines or of one; the last few that were asked for are cached."""
    answers: dict[object, DerivedValues] = document.kept("derived", dict)
    answer = answers.pop((text, se), None) or derived_values(document.trace, definitions=text, se=se)
    answers[text, se] = answer
    for oldest in list(answers)[:-_MOST_DERIVED_CACHED]:
        answers.pop(oldest, None)
    return answer


def exported_curves_of_trace(document: Document) -> Iterator[Mapping[str, Any]]:
    """The tiles that an exported page stores: coarse levels, fewer of each engine and pipe than of the whole trace."""
    sets: list[dict[str, Any]] = [
        {"name": entry["name"]} | ({} if entry["se"] is None else {"se": entry["se"]})
        for entry in curve_names_of_trace(document)["curves"]
    ]
    if document.trace.sampled_counters.height:
        sets.append({"name": DERIVED})
    if pipe_shares(document.trace):
        sets.append({"name": PIPES})
    if busy_shares(document.trace):
        sets.append({"name": BUSY_PIPES})
    for entry in sets:
        is_many = "se" in entry or entry["name"] in (PIPES, BUSY_PIPES)  # every pipe of every SIMD is a curve
        most_tiles = _FEW_EXPORTED_TILES if is_many else _EXPORTED_TILES
        yield from (entry | tile for tile in coarse_tiles(grid_of(document), most_tiles))


_OF_TILE: Parameters = {"name": text_parser, **TILE}
_OF_CURVE: Parameters = {**_OF_TILE, "se": engine, "text": definitions}
QUESTIONS = (
    PageQuestion("curve_names", curve_names_of_trace),
    PageQuestion("curves", curves_of_trace, _OF_CURVE, required=tuple(_OF_TILE), exported=exported_curves_of_trace),
    PageQuestion("derived", derived, {"text": definitions, "se": engine}),
    PageQuestion("pipe_curves", pipe_curves),
    PageQuestion("busy_pipe_curves", busy_pipe_curves),
)
