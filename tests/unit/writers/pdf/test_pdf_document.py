from __future__ import annotations

import hashlib
import io
import re
import shutil
import subprocess
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from tests.kit.hostile_documents import LONG
from tests.kit.sampling import every_third
from tests.unit.export.report.office_reports import (
    CAPTURES,
    CODE_OF_TYPST,
    FORMULA,
    hostile_report,
    provenance,
    real_report,
    wide_report,
    wide_table,
)
from wavewright.errors import MissingToolError, OutputError
from wavewright.model.blocks import Column, Picture, Preformatted, Sentence, Table
from wavewright.model.report import DataTable, Report, Section
from wavewright.model.schema import table_spec
from wavewright.writers.kit.full_names import full_names
from wavewright.writers.pdf import report_pdf as pdf
from wavewright.writers.pdf.fonts import missing_characters, mono_width, sans_width
from wavewright.writers.pdf.page_tables import ACROSS, UPRIGHT, table_page
from wavewright.writers.pdf.page_text import Names
from wavewright.writers.xlsx.sheet_about import headline_of

pypdf = pytest.importorskip("pypdf")
pytest.importorskip("typst")
REPORTS = [*CAPTURES, "hostile", "wide"]
_SPACES = re.compile(r"\s+")
_MARGIN = 18 / 25.4 * 72  # points


@cache
def rendered(kind: str) -> bytes:
    return pdf.render(report_of(kind))


def report_of(kind: str) -> Report:
    return hostile_report() if kind == "hostile" else wide_report() if kind == "wide" else real_report(kind)


def opened(kind: str) -> Any:
    return pypdf.PdfReader(io.BytesIO(rendered(kind)))


def squeezed(text: str) -> str:
    return _SPACES.sub("", text)


def text_of(data: bytes) -> str:
    return squeezed("".join(page.extract_text() for page in pypdf.PdfReader(io.BytesIO(data)).pages))


@pytest.mark.parametrize("kind", every_third(CAPTURES))
def test_a_real_report_has_its_headline_and_the_first_row_of_each_table(kind: str, shared: Path) -> None:
    report, text = real_report(kind), text_of(rendered(kind))
    assert squeezed(headline_of(report).replace("`", "")) in text
    assert squeezed(report.provenance.inputs[0].sha256) in text
    checked = 0
    for section in report.sections:
        assert squeezed(section.title) in text
        for table in (block for block in section.blocks if isinstance(block, Table) and block.rows):
            cells = [squeezed(cell) for cell, column in zip(table.rows[0], table.columns, strict=True)]
            assert all(cell.partition("…")[0][:12] in text for cell in cells)
            checked += len(cells)
    assert checked > 4 or kind == "counters"


@pytest.mark.first_case
@pytest.mark.parametrize("kind", REPORTS)
def test_fonts_are_inside_and_nothing_can_be_followed_or_run(kind: str, shared: Path) -> None:
    document = opened(kind)
    root = document.trailer["/Root"]
    assert not {"/OpenAction", "/AA", "/AcroForm", "/JavaScript", "/URI"} & set(root)
    assert not {"/JavaScript", "/EmbeddedFiles"} & set(root.get("/Names", {}))
    fonts = set()
    for page in document.pages:
        assert not page.get("/Annots")
        assert "/AA" not in page
        for font in page["/Resources"]["/Font"].values():
            (inner,) = font.get_object()["/DescendantFonts"]
            descriptor = inner.get_object()["/FontDescriptor"]
            assert {"/FontFile2", "/FontFile3"} & set(descriptor)
            fonts.add(str(descriptor["/FontName"]).partition("+")[2])
    if kind in CAPTURES:  # characters of strangers may need fonts of the machine
        assert {name for name in fonts if not name.startswith(("DejaVuSans", "NewCM"))} == set()
    assert root["/MarkInfo"]["/Marked"]  # tagged
    assert root["/Lang"] == "en"


@pytest.mark.slow
@pytest.mark.first_case
@pytest.mark.parametrize("kind", REPORTS)
def test_the_outline_has_every_section(kind: str, shared: Path) -> None:
    titles = [squeezed(str(entry["/Title"])) for entry in opened(kind).outline]
    sections = report_of(kind).sections
    assert len(titles) >= len(sections) + 1
    if kind in CAPTURES:
        assert [squeezed(section.title) for section in sections] == titles[: len(sections)]


@pytest.mark.slow
@pytest.mark.first_case
@pytest.mark.parametrize("kind", REPORTS)
def test_the_same_report_gives_the_same_bytes(kind: str, shared: Path) -> None:
    assert hashlib.sha256(pdf.render(report_of(kind))).digest() == hashlib.sha256(rendered(kind)).digest()


def test_hostile_names_stay_texts() -> None:
    text = text_of(rendered("hostile"))
    assert squeezed(CODE_OF_TYPST) in text
    assert squeezed(FORMULA) in text
    assert "\\x1b[31m" in text
    assert "\u202e" not in text
    assert "rank\\xff.db" in text
    document = opened("hostile")
    assert "/CreationDate" not in document.metadata


def test_names_that_are_cut_are_whole_in_the_appendix() -> None:
    text = text_of(rendered("hostile"))
    assert LONG[:4_000] + "…(10,000characters)" in text
    names = Names()
    whole = "void gemm_kernel<" + "float, " * 40 + "8>(int)"
    frame_table = DataTable("kernels", table_spec("kernels", "one kernel", "name String - | name"), frame_of(whole))
    table = Table("", (Column("name", is_name=True),), ((f"{whole[5:30]}…8>",),))
    section = Section("s", "S", "?", blocks=(table,), data=(frame_table,))
    page = table_page(table, full_names(section), names)
    assert page["rows"] == [[f"{whole[5:30]}…8> [1]"]]
    assert names.appendix() == [("[1]", whole)]


def frame_of(*names: str) -> Any:
    import polars as pl

    return pl.DataFrame({"name": list(names)})


@pytest.mark.parametrize("count", [0, 1, 4, 9, 14, 18, 40, 200])
def test_no_table_is_wider_than_its_page(count: int) -> None:
    table = wide_table(count)
    page = table_page(table, {}, Names())
    width = ACROSS if page["is_across"] else UPRIGHT
    assert sum(page["widths"]) <= width + 0.5
    for row in page["rows"]:
        for cell, room, column in zip(row, page["widths"], page["columns"], strict=True):
            measured = 0.92 * mono_width(cell) if column["is_name"] else sans_width(cell)
            assert measured * page["size"] <= room - page["padding"] + 0.01
    dropped = count + 1 - len(page["columns"])
    assert (f"number {count - 1}" in page["note"]) == (dropped > 0)
    assert page["is_across"] == (count > 10)


def test_a_number_that_is_a_long_text_is_cut_too() -> None:
    table = Table("", (Column("n", role="number"), Column("m", role="number")), (("9" * 5_000, "1"),))
    page = table_page(table, {}, Names())
    assert sum(page["widths"]) <= UPRIGHT
    assert page["rows"][0][0].endswith("… [1]")
    assert page["rows"][0][1] == "1"


def test_long_lines_go_on_in_the_next_and_charts_are_cut() -> None:
    command = "wavewright report " + " ".join(f"--section name_{at}" for at in range(60))
    blocks = (Preformatted(command), Preformatted("█" * 400, is_chart=True))
    section = Section("s", "S", "?", blocks=blocks)
    text = text_of(pdf.render(Report("t", "run", (section,), provenance())))
    assert squeezed(command) in text
    assert squeezed("1 of 1 lines is cut to the page") in text


def test_hashes_of_inputs_are_never_cut() -> None:
    columns = (Column("input", is_name=True), Column("size", role="number"), Column("SHA-256", is_name=True))
    table = Table("", columns, (("/a/long/path" * 20, "1.6 MB", "0f" * 32),))
    assert table_page(table, {}, Names())["rows"][0][2] == "0f" * 32


def test_paper_repeats_no_headline_and_leaves_meanings_of_columns_to_workbooks() -> None:
    verdict = Sentence("the verdict", "headline")
    meanings = Table("columns of data", (Column("column"), Column("meaning")), (("busy_ns", "time with work"),) * 3)
    sections = (
        Section("glance", "At a glance", "?", blocks=(verdict, Sentence("trust: good"))),
        Section("definitions", "Definitions", "?", blocks=(meanings,)),
    )
    text = text_of(pdf.render(Report("t", "run", sections, provenance())))
    assert text.count("theverdict") == 1
    assert "trust:good" in text
    assert "timewithwork" not in text
    assert "columnsofdata:3columns;workbookssayinheaderswhateachmeans" in text


def test_a_chart_of_characters_is_left_out_where_there_is_a_picture() -> None:
    chart = Preformatted("chart ███", is_chart=True)
    drawn = next(block for block in hostile_report().sections[0].blocks if isinstance(block, Picture))
    section = Section("s", "S", "?", blocks=(chart, replace(drawn, alt="bars of busy time")))
    text = text_of(pdf.render(Report("t", "run", (section,), provenance())))
    assert "chart███" not in text
    assert "busy63.3%" in text
    assert "barsofbusytime" in text


def test_characters_without_a_font_become_escapes(monkeypatch: pytest.MonkeyPatch) -> None:
    import typst

    class NoFonts:
        def __init__(self, **_: Any) -> None: ...

        def fonts(self) -> list[Any]:
            return []

    assert missing_characters("核函数 µs ≤ ⣿") == set("核函数")
    monkeypatch.setattr(typst, "Fonts", NoFonts)
    section = Section("s", "S", "?", blocks=(Sentence("kernel 核"),))
    text = text_of(pdf.render(Report("t", "run", (section,), provenance())))
    assert "kernel\\u6838" in text
    assert "1charactersthatnofontherehasarewrittenasescapes" in text


def test_a_missing_package_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(MissingToolError) as caught:
        pdf.render(hostile_report())
    assert "wavewright[pdf]" in str(caught.value.advice)


def test_a_picture_that_is_none_is_refused_kindly() -> None:
    section = Section("s", "S", "?", blocks=(Picture("p", "<svg", "broken"),))
    with pytest.raises(OutputError, match="cannot typeset"):
        pdf.render(Report("t", "run", (section,), provenance()))


def test_an_empty_report_is_a_document() -> None:
    assert "nothing" in text_of(pdf.render(Report("nothing", "run", (), provenance())))


def poppler(program: str, *arguments: str) -> str:
    if shutil.which(program) is None:
        pytest.skip("poppler is not here (tools/office.sh)")
    return subprocess.run([program, *arguments], check=True, capture_output=True, text=True).stdout


@pytest.mark.slow
@pytest.mark.parametrize("kind", REPORTS)
def test_poppler_finds_the_text_between_the_margins_and_fonts_inside(kind: str, shared: Path, tmp_path: Path) -> None:
    file = tmp_path / "report.pdf"
    file.write_bytes(rendered(kind))
    fonts = poppler("pdffonts", str(file)).splitlines()[2:]
    assert fonts
    assert all(line.split()[-5:-2] == ["yes", "yes", "yes"] for line in fonts)  # embedded, a subset, with Unicode
    assert squeezed(report_of(kind).title.split("<")[0]) in squeezed(poppler("pdftotext", "-layout", str(file), "-"))
    pages = re.split(r"<page ", poppler("pdftotext", "-bbox", str(file), "-"))[1:]
    for page in pages:
        width = float(re.match(r'width="([\d.]+)"', page)[1])  # type: ignore[index]
        words = re.findall(r'<word xMin="([\d.]+)" yMin="[\d.]+" xMax="([\d.]+)"', page)
        assert words
        assert min(float(left) for left, _ in words) >= _MARGIN - 1
        assert max(float(right) for _, right in words) <= width - _MARGIN + 1
