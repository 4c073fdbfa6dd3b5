"""Bytes that the traced waves requested: by memory and width, narrow accesses, what is not known."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import polars as pl

from wavewright.analysis.trace.memory_latency.beyond_trace import counter_command
from wavewright.base.shown import printable
from wavewright.base.words import counted, short
from wavewright.model.blocks import GAP, AnyBlock, Named, Part, Sentence, sentence
from wavewright.words.kit.frame_tables import Column, frame_table, hexadecimal

if TYPE_CHECKING:
    from wavewright.analysis.trace.memory_latency import MemoryLatency

_NARROW_BYTES = 4  #: Accesses to memory below this width per lane are named.
_MANY = 2  #: Narrow instructions from which on they are worth a sentence.
_SHOWN_NEIGHBOURS = 3
_NAMES = {"memory": "memory", "flat": "flat", "scratch": "scratch", "lds": "LDS", "scalar": "scalar"}
_PLURALS = {"load": "loads", "store": "stores", "atomic": "atomics", "load to LDS": "loads to LDS"}


def traffic_report(answer: MemoryLatency) -> list[AnyBlock]:
    """The requested bytes, sentences about narrow accesses, and what only counters tell."""
    if not answer.traffic.height:
        return []
    lanes = f"{answer.lane_count} active lanes per wave" if answer.lane_count else "lanes per wave not known"
    title = f"requested at most ({lanes}); per cycle of a traced {answer.traced_unit}"
    table = frame_table(answer.traffic, _COLUMNS, limit=None, what="kinds of access", title=title)
    return [GAP, table, *_narrow(answer.traffic), *_wider(answer.neighbours), _untold(answer.target)]


def _narrow(traffic: pl.DataFrame) -> list[Sentence]:
    """Accesses to memory of less than four bytes per lane, in words."""
    is_narrow = (pl.col("bytes_per_lane") < _NARROW_BYTES) & (pl.col("row_count") >= _MANY)
    outside = traffic.filter(is_narrow & pl.col("space").is_in(["memory", "flat", "scratch"]))
    parts = [
        f"{row['row_count']:,} {_PLURALS[row['direction']]} of {counted(row['bytes_per_lane'], 'bytes')} per lane"
        for row in outside.iter_rows(named=True)
    ]
    if not parts:
        return []
    possible = "up to 16 bytes per lane are possible where the data of a lane is contiguous"
    return [Sentence(f"narrow: {', '.join(parts)}; {possible}")]


def _wider(neighbours: pl.DataFrame) -> list[Sentence]:
    """Neighbouring accesses, in words."""
    return [
        sentence(
            f"{row['access_count']:,} {_PLURALS[row['direction']]} of {counted(row['bytes_per_lane'], 'bytes')}"
            " per lane from ",
            Named(hexadecimal(row["address"]), "i"),
            f" on are at consecutive offsets of one address: {row['wide_count']:,} of up to 16 bytes would do, if the"
            " address is aligned",
        )
        for row in neighbours.head(_SHOWN_NEIGHBOURS).iter_rows(named=True)
    ]


def _untold(target: str | None) -> Sentence:
    """Facts that a trace cannot tell, and the way to learn them."""
    more: list[Part]
    counters = counter_command(target)
    if counters is not None:
        more = [(f"{', '.join(counters.questions)}: ", "dim"), (printable(counters.command), "bold dim")]
    elif target is None:
        command = "wavewright counters --plan --panel l1 --panel l2 --panel lds"
        more = [("more: ", "dim"), (command, "bold dim"), (" and --target with the name of the GPU", "dim")]
    else:
        more = [(f"more, but wavewright has no metrics of {printable(target)}", "dim")]
    return sentence(("a trace has no addresses of lanes, and no cache hits; counters tell ", "dim"), *more)


def _amount(name: str, digits: int | None) -> Any:
    def cell(row: dict[str, Any]) -> str:
        if row[name] is None:
            return "-"
        return short(row[name]) if digits is None else f"{row[name]:,.{digits}f}"

    return cell


_COLUMNS = (
    Column("memory", lambda row: _NAMES[row["space"]], is_text=True, is_fixed=True),
    Column("", lambda row: row["direction"], is_text=True, is_fixed=True),
    Column("bytes/lane", lambda row: _width(row)),
    Column("instructions", lambda row: f"{row['row_count']:,}"),
    Column("hits", lambda row: short(row["execution_count"])),
    Column("bytes/wave", _amount("requested_bytes_per_wave", None)),
    Column("bytes/cycle", _amount("requested_bytes_per_cycle", 2)),
)


def _width(row: dict[str, Any]) -> str:
    if row["bytes_per_lane"] is None:
        return "?"
    return f"{row['bytes_per_lane']}/wave" if row["space"] == "scalar" else str(row["bytes_per_lane"])
