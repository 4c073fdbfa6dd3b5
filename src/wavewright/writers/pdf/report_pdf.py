"""A report as a PDF: typeset by typst from a fixed template, with the report as data that cannot become markup.

Fonts are those of this package and of typst, so that the pages are the same on every machine; only for characters that
they lack, fonts of the machine are used, and named at the end. No links, attachments or scripts.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from dataclasses import replace
from importlib.resources import as_file, files
from typing import Any

from wavewright.base.packages import require
from wavewright.base.shown import printable
from wavewright.base.words import counted
from wavewright.errors import OutputError
from wavewright.model.blocks import Finding, Sentence, Table
from wavewright.model.report import InputFile, Report, Section
from wavewright.writers.kit.outline import DEFINITIONS, PROVENANCE, outline
from wavewright.writers.pdf.fonts import DOTS, MONO, SANS, fallback_fonts, sans_width
from wavewright.writers.pdf.page_blocks import page_blocks
from wavewright.writers.pdf.page_text import Names, chunks, cut_to
from wavewright.writers.xlsx.sheet_about import headline_of

_KINDS = {"trace": "Thread trace", "run": "Run", "counters": "Hardware counters", "comparison": "Comparison"}
_CONTENTS_FROM = 6  #: Sections from which on there is a list of contents, and a page of its own for it.
_MAX_FACTS = 8  #: Recorded facts on the first page.
_FIRST_LOOK, _MEANING = "glance", "meaning"  #: Section that starts with the headline; heading of what columns mean.
_TITLE_WIDTH, _TITLE_SIZES = 480.0, (20, 17, 14)  #: Points of a line; sizes of type, the first that fits.
_SHORT_TITLE = 60.0  #: Width of the title at the top of pages, in sizes of its type.
_HEADING = 33.0  #: A word of a heading, in sizes of its type.
_MAX_FINDINGS = 10  #: Findings on the first page.
_NAME_LETTERS = 112  #: Characters per line of the appendix.


def check_pdf() -> None:
    """Make sure that PDFs can be written. Raises `MissingToolError` when the package that writes them is missing."""
    require("typst", "pdf")


def render(report: Report) -> bytes:
    """The document; the same report gives the same bytes.

    Raises `MissingToolError` when the package that typesets is missing; `OutputError` when it refuses.
    """
    return bytes(typeset(report, "pdf"))


def typeset(report: Report, form: Any, **options: Any) -> Any:
    """The document as bytes; as "png", pages as a list."""
    check_pdf()
    import typst

    content, pictures = page_content(report)
    with fallback_fonts(json.dumps(content, ensure_ascii=False) + "".join(map(bytes.decode, pictures))) as fallback:
        if fallback.missing:  # escapes are wider than what they stand for
            content, pictures = page_content(fallback.escaped(report))
        fonts = [SANS, DOTS, *fallback.families]
        content = fallback.escaped({**content, "fonts": fonts, "mono_fonts": [MONO, *fonts], "spare": fallback.remark})
        inputs = {f"picture{number}.svg": picture for number, picture in enumerate(pictures, 1)}
        inputs["main.typ"] = (files("wavewright.writers.pdf") / "template.typ").read_bytes()
        inputs["report.json"] = json.dumps(content, ensure_ascii=False).encode("utf-8", "replace")
        with as_file(files("wavewright.writers.svg") / "fonts" / "DejaVuSans.ttf") as font:
            paths = [str(font.parent), *fallback.folders]
            try:
                return typst.compile(inputs, format=form, font_paths=paths, ignore_system_fonts=True, **options)
            except typst.TypstError as error:
                advice = "this is a fault of wavewright: please report it; -o report.html is the same report"
                raise OutputError(f"cannot typeset the report: {str(error)[:200]}", advice=advice) from error


def page_content(report: Report) -> tuple[dict[str, Any], list[bytes]]:
    """The values that the template shows, and the pictures."""
    names, pictures = Names(), list[bytes]()
    provenance = report.provenance
    headline = headline_of(report)
    sections = [_page(_for_paper(section, headline), names, pictures) for _, section in outline(report)]
    filters = {f"filter {name}": text for name, text in provenance.filters.items() if (name, text) != ("for", "full")}
    facts = {**dict(list(provenance.facts.items())[:_MAX_FACTS]), **filters}
    input_hash = fingerprint(provenance.inputs)[:16]
    facts["inputs"] = counted(len(provenance.inputs), "files") + (f", SHA-256 `{input_hash}`…" if input_hash else "")
    title = printable(report.title)
    short_title = title if sans_width(title) <= _SHORT_TITLE else f"{cut_to(title, _SHORT_TITLE - 1, sans_width)}…"
    size = next((size for size in _TITLE_SIZES if sans_width(title) * size <= _TITLE_WIDTH), _TITLE_SIZES[-1])
    findings = [block for section in report.sections for block in section.blocks if isinstance(block, Finding)]
    content: dict[str, Any] = {
        "title": names.prose(title, _TITLE_WIDTH / _TITLE_SIZES[-1]), "title_size": size, "plain_title": title[:200],
        "short_title": short_title,
        "kind": _KINDS.get(report.kind, printable(report.kind)), "headline": names.prose(headline),
        "facts": [(printable(name)[:40], names.prose(value)) for name, value in facts.items()],
        "losses": [names.prose(text) for text in report.losses[:3]], "loss_count": len(report.losses),
        "version": printable(provenance.version)[:40], "fingerprint": input_hash,
        "findings": [
            (str(finding.number), names.prose(finding.verdict, _HEADING), names.prose(finding.gain))
            for finding in findings[:_MAX_FINDINGS]
        ], "finding_count": len(findings),
        "sections": sections, "has_contents": len(sections) >= _CONTENTS_FROM,
    }  # fmt: skip
    content["names"] = [(number, "\n".join(chunks(name, _NAME_LETTERS))) for number, name in names.appendix()]
    return content, pictures


def fingerprint(inputs: Iterable[InputFile]) -> str:
    """The hash of the input; of several, the hash of their hashes, in hexadecimal.

    >>> from wavewright.model.report import InputFile
    >>> fingerprint([InputFile("a", 1, "12ab")]), fingerprint([])
    ('12ab', '')
    """
    hashes = [file.sha256 for file in inputs]
    if len(hashes) < 2:
        return printable("".join(hashes))
    return hashlib.sha256("\n".join(hashes).encode("utf-8", "replace")).hexdigest()


def _for_paper(section: Section, headline: str) -> Section:
    """The section without what the first page says, and with a note in place of the meanings of columns of data."""
    blocks = tuple(
        Sentence(
            f"{block.heading}: {counted(len(block.rows), 'columns')}; workbooks say in headers what each means", "note"
        )
        if section.name == DEFINITIONS and isinstance(block, Table) and block.columns[-1].heading == _MEANING
        else block
        for block in section.blocks
        if not (section.name == _FIRST_LOOK and block == Sentence(headline, "headline"))
    )
    return replace(section, blocks=blocks)


def _page(section: Section, names: Names, pictures: list[bytes]) -> dict[str, Any]:
    title = printable(section.title)
    return {
        "title": names.prose(title, _HEADING), "plain_title": title[:200], "question": names.prose(section.question),
        "skipped": names.prose(section.skipped), "blocks": _grouped(page_blocks(section, names, pictures)),
        "is_provenance": section.name == PROVENANCE,
    }  # fmt: skip


def _grouped(blocks: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    """The blocks, with tables and pictures that follow each other and need a page across in one block for that page."""
    grouped: list[dict[str, Any]] = []
    for block in blocks:
        if not block.get("is_across"):
            grouped.append(block)
        elif grouped and grouped[-1]["kind"] == "across":
            grouped[-1]["blocks"].append(block)
        else:
            grouped.append({"kind": "across", "blocks": [block]})
    return grouped
