"""Every question that the page may ask, by name."""

from __future__ import annotations

from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from wavewright.page.protocol.question import PageQuestion

    QUESTIONS: dict[str, PageQuestion]  #: Of all kinds.

_FOR_ALL_KINDS = ("overview", "glossary", "gallery", "curves", "layers", "area", "declared_questions")
#: Modules with questions about one kind of documents. The analyses of a kind take up to half a second to import, so
#: those of the others wait until a document of theirs is looked at.
_FOR_KIND = {
    "trace": (
        *("code", "listing", "lanes", "loops", "part_costs", "curves", "heat_map", "histogram", "summary", "waves"),
        *("utilization", "source", "flame", "answers", "compare", "search", "spans", "items"),
    ),
    "run": ("names", "answers", "busy", "compare", "diagnosis", "edges", "events", "flame", "path", "sql"),
    "counters": ("panels", "dispatches", "diagnosis", "compare", "values", "roofline", "memory_chart"),
}


@cache
def questions_about(kind: str) -> dict[str, PageQuestion]:
    """The questions of the modules for a kind of documents, and of those for all kinds; "any": only of the latter."""
    names = (*_FOR_ALL_KINDS, *(f"{kind}.{name}" for name in _FOR_KIND.get(kind, ())))
    groups = [import_module(f"wavewright.page.{name}").QUESTIONS for name in names]
    return {question.name: question for group in groups for question in group}


def __getattr__(name: str) -> dict[str, PageQuestion]:
    if name != "QUESTIONS":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return {name: question for kind in _FOR_KIND for name, question in questions_about(kind).items()}
