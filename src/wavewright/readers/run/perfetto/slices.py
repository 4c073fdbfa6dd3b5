"""Slices and moments of a Perfetto trace by what they are: dispatches, copies, calls, samples."""

from __future__ import annotations

import re

import polars as pl

from wavewright.facts.loader import packaged
from wavewright.readers.run.perfetto.tracks import TrackPlaces

_NAMES = packaged("names.toml", __package__)
_WORK = _NAMES["work"]
_COPY = r"(?i)^(?:memory_?)?copy_?(host|device)_?to_?(host|device)|^mem(?:ory)?_?copy"
_AXES = (
    r"x\s*=\s*(\d{1,9})\D{1,8}y\s*=\s*(\d{1,9})\D{1,8}z\s*=\s*(\d{1,9})|"
    r"[\[({]\s*(\d{1,9})\s*,\s*(\d{1,9})\s*,\s*(\d{1,9})"
)


def categorized(rows: pl.DataFrame, flows: pl.DataFrame, tracks: TrackPlaces, words: pl.Series) -> pl.DataFrame:
    """Rows with their `sort` (dispatch, copy, region, sample), domain, process, thread and correlation."""
    names = {number: words[number] for number in rows["category"].unique()}
    domain = {number: domain_of(name) for number, name in names.items()}
    work = {name: kind for kind, of_kind in _WORK.items() for name in of_kind}
    sorts = {"dispatches": "dispatch", "copies": "copy", "mixed": "mixed"}
    sort = {number: sorts.get(work.get(name, ""), "call") for number, name in names.items()}
    category = words.gather(rows["category"]).cast(pl.Categorical)
    kind = rows["category"].replace_strict(sort, default="call", return_dtype=pl.String)
    is_copy = pl.col("name").cast(pl.String).str.contains(_COPY).fill_null(value=False)
    is_instant = pl.col("is_instant") == 1
    own_sort = (
        pl.when(is_instant).then(pl.lit("sample"))
        .when(pl.col("sort") == "call").then(pl.lit("region"))
        .when(pl.col("sort") != "mixed").then("sort")
        .when(is_copy).then(pl.lit("copy")).otherwise(pl.lit("dispatch"))
    )  # fmt: skip
    domains = rows["category"].replace_strict(domain, default="CPU", return_dtype=pl.Categorical)
    rows = rows.with_columns(kind.alias("sort"), category.alias("category"), domains.alias("domain"))
    return _correlated(tracks.placed(rows.with_columns(own_sort.alias("sort"))), flows)


def domain_of(category: str) -> str:
    """The kind of call that a category says.

    >>> domain_of("rocm_hip_api"), domain_of("user"), domain_of("mpi"), domain_of("")
    ('HIP', 'MARKER', 'MPI', 'CPU')
    """
    domain = next((name for name, pattern in _NAMES["domains"].items() if re.fullmatch(pattern, category)), None)
    return domain or category.upper()


def _correlated(rows: pl.DataFrame, flows: pl.DataFrame) -> pl.DataFrame:
    """Correlations as annotated; where GPU work has none, those of flows, which connect rows."""
    correlation = pl.coalesce("correlation", "own_correlation")
    work = rows.filter(pl.col("sort").is_in(("dispatch", "copy"))).select(correlation.alias("own"))
    if not flows.height or (work.height and not work["own"].null_count()):
        return rows.with_columns(correlation.alias("correlation"))
    first = flows.unique("row", keep="first", maintain_order=True)
    numbers = first.select("row", flow=pl.col("flow").rank("dense").cast(pl.Int64))
    row_numbers = pl.select(row=pl.int_range(rows.height, dtype=pl.UInt32))
    flow_numbers = row_numbers.join(numbers, on="row", how="left", maintain_order="left")["flow"]
    return rows.with_columns(flow_numbers.alias("correlation"))


def events_of(rows: pl.DataFrame) -> dict[str, pl.DataFrame]:
    """Rows by the table that they belong to, with columns of ours. `row` numbers them as the core does."""
    rows = rows.with_row_index("row")
    calls = rows.filter(pl.col("sort").is_in(("region", "sample"))).with_columns(
        function=pl.when(pl.col("function").is_not_null()).then("function")
        .when(pl.col("domain").cast(pl.String) != "MARKER").then("name"),
        event_properties="json",
    )  # fmt: skip
    tid = pl.coalesce("own_tid", pl.when("is_thread").then("tid"))
    work = rows.with_columns(tid=tid, event=pl.col("row").cast(pl.Int64) + 1)
    dispatches = work.filter(pl.col("sort") == "dispatch").with_columns(properties="json")
    for size in ("workgroup", "grid"):
        axes = dispatches.select(pl.col(size).cast(pl.String).str.extract_groups(_AXES).alias("axes"))["axes"].struct
        for place, axis in enumerate("xyz"):
            text = pl.coalesce(pl.lit(axes.field(str(place + 1))), pl.lit(axes.field(str(place + 4))))
            dispatches = dispatches.with_columns(pl.coalesce(f"{size}_{axis}", text.cast(pl.Int64, strict=False)))
    names = dispatches["name"].cast(pl.String).str.strip_suffix(".kd").cast(pl.Categorical)
    copies = work.filter(pl.col("sort") == "copy").with_columns(_direction(), properties="json")
    return {
        "dispatches": dispatches.with_columns(names.alias("name")),
        "copies": copies,
        "regions": calls.filter(pl.col("sort") == "region"),
        "samples": calls.filter(pl.col("sort") == "sample").with_columns(time_ns="start_ns"),
    }


def _direction() -> pl.Expr:
    """The name of a copy in the words of ROCpd."""
    sides = pl.col("name").cast(pl.String).str.extract_groups(_COPY).struct
    direction = pl.format("MEMORY_COPY_{}_TO_{}", sides[0].str.to_uppercase(), sides[1].str.to_uppercase())
    return pl.coalesce(direction, pl.col("name").cast(pl.String)).cast(pl.Categorical).alias("name")


def with_counters(
    values: pl.DataFrame, kinds: dict[str, pl.DataFrame], tables: dict[str, pl.DataFrame], words: pl.Series
) -> None:
    """Add the tables `counter_info` and `counters`: `values` has `row` of a dispatch, number of a `name`, `value`."""
    dispatches = kinds["dispatches"].select("row", "process", "agent", "event")
    by_name = values.with_columns(words.gather(values["name"]).alias("name")).join(dispatches, on="row", how="inner")
    info = by_name.select("process", "agent", "name").unique(maintain_order=True).with_row_index("counter")
    key = ["process", "agent", "name"]
    counters = by_name.join(info, on=key, nulls_equal=True, maintain_order="left", how="left")
    tables["counter_info"], kinds["counters"] = info, counters.select("process", "counter", "event", "value")
