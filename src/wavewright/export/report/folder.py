"""A report as a folder: the HTML page, the viewer, pictures and tables as files, linked with each other."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

import polars as pl

from wavewright.base.csv import harmless
from wavewright.base.shown import json_bytes
from wavewright.export.kit.staging import staged
from wavewright.export.kit.writer_result import Written
from wavewright.model.blocks import Picture
from wavewright.model.document import Shown
from wavewright.model.losses import Loss
from wavewright.model.report import Report
from wavewright.writers.html import report_page as html
from wavewright.writers.json import report_json as json

PAGE, VIEWER, WHOLE = "report.html", "viewer.html", "report.json"  #: Names of files; the first marks a report's folder.
_NOT_IN_NAMES = re.compile(r"[^\w-]+", re.ASCII)
_NAME_LENGTH_MAX = 60


def write_folder(
    report: Report,
    target: Path,
    *,
    force: bool = False,
    documents: Sequence[tuple[str, Shown]] = (),
    with_source: bool = True,
) -> Written:
    """Write `report.html`, `report.json`, `pictures/*.svg`, `tables/*.csv`, and with `documents` `viewer.html`.

    Raises `UsageError` when the folder exists and `force` is not given, or it holds other things; `MissingToolError`
    when this installation has no viewer page; `WavewrightError` when the file system refuses.
    """
    from wavewright.export.page import write_html

    losses: list[Loss] = []
    files = html.Files(viewer=VIEWER if documents else "", whole=WHOLE)
    with staged([target], force=force, mark=PAGE) as (twin,):
        twin.mkdir()
        for section in report.sections:
            pictures = [block for block in section.blocks if isinstance(block, Picture)]
            for picture in pictures:
                name = _new_name(f"pictures/{section.name}-{picture.name}", ".svg", files)
                files.pictures[id(picture)] = name
                _path_of(twin, name).write_text(picture.svg, encoding="utf-8", errors="replace")
            for table in section.data:
                name = _new_name(f"tables/{section.name}-{table.name}", ".csv", files)
                files.tables[id(table)] = name
                _path_of(twin, name).write_bytes(_csv(table.frame))
        (twin / WHOLE).write_bytes(json.render(report))
        (twin / PAGE).write_bytes(html.render(report, files))
        if documents:
            losses = write_html(documents, twin / VIEWER, with_source=with_source).losses
    counts = {"sections": len(report.sections), "pictures": len(files.pictures), "tables": len(files.tables)}
    return Written(target, counts, losses)


def _new_name(wish: str, ending: str, files: html.Files) -> str:
    """A new name of a file, made of characters that every file system takes."""
    folder, name = wish.split("/", 1)
    base = f"{folder}/{_NOT_IN_NAMES.sub('-', name).strip('-')[:_NAME_LENGTH_MAX] or 'unnamed'}"
    taken = {*files.pictures.values(), *files.tables.values()}
    number, result = 1, f"{base}{ending}"
    while result in taken:
        number += 1
        result = f"{base}-{number}{ending}"
    return result


def _path_of(folder: Path, name: str) -> Path:
    path = folder / name
    path.parent.mkdir(exist_ok=True)
    return path


def _csv(frame: pl.DataFrame) -> bytes:
    """A frame as CSV; lists become JSON, because CSV has none."""
    nested = [name for name, kind in frame.schema.items() if kind.is_nested()]
    texts = [
        pl.Series(name, [None if value is None else json_bytes(value).decode() for value in frame[name].to_list()])
        for name in nested
    ]
    return harmless(frame.with_columns(texts)).write_csv().encode()
