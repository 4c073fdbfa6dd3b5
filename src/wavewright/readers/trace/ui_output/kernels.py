"""The `kernels` table of a decoded directory: the kernels that its waves entered, with where they lie in the code."""

from __future__ import annotations

import re
from typing import Any

import polars as pl

from wavewright.codeobj.names import demangle_all
from wavewright.model.schema import THREAD_TRACE, frame_of
from wavewright.readers.trace.ui_output.code import CodeFile
from wavewright.readers.trace.ui_output.parts import readable

_PLACE = re.compile(r"(\d{1,19}) / 0x([0-9a-fA-F]{1,16})")  #: How writers name an entry that they cannot resolve.


class Kernels:
    """Numbers of the file (process-wide, with gaps) -> numbers of the table (only kernels that occur here).

    Number 0 is the unknown entry, as is every number that the file does not name.
    """

    def __init__(self, names: dict[str, Any], code: CodeFile) -> None:
        self._names = {int(key): readable(str(name)) for key, name in names.items() if key.isascii() and key.isdigit()}
        self._code = code
        self._labelled = {label.name: (label.code_object, label.address) for label in reversed(code.labels)}
        self._functions = dict(reversed(list(zip(code.places, code.functions, strict=True))))
        self._used: list[int] = []

    def use(self, ids: pl.Series) -> None:
        """Add the kernels with these numbers of the file."""
        numbers = (number for number in ids.drop_nulls().unique().sort().to_list() if self._is_known(number))
        self._used = sorted({*self._used, *numbers})

    def _is_known(self, number: int) -> bool:
        return number in self._names and self._names[number] != "0 / 0x0"

    def entries(self) -> pl.DataFrame:
        """`id` (of the file), `number` (kernels.kernel), `code_object` and `address` (null = unknown)."""
        rows = [(number, at, *(self._place(number) or (None, None))) for at, number in enumerate(self._used)]
        schema = {"id": pl.UInt32, "number": pl.UInt32, "code_object": pl.UInt64, "address": pl.UInt64}
        return pl.DataFrame(rows, schema=schema, orient="row")

    def table(self) -> pl.DataFrame:
        """The `kernels` table. Where no kernel is named (PC samples, no occupancy), the labels in the code are all
        there is."""

        kernels: list[tuple[str, tuple[int, int] | None]]
        if self._used:
            kernels = [(self._name(number), self._place(number)) for number in self._used]
        else:
            kernels = list(reversed(self._labelled.items()))
        signatures = {label.name: label.demangled for label in self._code.labels if label.demangled}
        readable_names = _demangled([name for name, _ in kernels if name not in signatures])
        rows = []
        for number, (name, place) in enumerate(kernels):
            signature = signatures.get(name) or readable_names.get(name, name)
            code_object, address = place or (None, None)
            row = {"name": name, "demangled": signature, "code_object": code_object, "address": address}
            rows.append(row | {"kernel": number})
        return frame_of(THREAD_TRACE["kernels"], rows)

    def _place(self, number: int) -> tuple[int, int] | None:
        """(code object, address) of the entry: from the name, or the position of the label of that name."""
        name = self._names[number]
        place = _PLACE.fullmatch(name)
        if place:
            return int(place[1]), int(place[2], 16)
        return self._labelled.get(name)

    def _name(self, number: int) -> str:
        """The symbol. An entry after the argument preload has no symbol: the symbol of its function is used."""
        name = self._names[number]
        place = _PLACE.fullmatch(name)
        if not place:
            return name
        return self._functions.get((int(place[1]), int(place[2], 16))) or name


def _demangled(names: list[str]) -> dict[str, str]:
    if not any(name.startswith("_Z") or name.endswith(".kd") for name in names):
        return {}  # saves an import that not every reader of a trace needs
    return demangle_all(names)
