"""Blocks of an answer made smaller step by step: rows, columns, tables, paragraphs; and what was left out, in words."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import takewhile
from typing import TypeAlias

from wavewright.base.words import counted, shortened
from wavewright.model.blocks import Block, Cell, Code, Finding, Labelled, Mark, Preformatted, Sentence, Table
from wavewright.model.report import Section
from wavewright.writers.markdown.blocks import escaped

_TEXT, _CELL = 900, 90  #: Characters of a paragraph, and of a cell.
_MOST_ROWS = 800  #: No budget has room for more.
_FEWEST_ROWS, _FEWEST_COLUMNS = 3, 4  #: That a table keeps.
_FEWEST_FIRST_ROWS = 5  #: Rows that the first table keeps, which is cut last.
_FIRST_BLOCKS = 3  #: The verdict is among this many blocks, as far as they are sentences.
_EMPTY_CELLS = ("", "-")

Part: TypeAlias = "Block | str"  #: A block, or Markdown (a heading).
Rows: TypeAlias = Table | Code | Preformatted


@dataclass(frozen=True)
class Cut:
    """Parts of an answer, and what was left out of them."""

    blocks: tuple[Part, ...]
    column_count: int = 0  #: Columns, tables and paragraphs that were left out.
    table_count: int = 0
    paragraph_count: int = 0
    has_shorter_parts: bool = False  #: Whether rows and lines were left out, which their titles say.

    @property
    def left_out(self) -> str:
        """In words; empty = nothing but rows, which titles tell."""
        counts = ((self.column_count, "columns"), (self.table_count, "tables"), (self.paragraph_count, "paragraphs"))
        is_cut = self.has_shorter_parts or any(isinstance(part, Table) and part.is_cut for part in self.blocks)
        rows = ["rows"] if is_cut else []
        return ", ".join([*rows, *(counted(count, what) for count, what in counts if count)])


def brief_blocks(sections: Sequence[Section]) -> tuple[str, tuple[Part, ...]]:
    """The headline, and the blocks that words alone can show, in the order of the sections."""
    headline = ""
    parts: list[Part] = []
    for section in sections:
        blocks = [readable for block in section.blocks if (readable := _readable(block)) is not None]
        if not headline and not parts:
            headline = _taken_headline(blocks)
        if len(sections) > 1:
            parts.append(f"## {escaped(section.title)}")
        parts += blocks
        if section.skipped:
            parts.append(Sentence(section.skipped, "note"))
    return headline, tuple(parts)


def cuts_of(blocks: tuple[Part, ...]) -> Iterator[Cut]:
    """The blocks without more and more columns, tables and paragraphs, all rows still there."""
    cut = Cut(blocks)
    yield cut
    for step in (_without_column, _without_table, _without_paragraph):
        while (smaller := step(cut)) is not None:
            cut = smaller
            yield cut


def longest(cuts: Iterator[Cut], fits: Callable[[Cut], bool]) -> Cut:
    """The first cut that fits with its fewest rows, with as many rows as fit: those of the first table first."""
    for cut in cuts:
        if fits(_with_rows(cut, _FEWEST_FIRST_ROWS, _FEWEST_ROWS)):
            break
    first = _largest_fit(_FEWEST_FIRST_ROWS, lambda count: fits(_with_rows(cut, count, _FEWEST_ROWS)))
    others = _largest_fit(_FEWEST_ROWS, lambda count: fits(_with_rows(cut, first, count)))
    return _with_rows(cut, first, others)


def _largest_fit(lowest: int, fits: Callable[[int], bool]) -> int:
    """The largest number of rows that fits, if not all of them do."""
    low, high = lowest, _MOST_ROWS
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if fits(middle) else (low, middle - 1)
    return low


def _taken_headline(blocks: list[Block]) -> str:
    """The verdict among the first sentences, else the first of them, which is taken out; empty = there is none."""
    first_sentences = list(takewhile(lambda block: isinstance(block, Sentence), blocks[:_FIRST_BLOCKS]))
    sentences = [block for block in first_sentences if isinstance(block, Sentence) and block.style != "loss"]
    headlines = [sentence for sentence in sentences if sentence.style == "headline"]
    chosen = next(iter(headlines + sentences), None)
    if chosen is None:
        return ""
    blocks.remove(chosen)
    return chosen.text


def _readable(block: Block) -> Block | None:
    """A block without what words cannot show, and with handles; None = nothing remains."""
    match block:
        case Table():
            return _readable_table(block)
        case Sentence(text, style, marks):
            return Sentence(shortened(_with_handles(text, marks), _TEXT), style)
        case Labelled():
            return _labelled(block)
        case Finding():
            parts = tuple(map(_labelled, block.paragraphs))
            return replace(block, verdict=shortened(block.verdict, _TEXT), paragraphs=parts)
        case Code():
            return replace(block, lines=block.lines[:_MOST_ROWS])
        case Preformatted(text, is_chart):
            return None if is_chart else Preformatted("\n".join(text.split("\n")[:_MOST_ROWS]))
        case _:
            return None


def _labelled(block: Labelled) -> Labelled:
    return Labelled(block.label, shortened(_with_handles(block.text, block.marks), _TEXT))


def _readable_table(table: Table) -> Table | None:
    """The table without columns that say nothing, and with handles; None = no column says something."""
    table = table.head(_MOST_ROWS)
    cells = [
        [_cell(cell, column.handle) for cell, column in zip(row, table.columns, strict=True)] for row in table.rows
    ]
    places = [
        place
        for place, column in enumerate(table.columns)
        if not column.is_drawn and any(row[place] not in _EMPTY_CELLS for row in cells)
    ]
    if not places:
        return None
    return replace(table, rows=tuple(map(tuple, cells))).with_columns(places)


def _cell(cell: str, handle: str) -> str:
    """A cell in words: the handle where it names something."""
    text = _with_handles(cell, cell.marks) if isinstance(cell, Cell) else _one_line(cell)
    return f"{handle}{text}" if handle and text not in _EMPTY_CELLS else shortened(text, _CELL)


def _with_handles(text: str, marks: Iterable[Mark]) -> str:
    """Words on one line, with handles instead of addresses.

    >>> from wavewright.model.blocks import Mark
    >>> _with_handles("loop 0 at 0x17e0", [Mark(10, 16, handle="i")])
    'loop 0 at i0x17e0'
    """
    for mark in sorted(marks, reverse=True):
        text = text[: mark.begin] + mark.handle + text[mark.begin :]
    return _one_line(text)


def _one_line(text: str) -> str:
    return " ".join(text.split())


def _with_rows(cut: Cut, first: int, others: int) -> Cut:
    """At most `first` rows in the first table, `others` in the others."""
    parts: list[Part] = []
    limit = first
    for part in cut.blocks:
        if isinstance(part, Table | Code | Preformatted):
            parts.append(_head(part, limit))
            limit = others
        else:
            parts.append(part)
    return replace(cut, blocks=tuple(parts), has_shorter_parts=tuple(parts) != cut.blocks)


def _head(part: Rows, count: int) -> Part:
    match part:
        case Table():
            return part.head(count)
        case Code() if len(part.lines) > count:
            note = f"{part.file}, showing {count:,} of {len(part.lines):,} lines"
            return Code(note, part.lines[:count])
        case Preformatted(text) if (lines := text.split("\n")) and len(lines) > count:
            return Preformatted("\n".join([*lines[:count], f"showing {count:,} of {len(lines):,} lines"]))
    return part


def _without_column(cut: Cut) -> Cut | None:
    """Without the right-most column of numbers of the widest table; the first table gives way last."""
    tables = [place for place, part in enumerate(cut.blocks) if isinstance(part, Table)]
    for places in (tables[1:], tables[:1]):
        narrower = {place: table for place in places if (table := _narrower(cut.blocks[place]))}
        if narrower:
            widest = max(narrower, key=lambda place: (len(narrower[place].columns), -place))
            return _replaced(cut, widest, narrower[widest], column_count=1)
    return None


def _narrower(part: Part) -> Table | None:
    """The table without its last column of numbers, as long as it has some to spare; never without the first two."""
    if not isinstance(part, Table) or len(part.columns) <= _FEWEST_COLUMNS:
        return None
    numbers = [place for place, column in enumerate(part.columns) if column.is_number and place > 1]
    if not numbers:
        return None
    return part.with_columns(place for place in range(len(part.columns)) if place != numbers[-1])


def _without_table(cut: Cut) -> Cut | None:
    """Without the last table; the first one stays."""
    tables = [place for place, part in enumerate(cut.blocks) if isinstance(part, Table | Code | Preformatted)]
    return _replaced(cut, tables[-1], None, table_count=1) if len(tables) > 1 else None


def _without_paragraph(cut: Cut) -> Cut | None:
    """Without the last paragraph that is not a table; at last, without the table, too."""
    places = [place for place, part in enumerate(cut.blocks) if not isinstance(part, Table | Code | Preformatted | str)]
    if places:
        return _replaced(cut, places[-1], None, paragraph_count=1)
    return _replaced(cut, len(cut.blocks) - 1, None, table_count=1) if cut.blocks else None


def _replaced(cut: Cut, place: int, part: Part | None, **counts: int) -> Cut:
    """With another part at a place (None = without it); `counts` are added to the fields of the same names."""
    before, after = cut.blocks[:place], cut.blocks[place + 1 :]
    if part is None and before and isinstance(before[-1], str) and (not after or isinstance(after[0], str)):
        before = before[:-1]  # a heading with nothing below it
    parts = (*before, *(() if part is None else (part,)), *after)
    totals = {name: getattr(cut, name) + count for name, count in counts.items()}
    return replace(cut, blocks=parts, **totals)
