"""JSON for readers with little room: tables as columns and rows, cut to a number of rows, without definitions."""

from __future__ import annotations

from typing import Any

_TABLE = frozenset(("row_count", "rows"))
_DEFINITION = "definition"
_LARGE = 1e5  #: From here on, fractions have one digit behind the point.
_LEAST = 3  #: Rows that a table inside of another has at least.


def compacted(value: Any, top: int | None) -> Any:
    """Plain values in their compact form.

    A table, which is a list of objects with the same keys, becomes `{"columns", "rows", "row_count"}` with at most
    `top` rows (None = all), those inside of its cells with a quarter of them; any other list that is longer becomes
    `{"items", "item_count"}`. Fractions have six digits.

    >>> compacted({"units": {"row_count": 3, "rows": [{"row": 1, "stall": 9}, {"row": 2, "stall": 4}]}}, 1)
    {'units': {'columns': ['row', 'stall'], 'rows': [[1, 9]], 'row_count': 3}}
    >>> compacted([1, 2, 3], 2)
    {'items': [1, 2], 'item_count': 3}
    """
    if isinstance(value, dict):
        if value.keys() == _TABLE and isinstance(value["rows"], list):
            return _table(value["rows"], value["row_count"], top)
        keys = [key for key, item in value.items() if key != _DEFINITION or not isinstance(item, str)]
        return {key: compacted(value[key], top) for key in keys}
    if isinstance(value, list | tuple):
        if _is_table(value):
            return _table(value, len(value), top)
        items = [compacted(item, top) for item in value[:top]]
        return items if len(items) == len(value) else {"items": items, "item_count": len(value)}
    return _rounded(value) if isinstance(value, float) else value


def _rounded(value: float) -> float:
    """Six digits, and no fewer than all before the point.

    >>> _rounded(0.41089697084397897), _rounded(1234567.891)
    (0.410897, 1234567.9)
    """
    return round(value, 1) if abs(value) >= _LARGE else float(f"{value:.6g}")


def _table(rows: Any, row_count: int, top: int | None) -> dict[str, Any]:
    columns = list(rows[0]) if rows else []
    inside = None if top is None else max(_LEAST, top // 4)
    cells = [[compacted(row.get(column), inside) for column in columns] for row in rows[:top]]
    return {"columns": columns, "rows": cells, "row_count": row_count}


def _is_table(rows: Any) -> bool:
    return len(rows) > 1 and all(isinstance(row, dict) and row.keys() == rows[0].keys() for row in rows)
