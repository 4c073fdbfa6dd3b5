"""Displays for notebooks, as plain text, Markdown and HTML without script, all made of the blocks of reports."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Any

from wavescope.errors import WavescopeError
from wavescope.model.answer import Answer
from wavescope.model.report import Picture, Report, Sentence, Table
from wavescope.notebook.answer_words import answer_blocks, title_of
from wavescope.notebook.documents import document_of, label_of
from wavescope.report.kit.html import block_styles, html_of
from wavescope.report.kit.markdown import markdown_of
from wavescope.report.kit.tables import printable
from wavescope.report.kit.topic import Wording
from wavescope.report.plots import PLOTS
from wavescope.report.topics import TOPICS

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from wavescope.model.report import Block
    from wavescope.notebook.documents import Shown
    from wavescope.page.protocol.document import Document

#: What is shown of a document, by kind: the verdicts of these topics, and their first tables unless only the verdict is
#: wanted.
_TOPICS = {
    "trace": {"about": "verdict", "diagnose": "verdict", "hotspots": "table"},
    "run": {"about": "verdict", "budget": "table", "summary": "verdict"},
    "counters": {"about": "verdict", "diagnose": "verdict", "speed": "table", "kernels": "table"},
}
_WORDING = Wording(limit=5)
_ANSWER_WORDING = Wording(limit=10)
_MOST_SENTENCES = 2  #: After the verdict of a topic.


def bundle_of(shown: Any) -> dict[str, str]:
    """What a notebook shows of a trace, a run, counters, an answer or a report, by media type."""
    try:
        headline, blocks = _display(shown)
    except WavescopeError as error:  # a display says what is wrong; the cell goes on
        headline, blocks = f"{type(shown).__name__}: {error}", (Sentence(str(error), "loss"),)
    return bundle(headline, blocks)


def bundle(headline: str, blocks: Sequence[Block]) -> dict[str, str]:
    """A headline and blocks, by media type."""
    return {"text/plain": plain_of(headline, blocks), "text/markdown": markdown_of(blocks), "text/html": framed(blocks)}


def framed(blocks: Iterable[Block]) -> str:
    """Blocks as HTML with their styles, which reach nothing else in the notebook."""
    return f'<div class="wavescope"><style>{block_styles()}</style>\n{html_of(blocks)}\n</div>'


def plain_of(headline: str, blocks: Iterable[Block]) -> str:
    """The headline and the verdicts, a line each."""
    verdicts = [block.text for block in blocks if isinstance(block, Sentence) and block.style == "headline"]
    lines = dict.fromkeys([headline, *verdicts])
    return "\n".join(printable(line) for line in lines if line)


def _display(shown: Any) -> tuple[str, tuple[Block, ...]]:
    if isinstance(shown, Answer):
        return title_of(shown), answer_blocks(shown, _ANSWER_WORDING)
    if isinstance(shown, Report):
        return shown.title, tuple(_report_blocks(shown))
    return document_display(shown)


def document_display(opened: Shown) -> tuple[str, tuple[Block, ...]]:
    """The headline of a trace, a run or counters, and what is shown of it: verdicts, first tables, a picture."""
    document = document_of(opened)
    blocks: list[Block] = []
    pictures: list[str] = []
    for name, wanted in _TOPICS[document.kind].items():
        topic = TOPICS[document.kind].get(name)
        if topic is None:
            continue
        try:
            section = topic.section(document, wording=_WORDING)
        except WavescopeError as error:
            blocks.append(Sentence(f"{topic.title}: {error}", "note"))
            continue
        blocks += _first(section.blocks, has_table=wanted == "table")
        pictures += topic.pictures
    return f"{type(opened).__name__} {label_of(opened)}", (*blocks, *_picture(document, pictures))


def _first(blocks: Iterable[Block], *, has_table: bool) -> list[Block]:
    """The first sentences, verdict first, and the first table if it is wanted."""
    chosen: list[Block] = []
    for block in blocks:
        if isinstance(block, Table):
            return [*chosen, block] if has_table else chosen
        if isinstance(block, Sentence) and len(chosen) <= _MOST_SENTENCES:
            chosen.append(block)
    return chosen


def _picture(document: Document, names: Iterable[str]) -> list[Block]:
    """The first of these pictures that the document can have."""
    for name in names:
        plot = PLOTS[document.kind].get(name)
        with suppress(WavescopeError):
            if plot is not None:
                return [plot.draw(document)]
    return []


def _report_blocks(report: Report) -> Iterable[Block]:
    yield Sentence(report.title, "headline")
    for section in report.sections:
        if section.skipped:
            yield Sentence(f"{section.title}: {section.skipped}", "note")
            continue
        yield Sentence(section.title, "headline")
        yield from (block for block in section.blocks if not isinstance(block, Picture) or block.svg)
    for loss in report.losses:
        yield Sentence(loss, "loss")
