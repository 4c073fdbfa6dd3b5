"""Blocks of a report as Markdown of GitHub's flavour: recorded words stay words."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from itertools import groupby

from wavewright.base.shown import printable
from wavewright.model.blocks import Block, Code, Finding, Labelled, Picture, Preformatted, Sentence, Table

_TICKS = re.compile("`+")
_TAB_COLUMNS = 4
#: What GitHub turns into links, mentions or little pictures wherever it finds it, except in code.
_LIVE = re.compile(
    r"@|#\d|://|www\.|\bGH-\d|:[a-z0-9_+-]*[a-z][a-z0-9_+-]*:|^(?=[0-9a-f]*[a-f])(?=[0-9a-f]*\d)[0-9a-f]{7,40}$",
    re.IGNORECASE,
)
#: Characters that mean something inside a line; an underscore between letters does not.
_SPECIAL = re.compile(r"[\\`*\[\]<~$&|]|(?<![A-Za-z0-9])_|_(?![A-Za-z0-9])|#$")
#: What means something at the start of a line: headings, quotations, lists, rules.
_START = re.compile(r"^(?:[#>=+-]|\d+(?=[.)](?:\s|$)))")
_COMMAND = re.compile(r"`(\w[\w .,:/=+-]*)`")  #: What our own sentences set in code, such as commands.
_PUNCTUATION = frozenset("!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~")  #: What a backslash escapes in Markdown.


def markdown_of(blocks: Iterable[Block]) -> str:
    """The blocks one below the other, an empty line between them."""
    return "\n\n".join(filter(None, map(block_markdown, _findings_together(tuple(blocks)))))


def block_markdown(block: Block | Sequence[Finding]) -> str:
    """One block, or findings that follow each other."""
    match block:
        case Sentence(text, style):
            body = prose(text)
            if body and style == "headline":
                return f"**{body}**"
            return body if style == "plain" else f"*{style}:* {body}".rstrip()
        case Labelled(label, text):
            return f"*{prose(label)}:* {prose(text)}".rstrip() if prose(label) else prose(text)
        case Finding():
            return _findings([block])
        case Table():
            return _table(block)
        case Code():
            return _code(block)
        case Preformatted(text, _):
            return fenced(text)
        case Picture():
            return ""  # a file beside it, which the writer of the file knows
        case _:
            return _findings(block)


def prose(text: str, *, in_table: bool = False) -> str:
    """A sentence, in which recorded words cannot become Markdown, HTML, links or mentions: such words become code.

    >>> print(prose("1. ask @root about <b> in a_b *now*, see `wavewright gaps`"))
    1\\. ask `@root` about \\<b> in a_b \\*now\\*, see `wavewright gaps`
    """
    pieces = enumerate(_COMMAND.split(printable(" ".join(text.split()))))  # each second one is a command
    return "".join(
        code_span(piece, in_table=in_table) if number % 2 else _words(piece, in_table=in_table, is_first=not number)
        for number, piece in pieces
    )


def code_span(text: str, *, in_table: bool = False) -> str:
    """Recorded words between as many backticks as they need; none of it can become Markdown."""
    text = printable(text).strip()
    if not text:
        return ""
    if in_table and "\\|" in text:  # in code of tables, a bar always loses its backslash
        return "".join(f"\\{letter}" if letter in _PUNCTUATION else letter for letter in text)
    longest = max((len(run) for run in _TICKS.findall(text)), default=0)
    ticks = "`" * (longest + 1)
    padding = " " if text.startswith("`") or text.endswith("`") else ""
    content = text.replace("|", "\\|") if in_table else text
    return f"{ticks}{padding}{content}{padding}{ticks}"


def escaped(text: str) -> str:
    """Text from a file, so that it cannot become Markdown or HTML.

    >>> escaped("<b>*x*")
    '\\\\<b\\\\>\\\\*x\\\\*'
    """
    for character in "\\`*_[]<>|":
        text = text.replace(character, "\\" + character)
    return printable(text).replace("\n", " ")


def fenced(text: str, language: str = "text") -> str:
    """Text whose spaces matter, between fences."""
    longest = max((len(run) for run in _TICKS.findall(text)), default=0)
    fence = "`" * max(3, longest + 1)
    body = "\n".join(printable(line.expandtabs(_TAB_COLUMNS)).rstrip() for line in text.split("\n"))
    return f"{fence}{language}\n{body}\n{fence}"


def _words(text: str, *, in_table: bool, is_first: bool) -> str:
    """A part of a sentence outside of code; a word that GitHub would act on becomes code."""
    written = []
    for number, word in enumerate(re.split(r"(\s+)", text)):
        if _LIVE.search(word):
            written.append(code_span(word, in_table=in_table))
            continue
        safe_word = _SPECIAL.sub(lambda match: f"\\{match[0]}", word)
        if is_first and not number and not in_table:
            safe_word = _START.sub(_guarded, safe_word)
        written.append(safe_word)
    return "".join(written)


def _guarded(match: re.Match[str]) -> str:
    return f"{match[0]}\\" if match[0].isdigit() else f"\\{match[0]}"


def _findings_together(blocks: Sequence[Block]) -> Iterable[Block | list[Finding]]:
    """The blocks, findings that follow each other together: one list."""
    for is_finding, group in groupby(blocks, lambda block: isinstance(block, Finding)):
        if is_finding:
            yield [block for block in group if isinstance(block, Finding)]
        else:
            yield from group


def _findings(findings: Sequence[Finding]) -> str:
    is_list = [finding.number for finding in findings] == list(range(1, len(findings) + 1))
    lines: list[str] = []
    for finding in findings:
        gain = f" ({prose(finding.gain)})" if finding.gain else ""
        handle = f" {code_span(finding.handle)}" if finding.handle else ""
        mark = f"{finding.number}." if is_list else "-"  # many programs take only numbers from 1 for a list
        number = "" if is_list else f"{finding.number}: "
        lines.append(f"{mark} **{number}{prose(finding.verdict) or '-'}**{gain}{handle}")
        inner = " " * (len(mark) + 1)
        lines += [f"{inner}- {block_markdown(part)}" for part in finding.paragraphs if prose(part.text)]
    return "\n".join(lines)


def _table(table: Table) -> str:
    title = [prose(table.heading), ""] if table.heading else []
    head = _row(prose(column.heading, in_table=True) or " " for column in table.columns)
    rule = "|" + "|".join("---:" if column.is_number else "---" for column in table.columns) + "|"
    rows = []
    for row in table.rows:
        cells = (
            code_span(cell, in_table=True) if column.is_name and cell not in ("", "-") else prose(cell, in_table=True)
            for column, cell in zip(table.columns, row, strict=True)
        )
        rows.append(_row(cells))
    return "\n".join([*title, head, rule, *rows])


def _row(cells: Iterable[str]) -> str:
    return "| " + " | ".join(cells) + " |"


def _code(code: Code) -> str:
    title = [f"{code_span(code.file)}", ""] if code.file else []
    cost_width = max((len(line.cost) for line in code.lines), default=0)
    places = [line.handle or ("" if line.number is None else str(line.number)) for line in code.lines]
    place_width = max(map(len, places), default=0)
    text = "\n".join(
        f"{line.cost:>{cost_width}}  {place:>{place_width}}  {line.text.expandtabs(_TAB_COLUMNS)}".rstrip()
        if line.text or place
        else "..."
        for line, place in zip(code.lines, places, strict=True)
    )
    return "\n".join([*title, fenced(text)])
