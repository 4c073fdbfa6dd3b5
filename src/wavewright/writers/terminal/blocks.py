"""Blocks as a terminal shows them."""

from __future__ import annotations

import io
from collections.abc import Iterable, Iterator

from rich.console import Console, Group, RenderableType
from rich.padding import Padding
from rich.rule import Rule as RichRule
from rich.table import Table as RichTable
from rich.text import Text

from wavewright.base.shown import printable
from wavewright.model.blocks import (
    GAP,
    AnyBlock,
    Cell,
    Drawn,
    Finding,
    Gap,
    Grid,
    GridColumn,
    Labelled,
    Preformatted,
    Rule,
    Sentence,
    Table,
    sentence,
)
from wavewright.writers.terminal.bars import bar
from wavewright.writers.terminal.fitted_table import FittedTable
from wavewright.writers.terminal.texts import Line, cell_text, marked_text, printable_lines

BLOCKS = (Sentence, Gap, Rule, Labelled, Finding, Grid, Table, Preformatted)  #: Those that a terminal shows.
_LABELS = {"note": "bold cyan", "loss": "bold yellow"}  #: Style of a sentence -> tone of the label before it.


def renderable(block: AnyBlock) -> RenderableType:
    """A block in the form that a console of rich prints.

    Raises `TypeError` when the block is for other writers: a picture, code.
    """
    match block:
        case Sentence():
            return _indented(sentence_text(block), block.indent)
        case Gap():
            return Text()
        case Rule(title):
            return RichRule(printable(title), align="left")
        case Labelled():
            return _indented(_labelled(block), block.indent)
        case Finding():
            return Group(*map(renderable, finding_blocks(block)))
        case Grid():
            return _indented(_grid(block), block.indent)
        case Table():
            return _indented(FittedTable(block), block.indent)
        case Preformatted():
            text = marked_text(block.text, block.marks, has_lines=True)
            text.no_wrap = True
            return text
        case _:
            raise TypeError(f"{type(block).__name__} is not for terminals")


def keeps_lines(block: object) -> bool:
    """True if its lines are neither cut nor wrapped: a command could not be copied then."""
    return isinstance(block, Preformatted) and not block.is_chart


def plain_text(blocks: Iterable[AnyBlock], width: int) -> str:
    """Blocks as a terminal of this width shows them, without colours.

    >>> plain_text([Sentence("no counters", "note")], 80)
    'note: no counters\\n'
    """
    stream = io.StringIO()
    out = Console(file=stream, highlight=False, markup=False, emoji=False, width=width, color_system=None)
    for block in blocks:
        out.print(renderable(block), soft_wrap=keeps_lines(block))
    return "".join(f"{line.rstrip()}\n" for line in stream.getvalue().splitlines())


def sentence_text(sentence: Sentence) -> Text:
    """A sentence with its label and tones."""
    text = marked_text(sentence.text, sentence.marks, "bold" if sentence.style == "headline" else "")
    if sentence.style in _LABELS:
        return Text.assemble((f"{sentence.style}: ", _LABELS[sentence.style]), text)
    return text


def _indented(part: RenderableType, indent: int) -> RenderableType:
    return Padding(part, (0, 0, 0, indent)) if indent else part


def _labelled(block: Labelled) -> RichTable:
    """A paragraph whose lines hang behind its label."""
    grid = RichTable.grid(padding=(0, 1))
    grid.add_column(style=block.tone, min_width=4)
    grid.add_column(ratio=1)
    grid.add_row(printable(block.label), marked_text(block.text, block.marks, has_lines=True))
    return grid


def finding_blocks(finding: Finding) -> Iterator[AnyBlock]:
    """A finding after an empty line: number and verdict, the gain with its bar, then its paragraphs."""
    yield GAP
    figure = () if finding.share is None else (Drawn(bar(finding.share)), " ")
    yield sentence((f"{finding.number}. {finding.verdict}", "bold"), "  ", *figure, (finding.gain, "bold"))
    yield from finding.paragraphs


def _grid(block: Grid) -> RichTable:
    grid = RichTable.grid(padding=(0, block.gap), expand=block.is_expanded)
    for column in block.columns:
        grid.add_column(
            style=column.tone,
            min_width=column.least_width,
            ratio=1 if column.takes_rest else None,
            justify="right" if column.is_number else "left",
            overflow="fold",
        )
    for row in block.rows:
        grid.add_row(*map(_grid_cell, row, block.columns))
    return grid


def _grid_cell(cell: str, column: GridColumn) -> Text:
    if column.is_cut:
        return Line(printable(cell))
    if not isinstance(cell, Cell):
        return Text(printable_lines(cell))
    return cell_text(cell)
