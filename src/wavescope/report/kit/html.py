"""Blocks of a report as HTML without script: recorded words stay words, pictures are inside."""

from __future__ import annotations

import hashlib
import re
from importlib.resources import files
from typing import TYPE_CHECKING

from wavescope.base.words import counted
from wavescope.model.report import (
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
from wavescope.report.kit.safe_svg import inline_svg
from wavescope.report.kit.svg import escaped

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

_SHARE = re.compile(r"(\d{1,3}(?:\.\d+)?) ?%")
_NO_WORD = re.compile(r"[^\w.-]+", re.ASCII)
_TAB = 4
_LEAST_SHARE = 0.05  #: Percent: a bar that is shorter cannot be seen.


def html_of(blocks: Iterable[Block], *, anchor: str = "") -> str:
    """The blocks one below the other, as a fragment of a page; `block_styles` makes it look well.

    Charts made of characters are left out where there is a picture.

    Parameters
    ----------
    blocks
        What to write.
    anchor
        Prefix of the names that links can point at: of tables (`PREFIX-t1`), rows (`PREFIX-t1-r3`), findings and
        pictures; empty = none.

    Examples
    --------
    >>> html_of([Sentence("a <b> c", "headline")])
    '<p class="headline">a &lt;b&gt; c</p>'
    """
    blocks = tuple(blocks)
    has_picture = any(isinstance(block, Picture) for block in blocks)
    written, table_count = [], 0
    for block in blocks:
        if isinstance(block, Preformatted) and block.is_chart and has_picture:
            continue
        table_count += isinstance(block, Table)
        written.append(_block(block, anchor, table_count))
    return "\n".join(filter(None, written))


def block_styles() -> str:
    """The style sheet of the fragments, for inside an element of the class `wavescope`."""
    return (files("wavescope.report.kit") / "blocks.css").read_text(encoding="utf-8")


def _block(block: Block, anchor: str, table_number: int) -> str:
    match block:
        case Sentence(text, style):
            return _sentence(text, style)
        case Labelled(label, text):
            return f'<p class="labelled"><b class="label">{escaped(label)}</b> {_words(text)}</p>'
        case Finding():
            return _finding(block, anchor)
        case Table():
            return _table(block, f"{anchor}-t{table_number}" if anchor else "")
        case Code():
            return _code(block)
        case Preformatted(text, is_chart):
            return f'<pre class="{"chart" if is_chart else "text"}" tabindex="0">{_lines(text)}</pre>'
        case Picture():
            return _picture(block, anchor)


def _lines(text: str) -> str:
    return "\n".join(escaped(line.expandtabs(_TAB)) for line in text.split("\n"))


def _words(text: str) -> str:
    """Words of a paragraph; ends of lines are kept."""
    return "<br>".join(escaped(" ".join(line.split())) for line in text.split("\n"))


def _id(*parts: object) -> str:
    """An attribute that links can point at; empty without a prefix."""
    return f' id="{_NO_WORD.sub("-", "-".join(map(str, parts)))}"' if parts[0] else ""


def _sentence(text: str, style: str) -> str:
    if style in ("note", "loss"):
        return f'<p class="{style}"><b class="label">{style}</b> {_words(text)}</p>'
    return f'<p class="headline">{_words(text)}</p>' if style == "headline" else f"<p>{_words(text)}</p>"


def _finding(finding: Finding, anchor: str) -> str:
    name = _id(anchor, finding.handle or finding.number)
    gain = f'<span class="gain">{escaped(finding.gain)}</span>' if finding.gain else ""
    handle = f' <code class="handle">{escaped(finding.handle)}</code>' if finding.handle else ""
    parts = "".join(f"<dt>{escaped(part.label)}</dt><dd>{_words(part.text)}</dd>" for part in finding.paragraphs)
    return (
        f'<article class="finding"{name}><h3><span class="number">{finding.number}</span>'
        f'<span class="verdict">{escaped(finding.verdict)}{handle}</span>{gain}</h3>'
        + (f"<dl>{parts}</dl>" if parts else "")
        + "</article>"
    )


def _table(table: Table, anchor: str) -> str:
    columns = [(column, _is_share(column, [row[n] for row in table.rows])) for n, column in enumerate(table.columns)]
    head = "".join(f'<th scope="col"{_class(column)}>{escaped(column.heading)}</th>' for column in table.columns)
    rows = []
    for number, row in enumerate(table.rows, 1):
        name = _id(anchor, f"r{number}")
        cells = "".join(
            _cell(column, cell, is_share=is_share) for (column, is_share), cell in zip(columns, row, strict=True)
        )
        rows.append(f"<tr{name}>{cells}</tr>")
    title = f"<caption>{escaped(table.title)}</caption>" if table.title else ""
    label = escaped(table.title or counted(len(table.rows), "rows"))
    name = f' id="{escaped(anchor)}"' if anchor else ""
    return (
        f'<div class="table" role="region" tabindex="0" aria-label="{label}"><table{name}>{title}'
        f"<thead><tr>{head}</tr></thead>\n<tbody>\n" + "\n".join(rows) + "\n</tbody></table></div>"
    )


def _class(column: Column) -> str:
    kind = "number" if column.is_number else "name" if column.is_name else ""
    return f' class="{kind}"' if kind else ""


def _cell(column: Column, cell: str, *, is_share: bool) -> str:
    if is_share and (share := _percent(cell)) and share >= _LEAST_SHARE:
        return f'<td class="number share" style="--share:{share:g}%">{escaped(cell)}</td>'
    inner = f"<code>{escaped(cell)}</code>" if column.is_name and cell not in ("", "-") else escaped(cell)
    return f"<td{_class(column)}>{inner}</td>"


def _is_share(column: Column, cells: Sequence[str]) -> bool:
    """Whether a column has parts of a whole only, so that their bars can be compared."""
    shares = [_percent(cell) for cell in cells if cell not in ("", "-")]
    return column.is_number and any(shares) and None not in shares


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


def _picture(picture: Picture, anchor: str) -> str:
    scope = "p" + hashlib.sha256(f"{anchor} {picture.name} {picture.svg}".encode("utf-8", "replace")).hexdigest()[:12]
    drawing = inline_svg(picture.svg, scope, picture.alt)
    if not drawing:
        return f'<p class="loss"><b class="label">loss</b> the picture {escaped(picture.name)} cannot be shown</p>'
    name = _id(anchor, picture.name)
    return (
        f'<figure class="picture"{name} tabindex="0">{drawing}<figcaption>{escaped(picture.alt)}</figcaption></figure>'
    )
