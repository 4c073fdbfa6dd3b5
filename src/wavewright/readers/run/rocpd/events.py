"""Events: the kind of call, and the names of markers, once per distinct name."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import msgspec
import polars as pl

from wavewright.readers.run.rocpd.lookup import Lookup
from wavewright.readers.run.rocpd.runs import RocpdRun, Types

_MADE = ("category", "domain", "message")
_MARKER = "MARKER"


def event_chunks(run: RocpdRun, columns: Types) -> Iterator[pl.DataFrame]:
    """These columns of the stored table `event` in chunks; `category`, `domain` and `message` are computed.

    The message is the text of a marker; null for all other calls.
    """
    derived = [name for name in columns if name in _MADE]
    needs = {name: dtype for name, dtype in columns.items() if name not in _MADE}
    if not derived:
        yield from run.chunks("event", needs)
        return
    categories = _Categories.read(run)
    has_messages = "message" in derived and categories.has_markers
    needs |= {"category_id": pl.Int64} | ({"extdata": pl.String} if has_messages else {})
    for piece in run.chunks("event", needs):
        rows = categories.lookup.rows(piece["category_id"])
        values = {"category": categories.names.gather(rows), "domain": categories.domains.gather(rows)}
        if has_messages:
            values["message"] = _messages(piece["extdata"], values["domain"])
        else:
            values["message"] = pl.Series([None], dtype=pl.Categorical).new_from_index(0, piece.height)
        yield piece.with_columns(values[name].alias(name) for name in derived).select(*columns)


@dataclass(frozen=True)
class _Categories:
    """The names of categories, by id."""

    lookup: Lookup
    names: pl.Series
    domains: pl.Series
    has_markers: bool

    @classmethod
    def read(cls, run: RocpdRun) -> _Categories:
        if run.has("info_category", "name"):
            texts = run.frame("info_category", {"id": pl.Int64, "name": pl.String})
        else:
            texts = run.frame("string", {"id": pl.Int64, "string": pl.String}).rename({"string": "name"})
        # rocprof-sys writes rocm_hip_api, and names of its own for what it samples.
        name = pl.col("name").str.replace("^(timer|overflow)_sampling", "sampling")
        domains = texts.select(name.str.extract("^(?:rocm_)?([^_]*)").str.to_uppercase()).to_series()
        return cls(
            Lookup.of(texts["id"]),
            texts["name"].cast(pl.Categorical),
            domains.cast(pl.Categorical),
            bool((domains == _MARKER).any()),
        )


def _messages(extdata: pl.Series, domains: pl.Series) -> pl.Series:
    markers = (domains == _MARKER).arg_true()
    texts = extdata.gather(markers)
    distinct = texts.drop_nulls().unique()
    messages = pl.Series([_message(text) for text in distinct], dtype=pl.String).cast(pl.Categorical)
    rows = pl.Series([None], dtype=pl.UInt32).new_from_index(0, len(extdata))
    numbers = texts.replace_strict(distinct, range(len(distinct)), default=None, return_dtype=pl.UInt32)
    return messages.gather(rows.scatter(markers, numbers))


def _message(text: str) -> str | None:
    if '"message"' not in text:
        return None
    try:
        message = _EXTDATA.decode(text).message
    except (ValueError, RecursionError):
        return None
    return message if isinstance(message, str) else None


class _Extdata(msgspec.Struct):
    """The message of an event; other members are ignored."""

    message: Any = None


_EXTDATA = msgspec.json.Decoder(_Extdata)
