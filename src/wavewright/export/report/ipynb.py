"""A report as a Jupyter notebook: cells that open the capture and ask the questions of the report, without outputs."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec

from wavewright.base.shown import json_bytes, shown
from wavewright.model.report import Report
from wavewright.questions.catalog import QUESTIONS
from wavewright.writers.kit.outline import paths_of
from wavewright.writers.markdown.blocks import code_span, prose

_FORMAT, _FORMAT_MINOR = 4, 5  #: Of notebooks; cells have ids since 4.5.


def render(report: Report, folder: Path | None = None) -> bytes:
    """The notebook; paths in it are relative to `folder`, where it will be stored (None = the current folder)."""
    cells = [_cell(number, kind, text) for number, (kind, text) in enumerate(_cells(report, folder or Path()))]
    notebook = {
        "cells": cells,
        "metadata": {
            "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
            "language_info": {"name": "python"},
        },
        "nbformat": _FORMAT,
        "nbformat_minor": _FORMAT_MINOR,
    }
    return msgspec.json.format(json_bytes(notebook), indent=1) + b"\n"


def _cells(report: Report, folder: Path) -> Iterator[tuple[str, str]]:
    """Kind and text of each cell, in order."""
    paths = [_relative(path, folder) for path in paths_of(report)]
    yield "markdown", _head(report)
    if report.kind == "comparison":
        yield from _compared(paths)
        return
    yield "code", f"import wavewright\n\ncapture = {_opening(report.kind, paths)}\ncapture"
    for section in report.sections:
        if section.name not in QUESTIONS[report.kind]:
            continue
        question = f"\n\n{prose(section.question)}" if section.question else ""
        skipped = f"\n\n*not answered:* {prose(section.skipped)}" if section.skipped else ""
        yield "markdown", f"## {prose(section.title)}{question}{skipped}"
        if not section.skipped:
            yield "code", f"wavewright.ask(capture, {_literal(section.name)})"
    yield "markdown", "## Viewer\n\nThe capture as a whole, to look around in."
    yield "code", "wavewright.show(capture)"


def _compared(paths: list[str]) -> Iterator[tuple[str, str]]:
    """The cells about several captures: the findings of each, and the viewer, which compares them."""
    listed = ", ".join(f"wavewright.open({_literal(path)})" for path in paths)
    yield "code", f"import wavewright\n\ncaptures = [{listed}]\ncaptures[0]"
    for number, path in enumerate(paths):
        yield "markdown", f"## Findings of {code_span(path)}"
        yield "code", f'wavewright.ask(captures[{number}], "diagnose")'
    yield "markdown", "## Viewer\n\nThe captures as a whole, to look around in."
    yield "code", "wavewright.show(captures)"


def _head(report: Report) -> str:
    provenance = report.provenance
    lines = [f"# {prose(report.title) or 'Report'}", "", f"Made by wavewright {prose(provenance.version)}."]
    lines += [""] if provenance.facts or report.losses or provenance.inputs else []
    lines += [f"- {prose(name)}: {code_span(text)}" for name, text in provenance.facts.items()]
    lines += [f"- *loss:* {prose(text)}" for text in report.losses]
    files = [f"- input {code_span(file.path)}, SHA-256 {code_span(file.sha256)}" for file in provenance.inputs]
    return "\n".join([*lines, *files])


def _opening(kind: str, paths: list[str]) -> str:
    """The call that opens the input as the kind of the report (a folder may have several); runs have many paths."""
    if kind == "run":
        return f"wavewright.open_run({', '.join(map(_literal, paths or ['PATH']))})"
    verb = "open_counters" if kind == "counters" else "open"
    return f"wavewright.{verb}({_literal(paths[0] if paths else 'PATH')})"


def _literal(text: str) -> str:
    """A text as a Python literal in ASCII: no character of it can end the literal, or be invisible."""
    body = text.replace("\\", "\\\\").replace('"', '\\"')
    return '"' + "".join(c if " " <= c <= "~" else c.encode("unicode_escape").decode("ascii") for c in body) + '"'


def _relative(path: str, folder: Path) -> str:
    """A path relative to the folder of the notebook; patterns and paths on another drive stay as they are."""
    if any(mark in path for mark in "*?[") and not Path(path).exists():
        return path
    try:
        return Path(os.path.relpath(path, folder)).as_posix()
    except ValueError:  # another drive
        return path


def _cell(number: int, kind: str, text: str) -> dict[str, Any]:
    code: dict[str, Any] = {"execution_count": None, "outputs": []} if kind == "code" else {}
    lines = shown(text).splitlines(keepends=True)
    return {"cell_type": kind, "id": f"cell-{number}", "metadata": {}, **code, "source": lines}
