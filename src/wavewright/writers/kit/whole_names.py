"""Names of frames, for tables that show a part of a name."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

from wavewright.base.words import kernel_title

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from wavewright.model.report import DataTable

_MOST_STRINGS = 4_000  #: Strings of frames among which the whole of a cut name is looked for.


class WholeNames:
    """The names of frames, of which tables show a part."""

    def __init__(self, data: Sequence[DataTable]) -> None:
        self._data = data
        self._answers: dict[str, str] = {}

    def of(self, text: str) -> str:
        """The one name that fits the parts around the ellipsis; the text itself where there is none or several."""
        if "…" not in text:
            return text
        if text not in self._answers:
            parts = text.split("…")
            fitting = {whole for whole, shown in self._all if _fits(whole, parts) or _fits(shown, parts)}
            self._answers[text] = fitting.pop() if len(fitting) == 1 else text
        return self._answers[text]

    @cached_property
    def _all(self) -> list[tuple[str, str]]:
        """Names as recorded and as kernels are shown."""
        names = list(dict.fromkeys(_strings(self._data)))[:_MOST_STRINGS]
        return [(name, kernel_title(name)) for name in names]


def _fits(name: str, parts: Sequence[str]) -> bool:
    """True if the parts are in the name, in this order, the first at its start and the last at its end."""
    at = len(parts[0])
    if len(name) <= sum(map(len, parts)) or not name.startswith(parts[0]) or not name.endswith(parts[-1]):
        return False
    for part in parts[1:-1]:
        at = name.find(part, at)
        if at < 0:
            return False
        at += len(part)
    return at + len(parts[-1]) <= len(name)


def _strings(data: Sequence[DataTable]) -> Iterable[str]:
    import polars as pl

    for table in data:
        for column in table.frame.head(_MOST_STRINGS).select(pl.col(pl.String)).iter_columns():
            yield from (value for value in column.unique(maintain_order=True).to_list() if value)
