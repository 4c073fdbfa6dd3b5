"""The compact form of JSON: columns and rows, counted."""

from __future__ import annotations

from wavewright.model.compact import compacted


def test_tables_of_any_kind_become_columns_and_rows() -> None:
    rows = [{"a": number, "b": [number] * 9} for number in range(30)]
    table = {"columns": ["a", "b"], "rows": [[0, {"items": [0, 0, 0], "item_count": 9}]], "row_count": 30}
    assert compacted({"x": rows, "y": {"row_count": 30, "rows": rows[:5]}}, 1) == {"x": table, "y": table}


def test_tables_inside_of_tables_are_shorter() -> None:
    inner = [{"c": number} for number in range(9)]
    told = compacted([{"a": inner}, {"a": inner}], 20)
    assert [len(row[0]["rows"]) for row in told["rows"]] == [5, 5]
    assert told["rows"][0][0]["row_count"] == 9


def test_nothing_is_lost_where_all_is_asked_for() -> None:
    value = {"a": [{"b": 1}, {"c": 2}], "d": list(range(99)), "e": [], "f": None, "definition": "how", "g": 0.25}
    assert compacted(value, None) == {name: item for name, item in value.items() if name != "definition"}


def test_an_empty_table_is_a_table() -> None:
    assert compacted({"row_count": 0, "rows": []}, 20) == {"columns": [], "rows": [], "row_count": 0}
