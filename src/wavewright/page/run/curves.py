"""Curves over the time of a run: bins of level 0 are one nanosecond long, bins of each next level twice as long."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import polars as pl

from wavewright.analysis.common.step_functions import StepLevels
from wavewright.analysis.run.memory.run_curves import CURVE_UNITS, RunCurves, run_curves
from wavewright.model.document import Document
from wavewright.page.protocol.curve_tiles import Grid, tile_of, tiling_of
from wavewright.page.protocol.question import TILE, PageQuestion
from wavewright.page.run.times import clocks_of
from wavewright.questions.kit.parameters import Parameters, text

_EXPORTED_TILES = 16


def curve_names_of_run(document: Document) -> dict[str, Any]:
    """The names of curves: busy GPUs, memory, copies, clocks and power, counters; and their tiling."""
    curve_sets = []
    for name, unit in CURVE_UNITS.items():
        curves = _curves(document, name)
        if curves.series:
            series = [
                {"label": series_curve.label, "keys": {"quantity": series_curve.quantity}}
                for series_curve in curves.series
            ]
            curve_sets.append({"name": name, "unit": unit, "se": None, "series": series, "left_out": curves.left_out})
    return tiling_of(grid_of(document)) | {"curves": curve_sets}


def curves_of_run(document: Document, *, name: str, level: int, tile: int) -> pl.DataFrame:
    """One tile of all curves of a name: mean, smallest and largest value per series and bin."""
    return tile_of(grid_of(document), lambda: _levels(document, name), level, tile)


def held_curves_of_run(document: Document) -> Iterator[dict[str, Any]]:
    """The levels in an exported page: the coarse ones."""
    grid = grid_of(document)
    for entry in curve_names_of_run(document)["curves"]:
        yield from ({"name": entry["name"], **tile} for tile in grid.coarse_tiles(_EXPORTED_TILES))


def grid_of(document: Document) -> Grid:
    """The grid of all curves of a run: from its start to its end."""
    return Grid(0, max(1, clocks_of(document).duration_ns))


def _curves(document: Document, name: str) -> RunCurves:
    return document.kept(("curves", name), lambda: run_curves(document.run, name, clocks_of(document)))


def _levels(document: Document, name: str) -> list[StepLevels]:
    grid = grid_of(document)
    curves = _curves(document, name).series
    return document.kept(
        ("curve levels", name), lambda: [StepLevels(curve.curve, grid.begin, grid.end) for curve in curves]
    )


_OF_CURVE: Parameters = {"name": text, **TILE}
QUESTIONS = (
    PageQuestion("curve_names", curve_names_of_run),
    PageQuestion("curves", curves_of_run, _OF_CURVE, tuple(_OF_CURVE), held_curves_of_run),
)
