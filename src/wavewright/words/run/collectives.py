"""Collectives over ranks, for the terminal."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import polars as pl

from wavewright.analysis.run.ranks.collective_times import Collectives
from wavewright.base.shown import printable
from wavewright.base.words import counted, duration, percent, size
from wavewright.model.blocks import GAP, AnyBlock, headline
from wavewright.words.kit.brief_names import brief_kernel
from wavewright.words.kit.declared_tables import declared_table, table_below
from wavewright.words.run.place_names import rank_limit
from wavewright.words.run.ranks import caveat_lines, who_of, why_late

_LARGE_BYTES = 1 << 20  #: Below, the latency of a collective counts, not its bandwidth.
_FAR_BELOW = 4  #: Times: a large collective that nothing delays reaches more than a fourth of the links.


def collectives_report(answer: Collectives, *, limit: int | None = 20, with_calls: bool = False) -> Iterator[AnyBlock]:
    """The report of `wavewright collectives`."""
    yield headline(_verdict(answer))
    yield from caveat_lines(answer.caveats)
    for name, rows in (("unequal", answer.unequal), ("logged", answer.logged), ("alone", answer.alone)):
        yield from table_below(f"run/collectives/{name}", rows, limit=limit, waiting=_waiting, collective=_kind)
    if not answer.calls.height:
        return
    yield from table_below(
        "run/collectives/collective",
        answer.collectives,
        limit=limit,
        collective=_kind,
        ranks=lambda row: f"{row['process_count']:,}" + (f"/{row['group_size']:,}" if row["group_size"] else ""),
        last=lambda row: f"{who_of(row)} ({row['last_count']:,}x)" if row["last_count"] else "-",
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
    if answer.unequal.height:
        first = answer.unequal.row(0, named=True)
        return (
            f"ranks differ at call {first['sequence']:,} of group {printable(first['group'])} "
            f"({printable(first['collective'])}), {first['reason']}: rank {printable(first['ranks'])}"
        )
    if not answer.collectives.height:
        return _logged(answer) if answer.logged.height else "no collective was recorded"
    if not answer.calls.height:
        return _of_one_rank(answer)
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


def _logged(answer: Collectives) -> str:
    """The verdict about collectives that others logged."""
    rows = answer.logged
    count, open_count = int(rows["calls"].sum()), int(rows["unfinished_count"].sum())
    text = f"{counted(count, 'calls')} of collectives, logged by {', '.join(rows['recorder'].unique().sort())}"
    text += f", {open_count:,} of them not completed" if open_count else ""
    best = rows.drop_nulls("bus_bytes_per_second").sort("size_bytes", descending=True, nulls_last=True).head(1)
    for row in best.iter_rows(named=True):
        text += (
            f"; the largest, {_kind(row)} of {size(row['size_bytes'])}, moves {_rate(row['bus_bytes_per_second'])} "
            f"over the bus of each rank, at best {_rate(row['bus_bytes_per_second_max'])}"
        )
    return text


def _of_one_rank(answer: Collectives) -> str:
    """The verdict where no call has a partner: the apparent bandwidth, and how much of the time is waiting."""
    calls, length = int(answer.processes["calls"].sum()), int(answer.processes["total_ns"].sum())
    text = f"{counted(calls, 'calls')} of collectives take {duration(length)}, waiting for other ranks included"
    advice = "give the files of all ranks to learn who waits for whom"
    bounds = answer.alone.drop_nulls("waiting_ns_min")
    low, high, total = (int(bounds[name].sum()) for name in ("waiting_ns_min", "waiting_ns_max", "total_ns"))
    bound = ""
    if total:
        until = f" to {percent(high / total)}" if not bounds["waiting_ns_max"].null_count() else ""
        length_text = "it" if bounds.height == answer.alone.height else f"the {duration(total)} with recorded sizes"
        share = f"{'' if until else 'at least '}{percent(low / total)}{until}"
        bound = f"; {share} of {length_text} waits for ranks or for links"
    largest = answer.alone.filter(pl.col("size_bytes") >= _LARGE_BYTES).drop_nulls("bus_bytes_per_second").head(1)
    for row in largest.iter_rows(named=True):
        rate, peak = row["bus_bytes_per_second"], row["link_bytes_per_second"]
        text += f"; {_kind(row)} of {size(row['size_bytes'])} seems to move {_rate(rate)}"
        if peak and peak > _FAR_BELOW * rate:
            text += f", {peak / rate:,.0f} times below what the links of this GPU can do ({_rate(peak)})"
            advice = f"a rank that waits looks like this: {advice}"
        elif peak:
            text += f" of the {_rate(peak)} that the links of this GPU can do"
    return f"{text}{bound}; {advice}"


def _rate(bytes_per_second: float) -> str:
    return f"{bytes_per_second / 1e9:,.3g} GB/s"


def _waiting(row: dict[str, Any]) -> str:
    low, high, total = row["waiting_ns_min"], row["waiting_ns_max"], max(row["total_ns"], 1)
    if low is None:
        return "-"
    return f"{percent(low / total)} to {percent(high / total)}" if high is not None else f"from {percent(low / total)}"


def _kind(row: dict[str, Any]) -> str:
    return printable(row["kind"] or row["collective"] or "") or brief_kernel(row.get("name") or "?", 200)
