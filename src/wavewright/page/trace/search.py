"""The lines of source text of a trace, for the search of the page."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from wavewright.page.protocol.question import PageQuestion

if TYPE_CHECKING:
    from wavewright.model.document import Document

MOST_LINES = 200_000  #: Lines that are passed to the page; later lines are not found.


def source_texts(document: Document) -> pl.DataFrame:
    """The lines of all source texts that are not blank: file, line, text."""
    with_text = document.trace.sources.filter(pl.col("text").is_not_null())
    lines = with_text.with_columns(pl.col("text").str.split("\n")).with_columns(
        line=pl.int_ranges(1, pl.col("text").list.len() + 1, dtype=pl.UInt32)
    )
    rows = lines.explode("text", "line", empty_as_null=False).filter(pl.col("text").str.strip_chars() != "")
    return rows.select("file", "line", pl.col("text").str.strip_chars_end()).head(MOST_LINES)


QUESTIONS = (PageQuestion("source_texts", "trace", source_texts),)
