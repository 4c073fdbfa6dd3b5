"""Every question that the page may ask, by name."""

from __future__ import annotations

from functools import cache
from importlib import import_module

from wavewright.page.protocol.question import PageQuestion

_FOR_ALL_KINDS = ("glossary", "gallery", "declared_questions")
#: Modules with questions about one kind of documents. They import its analyses, which takes up to half a second, and
#: are imported when the first document of the kind is looked at.
_FOR_KIND = {
    "trace": "overview code listing answers curves summary waves source compare spans items edits",
    "run": "overview names answers busy curves diagnosis layers events flame path sql",
    "counters": "overview panels kernel_answers",
    "store": "trends",
}


@cache
def questions_about(kind: str) -> dict[str, PageQuestion]:
    """The questions about a kind of documents by name; kind "any" = only those about every kind."""
    names = (*_FOR_ALL_KINDS, *(f"{kind}.{name}" for name in _FOR_KIND.get(kind, "").split()))
    groups = [import_module(f"wavewright.page.{name}").QUESTIONS for name in names]
    return {question.name: question for group in groups for question in group}
