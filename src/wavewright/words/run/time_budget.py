"""The time budget of a run in words."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from wavewright.base.words import counted, duration, percent
from wavewright.model.blocks import GAP, AnyBlock, headline, sentence
from wavewright.words.kit.frame_tables import Column, bar_cell, frame_table
from wavewright.words.run.place_names import gpu_name

if TYPE_CHECKING:
    from collections.abc import Iterator

    from wavewright.analysis.run.diagnose.budget import TimeBudget


def budget_report(answer: TimeBudget, *, limit: int = 20) -> Iterator[AnyBlock]:
    """The parts of the time, which add up to all of it, and the same for each GPU."""
    if not answer.parts.height:
        yield headline("no GPU work was recorded")
        return
    shares = dict(answer.parts.select("part", "share").iter_rows())
    yield sentence((_verdict(answer, shares), "bold"))
    yield GAP
    columns = [
        Column("part", lambda row: row["part"], is_text=True, is_fixed=True),
        Column("share", lambda row: percent(row["share"])),
        Column("", lambda row: bar_cell(row["share"], 20), is_bar=True),
        Column("time per GPU", lambda row: duration(row["time_ns"])),
    ]
    yield frame_table(answer.parts, columns, limit=answer.parts.height, what="parts")
    if answer.gpus.height > 1:
        yield GAP
        yield frame_table(answer.gpus, _gpu_columns(answer), limit=limit, what="GPUs")


def _verdict(answer: TimeBudget, shares: dict[str, float]) -> str:
    busy = 1 - shares["idle"]
    inside = ", ".join(f"{part} {percent(share)}" for part, share in shares.items() if part != "idle" and share)
    who = f"{counted(answer.gpus.height, 'GPUs')} busy" if answer.gpus.height > 1 else "GPU busy"
    return (
        f"{who} {percent(busy)} of {duration(answer.window_ns)} ({inside or 'nothing'}), idle {percent(shares['idle'])}"
    )


def _gpu_columns(answer: TimeBudget) -> list[Column]:
    several = answer.gpus["node"].n_unique() > 1

    def share(name: str) -> Any:
        return lambda row: percent(row[name] / row["window_ns"] if row["window_ns"] else None)

    return [
        Column("GPU", lambda row: gpu_name(row["node"], row["gpu"], with_node=several), is_text=True, is_fixed=True),
        Column("rank", lambda row: "-" if row["rank"] is None else str(row["rank"]), handle="r"),
        Column("window", lambda row: duration(row["window_ns"])),
        Column("computation", share("computation_ns")),
        Column("communication", share("exposed_communication_ns")),
        Column("copies", share("exposed_copy_ns")),
        Column("idle", share("idle_ns")),
    ]
