"""Reads what `llvm-tblgen --print-records` prints, as a stream: 380 MB of text, of which few records are wanted."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator

_HEAD = re.compile(r"(?:def|class) ([\w.]+).* \{(?:\t// (.*))?$")
_DAG_TOKEN = re.compile(r"[(),]|[^\s(),]+")
#: What opens a value that may go on in the next lines, and what ends it.
_LONG_VALUES = {"[{": "}];", '"': '";'}


class RecordError(ValueError):
    """A record has no such field, or the field has another form."""


@dataclass(frozen=True)
class Dag:
    """A directed graph as TableGen writes it: `(all_of FeatureA, (not FeatureB))`; names of arguments after `$`."""

    operator: str
    arguments: tuple[tuple[Dag | str, str], ...]


@dataclass(frozen=True)
class TableRecord:
    """A record with the texts of its fields. The methods read a text as what its type says."""

    name: str
    classes: frozenset[str]
    fields: dict[str, str] = field(repr=False)

    def raw(self, name: str) -> str:
        """The text of a field."""
        try:
            return self.fields[name]
        except KeyError:
            raise RecordError(f"record {self.name} has no field {name}") from None

    def flag(self, name: str) -> bool:
        """A `bit`; unset counts as 0, as in LLVM's emitters."""
        return self.raw(name) == "1"

    def number(self, name: str) -> int:
        """An `int`, a `bit` or `bits` that are all set or cleared."""
        text = self.raw(name)
        try:
            if text.startswith("{"):
                return int("".join(reversed(bits(text))), 2)
            return int(text)
        except ValueError:
            raise RecordError(f"{name} of record {self.name} is not a number: {text[:80]}") from None

    def text(self, name: str) -> str:
        """A `string` or `code`; unset is empty."""
        text = self.raw(name)
        if text == "?":
            return ""
        for start, end in (('"', '"'), ("[{", "}]")):
            if text.startswith(start) and text.endswith(end) and len(text) >= len(start) + len(end):
                return text[len(start) : -len(end)]
        raise RecordError(f"{name} of record {self.name} is not a string: {text[:80]}")

    def reference(self, name: str) -> str | None:
        """The name of another record; None where it is unset."""
        text = self.raw(name)
        return None if text == "?" else text

    def references(self, name: str) -> list[str]:
        """A `list` of names of records."""
        text = self.raw(name)
        if not (text.startswith("[") and text.endswith("]")):
            raise RecordError(f"{name} of record {self.name} is not a list: {text[:80]}")
        return split(text[1:-1])

    def bits(self, name: str) -> list[str]:
        """`bits`, the lowest first: "0", "1", "?", "field{3}", "field" or an expression that TableGen left."""
        return bits(self.raw(name))

    def dag(self, name: str) -> Dag | None:
        """A `dag`; None where it is unset."""
        text = self.raw(name)
        return None if text == "?" else parse_dag(text)


def read_records(lines: Iterable[str], classes: Collection[str], section: str = "Defs") -> Iterator[TableRecord]:
    """Records that are of one of `classes`, in the order of the text.

    Parameters
    ----------
    section
        "Defs" for records; "Classes" for the classes themselves, which count as being of their own name.
    """
    class_names = frozenset(classes)
    here = False
    stream = iter(lines)
    for line in stream:
        if line.startswith("-----"):
            here = f" {section} " in line
            continue
        if not here or not line.startswith(("def ", "class ")):
            continue
        head = _HEAD.match(line.rstrip("\n"))
        if head is None:
            raise RecordError(f"this is not the head of a record: {line[:80]!r}")
        of = frozenset((head[2] or "").split()) | ({head[1]} if section == "Classes" else frozenset())
        if class_names.isdisjoint(of):
            continue
        yield TableRecord(head[1], of, _read_fields(head[1], stream))


def _read_fields(name: str, stream: Iterator[str]) -> dict[str, str]:
    fields: dict[str, str] = {}
    for line in stream:
        if line == "}\n" or line == "}":
            return fields
        field, equals, value = line.partition(" = ")
        if not equals:
            continue
        value = _whole_value(value, stream)
        fields[field[field.rindex(" ") + 1 :]] = value.rstrip("\n").removesuffix(";")
    raise RecordError(f"the text ends inside record {name}")


def _whole_value(value: str, stream: Iterator[str]) -> str:
    end = next((end for start, end in _LONG_VALUES.items() if value.startswith(start)), ";")
    while not value.rstrip("\n").endswith(end):
        more = next(stream, None)
        if more is None:
            raise RecordError(f"the text ends inside a value: {value[:80]!r}")
        value += more
    return value


def bits(text: str) -> list[str]:
    """The parts of `{ a, b }`, the last first: TableGen writes the highest bit first.

    Examples
    --------
    >>> bits("{ 1, offset{1}, offset{0}, ? }")
    ['?', 'offset{0}', 'offset{1}', '1']
    """
    if not (text.startswith("{") and text.endswith("}")):
        raise RecordError(f"these are not bits: {text[:80]}")
    return split(text[1:-1])[::-1]


def split(text: str) -> list[str]:
    """Parts between commas that stand in no brackets.

    Examples
    --------
    >>> split("a, !if(b, { c, d }, ?){1}, e")
    ['a', '!if(b, { c, d }, ?){1}', 'e']
    """
    parts = [part.strip() for part in text.split(",")]
    if "(" in text or "[" in text:  # else braces are indexes, which have no commas
        parts = _split_nested(text)
    return [] if parts == [""] else parts


def _split_nested(text: str) -> list[str]:
    parts, depth, start = [], 0, 0
    for at, character in enumerate(text):
        if character in "([{":
            depth += 1
        elif character in ")]}":
            depth -= 1
        elif character == "," and depth == 0:
            parts.append(text[start:at].strip())
            start = at + 1
    return [*parts, text[start:].strip()]


def parse_dag(text: str) -> Dag:
    """Reads a dag.

    Examples
    --------
    >>> parse_dag("(outs VGPR_32:$vdst)")
    Dag(operator='outs', arguments=(('VGPR_32', 'vdst'),))
    >>> parse_dag("(all_of (not FeatureA), FeatureB)").arguments[1]
    ('FeatureB', '')
    """
    tokens = _DAG_TOKEN.findall(text)
    dag, end = _dag_at(tokens, 0, text)
    if end != len(tokens):
        raise RecordError(f"there is more after the dag: {text[:80]}")
    return dag


def _dag_at(tokens: list[str], at: int, text: str) -> tuple[Dag, int]:
    if tokens[at : at + 1] != ["("] or at + 2 >= len(tokens):
        raise RecordError(f"this is not a dag: {text[:80]}")
    operator, at = tokens[at + 1].partition(":")[0], at + 2
    arguments: list[tuple[Dag | str, str]] = []
    while at < len(tokens) and tokens[at] != ")":
        value: Dag | str
        if tokens[at] == "(":
            value, at = _dag_at(tokens, at, text)
            name = tokens[at] if at < len(tokens) and tokens[at].startswith(":$") else ""
            at += 1 if name else 0
        else:
            value, _, name = tokens[at].partition(":")
            at += 1
        arguments.append((value, name.lstrip(":$")))
        if at < len(tokens) and tokens[at] == ",":
            at += 1
    if at >= len(tokens):
        raise RecordError(f"a dag is not closed: {text[:80]}")
    return Dag(operator, tuple(arguments)), at + 1
