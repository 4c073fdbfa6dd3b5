"""Write docs/reference/tables.md from the declared schema. `--check` only compares."""

from __future__ import annotations

import sys
from pathlib import Path

from wavescope.model.counter_set import COUNTER_SET
from wavescope.model.losses import LOSSES
from wavescope.model.schema import CATEGORIES, EVENT_TYPES, STATES, THREAD_TRACE, TableSpec

PAGE = Path(__file__).resolve().parent.parent / "docs" / "reference" / "tables.md"


def page() -> str:
    """The page as Markdown."""
    lines = [
        "# Tables of a thread trace",
        "",
        "<!-- made by tools/make_table_docs.py from src/wavescope/model/schema.py -->",
        "",
        (
            "`trace = wavescope.open(path)` gives a `ThreadTrace`; each table below is a polars frame, as an attribute"
            ' (`trace.waves`) or by name (`trace.table("waves")`).'
        ),
        "Times are shader-clock cycles of the wave's shader engine; every shader engine has its own zero.",
        "",
    ]
    for table in THREAD_TRACE.values():
        lines += _section(table, f"## {table.name}")
    for title, values in (("Categories", CATEGORIES), ("States", STATES), ("Event types", EVENT_TYPES)):
        lines += [f"## {title}", "", ", ".join(f"{number} {name}" for number, name in values.items()), ""]
    lines += ["## Tables of a counter set", ""]
    lines += ["`wavescope.readers.counter_csv.read_counters(paths)` gives a `CounterSet`; it has `losses` as well.", ""]
    for table in COUNTER_SET.values():
        if table.name not in THREAD_TRACE or table is not THREAD_TRACE[table.name]:
            lines += _section(table, f"### {table.name}")
    lines += [
        "## Kinds of loss",
        "",
        "| kind | what it means | what to do | counts for `--strict` |",
        "|---|---|---|---|",
    ]
    for kind in LOSSES.values():
        strict = "yes" if kind.is_damage else "no"
        lines.append(f"| `{kind.name}` | {kind.message} | {kind.advice} | {strict} |")
    return "\n".join(lines) + "\n"


def _section(table: TableSpec, heading: str) -> list[str]:
    lines = [heading, "", f"One row is {table.row}.", "", "| column | type | unit | meaning |", "|---|---|---|---|"]
    lines += [f"| `{c.name}` | {c.dtype} | {c.unit} | {c.meaning} |" for c in table.columns]
    return [*lines, ""]


def main() -> int:
    """Write or check the page; 1 when it is out of date."""
    if "--check" in sys.argv:
        return 0 if PAGE.is_file() and PAGE.read_text() == page() else 1
    PAGE.parent.mkdir(parents=True, exist_ok=True)
    PAGE.write_text(page())
    return 0


if __name__ == "__main__":
    sys.exit(main())
