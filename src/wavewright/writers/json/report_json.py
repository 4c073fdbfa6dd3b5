"""A report as JSON, of which `docs/reference/report.schema.json` is the contract."""

from __future__ import annotations

from typing import Any

from wavewright.base.shown import json_bytes
from wavewright.model.blocks import Block, Code, Finding, Labelled, Picture, Preformatted, Sentence, Table
from wavewright.model.report import DataTable, Report, Section


def render(report: Report) -> bytes:
    """The whole report: sections in order, tables as columns and rows with real numbers."""
    return json_bytes(report_values(report)) + b"\n"


def report_values(report: Report) -> dict[str, Any]:
    """The report as plain values."""
    provenance = report.provenance
    return {
        "schema_version": report.schema_version,
        "title": report.title,
        "kind": report.kind,
        "losses": list(report.losses),
        "sections": [_section(section) for section in report.sections],
        "provenance": {
            "version": provenance.version,
            "command": provenance.command,
            "inputs": [_fields(file, "path", "byte_count", "sha256", "is_whole") for file in provenance.inputs],
            "filters": dict(provenance.filters),
            "facts": dict(provenance.facts),
        },
    }


def _section(section: Section) -> dict[str, Any]:
    return {
        **_fields(section, "name", "title", "question", "skipped"),
        "blocks": [_block(block) for block in section.blocks],
        "data": [_data(table) for table in section.data],
        "definition": section.definition,
        "next_questions": [
            {"topic": question.topic, "parameters": dict(question.parameters), "reason": question.reason}
            for question in section.next_questions
        ],
    }


def _block(block: Block) -> dict[str, Any]:
    match block:
        case Sentence():
            return {"type": "sentence", **_fields(block, "style", "text")}
        case Labelled():
            return {"type": "labelled", **_fields(block, "label", "text")}
        case Finding():
            paragraphs = [_fields(part, "label", "text") for part in block.paragraphs]
            return {
                "type": "finding", **_fields(block, "number", "handle", "verdict", "gain"), "paragraphs": paragraphs,
            }  # fmt: skip
        case Table():
            columns = [_fields(column, "heading", "is_number", "is_name") for column in block.columns]
            rows = [list(map(str, row)) for row in block.rows]
            return {"type": "table", "title": block.heading, "columns": columns, "rows": rows}
        case Code():
            lines = [_fields(line, "number", "handle", "text", "share", "cost") for line in block.lines]
            return {"type": "code", "file": block.file, "lines": lines}
        case Preformatted():
            return {"type": "preformatted", **_fields(block, "is_chart", "text")}
        case Picture():
            return {"type": "picture", **_fields(block, "name", "alt", "svg")}


def _fields(value: object, *names: str) -> dict[str, Any]:
    """Fields of a part of a report, in the order that the schema has."""
    return {name: getattr(value, name) for name in names}


def _data(table: DataTable) -> dict[str, Any]:
    """A data table: its columns with declared unit and meaning (empty where none is declared), and its rows."""
    import msgspec

    declared = {column.name: column for column in table.spec.columns}
    columns = []
    for name, kind in table.frame.schema.items():
        declaration = _fields(declared[name], "unit", "meaning") if name in declared else {"unit": "", "meaning": ""}
        columns.append({"name": name, "type": str(kind), **declaration})
    rows = msgspec.to_builtins([list(row) for row in table.frame.iter_rows()])
    return {"name": table.name, "row": table.spec.row, "columns": columns, "row_count": len(rows), "rows": rows}
