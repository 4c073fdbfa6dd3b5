"""Code rows with what people need to find them: address, text, source line."""

from __future__ import annotations

import polars as pl

from wavewright.model.trace import ThreadTrace


def located(frame: pl.DataFrame, trace: ThreadTrace, *, row: str = "row") -> pl.DataFrame:
    """The frame with address, text, file and line of its code rows; `producer_row` gives `producer_address` etc."""
    prefix = row.removesuffix("row")
    names = {name: prefix + name for name in ("address", "text", "file", "line")}
    places = trace.code.select("row", *names).rename({"row": row, **names})
    return frame.join(places, on=row, how="left", maintain_order="left")
