"""Blocks of a report as Markdown of GitHub's flavour: recorded words stay words."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from wavescope.model.report import Block, Code, Finding, Labelled, Picture, Preformatted, Sentence, Table
from wavescope.report.kit.paragraphs import escaped
from wavescope.report.kit.tables import printable

if TYPE_CHECKING:
    from collections.abc import Iterable

_TICKS = re.compile("`+")


def markdown_of(blocks: Iterable[Block]) -> str:
    """The blocks one below the other, an empty line between them."""
    return "\n\n".join(filter(None, map(block_markdown, blocks)))


def block_markdown(block: Block) -> str:
    """One block.

    Examples
    --------
    >>> block_markdown(Sentence("busy 92.0 %", "headline"))
    '**busy 92.0 %**'
    """
    match block:
        case Sentence(text, style):
            body = escaped(text)
            return f"**{body}**" if style == "headline" else f"*{style}:* {body}" if style != "plain" else body
        case Labelled(label, text):
            return f"*{escaped(label)}:* {escaped(text)}"
        case Finding():
            return _finding(block)
        case Table():
            return _table(block)
        case Code():
            return _code(block)
        case Preformatted(text, _):
            return fenced(text)
        case Picture():
            return ""  # a file beside it, which the writer of the file knows


def code_span(text: str) -> str:
    """Recorded words between as many backticks as they need; none of it can become Markdown.

    Examples
    --------
    >>> code_span("v_add"), code_span("a`b")
    ('`v_add`', '`` a`b ``')
    """
    text = printable(text).strip()
    if not text:
        return ""
    longest = max((len(run) for run in _TICKS.findall(text)), default=0)
    ticks = "`" * (longest + 1)
    return f"{ticks} {text} {ticks}" if longest else f"`{text}`"


def fenced(text: str) -> str:
    """Text whose spaces matter, between fences.

    Examples
    --------
    >>> print(fenced("a  b"))
    ```text
    a  b
    ```
    """
    longest = max((len(run) for run in _TICKS.findall(text)), default=0)
    fence = "`" * max(3, longest + 1)
    body = "\n".join(printable(line) for line in text.split("\n"))
    return f"{fence}text\n{body}\n{fence}"


def _finding(finding: Finding) -> str:
    gain = f" ({escaped(finding.gain)})" if finding.gain else ""
    handle = f" `{finding.handle}`" if finding.handle else ""
    lines = [f"{finding.number}. **{escaped(finding.verdict)}**{gain}{handle}"]
    lines += [f"   - *{escaped(part.label)}:* {escaped(part.text)}" for part in finding.paragraphs]
    return "\n".join(lines)


def _table(table: Table) -> str:
    title = [escaped(table.title), ""] if table.title else []
    head = "| " + " | ".join(escaped(column.heading) or " " for column in table.columns) + " |"
    rule = "|" + "|".join("---:" if column.is_number else "---" for column in table.columns) + "|"
    rows = []
    for row in table.rows:
        cells = (
            code_span(cell).replace("|", "\\|") if column.is_name and cell not in ("", "-") else escaped(cell)
            for column, cell in zip(table.columns, row, strict=True)
        )
        rows.append("| " + " | ".join(cells) + " |")
    return "\n".join([*title, head, rule, *rows])


def _code(code: Code) -> str:
    lines = [f"{code_span(code.file)}", ""] if code.file else []
    width = max((len(line.cost) for line in code.lines), default=0)
    text = "\n".join(
        f"{line.cost:>{width}} {line.handle or ('' if line.number is None else line.number)!s:>8}  {line.text}".rstrip()
        for line in code.lines
    )
    return "\n".join([*lines, fenced(text)])
