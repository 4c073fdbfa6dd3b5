"""A brief of what a verb has shown: its parts as Markdown within a budget, and the commands that ask further."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING

import click
from click.core import ParameterSource

from wavewright.cli.kit.form import ended_brief
from wavewright.cli.kit.next_commands import CARRIED, asked_next, next_commands

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import polars as pl

    from wavewright.cli.kit.form import Brief
    from wavewright.model.blocks import AnyBlock, Block, Table
    from wavewright.model.report import Section

#: Options that do not change which words fit.
_COMMON = frozenset((*CARRIED, "--brief", "--top", "--at", "--around", "--by", "--run", "--se", "--file", "--line"))
_MOST_COLUMNS, _MOST_ROWS = 10, 50
_WHOLE = 1000  #: From here on, numbers are shown without fractions.


def end_brief(context: click.Context, *, is_done: bool) -> None:
    """Write the brief that was asked for, if one was and the verb came to its end."""
    brief = ended_brief(context)
    if brief is not None and is_done:
        click.echo(_written(brief))


def _written(brief: Brief) -> str:
    from wavewright.base.shown import quoted
    from wavewright.model.blocks import readable
    from wavewright.model.report import Section
    from wavewright.writers.markdown.brief import MORE, brief_markdown

    context = brief.context
    verb = context.command_path.partition(" ")[2]
    paths = given_paths(context)
    section = _worded_section(brief, verb)
    if section is None or _is_special(context):
        questions = section.next_questions if section else ()
        blocks = readable(_parts(brief.parts))
        section = Section(verb, verb, "", blocks, next_questions=questions)
    section = replace(section, blocks=_with_numbers(section.blocks, brief.table))
    options = {option for parameter in context.command.params for option in parameter.opts}
    recorded = _recorded(brief)

    def text_with(commands: list[str]) -> str:
        return brief_markdown(
            [section],
            subject=brief.subject or " ".join(map(quoted, paths)),
            losses=brief.losses,
            commands=commands,
            more=MORE if "--top" in options else "--json has more",
            recorded=recorded,
        )

    asked = asked_next(context, brief.kind, paths, section.next_questions)
    if asked:
        return text_with(asked)
    return text_with(next_commands(context, verb, brief.kind, paths))


def _recorded(brief: Brief) -> Sequence[str]:
    """Texts of the capture; none where the verb opened several, whose names stand in its tables."""
    from wavewright.errors import UsageError
    from wavewright.writers.markdown.recorded import texts_of

    with suppress(UsageError):
        return texts_of(brief.document) if brief.document else ()
    return ()


def _worded_section(brief: Brief, verb: str) -> Section | None:
    """The answer in the words of the question called like the verb, which agents get, too; None = it has others."""
    from wavewright.questions.catalog import QUESTIONS
    from wavewright.questions.kit.question import Wording

    question = QUESTIONS.get(brief.kind, {}).get(verb)
    if brief.document is None or question is None or type(brief.answer) not in question.analysis().answers:
        return None
    return question.worded(brief.document, brief.answer, Wording(brief.limit))


def _is_special(context: click.Context) -> bool:
    """Whether options are given that only this verb has: then its own words fit better."""
    given = {
        option
        for parameter in context.command.params
        for option in parameter.opts
        if option.startswith("-") and context.get_parameter_source(parameter.name or "") is ParameterSource.COMMANDLINE
    }
    return bool(given - _COMMON)


def given_paths(context: click.Context) -> list[str]:
    """The paths that a command line names, as they were typed."""
    for name in ("paths", "path", "folder"):
        value = context.params.get(name)
        if value:
            return [str(each) for each in value] if isinstance(value, tuple) else [str(value)]
    return []


def _parts(parts: list[AnyBlock]) -> Iterator[AnyBlock]:
    """The parts without advice, which the commands at the end of a brief give."""
    from wavewright.model.blocks import Sentence

    return (part for part in parts if not (isinstance(part, Sentence) and part.style == "advice"))


def _with_numbers(blocks: tuple[Block, ...], table: pl.DataFrame | None) -> tuple[Block, ...]:
    """The blocks; where a chart is all that shows numbers, with the table of them."""
    from wavewright.model.blocks import Code, Preformatted, Table

    is_chart = any(isinstance(block, Preformatted) and block.is_chart for block in blocks)
    if table is None or not table.height or not is_chart or any(isinstance(block, Table | Code) for block in blocks):
        return blocks
    return (*blocks, table_of(table, table.height))


def table_of(frame: pl.DataFrame, row_count: int) -> Table:
    """The first rows and columns of a frame, of which `row_count` exist, as people read them."""
    from wavewright.model.blocks import Column, Table

    names = frame.columns[:_MOST_COLUMNS]
    are_numbers = [frame[name].dtype.is_numeric() for name in names]
    columns = tuple(
        Column(name, "number" if number else "words", not number)
        for name, number in zip(names, are_numbers, strict=True)
    )
    rows = tuple(tuple(map(_cell, row)) for row in frame.select(names).head(_MOST_ROWS).iter_rows())
    left_out = f"{len(names)} of {frame.width} columns" if len(names) < frame.width else ""
    return Table("", columns, rows, row_count, note=left_out)


def _cell(value: object) -> str:
    if value is None:
        return ""
    if isinstance(value, float):
        return f"{value:,.0f}" if abs(value) >= _WHOLE else f"{value:.4g}"
    return str(value)
