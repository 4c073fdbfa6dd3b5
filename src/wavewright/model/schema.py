"""The tables of a thread trace: every column with its type, unit and meaning, declared once.

`docs/reference/tables.md` is generated from these declarations.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from wavewright.base.toml import packaged

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import polars as pl

_VALUES = packaged("tables/values.toml", __package__)


def names_by_number(name: str) -> dict[int, str]:
    """Number -> name, of a table of `tables/values.toml`."""
    return {int(number): value for number, value in _VALUES[name].items()}


#: Values of `instructions.category`: what the hardware reported about an instruction.
CATEGORIES = names_by_number("categories")
#: What the names of `CATEGORIES` mean, and MATRIX, which hardware reports as VALU.
CATEGORY_MEANINGS: dict[str, str] = _VALUES["category_meanings"]
STATES = names_by_number("states")  #: Values of `states.state`.
STATE_MEANINGS: dict[str, str] = _VALUES["state_meanings"]  #: What the names of `STATES` mean.
EVENT_TYPES = names_by_number("event_types")  #: Values of `events.type`.


#: Values of `sample_reasons.reason`, in the order of the lists in decoded directories.
SAMPLE_REASONS: tuple[str, ...] = tuple(_VALUES["sample_reasons"])


TABLES_FILE = "tables.toml"  #: Of a package: the results of its analyses, and their tables.
_REFERENCE = re.compile(r"(?m)^@(\w+)$")  #: A line that stands for columns that several tables have.
#: Columns of `samples` that add up to all samples of a row.
SAMPLE_COUNTS = ("issued_count", "stalled_count", "unknown_count")


@dataclass(frozen=True)
class ColumnSpec:
    """One column: polars type name, unit and meaning."""

    name: str
    dtype: str
    unit: str
    meaning: str
    is_optional: bool = False  #: Whether values may be null.


@dataclass(frozen=True)
class TableSpec:
    """One table: what a row is, and its columns in order."""

    name: str
    row: str
    columns: tuple[ColumnSpec, ...]

    @property
    def names(self) -> list[str]:
        """The names of the columns, in order."""
        return [column.name for column in self.columns]

    @property
    def dtypes(self) -> dict[str, pl.DataType]:
        """Column -> polars type: a schema for frames of this table."""
        import polars as pl

        return {column.name: getattr(pl, column.dtype) for column in self.columns}

    @property
    def casts(self) -> list[pl.Expr]:
        """The columns, each cast to its type: what to select of a frame that has them among others."""
        import polars as pl

        return [pl.col(name).cast(dtype) for name, dtype in self.dtypes.items()]


def table_spec(name: str, row: str, columns: str) -> TableSpec:
    """Declare a table; columns come one per line: `name type unit | meaning` (unit `-` = none).

    A type with a question mark (`UInt32?`) may be null, and so may a column whose meaning says what null stands for.

    >>> table_spec("sizes", "one size", "width  UInt32  lanes  | how wide").columns[0].unit
    'lanes'
    """
    specs = []
    for line in filter(str.strip, columns.splitlines()):
        head, meaning = line.split("|", 1)
        column, dtype, unit = head.split()
        is_optional = dtype.endswith("?") or "null" in re.findall(r"\w+", meaning)
        unit = "" if unit == "-" else unit
        specs.append(ColumnSpec(column, dtype.removesuffix("?"), unit, meaning.strip(), is_optional))
    return TableSpec(name, row, tuple(specs))


def packaged_specs(package: str | None, file: str = TABLES_FILE, *, owner: str = "") -> dict[str, TableSpec]:
    """The tables that a file of a package declares, by name; those of one result, if `owner` names its class."""
    content = packaged(file, package)
    tables = content[owner] if owner else content
    return {name: _spec_of(name, table, content) for name, table in tables.items() if _is_table(table)}


def packaged_spec(package: str | None, name: str) -> TableSpec:
    """One table that belongs to no result alone."""
    content = packaged(TABLES_FILE, package)
    return _spec_of(name, content[name], content)


def _is_table(value: object) -> bool:
    return isinstance(value, dict) and "row" in value


def _spec_of(name: str, table: Mapping[str, str], content: Mapping[str, Any]) -> TableSpec:
    shared_columns = packaged("tables/shared.toml", __package__)["shared"] | content.get("shared", {})
    columns = table["columns"]
    while _REFERENCE.search(columns):
        columns = _REFERENCE.sub(lambda line: shared_columns[line[1]], columns)
    return table_spec(table.get("name", name), table["row"], columns)


#: The tables of a `ThreadTrace`, by name.
THREAD_TRACE = packaged_specs(__package__, "tables/trace.toml")


def empty_frame(table: TableSpec) -> pl.DataFrame:
    """An empty frame with the declared columns and types."""
    import polars as pl

    return pl.DataFrame(schema=table.dtypes)


def frame_of(table: TableSpec, rows: Sequence[Mapping[str, Any]]) -> pl.DataFrame:
    """Rows as a frame with the declared columns and types; what a row does not have is null."""
    import polars as pl

    return pl.DataFrame({name: [row.get(name) for row in rows] for name in table.names}, schema=table.dtypes)
