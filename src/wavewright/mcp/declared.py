"""The tools as data: name, one sentence, flat parameters, and which topics answer. Nothing heavy is imported here.

A client puts this list into the context of its model with every turn, so every word of it has a price: at most 1,500
tokens for all. What a parameter means in full, and what each topic answers, is in `wavewright://guide`.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from wavewright.questions.catalog import QUESTIONS
from wavewright.questions.trace.asking import UNITS

if TYPE_CHECKING:
    from collections.abc import Mapping

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

        Examples
        --------
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


#: What every answer has at least. `ANSWER_SCHEMA` says all of it, and would cost the context 2,000 tokens more.
OUTPUT_SCHEMA: dict[str, Any] = {"type": "object", "required": ["headline", "tables", "next"]}

_TEXT = {"type": "string"}
_COUNT = {"type": "integer", "minimum": 0}
_CELL = {"type": ["string", "number", "boolean", "null"]}
_TABLE = {
    "type": "object",
    "properties": {
        "columns": {"type": "array", "items": _TEXT},
        "rows": {"type": "array", "items": {"type": "array", "items": _CELL}},
        "total": _COUNT,
    },
    "required": ["columns", "rows", "total"],
    "additionalProperties": False,
}
_OFFER = {
    "type": "object",
    "properties": {"tool": _TEXT, "arguments": {"type": "object", "additionalProperties": _CELL}, "reason": _TEXT},
    "required": ["tool", "arguments", "reason"],
    "additionalProperties": False,
}
#: Every answer in full: resource `wavewright://schema/answer`.
ANSWER_SCHEMA: dict[str, Any] = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "title": "Answer of a tool of wavewright",
    "type": "object",
    "properties": {
        "capture": {"type": ["string", "null"], "description": "Handle of the capture; null = it is about none."},
        "headline": {"type": "string", "description": "The answer in one sentence."},
        "tables": {"type": "object", "additionalProperties": _TABLE},
        "shown": {**_COUNT, "description": "Rows of the main table in this answer."},
        "total": {**_COUNT, "description": "Rows of the whole main table."},
        "next_cursor": {"type": ["string", "null"], "description": "Give it as `cursor` for the rows that follow."},
        "losses": {"type": "array", "items": _TEXT, "description": "What could not be read, damage first."},
        "next": {"type": "array", "items": _OFFER, "description": "Calls that are worth sending next, as they are."},
        "links": {"type": "array", "items": _TEXT, "description": "Commands that show a person the same place."},
        "notes": {"type": "array", "items": _TEXT, "description": "What was cut, and how to get it."},
    },
    "required": [
        "capture", "headline", "tables", "shown", "total", "next_cursor", "losses", "next", "links", "notes",
    ],
    "additionalProperties": False,
}  # fmt: skip

_CAPTURE = Parameter("capture", is_required=True)
_ROWS = (Parameter("limit", "integer"), Parameter("cursor"))
_KERNEL = Parameter("kernel")
_AT = Parameter("at", note="i0x1814")
_PART = (_KERNEL, Parameter("rank"), Parameter("time"))  #: What a question about a run can be limited to.


def _answering(tool: str) -> dict[str, tuple[str, ...]]:
    """Kind of document -> questions that a tool answers: the one called like it first, else in their order."""
    names = {kind: [each.name for each in of.values() if tool in each.tools] for kind, of in QUESTIONS.items()}
    return {kind: tuple(sorted(each, key=lambda name: name != tool)) for kind, each in names.items() if each}


def _answers(name: str, sentence: str, *parameters: Parameter, usual_rows: int = USUAL_ROWS) -> Tool:
    """A tool that answers declared questions about a capture; where there are several, `about` chooses one."""
    topics = _answering(name)
    choices = tuple(dict.fromkeys(topic for names in topics.values() for topic in names))
    about = (Parameter("about", choices=choices),) if len(choices) > 1 else ()
    capture = Parameter("capture", note="handle or path" if name == "diagnose" else "", is_required=True)
    return Tool(name, sentence, (capture, *about, *parameters, *_ROWS), topics, usual_rows)


#: In the order in which they are useful.
TOOLS: tuple[Tool, ...] = (
    Tool(
        "open_capture",
        "Start here: what a capture is and how complete. Gives a handle (c1) and next calls.",
        (
            Parameter("path", note="below a root", is_required=True),
            Parameter("kind", choices=("trace", "run", "counters")),
            Parameter("dispatch", note="of a thread trace"),
            Parameter("target", note="GPU of counters"),
        ),
    ),
    Tool("list_captures", "Captures below a root, and open ones.", (Parameter("under"), *_ROWS)),
    _answers(
        "diagnose", "What to change first: causes with evidence, place and upper bound of the gain.", usual_rows=3
    ),
    _answers("summary", "Where the time went.", *_PART),
    _answers("timeline", "A run over time.", *_PART),
    _answers(
        "hotspots", "What costs most: instructions, lines, loops, kernels.", Parameter("by", choices=UNITS), _KERNEL
    ),
    _answers("explain_wait", "What an instruction waits for, and how much earlier to issue that.", _AT),
    _answers(
        "source",
        "Source or code around a place, with the cost of each line.",
        _AT,
        Parameter("file"),
        Parameter("line", "integer"),
        Parameter("lines", "integer"),
        usual_rows=20,
    ),
    _answers("counters", "Which unit of the GPU is at its limit.", Parameter("panel", "integer")),
    Tool(
        "compare",
        "What changed between two captures of a kind, beyond noise.",
        (
            Parameter("capture", note="before", is_required=True),
            Parameter("other", note="after", is_required=True),
            Parameter("step", note="marker of a run's step"),
            *_ROWS,
        ),
    ),
    Tool(
        "query",
        "One SELECT over the views of a run (schema lists them).",
        (_CAPTURE, Parameter("sql", is_required=True), *_ROWS),
    ),
    Tool("schema", "Views for query, or the columns of one view.", (Parameter("view"), Parameter("capture"), *_ROWS)),
    Tool(
        "plan_capture",
        "The rocprofv3 command for what is missing; nothing is run.",
        (
            Parameter("goal", choices=("trace", "run", "counters"), is_required=True),
            Parameter("target", note="gfx942, MI300X"),
            Parameter("kernel", note="part of its name"),
            Parameter("command", note="program and arguments"),
        ),
    ),
)

#: By name.
BY_NAME = {tool.name: tool for tool in TOOLS}
