"""Reads the tables that were made once from LLVM's records (`../shared/data/isa`), to check newer ones against."""

from __future__ import annotations

import csv
import json
import re
from typing import TYPE_CHECKING

from tools.isa.model import FieldPart, ImageRecord, Isa, Operand, OperandType, Record, TargetGroup

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

_PART = re.compile(r"\[(\d+)(?::(\d+))?\]@(\d+)(?::(\d+))?")
_VERSION = re.compile(r"LLVM (\d+\.\d+\.\d+)")

Layout = tuple[tuple[str, tuple[FieldPart, ...]], ...]


def read_isa(folder: Path) -> Isa:
    """Reads all tables of a folder."""
    names = json.loads((folder / "names.json").read_text())
    version = _VERSION.search(names["source"])
    if version is None:
        raise ValueError(f"{folder / 'names.json'}: the source names no LLVM version")
    return Isa(
        llvm_version=version[1],
        records=tuple(_records(folder)),
        operand_types=tuple(_operand_types(folder)),
        features={row["target"]: tuple(row["features"].split(",")) for row in _rows(folder / "targets.tsv")},
        target_groups=tuple(_target_groups(folder)),
        names={key: value for key, value in names.items() if key != "source"},
        image_records=tuple(
            ImageRecord(row["record"], row["base"], row["encoding"], int(row["vdata_dwords"]), int(row["vaddr_dwords"]))
            for row in _rows(folder / "mimg_records.tsv")
        ),
        image_bases={
            row["base"]: {key: int(value) for key, value in row.items() if key != "base"}
            for row in _rows(folder / "mimg_base.tsv")
        },
        image_sizes={
            (row["base"], row["encoding"]): tuple(_pair(pair) for pair in row["variants"].split())
            for row in _rows(folder / "mimg_sizes.tsv")
        },
        image_dims={
            int(row["encoding"]): (row["name"], int(row["coordinates"]), int(row["gradients"]), int(row["array"]))
            for row in _rows(folder / "mimg_dims.tsv")
        },
    )


def _rows(path: Path) -> Iterator[dict[str, str]]:
    with path.open() as file:
        lines = (line for line in file if not line.startswith("#"))
        yield from csv.DictReader(lines, delimiter="\t", quoting=csv.QUOTE_NONE, restval="")


def _records(folder: Path) -> Iterator[Record]:
    templates = {row["template"]: row for row in _rows(folder / "templates.tsv")}
    layouts = {row["layout"]: _layout(row["fields"] or "") for row in _rows(folder / "layouts.tsv")}
    for row in _rows(folder / "instructions.tsv"):
        template = templates[row["template"]]
        outs, _, ins = template["operands (outs -> ins, name:type)"].partition("->")
        yield Record(
            decoder_namespace=row["decoder_namespace"],
            name=row["record"],
            size_bytes=int(row["size_bytes"]),
            mask=int(row["mask"], 16),
            value=int(row["value"], 16),
            mnemonic=row["mnemonic"],
            template=json.loads(template["asm_operands"]),
            outs=_operands(outs),
            ins=_operands(ins),
            layout=layouts[row["layout"]],
            encoding=_list(row["encoding"], "+"),
            targets=_list(row["targets"]),
            flags=_list(row["flags"]),
            implicit_uses=_list(row["implicit_uses"]),
            implicit_defs=_list(row["implicit_defs"]),
            constraints="" if row["constraints"] == "-" else row["constraints"],
        )


def _operand_types(folder: Path) -> Iterator[OperandType]:
    for row in _rows(folder / "operand_types.tsv"):
        yield OperandType(
            name=row["type"],
            kind=row["kind"],
            register_class=row["register_class"],
            value_type=row["value_type"],
            print_method=row["print_method"],
            decoder_method=row["decoder_method"],
            operand_type=row["operand_type"],
        )


def _target_groups(folder: Path) -> Iterator[TargetGroup]:
    for row in _rows(folder / "target_groups.tsv"):
        yield TargetGroup(
            column=None if row["column"] == "-" else row["column"],
            targets=_list(row["targets"]),
            nearest=row["nearest"],
            missing_there=int(row["missing_there"]),
            extra_there=int(row["extra_there"]),
        )


def _layout(fields: str) -> Layout:
    layout = []
    for field in fields.split():
        name, _, parts = field.partition("=")
        layout.append((name, tuple(_field_part(part) for part in parts.split("+"))))
    return tuple(layout)


def _field_part(text: str) -> FieldPart:
    match = _PART.fullmatch(text)
    if match is None:
        raise ValueError(f"layouts.tsv: no part of a field: {text}")
    high, low, word_high, word_low = match.groups()
    return FieldPart(int(high), int(low or high), int(word_low or word_high))


def _operands(text: str) -> tuple[Operand, ...]:
    return tuple(Operand(*item.rsplit(":", 1)) for item in text.split())


def _list(text: str, separator: str = ",") -> tuple[str, ...]:
    return () if text == "-" else tuple(text.split(separator))


def _pair(text: str) -> tuple[int, int]:
    data, address = text.split("/")
    return int(data), int(address)
