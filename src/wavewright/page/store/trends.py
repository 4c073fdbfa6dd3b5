"""The course of a quantity of a store, in words and a picture, what its last change came from, and the captures."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from wavewright.analysis.common.store.blame import blame_of_change
from wavewright.analysis.common.store.trend import newest_captures, of_series, trend_of
from wavewright.errors import UsageError
from wavewright.model.baseline import OF_CAPTURE
from wavewright.model.blocks import AnyBlock, readable
from wavewright.model.document import Document
from wavewright.page.declared_questions import sent_block
from wavewright.page.protocol.question import PageQuestion
from wavewright.page.store.series import rows_of, series_of
from wavewright.questions.kit.parameters import OneOf, Parameters, place
from wavewright.words.store import blame_report, captures_report, trend_picture, trend_report

_MOST_ROWS = 50


def trend_answer(document: Document, *, series: int = 0, theme: str = "dark") -> dict[str, Any]:
    """The course of a series, by its number in the overview."""
    all_of_store = series_of(document)
    if series >= all_of_store.height:
        raise UsageError(f"the store has no series {series}", advice=f"it has {all_of_store.height:,}")
    series_row = all_of_store.row(series, named=True)
    rows = of_series(rows_of(document), series_row)
    answer = trend_of(rows)
    blocks = _sent(trend_report(answer, limit=_MOST_ROWS))[1:]  # the picture has the headline
    if answer.changes.height:
        parts = blame_of_change(document.store.read, answer, rows, int(answer.changes["place"][-1]))
        blocks += _sent(blame_report(parts, limit=_MOST_ROWS))
    return {
        "picture": trend_picture(answer, theme).svg,
        "headline": answer.headline(),
        "blocks": blocks,
        "definition": answer.definition,
    }


def captures(document: Document) -> dict[str, Any]:
    """The captures, the newest first."""
    newest = newest_captures(document.store.read(columns=OF_CAPTURE))
    return {"blocks": _sent(captures_report(newest, document.label, limit=10 * _MOST_ROWS))}


def _sent(blocks: Iterable[AnyBlock]) -> list[dict[str, Any]]:
    return [message for block in readable(blocks) for message in sent_block(block)]


def _every_series(document: Document) -> Iterator[dict[str, Any]]:
    for number in range(series_of(document).height):
        for theme in ("dark", "light"):
            yield {"series": number, "theme": theme}


PARAMETERS: Parameters = {"series": place, "theme": OneOf("no theme", ("dark", "light"))}
QUESTIONS = (
    PageQuestion("store_trend", trend_answer, PARAMETERS, (), _every_series),
    PageQuestion("store_captures", captures),
)
