"""A brief of what a verb has shown: its parts as Markdown within a budget, and the commands that ask further."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import click

from wavescope.cli.kit.form import ended_brief
from wavescope.cli.kit.next_commands import next_commands

if TYPE_CHECKING:
    from collections.abc import Iterator

    import polars as pl
    from rich.console import RenderableType

    from wavescope.cli.kit.form import Brief
    from wavescope.model.report import Block, Table

_HANDLE = re.compile(r"(?<![\w.])i(?:\d{1,9}:)?0x[0-9a-f]{1,16}\b")
#: Lines of text that say what to do next: the commands at the end of a brief say it.
_ADVICE = re.compile(r"\s*next:? |wavescope \w")
_MOST_COLUMNS, _MOST_ROWS = 8, 50
_WHOLE = 1000  #: From here on, numbers are shown without fractions.
_LABEL = re.compile(r"(loss|note): ")


def end_brief(context: click.Context, *, is_done: bool) -> None:
    """Write the brief that was asked for, if one was and the verb came to its end."""
    brief = ended_brief(context)
    if brief is not None and is_done:
        click.echo(_written(brief))


def _written(brief: Brief) -> str:
    from wavescope.model.report import Section
    from wavescope.report.kit.blocks import blocks_of
    from wavescope.report.kit.brief import MORE, brief_markdown, quoted

    context = brief.context
    verb = context.command_path.partition(" ")[2]
    paths = given_paths(context)
    blocks = _with_numbers(tuple(_without_advice(blocks_of(_parts(brief.parts)))), brief.table)
    options = {option for parameter in context.command.params for option in parameter.opts}

    def text_with(commands: list[str]) -> str:
        return brief_markdown(
            [Section(verb, verb, "", blocks)],
            subject=brief.subject or " ".join(map(quoted, paths)),
            losses=[_LABEL.sub("", line, count=1) for line in brief.losses],
            commands=commands,
            kind=brief.kind,
            more=MORE if "--top" in options else "--json has more",
        )

    handles = _HANDLE.findall(text_with([]))
    return text_with(next_commands(context, verb, brief.kind, paths, handles))


def given_paths(context: click.Context) -> list[str]:
    """The paths that a command line names, as they were typed."""
    for name in ("paths", "path", "folder"):
        value = context.params.get(name)
        if value:
            return [str(each) for each in value] if isinstance(value, tuple) else [str(value)]
    return []


def _parts(parts: list[RenderableType]) -> Iterator[RenderableType | Block]:
    """The parts; a line that was printed by itself is a sentence."""
    from rich.text import Text

    from wavescope.model.report import Preformatted

    for part in parts:
        if isinstance(part, Preformatted) and "\n" not in (text := part.text.strip("\n")):
            yield Text(text)
        else:
            yield part


def _without_advice(blocks: tuple[Block, ...]) -> Iterator[Block]:
    from wavescope.model.report import Sentence

    return (block for block in blocks if not (isinstance(block, Sentence) and _ADVICE.match(block.text)))


def _with_numbers(blocks: tuple[Block, ...], table: pl.DataFrame | None) -> tuple[Block, ...]:
    """The blocks; where a chart is all that shows numbers, with the table behind it."""
    from wavescope.model.report import Code, Preformatted, Table

    is_chart = any(isinstance(block, Preformatted) and block.is_chart for block in blocks)
    if table is None or not table.height or not is_chart or any(isinstance(block, Table | Code) for block in blocks):
        return blocks
    return (*blocks, _table_of(table))


def _table_of(frame: pl.DataFrame) -> Table:
    from wavescope.model.report import Column, Table
    from wavescope.report.kit.tables import truncation

    names = frame.columns[:_MOST_COLUMNS]
    columns = tuple(Column(name.replace("_", " "), frame[name].dtype.is_numeric()) for name in names)
    rows = tuple(tuple(map(_cell, row)) for row in frame.select(names).head(_MOST_ROWS).iter_rows())
    return Table(truncation(len(rows), frame.height, "rows"), columns, rows)


def _cell(value: object) -> str:
    if value is None:
        return ""
    if isinstance(value, float):
        return f"{value:,.0f}" if abs(value) >= _WHOLE else f"{value:.4g}"
    return f"{value:,}" if isinstance(value, int) else str(value)
