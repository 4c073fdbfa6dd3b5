from __future__ import annotations

import csv
import hashlib
import io
import math
import re
import shutil
import subprocess
import zipfile
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from tests.kit.hostile_documents import NASTY
from tests.unit.export.report.office_reports import (
    CAPTURES,
    FORMULA,
    SPEC,
    costs,
    hostile_report,
    provenance,
    real_report,
)  # fmt: skip
from wavewright.base.shown import printable
from wavewright.errors import MissingToolError
from wavewright.model.blocks import Finding, Labelled
from wavewright.model.report import DataTable, Report, Section
from wavewright.writers.xlsx import sheet_tables
from wavewright.writers.xlsx import workbook as xlsx
from wavewright.writers.xlsx.sheet_cells import is_number

openpyxl = pytest.importorskip("openpyxl")
pytest.importorskip("xlsxwriter")
pytestmark = pytest.mark.filterwarnings("ignore:.*extension is not supported:UserWarning")  # of openpyxl: data bars


def opened(data: bytes) -> Any:
    return openpyxl.load_workbook(io.BytesIO(data))


def sheet_of(book: Any, section: Section, table: DataTable) -> Any:
    return book[xlsx.sheet_wish(section, table)[:31].strip()]


def finite_sum(column: pl.Series) -> float:
    return math.fsum(value for value in column.to_list() if value is not None and math.isfinite(value))


@pytest.mark.slow
@pytest.mark.first_case
@pytest.mark.parametrize("kind", CAPTURES)
def test_every_frame_of_a_real_report_is_a_sheet_whose_sums_agree(kind: str, shared: Path) -> None:
    report = real_report(kind)
    book = opened(xlsx.render(report))
    assert book.sheetnames[:2] == ["About", "Findings"]
    for section in report.sections:
        for table in section.data:
            sheet = sheet_of(book, section, table)
            assert sheet.max_row == table.frame.height + 1
            assert sheet.freeze_panes == "A2"
            assert sheet.auto_filter.ref
            meanings = {column.name: column.meaning for column in table.spec.columns}
            for cells, column in zip(sheet.iter_cols(), table.frame.iter_columns(), strict=True):
                assert cells[0].value.startswith(column.name)
                if column.name in meanings:
                    assert printable(meanings[column.name]) in cells[0].comment.text
                values = [cell.value for cell in cells[1:]]
                if is_number(None, column.name, column.dtype):
                    assert all(value is None or isinstance(value, int | float) for value in values)
                    assert math.fsum(filter(None, values)) == pytest.approx(finite_sum(column), rel=1e-12)
                else:
                    assert all(value is None or isinstance(value, str) for value in values)


@pytest.mark.slow
@pytest.mark.parametrize("kind", [*CAPTURES, "hostile"])
def test_the_same_report_gives_the_same_bytes(kind: str, shared: Path) -> None:
    report = hostile_report() if kind == "hostile" else real_report(kind)
    first, second = (hashlib.sha256(xlsx.render(report)).hexdigest() for _ in range(2))
    assert first == second


def test_hostile_names_stay_texts() -> None:
    data = xlsx.render(hostile_report())
    book = opened(data)
    assert all(len(name) <= 31 for name in book.sheetnames)
    cells = [cell for sheet in book for row in sheet.iter_rows() for cell in row]
    assert {cell.data_type for cell in cells} <= {"s", "n"}
    assert not [cell for cell in cells if cell.hyperlink]
    sheet = book[book.sheetnames[2]]
    names = [cell.value for cell in sheet["A"]]
    assert names[1:8] == [FORMULA, "+1", "-1", "@SUM(A1)", "\\tx", "0001", "_x0041_"]
    assert names[8] == printable(NASTY)
    assert len(names[14]) == 32_767
    with zipfile.ZipFile(io.BytesIO(data)) as parts:
        inside = {name: parts.read(name) for name in parts.namelist()}
    assert not [name for name in inside if "externalLink" in name or "vbaProject" in name]
    assert not [name for name, part in inside.items() if name.endswith(".xml") and re.search(rb"<f>|<hyperlink", part)]


def test_cells_are_numbers_by_type_and_unit() -> None:
    names = ["a", "b", "c"]
    section = Section("costs", "Costs", "what?", data=(costs(names),))
    sheet = opened(xlsx.render(Report("t", "trace", (section,), provenance())))["costs"]
    rows = [[cell.value for cell in row] for row in sheet.iter_rows()]
    assert rows[0] == [
        "name", "address", "time_ns", "big", "stall_share", "peak (%)", "rate (GB/s)", "is_hot", "lanes",
    ]  # fmt: skip
    big = str((1 << 53) + 1)
    assert rows[1] == ["a", "0x1814", 1_000, big, 0.5, None, 0.5, "true", "[0, 1]"]
    assert [row[5] for row in rows[1:]] == [None, None, None]  # null, NaN, infinite
    formats = [cell.number_format for cell in sheet[2]]
    assert (formats[2], formats[4], formats[6]) == ("#,##0", "0.0%", "#,##0.0")
    (ranges,) = sheet.conditional_formatting
    assert str(ranges.sqref) == "E2:E4"
    assert [rule.type for rule in ranges.rules] == ["dataBar"]


def about_lines(book: Any) -> list[str]:
    return [
        " | ".join(str(cell) for cell in row if cell is not None) for row in book["About"].iter_rows(values_only=True)
    ]


def test_about_names_what_was_made_of_what_and_what_was_cut() -> None:
    report = hostile_report()
    lines = about_lines(opened(xlsx.render(report)))
    text = "\n".join(lines)
    assert lines[0] == printable(report.title)
    assert lines[1].startswith("the verdict about")
    assert "ab" * 32 + " (of the first and the last MiB" in text
    assert "1 texts cut to 32,767 characters" in text
    assert "14 integers beyond 2^53 as text" in text
    assert f"Idle time: {printable(NASTY)}" in text


def test_long_frames_are_cut_loudly_and_longer_ones_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sheet_tables, "MAX_ROWS", 3)
    monkeypatch.setattr(sheet_tables, "SHEET_ROWS", 7)
    cut, refused = (Section(f"s{count}", "S", "?", data=(costs(["n"] * count),)) for count in (4, 7))
    book = opened(xlsx.render(Report("t", "run", (cut, refused), provenance())))
    assert (book["s4"].max_row, book["s7"].max_row) == (4, 1)
    text = "\n".join(about_lines(book))
    assert "CUT: the first 3 of 4 rows" in text
    assert "NOT WRITTEN: 7 rows are more than a sheet holds (6)" in text
    assert "Parquet" in text
    assert "CUT: the first 3 of 4 rows" in book["s4"]["A1"].comment.text
    assert book["s4"].sheet_properties.tabColor is not None


def test_findings_have_a_column_per_label() -> None:
    why, do = Labelled("why", "it waits"), Labelled("do", "prefetch")
    findings = (Finding(1, "waits", "at most 12 %", (why, do), "f1"), Finding(2, "stalls", "", (do,), "f2"))
    section = Section("diagnose", "Findings", "?", blocks=findings)
    sheet = opened(xlsx.render(Report("t", "trace", (section,), provenance())))["Findings"]
    rows = list(sheet.iter_rows(values_only=True))
    assert rows == [
        ("section", "number", "handle", "finding", "gain at most", "why", "do"),
        ("Findings", 1, "f1", "waits", "at most 12 %", "it waits", "prefetch"),
        ("Findings", 2, "f2", "stalls", None, None, "prefetch"),
    ]


def test_pictures_are_drawn_where_that_is_possible(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("resvg_py")
    report = hostile_report()
    rendered = xlsx.render(report)
    assert "Pictures" in opened(rendered).sheetnames
    parts = zipfile.ZipFile(io.BytesIO(rendered)).namelist()
    assert len([part for part in parts if part.startswith("xl/media/")]) == 1
    monkeypatch.setattr(sheet_tables, "find_spec", lambda name: None)
    book = opened(xlsx.render(report))
    assert "Pictures" not in book.sheetnames
    assert "wavewright[plot]" in "\n".join(about_lines(book))


def test_a_missing_package_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(MissingToolError) as caught:
        xlsx.render(hostile_report())
    assert "wavewright[xlsx]" in str(caught.value.advice)


def test_an_empty_report_is_a_workbook() -> None:
    empty = Section("none", "None", "?", data=(DataTable("costs", SPEC, costs([]).frame),))
    book = opened(xlsx.render(Report("", "run", (empty,), provenance())))
    assert book["none"].max_row == 1


def as_number(cell: str) -> float:
    return float(cell.removesuffix("%")) / 100 if cell.endswith("%") and cell.count("%") == 1 else float(cell)


@pytest.mark.slow
@pytest.mark.parametrize("kind", [*CAPTURES, "hostile"])
def test_libreoffice_reads_the_same_sums(kind: str, shared: Path, tmp_path: Path) -> None:
    program = shutil.which("soffice")
    if program is None:
        pytest.skip("LibreOffice is not here (tools/office.sh)")
    report = hostile_report() if kind == "hostile" else real_report(kind)
    (tmp_path / "report.xlsx").write_bytes(xlsx.render(report))
    # 44 = comma, 34 = quote, 76 = UTF-8, cells as stored (not as shown), every sheet (-1)
    how = "csv:Text - txt - csv (StarCalc):44,34,76,1,,0,false,false,false,false,false,-1"
    profile = f"-env:UserInstallation=file://{tmp_path / 'profile'}"
    command = [program, profile, "--headless", "--convert-to", how, "--outdir", str(tmp_path), "report.xlsx"]
    subprocess.run(command, cwd=tmp_path, check=True, capture_output=True, timeout=300)
    names = opened((tmp_path / "report.xlsx").read_bytes()).sheetnames
    files = sorted(tmp_path.glob("report-*.csv"))
    assert len(files) == len(names)
    at = 2
    for section in report.sections:
        for table in section.data:
            (file,) = [file for file in files if file.name == f"report-{names[at].replace('/', '_')}.csv"]
            with file.open(encoding="utf-8", newline="") as lines:
                rows = list(csv.reader(lines))
            assert len(rows) == table.frame.height + 1
            for place, column in enumerate(table.frame.iter_columns()):
                if is_number(None, column.name, column.dtype) and column.name != "big":
                    read = math.fsum(as_number(row[place]) for row in rows[1:] if row[place])
                    assert read == pytest.approx(finite_sum(column), rel=1e-9)
            at += 1
        at += sum(type(block).__name__ == "Code" for block in section.blocks)
        at += sum(type(block).__name__ == "Table" for block in section.blocks) if not section.data else 0
