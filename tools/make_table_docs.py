"""Write the pages of docs/reference that list tables and results, from the code. `--check` compares."""

from __future__ import annotations

import dataclasses
import pkgutil
import sys
from importlib import import_module
from pathlib import Path

import wavewright.analysis
from wavewright.model.answer import Answer
from wavewright.model.counters import COUNTER_SET
from wavewright.model.losses import LOSSES
from wavewright.model.run_tables import NUMBERED, RUN
from wavewright.model.schema import CATEGORIES, EVENT_TYPES, STATES, THREAD_TRACE, TableSpec

FOLDER = Path(__file__).resolve().parent.parent / "docs" / "reference"


def tables_page() -> str:
    """The tables of the model as Markdown."""
    lines = [
        "# Tables of a thread trace",
        "",
        "<!-- made by tools/make_table_docs.py from src/wavewright/model/tables/trace.toml -->",
        "",
        (
            "`trace = wavewright.open(path)` gives a `ThreadTrace`; each table below is a polars frame, as an attribute"
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
    lines += [
        "`counters = wavewright.open(path)` gives a `CounterSet` where the path has counters; it has `losses`, too.",
        "`counters.measured[pass]` is a frame with one row per dispatch and one column per counter of that pass.",
        "",
    ]
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
        lines.append(f"| `{kind.name}` | {kind.worded()} | {kind.advice} | {strict} |")
    return "\n".join(lines) + "\n"


def run_tables_page() -> str:
    """The tables of a run as Markdown."""
    lines = [
        "# Tables of a run",
        "",
        "<!-- made by tools/make_table_docs.py from src/wavewright/model/tables/run.toml -->",
        "",
        (
            "`run = wavewright.open_run(path)` gives a `Run`, whatever the format; each table below is a "
            'polars frame, as an attribute (`run.dispatches`) or by name (`run.table("dispatches")`), and is read '
            "when first used. `run.read(table, columns)` reads some columns only, `run.chunks(table, "
            "columns)` reads them in chunks."
        ),
        (
            "Times are nanoseconds of the clock of the node; clocks of different nodes are not aligned. A column "
            "named after a table refers to a row of it by number: "
            + ", ".join(f"`{key}` of `{table}`" for table, key in NUMBERED.items())
            + "; null = not recorded."
        ),
        (
            "Tables of a single format (`ext_callstack` of RPD, ...) are extra tables: `run.extra_names` lists "
            "them. `wavewright tables PATH` shows all tables of a file with their sizes."
        ),
        "",
    ]
    for table in RUN.values():
        lines += _section(table, f"## {table.name}")
    return "\n".join(lines).rstrip() + "\n"


def results_page() -> str:
    """The result of every analysis as Markdown: its definition, its values and the columns of its tables."""
    lines = [
        "# Results of the analyses",
        "",
        "<!-- made by tools/make_table_docs.py from src/wavewright/analysis -->",
        "",
        (
            "Each module of `wavewright.analysis.trace` answers one question about a `ThreadTrace`, of "
            "`wavewright.analysis.run` about a `Run`, of `wavewright.analysis.counters` about a `CounterSet`: "
            "`from wavewright.analysis.trace.stalls import stalls; stalls(trace)`. The verb of that name prints the "
            "result; "
            "`--json` writes all of it under the same names. Units are in the names (`_cycles`, `_bytes`); "
            "a `_share` is from 0 to 1."
        ),
        "",
    ]
    for module, answer in _result_types():
        summary = (answer.__doc__ or "").strip().splitlines()[0]
        lines += [f"## {answer.__name__}", "", f"`{module}`. {summary}", "", answer.definition, ""]
        numbers = [f"`{f.name}`" for f in dataclasses.fields(answer) if f.name not in answer.tables]
        lines += [f"Other values: {', '.join(numbers)}.", ""] if numbers else []
        for field, table in answer.tables.items():
            lines += _section(table, f"### {answer.__name__}.{field}")
    return "\n".join(lines).rstrip() + "\n"


def _result_types() -> list[tuple[str, type[Answer]]]:
    """The result types, in the order of their modules."""
    types = []
    for module in pkgutil.walk_packages(wavewright.analysis.__path__, "wavewright.analysis."):
        for value in vars(import_module(module.name)).values():
            is_defined_here = isinstance(value, type) and issubclass(value, Answer) and value.__module__ == module.name
            if is_defined_here and value.definition and dataclasses.is_dataclass(value):
                types.append((module.name, value))
    return types


def _section(table: TableSpec, heading: str) -> list[str]:
    lines = [heading, "", f"One row is {table.row}.", "", "| column | type | unit | meaning |", "|---|---|---|---|"]
    lines += [f"| `{c.name}` | {c.dtype} | {c.unit} | {c.meaning} |" for c in table.columns]
    return [*lines, ""]


def main() -> int:
    """Write or check the pages; 1 when one is out of date."""
    pages = {
        FOLDER / "tables.md": tables_page(),
        FOLDER / "run-tables.md": run_tables_page(),
        FOLDER / "results.md": results_page(),
    }
    if "--check" in sys.argv:
        return int(any(not path.is_file() or path.read_text() != text for path, text in pages.items()))
    for path, text in pages.items():
        path.write_text(text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
