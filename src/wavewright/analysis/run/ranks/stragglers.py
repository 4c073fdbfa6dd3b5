"""Reasons why the last rank of a collective was late: what it did more than another rank since both were on time.

Input are the arrivals at meetings with the time of each kind until then (`process_time`); output are one row per late
arrival and the sums of each late rank.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import polars as pl

from wavewright.analysis.run.gpu_time.process_time import KINDS
from wavewright.analysis.run.select.identities import PROCESS
from wavewright.facts.loader import packaged
from wavewright.model.schema import frame_of, packaged_specs

_MOST_MEETINGS = 200  #: Only this many meetings are explained, those with the latest ranks.
_ON_TIME = 0.25  #: A rank counts as on time at a meeting if it was late by at most this share of its delay now.
_NOTABLE_NS = 10_000  #: A rank that comes later than the median of the others by less than this is not late.
CAUSES: dict[str, str] = packaged("causes.toml", __package__)  #: Column of a difference -> what it is called.
UNKNOWN = "unknown"  #: The cause of a rank that had more of nothing: it began later, before the record.
_MEMBER = ("part", "process", "agent")
_TABLES = packaged_specs(__package__, owner="Collectives")


def stragglers(arrivals: pl.DataFrame) -> pl.DataFrame:
    """One row per meeting with a late rank, the latest first; `arrivals` are rows of `meetings.arrivals` with `KINDS`.

    The differences of a row are to the rank whose arrival is the median of the others; they add up to how much later
    the late rank became since the meeting at which it was on time.
    """
    arrived = arrivals.filter(pl.col("arrival_ns").is_not_null()).with_columns(member=pl.struct(_MEMBER).rank("dense"))
    by_arrival = arrived.sort("meeting", "lag_ns", "rank", *PROCESS, nulls_last=True)  # the last one first
    others = by_arrival.filter(~pl.col("is_last")).group_by("meeting", maintain_order=True)
    median = others.agg(reference=pl.col("member").get(pl.len() // 2), late_ns=pl.col("lag_ns").get(pl.len() // 2))
    late = arrived.filter("is_last").join(median, on="meeting").filter(pl.col("late_ns") >= _NOTABLE_NS)
    chosen = late.sort(-pl.col("late_ns"), "meeting").head(_MOST_MEETINGS)
    members = pl.concat([chosen["member"], chosen["reference"]]).unique()
    of_member = arrived.filter(pl.col("member").is_in(members.implode())).partition_by("member", as_dict=True)
    rows = [_explained(row, of_member[(row["member"],)], of_member[(row["reference"],)]) for row in chosen.to_dicts()]
    return frame_of(_TABLES["stragglers"], rows)


def _explained(row: dict[str, Any], late: pl.DataFrame, other: pl.DataFrame) -> dict[str, Any]:
    """The row of table `stragglers` for the late arrival `row`, from all arrivals of the late rank and of the other."""
    columns = ["meeting", "start_ns", "arrival_ns", "work_start_ns", "is_launch_known", *KINDS]
    both = late.select(columns).join(other.select(columns), on="meeting", suffix="_other").sort("start_ns", "meeting")
    now = both.filter(pl.col("meeting") == row["meeting"]).row(0, named=True)
    lag = pl.col("arrival_ns") - pl.col("arrival_ns_other")
    earlier = both.filter((pl.col("start_ns") < now["start_ns"]) & (lag <= row["late_ns"] * _ON_TIME))
    then = earlier.row(-1, named=True) if earlier.height else None  # the last meeting at which it was on time

    def since(column: str, first: str | None) -> int:
        """The increase of a time since `then`; without such a meeting, since `first` (start of work; None = 0)."""
        value = int(now[column])
        if then is not None:
            return value - int(then[column])
        return value - int(now[first]) if first else value

    kinds = {name: since(name, None) - since(f"{name}_other", None) for name in KINDS}
    length = since("start_ns", "work_start_ns")
    idle = length - since("start_ns_other", "work_start_ns_other") - sum(kinds[name] for name in KINDS[:-1])
    is_known = now["is_launch_known"] and now["is_launch_known_other"]
    differences: dict[str, int | None] = {
        **kinds,
        "queued_ns": kinds["queued_ns"] if is_known else None,
        "host_ns": idle - kinds["queued_ns"] if is_known else None,
        "idle_ns": idle,
    }
    return {
        **{name: row[name] for name in ("meeting", *PROCESS, "late_ns")},
        "since_meeting": then["meeting"] if then else None,
        "since_ns": length,
        **differences,
        "cause": cause_of(differences),
    }


def cause_of(differences: dict[str, int | None]) -> str:
    """The name of the largest positive difference; idle time counts by its two parts where launches are known."""
    largest = max(_parts(differences), key=lambda name: differences[name] or 0)
    return CAUSES[largest] if (differences[largest] or 0) > 0 else UNKNOWN


def _parts(differences: dict[str, Any]) -> Sequence[str]:
    """The keys of `CAUSES` that add up to the delay: idle time, or its two parts where launches are known."""
    skipped = "idle_ns" if differences["host_ns"] is not None else None
    return [name for name in differences if name in CAUSES and name != skipped and differences[name] is not None]


def causes_of_ranks(late: pl.DataFrame) -> pl.DataFrame:
    """Per late process the sums of its delays; delays since the same meeting count once, the largest of them."""
    once = late.unique([*PROCESS, "since_meeting"], keep="first", maintain_order=True)  # the latest comes first
    sums = once.group_by(PROCESS, maintain_order=True).agg(
        pl.len().cast(pl.Int64).alias("late_count"),
        pl.col("late_ns").sum(),
        *(pl.when(pl.col(name).null_count() == 0).then(pl.col(name).sum()).alias(name) for name in CAUSES),
    )
    rows = []
    for row in sums.to_dicts():
        excess_ns = {name: max(row[name], 0) for name in _parts(row)}
        total_ns = sum(excess_ns.values())
        largest = max(excess_ns, key=lambda name: excess_ns[name])
        cause = CAUSES[largest] if total_ns else UNKNOWN
        rows.append(row | {"cause": cause, "cause_share": excess_ns[largest] / total_ns if total_ns else None})
    return frame_of(_TABLES["causes"], rows).sort(-pl.col("late_ns"), "rank", *PROCESS, nulls_last=True)
