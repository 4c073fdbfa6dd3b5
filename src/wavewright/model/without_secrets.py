"""A source whose texts hide secrets: values after words like --token, and passwords of addresses. The only such place.

Command lines, arguments and free-form texts of a run end up in answers, pages and files that are passed on. So they
are masked where a run is opened, before anything can read them; `open_run(..., show_secrets=True)` leaves this out.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from wavewright.base.secrets import masked
from wavewright.model.stored_tables import TablesByName

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    import polars as pl

    from wavewright.model.losses import Loss
    from wavewright.model.run import RunSource

#: Columns that hold texts of the user; names of kernels, calls and markers are what a run is about, and stay.
_TEXTS = {"processes": ("command", "properties"), "arguments": ("value",)}
#: What every masked text has, in a form that millions of rows can be asked for.
_SUSPECT = r"(?i)token|key|pass|pwd|secret|auth|credential|bearer|basic|://"


class WithoutSecrets:
    """`source`, in which secrets are masked."""

    def __init__(self, source: RunSource) -> None:
        self.path, self.format, self.version = source.path, source.format, source.version
        self.extras: Mapping[str, pl.DataFrame] = TablesByName(source.extras, partial(_masked_extra, source))
        self.database = getattr(source, "database", None)  # queries of what it stores mask it themselves
        self.hides_secrets = True
        self._source = source

    @property
    def losses(self) -> list[Loss]:
        """The losses of the source; reading may add some."""
        return self._source.losses

    def chunks(self, table: str, columns: Sequence[str]) -> Iterator[pl.DataFrame]:
        """See `RunSource.chunks`."""
        texts = [name for name in columns if name in _TEXTS.get(table, ())]
        for piece in self._source.chunks(table, columns):
            yield _masked(piece, texts) if texts else piece


# Not a method: a source that its own table refers to would be closed by the collector of circles, some time later.
def _masked_extra(source: RunSource, name: str) -> pl.DataFrame:
    """A table that only one format has: all its texts are free-form."""
    import polars as pl

    frame = source.extras[name]
    return _masked(frame, [column for column, dtype in frame.schema.items() if dtype == pl.String])


def _masked(frame: pl.DataFrame, columns: Sequence[str]) -> pl.DataFrame:
    import polars as pl

    masked_columns = []
    for name in columns:
        texts = frame[name].cast(pl.String)
        suspects = texts.filter(texts.str.contains(_SUSPECT)).unique()
        masks = {text: masked(text) for text in suspects.to_list()}
        if any(text != mask for text, mask in masks.items()):
            masked_columns.append(texts.replace(masks).cast(frame.schema[name]).alias(name))
    return frame.with_columns(masked_columns) if masked_columns else frame
