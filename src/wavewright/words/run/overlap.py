"""Overlap of work in words."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from wavewright.analysis.run.gpu_time.overlap import Overlap
from wavewright.base.words import counted, duration, percent
from wavewright.model.blocks import GAP, AnyBlock, Sentence, Table, headline, sentence
from wavewright.words.kit.declared_tables import declared_table, table_below
from wavewright.words.kit.frame_tables import bar_cell
from wavewright.words.run.place_names import gpu_cell, gpu_name, node_name, process_cell
from wavewright.writers.terminal.fitted_table import WIDE


def overlap_report(answer: Overlap, *, width: int = 100, limit: int = 20) -> Iterator[AnyBlock]:
    """The report of `wavewright overlap`."""
    yield headline(_verdict(answer))
    if not answer.gpus.height:
        return
    yield GAP
    gpu = gpu_cell(several=answer.gpus["node"].n_unique() > 1)
    yield declared_table("run/overlap/gpu", answer.gpus, limit=limit, gpu=gpu, process=process_cell)
    if answer.levels["level"].max() != 1:
        yield GAP
        yield _level_table(answer, width=width, limit=limit)
    if answer.streams.height:
        yield GAP
        yield declared_table("run/overlap/streams", answer.streams, limit=limit, gpu=gpu, process=process_cell)
        if answer.stream_limit:
            yield sentence((f"compared are the {answer.stream_limit} busiest streams of a GPU", "bold"))
    yield from table_below("run/overlap/processes", answer.processes, limit=limit, gpu=gpu)
    if answer.bridged_ns:
        yield Sentence(f"idle intervals ({duration(answer.bridged_ns)} in total) count as busy between processes")
    yield from table_below("run/overlap/host", answer.host, limit=limit, process=process_cell)


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


def _level_table(answer: Overlap, *, width: int, limit: int) -> Table:
    several = answer.levels["node"].n_unique() > 1

    def where(row: dict[str, Any]) -> str:
        if row["what"] == "streams":
            return gpu_name(row["node"], row["gpu"], with_node=several)
        return node_name(row["node"]) if several else "processes"

    cells = 20 if width >= WIDE else 12
    return declared_table(
        "run/overlap/level",
        answer.levels,
        limit=limit,
        where=where,
        at_once=lambda row: counted(row["level"], row["what"]),
        bar=lambda row: bar_cell(row["busy_share"] or 0.0, cells),
    )
