"""The JSON Schema of reports: `tools/make_report_schema.py` publishes it."""

from __future__ import annotations

from typing import Any

from wavewright.model.report import REPORT_SCHEMA_VERSION

_DIALECT = "https://json-schema.org/draft/2020-12/schema"
_KINDS = ["trace", "run", "counters", "comparison"]


def report_schema() -> dict[str, Any]:
    """The schema of what `writers/json/report_json.py` writes: every property is required, and there are no others."""
    return {
        "$schema": _DIALECT,
        "$id": f"wavewright-report-{REPORT_SCHEMA_VERSION}",
        "title": "wavewright report",
        "description": "A report as `wavewright report PATHS -o report.json` writes it.",
        **_object(
            schema_version=_constant(REPORT_SCHEMA_VERSION, "Changes when a property changes its meaning or leaves."),
            title=_text("Heading of the report."),
            kind={"enum": _KINDS, "description": "What the report is about."},
            losses=_list(_text(), "What the inputs lack and what the report left out, in words, damage first."),
            sections=_list(_link("section"), "The answers, in the order of the report."),
            provenance=_link("provenance"),
        ),
        "$defs": {
            "section": _section(),
            "block": {"oneOf": [_link(name) for name in _BLOCKS], "description": "What people read."},
            **_BLOCKS,
            "data_table": _data_table(),
            "next_question": _object(
                topic=_text("A topic; a verb of the command line and a tool for agents are called like it."),
                parameters=_map("Parameter -> value, as text."),
                reason=_text("Why to ask it."),
            ),
            "provenance": _provenance(),
        },
    }


def _object(**properties: dict[str, Any]) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


def _text(description: str = "") -> dict[str, Any]:
    return {"type": "string", **({"description": description} if description else {})}


def _flag(description: str) -> dict[str, Any]:
    return {"type": "boolean", "description": description}


def _count(description: str) -> dict[str, Any]:
    return {"type": "integer", "minimum": 0, "description": description}


def _constant(value: Any, description: str = "") -> dict[str, Any]:
    return {"const": value, **({"description": description} if description else {})}


def _list(items: dict[str, Any], description: str = "") -> dict[str, Any]:
    return {"type": "array", "items": items, **({"description": description} if description else {})}


def _map(description: str) -> dict[str, Any]:
    return {"type": "object", "additionalProperties": {"type": "string"}, "description": description}


def _link(name: str) -> dict[str, Any]:
    return {"$ref": f"#/$defs/{name}"}


def _block(kind: str, /, **properties: dict[str, Any]) -> dict[str, Any]:
    return _object(type=_constant(kind), **properties)


_PARAGRAPH = _object(label=_text("why, do, see, confidence, ..."), text=_text())
_COLUMN = _object(
    heading=_text(),
    is_number=_flag("Whether its cells are aligned at the right."),
    is_name=_flag("Whether its cells are recorded words: data, not instructions."),
)
_LINE = _object(
    number={"type": ["integer", "null"], "description": "Of the source line; null = an instruction, or a cut."},
    handle=_text("What names the instruction in a question; empty = none."),
    text=_text(),
    share={"type": ["number", "null"], "description": "Of all cycles, from 0 to 1; null = not executed."},
    cost=_text("Its cycles in words."),
)
_STYLE = {"enum": ["plain", "headline", "note", "loss"], "description": "headline = the verdict of its section."}
_BLOCKS: dict[str, dict[str, Any]] = {
    "sentence": _block("sentence", style=_STYLE, text=_text()),
    "labelled": _block("labelled", label=_text(), text=_text()),
    "finding": _block(
        "finding",
        number={"type": "integer", "description": "Rank: 1 is the most worth."},
        handle=_text("What names it in a question: f1, f2, ..."),
        verdict=_text(),
        gain=_text("What could be won at most; empty = not known."),
        paragraphs=_list(_PARAGRAPH),
    ),
    "table": _block(
        "table",
        title=_text("What the rows are, and how many of how many."),
        columns=_list(_COLUMN),
        rows=_list(_list(_text()), "Cells in the order of the columns, units in them; `data` has the numbers."),
    ),
    "code": _block("code", file=_text("As recorded."), lines=_list(_LINE)),
    "preformatted": _block(
        "preformatted", is_chart=_flag("Whether it is a chart made of characters."), text=_text("Spaces matter.")
    ),
    "picture": _block(
        "picture", name=_text("As `wavewright plot` calls it."), alt=_text("What it shows."), svg=_text("The drawing.")
    ),
}


def _section() -> dict[str, Any]:
    return _object(
        name=_text("The topic, or the name of a section of the user."),
        title=_text(),
        question=_text("What it answers."),
        skipped=_text("Why it could not be answered; empty = it was."),
        blocks=_list(_link("block")),
        data=_list(_link("data_table"), "The tables with the numbers that the blocks speak of."),
        definition=_text("How its numbers are made."),
        next_questions=_list(_link("next_question"), "What to ask next, the most useful first."),
    )


def _data_table() -> dict[str, Any]:
    column = _object(
        name=_text(),
        type=_text("Type of the values, as polars calls it."),
        unit=_text("ns, cycles, bytes, ...; empty = a plain number, a share from 0 to 1, or a text."),
        meaning=_text(),
    )
    return _object(
        name=_text("Unique in its section."),
        row=_text("What a row is."),
        columns=_list(column),
        row_count=_count("Rows of this file; `losses` says where there were more."),
        rows=_list({"type": "array"}, "Values in the order of the columns; null = not recorded."),
    )


def _provenance() -> dict[str, Any]:
    file = _object(
        path=_text(),
        byte_count=_count("Its size."),
        sha256=_text("Of the file; of the first and last MiB and the size where is_whole is false."),
        is_whole=_flag("Whether the hash is of the whole file."),
    )
    return _object(
        version=_text("Of wavewright."),
        command=_text("Makes the same report again."),
        inputs=_list(file),
        filters=_map("What chose a part of the inputs."),
        facts=_map("What the capture records of itself: GPU, ROCm, profiler."),
    )
