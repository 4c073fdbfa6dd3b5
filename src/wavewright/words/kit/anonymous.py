"""Reports without names of hosts, users, folders and commands: each becomes a label, the same one everywhere.

What is known by name (hosts and commands that a capture records, paths that were given) is replaced wherever it
occurs, and so is every absolute path. Names of kernels, calls and markers stay: they are what a report is about.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, fields, is_dataclass, replace
from pathlib import PurePosixPath
from typing import TypeVar

import polars as pl

from wavewright.base.secrets import masked
from wavewright.model.blocks import Picture, Table
from wavewright.model.next_question import NextQuestion
from wavewright.model.report import DataTable, Report

T = TypeVar("T")
_USER = re.compile(r"(?:/home/|/Users/|/users/|\\Users\\)([\w.-]{2,})")
#: An absolute path of two parts or more, not an address of the web, not a division.
_PATH = re.compile(r"(?<![\w./:%])/(?:[\w.@+~-]+/)+[\w.@+~-]*|(?<![\w])[A-Za-z]:\\[^\s\"']+")
_COMMAND = "command"  #: Heading and name of columns with command lines.
_SHORTEST = 3  #: Characters; a shorter name is not replaced, as it may be part of any text.
#: Fields of reports that hold words of wavewright and never recorded names.
_FIXED = frozenset(("style", "kind", "name", "handle", "question", "label", "definition", "sha256", "version"))
#: Names of folders and files that say nothing about anybody.
_COMMON = frozenset((
    "bin", "build", "capture", "captures", "data", "home", "lib", "localhost", "mnt", "opt", "out", "output", "raw",
    "result", "results", "root", "run", "runs", "share", "src", "tmp", "trace", "traces", "users", "usr", "var", "work",
    "workloads",
))  # fmt: skip


@dataclass
class Labels:
    """Names that must not be seen, each with the label that stands for it."""

    labels: dict[str, str] = field(default_factory=dict)
    _counts: dict[str, int] = field(default_factory=dict)
    _pattern: re.Pattern[str] | None = None  #: Matches every name; None = to be made, as a name was added.

    def add(self, kind: str, names: Iterable[str | None], *, ending: bool = False) -> None:
        """Give labels (`host-1`, `host-2`, ...) to names; with `ending`, the label keeps the ending of a file name."""
        for name in names:
            if not name or name in self.labels or len(name) < _SHORTEST or name.lower() in _COMMON:
                continue
            number = self._counts[kind] = self._counts.get(kind, 0) + 1
            self.labels[name] = f"{kind}-{number}{_ending(name) if ending else ''}"
            self._pattern = None

    def text(self, original: str) -> str:
        """A text with labels for names."""
        if self._pattern is None:
            names = sorted(self.labels, key=len, reverse=True)  # a name may be part of a longer one
            self._pattern = re.compile("|".join(rf"(?<!\w){re.escape(name)}(?!\w)" for name in names) or r"(?!)")
        text = self._pattern.sub(lambda match: self.labels[match[0]], original)
        return _PATH.sub(self._path, text)

    def _path(self, match: re.Match[str]) -> str:
        """The last part of an absolute path, after a label for the rest."""
        folder, _, name = match[0].replace("\\", "/").rpartition("/")
        self.add("folder", [folder])
        return f"{self.labels.get(folder, 'folder')}/{name}"


def _ending(name: str) -> str:
    """The ending of a file name; what is long or a number belongs to the name.

    >>> _ending("run/rank0.json.gz"), _ending("folder")
    ('.json.gz', '')
    """
    suffixes = PurePosixPath(name).suffixes[-2:]
    return "".join(suffixes) if all(len(suffix) <= 8 and not suffix[1:].isdigit() for suffix in suffixes) else ""


def labels_for(
    paths: Iterable[str], *, hosts: Iterable[str | None] = (), commands: Iterable[str | None] = ()
) -> Labels:
    """Labels for given paths, the hosts and command lines that captures record, and users whose folders these name."""
    labels, commands = Labels(), list(commands)
    paths = [path.rstrip("/") or path for path in paths]
    labels.add("input", paths, ending=True)
    labels.add("command", commands)
    labels.add("host", hosts)
    texts = [*paths, *(command for command in commands if command)]
    labels.add("user", (user for text in texts for user in _USER.findall(text)))
    for path in paths:
        pure = PurePosixPath(path)
        labels.add("input", [pure.name], ending=True)
        if pure.name in labels.labels and path in labels.labels:
            labels.labels[pure.name] = labels.labels[path]  # a file has one label, with its folder and without
        labels.add("folder", [part for part in pure.parts[:-1] if part not in ("/", "..", ".")])
    return labels


def anonymous(report: Report, labels: Labels) -> Report:
    """The report with labels for names, in sentences, tables, data and provenance alike; pictures too."""
    changed = _mapped(report, labels.text)
    inputs = tuple(
        replace(file, path=labels.labels.get(file.path) or f"file-{number}{_ending(file.path)}")
        for number, file in enumerate(report.provenance.inputs, 1)
    )
    return replace(changed, provenance=replace(changed.provenance, inputs=inputs))


def without_secrets(report: Report) -> Report:
    """The report with masks for the values of secrets in command lines: those recorded, and its own."""
    sections = tuple(
        replace(
            section,
            blocks=tuple(_masked_table(block) if isinstance(block, Table) else block for block in section.blocks),
            data=tuple(
                replace(table, frame=_changed(table.frame, {_COMMAND} & {*table.frame.columns}, masked))
                for table in section.data
            ),
        )
        for section in report.sections
    )
    provenance = replace(report.provenance, command=masked(report.provenance.command))
    return replace(report, sections=sections, provenance=provenance)


def _masked_table(table: Table) -> Table:
    indexes = {index for index, column in enumerate(table.columns) if column.heading == _COMMAND}
    if not indexes:
        return table
    rows = (tuple(masked(cell) if at in indexes else cell for at, cell in enumerate(row)) for row in table.rows)
    return replace(table, rows=tuple(rows))


def _mapped(value: T, change: Callable[[str], str]) -> T:
    """A report or a part of it with every text changed; styles, kinds and names of columns stay."""
    if isinstance(value, str):
        return change(value)  # type: ignore[return-value]
    if isinstance(value, NextQuestion):
        return value._replace(parameters=_mapped(value.parameters, change), reason=change(value.reason))
    if isinstance(value, tuple):
        return tuple(_mapped(item, change) for item in value)  # type: ignore[return-value]
    if isinstance(value, DataTable):
        return replace(value, frame=_changed(value.frame, value.frame.select(pl.col(pl.String)).columns, change))
    if isinstance(value, Picture):
        return replace(value, svg=change(value.svg), alt=change(value.alt))
    if isinstance(value, dict):
        return {key: _mapped(item, change) for key, item in value.items()}  # type: ignore[return-value]
    if is_dataclass(value) and not isinstance(value, type):
        names = [part.name for part in fields(value) if part.name not in _FIXED]  # labels are numbered in this order
        return replace(value, **{name: _mapped(getattr(value, name), change) for name in names})
    return value


def _changed(frame: pl.DataFrame, names: Iterable[str], change: Callable[[str], str]) -> pl.DataFrame:
    """The frame with the texts of these columns changed; each different text once."""
    columns = []
    for name in names:
        values = frame[name]
        changed = {old: new for old in values.drop_nulls().unique(maintain_order=True) if (new := change(old)) != old}
        if changed:
            columns.append(pl.Series(name, [changed.get(value, value) for value in values], pl.String))
    return frame.with_columns(columns)
