"""Reports for the writers of workbooks and documents: of real captures, of hostile names, and of many rows."""

from __future__ import annotations

import hashlib
from functools import cache
from pathlib import Path
from typing import Any

import polars as pl

import wavewright
from tests.hostile_documents import LONG, NASTY
from wavewright.errors import WavewrightError
from wavewright.model.blocks import Code, CodeLine, Column, Finding, Labelled, Picture, Preformatted, Sentence, Table
from wavewright.model.document import Document
from wavewright.model.report import DataTable, InputFile, Provenance, Report, Section
from wavewright.model.schema import table_spec
from wavewright.questions.catalog import QUESTIONS

SHARED = Path(__file__).resolve().parents[5] / "shared"
CAPTURES = {
    "run": "att-mi300x-bmm/c01/raw/28_results.db",
    "trace": "att-mi300x-bmm/c03/ui_output_agent_47531_dispatch_3",
    "counters": "pmc-rocprofcompute-vcopy/MI300X_A1",
}
_OPENERS: dict[str, Any] = {
    "run": wavewright.open_run,
    "trace": wavewright.open,
    "counters": wavewright.open_counters,
}
FORMULA = '=HYPERLINK("http://example.invalid","x")'
CODE_OF_TYPST = '#panic("x") $x$ = heading <label> https://example.invalid/a @ref #link("http://example.invalid")'
SVG = (
    '<svg xmlns="http://www.w3.org/2000/svg" width="600" height="120" viewBox="0 0 600 120">'
    '<title>bars</title><rect x="20" y="40" width="380" height="40" fill="#4472c4"/>'
    '<text x="20" y="30" font-size="14" font-family="\'DejaVu Sans\'">busy 63.3 %</text></svg>'
)
SPEC = table_spec(
    "costs",
    "one instruction",
    """
    name         String         -       | name as recorded
    address      UInt64         -       | ELF address
    time_ns      Int64          ns      | time
    big          UInt64         -       | a number that floats cannot hold
    stall_share  Float64        -       | share of all cycles, from 0 to 1
    peak         Float64        %       | part of the peak
    rate         Float64        GB/s    | rate
    is_hot       Boolean        -       | whether it is hot
    lanes        List           -       | lanes
    """,
)


def provenance(*files: Path) -> Provenance:
    inputs = tuple(
        InputFile(file.name, file.stat().st_size, hashlib.sha256(file.read_bytes()).hexdigest()) for file in files
    )
    return Provenance("0.2.0", "wavewright report capture -o report.pdf", inputs, {"kernel": "*"}, {"GPU": "gfx942"})


@cache
def real_report(kind: str) -> Report:
    """Every topic about a real capture; it must be there."""
    path = SHARED / "data" / CAPTURES[kind]
    document = Document(0, path.name, str(path), lambda: _OPENERS[kind](path))
    sections = []
    for topic in QUESTIONS[kind].values():
        try:
            sections.append(topic.section(document))
        except WavewrightError as error:
            sections.append(Section(topic.name, topic.title, topic.sentence, skipped=str(error)))
    file = path if path.is_file() else next(file for file in sorted(path.rglob("*")) if file.is_file())
    return Report(f"Report about {path.name}", kind, tuple(sections), provenance(file), ("2 of 3 files were cut",))


def costs(names: list[str]) -> DataTable:
    count = len(names)
    frame = pl.DataFrame(
        {
            "name": names,
            "address": [0x1814 + 4 * at for at in range(count)],
            "time_ns": [1_000 + at for at in range(count)],
            "big": [(1 << 53) + 1 + at for at in range(count)],
            "stall_share": [1 / (at + 2) for at in range(count)],
            "peak": [None if at % 3 == 0 else float("nan") if at % 3 == 1 else float("inf") for at in range(count)],
            "rate": [at + 0.5 for at in range(count)],
            "is_hot": [at % 2 == 0 for at in range(count)],
            "lanes": [[at, at + 1] for at in range(count)],
        },
        schema_overrides={"address": pl.UInt64, "big": pl.UInt64},
    )
    return DataTable("costs", SPEC, frame)


def table_of(names: list[str], title: str = "names") -> Table:
    columns = (Column("name", is_name=True), Column("time", role="number"), Column("share", role="number"))
    return Table(title, columns, tuple((name, f"{at} ns", f"{at}.0 %") for at, name in enumerate(names)))


def hostile_report() -> Report:
    """Names that are formulas, code of templates, commands of terminals, very long, or of other scripts."""
    names = [FORMULA, "+1", "-1", "@SUM(A1)", "\tx", "0001", "_x0041_", NASTY, LONG, CODE_OF_TYPST, "核函数", "😀", ""]
    names.append("x" * 40_000)
    lines = tuple(CodeLine(at + 1, name, share=at / 20, cost=f"{at} cycles") for at, name in enumerate(names[:10]))
    section = Section(
        NASTY[:20] + "[a]:*?/\\'" + "n" * 40,
        NASTY,
        CODE_OF_TYPST,
        blocks=(
            Sentence(f"the verdict about {NASTY}", "headline"),
            *(Sentence(name) for name in [*names, "rank\udcff.db"] if name),
            Labelled(FORMULA, NASTY),
            Finding(
                1, f"{CODE_OF_TYPST} {NASTY}", "at most 12.0 %", (Labelled("why", LONG), Labelled("do", FORMULA)), "f1"
            ),
            table_of(names, NASTY),
            Code(NASTY, (*lines, CodeLine(None, ""), CodeLine(None, LONG, handle="i0x1814"))),
            Preformatted(f"{NASTY}\n{LONG}\n\n  end"),
            Picture("bars", SVG, NASTY),
        ),
        data=(costs(names), costs([*names, "another"])),
        definition=NASTY,
    )
    again = Section(section.name, section.title, "", blocks=(table_of(names),), skipped="")
    hostile = Provenance(
        NASTY, f"{FORMULA} {LONG}", (InputFile(NASTY, 1 << 62, "ab" * 32, is_whole=False),), {NASTY: NASTY}
    )
    skipped = Section("gaps", "Idle time", "when?", skipped=NASTY)
    return Report(NASTY, "trace", (section, again, skipped), hostile, (NASTY, LONG, CODE_OF_TYPST))


def wide_table(column_count: int, row_count: int = 3) -> Table:
    """A name and many columns of numbers."""
    columns = (Column("kernel", is_name=True), *(Column(f"number {at}", role="number") for at in range(column_count)))
    row = ("void ck_tile::kentry<BatchedGemmKernel>(float*)", *(f"{at * 1111.5:,.1f} us" for at in range(column_count)))
    return Table(f"{column_count} numbers", columns, (row,) * row_count)


def wide_report() -> Report:
    """Tables of every width, one of them over several pages."""
    tables = (*(wide_table(count) for count in (4, 9, 14, 18, 40)), wide_table(14, 90), wide_table(3, 150))
    sections = (
        Section("wide", "Wide tables", "Do they fit?", blocks=tables),
        Section(
            "words",
            "Words",
            "?",
            blocks=(Table("", (Column("a"), Column("b")), (("word " * 30, "more words " * 400),)),),
        ),
    )
    return Report("Wide tables", "run", sections, provenance())
