"""Curves over time in tiles of 512 bins: the bins of level 0 are one cycle long, those of each level twice as long."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from wavescope.errors import UsageError
from wavescope.page.question import Question, text, whole_number
from wavescope.page.trace.times import time_range

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    import polars as pl

    from wavescope.analysis._steps import StepCurve
    from wavescope.analysis.derived_counters.values import DerivedValues
    from wavescope.page.document import Document

__all__ = ["QUESTIONS", "Grid", "curve_names", "curves", "derived", "grid_of", "tile_of", "tiling_of"]

TILE_BINS = 512
DERIVED = "derived"
_FARTHEST_CYCLES = 1 << 48
_MOST_TEXTS_KEPT = 4
_LONGEST_DEFINITIONS = 12_000
_EXPORTED_TILES = 16
_EXPORTED_TILES_PER_ENGINE = 2


@dataclass(frozen=True)
class Grid:
    """The levels and tiles of a trace's time.

    Examples
    --------
    >>> Grid(0, 5_000).level_count
    5
    """

    begin: int
    end: int

    @property
    def level_count(self) -> int:
        """Levels, until one tile covers everything.

        Examples
        --------
        >>> Grid(0, 512).level_count
        1
        """
        return 1 + max(0, (max(self.end - self.begin, 1) - 1).bit_length() - 9)

    def tile_count(self, level: int) -> int:
        """Tiles of a level.

        Examples
        --------
        >>> Grid(0, 5_000).tile_count(0)
        10
        """
        return max(1, -(-(self.end - self.begin) // (TILE_BINS << level)))


def grid_of(document: Document) -> Grid:
    """The grid of all curves of a trace: from its first to its last aligned cycle.

    Examples
    --------
    >>> from wavescope.model import ThreadTrace, TraceSource
    >>> from wavescope.page.document import Document
    >>> grid_of(Document(0, "", "", lambda: ThreadTrace({}, TraceSource(path="nothing"))))
    Grid(begin=0, end=1)
    """
    begin, end = document.kept("time_range", lambda: time_range(document.trace))
    first = max(-_FARTHEST_CYCLES, min(begin, _FARTHEST_CYCLES - 1))
    return Grid(first, max(first + 1, min(end, _FARTHEST_CYCLES)))


def curve_names(document: Document) -> dict[str, Any]:
    """Which curves there are, of the whole trace (`se` is null) and of each shader engine, and how they are tiled.

    Examples
    --------
    >>> from wavescope.model import ThreadTrace, TraceSource
    >>> from wavescope.page.document import Document
    >>> curve_names(Document(0, "", "", lambda: ThreadTrace({}, TraceSource(path="nothing"))))["curves"]
    []
    """
    from wavescope.analysis.curves import CURVES, curve_engines, curve_series

    trace = document.trace

    def found() -> list[dict[str, Any]]:
        sets = [(name, se) for name in CURVES for se in (None, *curve_engines(trace, name))]
        series = {place: curve_series(trace, place[0], se=place[1]) for place in sets}
        return [{"name": n, "unit": CURVES[n], "se": se, "series": of} for (n, se), of in series.items() if of]

    return _tiling(document) | {"curves": document.kept("curve_names", found)}


def tile_of(grid: Grid, steps: Callable[[], Sequence[StepCurve]], level: int, tile: int) -> pl.DataFrame:
    """One tile of some curves: columns series, bin, value (mean), low, high.

    Raises
    ------
    UsageError
        When there is no such tile.

    Examples
    --------
    >>> tile_of(Grid(0, 100), list, 0, 0).height
    0
    """
    import numpy as np
    import polars as pl

    from wavescope.analysis._time_bins import TimeBins

    if not 0 <= level < grid.level_count or not 0 <= tile < grid.tile_count(level):
        what = f"no tile {tile} of level {level}"
        raise UsageError(what, advice=f"levels 0 to {grid.level_count - 1}")
    width = 1 << level
    begin = grid.begin + tile * TILE_BINS * width
    count = min(TILE_BINS, -(-(grid.end - begin) // width))
    bins = TimeBins(begin, grid.end, width, count)
    binned = [curve.binned(bins) for curve in steps()]
    joined = [np.concatenate([np.empty(0), *parts]) for parts in (zip(*binned, strict=True) if binned else ((),) * 3)]
    columns = {
        "series": np.repeat(np.arange(len(binned), dtype=np.uint16), count),
        "bin": np.tile(np.arange(tile * TILE_BINS, tile * TILE_BINS + count, dtype=np.uint32), len(binned)),
        **dict(zip(("value", "low", "high"), joined, strict=True)),
    }
    return pl.DataFrame(columns).with_columns(pl.col("value", "low", "high").fill_nan(None))


def tiling_of(grid: Grid) -> dict[str, Any]:
    """How curves are tiled, for the page.

    Examples
    --------
    >>> tiling_of(Grid(0, 100))["tile_cells"]
    512
    """
    return {
        "begin": float(grid.begin), "end": float(grid.end), "cell": 1, "tile_cells": TILE_BINS,
        "level_count": grid.level_count,
    }  # fmt: skip


def curves(
    document: Document, *, name: str, level: int, tile: int, se: int | None = None, text: str | None = None
) -> pl.DataFrame:
    """One tile of all curves of a name: mean, smallest and largest value per series and bin; null = no value.

    `text` are the definitions of derived counters; without it the built-in ones.

    Raises
    ------
    UsageError
        When there are no such curves, or no such tile.

    Examples
    --------
    >>> from wavescope.model import ThreadTrace, TraceSource
    >>> from wavescope.page.document import Document
    >>> document = Document(0, "", "", lambda: ThreadTrace({}, TraceSource(path="nothing")))
    >>> curves(document, name="occupancy", level=0, tile=0).columns
    ['series', 'bin', 'value', 'low', 'high']
    """
    return tile_of(grid_of(document), lambda: _steps(document, name, se, text), level, tile)


def derived(document: Document, *, text: str | None = None, se: int | None = None) -> dict[str, Any]:
    """Derived counters of some definitions: their values in short, the curves, and what is wrong, with lines.

    Examples
    --------
    >>> from wavescope.model import ThreadTrace, TraceSource
    >>> from wavescope.page.document import Document
    >>> document = Document(0, "", "", lambda: ThreadTrace({}, TraceSource(path="nothing")))
    >>> derived(document, text="a := 1 +")["problems"][0]["line"]
    1
    """
    from wavescope.analysis.curves import derived_steps
    from wavescope.analysis.derived_counters import BUILTIN, summary_of

    got = _derived(document, text, se)
    problems = sorted((*got.mistakes, *got.problems), key=lambda problem: problem.place)
    shown = [series for series, _ in derived_steps(got)]
    drawn = {series.keys["counter"] for series in shown}
    return _tiling(document) | {
        "name": DERIVED,
        "unit": "",
        "se": se,
        "series": shown,
        "summary": summary_of(got),
        "without_curve": [d.name for d in got.definitions if d.name not in drawn],
        "problems": [
            {"line": p.place.line, "column": p.place.column, "name": p.name, "message": p.message} for p in problems
        ],
        "counters": [
            {"name": name, "shape": " x ".join(map(str, got.raw.values[name].shape)),
             "first": got.raw.values[name].ravel()[:10].tolist()}
            for name in got.raw.counters
        ],
        "builtin": BUILTIN,
        "longest": _LONGEST_DEFINITIONS,
    }  # fmt: skip


def _definitions(given: str) -> str:
    """Every tile is asked for with the definitions in its address: they have to stay short."""
    if len(given) > _LONGEST_DEFINITIONS:
        what = f"the definitions are longer than {_LONGEST_DEFINITIONS:,} characters"
        raise UsageError(what, advice="define only what is to be shown")
    return given


def _tiling(document: Document) -> dict[str, Any]:
    return tiling_of(grid_of(document))


def _steps(document: Document, name: str, se: int | None, text: str | None) -> Sequence[StepCurve]:
    from wavescope.analysis.curves import curve_steps, derived_steps

    if name == DERIVED:
        return [curve for _, curve in derived_steps(_derived(document, text, se))]
    if text is not None:
        what = "only derived counters have definitions"
        raise UsageError(what)
    return document.kept(("curves", name, se), lambda: curve_steps(document.trace, name, se=se))  # type: ignore[no-any-return]


def _derived(document: Document, text: str | None, se: int | None) -> DerivedValues:
    """Kept for the last few texts: each may hold large tensors."""
    from wavescope.analysis.derived_counters.values import derived_values

    kept: dict[object, DerivedValues] = document.kept("derived", dict)
    got = kept.pop((text, se), None) or derived_values(document.trace, definitions=text, se=se)
    kept[text, se] = got
    for oldest in list(kept)[:-_MOST_TEXTS_KEPT]:
        kept.pop(oldest, None)
    return got


def _exported(document: Document) -> Iterator[Mapping[str, Any]]:
    """The coarse levels of everything; more of the whole trace than of single engines."""
    grid = grid_of(document)
    sets: list[dict[str, Any]] = [
        {"name": entry["name"]} | ({} if entry["se"] is None else {"se": entry["se"]})
        for entry in curve_names(document)["curves"]
    ]
    if document.trace.counters.height:
        sets.append({"name": DERIVED})
    for entry in sets:
        most = _EXPORTED_TILES_PER_ENGINE if "se" in entry else _EXPORTED_TILES
        for level in reversed(range(grid.level_count)):
            if grid.tile_count(level) <= most:
                for tile in range(grid.tile_count(level)):
                    yield entry | {"level": level, "tile": tile}


QUESTIONS = (
    Question("curve_names", "trace", curve_names),
    Question(
        "curves",
        "trace",
        curves,
        {"name": text, "level": whole_number, "tile": whole_number, "se": whole_number, "text": _definitions},
        ("name", "level", "tile"),
        _exported,
    ),
    Question("derived", "trace", derived, {"text": _definitions, "se": whole_number}),
)
