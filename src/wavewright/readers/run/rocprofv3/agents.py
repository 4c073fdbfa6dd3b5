"""Agents of rocprofv3's CSV files: the list of agents, and their names (`Agent 4`, `GPU 0`) in events."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

import polars as pl

from wavewright.base.toml import packaged
from wavewright.model.run_tables import RUN
from wavewright.model.schema import frame_of

#: Column with the name of an agent in events -> the column of its number.
_LINKS = {"agent_text": "agent", "src_text": "src_agent", "dst_text": "dst_agent"}
_TEXT = re.compile(r"(?:(agent|gpu|cpu|nic)\s+)?(\d{1,18})", re.IGNORECASE)
_COLUMNS: dict[str, dict[str, str]] = packaged("results.toml", __package__)["agent_list"]
_MOST_AGENTS = 1 << 16  #: Rows of the list that are read; no machine has as many agents.


def add_agents(
    listed: pl.DataFrame | None, events: Mapping[str, pl.DataFrame], processes: pl.DataFrame
) -> tuple[pl.DataFrame, dict[str, pl.DataFrame]]:
    """The agents of all processes, and the events with the numbers of their agents.

    Agents that events name but no list has are added, with the kind implied by their use.
    """
    rows = _listed_rows(listed, processes)
    number_by_text: dict[tuple[int, str], int] = {}
    for process, text, kind in _texts(events):
        if (process, text) not in number_by_text:
            number_by_text[process, text] = _row_number(rows, process, text, kind)
    schema = {"process": pl.UInt32, "text": pl.String, "number": pl.UInt32}
    texts = pl.DataFrame([(*key, number) for key, number in number_by_text.items()], schema=schema, orient="row")
    tables = dict(events)
    for name, frame in events.items():
        for column in set(_LINKS) & set(frame.columns):
            keys = frame.select("process", pl.col(column).cast(pl.String).alias("text"))
            numbers = keys.join(texts, on=["process", "text"], how="left", maintain_order="left")["number"]
            tables[name] = tables[name].with_columns(numbers.alias(_LINKS[column]))
    return frame_of(RUN["agents"], [{"agent": n, **row} for n, row in enumerate(rows)]), tables


def _listed_rows(listed: pl.DataFrame | None, processes: pl.DataFrame) -> list[dict[str, Any]]:
    """The agents of the list, once for each process that may have written it."""
    if listed is None:
        return []
    rows = []
    agents = listed.head(_MOST_AGENTS).to_dicts()
    for process in processes.to_dicts():
        counts: dict[str, int] = {}
        for agent in agents:
            if (agent.get("guid") or "") not in ("", process["guid"]):
                continue
            row: dict[str, Any] = {ours: _integer(agent.get(key)) for ours, key in _COLUMNS["integers"].items()}
            row |= {ours: agent.get(key) or "" for ours, key in _COLUMNS["texts"].items()}
            kind = str(row["kind"])
            kilobytes = _integer(agent.get("lds_size_in_kb"))
            row |= {
                "process": process["process"],
                "vendor": agent.get("vendor_name"),
                "type_index": counts.get(kind, 0),
                "lds_bytes": None if kilobytes is None else kilobytes * 1024,
                "properties": json.dumps({name: value for name, value in agent.items() if name != "guid"}),
            }
            counts[kind] = counts.get(kind, 0) + 1
            rows.append(row)
    return rows


def _texts(events: Mapping[str, pl.DataFrame]) -> list[tuple[int, str, str]]:
    """The names of agents in events: process, name, and the kind implied by the use, in a fixed order."""
    uses: set[tuple[int, str, str]] = set()
    for name, frame in events.items():
        for column in _LINKS:
            if column not in frame.columns:
                continue
            direction = pl.col("name").cast(pl.String) if name == "copies" and "name" in frame.columns else pl.lit("")
            pairs = frame.select("process", pl.col(column).cast(pl.String), direction.alias("direction")).unique()
            for process, text, copy_name in pairs.drop_nulls(column).iter_rows():
                uses.add((process, text, _kind(name, column, copy_name)))
    # Of one name with several kinds, GPU comes first: `add_agents` takes the first kind.
    return sorted(uses, key=lambda use: (use[0], _natural(use[1]), use[2] != "GPU", use[2]))


def _kind(table: str, column: str, direction: str | None) -> str:
    """The kind of agent that a column of a table names; empty = not known."""
    if table in ("dispatches", "counters", "scratch"):
        return "GPU"
    source, _, destination = (direction or "").upper().removeprefix("MEMORY_COPY_").partition("_TO_")
    side = source if column == "src_text" else destination if column == "dst_text" else ""
    return {"HOST": "CPU", "DEVICE": "GPU"}.get(side, "")


def _row_number(rows: list[dict[str, Any]], process: int, text: str, kind: str) -> int:
    """The row of the agent with this name; a new one where there is none."""
    match = _TEXT.fullmatch(text.strip())
    word, number = ((match[1] or "").upper(), int(match[2])) if match else ("", None)
    process_rows = [(at, row) for at, row in enumerate(rows) if row["process"] == process]
    keys: tuple[str, ...] = ("type_index",)
    if word in ("GPU", "CPU", "NIC"):
        kind = word
    else:  # rocprofv3 counts the visible agents unless told otherwise; older versions wrote the number of the node
        keys = ("logical_index", "absolute_index") if word else ("absolute_index", "logical_index")
    for agent_kind in dict.fromkeys((kind, "")):  # one that cannot be of this kind only if no other fits
        for key in keys:
            for at, row in process_rows:
                if number is not None and row.get(key) == number and (row["kind"] == agent_kind or not agent_kind):
                    return at
    rows.append({"process": process, "kind": kind or None, "target": None, keys[0]: number, "product": None})
    return len(rows) - 1


def _natural(text: str) -> tuple[str, int]:
    """A key to sort by, which puts `Agent 10` after `Agent 9`."""
    match = _TEXT.fullmatch(text.strip())
    return (match[1] or "", int(match[2])) if match else (text, -1)


def _integer(value: object) -> int | None:
    text = str(value).strip()
    try:
        number = int(text, 0)
    except ValueError:
        return None
    return number if -(1 << 63) <= number < 1 << 63 else None
