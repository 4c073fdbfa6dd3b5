"""The tools as `tools.toml` declares them, with the questions that name them; imports nothing heavy.

`wavewright://guide` explains the parameters and topics in full.
"""

from __future__ import annotations

import json
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from wavewright.questions.catalog import QUESTIONS
from wavewright.questions.kit.parameters import OneOf

_HERE = Path(__file__).parent
MOST_ROWS = 50  #: The largest `limit`.
USUAL_ROWS = 10  #: Rows of an answer without `limit`.


@dataclass(frozen=True)
class Parameter:
    """A parameter of a tool."""

    name: str
    kind: str = "string"  #: string or integer, as JSON Schema calls them.
    note: str = ""  #: What to write, if the name does not tell.
    choices: tuple[str, ...] = ()
    is_required: bool = False

    @property
    def schema(self) -> dict[str, Any]:
        """The parameter as JSON Schema."""
        shape: dict[str, Any] = {"type": self.kind}
        if self.choices:
            shape["enum"] = list(self.choices)
        return shape | ({"description": self.note} if self.note else {})


@dataclass(frozen=True)
class Tool:
    """A tool: its name, sentence and parameters, and the topics that answer it."""

    name: str
    sentence: str
    parameters: tuple[Parameter, ...]
    #: Kind of document -> questions of `wavewright.questions.catalog`, the default one first. A tool without any is
    #: answered by a function of `wavewright.mcp.tools`.
    topics: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    usual_rows: int = USUAL_ROWS  #: Where `limit` is not given.

    @property
    def input_schema(self) -> dict[str, Any]:
        """The parameters as JSON Schema."""
        schema: dict[str, Any] = {
            "type": "object",
            "properties": {parameter.name: parameter.schema for parameter in self.parameters},
        }
        if required := [parameter.name for parameter in self.parameters if parameter.is_required]:
            schema["required"] = required
        return schema

    @property
    def line(self) -> dict[str, Any]:
        """The tool as `tools/list` has it."""
        return {
            "name": self.name,
            "description": self.sentence,
            "inputSchema": self.input_schema,
            "outputSchema": OUTPUT_SCHEMA,
            "annotations": {"readOnlyHint": True},
        }

    @property
    def topic_names(self) -> tuple[str, ...]:
        """All topics, whatever the kind of document, each once."""
        return tuple(dict.fromkeys(name for names in self.topics.values() for name in names))


#: A part of `ANSWER_SCHEMA`, which would cost each client 2,000 tokens; every tool repeats it.
OUTPUT_SCHEMA: dict[str, Any] = {"type": "object", "required": ["headline", "next"]}

#: Every answer in full: resource `wavewright://schema/answer`.
ANSWER_SCHEMA: dict[str, Any] = json.loads((_HERE / "answer_schema.json").read_text(encoding="utf-8"))


def _answering(tool: str) -> dict[str, tuple[str, ...]]:
    """Kind of document -> questions that a tool answers, in their order, but the one of its own name first."""
    topics: dict[str, tuple[str, ...]] = {}
    for kind, questions in QUESTIONS.items():
        if names := [question.name for question in questions.values() if tool in question.tools]:
            topics[kind] = tuple(sorted(names, key=lambda name: name != tool))
    return topics


def _parameter(topics: Mapping[str, tuple[str, ...]], name: str, **fields: Any) -> Parameter:
    """A declared parameter, with the choices of a question's parameter if it declares none."""
    parsers = [QUESTIONS[kind][topic].parameters.get(name) for kind, names in topics.items() for topic in names]
    choices = [parser.choices for parser in parsers if isinstance(parser, OneOf)]
    return Parameter(name, **fields | {"choices": tuple(fields.get("choices", choices[0] if choices else ()))})


def _tool(
    name: str,
    sentence: str,
    parameters: Sequence[dict[str, Any]] = (),
    *,
    answers: bool = False,
    pages: bool = False,
    usual_rows: int = USUAL_ROWS,
) -> Tool:
    """A tool of `tools.toml`, which explains `answers` and `pages`; of several questions, `about` chooses one."""
    topics = _answering(name) if answers else {}
    all_parameters = [_parameter(topics, **parameter) for parameter in parameters]
    if answers or pages:
        all_parameters += [Parameter("limit", "integer"), Parameter("cursor")]
    if answers:
        choices = tuple(dict.fromkeys(topic for names in topics.values() for topic in names))
        about = [Parameter("about", choices=choices)] if len(choices) > 1 else []
        capture = Parameter("capture", note="handle or path" if name == "diagnose" else "", is_required=True)
        all_parameters = [capture, *about, *all_parameters]
    return Tool(name, sentence, tuple(all_parameters), topics, usual_rows)


#: The most useful first.
TOOLS = tuple(_tool(**entry) for entry in tomllib.loads((_HERE / "tools.toml").read_text(encoding="utf-8"))["tool"])
#: By name.
BY_NAME = {tool.name: tool for tool in TOOLS}
