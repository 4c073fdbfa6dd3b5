"""Blocks of an answer made smaller step by step: rows, columns, tables, paragraphs; and what was left out, in words."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from itertools import takewhile
from typing import TYPE_CHECKING, TypeAlias

from wavewright.base.words import counted, shortened
from wavewright.model.report import Block, Code, Finding, Labelled, Picture, Preformatted, Sentence, Table
from wavewright.report.kit.paragraphs import escaped

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from wavewright.model.report import Section

_TEXT, _CELL = 900, 90  #: Characters of a paragraph, and of a cell.
_TITLE = 60  #: Characters of the title of a chart, which is a sentence without a number.
_MOST_ROWS = 800  #: No budget has room for more.
_FEWEST_ROWS, _FEWEST_COLUMNS = 3, 4
_FEWEST_FIRST = 5  #: Rows of the first table, which is cut last.
_LEADING = 3  #: Sentences among which the verdict is.
_NOTHING = ("", "-")
_SHOWING = re.compile(r"showing [\d,]+ of ([\d,]+)")
#: An address of an instruction: alone, in front of the instruction, or after `at`; not an operand.
_ADDRESS = re.compile(r"(^|\bat |<- (?:\w+ )?|\()(0x[0-9a-f]{1,16})\b")

_BAR = re.compile(r"\s*[▁▂▃▄▅▆▇█▏▎▍▌▋▊▉▓▒░▰▱]+\s*")
_FINDING = re.compile(r"\d+\. ")  #: The number in front of a finding, which has a bar beside it.
_ARGUMENT = "argument "  #: Of a kernel, whose place is not that of an instruction.
#: Kind of document and heading -> letter of the handles that the numbers in this column are.
_LETTERS = {
    ("counters", "#"): "k",
    ("counters", "dispatch"): "d",
    ("run", "rank"): "r",
    ("trace", "dispatch"): "d",
    ("trace", "wave"): "w",
}
#: Headings of columns with recorded words.
_NAMES = frozenset(
    (
        "at",
        "call",
        "collective",
        "command",
        "counter",
        "file",
        "function",
        "instruction",
        "kernel",
        "launched by",
        "line",
        "name",
        "next",
        "previous",
        "region",
        "source",
        "wait <- producer",
    )
)

Part: TypeAlias = "Block | str"  #: A block, or Markdown (a heading).
Rows: TypeAlias = Table | Code | Preformatted


@dataclass(frozen=True)
class Cut:
    """Parts of an answer, and what was left out of them."""

    blocks: tuple[Part, ...]
    column_count: int = 0  #: Columns, tables and paragraphs that were left out.
    table_count: int = 0
    paragraph_count: int = 0

    @property
    def left_out(self) -> str:
        """In words; empty = nothing but rows, which titles tell."""
        counts = ((self.column_count, "columns"), (self.table_count, "tables"), (self.paragraph_count, "paragraphs"))
        rows = ["rows"] if any("showing " in _title(part) for part in self.blocks) else []
        return ", ".join([*rows, *(counted(count, what) for count, what in counts if count)])


def brief_blocks(sections: Sequence[Section], kind: str) -> tuple[str, tuple[Part, ...]]:
    """The headline, and the blocks that words alone can show, in the order of the sections."""
    headline = ""
    parts: list[Part] = []
    for section in sections:
        blocks = _readable_blocks(section.blocks, kind)
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
        if fits(_with_rows(cut, _FEWEST_FIRST, _FEWEST_ROWS)):
            break
    first = _most(_FEWEST_FIRST, lambda count: fits(_with_rows(cut, count, _FEWEST_ROWS)))
    others = _most(_FEWEST_ROWS, lambda count: fits(_with_rows(cut, first, count)))
    return _with_rows(cut, first, others)


def _most(lowest: int, fits: Callable[[int], bool]) -> int:
    """The largest number of rows that fits, if not all of them do."""
    low, high = lowest, _MOST_ROWS
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if fits(middle) else (low, middle - 1)
    return low


def _taken_headline(blocks: list[Block]) -> str:
    """The verdict among the first sentences, else the first of them, which is taken out; empty = there is none."""
    leading = list(takewhile(lambda block: isinstance(block, Sentence), blocks[:_LEADING]))
    sentences = [block for block in leading if isinstance(block, Sentence) and block.style != "loss"]
    chosen = next((each for each in sentences if each.style == "headline"), sentences[0] if sentences else None)
    if chosen is None:
        return ""
    blocks.remove(chosen)
    return chosen.text


def _readable_blocks(blocks: Iterable[Block], kind: str) -> list[Block]:
    """The blocks that words can show; the title of a chart goes with it."""
    kept_blocks: list[Block] = []
    for block in blocks:
        smaller = _readable(block, kind)
        if smaller is not None:
            kept_blocks.append(smaller)
        elif kept_blocks and _is_title(kept_blocks[-1]):
            kept_blocks.pop()
    return kept_blocks


def _is_title(block: Block) -> bool:
    return isinstance(block, Sentence) and len(block.text) < _TITLE and not any(map(str.isdigit, block.text))


def _readable(block: Block, kind: str) -> Block | None:
    """A block without what words cannot show, and with handles; None = nothing is left."""
    if isinstance(block, Preformatted) and block.is_chart and _FINDING.match(block.text) and "\n" not in block.text:
        block = Sentence(_BAR.sub(" ", block.text))
    if isinstance(block, Picture) or (isinstance(block, Preformatted) and block.is_chart):
        return None
    match block:
        case Table():
            return _readable_table(block, kind)
        case Sentence(text, style):
            return Sentence(shortened(_named(text, kind), _TEXT), style)
        case Labelled(label, text):
            return Labelled(label, shortened(_named(text, kind), _TEXT))
        case Finding():
            parts = tuple(Labelled(each.label, shortened(_named(each.text, kind), _TEXT)) for each in block.paragraphs)
            return replace(block, verdict=shortened(block.verdict, _TEXT), paragraphs=parts)
        case Code():
            return replace(block, lines=block.lines[:_MOST_ROWS])
        case Preformatted():
            return Preformatted("\n".join(block.text.split("\n")[:_MOST_ROWS]))


def _readable_table(table: Table, kind: str) -> Table | None:
    rows = [[_BAR.sub(" ", cell).strip() for cell in row] for row in table.rows[:_MOST_ROWS]]
    places = [place for place in range(len(table.columns)) if any(row[place] not in _NOTHING for row in rows)]
    if not places:
        return None
    columns = [table.columns[place] for place in places]
    letters = [_LETTERS.get((kind, column.heading), "") for column in columns]
    cells = tuple(
        tuple(
            f"{letter}{row[place]}" if letter and row[place].isdigit() else shortened(_named(row[place], kind), _CELL)
            for place, letter in zip(places, letters, strict=True)
        )
        for row in rows
    )
    title = table.title if len(rows) == len(table.rows) else _title_of(table.title, len(rows), len(table.rows))
    return Table(title, tuple(replace(each, is_name=each.is_name or each.heading in _NAMES) for each in columns), cells)


def _named(text: str, kind: str) -> str:
    """Words on one line, with handles of instructions instead of addresses.

    Examples
    --------
    >>> _named("0x1814 s_load_dword s10, s[0:1], 0x18", "trace"), _named("loop 0 at 0x17e0", "trace")
    ('i0x1814 s_load_dword s10, s[0:1], 0x18', 'loop 0 at i0x17e0')
    """
    text = " ".join(text.split())
    return _ADDRESS.sub(r"\1i\2", text) if kind == "trace" and _ARGUMENT not in text else text


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
    return replace(cut, blocks=tuple(parts))


def _head(part: Rows, count: int) -> Part:
    match part:
        case Table(title, columns, rows) if len(rows) > count:
            return Table(_title_of(title, count, len(rows)), columns, rows[:count])
        case Code() if len(part.lines) > count:
            note = f"{part.file}, showing {count:,} of {len(part.lines):,} lines"
            return Code(note, part.lines[:count])
        case Preformatted(text, _) if (lines := text.split("\n")) and len(lines) > count:
            return Preformatted("\n".join([*lines[:count], f"showing {count:,} of {len(lines):,} lines"]))
    return part


def _title_of(title: str, count: int, row_count: int) -> str:
    """The title of a table that was cut.

    Examples
    --------
    >>> _title_of("by cycles, showing 20 of 128 instructions", 8, 20)
    'by cycles, showing 8 of 128 instructions'
    >>> _title_of("13 kernels", 8, 13)
    '13 kernels, showing 8 of 13 rows'
    """
    if _SHOWING.search(title):
        return _SHOWING.sub(rf"showing {count:,} of \1", title, count=1)
    return ", ".join(filter(None, (title, f"showing {count:,} of {row_count:,} rows")))


def _title(part: Part) -> str:
    if isinstance(part, Table):
        return part.title
    if isinstance(part, Code):
        return part.file
    return part.text[-60:] if isinstance(part, Preformatted) else ""


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
    gone = numbers[-1]
    rows = tuple((*row[:gone], *row[gone + 1 :]) for row in part.rows)
    return Table(part.title, (*part.columns[:gone], *part.columns[gone + 1 :]), rows)


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
    before, after = cut.blocks[:place], cut.blocks[place + 1 :]
    if part is None and before and isinstance(before[-1], str) and (not after or isinstance(after[0], str)):
        before = before[:-1]  # a heading with nothing below it
    parts = (*before, *(() if part is None else (part,)), *after)
    more = {name: getattr(cut, name) + count for name, count in counts.items()}
    return replace(cut, blocks=parts, **more)
