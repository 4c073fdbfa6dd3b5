"""Overlap of work in words."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from wavewright.base.words import counted, duration, percent
from wavewright.model.blocks import GAP, AnyBlock, Sentence, Table, headline, sentence
from wavewright.words.kit.frame_tables import Column, bar_cell, frame_table
from wavewright.words.run.place_names import gpu_name, node_name, process_name
from wavewright.writers.terminal.fitted_table import WIDE

if TYPE_CHECKING:
    from collections.abc import Iterator

    import polars as pl

    from wavewright.analysis.run.gpu_time.overlap import Overlap


def overlap_report(answer: Overlap, *, width: int = 100, limit: int = 20) -> Iterator[AnyBlock]:
    """The report of `wavewright overlap`."""
    yield headline(_verdict(answer))
    if not answer.gpus.height:
        return
    yield GAP
    yield _gpu_table(answer, limit=limit)
    if answer.levels["level"].max() != 1:
        yield GAP
        yield _level_table(answer, width=width, limit=limit)
    if answer.streams.height:
        yield GAP
        yield _stream_table(answer, limit=limit)
        if answer.stream_limit:
            yield sentence((f"compared are the {answer.stream_limit} busiest streams of a GPU", "bold"))
    if answer.processes.height:
        yield GAP
        yield _process_table(answer, limit=limit)
    if answer.bridged_ns:
        yield Sentence(f"idle intervals ({duration(answer.bridged_ns)} in total) count as busy between processes")
    if answer.host.height:
        yield GAP
        yield _host_table(answer, limit=limit)


def _verdict(answer: Overlap) -> str:
    if not answer.gpus.height:
        return "no GPU work was recorded"
    names = ("copy_ns", "exposed_copy_ns", "communication_ns", "exposed_communication_ns", "span_ns", "computation_ns")
    total = {name: int(answer.gpus[name].sum()) for name in names}
    parts = []
    for kind, all_ns, exposed in (
        ("copy time", total["copy_ns"], total["exposed_copy_ns"]),
        ("communication", total["communication_ns"], total["exposed_communication_ns"]),
    ):
        if all_ns:
            hidden = percent((all_ns - exposed) / all_ns)
            parts.append(
                f"{hidden} of the {kind} is hidden behind kernels, {duration(exposed)} "
                f"({percent(exposed / total['span_ns'])} of the span) is exposed"
            )
    if not parts:
        share = percent(total["computation_ns"] / (total["span_ns"] or 1))
        return f"neither copies nor communication; computation takes {share} of the span"
    return "; ".join(parts)


def _where(answer: Overlap) -> Column:
    several = answer.gpus["node"].n_unique() > 1
    return Column(
        "GPU",
        lambda row: gpu_name(row["node"], row["gpu"], with_node=several),
        is_text=True,
        is_fixed=not several,
    )


def _who(row: dict[str, Any]) -> str:
    return process_name(row["rank"], row["pid"])


def _gpu_table(answer: Overlap, *, limit: int) -> Table:
    columns = [
        _where(answer),
        Column("process", _who, is_text=True, is_fixed=True),
        Column("computation", lambda row: duration(row["computation_ns"])),
        Column("communication", lambda row: duration(row["communication_ns"])),
        Column("exposed", lambda row: duration(row["exposed_communication_ns"])),
        Column("copies", lambda row: duration(row["copy_ns"])),
        Column("exposed", lambda row: duration(row["exposed_copy_ns"])),
        Column("busy", lambda row: duration(row["busy_ns"]), is_wide=True),
        Column("idle", lambda row: duration(row["idle_ns"]), is_wide=True),
        Column("busy", lambda row: percent(row["busy_share"])),
        Column("", lambda row: bar_cell(row["busy_share"] or 0.0, 8), is_bar=True, is_wide=True),
    ]
    return frame_table(answer.gpus, columns, limit=limit, what="GPUs")


def _level_table(answer: Overlap, *, width: int, limit: int) -> Table:
    several = answer.levels["node"].n_unique() > 1

    def where(row: dict[str, Any]) -> str:
        if row["what"] == "streams":
            return gpu_name(row["node"], row["gpu"], with_node=several)
        return node_name(row["node"]) if several else "processes"

    cells = 20 if width >= WIDE else 12
    columns = [
        Column("", where, is_text=True),
        Column("at once", lambda row: counted(row["level"], row["what"]), is_text=True, is_fixed=True),
        Column("time", lambda row: duration(row["length_ns"])),
        Column("of busy", lambda row: percent(row["busy_share"])),
        Column("", lambda row: bar_cell(row["busy_share"] or 0.0, cells), is_bar=True),
    ]
    return frame_table(answer.levels, columns, limit=limit, what="levels", title="concurrency")


def _number(value: int | None) -> str:
    return "?" if value is None else str(value)


def _pair(first: str, second: str) -> list[Column]:
    return [
        Column(f"first {first}", lambda row: _number(row[f"first_{second}"])),
        Column("busy", lambda row: duration(row["first_busy_ns"]), is_wide=True),
        Column(f"second {first}", lambda row: _number(row[f"second_{second}"])),
        Column("busy", lambda row: duration(row["second_busy_ns"]), is_wide=True),
        Column("both", lambda row: duration(row["both_ns"])),
        Column("of shorter", lambda row: percent(row["both_share"])),
        Column("", lambda row: bar_cell(row["both_share"] or 0.0, 8), is_bar=True, is_wide=True),
    ]


def _stream_table(answer: Overlap, *, limit: int) -> Table:
    columns = [_where(answer), Column("process", _who, is_text=True, is_fixed=True), *_pair("stream", "stream_id")]
    return frame_table(answer.streams, columns, limit=limit, what="pairs of streams")


def _process_table(answer: Overlap, *, limit: int) -> Table:
    columns = [_where(answer), *_pair("process", "pid")]
    return frame_table(answer.processes, columns, limit=limit, what="pairs of processes on one GPU")


def _host_table(answer: Overlap, *, limit: int) -> Table:
    rows: pl.DataFrame = answer.host
    columns = [
        Column("process", _who, is_text=True, is_fixed=True),
        Column("in calls", lambda row: duration(row["call_ns"])),
        Column("while the GPU works", lambda row: duration(row["call_hidden_ns"])),
        Column("", lambda row: percent(row["call_hidden_share"]), name="share"),
        Column("GPU busy", lambda row: duration(row["gpu_busy_ns"])),
    ]
    title = "calls into the runtime and GPU work"
    return frame_table(rows, columns, limit=limit, what="processes", title=title)
