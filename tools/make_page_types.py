"""Write the TypeScript types of the page's answers from what the code declares. `--check` compares.

Each table of `page_shapes.py` becomes an interface of its rows, and data about its columns: title, unit and
meaning, from which the page makes headings and tooltips.
"""

from __future__ import annotations

import ast
import dataclasses
import inspect
import json
import re
import sys
import types
import typing
from collections.abc import Mapping, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

import polars as pl
from page_shapes import SHAPES, Shape

from wavewright.model.document import DOCUMENTS
from wavewright.model.schema import ColumnSpec, TableSpec
from wavewright.page.questions import questions_about
from wavewright.questions.catalog import every_question

FILE = Path(__file__).resolve().parent.parent / "web" / "src" / "data" / "answers.gen.ts"

_HEAD = """\
// Made by tools/make_page_types.py from tools/page_shapes.toml: do not edit.
import type { Frame, TableInfo } from "./tables";
"""

_TYPES = {"String": "string", "Boolean": "boolean"}
_ADDRESSES = ("address", "producer_address")  # strings in JSON: JavaScript's numbers end at 2**53
_ACRONYMS = "SE CU GPU GPUs SIMD SIMDs VGPR VGPRs AGPR AGPRs SGPR SGPRs LDS L2 PID TID ID ME".split()  # noqa: SIM905
_SPELLED = {name.lower(): name for name in _ACRONYMS}


class Writer:
    """Collects interfaces: of answers, of the rows of their tables, and of the dataclasses in them."""

    def __init__(self) -> None:
        self.parts: list[str] = []
        self.classes: dict[type, str] = {}
        self.rows: dict[TableSpec, str] = {}

    def question(self, name: str, shape: Shape) -> None:
        """Write the tables of a question and, where it sends an analysis's answer, that answer."""
        rows = {field: self.table(_named(name, field), spec) for field, spec in shape.sent_tables.items()}
        if shape.answer is None:
            return
        lines = ["  definition: string;"] if shape.answer.definition else []
        hints = _hints_of(shape.answer)
        docs = _docs_of(shape.answer)
        for item in dataclasses.fields(shape.answer):
            if item.name in rows:
                lines.append(f"  {item.name}: Frame<{rows[item.name]}>;")
            elif item.name in shape.sent_fields:
                lines += _documented(item.name, self.type_of(hints[item.name]), docs.get(item.name, ""))
        lines += [f"  {field}: {self.added(name, field, kind)};" for field, kind in shape.fields.items()]
        self.interface(f"{_camel(name)}Answer", _first_line(shape.answer), lines)

    def added(self, name: str, field: str, kind: Any) -> str:
        """The type of a field that the page adds; of a table: a list of its rows."""
        return f"{self.table(_named(name, field), kind)}[]" if isinstance(kind, TableSpec) else self.type_of(kind)

    def table(self, words: str, spec: TableSpec) -> str:
        """Write the rows of a table and what its columns mean, once; the name of the type of a row."""
        if spec in self.rows:
            return self.rows[spec]
        row = self.rows[spec] = f"{_camel(words)}Row"
        lines = [f"  /** {_described(column)} */\n  {column.name}: {_column_type(column)};" for column in spec.columns]
        self.interface(row, f"One row is {spec.row}.", lines)
        info = "".join(f"  {column.name}: {_info(column)},\n" for column in spec.columns)
        self.parts.append(f"export const {words.upper()}: TableInfo<{row}> = {{\n{info}}};\n")
        return row

    def interface(self, name: str, about: str, lines: list[str]) -> None:
        """Write one interface."""
        body = "\n".join(lines)
        self.parts.append(f"/** {about} */\nexport interface {name} {{\n{body}\n}}\n")

    def type_of(self, hint: Any) -> str:
        """A Python type as a TypeScript type."""
        origin, inner = typing.get_origin(hint), typing.get_args(hint)
        if hint is type(None):
            return "null"
        if origin in (types.UnionType, typing.Union):
            return " | ".join(dict.fromkeys(self.type_of(part) for part in inner))
        if origin is typing.Literal:
            return " | ".join(json.dumps(value) for value in inner)
        if origin in (tuple, list, Sequence, frozenset):
            return f"{self.type_of(inner[0])}[]"
        if origin in (dict, Mapping):
            return f"Record<string, {self.type_of(inner[1])}>"
        if dataclasses.is_dataclass(hint) and isinstance(hint, type):
            return self.dataclass(hint)
        return {int: "number", float: "number", str: "string", bool: "boolean"}.get(hint, "unknown")

    def dataclass(self, kind: type) -> str:
        """Write the interface of a dataclass, once."""
        if kind not in self.classes:
            is_used = kind.__name__ in self.classes.values()
            self.classes[kind] = (
                f"{_camel(kind.__module__.split('.')[-2])}{kind.__name__}" if is_used else kind.__name__
            )
            hints, docs = _hints_of(kind), _docs_of(kind)
            lines: list[str] = []
            for item in dataclasses.fields(kind):
                lines += _documented(
                    item.name, _address_or(item.name, self.type_of(hints[item.name])), docs.get(item.name, "")
                )
            self.interface(self.classes[kind], _first_line(kind), lines)
        return self.classes[kind]


def _named(question: str, field: str) -> str:
    """The words for a table: of the question alone where the table is what it is about."""
    is_main = field == "rows" or question == field or question.endswith((f"_{field}", f"_{field.removesuffix('s')}"))
    return question if is_main else f"{question}_{field}"


def _camel(words: str) -> str:
    return "".join(word.capitalize() for word in words.split("_"))


def _first_line(kind: type) -> str:
    return (kind.__doc__ or "").strip().splitlines()[0]


def _documented(name: str, kind: str, text: str) -> list[str]:
    return [f"  /** {text} */\n  {name}: {kind};" if text else f"  {name}: {kind};"]


def _docs_of(kind: type) -> dict[str, str]:
    """Field -> its `#:` comment, above it or at the end of its line."""
    docs: dict[str, str] = {}
    above: list[str] = []
    sources = [inspect.getsource(base) for base in reversed(kind.__mro__) if dataclasses.is_dataclass(base)]
    for line in "\n".join(sources).splitlines():
        code, _, comment = line.partition("#:")
        field = re.match(r"    (\w+): ", code)
        if comment and not code.strip():
            above.append(comment.strip())
            continue
        if field and (comment or above):
            docs[field[1]] = " ".join([*above, comment.strip()]).strip()
        above = []
    return docs


def _hints_of(kind: type) -> dict[str, Any]:
    """Field -> its type, of the class and its bases; parameters of generic bases are replaced."""
    hints: dict[str, Any] = {}
    for base in reversed(kind.__mro__):
        if dataclasses.is_dataclass(base):
            hints |= _own_hints(base)
    arguments = {
        parameter: argument
        for base in getattr(kind, "__orig_bases__", ())
        for parameter, argument in zip(
            getattr(typing.get_origin(base), "__parameters__", ()), typing.get_args(base), strict=False
        )
    }
    return {name: _replaced(hint, arguments) for name, hint in hints.items()}


def _replaced(hint: Any, arguments: Mapping[Any, Any]) -> Any:
    parameters = getattr(hint, "__parameters__", ())
    return hint[tuple(arguments.get(parameter, parameter) for parameter in parameters)] if parameters else hint


def _own_hints(kind: type) -> dict[str, Any]:
    """Field -> its type, also where the module imports it for type checkers only."""
    module = sys.modules[kind.__module__]
    annotations = inspect.get_annotations(kind)
    words = {word for text in annotations.values() for word in re.findall(r"\w+", str(text))}
    names = {
        alias.name: getattr(import_module(line.module), alias.name)
        for line in ast.walk(ast.parse(inspect.getsource(module)))
        if isinstance(line, ast.ImportFrom) and line.module
        for alias in line.names
        if alias.name in words
    }
    common = {"pl": pl, "Mapping": Mapping, "TableSpec": TableSpec}
    holder = type(kind.__name__, (), {"__annotations__": annotations, "__module__": kind.__module__})
    return typing.get_type_hints(holder, vars(module) | names | common)


def _address_or(name: str, kind: str) -> str:
    return "string" if name in _ADDRESSES else kind


def _column_type(column: ColumnSpec) -> str:
    kind = "number[]" if column.dtype.startswith("List") else _TYPES.get(column.dtype, "number")
    return _address_or(column.name, kind) + (" | null" if column.is_optional else "")


_PLACES = {
    "code.row": "code row",
    "code.file": "source file",
    "code.line": "source line",
    "code.text": "instruction",
    "code.address": "address",
    "waves.wave": "number of the wave",
    "paths.path": "number of the path",
    "kernels.kernel": "number of the kernel",
}


def _meaning(column: ColumnSpec) -> str:
    """Meaning of a column as the words of a tooltip: columns of other tables get words, null is an empty cell."""
    text = column.meaning.replace("`", "")
    for place, words in _PLACES.items():
        text = text.replace(place, words)
    text = re.sub(r" \((?:\w+\.py|[A-Z_]{4,})\)", "", text)  # names of Python constants and modules
    text = re.sub(r"\bnull\b", "empty", text)
    is_name = re.match(r"\w*[\d_]|\w+\.\w", text)
    return text if is_name else text[:1].upper() + text[1:]


def _described(column: ColumnSpec) -> str:
    return f"{_meaning(column)}{f' [{column.unit}]' if column.unit else ''}"


def _title(column: ColumnSpec) -> str:
    name = re.sub(r"_(ns|bytes|total)(?=_|$)", "", column.name.removeprefix("is_"))
    if re.search(r"(ed|last|tight|done)_count$", name):
        name = name.removesuffix("_count")
    if name.endswith("_count"):
        name = re.sub(r"y$", "ie", re.sub(r"(ch|s)$", r"\1e", name.removesuffix("_count"))) + "s"
    words = [_SPELLED.get(word, word) for word in name.split("_")]
    return " ".join([words[0][:1].upper() + words[0][1:], *words[1:]])


def _info(column: ColumnSpec) -> str:
    return json.dumps([_title(column), column.unit, _meaning(column)], ensure_ascii=False)


def page_types() -> str:
    """The whole file."""
    writer = Writer()
    for name, shape in SHAPES.items():
        writer.question(name, shape)
    return "\n".join([_HEAD, _of_time(), _asked(), *writer.parts])


def _asked() -> str:
    """View -> the declared question that it answers."""
    sentences = {question.view: question.sentence for question in every_question() if question.view}
    listed = "\n".join(f"  {view}: {json.dumps(sentence)}," for view, sentence in sorted(sentences.items()))
    doc = "/** View -> the question that it answers, as everywhere else. */"
    return f"{doc}\nexport const ASKED = {{\n{listed}\n}};\n"


def _of_time() -> str:
    every = (question for kind in DOCUMENTS for question in questions_about(kind).values())
    names = sorted({question.name for question in every if question.is_of_time})
    listed = "\n".join(f'  "{name}",' for name in names)
    doc = "/** Questions that can be asked about a part of the time. */"
    return f"{doc}\nexport const OF_TIME = new Set([\n{listed}\n]);\n"


def main() -> int:
    """Write or check the file; 1 when it is out of date."""
    text = page_types()
    if "--check" in sys.argv:
        is_current = FILE.is_file() and FILE.read_text() == text
        if not is_current:
            print(f"{FILE.name} is out of date: run tools/make_page_types.py", file=sys.stderr)
        return int(not is_current)
    FILE.write_text(text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
