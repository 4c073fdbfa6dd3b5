"""Reports as files: the ending of the name decides the format; a folder gets everything."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from wavewright.base.packages import require
from wavewright.errors import UsageError
from wavewright.export.kit.staging import staged
from wavewright.export.kit.writer_result import Written
from wavewright.model.document import Shown
from wavewright.model.report import Report

WRITERS = (".html", ".md", ".pdf", ".xlsx", ".json", ".ipynb")  #: Endings of the formats.
#: Ending -> package that its writer needs, and the extra that brings it.
_NEEDED = {".pdf": ("typst", "pdf"), ".xlsx": ("xlsxwriter", "xlsx")}
_WITH_DATA = (".json", ".xlsx", "/")  #: Formats with data tables; the others only have the tables for people.
_OTHER_NAMES = {".htm": ".html", ".markdown": ".md"}
#: Purpose of a report -> bytes that its Markdown may have: GitHub takes 64 KiB for a comment, an agent reads 8 KB well.
MOST_BYTES = {"issue": 60_000, "agent": 8_000}


def check_report_path(path: str | os.PathLike[str]) -> None:
    """Check early whether `write_report` can write a file of this name.

    Raises `UsageError` when the name has neither an ending of a format nor `/` for a folder; `MissingToolError` when
    the package that the format needs is missing.
    """
    ending = _ending(path)
    if ending == "/":
        return
    if ending not in WRITERS:
        name = os.fspath(path)
        what = f"no report format {ending[:40]!r}" if ending else "the name of the report has no ending"
        advice = f"names of reports end in {', '.join(WRITERS)}, or in / for a folder with everything"
        raise UsageError(what, where=name, advice=advice)
    if ending in _NEEDED:
        package, extra = _NEEDED[ending]
        require(package, extra, where=os.fspath(path))


def write_report(
    report: Report,
    path: str | os.PathLike[str],
    *,
    force: bool = False,
    top: int | None = None,
    purpose: str = "full",
    documents: Sequence[tuple[str, Shown]] = (),
    with_source: bool = True,
) -> Written:
    """Write a report, completely or not at all; the same report gives the same bytes.

    A folder (`name/`) gets the HTML page, the pictures, the tables as CSV and, with labelled `documents`, the viewer's
    page, linked with each other. With `force` an existing file is replaced, a folder only if it is an earlier report
    or empty. `top` limits the rows of data tables (JSON, XLSX, CSV; None = all), and what is cut becomes a loss. The
    purposes "issue" and "agent" limit the size of Markdown (`MOST_BYTES`).

    Raises `UsageError` when the ending is not known, or the output exists and `force` is not given; `MissingToolError`
    when the package that the format needs is missing; `WavewrightError` when the file system refuses.
    """
    check_report_path(path)
    target, ending = Path(path), _ending(path)
    if top is not None and ending in _WITH_DATA:
        report = cut_data(report, top)
    if ending == "/":
        from wavewright.export.report.folder import write_folder

        return write_folder(report, target, force=force, documents=documents, with_source=with_source)
    content = _content(report, ending, target.parent, MOST_BYTES.get(purpose))
    with staged([target], force=force) as (twin,):
        twin.write_bytes(content)
    return Written(target, {"sections": len(report.sections)})


def _content(report: Report, ending: str, folder: Path, most_bytes: int | None) -> bytes:
    """The report in the format of an ending; only its writer is imported."""
    match ending:
        case ".html":
            from wavewright.writers.html import report_page as html

            return html.render(report)
        case ".md":
            from wavewright.writers.markdown import report_text as markdown

            return markdown.render(report, most_bytes=most_bytes)
        case ".pdf":
            from wavewright.writers.pdf import report_pdf as pdf

            return pdf.render(report)
        case ".xlsx":
            from wavewright.writers.xlsx import workbook as xlsx

            return xlsx.render(report)
        case ".json":
            from wavewright.writers.json import report_json as json

            return json.render(report)
        case _:
            from wavewright.export.report import ipynb

            return ipynb.render(report, folder=folder)


def cut_data(report: Report, top: int) -> Report:
    """The report with at most `top` rows in each data table; what is left out is a loss."""
    losses = [
        f"table {table.name} of {section.title}: the first {top:,} of {table.frame.height:,} rows; "
        "a larger --top has more"
        for section in report.sections
        for table in section.data
        if table.frame.height > top
    ]
    sections = [
        replace(section, data=tuple(replace(table, frame=table.frame.head(top)) for table in section.data))
        for section in report.sections
    ]
    return replace(report, sections=tuple(sections), losses=(*report.losses, *losses))


def _ending(path: str | os.PathLike[str]) -> str:
    """The ending that names the format; `/` = a folder."""
    text = os.fspath(path)
    if text.endswith(("/", os.sep)) or Path(text).is_dir():
        return "/"
    ending = Path(text).suffix.lower()
    return _OTHER_NAMES.get(ending, ending)
