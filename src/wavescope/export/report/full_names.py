"""Names that tables cut: what they are in full, from the data behind the tables."""

from __future__ import annotations

from typing import TYPE_CHECKING

from wavescope.model.report import Table

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from wavescope.model.report import Section

ELLIPSIS = "…"
_MOST_CANDIDATES = 20_000  #: Names of one section; with more the search would take longer than the report.


def full_names(section: Section) -> dict[str, str]:
    """Cut name in a table of the section -> the name in full, where only one name of its data fits."""
    cut = dict.fromkeys(
        cell
        for table in section.blocks
        if isinstance(table, Table)
        for row in table.rows
        for column, cell in zip(table.columns, row, strict=True)
        if column.is_name and ELLIPSIS in cell
    )
    if not cut:
        return {}
    names = _names(section)
    fitting = {cell: [name for name in names if is_cut_of(cell, name)] for cell in cut}
    return {cell: matches[0] for cell, matches in fitting.items() if len(matches) == 1}


def _names(section: Section) -> Sequence[str]:
    """All texts of the section's data, as people read them."""
    import polars as pl

    from wavescope.analysis.run.kernel_names import readable_names

    texts: dict[str, None] = {}
    for table in section.data:
        for column in table.frame.select(pl.col(pl.String, pl.Categorical)).get_columns():
            texts.update(dict.fromkeys(column.cast(pl.String).drop_nulls().unique(maintain_order=True)))
    recorded = list(texts)[:_MOST_CANDIDATES]
    return list(dict.fromkeys(readable_names(recorded).values()))


def is_cut_of(short: str, full: str) -> bool:
    """Whether a name with ellipses can be this one: its parts follow each other in it.

    Examples
    --------
    >>> is_cut_of("gemm…64x32…", "void gemm<float, 64x32x8>()"), is_cut_of("gemm…", "copy")
    (True, False)
    """
    at = 0
    for part in filter(None, short.split(ELLIPSIS)):
        at = _after(part, full, at)
        if at < 0:
            return False
    return True


def _after(part: str, full: str, at: int) -> int:
    place = full.find(part, at)
    return -1 if place < 0 else place + len(part)


def appendix_rows(sections: Iterable[Section]) -> list[tuple[str, str]]:
    """Cut names and full names of all sections, in their order."""
    rows: dict[str, str] = {}
    for section in sections:
        rows.update({cell: name for cell, name in full_names(section).items() if rows.get(cell, name) == name})
    return list(rows.items())
