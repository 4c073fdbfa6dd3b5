"""Base classes of results and documents: display in notebooks, and tables as polars, Arrow or pandas."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from wavewright.base.packages import require

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping

    import polars as pl

    from wavewright.model.schema import TableSpec


class Displayed:
    """A result or document that notebooks display: as a headline, tables and pictures.

    What a display needs is imported when a notebook asks for it.
    """

    def _repr_mimebundle_(
        self, include: Collection[str] | None = None, exclude: Collection[str] | None = None
    ) -> dict[str, str]:
        """The display as plain text, Markdown and HTML without script: IPython, Jupyter and marimo choose."""
        from importlib import import_module

        # Imported by name, because `notebook` imports the model: rooms below do not import rooms above them.
        bundle: dict[str, str] = import_module("wavewright.notebook.display").bundle_of(self)
        return {
            kind: text
            for kind, text in bundle.items()
            if (not include or kind in include) and kind not in (exclude or ())
        }


class WithTables(Displayed):
    """A document whose declared tables are attributes, such as `trace.waves` for `trace.table("waves")`."""

    specs: ClassVar[Mapping[str, TableSpec]] = {}  #: The declared tables.

    def table(self, name: str) -> pl.DataFrame:
        """The table `name`, read or computed when it is first asked for; subclasses say how."""
        raise NotImplementedError

    @property
    def extra_names(self) -> list[str]:
        """Names of tables that are not declared: only the file formats of this document have them."""
        return []

    def __getattr__(self, name: str) -> pl.DataFrame:
        if name in type(self).specs:
            return self.table(name)
        raise AttributeError(name)

    def __dir__(self) -> Iterator[str]:
        yield from super().__dir__()
        yield from type(self).specs

    def to_polars(self) -> dict[str, pl.DataFrame]:
        """All tables as polars frames."""
        return {name: self.table(name) for name in (*type(self).specs, *self.extra_names)}

    def to_arrow(self) -> dict[str, Any]:
        """All tables as `pyarrow.Table`; needs pyarrow. Raises `MissingToolError` when pyarrow is not installed."""
        require("pyarrow", "pandas")
        return {name: frame.to_arrow() for name, frame in self.to_polars().items()}

    def to_pandas(self) -> dict[str, Any]:
        """All tables as `pandas.DataFrame`; integers with missing values are nullable. Needs pandas and pyarrow.

        Raises `MissingToolError` when pandas or pyarrow is not installed.
        """
        require("pandas", "pandas")
        require("pyarrow", "pandas")
        return {name: _pandas_of(frame) for name, frame in self.to_polars().items()}


def _pandas_of(frame: pl.DataFrame) -> Any:
    """The table as a frame of pandas; integer columns with nulls get its nullable types.

    By itself, pandas makes float64 of them, which is exact only up to 2^53: large ids and times would change.
    """
    from importlib import import_module

    pd, pa = import_module("pandas"), import_module("pyarrow")

    names = [f"{sign}{bits}" for sign in ("Int", "UInt") for bits in (8, 16, 32, 64)]
    nullable = {getattr(pa, name.lower())(): getattr(pd, f"{name}Dtype")() for name in names}
    table = frame.to_pandas()
    for name, dtype in frame.schema.items():
        if dtype.is_integer() and frame[name].null_count():
            table[name] = frame.select(name).to_arrow().to_pandas(types_mapper=nullable.get)[name]
    return table
