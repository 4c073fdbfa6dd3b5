"""The report of `wavewright top`: kernels, copies and calls by the time they take, for a run, each file or category."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

import polars as pl

from wavewright.analysis.run.kernels.top import Top
from wavewright.base.shown import printable
from wavewright.base.words import counted, duration, percent, truncation
from wavewright.model.blocks import GAP, AnyBlock, Table, headline, sentence
from wavewright.words.kit.brief_names import brief_kernel, brief_paths
from wavewright.words.kit.declared_tables import declared_table, table_below


def top_report(answer: Top, *, by: Literal["name", "category", "file"] = "name", limit: int = 20) -> Iterator[AnyBlock]:
    """The headline and the tables: kernels and copies by name, in one table per file, or only categories of kernels.

    `limit` is the largest number of rows of a table, and of files.
    """
    if not answer.things.height or not answer.total_ns:
        yield headline("nothing that takes time was recorded")
    elif by == "category":
        yield from category_parts(answer.categories)
    elif by == "file":
        yield from _file_parts(answer, limit=limit)
    else:
        first = answer.things.row(0, named=True)
        name = brief_kernel(first["name"], 60)
        total = f"{_total_name(answer)}, {duration(answer.total_ns)}"
        yield sentence((f"{name} takes {percent(first['share'])} of {total}", "bold"))
        yield GAP
        yield _thing_table(answer, answer.things, limit=limit)


def _total_name(answer: Top) -> str:
    """The name of the time that shares are of."""
    return "all durations (nested calls count at every level)" if answer.with_calls else "the GPU time"


def _thing_table(answer: Top, things: pl.DataFrame, *, limit: int, title: str = "") -> Table:
    row_name = "kernels, copies and calls" if answer.with_calls else "kernels and kinds of copy"
    return declared_table("run/top/thing", things, limit=limit, rows=row_name, title=title)


def _file_parts(answer: Top, *, limit: int) -> Iterator[AnyBlock]:
    """One table per file, the file with most time first."""
    files = [(things["path"][0] or "?", things) for things in answer.things.partition_by("path", maintain_order=True)]
    labels = brief_paths(path for path, _ in files)
    yield sentence((f"{counted(len(files), 'files')}: {duration(answer.total_ns)} of {_total_name(answer)}", "bold"))
    for path, things in files[:limit]:
        total = int(things["total_ns"].sum())
        title = f"{printable(labels[path])}: {duration(total)}, {percent(total / answer.total_ns)}"
        yield GAP
        yield _thing_table(answer, things, limit=limit, title=title)
    if len(files) > limit:
        yield sentence((truncation(limit, len(files), "files"), "bold"))


def category_parts(categories: pl.DataFrame) -> Iterator[AnyBlock]:
    """GPU time by category (matrix multiplication, attention, copies, ...): the headline and the table.

    `categories` is the result of `time_by_category`.
    """
    if not categories.height or not categories["total_ns"].sum():
        yield sentence(("no GPU work was recorded", "bold"))
        return
    total = duration(int(categories["total_ns"].sum()))
    leading = ", ".join(
        f"{row['category']} {percent(row['share'])}" for row in categories.head(3).iter_rows(named=True)
    )
    yield sentence((f"of {total} GPU time: {leading}", "bold"))
    yield from table_below("run/top/category", categories)
