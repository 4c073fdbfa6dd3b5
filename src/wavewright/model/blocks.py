"""Blocks: the typed parts of an answer in words, which every writer writes in its own way.

Texts are as they were recorded; a writer escapes them for its format. Words yield blocks, and only writers know about
characters, colours and widths.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal, NamedTuple, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

Role: TypeAlias = Literal["number", "words", "short", "rest", "prose", "bar"]
Style: TypeAlias = Literal["plain", "headline", "note", "loss", "advice"]


class Mark(NamedTuple):
    """A part of a text that is more than letters."""

    begin: int
    end: int
    tone: str = ""  #: As terminals show it: bold, dim, a colour.
    handle: str = ""  #: Letter of the handle that this part names: i of an instruction's address.
    is_drawn: bool = False  #: A bar of characters, which only a terminal shows.


class Drawn(NamedTuple):
    """A bar of characters in a sentence, which only a terminal shows."""

    text: str
    tone: str = ""


class Named(NamedTuple):
    """Words by which something can be asked about: an address of an instruction."""

    text: str
    handle: str  #: Letter of its handles.
    tone: str = ""


@dataclass(frozen=True)
class Sentence:
    """A line of text: a verdict, a note, or what was lost."""

    text: str
    style: Style = "plain"  #: headline = the verdict of its section; advice = what to ask next.
    marks: tuple[Mark, ...] = ()
    indent: int = 0  #: Spaces before its lines in a terminal.


@dataclass(frozen=True)
class Gap:
    """An empty line in a terminal; other writers have their own distances."""


@dataclass(frozen=True)
class Rule:
    """A line across a terminal with a title in it; elsewhere the title."""

    title: str


@dataclass(frozen=True)
class Labelled:
    """A paragraph with a label before it: why, do, see, confidence."""

    label: str
    text: str
    tone: str = "cyan"  #: Of the label.
    marks: tuple[Mark, ...] = ()
    indent: int = 3


class GridColumn(NamedTuple):
    """A column of a grid, as a terminal lays it out."""

    tone: str = ""
    least_width: int | None = None
    takes_rest: bool = False
    is_number: bool = False
    is_cut: bool = False  #: Cut where it is too wide, instead of wrapped.


@dataclass(frozen=True)
class Grid:
    """Lines without headings: a label, then values that line up in a terminal."""

    rows: tuple[tuple[str, ...], ...]
    columns: tuple[GridColumn, ...]
    indent: int = 0
    gap: int = 1  #: Spaces between columns.
    is_expanded: bool = False  #: As wide as the terminal.


@dataclass(frozen=True)
class Finding:
    """A finding of a diagnosis, in words."""

    number: int
    verdict: str
    gain: str  #: What could be won at most; empty = not known.
    paragraphs: tuple[Labelled, ...] = ()
    handle: str = ""  #: What names it in a question: f1, f2, ...
    share: float | None = None  #: Of the gain, where a terminal draws it as a bar.


class Cell(str):
    """The text of a cell, with what it means."""

    __slots__ = ("bar_width", "brief", "level", "marks", "share", "tone")
    tone: str  #: As terminals show it.
    share: float | None  #: Drawn as a bar after the text, from 0 to 1.
    bar_width: int  #: Characters of the bar, where there is room.
    level: int  #: In a tree: how many names it is below.
    marks: tuple[Mark, ...]
    brief: str  #: In a document, where no width is known.

    def __new__(
        cls,
        text: str,
        tone: str = "",
        *,
        share: float | None = None,
        bar_width: int = 10,
        level: int = 0,
        brief: str = "",
    ) -> Cell:
        """A cell; see the fields."""
        cell = super().__new__(cls, text)
        cell.tone, cell.share, cell.bar_width, cell.level = tone, share, bar_width, level
        cell.marks, cell.brief = (), brief or text
        return cell

    @classmethod
    def of(cls, *parts: Part) -> Cell:
        """A cell of parts, some of which are marked."""
        text, marks = marked(parts)
        cell = cls(text)
        cell.marks = marks
        return cell


class KernelName(str):
    """The name of a kernel in few characters; a table writes it anew, by what tells it from the others."""

    __slots__ = ("brief", "full")
    full: str
    brief: str  #: In a document, where no width is known.

    def __new__(cls, full: str, text: str, brief: str = "") -> KernelName:
        """The name as `text`."""
        name = super().__new__(cls, text)
        name.full, name.brief = full, brief or text
        return name


class Placed(str):
    """A label that starts with a path; a table leaves out what its paths have in common."""

    __slots__ = ("path", "tail")
    path: str
    tail: str

    def __new__(cls, path: str, tail: str = "", short: str = "") -> Placed:
        """The path in short (its last part), and what follows it."""
        label = super().__new__(cls, (short or path.rstrip("/").rpartition("/")[2] or path) + tail)
        label.path, label.tail = path, tail
        return label


@dataclass(frozen=True)
class Column:
    """A column of a table that people read."""

    heading: str
    role: Role = "words"  #: How it gives way where the table is too wide; numbers are aligned at the right.
    is_name: bool = False  #: Recorded words: names of kernels, instructions, calls, files.
    is_wide: bool = False  #: Left out where a terminal is narrow.
    handle: str = ""  #: Letter of the handles that its numbers are: d of dispatches, r of ranks.
    is_drawn: bool = False  #: Curves of characters, which words alone cannot show.
    name: str = ""  #: The heading in documents, where a terminal shows none.

    @property
    def is_number(self) -> bool:
        """Aligned at the right."""
        return self.role == "number"


@dataclass(frozen=True)
class Table:
    """Rows as people read them, units in the cells."""

    title: str
    columns: tuple[Column, ...]
    rows: tuple[tuple[str, ...], ...]
    row_count: int | None = None  #: Rows that there are, of which the first are here; None = not said.
    row_name: str = "rows"  #: Plural of what a row is.
    note: str = ""  #: What follows the count in the heading.
    indent: int = 0

    @property
    def heading(self) -> str:
        """The title, and how many rows of how many are here."""
        from wavewright.base.words import truncation

        count = "" if self.row_count is None else truncation(len(self.rows), self.row_count, self.row_name)
        return ", ".join(part for part in (self.title, count, self.note) if part)

    @property
    def is_cut(self) -> bool:
        """Whether there are more rows than these."""
        return self.row_count is not None and self.row_count > len(self.rows)

    def head(self, count: int) -> Table:
        """The first rows."""
        if len(self.rows) <= count:
            return self
        return replace(self, rows=self.rows[:count], row_count=self.row_count or len(self.rows))

    def with_columns(self, places: Iterable[int]) -> Table:
        """The table with these columns only."""
        places = tuple(places)
        columns = tuple(self.columns[place] for place in places)
        return replace(self, columns=columns, rows=tuple(tuple(row[place] for place in places) for row in self.rows))


@dataclass(frozen=True)
class CodeLine:
    """A line of source or code."""

    number: int | None  #: Of the source line; None = an instruction.
    text: str
    share: float | None = None  #: Of all cycles, from 0 to 1; None = not executed.
    cost: str = ""  #: Its cycles in words.
    handle: str = ""  #: i0x1814


@dataclass(frozen=True)
class Code:
    """Lines of one file, in their order; those left out are a line without a text."""

    file: str
    lines: tuple[CodeLine, ...]


@dataclass(frozen=True)
class Preformatted:
    """Text whose spaces matter: a chart made of characters, a command."""

    text: str
    is_chart: bool = False  #: Writers that can show pictures leave it out where the section has one.
    marks: tuple[Mark, ...] = ()


@dataclass(frozen=True)
class Picture:
    """A drawing."""

    name: str  #: As `wavewright plot` calls it.
    svg: str
    alt: str  #: The sentence that the picture shows, for those who do not see it.


Block: TypeAlias = Sentence | Labelled | Finding | Table | Code | Preformatted | Picture
#: Those that words yield: some are for terminals only, and `readable` turns them into blocks for every writer.
AnyBlock: TypeAlias = Block | Grid | Gap | Rule
#: Of a sentence: letters, letters with a tone, a name, a bar, a sentence.
Part: TypeAlias = "str | tuple[str, str] | Named | Drawn | Sentence"

GAP = Gap()


def marked(parts: Iterable[Part]) -> tuple[str, tuple[Mark, ...]]:
    """The text of the parts, and what is marked in it."""
    text, marks = "", list[Mark]()
    for part in parts:
        if isinstance(part, str):
            text += part
            continue
        begin = len(text)
        if isinstance(part, Sentence):
            marks += [Mark(begin + mark.begin, begin + mark.end, *mark[2:]) for mark in part.marks]
            text += part.text
            continue
        if not part[0]:
            continue  # an address that is not known
        text += part[0]
        if isinstance(part, Named):
            marks.append(Mark(begin, len(text), part.tone, part.handle))
        elif isinstance(part, Drawn):
            marks.append(Mark(begin, len(text), part.tone, is_drawn=True))
        elif part[1]:
            marks.append(Mark(begin, len(text), part[1]))
    return text, tuple(marks)


def sentence(*parts: Part, style: Style = "plain", indent: int = 0) -> Sentence:
    """A sentence of parts, some of which are marked."""
    text, marks = marked(parts)
    return Sentence(text, style, marks, indent)


def labelled(label: str, *parts: Part, tone: str = "cyan", indent: int = 3) -> Labelled:
    """A paragraph of parts with a label before it."""
    text, marks = marked(parts)
    return Labelled(label, text, tone, marks, indent)


def headline(*parts: Part) -> Sentence:
    """The verdict of a section."""
    return sentence(*parts, style="headline")


def chart(lines: Iterable[Sentence | str], title: str = "") -> Preformatted:
    """A picture made of characters, one line below the other; its title goes where it goes."""
    parts: list[Part] = [(title, "bold")] if title else []
    for line in lines:
        parts += ["\n", line] if parts else [line]
    text, marks = marked(parts)
    return Preformatted(text, is_chart=True, marks=marks)


def readable(blocks: Iterable[AnyBlock]) -> tuple[Block, ...]:
    """The blocks without what only a terminal shows: gaps, bars in tables, columns that line up."""
    return tuple(document_block for block in blocks for document_block in _readable(block))


def _readable(block: AnyBlock) -> Iterator[Block]:
    match block:
        case Gap():
            return
        case Rule(title):
            yield Sentence(title)
        case Grid(rows):
            yield from filter(None, map(_line, rows))
        case Table():
            yield _document_table(block)
        case Sentence():
            line = _undrawn(block)
            if line.text.strip():
                yield replace(line, style="plain") if line.style == "advice" else line
        case _:
            yield block


def _document_table(table: Table) -> Table:
    """A table without bars, with a heading for each column; names are as documents have them."""
    table = table.with_columns(place for place, column in enumerate(table.columns) if column.role != "bar")
    columns = tuple(replace(column, heading=column.name or column.heading.strip()) for column in table.columns)
    return replace(table, columns=columns, rows=tuple(tuple(map(_document_cell, row)) for row in table.rows))


def _document_cell(cell: str) -> str:
    if isinstance(cell, KernelName):
        return cell.brief
    if isinstance(cell, Cell) and not cell.marks:
        return f"{'· ' * cell.level}{cell.brief}"
    return cell


def _undrawn(line: Sentence) -> Sentence:
    """A sentence without bars, and without spaces around it."""
    if not line.marks:
        return replace(line, text=" ".join(line.text.split()), indent=0)
    parts: list[Part] = []
    end = 0
    for mark in line.marks:
        parts.append(line.text[end : mark.begin])
        if not mark.is_drawn:
            parts.append(Named(line.text[mark.begin : mark.end], mark.handle, mark.tone))
        end = mark.end
    text, marks = marked([*parts, line.text[end:]])
    margin = len(text) - len(text.lstrip())
    marks = tuple(mark._replace(begin=max(0, mark.begin - margin), end=max(0, mark.end - margin)) for mark in marks)
    return replace(line, text=text.strip(), marks=marks, indent=0)


def _line(row: tuple[str, ...]) -> Block | None:
    """A row without headings: its first cell is a label where others follow; a bullet is none."""
    words = (cell for cell in row if not (isinstance(cell, Cell) and any(mark.is_drawn for mark in cell.marks)))
    cells = [" ".join(cell.split()) for cell in words if cell.strip()]
    if not cells:
        return None
    if cells[0] == "-" and len(cells) > 1:
        return Sentence(" ".join(cells[1:]))
    return Labelled(cells[0].rstrip(":"), "; ".join(cells[1:])) if len(cells) > 1 else Sentence(cells[0])
