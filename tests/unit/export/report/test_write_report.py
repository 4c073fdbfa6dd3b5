"""Writing reports: the ending chooses, nothing half stays, folders hold everything."""

from __future__ import annotations

import hashlib
import re
from dataclasses import replace
from pathlib import Path

import polars as pl
import pytest

from tests.unit.export.report.made_reports import (
    document_at,
    hostile_report,
    report_named,
    run_path,
    small_report,
    topic_report,
)
from wavewright.errors import MissingToolError, UsageError
from wavewright.export.report import WRITERS, check_report_path, cut_data, write_report
from wavewright.page.assets import page_folder

TEXT_ENDINGS = (".html", ".md", ".json", ".ipynb")


@pytest.mark.parametrize("name", ["report.doc", "report", "report.html.gz", ".html"])
def test_other_endings_are_refused_with_the_list(name, tmp_path):
    for refused in (check_report_path, lambda path: write_report(small_report(), path)):
        with pytest.raises(UsageError) as caught:
            refused(tmp_path / name)
        assert ", ".join(WRITERS) in caught.value.advice
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("name", ["a.html", "A.HTML", "a.htm", "a.md", "a.json", "a.ipynb", "folder/"])
def test_endings_that_are_welcome(name):
    check_report_path(name)


@pytest.mark.slow
@pytest.mark.parametrize("ending", TEXT_ENDINGS)
@pytest.mark.parametrize("name", ["small", "hostile", "run", "trace"])
def test_the_same_bytes_twice(ending, name, tmp_path):
    first, second = tmp_path / f"a{ending}", tmp_path / f"b{ending}"
    written = write_report(report_named(name), first)
    write_report(report_named(name), second)
    assert first.read_bytes() == second.read_bytes()
    assert written.path == first
    assert written.byte_count == first.stat().st_size > 500


def test_files_are_replaced_only_by_force(tmp_path):
    path = tmp_path / "a.md"
    path.write_text("mine")
    with pytest.raises(UsageError, match="exists already"):
        write_report(small_report(), path)
    assert path.read_text() == "mine"
    write_report(small_report(), path, force=True)
    assert path.read_text().startswith("# A run")
    assert [each.name for each in tmp_path.iterdir()] == ["a.md"]


def test_purposes_limit_markdown(tmp_path):
    write_report(hostile_report(), tmp_path / "a.md", purpose="issue")
    write_report(hostile_report(), tmp_path / "b.md", purpose="agent")
    sizes = [(tmp_path / name).stat().st_size for name in ("a.md", "b.md")]
    assert 8_000 < sizes[0] <= 60_000
    assert sizes[1] <= 8_000


def test_rows_that_are_cut_are_losses():
    report = cut_data(small_report(), 1)
    assert [table.frame.height for section in report.sections for table in section.data] == [1]
    assert report.losses[1:] == ("table names of Time: the first 1 of 2 rows; a larger --top has more",)
    assert cut_data(small_report(), 2).losses == small_report().losses


def _hashes(folder: Path) -> dict[str, str]:
    files = sorted(file for file in folder.rglob("*") if file.is_file())
    return {str(file.relative_to(folder)): hashlib.sha256(file.read_bytes()).hexdigest() for file in files}


def test_folder(tmp_path):
    written = write_report(small_report(), f"{tmp_path}/out/")
    files = _hashes(tmp_path / "out")
    assert list(files) == ["pictures/summary-bars.svg", "report.html", "report.json", "tables/summary-names.csv"]
    assert written.counts == {"sections": 2, "pictures": 1, "tables": 1}
    page = (tmp_path / "out" / "report.html").read_text()
    assert sorted(re.findall(r'href="([^"#][^"]*)"', page)) == [name for name in files if name != "report.html"]
    table = pl.read_csv(tmp_path / "out" / "tables" / "summary-names.csv")
    assert table.rows() == [("gemm", 1.5), ("copy", None)]
    write_report(small_report(), f"{tmp_path}/out/", force=True)
    assert _hashes(tmp_path / "out") == files


def test_folders_of_others_stay(tmp_path):
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "thesis.tex").write_text("mine")
    with pytest.raises(UsageError, match="other files"):
        write_report(small_report(), f"{tmp_path}/out/", force=True)
    assert [file.name for file in (tmp_path / "out").iterdir()] == ["thesis.tex"]


def test_hostile_names_stay_inside_the_folder(tmp_path):
    report = hostile_report()
    sections = tuple(replace(section, name=f"../../{section.name}") for section in report.sections)
    write_report(replace(report, sections=sections), f"{tmp_path}/out/")
    assert [each.name for each in tmp_path.iterdir()] == ["out"]
    files = _hashes(tmp_path / "out")
    assert all(re.fullmatch(r"(pictures|tables)/[\w-]+\.(svg|csv)|report\.(html|json)", name) for name in files)
    table = next(file for file in (tmp_path / "out" / "tables").iterdir())
    assert "\n'=cmd()" in table.read_text()
    assert "\n=" not in table.read_text()


@pytest.mark.slow
def test_folder_with_viewer(tmp_path):
    try:
        page_folder()
    except MissingToolError as error:
        pytest.skip(str(error))
    document = document_at(run_path())
    report = topic_report(run_path())
    write_report(report, f"{tmp_path}/out/", documents=[(document.label, document.opened)])
    assert (tmp_path / "out" / "viewer.html").stat().st_size > 100_000
    assert 'href="viewer.html"' in (tmp_path / "out" / "report.html").read_text()
