"""GPUs, streams and queues of GPU work in a Perfetto trace: as annotated, else as the names of tracks say."""

from __future__ import annotations

import polars as pl

from wavewright.readers.run.perfetto.tracks import agent_text, gpu_of
from wavewright.readers.run.rocprofv3.agents import add_agents

_NUMBER_AFTER = r"(?i)\b{}\W{{0,3}}(\d{{1,18}})\b"


def with_gpus(kinds: dict[str, pl.DataFrame], tables: dict[str, pl.DataFrame]) -> dict[str, pl.DataFrame]:
    """The events with the numbers of their agents, streams and queues; agents become a table."""
    targets: dict[str, str] = {}
    for name in ("dispatches", "copies"):
        kinds[name] = _with_lines(kinds[name])
    work = {name: _with_agent_text(kinds[name], targets) for name in ("dispatches", "copies", "monitors")}
    work["copies"] = _with_sides(work["copies"])
    agents, events = add_agents(None, work, tables["processes"])
    index = pl.coalesce("type_index", "logical_index")
    text = pl.concat_str(pl.coalesce("kind", pl.lit("Agent")), pl.lit(" "), index)
    target = text.replace_strict(targets, default=None, return_dtype=pl.String) if targets else pl.lit(None, pl.String)
    tables["agents"] = agents.with_columns(pl.coalesce(target, "target").alias("target"))
    return kinds | events


def _with_agent_text(events: pl.DataFrame, targets: dict[str, str]) -> pl.DataFrame:
    """Names of agents as rocprofv3 writes them (`GPU 0`, `Agent 4`); the targets that names tell go to `targets`."""
    by_track: dict[str, str | None] = {}
    for labels in events["labels"].unique().drop_nulls():
        name, number = agent_text(labels), gpu_of(labels)
        by_track[labels] = name[0] if name else None if number is None else f"GPU {number}"
        if name and name[1]:
            targets[name[0]] = name[1]
    candidates = [pl.col("labels").replace_strict(by_track, default=None, return_dtype=pl.String)]
    if "device" in events.columns:
        candidates = [
            pl.col("agent_text").cast(pl.String),
            pl.concat_str(pl.lit("GPU "), pl.col("device")),
            *candidates,
        ]
    events = events.with_columns(pl.coalesce(candidates).alias("agent_text"))
    for column in {"agent_text", "src_text", "dst_text"} & set(events.columns):
        names: dict[str, str] = {}
        for label in events[column].cast(pl.String).unique().drop_nulls():
            name = agent_text(label)
            names[label] = name[0] if name else f"Agent {label}" if label.isdecimal() else label
            if name and name[1]:
                targets[name[0]] = name[1]
        texts = pl.col(column).cast(pl.String).replace_strict(names, default=None, return_dtype=pl.String)
        events = events.with_columns(texts.alias(column))
    return events


def _with_lines(work: pl.DataFrame) -> pl.DataFrame:
    """Streams and queues that only the name of a track says."""
    return work.with_columns(
        pl.coalesce(f"{line}_id", pl.col("label").str.extract(_NUMBER_AFTER.format(line)).cast(pl.Int64, strict=False))
        for line in ("stream", "queue")
    )


def _with_sides(copies: pl.DataFrame) -> pl.DataFrame:
    """Agents of copies; where only the track names a GPU, it is the side which is a device."""
    is_bare = pl.col("src_text").is_null() & pl.col("dst_text").is_null()
    name = pl.col("name").cast(pl.String)
    sides = {"src_text": ~name.str.contains("HOST_TO"), "dst_text": ~name.str.contains("TO_HOST")}
    return copies.with_columns(
        pl.when(is_bare & is_device).then("agent_text").otherwise(side).alias(side) for side, is_device in sides.items()
    ).drop("agent_text")
