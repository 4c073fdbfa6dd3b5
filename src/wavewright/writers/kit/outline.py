"""Parts of a report that all writers of text need: names that links point at, definitions, provenance as tables."""

from __future__ import annotations

import itertools
import re
import shlex
from collections.abc import Iterator
from dataclasses import replace

from wavewright.base.shown import command_line
from wavewright.base.words import size
from wavewright.model.blocks import Block, Column, Preformatted, Sentence, Table
from wavewright.model.report import Provenance, Report, Section

#: What a report may have as sections of its own; writers add those that it lacks.
DEFINITIONS, LOSSES, PROVENANCE = "definitions", "losses", "provenance"
_NO_WORD = re.compile(r"[^a-z0-9]+")


def outline(report: Report) -> list[tuple[str, Section]]:
    """(anchor, section) in order; anchors are unique, and titles that repeat get a number.

    At the end come what was lost, how numbers are made, and what the report was made of, unless it has such sections.
    """
    sections = list(report.sections)
    present = {section.name for section in sections}
    if report.losses and LOSSES not in present:
        blocks = tuple(Sentence(text, "loss") for text in report.losses)
        sections.append(Section(LOSSES, "What was lost", "What do the inputs lack?", blocks))
    if DEFINITIONS not in present and (table := _definitions(report)):
        sections.append(Section(DEFINITIONS, "Definitions", "How are the numbers made?", (table,)))
    sections.append(
        Section(PROVENANCE, "Provenance", "What was this made of?", tuple(_provenance(report.provenance, report)))
    )
    return list(_named(sections, report.title))


def _named(sections: list[Section], title: str) -> Iterator[tuple[str, Section]]:
    anchors: set[str] = set()
    titles = {title.strip().lower()}  # no section is called like the report itself
    for section in sections:
        anchor = _unused(_NO_WORD.sub("-", section.name.lower()).strip("-") or "section", "-", anchors)
        yield anchor, replace(section, title=_unused(section.title.strip() or section.name, " ", titles))


def _unused(wish: str, separator: str, taken: set[str]) -> str:
    """`wish`, or with the first number from 2 that makes it new; names that differ in case only count as equal."""
    number, name = 1, wish
    while name.lower() in taken:
        number += 1
        name = f"{wish}{separator}{number}"
    taken.add(name.lower())
    return name


def _definitions(report: Report) -> Table | None:
    rows = tuple(
        (section.title, " ".join(section.definition.split())) for section in report.sections if section.definition
    )
    return Table("", (Column("section"), Column("how its numbers are made")), rows) if rows else None


def _provenance(provenance: Provenance, report: Report) -> Iterator[Block]:
    yield Sentence(f"wavewright {provenance.version}, report schema {report.schema_version}")
    if provenance.command:
        yield Sentence("This command makes the same report again:")
        yield Preformatted(provenance.command)
    if provenance.inputs:
        columns = [Column("input", is_name=True), Column("size", role="number"), Column("SHA-256", is_name=True)]
        if not all(file.is_whole for file in provenance.inputs):
            columns.append(Column("of"))
        rows = tuple(
            (file.path, size(file.byte_count), file.sha256, "all" if file.is_whole else "first and last MiB, and size")
            for file in provenance.inputs
        )
        yield Table("", tuple(columns), tuple(row[: len(columns)] for row in rows))
    for title, values in (("Filters", provenance.filters), ("Recorded", provenance.facts)):
        if values:
            columns = [Column("what"), Column("value", is_name=True)]
            yield Table(title, tuple(columns), tuple((name, text) for name, text in values.items()))


def paths_of(report: Report) -> list[str]:
    """The paths that the report is about, as they were given on the command line; else those of its files.

    >>> from wavewright.model.report import Provenance, Report
    >>> paths_of(Report("", "run", (), Provenance("0.2", "wavewright report 'my run.db' b.db -o x.md --top 5")))
    ['my run.db', 'b.db']
    """
    try:
        arguments = shlex.split(report.provenance.command)
    except ValueError:  # a quotation without end
        arguments = []
    if arguments[:2] == ["wavewright", "report"]:
        paths = list(itertools.takewhile(lambda word: not word.startswith("-"), arguments[2:]))
        if paths:
            return paths
    return [file.path for file in report.provenance.inputs]


def commands_of(section: Section, report: Report) -> tuple[str, ...]:
    """Command lines that ask what to ask next; where nobody composed them, verbs and options called like the questions.

    >>> from wavewright.model.next_question import NextQuestion
    >>> from wavewright.model.report import Provenance, Report, Section
    >>> section = Section("waits", "", "", next_questions=(NextQuestion("source", {"at": "i0x1814"}),))
    >>> commands_of(section, Report("", "trace", (section,), Provenance("0.2", "")))
    ('wavewright source PATH --at i0x1814',)
    """
    if section.next_commands:
        return section.next_commands
    path = (paths_of(report) or ["PATH"])[0]
    commands = []
    for question in section.next_questions:
        options = [word for name, value in question.parameters.items() for word in (f"--{name}", value)]
        commands.append(command_line(["wavewright", question.topic, path, *options]))
    return tuple(commands)
