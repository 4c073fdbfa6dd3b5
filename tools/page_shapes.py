"""Shapes of the answers to the page, of which its TypeScript types are made: declared in `page_shapes.toml`.

A question that sends an analysis's answer unchanged names the class only; tables and fields that the page adds or
changes are declared beside it. `make_page_types.py` writes `web/src/data/answers.gen.ts` from `SHAPES`, and
`tests/unit/page/test_shapes.py` compares them with what the page is sent; nothing that runs needs them.
"""

from __future__ import annotations

import tomllib
from dataclasses import dataclass, field, fields, replace
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from wavewright.model.counters import COUNTER_SET
from wavewright.model.schema import THREAD_TRACE, TableSpec, packaged_specs, table_spec
from wavewright.page.run.diagnosis import Case
from wavewright.page.run.times import declared_since_start

if TYPE_CHECKING:
    from collections.abc import Mapping

    from wavewright.model.answer import Answer

_TYPES = {
    **{kind.__name__: kind for kind in (str, int, float, bool)},
    "str | None": str | None,
    "float | None": float | None,
    "tuple[str, ...]": tuple[str, ...],
    "cases": tuple[tuple[Case, ...], ...],
}
#: Tables that no answer declares.
_TABLES = packaged_specs("wavewright.page.run") | {
    "waves": THREAD_TRACE["waves"],
    "dispatches": COUNTER_SET["dispatches"],
}


@dataclass(frozen=True)
class Shape:
    """Shape of the answer to one question: an analysis's answer, and how the page differs from it."""

    answer: type[Answer] | None = None  #: None = only the tables given here.
    #: Tables that the page makes or extends, in place of the declared ones of these names.
    tables: Mapping[str, TableSpec] = field(default_factory=dict)
    #: Fields that the page adds: name -> type; a `TableSpec` stands for a list of its rows.
    fields: Mapping[str, Any] = field(default_factory=dict)
    without: tuple[str, ...] = ()  #: Fields of the answer that are not sent.
    since_start: bool = False  #: Whether times count from the start of the node (answers about runs).

    @property
    def sent_tables(self) -> dict[str, TableSpec]:
        """The tables as the page gets them."""
        tables = {**(self.answer.tables if self.answer else {}), **self.tables}
        specs = {name: spec for name, spec in tables.items() if name not in self.without}
        return {name: declared_since_start(spec) for name, spec in specs.items()} if self.since_start else specs

    @property
    def sent_fields(self) -> list[str]:
        """The other fields of the answer, which are those of its class."""
        names = [item.name for item in fields(self.answer)] if self.answer else []  # type: ignore[arg-type]
        return [name for name in names if name not in self.without and name not in self.sent_tables]


def _found(name: str) -> Any:
    """A name of a module of `wavewright.analysis`."""
    module, _, last = name.rpartition(".")
    return getattr(import_module(f"wavewright.analysis.{module}"), last)


def _declared(name: str) -> TableSpec:
    """A declared table: of an answer, of a module of the analysis, or of `_TABLES`."""
    before, _, last = name.rpartition(".")
    spec: TableSpec = _TABLES[name] if not before else _found(name) if last.isupper() else _found(before).tables[last]
    return spec


def _table(of: str, row: str = "", without: tuple[str, ...] = (), more: str = "") -> TableSpec:
    spec = _declared(of)
    more_columns = {column.name: column for column in table_spec("", "", more).columns}
    columns = [more_columns.pop(column.name, column) for column in spec.columns if column.name not in without]
    return replace(spec, row=row or spec.row, columns=(*columns, *more_columns.values()))


def _shape(
    answer: str = "",
    tables: Mapping[str, Any] | None = None,
    fields: Mapping[str, str] | None = None,
    without: tuple[str, ...] = (),
    *,
    since_start: bool = False,
) -> Shape:
    specs = {name: _table(**table) for name, table in (tables or {}).items()}
    field_types = {name: _TYPES.get(kind) or _declared(kind) for name, kind in (fields or {}).items()}
    return Shape(_found(answer) if answer else None, specs, field_types, tuple(without), since_start)


#: Question -> what it answers with.
SHAPES: Mapping[str, Shape] = {
    name: _shape(**shape) for name, shape in tomllib.loads(Path(__file__).with_suffix(".toml").read_text()).items()
}
