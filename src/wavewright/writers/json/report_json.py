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
    made_of = report.provenance
    return {
        "schema_version": report.schema_version,
        "title": report.title,
        "kind": report.kind,
        "losses": list(report.losses),
        "sections": [_section(section) for section in report.sections],
        "provenance": {
            "version": made_of.version,
            "command": made_of.command,
            "inputs": [
                {"path": file.path, "byte_count": file.byte_count, "sha256": file.sha256, "is_whole": file.is_whole}
                for file in made_of.inputs
            ],
            "filters": dict(made_of.filters),
            "facts": dict(made_of.facts),
        },
    }


def _section(section: Section) -> dict[str, Any]:
    return {
        "name": section.name,
        "title": section.title,
        "question": section.question,
        "skipped": section.skipped,
        "blocks": [_block(block) for block in section.blocks],
        "data": [_data(table) for table in section.data],
        "definition": section.definition,
        "next_questions": [
            {"topic": each.topic, "parameters": dict(each.parameters), "reason": each.reason}
            for each in section.next_questions
        ],
    }


def _block(block: Block) -> dict[str, Any]:
    match block:
        case Sentence(text, style):
            return {"type": "sentence", "style": style, "text": text}
        case Labelled(label, text):
            return {"type": "labelled", "label": label, "text": text}
        case Finding():
            paragraphs = [{"label": each.label, "text": each.text} for each in block.paragraphs]
            facts = {"number": block.number, "handle": block.handle, "verdict": block.verdict, "gain": block.gain}
            return {"type": "finding", **facts, "paragraphs": paragraphs}
        case Table():
            columns = [
                {"heading": each.heading, "is_number": each.is_number, "is_name": each.is_name}
                for each in block.columns
            ]
            return {
                "type": "table",
                "title": block.heading,
                "columns": columns,
                "rows": [list(map(str, row)) for row in block.rows],
            }
        case Code():
            lines = [
                {
                    "number": each.number,
                    "handle": each.handle,
                    "text": each.text,
                    "share": each.share,
                    "cost": each.cost,
                }
                for each in block.lines
            ]
            return {"type": "code", "file": block.file, "lines": lines}
        case Preformatted(text, is_chart):
            return {"type": "preformatted", "is_chart": is_chart, "text": text}
        case Picture():
            return {"type": "picture", "name": block.name, "alt": block.alt, "svg": block.svg}


def _data(table: DataTable) -> dict[str, Any]:
    """The columns that the frame has, in its order; a declared meaning where there is one."""
    import msgspec

    declared = {column.name: column for column in table.spec.columns}
    columns = []
    for name, kind in table.frame.schema.items():
        spec = declared.get(name)
        facts = {"unit": spec.unit, "meaning": spec.meaning} if spec else {"unit": "", "meaning": ""}
        columns.append({"name": name, "type": str(kind), **facts})
    rows = msgspec.to_builtins([list(row) for row in table.frame.iter_rows()])
    return {"name": table.name, "row": table.spec.row, "columns": columns, "row_count": len(rows), "rows": rows}
