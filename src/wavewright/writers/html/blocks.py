"""Blocks of a report as HTML without script: recorded words stay words, pictures are inside."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Mapping, Sequence
from importlib.resources import files
from itertools import groupby

from wavewright.base.shown import printable
from wavewright.base.words import counted
from wavewright.model.blocks import (
    Block,
    Code,
    CodeLine,
    Column,
    Finding,
    Labelled,
    Picture,
    Preformatted,
    Sentence,
    Table,
)
from wavewright.writers.svg.markup import escaped
from wavewright.writers.svg.safe_svg import inline_svg

_SHARE = re.compile(r"(\d{1,3}(?:\.\d+)?) ?%")
_COMMAND = re.compile(r"`(\w[\w .,:/=+-]*)`")  #: What our own sentences set in code, such as commands.
_NOT_IN_ANCHORS = re.compile(r"[^\w-]+", re.ASCII)
_NOT_DRAWN = re.compile(r"<(title|desc|style)>.*?</\1>", re.DOTALL)  #: Elements of an SVG whose text is not drawn.
_TAB_COLUMNS = 4
_LONGEST_UNBROKEN_WORD = 20  #: Characters; a longer word in a heading may be broken (class `long`).


def html_of(blocks: Iterable[Block], *, anchor: str = "", full_names: Mapping[str, str] | None = None) -> str:
    """The blocks one below the other, as a fragment of a page; `block_styles` makes it look well.

    Charts made of characters are left out where there is a picture. `anchor` is the prefix of the names that links can
    point at: of tables (`PREFIX.t1`), rows (`PREFIX.t1.r3`), findings (`PREFIX.f1`) and pictures; empty = there are
    none. `full_names`: cut name in a table -> the name in full, which shows when the pointer rests on it.

    >>> html_of([Sentence("a <b> c", "headline")])
    '<p class="headline">a &lt;b&gt; c</p>'
    """
    blocks = tuple(blocks)
    if any(isinstance(block, Picture) for block in blocks):
        blocks = tuple(block for block in blocks if not (isinstance(block, Preformatted) and block.is_chart))
    writer = _Writer(anchor, full_names or {})
    written: list[str] = []
    for is_labelled, group in groupby(blocks, lambda block: isinstance(block, Labelled)):
        parts = list(group)
        written += [_labels(parts)] if is_labelled else map(writer.block, parts)
    return "\n".join(filter(None, written))


def block_styles() -> str:
    """The style sheet of the fragments, for inside an element of the class `wavewright`."""
    return (files("wavewright.writers.html") / "blocks.css").read_text(encoding="utf-8")


def prose_html(text: str) -> str:
    """The words of a paragraph as HTML; ends of lines are kept, and what is between backticks becomes code.

    >>> prose_html("a < b, see `wavewright gaps`")
    'a &lt; b, see <code>wavewright gaps</code>'
    """
    lines = (_COMMAND.split(" ".join(line.split())) for line in text.split("\n"))
    return "<br>".join(
        "".join(f"<code>{escaped(part)}</code>" if n % 2 else escaped(part) for n, part in enumerate(parts))
        for parts in lines
    )


class _Writer:
    """Writes blocks, and remembers which anchors (`id` attributes) are taken."""

    def __init__(self, anchor: str, full_names: Mapping[str, str]) -> None:
        self._anchor, self._full_names = anchor, full_names
        self._taken: set[str] = set()
        self._table_count = 0

    def block(self, block: Block) -> str:
        """The HTML of a block."""
        match block:
            case Sentence(text, "plain"):
                return f"<p>{prose_html(text)}</p>" if text.strip() else ""
            case Sentence(text, "headline"):
                return f'<p class="headline">{prose_html(text)}</p>'
            case Sentence(text, style):
                kind = "loss" if style == "loss" else "note"
                return f'<p class="{kind}"><b class="label">{escaped(style)}</b> {prose_html(text)}</p>'
            case Labelled():
                return _labels([block])
            case Finding():
                return self._finding(block)
            case Table():
                return self._table(block)
            case Code():
                return _code(block)
            case Preformatted(text, is_chart):
                return f'<pre class="{"chart" if is_chart else "text"}" tabindex="0">{_lines(text)}</pre>'
            case Picture():
                return self._picture(block)

    def _place(self, name: object) -> str:
        """A new anchor for links, `PREFIX.name`, with a number if it is taken; empty where blocks get no anchors."""
        if not self._anchor:
            return ""
        wish = f"{self._anchor}.{_NOT_IN_ANCHORS.sub('-', str(name)).strip('-') or 'part'}"
        number, place = 1, wish
        while place in self._taken:
            number += 1
            place = f"{wish}.{number}"
        self._taken.add(place)
        return place

    def _finding(self, finding: Finding) -> str:
        place = self._place(finding.handle or f"f{finding.number}")
        gain = f'<span class="gain">{escaped(finding.gain)}</span>' if finding.gain else ""
        handle = f' <code class="handle">{escaped(finding.handle)}</code>' if finding.handle else ""
        return (
            f'<article class="finding"{_id(place)}><h3><span class="number">{finding.number}</span>'
            f'<span class="verdict">{prose_html(finding.verdict)}{handle}</span>{gain}</h3>'
            f"{_labels(finding.paragraphs)}</article>"
        )

    def _table(self, table: Table) -> str:
        self._table_count += 1
        place = self._place(f"t{self._table_count}")
        columns = [(column, _largest(column, [row[n] for row in table.rows])) for n, column in enumerate(table.columns)]
        head = "".join(map(_heading, table.columns))
        rows = []
        for number, row in enumerate(table.rows, 1):
            cells = "".join(self._cell(column, cell, full) for (column, full), cell in zip(columns, row, strict=True))
            rows.append(f"<tr{_id(place and f'{place}.r{number}')}>{cells}</tr>")
        title = f"<caption>{prose_html(table.heading)}</caption>" if table.heading else ""
        label = escaped(table.heading or counted(len(table.rows), "rows"))
        return (
            f'<div class="table" role="region" tabindex="0" aria-label="{label}"><table{_id(place)}>{title}'
            f"<thead><tr>{head}</tr></thead>\n<tbody>\n" + "\n".join(rows) + "\n</tbody></table></div>"
        )

    def _cell(self, column: Column, cell: str, largest: float) -> str:
        if largest and (share := _percent(cell)) is not None:
            return f'<td class="number share" style="--share:{100 * share / largest:.1f}%">{escaped(cell)}</td>'
        if not column.is_name or cell in ("", "-"):
            return f"<td{_class(column)}>{prose_html(cell)}</td>"
        full = f' title="{escaped(self._full_names[cell])}"' if cell in self._full_names else ""
        return f"<td{_class(column)}><code{full}>{escaped(cell)}</code></td>"

    def _picture(self, picture: Picture) -> str:
        source = f"{self._anchor} {picture.name} {picture.svg}".encode("utf-8", "replace")
        drawing = inline_svg(picture.svg, f"p{hashlib.sha256(source).hexdigest()[:12]}", picture.alt)
        if not drawing:
            return f'<p class="loss"><b class="label">loss</b> the picture {escaped(picture.name)} cannot be shown</p>'
        is_inside = escaped(picture.alt).rstrip(".") in _shown_text(drawing)  # then it needs no caption
        caption = "" if is_inside else f"<figcaption>{prose_html(picture.alt)}</figcaption>"
        return f'<figure class="picture"{_id(self._place(picture.name))} tabindex="0">{drawing}{caption}</figure>'


def _labels(parts: Sequence[Block]) -> str:
    """Paragraphs with labels, in two columns."""
    pairs = [(part.label, part.text) for part in parts if isinstance(part, Labelled)]
    inner = "".join(f"<dt>{escaped(label)}</dt><dd>{prose_html(text)}</dd>" for label, text in pairs)
    return f'<dl class="labels">{inner}</dl>' if inner else ""


def _id(place: str) -> str:
    return f' id="{place}"' if place else ""


def _shown_text(drawing: str) -> str:
    """The words that can be seen in a picture, lines joined."""
    return " ".join(re.sub(r"<[^>]+>", " ", _NOT_DRAWN.sub(" ", drawing)).split())


def _lines(text: str) -> str:
    return "\n".join(escaped(line.expandtabs(_TAB_COLUMNS)) for line in text.split("\n"))


def _heading(column: Column) -> str:
    """The head of a column; words that would make it wider than what it holds may be broken."""
    longest = max(map(len, printable(column.heading).split()), default=0)
    kind = " ".join(filter(None, [_kind(column), "long" if longest > _LONGEST_UNBROKEN_WORD else ""]))
    style = f' class="{kind}"' if kind else ""
    return f'<th scope="col"{style}>{escaped(column.heading)}</th>'


def _class(column: Column) -> str:
    kind = _kind(column)
    return f' class="{kind}"' if kind else ""


def _kind(column: Column) -> str:
    return "number" if column.is_number else "name" if column.is_name else ""


def _largest(column: Column, cells: Sequence[str]) -> float:
    """The largest share of a column of several shares, whose bar fills its cell; 0 = it has no bars."""
    shares = [_percent(cell) for cell in cells if cell not in ("", "-")] if column.is_number else []
    # None = a cell that is not a share: then the column is not one of shares
    return 0 if None in shares or len(shares) == 1 else max((share or 0.0 for share in shares), default=0.0)


def _percent(cell: str) -> float | None:
    match = _SHARE.fullmatch(cell.strip())
    return float(match[1]) if match and float(match[1]) <= 100 else None


def _code(code: Code) -> str:
    hottest = max((line.share or 0.0 for line in code.lines), default=0.0)
    rows = "\n".join(_code_line(line, hottest) for line in code.lines)
    file = f"<figcaption><code>{escaped(code.file)}</code></figcaption>" if code.file else ""
    head = '<tr><th scope="col">cost</th><th scope="col">line</th><th scope="col">code</th></tr>'
    return (
        f'<figure class="code" tabindex="0">{file}<table><thead class="hidden">{head}</thead>\n'
        f"<tbody>\n{rows}\n</tbody></table></figure>"
    )


def _code_line(line: CodeLine, hottest: float) -> str:
    if not line.text and line.number is None and not line.handle:
        return '<tr class="cut"><td></td><td>⋮</td><td></td></tr>'
    heat = line.share / hottest if line.share and hottest else 0.0
    style = f' style="--heat:{heat:.3f}"' if heat else ""
    place = line.handle or ("" if line.number is None else str(line.number))
    kind = "instruction" if line.number is None else "line"
    cost = escaped(line.cost) or (f"{100 * line.share:.1f} %" if line.share else "")
    return (
        f'<tr class="{kind}"{style}><td class="cost">{cost}</td><td class="place">{escaped(place)}</td>'
        f"<td><code>{_lines(line.text)}</code></td></tr>"
    )
