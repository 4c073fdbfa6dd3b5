"""A report: sections made of sentences, tables, findings, code and pictures, which every writer writes in its own way.

Texts are as they were recorded; a writer escapes them for its format. Tables come twice: `Table` as people read it, and
`DataTable` with the numbers behind it, for workbooks, JSON and notebooks.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeAlias

from wavewright.model.display import Displayed

if TYPE_CHECKING:
    from collections.abc import Mapping
    from os import PathLike

    import polars as pl

    from wavewright.model.next_question import NextQuestion
    from wavewright.model.schema import TableSpec

REPORT_SCHEMA_VERSION = 1


@dataclass(frozen=True)
class Sentence:
    """A line of text: a verdict, a note, or what was lost."""

    text: str
    style: str = "plain"  #: plain, headline (the verdict of its section), note, or loss.


@dataclass(frozen=True)
class Labelled:
    """A paragraph with a label before it: why, do, see, confidence."""

    label: str
    text: str


@dataclass(frozen=True)
class Finding:
    """A finding of a diagnosis, in words."""

    number: int
    verdict: str
    gain: str  #: What could be won at most; empty = not known.
    paragraphs: tuple[Labelled, ...] = ()
    handle: str = ""  #: What names it in a question: f1, f2, ...


@dataclass(frozen=True)
class Column:
    """A column of a table that people read."""

    heading: str
    is_number: bool = False  #: Aligned at the right.
    is_name: bool = False  #: Recorded words: names of kernels, instructions, calls, files.


@dataclass(frozen=True)
class Table:
    """Rows as people read them, units in the cells."""

    title: str  #: What the rows are and how many of how many: "showing 20 of 3,112 instructions".
    columns: tuple[Column, ...]
    rows: tuple[tuple[str, ...], ...]


@dataclass(frozen=True)
class CodeLine:
    """A line of source or code."""

    number: int | None  #: Of the source line; None = an instruction.
    text: str
    share: float | None = None  #: Of all cycles, from 0 to 1; None = not executed.
    cost: str = ""  #: Its cycles in words.
    handle: str = ""  #: i0x1814


@dataclass(frozen=True)
class Code:
    """Lines of one file, in their order; those left out are a line without a text."""

    file: str
    lines: tuple[CodeLine, ...]


@dataclass(frozen=True)
class Preformatted:
    """Text whose spaces matter: a chart made of characters, a command."""

    text: str
    is_chart: bool = False  #: Writers that can show pictures leave it out where the section has one.


@dataclass(frozen=True)
class Picture:
    """A drawing."""

    name: str  #: As `wavewright plot` calls it.
    svg: str
    alt: str  #: The sentence that the picture shows, for those who do not see it.


Block: TypeAlias = Sentence | Labelled | Finding | Table | Code | Preformatted | Picture


@dataclass(frozen=True)
class DataTable:
    """A frame with the declaration of its columns: names, units, meanings."""

    name: str  #: Unique in its section: the field of the answer.
    spec: TableSpec
    frame: pl.DataFrame


@dataclass(frozen=True)
class Section:
    """The answer to one question."""

    name: str
    title: str
    question: str
    blocks: tuple[Block, ...] = ()
    data: tuple[DataTable, ...] = ()
    definition: str = ""  #: How its numbers are made.
    skipped: str = ""  #: Why it could not be answered; then it has no blocks.
    next_questions: tuple[NextQuestion, ...] = ()


@dataclass(frozen=True)
class InputFile:
    """A file that was read."""

    path: str
    byte_count: int
    sha256: str
    is_whole: bool = True  #: False = the hash is of the first and the last MiB, and of the size.


@dataclass(frozen=True)
class Provenance:
    """Inputs of a report, and the command to make it again."""

    version: str  #: Of wavewright.
    command: str  #: Makes the same report again.
    inputs: tuple[InputFile, ...] = ()
    filters: Mapping[str, str] = field(default_factory=dict)
    facts: Mapping[str, str] = field(default_factory=dict)  #: GPU, ROCm, profiler: what the capture records.


@dataclass(frozen=True)
class Report(Displayed):
    """A whole report; notebooks show it."""

    title: str
    kind: str  #: trace, run, counters or comparison.
    sections: tuple[Section, ...]
    provenance: Provenance
    losses: tuple[str, ...] = ()  #: In words, damage first.
    schema_version: int = REPORT_SCHEMA_VERSION

    def write(self, path: str | PathLike[str], *, force: bool = False) -> None:
        """Write it; the ending of the name is the format: .html, .md, .pdf, .xlsx, .json, .ipynb, or / for a folder.

        Raises
        ------
        UsageError
            When the ending is not known, or the output exists and `force` is not given.
        MissingToolError
            When the package is missing that the format needs.
        """
        from importlib import import_module

        import_module("wavewright.export.report").write_report(self, path, force=force)  # by name: it is far above

    def to_markdown(self) -> str:
        """The report as Markdown, for a ticket or a comment."""
        from importlib import import_module

        content: bytes = import_module("wavewright.export.report.markdown").render(self)
        return content.decode()
