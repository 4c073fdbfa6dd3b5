"""What all writers of text need of a report: names that links point at, definitions, provenance as tables."""

from __future__ import annotations

import re
import shlex
from dataclasses import replace
from typing import TYPE_CHECKING

from wavescope.model.report import Block, Column, Preformatted, Sentence, Table
from wavescope.report.kit.words import size

if TYPE_CHECKING:
    from collections.abc import Iterator

    from wavescope.model.report import NextQuestion, Provenance, Report, Section

#: What a report may have as sections of its own; writers add those that it lacks.
DEFINITIONS, LOSSES, PROVENANCE = "definitions", "losses", "provenance"
_NO_WORD = re.compile(r"[^a-z0-9]+")


def outline(report: Report) -> list[tuple[str, Section]]:
    """The sections in order, each with a name that no other has; titles are different, too.

    At the end come what was lost, how numbers are made, and what the report was made of, unless it has such sections.
    """
    from wavescope.model.report import Section

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
    titles = {title.strip().lower()}
    for section in sections:
        anchor = _unused(_NO_WORD.sub("-", section.name.lower()).strip("-") or "section", "-", anchors)
        yield anchor, replace(section, title=_unused(section.title.strip() or section.name, " ", titles))


def _unused(wish: str, separator: str, taken: set[str]) -> str:
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


def _provenance(made_of: Provenance, report: Report) -> Iterator[Block]:
    yield Sentence(f"wavescope {made_of.version}, report schema {report.schema_version}")
    if made_of.command:
        yield Sentence("This command makes the same report again:")
        yield Preformatted(made_of.command)
    if made_of.inputs:
        columns = [Column("input", is_name=True), Column("size", is_number=True), Column("SHA-256", is_name=True)]
        if not all(file.is_whole for file in made_of.inputs):
            columns.append(Column("of"))
        rows = tuple(
            (file.path, size(file.byte_count), file.sha256, "all" if file.is_whole else "first and last MiB, and size")
            for file in made_of.inputs
        )
        yield Table("", tuple(columns), tuple(row[: len(columns)] for row in rows))
    for title, values in (("Filters", made_of.filters), ("Recorded", made_of.facts)):
        if values:
            columns = [Column("what"), Column("value", is_name=True)]
            yield Table(title, tuple(columns), tuple((name, text) for name, text in values.items()))


def command_of(asked: NextQuestion, report: Report) -> str:
    """What asks this on the command line.

    Examples
    --------
    >>> from wavescope.model.report import NextQuestion, Provenance, Report
    >>> report = Report("", "trace", (), Provenance("0.2", ""))
    >>> command_of(NextQuestion("source", {"at": "i0x1814"}), report)
    'wavescope source PATH --at i0x1814'
    """
    paths = [shlex.quote(file.path) for file in report.provenance.inputs[:1]] or ["PATH"]
    options = [f"--{name.replace('_', '-')} {shlex.quote(value)}" for name, value in asked.parameters.items()]
    return " ".join(["wavescope", asked.topic, *paths, *options])
