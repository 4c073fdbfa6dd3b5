"""Readers: how a number is read from the JSON form of an answer, as (key, value) pairs."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

Key = tuple[Any, ...]
Document = Mapping[str, Any]
Values = dict[Key, Any]
Reader = Callable[[Document], Iterable[tuple[Key, Any]]]
Where = Callable[[Mapping[str, Any]], bool]


def at(document: Any, path: str) -> Any:
    """What lies at a path such as `overview.launch`; None = nothing does."""
    for part in path.split(".") if path else ():
        document = document.get(part) if isinstance(document, Mapping) else None
    return document


def table(document: Document, path: str) -> list[Mapping[str, Any]]:
    """The rows of the table, or the entries of the list, at a path."""
    found = at(document, path)
    return list(found.get("rows", ()) if isinstance(found, Mapping) else found or ())


def _key(row: Mapping[str, Any], keys: tuple[str, ...]) -> Key:
    return tuple(_place(row[key]) if key == "node" else row.get(key) for key in keys)


def _place(node: Any) -> str:
    """A node by the last part of its name: some answers name the file, others its path."""
    return str(node or "").rpartition("/")[2].partition(".")[0]


def value(path: str) -> Reader:
    """One number of the whole answer."""

    def read(document: Document) -> Iterator[tuple[Key, Any]]:
        found = at(document, path)
        if found is not None:
            yield (), found

    return read


def rows(path: str, column: str, *keys: str, where: Where | None = None, minus: str = "", plus: str = "") -> Reader:
    """A column of a table by key columns, less or with another column."""

    def read(document: Document) -> Iterator[tuple[Key, Any]]:
        for row in table(document, path):
            if (where is None or where(row)) and row.get(column) is not None:
                number = row[column]
                if minus:
                    number -= row[minus]
                if plus:
                    number += row[plus]
                yield _key(row, keys), number

    return read


def total(path: str, column: str, *keys: str, where: Where | None = None) -> Reader:
    """A column of a table, added up by key columns; nodes with one last part of their names stay apart."""

    def read(document: Document) -> Iterator[tuple[Key, Any]]:
        sums: dict[Key, tuple[Key, Any]] = {}
        for row in table(document, path):
            if (where is None or where(row)) and row.get(column) is not None:
                whole_names = tuple(row.get(key) for key in keys)
                _, before = sums.get(whole_names, ((), 0))
                sums[whole_names] = _key(row, keys), before + row[column]
        yield from sums.values()

    return read


def times(factor: float, reader: Reader) -> Reader:
    """The numbers of a reader in another unit."""
    return lambda document: ((key, factor * number) for key, number in reader(document))


def only_if(condition: Callable[[Document], bool], reader: Reader) -> Reader:
    """A reader that is silent where an answer says that its number is of something else."""
    return lambda document: reader(document) if condition(document) else ()


def read_values(reader: Reader, document: Document) -> Values:
    """The numbers by key, without keys that name more than one of them."""
    found: dict[Key, list[Any]] = {}
    for key, number in reader(document):
        found.setdefault(key, []).append(number)
    return {key: numbers[0] for key, numbers in found.items() if len(numbers) == 1}
