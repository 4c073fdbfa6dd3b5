"""The glossary (docs/reference/glossary.md) for the page's help."""

from __future__ import annotations

import re
from functools import cache
from importlib.resources import files
from typing import Any

from wavewright.model.document import Document
from wavewright.page.protocol.question import PageQuestion

_ROW = re.compile(r"\| (?P<word>.+?) \| (?P<meaning>.+?) \|$")  #: A row of a table; its heading has the word `word`.
_MARKS = re.compile(r"[*`]")  #: Marks of Markdown in words and meanings.


@cache
def words() -> tuple[dict[str, Any], ...]:
    """The sections of the glossary, each with its words and their meanings, as plain text.

    >>> [section["title"] for section in words()][:3]
    ['Inputs and outputs', 'Time', 'The GPU']
    >>> next(line for line in words()[1]["words"] if line["word"] == "gap")["meaning"]
    'an interval between two pieces of GPU work in which a GPU does nothing'
    """
    text = files("wavewright.mcp").joinpath("glossary.md").read_text(encoding="utf-8")
    sections: list[dict[str, Any]] = []
    for line in text.splitlines():
        if line.startswith("## "):
            sections.append({"title": line[3:], "words": []})
        elif sections and (row := _ROW.match(line)) and row["word"] != "word":
            sections[-1]["words"].append({name: _MARKS.sub("", value) for name, value in row.groupdict().items()})
    return tuple(sections)


def glossary(_: Document) -> tuple[dict[str, Any], ...]:
    """The same for every document."""
    return words()


QUESTIONS = (PageQuestion("glossary", glossary),)
