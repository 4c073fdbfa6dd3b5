"""Names that tables cut: what they are in full, from the data of their sections."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from wavewright.model.blocks import Table
from wavewright.model.report import Section

ELLIPSIS = "…"
_UNCUT_LENGTH = 1 << 20  #: Characters, more than any name has.
_MAX_CANDIDATES = 20_000  #: Names of one section; with more the search would take longer than the report.


def appendix_rows(sections: Iterable[Section], length: int) -> list[tuple[str, str]]:
    """Cut names and full names, in the order of the tables; `length` = characters of a name that the writer shows."""
    rows: dict[tuple[str, str], None] = {}
    for section in sections:
        full = full_names(section)
        for cell in _cells(section):
            name = full.get(cell, "" if ELLIPSIS in cell else cell)
            if name and without_middle(cell, length) != name:
                rows[without_middle(cell, length), name] = None
    return list(rows)


def full_names(section: Section) -> dict[str, str]:
    """Cut name in a table of the section -> the name in full, where only one name of its data fits."""
    cut = [cell for cell in _cells(section) if ELLIPSIS in cell]
    if not cut:
        return {}
    names = _names(section)
    matches = {cell: _match(cell, names) for cell in cut}
    return {cell: name for cell, name in matches.items() if name}


def without_middle(text: str, length: int) -> str:
    """A long name without its middle: its end often says what it is.

    >>> without_middle("a_long_name_of_a_kernel", 12)
    'a_long_n…nel'
    """
    if len(text) <= length:
        return text
    first = 2 * length // 3
    return text[:first] + ELLIPSIS + text[-(length - first - 1) :]


def is_cut_of(short: str, full: str) -> bool:
    """True if a name with ellipses can be this one: its parts follow each other in it, from its start.

    >>> is_cut_of("gemm…64x32…", "gemm<float, 64x32x8>()"), is_cut_of("emm…", "gemm")
    (True, False)
    """
    parts = short.split(ELLIPSIS)
    if not full.startswith(parts[0]):
        return False
    at = 0
    for part in parts:
        place = full.find(part, at)
        if place < 0:
            return False
        at = place + len(part)
    return True


def _cells(section: Section) -> dict[str, None]:
    """The names in the tables of the section, each once."""
    return dict.fromkeys(
        cell
        for table in section.blocks
        if isinstance(table, Table)
        for row in table.rows
        for column, cell in zip(table.columns, row, strict=True)
        if column.is_name
    )


def _match(cell: str, names: Mapping[str, str]) -> str:
    """The only name that fits; of several, the only one that ends like the cell; empty = none, or still several."""
    fitting = [name for name, compact in names.items() if is_cut_of(cell, compact) or is_cut_of(cell, name)]
    end = cell.rpartition(ELLIPSIS)[2]
    same_end = [name for name in fitting if end and (name.endswith(end) or names[name].endswith(end))]
    return next((choice[0] for choice in (fitting, same_end) if len(choice) == 1), "")


def _names(section: Section) -> dict[str, str]:
    """All texts of the section's data as people read them -> what tables cut: without namespaces and parameters."""
    import polars as pl

    from wavewright.analysis.run.calls.kernel_names import readable_names, short_names

    texts: dict[str, None] = {}
    for table in section.data:
        for column in table.frame.select(pl.col(pl.String, pl.Categorical)).get_columns():
            texts.update(dict.fromkeys(column.cast(pl.String).drop_nulls().unique(maintain_order=True)))
    recorded = list(texts)[:_MAX_CANDIDATES]
    compact = short_names(recorded, _UNCUT_LENGTH)
    return {readable: compact[name] for name, readable in readable_names(recorded).items()}
