"""A brief: the parts that a verb shows are collected, and written when it ends, with the commands that ask further."""

from __future__ import annotations

import io
import sys
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from click.core import ParameterSource

from wavewright.base.shown import command_line, quoted
from wavewright.cli.kit.verbs import OWN_VERBS, read_declaration
from wavewright.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    import click
    import polars as pl

    from wavewright.model.blocks import AnyBlock, Block, Table
    from wavewright.model.document import Document
    from wavewright.model.next_question import NextQuestion
    from wavewright.model.report import Section


@dataclass(eq=False, repr=False)
class Brief:
    """Parts of a verb whose answer is to be a brief: they are collected, and written when it ends."""

    context: click.Context  #: Of the verb.
    kind: str = ""  #: Of the document: trace, run or counters.
    subject: str = ""
    parts: list[AnyBlock] = field(default_factory=list)
    losses: list[str] = field(default_factory=list)
    answer: Any = None
    document: Document | None = None  #: What the answer is about, for what to ask next.
    limit: int = 20  #: Rows of a table, before the budget cuts them.
    table: pl.DataFrame | None = None  #: The numbers behind the answer, for answers that are a chart otherwise.
    _stdout: Any = field(default_factory=lambda: sys.stdout, repr=False)

    def start(self) -> None:
        """Collect lines for standard output as parts, too."""
        sys.stdout = _Collecting(self.parts)

    def end(self) -> None:
        """Let standard output be itself again."""
        sys.stdout = self._stdout


class _Collecting(io.StringIO):
    """Standard output of a verb whose answer is collected: lines that follow each other become one part."""

    def __init__(self, parts: list[AnyBlock]) -> None:
        super().__init__()
        self._parts = parts

    def write(self, text: str) -> int:
        from wavewright.model.blocks import Preformatted

        count = super().write(text)  # refuses bytes
        last = self._parts[-1] if self._parts else None
        if isinstance(last, Preformatted):
            self._parts[-1] = Preformatted(last.text + text)
        elif text:
            self._parts.append(Preformatted(text))
        return count


_MOST_COMMANDS = 3  #: At most so many commands are offered below a brief.
_DECLARED = read_declaration("cli", "options", "shared")
#: Options that choose what an answer is about, which stay where the next verb has them.
CARRIED: tuple[str, ...] = tuple(_DECLARED["carried"])
#: Options that do not change which words fit.
_COMMON = frozenset((*CARRIED, *_DECLARED["common"]))
_MOST_COLUMNS, _MOST_ROWS = 10, 50  #: Of a table of numbers, before the budget of the brief cuts rows.
_WHOLE = 1000  #: From here on, numbers are shown without fractions.


def written(brief: Brief) -> str:
    """The text of a brief."""
    from wavewright.model.blocks import Sentence, readable
    from wavewright.model.report import Section
    from wavewright.writers.markdown.brief import MORE, brief_markdown
    from wavewright.writers.markdown.code_spans import texts_of

    context = brief.context
    verb = context.command_path.partition(" ")[2]
    paths = given_paths(context)
    section = _worded_section(brief, verb)
    if section is None or _is_special(context):
        questions = section.next_questions if section else ()
        # Without advice, which the commands at the end give.
        parts = (part for part in brief.parts if not (isinstance(part, Sentence) and part.style == "advice"))
        section = Section(verb, verb, "", readable(parts), next_questions=questions)
    asked = asked_next(context, brief.kind, paths, section.next_questions)
    recorded: Sequence[str] = ()
    with suppress(UsageError):  # a verb that opened several documents: their names stand in its tables
        recorded = texts_of(brief.document) if brief.document else ()
    return brief_markdown(
        [replace(section, blocks=_with_numbers(section.blocks, brief.table))],
        subject=brief.subject or " ".join(map(quoted, paths)),
        losses=brief.losses,
        commands=asked or next_commands(context, verb, brief.kind, paths),
        more=MORE if "--top" in _options_of(context.command) else "--json has more",
        recorded=recorded,
    )


def _worded_section(brief: Brief, verb: str) -> Section | None:
    """The answer in the words of the question called like the verb, which agents get, too; None = it has others."""
    from wavewright.questions.catalog import QUESTIONS
    from wavewright.questions.kit.question import Wording

    question = QUESTIONS.get(brief.kind, {}).get(verb)
    if brief.document is None or question is None or type(brief.answer) not in question.analysis().answers:
        return None
    return question.worded(brief.document, brief.answer, Wording(brief.limit))


def _is_special(context: click.Context) -> bool:
    """True if options are given that only this verb has: then its own words fit better."""
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
            return list(map(str, value)) if isinstance(value, tuple) else [str(value)]
    return []


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
    numeric = {name for name in names if frame[name].dtype.is_numeric()}
    columns = tuple(
        Column(name, role="number" if name in numeric else "words", is_name=name not in numeric) for name in names
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


def next_commands(context: click.Context, verb: str, kind: str, paths: Sequence[str]) -> list[str]:
    """The commands to be offered after a verb about these paths, whatever it answered."""
    from wavewright.questions.catalog import QUESTIONS

    own_verb = OWN_VERBS.get(verb)
    if own_verb is None:
        kinds = [kind] if kind else QUESTIONS
        all_questions = (question for name in kinds for question in QUESTIONS.get(name, {}).values())
        questions = [question for question in all_questions if question.verb_name == verb]
        is_one_kind = len({question.kind for question in questions}) == 1  # then the verb need not say which
        return asked_next(context, questions[0].kind, paths, questions[0].next_always) if is_one_kind and paths else []
    if not paths:
        return list(own_verb.then_alone)
    if verb == "compare":
        paths = paths[-1:]  # the newest capture, by convention the last
    offered = [template.split() for template in own_verb.then_by_kind.get(kind, own_verb.then)]
    return [
        command_line(["wavewright", verb, *paths, *rest, *_carried(context, verb), "--brief"])
        for verb, *rest in offered[:_MOST_COMMANDS]
    ]


def asked_next(context: click.Context, kind: str, paths: Sequence[str], questions: Sequence[NextQuestion]) -> list[str]:
    """The commands that ask these questions."""
    from wavewright.questions.catalog import QUESTIONS

    commands = []
    for next_question in questions[:_MOST_COMMANDS]:
        question = QUESTIONS[kind][next_question.topic]
        line = question.command(paths, next_question.parameters, is_brief=False)
        carried = _carried(context, question.verb_name, {f"--{name}" for name in next_question.parameters})
        commands.append(f"{line} {command_line([*carried, '--brief'])}")
    return list(dict.fromkeys(commands))


def _carried(context: click.Context, verb: str, without: Collection[str] = ()) -> list[str]:
    """Options of the command line that the next verb takes as well, with their values."""
    group = context.find_root().command
    options = _options_of(group.get_command(context, verb)) - set(without)  # type: ignore[attr-defined]
    words: list[str] = []
    for parameter in context.command.params:
        option = next((name for name in parameter.opts if name in CARRIED and name in options), None)
        name = parameter.name or ""
        if option is None or context.get_parameter_source(name) is not ParameterSource.COMMANDLINE:
            continue
        value = context.params.get(name)
        if parameter.multiple:  # type: ignore[attr-defined,unused-ignore]
            words += [word for item in value or () for word in (option, _as_typed(item))]
        else:
            words += [option] if value is True else [option, _as_typed(value)]
    return words


def _as_typed(value: Any) -> str:
    if isinstance(value, tuple):  # a range A:B
        return ":".join("" if end is None else str(end) for end in value)
    return str(value) if isinstance(value, str | int | float | Path) else ""


def _options_of(command: click.Command | None) -> set[str]:
    return {option for parameter in command.params for option in parameter.opts} if command else set()
