"""A report as one HTML page: no script, nothing to load, light and dark, on paper too."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from importlib.resources import files

from wavewright.base.words import counted
from wavewright.model.blocks import Column, Finding, Table
from wavewright.model.report import Report, Section
from wavewright.writers.html.blocks import block_styles, html_of, prose_html
from wavewright.writers.kit.full_names import appendix_rows, full_names
from wavewright.writers.kit.outline import LOSSES, commands_of, outline
from wavewright.writers.svg.markup import escaped

#: The page may style itself and show pictures that are inside it; it can load, send and run nothing.
POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'"
_KINDS = {"trace": "thread trace", "run": "run", "counters": "hardware counters", "comparison": "comparison"}
_GLANCE = "glance"  #: The section that says what was lost at the start of a report.
_FOOTER = "Made by wavewright {}. Names of kernels, files and calls are as they were recorded."
_UNCUT_LENGTH = 1 << 20  #: Characters, more than any name has: a page cuts no names that its tables do not cut.
_LOSSES_IN_HEADER = 3  #: The others are in their own section, which a link leads to.
_FACTS_IN_HEADER, _FACT_LENGTH = 8, 100  #: Facts in the header, and characters of each; the provenance has all.


@dataclass(frozen=True)
class Files:
    """Names of files beside the page; `pictures` and `tables` have Python's id() of the block or table as keys."""

    viewer: str = ""
    whole: str = ""  #: The report as JSON.
    pictures: dict[int, str] = field(default_factory=dict)
    tables: dict[int, str] = field(default_factory=dict)


def render(report: Report, beside: Files | None = None) -> bytes:
    """The page; with links to files beside it where there are any."""
    beside = beside or Files()
    sections = _with_names(outline(report))
    title = escaped(report.title or _KINDS.get(report.kind, report.kind))
    parts = [
        "<!DOCTYPE html>",
        '<html lang="en">',
        "<head>",
        '<meta charset="utf-8">',
        f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">',
        '<meta name="viewport" content="width=device-width, initial-scale=1">',
        '<meta name="color-scheme" content="light dark">',
        '<meta name="referrer" content="no-referrer">',
        f'<meta name="generator" content="wavewright {escaped(report.provenance.version)}">',
        f"<title>{title}</title>",
        f"<style>\n{block_styles()}\n{(files('wavewright.writers.html') / 'page.css').read_text('utf-8')}</style>",
        "</head>",
        '<body class="wavewright">',
        '<a class="skip" href="#report.main">Skip to the content</a>',
        *_header(report, title, sections, beside),
        '<div class="columns">',
        *_contents(sections),
        '<main id="report.main">',
        *(part for anchor, section in sections for part in _section(anchor, section, report, beside)),
        "</main>",
        "</div>",
        f"<footer><p>{_FOOTER.format(escaped(report.provenance.version))}</p></footer>",
        "</body>",
        "</html>",
        "",
    ]
    return "\n".join(parts).encode("utf-8", "replace")


def _with_names(sections: list[tuple[str, Section]]) -> list[tuple[str, Section]]:
    """The sections; before the last one, which `outline` makes the provenance, one about the names that tables cut."""
    rows = appendix_rows((section for _, section in sections), _UNCUT_LENGTH)
    if not rows:
        return sections
    columns = (Column("in tables", is_name=True), Column("in full", is_name=True))
    names = Section(
        "full-names", "Full names", "What are the names that tables cut?", (Table("", columns, tuple(rows)),)
    )
    return [*sections[:-1], ("report.names", names), sections[-1]]


def _header(report: Report, title: str, sections: Sequence[tuple[str, Section]], beside: Files) -> Iterator[str]:
    yield "<header>"
    yield f'<p class="kind">wavewright report · {escaped(_KINDS.get(report.kind, report.kind))}</p>'
    yield f"<h1>{title}</h1>"
    facts = list(report.provenance.facts.items())[:_FACTS_IN_HEADER]
    if facts:
        items = "".join(f"<div><dt>{_brief(name)}</dt><dd>{_brief(value)}</dd></div>" for name, value in facts)
        yield f'<dl class="facts">{items}</dl>'
    links = [(beside.viewer, "Open in the viewer"), (beside.whole, "The report as JSON")]
    if any(name for name, _ in links):
        shown = " ".join(f'<a class="button" href="{escaped(name)}">{label}</a>' for name, label in links if name)
        yield f'<p class="links">{shown}</p>'
    if report.losses and all(section.name != _GLANCE for _, section in sections):
        yield '<aside class="losses" aria-label="What was lost">'
        yield f"<p><b>{counted(len(report.losses), 'losses')}</b></p><ul>"
        yield from (f"<li>{escaped(text)}</li>" for text in report.losses[:_LOSSES_IN_HEADER])
        further_count = len(report.losses) - _LOSSES_IN_HEADER
        anchor = next((name for name, section in sections if section.name == LOSSES), "")
        if further_count > 0 and anchor:
            yield f'<li><a href="#{anchor}">and {further_count:,} more</a></li>'
        yield "</ul></aside>"
    yield "</header>"


def _brief(text: str) -> str:
    return escaped(text if len(text) <= _FACT_LENGTH else text[: _FACT_LENGTH - 1] + "…")


def _contents(sections: Sequence[tuple[str, Section]]) -> Iterator[str]:
    yield '<nav aria-label="Contents"><p class="navtitle">Contents</p><ol>'
    for anchor, section in sections:
        count = sum(isinstance(block, Finding) for block in section.blocks)
        mark = f' <span class="count">{count}</span>' if count else ""
        kind = ' class="skipped"' if section.skipped else ""
        yield f'<li{kind}><a href="#{anchor}">{escaped(section.title)}</a>{mark}</li>'
    yield "</ol></nav>"


def _section(anchor: str, section: Section, report: Report, beside: Files) -> Iterator[str]:
    yield f'<section id="{anchor}" aria-labelledby="{anchor}.title">'
    link = f'<a class="anchor" href="#{anchor}" aria-label="Link to this section">#</a>'
    yield f'<h2 id="{anchor}.title">{escaped(section.title)} {link}</h2>'
    if section.question:
        yield f'<p class="question">{prose_html(section.question)}</p>'
    if section.skipped:
        yield f'<p class="note"><b class="label">not answered</b> {escaped(section.skipped)}</p>'
    yield html_of(section.blocks, anchor=anchor, full_names=full_names(section))
    names = [beside.pictures.get(id(block)) for block in section.blocks]
    names += [beside.tables.get(id(table)) for table in section.data]
    links = [f'<a href="{escaped(file)}">{escaped(file.rsplit("/", 1)[-1])}</a>' for file in names if file]
    if links:
        yield f'<p class="files"><b class="label">files</b> {" · ".join(links)}</p>'
    if section.next_questions:
        yield '<div class="next"><h3>Ask next</h3><ul>'
        for question, command in zip(section.next_questions, commands_of(section, report), strict=True):
            reason = f"<span>{prose_html(question.reason)}</span>" if question.reason else ""
            yield f"<li>{reason}<code>{escaped(command)}</code></li>"
        yield "</ul></div>"
    yield "</section>"
