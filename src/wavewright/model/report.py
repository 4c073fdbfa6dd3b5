"""A report: sections made of blocks (`model.blocks`), with their data tables and what it was made of.

Tables come twice: `Table` as people read it, and `DataTable` with the numbers behind it, for workbooks, JSON and
notebooks.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from wavewright.model.display import Displayed

if TYPE_CHECKING:
    from collections.abc import Mapping
    from os import PathLike

    import polars as pl

    from wavewright.model.blocks import Block
    from wavewright.model.next_question import NextQuestion
    from wavewright.model.schema import TableSpec

REPORT_SCHEMA_VERSION = 1


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
    next_commands: tuple[str, ...] = ()  #: Command lines that ask them; empty = the verbs are not known.


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

        Raises `UsageError` when the ending is not known, or the output exists and `force` is not given;
        `MissingToolError` when the package is missing that the format needs.
        """
        from importlib import import_module

        import_module("wavewright.export.report").write_report(self, path, force=force)  # by name: it is far above

    def to_markdown(self) -> str:
        """The report as Markdown, for a ticket or a comment."""
        from importlib import import_module

        content: bytes = import_module("wavewright.writers.markdown.report_text").render(self)
        return content.decode()
