"""Every question that the page may ask, by name."""

from __future__ import annotations

from functools import cache
from importlib import import_module

from wavewright.page.protocol.question import PageQuestion

_FOR_ALL_KINDS = ("glossary", "gallery", "declared_questions")
#: Modules with questions about one kind of documents. The analyses of a kind take up to half a second to import, so
#: those of the others wait until a document of theirs is looked at.
_FOR_KIND = {
    "trace": (
        "overview",
        "code",
        "listing",
        "answers",
        "curves",
        "summary",
        "waves",
        "source",
        "compare",
        "spans",
        "items",
        "edits",
    ),
    "run": ("overview", "names", "answers", "busy", "curves", "diagnosis", "layers", "events", "flame", "path", "sql"),
    "counters": ("overview", "panels", "kernel_answers"),
    "store": ("series", "trends"),
}


@cache
def questions_about(kind: str) -> dict[str, PageQuestion]:
    """The questions of the modules for a kind of documents, and of those for all kinds; "any": only of the latter."""
    names = (*_FOR_ALL_KINDS, *(f"{kind}.{name}" for name in _FOR_KIND.get(kind, ())))
    groups = [import_module(f"wavewright.page.{name}").QUESTIONS for name in names]
    return {question.name: question for group in groups for question in group}
