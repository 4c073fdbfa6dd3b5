"""Sections of the user: titles with text, or with one SELECT over the stable views of runs, declared in TOML."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Literal

import polars as pl
from msgspec import Meta

from wavewright.base.toml import read_toml
from wavewright.errors import WavewrightError
from wavewright.facts.loader import Fact, decoded
from wavewright.model.blocks import Block, Picture, Sentence, readable
from wavewright.model.document import Document
from wavewright.model.report import DataTable, Section
from wavewright.model.schema import ColumnSpec, TableSpec
from wavewright.questions.kit.question import WIDTH
from wavewright.words.kit.brief_names import brief
from wavewright.writers.svg.plot_axes import Scale, bottom_axis, left_axis, plain, round_ticks
from wavewright.writers.svg.plot_bars import Bar, Part, bar_panel, bars_height
from wavewright.writers.svg.plot_frame import SMALL, Frame, width_of

_MOST_SECTIONS = 50
_LIMITS = {"rows": 100_000, "mib": 64, "seconds": 60.0}
_Text = Annotated[str, Meta(min_length=1, max_length=100_000)]


class OwnSection(Fact, frozen=True):
    """One section as the file declares it: a text or an SQL query."""

    title: _Text
    text: _Text | None = None
    sql: _Text | None = None
    #: Of the first column of names or times, and the first of numbers.
    picture: Literal["bar", "line"] | None = None

    def __post_init__(self) -> None:
        """Raise ValueError, which `decoded` words, for keys that do not go together."""
        if (self.sql is None) == (self.text is None):
            raise ValueError("a section has either sql or text")
        if self.picture is not None and self.sql is None:
            raise ValueError("a picture is of the rows of sql")


class _SectionsFile(Fact, frozen=True):
    section: Annotated[tuple[OwnSection, ...], Meta(min_length=1, max_length=_MOST_SECTIONS)]


def read_own_sections(path: Path) -> tuple[OwnSection, ...]:
    """The sections that a TOML file declares; UsageError when it cannot be read, or declares something else."""
    declared = read_toml(path, advice="give a TOML file with tables [[section]]")
    advice = f"declare 1 to {_MOST_SECTIONS} [[section]], each with title, and sql (with picture = bar or line) or text"
    return decoded(declared, _SectionsFile, where=str(path), advice=advice).section


def own_section(document: Document, declared: OwnSection, number: int, *, limit: int) -> Section:
    """A section of the user about a document; SQL that cannot be answered makes it a skipped one."""
    name, question = f"own-{number}", "What the reader's own query or text says."
    if declared.text:
        paragraphs = tuple(Sentence(" ".join(part.split())) for part in declared.text.split("\n\n") if part.strip())
        return Section(name, declared.title, question, paragraphs)
    if document.kind != "run":
        return Section(name, declared.title, question, skipped="SQL can be asked about runs only")
    try:
        rows = _rows(document, declared.sql or "")
    except WavewrightError as error:
        return Section(name, declared.title, question, skipped=f"the query cannot be answered: {error.what}")
    data = DataTable("rows", _spec(rows), rows)
    drawn = drawn_rows(declared.picture, rows, name=name, title=declared.title) if declared.picture else None
    blocks: tuple[Block, ...] = (*([drawn] if drawn else []), *_words(rows, limit))
    return Section(name, declared.title, question, blocks, (data,), definition=f"SQL: {declared.sql}")


def _rows(document: Document, sql: str) -> pl.DataFrame:
    from wavewright.analysis.run.query import query
    from wavewright.analysis.run.query.result import QueryLimits

    limits = QueryLimits(**_LIMITS)  # type: ignore[arg-type]
    # SQLite is always there: reports of two machines are the same, whether DuckDB is installed or not
    return query(document.run, sql, engine="sqlite", limits=limits)


def _words(rows: pl.DataFrame, limit: int) -> tuple[Block, ...]:
    from wavewright.words.run.data.query import query_report

    return readable(query_report(rows.head(limit), rows.height, width=WIDTH))


def _spec(rows: pl.DataFrame) -> TableSpec:
    columns = tuple(
        ColumnSpec(name, dtype.__class__.__name__, "-", "as the query names it", is_optional=True)
        for name, dtype in rows.schema.items()
    )
    return TableSpec("rows", "one row of the query", columns)


def sections_of(document: Document, declared: Sequence[OwnSection], *, limit: int) -> list[Section]:
    """All sections of the user about a document."""
    return [own_section(document, each, number, limit=limit) for number, each in enumerate(declared, 1)]


_MOST_BARS = 30
_MOST_POINTS = 2000
_NAME = 48
_HEIGHT = 240.0


def drawn_rows(kind: str, rows: pl.DataFrame, *, name: str, title: str) -> Picture | None:
    """The rows as bars or as a line; None = they have no columns for it."""
    if not rows.height:
        return None
    return _bars(rows, name, title) if kind == "bar" else _line(rows, name, title)


def _numbers(rows: pl.DataFrame) -> list[str]:
    return [column for column, dtype in rows.schema.items() if dtype.is_numeric()]


def _bars(rows: pl.DataFrame, name: str, title: str) -> Picture | None:
    names = [column for column, dtype in rows.schema.items() if dtype == pl.String]
    numbers = _numbers(rows)
    if not names or not numbers:
        return None
    shown = rows.select(pl.col(names[0]).fill_null("-"), pl.col(numbers[0]).cast(pl.Float64)).head(_MOST_BARS)
    values = [(label, value) for label, value in shown.iter_rows() if value is not None and 0 <= value < math.inf]
    if not values:
        return None
    high = max(value for _, value in values) or 1.0
    bars = [Bar(brief(label, _NAME), (Part(value, "blue"),), plain(value), title=label) for label, value in values]
    first = f"{numbers[0]} by {names[0]}: {brief(values[0][0], _NAME)} {plain(values[0][1])}"
    note = f"showing {len(values)} of {rows.height:,} rows" if len(values) < rows.height else ""
    frame = Frame(name, title, first, height=bars_height(len(bars)), note=note)
    bar_panel(frame, bars, top=frame.top, high=high, ticks=round_ticks(0, high), name=numbers[0])
    return frame.picture()


def _line(rows: pl.DataFrame, name: str, title: str) -> Picture | None:
    numbers = _numbers(rows)
    if len(numbers) < 2:
        return None
    across, up = numbers[:2]
    points = rows.select(pl.col(across, up).cast(pl.Float64)).filter(pl.all_horizontal(pl.all().is_finite()))
    points = points.sort(across, up).head(_MOST_POINTS)
    if points.height < 2:
        return None
    xs, ys = points[across].to_list(), points[up].to_list()
    low, high = min(0.0, *ys), max(0.0, *ys) or 1.0
    sentence = f"{up} over {across}: from {plain(min(ys))} to {plain(max(ys))}"
    note = f"showing {points.height:,} of {rows.height:,} rows" if points.height < rows.height else ""
    frame = Frame(name, title, sentence, height=_HEIGHT + 60, note=note)
    ticks = round_ticks(low, high, 5)
    left = frame.left + max(width_of(plain(tick), SMALL) for tick in ticks) + 12
    bottom = frame.top + _HEIGHT
    vertical = Scale(low, high, bottom, frame.top + 24)
    horizontal = Scale(xs[0], xs[-1], left, frame.right)
    left_axis(frame.svg, vertical, ticks, left=left, right=frame.right, name=up)
    bottom_axis(frame.svg, horizontal, round_ticks(xs[0], xs[-1]), top=frame.top + 24, bottom=bottom, name=across)
    line = [(horizontal.at(x), vertical.at(y)) for x, y in zip(xs, ys, strict=True)]
    frame.svg.line("p-line-blue", line)
    return frame.picture()
