"""Collectives over ranks, for the terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from wavewright.base.shown import printable
from wavewright.base.words import counted, duration, size
from wavewright.model.blocks import GAP, AnyBlock, headline
from wavewright.words.kit.brief_names import brief_kernel
from wavewright.words.kit.frame_tables import Column, frame_table
from wavewright.words.run.ranks import caveat_lines, who_of, why_late

if TYPE_CHECKING:
    from collections.abc import Iterator

    from wavewright.analysis.run.ranks.collective_times import Collectives

_FEWEST_RANKS = 64


def collectives_report(answer: Collectives, *, limit: int | None = 20, with_calls: bool = False) -> Iterator[AnyBlock]:
    """The report of `wavewright collectives`."""
    yield headline(_verdict(answer))
    yield from caveat_lines(answer.caveats)
    if not answer.collectives.height:
        return
    yield GAP
    yield frame_table(answer.collectives, _COLUMNS, limit=limit, what="collectives by kind and size")
    yield GAP
    shown = None if limit is None else max(limit, _FEWEST_RANKS)
    yield frame_table(answer.processes, _PROCESS_COLUMNS, limit=shown, what="processes")
    if answer.stragglers.height:
        yield GAP
        title = "late ranks, and what they had more than another rank since they were on time"
        names = answer.calls.select("meeting", "name", "kind", "collective")
        late = answer.stragglers.join(names, on="meeting", how="left", maintain_order="left")
        yield frame_table(late, _LATE_COLUMNS, limit=limit, what="calls", title=title)
    if with_calls:
        yield GAP
        first = int(answer.calls["start_ns"].min() or 0)  # type: ignore[arg-type]
        yield frame_table(answer.calls, _call_columns(first), limit=limit, what="calls of several ranks")


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


def _rate(value: float | None) -> str:
    return "-" if value is None else f"{value / 1e9:.2f}"


def _kind(row: dict[str, Any]) -> str:
    return printable(row["kind"] or row["collective"] or "") or brief_kernel(row["name"], 200)


def _last(row: dict[str, Any]) -> str:
    return f"{who_of(row)} ({row['last_count']:,}x)" if row["last_count"] else "-"


_COLUMNS = [
    Column("collective", _kind, is_text=True, is_fixed=True, is_name=True),
    Column("size", lambda row: size(row["size_bytes"])),
    Column("calls", lambda row: f"{row['calls']:,}"),
    Column("ranks", lambda row: f"{row['process_count']:,}" + (f"/{row['group_size']:,}" if row["group_size"] else "")),
    Column("time", lambda row: duration(row["communication_ns"])),
    Column("alg GB/s", lambda row: _rate(row["algorithm_bytes_per_second"]), is_wide=True),
    Column("bus GB/s", lambda row: _rate(row["bus_bytes_per_second"])),
    Column("wait", lambda row: duration(row["wait_ns"])),
    Column("skew", lambda row: duration(row["start_skew_ns"]), is_wide=True),
    Column("end skew", lambda row: duration(row["end_skew_ns"]), is_wide=True),
    Column("last", _last, is_text=True, is_fixed=True),
    Column("group", lambda row: row["group"] or "-", is_text=True, is_wide=True),
]
_PROCESS_COLUMNS = [
    Column("process", who_of, is_text=True, is_fixed=True),
    Column("calls", lambda row: f"{row['calls']:,}"),
    Column("matched", lambda row: f"{row['matched_count']:,}"),
    Column("time", lambda row: duration(row["total_ns"])),
    Column("wait", lambda row: duration(row["wait_ns"])),
    Column("last", lambda row: f"{row['last_count']:,}"),
    Column("clock offset", lambda row: duration(row["offset_ns"])),
    Column("residual", lambda row: duration(row["residual_ns"])),
]


def _more(name: str, heading: str, *, is_wide: bool = False) -> Column:
    def cell(row: dict[str, Any]) -> str:
        return "-" if row[name] is None else f"{'+' if row[name] > 0 else ''}{duration(row[name])}"

    return Column(heading, cell, is_wide=is_wide)


_LATE_COLUMNS = [
    Column("call", lambda row: f"{row['meeting']:,}", is_name=True),
    Column("collective", _kind, is_text=True, is_name=True, is_wide=True),
    Column("process", who_of, is_text=True, is_fixed=True),
    Column("late", lambda row: duration(row["late_ns"])),
    _more("compute_ns", "compute"),
    _more("communication_ns", "comm."),
    _more("copy_ns", "copies", is_wide=True),
    _more("queued_ns", "launched"),
    _more("host_ns", "host"),
    Column("cause", lambda row: row["cause"], is_text=True, is_fixed=True),
]


def _call_columns(first_ns: int) -> list[Column]:
    return [
        Column("call", lambda row: f"{row['meeting']:,}", is_name=True),
        Column("at", lambda row: f"+{duration(row['start_ns'] - first_ns)}"),
        Column("collective", _kind, is_text=True, is_name=True),
        Column("size", lambda row: size(row["size_bytes"])),
        Column("time", lambda row: duration(row["communication_ns"])),
        Column("bus GB/s", lambda row: _rate(row["bus_bytes_per_second"])),
        Column("longest wait", lambda row: duration(row["wait_max_ns"])),
        Column("end skew", lambda row: duration(row["end_skew_ns"]), is_wide=True),
        Column("last", lambda row: "-" if row["rule"] == "unknown" else who_of(row), is_text=True, is_fixed=True),
    ]
