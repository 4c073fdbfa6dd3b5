"""Curves over time of a document: which there are, and their tiles."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from wavewright.errors import UsageError
from wavewright.page.protocol.question import PageQuestion
from wavewright.questions.kit.parameters import Parameters, engine, place, text

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    import polars as pl

    from wavewright.model.document import Document

_TILE: Parameters = {"name": text, "level": place, "tile": place}


def _definitions(definitions_text: str) -> Any:
    from wavewright.page.trace.curves import definitions

    return definitions(definitions_text)


_OF_TRACES_ONLY: Parameters = {"se": engine, "text": _definitions}


def curve_names(document: Document) -> dict[str, Any]:
    """The names of curves, and their tiling."""
    if document.kind == "trace":
        from wavewright.page.trace.curves import curve_names_of_trace

        return curve_names_of_trace(document)
    from wavewright.page.run.curves import curve_names_of_run

    return curve_names_of_run(document)


def curves(document: Document, **parameters: Any) -> pl.DataFrame:
    """One tile of all curves of a name: mean, smallest and largest value per series and bin."""
    if document.kind == "trace":
        from wavewright.page.trace.curves import curves_of_trace

        return curves_of_trace(document, **parameters)
    from wavewright.page.run.curves import curves_of_run

    wrong = next((name for name in _OF_TRACES_ONLY if name in parameters), None)
    if wrong:
        raise UsageError(f"curves: no parameter {wrong!r} about a run")
    return curves_of_run(document, **parameters)


def _held(document: Document) -> Iterable[Mapping[str, Any]]:
    if document.kind == "trace":
        from wavewright.page.trace.curves import held_curves_of_trace

        return held_curves_of_trace(document)
    from wavewright.page.run.curves import held_curves_of_run

    return held_curves_of_run(document)


QUESTIONS = (
    PageQuestion("curve_names", "timed", curve_names),
    PageQuestion("curves", "timed", curves, {**_TILE, **_OF_TRACES_ONLY}, tuple(_TILE), _held),
)
