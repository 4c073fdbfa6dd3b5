"""Definitions of numbers: those of topics, from the classes of their answers; and words, from the glossary."""

from __future__ import annotations

from importlib.resources import files
from typing import TYPE_CHECKING

from wavewright.model.document import DOCUMENTS
from wavewright.questions.catalog import QUESTIONS

if TYPE_CHECKING:
    from wavewright.model.answer import Answer

GLOSSARY = "glossary.md"  #: Written by tools/make_mcp_docs.py from docs/reference/glossary.md.


def glossary() -> str:
    """The words of wavewright."""
    return files("wavewright.mcp").joinpath(GLOSSARY).read_text(encoding="utf-8")


def definition(topic: str) -> str:
    """Definitions of the numbers of a topic, for each kind of document that it is about, as Markdown."""
    lines = [f"# {topic}"]
    for kind, topics in QUESTIONS.items():
        if topic not in topics:
            continue
        lines += ["", f"## Of {DOCUMENTS[kind]}", "", topics[topic].sentence]
        analysis = topics[topic].analysis()
        for answer in (*analysis.answers, *analysis.parts):
            lines += _lines_of(answer)
    return "\n".join([*lines, ""])


def _lines_of(answer: type[Answer]) -> list[str]:
    """Definition and columns of a class of answers."""
    lines = ["", answer.definition] if answer.definition else []
    for name, table in answer.tables.items():
        lines += ["", f"### {name}: {table.row}", "", "| column | unit | meaning |", "|---|---|---|"]
        lines += [f"| {column.name} | {column.unit} | {column.meaning} |" for column in table.columns]
    return lines
