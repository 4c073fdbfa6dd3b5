"""Collectives over ranks, for the terminal."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import polars as pl

from wavewright.analysis.run.ranks.collective_times import Collectives
from wavewright.base.shown import printable
from wavewright.base.words import counted, duration
from wavewright.model.blocks import GAP, AnyBlock, headline
from wavewright.words.kit.brief_names import brief_kernel
from wavewright.words.kit.declared_tables import declared_table
from wavewright.words.run.place_names import rank_limit
from wavewright.words.run.ranks import caveat_lines, who_of, why_late


def collectives_report(answer: Collectives, *, limit: int | None = 20, with_calls: bool = False) -> Iterator[AnyBlock]:
    """The report of `wavewright collectives`."""
    yield headline(_verdict(answer))
    yield from caveat_lines(answer.caveats)
    if not answer.collectives.height:
        return
    yield GAP
    yield declared_table(
        "run/collectives/collective",
        answer.collectives,
        limit=limit,
        collective=_kind,
        ranks=lambda row: f"{row['process_count']:,}" + (f"/{row['group_size']:,}" if row["group_size"] else ""),
        last=_last,
    )
    yield GAP
    shown = rank_limit(limit)
    yield declared_table("run/collectives/process", answer.processes, limit=shown, process=who_of)
    if answer.stragglers.height:
        yield GAP
        names = answer.calls.select("meeting", "name", "kind", "collective")
        late = answer.stragglers.join(names, on="meeting", how="left", maintain_order="left")
        yield declared_table("run/collectives/late", late, limit=limit, process=who_of, collective=_kind)
    if with_calls:
        yield GAP
        first = int(answer.calls["start_ns"].min() or 0)  # type: ignore[arg-type]
        yield declared_table(
            "run/collectives/call",
            answer.calls.with_columns(at_ns=pl.col("start_ns") - first),
            limit=limit,
            collective=_kind,
            last=lambda row: "-" if row["rule"] == "unknown" else who_of(row),
        )


def _verdict(answer: Collectives) -> str:
    if not answer.collectives.height:
        return "no collective was recorded"
    if not answer.calls.height:
        calls, length = int(answer.processes["calls"].sum()), int(answer.processes["total_ns"].sum())
        return (
            f"{counted(calls, 'calls')} of collectives take {duration(length)}, waiting for other ranks included: none "
            "of them is recorded on several ranks; give the files of all ranks to learn who waits for whom"
        )
    communication = int(answer.calls["communication_ns"].sum())
    waits = int(answer.processes["wait_ns"].sum()) / answer.processes.height
    text = (
        f"{counted(answer.calls.height, 'collectives')} of {counted(answer.processes.height, 'processes')}: "
        f"{duration(communication)} of communication, and each process waits {duration(waits)} on average"
    )
    late = answer.processes.sort("last_count", descending=True, maintain_order=True).row(0, named=True)
    total = int(answer.processes["last_count"].sum())
    if not total:
        return f"{text}; who is last is not known"
    last = f"{who_of(late)} is last in {late['last_count']:,} of {total:,} calls"
    return f"{text}; {last}{why_late(answer.causes, late)}"


def _kind(row: dict[str, Any]) -> str:
    return printable(row["kind"] or row["collective"] or "") or brief_kernel(row["name"], 200)


def _last(row: dict[str, Any]) -> str:
    return f"{who_of(row)} ({row['last_count']:,}x)" if row["last_count"] else "-"
