"""What a Chrome event says besides its name: its `args`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from wavescope.export.run.chrome.rows import numbered, objects

if TYPE_CHECKING:
    from wavescope.export.run.chrome.track_ids import TrackIds
    from wavescope.model.run import Run


def of_work(piece: pl.DataFrame, track_ids: TrackIds) -> tuple[pl.Series, list[str]]:
    """Of kernels their launch, of copies their size; of RPD files the type of the op, as rpd2tracing says it."""
    if track_ids.is_rpd(piece["process"][0]):
        return _properties(piece["properties"], "opType")
    if "size_bytes" in piece.columns:
        return objects(piece.select("size_bytes"))
    return objects(piece.select(_xyz("grid"), _xyz("workgroup"), "lds_bytes", "scratch_bytes"))


def _xyz(what: str) -> pl.Expr:
    return pl.format("{} x {} x {}", *(f"{what}_{axis}" for axis in "xyz")).alias(what)


def of_calls(run: Run, piece: pl.DataFrame, track_ids: TrackIds) -> tuple[pl.Series, list[str]]:
    """The category of a call and its arguments; of RPD files the text of the arguments or of the marker."""
    if track_ids.is_rpd(piece["process"][0]):
        numbers, described = _properties(piece["properties"], "args")
        is_marker = piece["domain"].cast(pl.String) == "MARKER"
        names, marker_texts = numbered(piece.select(pl.when(is_marker).then("name")).to_series())
        marked = pl.select(pl.when(is_marker).then(names + len(described)).otherwise(numbers)).to_series()
        return marked, described + _described(pl.Series(marker_texts, dtype=pl.String))
    texts = _arguments(run)
    categories = piece.select("process", "event", pl.col("category").cast(pl.String))
    categories = categories.join(texts, on=["process", "event"], how="left", maintain_order="left")
    return objects(categories.select("category", "desc"))


def _properties(column: pl.Series, key: str) -> tuple[pl.Series, list[str]]:
    """One of the properties as the description; most rows share theirs, so JSON is read once for each."""
    numbers, texts = numbered(column)
    return numbers, _described(pl.Series(texts, dtype=pl.String).str.json_path_match(f"$.{key}").fill_null(""))


def _described(texts: pl.Series) -> list[str]:
    return texts.alias("desc").to_frame().select(pl.struct("desc").struct.json_encode()).to_series().to_list()


def _arguments(run: Run) -> pl.DataFrame:
    """`name=value | ...` of every event that has arguments."""
    if _ARGUMENTS not in run.answers:
        rows = run.read("arguments", ["process", "event", "position", "name", "value"]).drop_nulls("event")
        pair = pl.concat_str(pl.col("name").cast(pl.String), pl.lit("="), "value", ignore_nulls=True)
        texts = rows.sort("process", "event", "position").group_by("process", "event", maintain_order=True)
        run.answers[_ARGUMENTS] = texts.agg(pair.str.join(" | ").alias("desc"))
    arguments: pl.DataFrame = run.answers[_ARGUMENTS]
    return arguments


_ARGUMENTS = ("chrome", "arguments")
