"""The tools as `tools.toml` declares them, with the questions that name them. Nothing heavy is imported here.

What a parameter means in full, and what each topic answers, is in `wavewright://guide`.
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
MOST_ROWS = 50  #: That `limit` may ask for.
USUAL_ROWS = 10


@dataclass(frozen=True)
class Parameter:
    """A parameter of a tool."""

    name: str
    kind: str = "string"  #: string or integer, as JSON Schema calls them.
    note: str = ""  #: What to write, where the name does not say it.
    choices: tuple[str, ...] = ()
    is_required: bool = False

    @property
    def schema(self) -> dict[str, Any]:
        """The parameter as JSON Schema.

        >>> Parameter("by", choices=("line", "loop")).schema
        {'type': 'string', 'enum': ['line', 'loop']}
        """
        shape: dict[str, Any] = {"type": self.kind}
        if self.choices:
            shape["enum"] = list(self.choices)
        return shape | ({"description": self.note} if self.note else {})


@dataclass(frozen=True)
class Tool:
    """A tool: what it answers, what it takes, and which topics answer."""

    name: str
    sentence: str
    parameters: tuple[Parameter, ...]
    #: Kind of document -> questions of `wavewright.questions.catalog` that it can answer about, the usual one first;
    #: a tool without any is answered by a function of its own (`wavewright.mcp.tools`).
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


#: A part of what answers have: `ANSWER_SCHEMA` costs 2,000 tokens more, one more name here as much as ten questions.
OUTPUT_SCHEMA: dict[str, Any] = {"type": "object", "required": ["headline", "next"]}

#: Every answer in full: resource `wavewright://schema/answer`.
ANSWER_SCHEMA: dict[str, Any] = json.loads((_HERE / "answer_schema.json").read_text(encoding="utf-8"))


def _answering(tool: str) -> dict[str, tuple[str, ...]]:
    """Kind of document -> questions that a tool answers: the one called like it first, else in their order."""
    names = {kind: [each.name for each in of.values() if tool in each.tools] for kind, of in QUESTIONS.items()}
    return {kind: tuple(sorted(each, key=lambda name: name != tool)) for kind, each in names.items() if each}


def _parameter(topics: Mapping[str, tuple[str, ...]], name: str, **fields: Any) -> Parameter:
    """A parameter as it is declared, with the choices that a question has."""
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
    """A tool as it is declared; of one that answers several questions about a capture, `about` chooses one."""
    topics = _answering(name) if answers else {}
    of_tool = tuple(_parameter(topics, **each) for each in parameters)
    rows = (Parameter("limit", "integer"), Parameter("cursor")) if answers or pages else ()
    if not answers:
        return Tool(name, sentence, (*of_tool, *rows), usual_rows=usual_rows)
    choices = tuple(dict.fromkeys(topic for names in topics.values() for topic in names))
    about = (Parameter("about", choices=choices),) if len(choices) > 1 else ()
    capture = Parameter("capture", note="handle or path" if name == "diagnose" else "", is_required=True)
    return Tool(name, sentence, (capture, *about, *of_tool, *rows), topics, usual_rows)


#: In the order in which they are useful.
TOOLS = tuple(_tool(**each) for each in tomllib.loads((_HERE / "tools.toml").read_text(encoding="utf-8"))["tool"])
#: By name.
BY_NAME = {tool.name: tool for tool in TOOLS}
