"""Reports as JSON: they fit the published schema, and hold the numbers of the data."""

from __future__ import annotations

import dataclasses
import json
import math
from pathlib import Path
from typing import get_args

import polars as pl
import pytest
from jsonschema import Draft202012Validator

from tests.unit.export.report.made_reports import ALL_REPORTS, SPEC, report_named, small_report
from wavewright.model import blocks
from wavewright.model import report as model
from wavewright.model.next_question import NextQuestion
from wavewright.model.report import REPORT_SCHEMA_VERSION, DataTable, Section
from wavewright.writers.json import report_json

SCHEMA = json.loads((Path(__file__).resolve().parents[4] / "docs" / "reference" / "report.schema.json").read_text())

#: Of blocks: how terminals and briefs lay them out; the title of a table says how many rows there are.
LAYOUT = {"marks", "share", "indent", "tone", "row_count", "row_name", "note", "next_commands"}


def test_the_published_schema_is_one_of_this_version():
    Draft202012Validator.check_schema(SCHEMA)
    assert SCHEMA["$id"] == f"wavewright-report-{REPORT_SCHEMA_VERSION}"
    assert SCHEMA["properties"]["schema_version"]["const"] == REPORT_SCHEMA_VERSION


@pytest.mark.first_case
@pytest.mark.parametrize("name", ALL_REPORTS)
def test_reports_fit_the_schema(name):
    report = report_named(name)
    content = report_json.render(report)
    assert content == report_json.render(report)
    values = json.loads(content)
    assert [error.message for error in Draft202012Validator(SCHEMA).iter_errors(values)] == []
    assert [section["name"] for section in values["sections"]] == [section.name for section in report.sections]
    counts = [table["row_count"] for section in values["sections"] for table in section["data"]]
    assert counts == [table.frame.height for section in report.sections for table in section.data]


def test_the_schema_refuses_other_documents():
    good = json.loads(report_json.render(small_report()))
    validator = Draft202012Validator(SCHEMA)
    assert validator.is_valid(good)
    block = {"type": "sentence", "style": "loud", "text": ""}
    for wrong in (
        {**good, "schema_version": 2},
        {**good, "extra": 1},
        {name: value for name, value in good.items() if name != "losses"},
        {**good, "sections": [{**good["sections"][0], "blocks": [block]}]},
    ):
        assert not validator.is_valid(wrong)


@pytest.mark.parametrize(
    "definition, kind",
    [("section", model.Section), ("provenance", model.Provenance), ("next_question", NextQuestion)]
    + [(kind.__name__.lower(), kind) for kind in get_args(blocks.Block)],
)
def test_every_field_of_the_model_is_in_the_schema(definition, kind):
    properties = set(SCHEMA["$defs"][definition]["properties"]) - {"type"}
    assert properties == set(kind.__annotations__) - LAYOUT


def test_tables_hold_real_numbers():
    frame = pl.DataFrame({"name": ["a"], "time_ns": [math.nan], "ids": [[1, 2]], "address": [(1 << 64) - 1]})
    section = Section("s", "s", "", data=(DataTable("names", SPEC, frame),))
    report = dataclasses.replace(small_report(), sections=(section,))
    (table,) = json.loads(report_json.render(report))["sections"][0]["data"]
    assert table["rows"] == [["a", None, [1, 2], (1 << 64) - 1]]
    assert table["columns"][1] == {"name": "time_ns", "type": "Float64", "unit": "ns", "meaning": "how long"}
    assert table["row"] == "one name"


def test_names_that_are_no_text_are_written_as_escapes():
    report = dataclasses.replace(small_report(), title="rank\udcff")
    assert json.loads(report_json.render(report))["title"] == "rank\\xff"
