"""Curves over the time of a run: busy GPUs, memory, copies, clocks, power and counters, tile by tile."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import polars as pl

from wavewright.analysis.common.step_functions import StepLevels
from wavewright.analysis.run.memory.run_curves import CURVE_UNITS, RunCurves, run_curves
from wavewright.model.document import Document
from wavewright.page.protocol.curve_tiles import Grid, coarse_tiles, tile_of, tiling_of
from wavewright.page.protocol.question import TILE, PageQuestion, once_per_document
from wavewright.page.run.times import clocks_of
from wavewright.questions.kit.parameters import Parameters, text

_EXPORTED_TILES = 16  #: Levels with more tiles are left out of exported pages.


def curve_names_of_run(document: Document) -> dict[str, Any]:
    """The names of the curves that have values, with their series, and the tiling of all."""
    available_curves = []
    for name, unit in CURVE_UNITS.items():
        curves = _curves(document, name)
        series = [{"label": curve.label, "keys": {"quantity": curve.quantity}} for curve in curves.series]
        if series:
            facts = {"name": name, "unit": unit, "se": None, "series": series, "left_out": curves.left_out}
            available_curves.append(facts)
    return tiling_of(grid_of(document)) | {"curves": available_curves}


def curves_of_run(document: Document, *, name: str, level: int, tile: int) -> pl.DataFrame:
    """One tile of all curves of a name: mean, smallest and largest value per series and bin."""
    return tile_of(grid_of(document), lambda: _levels(document, name), level, tile)


def exported_curves_of_run(document: Document) -> Iterator[dict[str, Any]]:
    """The tiles that an exported page stores: those of coarse levels."""
    for entry in curve_names_of_run(document)["curves"]:
        yield from ({"name": entry["name"], **tile} for tile in coarse_tiles(grid_of(document), _EXPORTED_TILES))


def grid_of(document: Document) -> Grid:
    """The grid of all curves of a run: from its start to its end."""
    return Grid(0, max(1, clocks_of(document).duration_ns))


@once_per_document
def _curves(document: Document, name: str) -> RunCurves:
    return run_curves(document.run, name, clocks_of(document))


@once_per_document
def _levels(document: Document, name: str) -> list[StepLevels]:
    grid = grid_of(document)
    return [StepLevels(series.curve, grid.begin, grid.end) for series in _curves(document, name).series]


_OF_CURVE: Parameters = {"name": text, **TILE}
QUESTIONS = (
    PageQuestion("curve_names", curve_names_of_run),
    PageQuestion("curves", curves_of_run, _OF_CURVE, required=tuple(_OF_CURVE), exported=exported_curves_of_run),
)
