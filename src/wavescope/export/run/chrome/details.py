"""What a Chrome event says besides its name: its `args`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

if TYPE_CHECKING:
    from wavescope.export.run.chrome.places import Places
    from wavescope.model.run import Run


def of_work(piece: pl.DataFrame, places: Places) -> pl.DataFrame:
    """Of kernels their launch, of copies their size; of RPD files the type of the op, as rpd2tracing says it."""
    if places.is_rpd(piece["process"][0]):
        return piece.select(pl.col("properties").str.json_path_match("$.opType").fill_null("").alias("desc"))
    if "size_bytes" in piece.columns:
        return piece.select("size_bytes")
    return piece.select(_xyz("grid"), _xyz("workgroup"), "lds_bytes", "scratch_bytes")


def _xyz(what: str) -> pl.Expr:
    return pl.format("{} x {} x {}", *(f"{what}_{axis}" for axis in "xyz")).alias(what)


def of_calls(run: Run, piece: pl.DataFrame, places: Places) -> pl.DataFrame:
    """The category of a call and its arguments; of RPD files the text of the arguments or of the marker."""
    if places.is_rpd(piece["process"][0]):
        text = pl.col("properties").str.json_path_match("$.args").fill_null("")
        is_marker = pl.col("domain").cast(pl.String) == "MARKER"
        return piece.select(pl.when(is_marker).then(pl.col("name").cast(pl.String)).otherwise(text).alias("desc"))
    texts = _arguments(run)
    said = piece.select("process", "event", pl.col("category").cast(pl.String))
    said = said.join(texts, on=["process", "event"], how="left", maintain_order="left")
    return said.select("category", "desc")


def _arguments(run: Run) -> pl.DataFrame:
    """`name=value | ...` of every event that has arguments."""
    if _ARGUMENTS not in run.answers:
        rows = run.read("arguments", ["process", "event", "position", "name", "value"]).drop_nulls("event")
        pair = pl.concat_str(pl.col("name").cast(pl.String), pl.lit("="), "value", ignore_nulls=True)
        texts = rows.sort("process", "event", "position").group_by("process", "event", maintain_order=True)
        run.answers[_ARGUMENTS] = texts.agg(pair.str.join(" | ").alias("desc"))
    made: pl.DataFrame = run.answers[_ARGUMENTS]
    return made


_ARGUMENTS = ("chrome", "arguments")
