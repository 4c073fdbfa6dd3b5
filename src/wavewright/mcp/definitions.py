"""How numbers are made: definitions of topics, from the classes of their answers; and words, from the glossary."""

from __future__ import annotations

import re
from dataclasses import fields, is_dataclass
from functools import cache
from importlib import import_module
from importlib.resources import files
from pkgutil import walk_packages
from typing import TYPE_CHECKING, Any

from wavewright.model.answer import Answer
from wavewright.readers.files.kinds import DOCUMENTS
from wavewright.report.topics import TOPICS

if TYPE_CHECKING:
    from collections.abc import Mapping

_NAME = re.compile(r"\w+")
GLOSSARY = "glossary.md"  #: Written by tools/make_mcp_docs.py from docs/reference/glossary.md.


def glossary() -> str:
    """The words of wavewright."""
    return files("wavewright.mcp").joinpath(GLOSSARY).read_text(encoding="utf-8")


def definition(topic: str) -> str:
    """How the numbers of a topic are made, for each kind of document that it is about, as Markdown."""
    lines = [f"# {topic}"]
    for kind, topics in TOPICS.items():
        if topic not in topics:
            continue
        lines += ["", f"## Of {DOCUMENTS[kind]}", "", topics[topic].question]
        for name in topics[topic].answer_types:
            lines += _lines_of(_answers(kind).get(name), _answers(kind))
    return "\n".join([*lines, ""])


def _lines_of(answer: Any, others: Mapping[str, Any]) -> list[str]:
    """Definition and columns of a class of answers, or of those that it is put together of."""
    if answer is None:
        return []
    if is_dataclass(answer) and not getattr(answer, "tables", {}):
        names = [name for each in fields(answer) for name in _NAME.findall(str(each.type))]
        return [line for name in names if name in others for line in _lines_of(others[name], others)]
    lines = ["", answer.definition] if getattr(answer, "definition", "") else []
    for name, table in getattr(answer, "tables", {}).items():
        lines += ["", f"### {name}: {table.row}", "", "| column | unit | meaning |", "|---|---|---|"]
        lines += [f"| {column.name} | {column.unit} | {column.meaning} |" for column in table.columns]
    return lines


@cache
def _answers(kind: str) -> dict[str, type[Answer]]:
    """The classes of answers about a kind of document, by name."""
    packages = [import_module(f"wavewright.{stage}.{kind}") for stage in ("analysis", "report")]
    names = [each.name for package in packages for each in walk_packages(package.__path__, f"{package.__name__}.")]
    modules = map(import_module, names)
    return {
        name: value
        for module in modules
        for name, value in vars(module).items()
        if isinstance(value, type) and issubclass(value, Answer) and value is not Answer
    }
