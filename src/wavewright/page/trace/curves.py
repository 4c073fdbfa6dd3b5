"""Curves over the time of a trace."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import polars as pl

from wavewright.analysis.common.step_functions import StepLevels
from wavewright.analysis.common.time_bins import FARTHEST_CYCLES
from wavewright.analysis.trace.derived_counters import BUILTIN, DerivedValues, derived_values, summary_of
from wavewright.analysis.trace.timeline.curves import CURVES, curve_engines, curve_series, curve_steps, derived_steps
from wavewright.analysis.trace.timeline.pipe_shares import busy_shares, pipe_shares
from wavewright.analysis.trace.timeline.wave_states import wave_states
from wavewright.errors import UsageError
from wavewright.model.document import Document
from wavewright.page.protocol.curve_tiles import Grid, tile_of, tiling_of
from wavewright.page.protocol.question import TILE, PageQuestion
from wavewright.page.trace.times import time_range
from wavewright.questions.kit.parameters import Parameters, engine, text

DERIVED = "derived"
PIPES = "pipes"
BUSY_PIPES = "busy_pipes"
_MOST_TEXTS_KEPT = 4
_LONGEST_DEFINITIONS = 12_000
_EXPORTED_TILES = 16
_FEW_EXPORTED_TILES = 2


def grid_of(document: Document) -> Grid:
    """The grid of all curves of a trace: from its first to its last aligned cycle."""
    begin, end = document.kept("time_range", lambda: time_range(document.trace))
    first = max(-FARTHEST_CYCLES, min(begin, FARTHEST_CYCLES - 1))
    return Grid(first, max(first + 1, min(end, FARTHEST_CYCLES)))


def curve_names_of_trace(document: Document) -> dict[str, Any]:
    """The available curves, of the whole trace (`se` is null) and of each shader engine, and their tiling."""
    trace = document.trace

    def found() -> list[dict[str, Any]]:
        sets = [(name, se) for name in CURVES for se in (None, *curve_engines(trace, name))]
        series = {place: curve_series(trace, place[0], se=place[1]) for place in sets}
        return [{"name": n, "unit": CURVES[n], "se": se, "series": of} for (n, se), of in series.items() if of]

    return _tiling(document) | {"curves": document.kept("curve_names", found)}


def curves_of_trace(
    document: Document, *, name: str, level: int, tile: int, se: int | None = None, text: str | None = None
) -> pl.DataFrame:
    """One tile of all curves of a name: mean, smallest and largest value per series and bin; null = no value.

    `text` are the definitions of derived counters; without it the built-in ones.
    """
    return tile_of(grid_of(document), lambda: _levels(document, name, se, text), level, tile)


def derived(document: Document, *, text: str | None = None, se: int | None = None) -> dict[str, Any]:
    """Derived counters of some definitions: their values in short, the curves, and what is wrong, with lines."""
    answer = _derived(document, text, se)
    problems = sorted((*answer.mistakes, *answer.problems), key=lambda problem: problem.position)
    series_names = [series for series, _ in derived_steps(answer)]
    drawn_counters = {series.keys["counter"] for series in series_names}
    return _tiling(document) | {
        "name": DERIVED,
        "unit": "",
        "se": se,
        "series": series_names,
        "summary": summary_of(answer),
        "without_curve": [d.name for d in answer.definitions if d.name not in drawn_counters],
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
    """The curves of all pipes (`analysis.trace.timeline.pipe_shares`): of which SIMD, and how they are tiled."""
    names = ("se", "simd", "pipe", "start_cycles", "end_cycles")
    series = [
        {
            "label": f"SE {share.se} SIMD {share.simd} {share.pipe}",
            "keys": {name: getattr(share, name) for name in names},
        }
        for share in pipe_shares(document.trace)
    ]
    return _tiling(document) | {"name": PIPES, "unit": "busy share", "se": None, "series": series}


def busy_pipe_curves(document: Document) -> dict[str, Any]:
    """The curves of pipes that are busy for longer than they issue (`analysis.trace.timeline.pipe_shares`)."""
    keys = [{"se": share.se, "simd": share.simd, "pipe": share.pipe} for share in busy_shares(document.trace)]
    series = [{"label": f"SE {key['se']} SIMD {key['simd']} {key['pipe']} busy", "keys": key} for key in keys]
    return _tiling(document) | {"name": BUSY_PIPES, "unit": "busy share", "se": None, "series": series}


def definitions(text: str) -> str:
    """Parse definitions. They are part of the address of every tile, so they have to stay short.

    >>> definitions("busy := SQ_BUSY_CYCLES")
    'busy := SQ_BUSY_CYCLES'
    """
    if len(text) > _LONGEST_DEFINITIONS:
        problem = f"the definitions are longer than {_LONGEST_DEFINITIONS:,} characters"
        raise UsageError(problem, advice="define only what is to be shown")
    return text


def _tiling(document: Document) -> dict[str, Any]:
    return tiling_of(grid_of(document))


def _levels(document: Document, name: str, se: int | None, text: str | None) -> Sequence[StepLevels]:
    grid = grid_of(document)
    if name == DERIVED:
        return [StepLevels(curve, grid.begin, grid.end) for _, curve in derived_steps(_derived(document, text, se))]
    if text is not None:
        raise UsageError("only derived counters have definitions")
    if name in (PIPES, BUSY_PIPES) and se is None:
        shares = pipe_shares if name == PIPES else busy_shares
        return document.kept(
            ("curves", name, se),
            lambda: [StepLevels(share, grid.begin, grid.end) for share in shares(document.trace)],
        )
    engines = document.kept(("curve engines", name), lambda: curve_engines(document.trace, name))
    if se is not None and se not in engines:
        return []  # not cached: a client can send any number

    def made() -> list[StepLevels]:
        if name == "wave_states":
            return [
                StepLevels(levels, grid.begin, grid.end) for levels in wave_states(document.trace, grid.begin, se=se)
            ]
        return [StepLevels(curve, grid.begin, grid.end) for curve in curve_steps(document.trace, name, se=se)]

    return document.kept(("curves", name, se), made)


def _derived(document: Document, text: str | None, se: int | None) -> DerivedValues:
    """Derived counters of some definitions, cached for the last few texts: each may have large tensors."""
    answers: dict[object, DerivedValues] = document.kept("derived", dict)
    answer = answers.pop((text, se), None) or derived_values(document.trace, definitions=text, se=se)
    answers[text, se] = answer
    for oldest in list(answers)[:-_MOST_TEXTS_KEPT]:
        answers.pop(oldest, None)
    return answer


def held_curves_of_trace(document: Document) -> Iterator[Mapping[str, Any]]:
    """The tiles of an exported page: coarse levels; more of the whole trace than of engines and pipes."""
    grid = grid_of(document)
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
        most = _FEW_EXPORTED_TILES if is_many else _EXPORTED_TILES
        yield from (entry | tile for tile in grid.coarse_tiles(most))


_OF_CURVE: Parameters = {"name": text, **TILE}
QUESTIONS = (
    PageQuestion("curve_names", curve_names_of_trace),
    PageQuestion(
        "curves",
        curves_of_trace,
        {**_OF_CURVE, "se": engine, "text": definitions},
        tuple(_OF_CURVE),
        held_curves_of_trace,
    ),
    PageQuestion("derived", derived, {"text": definitions, "se": engine}),
    PageQuestion("pipe_curves", pipe_curves),
    PageQuestion("busy_pipe_curves", busy_pipe_curves),
)
