"""Details of Chrome events: the category `cat`, and `args` in Kineto's words."""

from __future__ import annotations

from collections.abc import Mapping
from functools import reduce

import msgspec
import polars as pl

from wavewright import _core
from wavewright.export.run.chrome.event_rows import numbered
from wavewright.export.run.chrome.track_ids import TrackIds
from wavewright.model.run import Run

#: The category of slices around the work of a marker or of a graph.
FRAME = "gpu_user_annotation"
#: Domain of a call -> its category, as Kineto calls it on AMD GPUs; others are their domain in lower case.
_CATEGORIES = {"HIP": "cuda_runtime", "OPERATOR": "cpu_op", "MARKER": "user_annotation", "PYTHON": "python_function"}
_MEMSET = "^(?:Memset|FillBuffer)"
_DIRECTIONS = {
    "(?i)HOST_?TO_?DEVICE": "HtoD",
    "(?i)DEVICE_?TO_?HOST": "DtoH",
    "(?i)DEVICE_?TO_?DEVICE": "DtoD",
    "(?i)HOST_?TO_?HOST": "HtoH",
}


def categories_of_work(piece: pl.DataFrame) -> pl.Series:
    """The category of kernels or copies."""
    if "size_bytes" in piece.columns:  # of copies
        return pl.repeat("gpu_memcpy", piece.height, eager=True)
    is_memset = pl.col("name").cast(pl.String).str.contains(_MEMSET).fill_null(value=False)
    return piece.select(pl.when(is_memset).then(pl.lit("gpu_memset")).otherwise(pl.lit("kernel"))).to_series()


def categories_of_calls(piece: pl.DataFrame, track_ids: TrackIds) -> pl.Series:
    """The category of calls: that of the file, if it was a Chrome trace; else by domain."""
    domain = pl.col("domain").cast(pl.String).fill_null("CPU")
    category = domain.replace_strict(_CATEGORIES, default=None, return_dtype=pl.String)
    category = pl.coalesce(category, domain.str.to_lowercase())
    if track_ids.is_chrome(piece["process"][0]):
        category = pl.coalesce(pl.col("category").cast(pl.String).replace("", None), category)
    return piece.select(category).to_series()


def of_work(piece: pl.DataFrame, track_ids: TrackIds) -> list[str]:
    """The details of kernels and copies: device, queue, launching call, sizes; of RPD files also the type of the op."""
    members: dict[str, pl.Series] = {}
    if track_ids.is_rpd(piece["process"][0]):
        members["desc"] = _property(piece["properties"], "opType")
    members |= {
        "device": piece["gpu"].replace_strict(track_ids.devices, return_dtype=pl.Int64),
        "stream": piece.select(pl.coalesce("stream_id", "queue_id", pl.lit(0, pl.Int64))).to_series(),
        "queue-id": piece["queue_id"],
        "correlation": piece["correlation"],
        "rank": _ranks(piece, track_ids),
    }
    if "size_bytes" in piece.columns:
        members |= {"bytes": piece["size_bytes"], "kind": _direction(piece["name"])}
    else:
        members |= {"grid": _workgroups(piece), "block": _sizes(piece, "workgroup")}
        members |= {name: piece[name] for name in ("lds_bytes", "scratch_bytes")}
    return _objects(members, piece["properties"] if track_ids.is_chrome(piece["process"][0]) else None)


def of_calls(run: Run, piece: pl.DataFrame, track_ids: TrackIds) -> list[str]:
    """The details of calls: correlation, rank, arguments; of RPD files the text of the arguments or of the marker."""
    links = {"correlation": piece["correlation"], "External id": piece["external_correlation"].replace(0, None)}
    links["rank"] = _ranks(piece, track_ids)
    if track_ids.is_rpd(piece["process"][0]):
        is_marker = pl.col("domain").cast(pl.String) == "MARKER"
        described = pl.when(is_marker).then(_text(piece["name"])).otherwise(_property(piece["properties"], "args"))
        return _objects({"desc": piece.select(described).to_series()} | links, None)
    if track_ids.is_chrome(piece["process"][0]):
        return _objects(links, piece["event_properties"])
    arguments = piece.select("process", "event").join(
        _arguments(run), on=["process", "event"], how="left", maintain_order="left"
    )
    return _objects({"category": _text(piece["category"]), "desc": _text(arguments["desc"])} | links, None)


def _ranks(piece: pl.DataFrame, track_ids: TrackIds) -> pl.Series:
    """The rank of each row, where the trace has several ranks."""
    ranks = {process: track_ids.rank_of(process) for process in piece["process"].unique()}
    return piece["process"].replace_strict(ranks, default=None, return_dtype=pl.Int64)


def _objects(members: Mapping[str, pl.Series], properties: pl.Series | None) -> list[str]:
    """One JSON object per row: the members of `properties`, which are such objects, then those of `members` (JSON
    values) that are not null and not in the properties.
    """
    frame = pl.DataFrame([series.cast(pl.String).alias(key) for key, series in members.items()])
    properties_text = pl.lit(None, pl.String)
    if properties is not None:
        inner = [_inner(text) for text in properties]
        frame = frame.with_columns(pl.Series("recorded properties", inner, dtype=pl.String))
        properties_text = pl.col("recorded properties")
    members_text = [
        pl.when(~properties_text.str.contains(f'"{key}":', literal=True).fill_null(value=False)).then(
            pl.concat_str(pl.lit(f'"{key}":'), pl.col(key))
        )
        for key in members
    ]
    objects = pl.concat_str(properties_text, *members_text, separator=",", ignore_nulls=True)
    return frame.select(pl.concat_str(pl.lit("{"), objects, pl.lit("}"))).to_series().to_list()


def _inner(text: str | None) -> str | None:
    """The members of a JSON object; None where the text is none, or there are none."""
    if not text:
        return None
    try:
        members = msgspec.json.decode(text, type=dict[str, msgspec.Raw])
    except (msgspec.MsgspecError, UnicodeError, RecursionError):
        return None
    return msgspec.json.format(text, indent=-1)[1:-1] if members else None


def _text(column: pl.Series) -> pl.Series:
    """Texts as JSON strings; equal texts are escaped once."""
    texts = column.cast(pl.String)
    numbers, unique = numbered(texts)
    json_texts = _core.json_texts(unique)
    quoted_texts = pl.Series([json_texts[at] for at in range(len(unique))], dtype=pl.String)
    return quoted_texts.gather(numbers).set(texts.is_null(), None)


def _property(column: pl.Series, key: str) -> pl.Series:
    """One of the recorded properties as a JSON string; equal properties are parsed once."""
    numbers, texts = numbered(column)
    values = pl.Series(texts, dtype=pl.String).str.json_path_match(f"$.{key}").fill_null("")
    return _text(values).gather(numbers)


def _sizes(piece: pl.DataFrame, prefix: str) -> pl.Series:
    return piece.select(pl.format("[{},{},{}]", *(f"{prefix}_{axis}" for axis in "xyz"))).to_series()


def _workgroups(piece: pl.DataFrame) -> pl.Series:
    """The size of a grid as Kineto has it: in workgroups."""
    counts = [
        pl.when(pl.col(f"workgroup_{axis}") > 0).then(
            (pl.col(f"grid_{axis}") + pl.col(f"workgroup_{axis}") - 1) // pl.col(f"workgroup_{axis}")
        )
        for axis in "xyz"
    ]
    return piece.select(pl.format("[{},{},{}]", *counts)).to_series()


def _direction(names: pl.Series) -> pl.Series:
    """The direction of a copy (HtoD, ...) as a JSON string; null if its name does not tell."""
    name = pl.col("name").cast(pl.String)
    kind = reduce(
        lambda fallback, item: pl.when(name.str.contains(item[0])).then(pl.lit(f'"{item[1]}"')).otherwise(fallback),
        _DIRECTIONS.items(),
        pl.lit(None, pl.String),
    )
    return names.alias("name").to_frame().select(kind).to_series()


_ARGUMENTS = ("chrome", "arguments")  #: Key of the cached table.


def _arguments(run: Run) -> pl.DataFrame:
    """`name=value | ...` of every event that has arguments."""
    if _ARGUMENTS not in run.answers:
        rows = run.read("arguments", ["process", "event", "position", "name", "value"]).drop_nulls("event")
        pair = pl.concat_str(pl.col("name").cast(pl.String), pl.lit("="), "value", ignore_nulls=True)
        texts = rows.sort("process", "event", "position").group_by("process", "event", maintain_order=True)
        run.answers[_ARGUMENTS] = texts.agg(pair.str.join(" | ").alias("desc"))
    arguments: pl.DataFrame = run.answers[_ARGUMENTS]
    return arguments
