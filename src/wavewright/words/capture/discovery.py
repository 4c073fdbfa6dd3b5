"""Kernels of a discovery: the table, the suggestion, and the command that follows."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import polars as pl

from wavewright.base.shown import printable
from wavewright.base.words import counted, duration
from wavewright.capture.plans.discovery import DiscoveredGpu, DiscoveredKernels, Kernel, Suggestion
from wavewright.model.blocks import GAP, AnyBlock, Table, headline, sentence
from wavewright.words.capture.plan import labelled_row
from wavewright.words.capture.shell import shell_text
from wavewright.words.kit.declared_tables import declared_table


def discovery_report(
    kernels: DiscoveredKernels, suggestion: Suggestion, next_words: Sequence[str], *, width: int, limit: int = 15
) -> Iterator[AnyBlock]:
    """Blocks of what ran, which kernel is suggested and why, and the command that traces it (of quoted words)."""
    yield headline(_headline(kernels))
    yield GAP
    yield _table(kernels, suggestion, limit)
    yield GAP
    yield sentence((f"suggested: {suggestion.line}", "bold"))
    for note in suggestion.notes:
        yield labelled_row("note", printable(note), label_width=4)
    yield GAP
    yield shell_text(next_words, width)


def _headline(kernels: DiscoveredKernels) -> str:
    processes = f" in {counted(kernels.process_count, 'processes')}" if kernels.process_count > 1 else ""
    what = f"{counted(kernels.dispatch_count, 'dispatches')} of {counted(len(kernels.kernels), 'kernels')}"
    gpus = list(dict.fromkeys(gpu_title(kernel.gpu) for kernel in kernels.kernels if kernel.gpu))
    where = f" on {', '.join(gpus)}" if gpus else ""
    return printable(f"{what}{processes} took {duration(kernels.total_ns)} of GPU time{where}")


def gpu_title(gpu: DiscoveredGpu) -> str:
    """A GPU with its target and size."""
    return f"{gpu.product or 'GPU'} ({gpu.target}, {gpu.cu_count} CUs)"


def _table(kernels: DiscoveredKernels, suggestion: Suggestion, limit: int) -> Table:
    listed = list(kernels.kernels[:limit])
    if suggestion.kernel not in listed:  # it is what the table is for
        listed[-1:] = [suggestion.kernel]
    marks = "> is suggested" + (", - is passed over" if any(kernel.passed_over for kernel in listed) else "")
    rows = []
    for kernel in listed:
        means = {"symbol_count": len(kernel.symbols), "mean_ns": kernel.total_ns / kernel.calls}
        rows.append(
            {**_kernel_json(kernel), "title": kernel.title, **means, "is_suggested": kernel is suggestion.kernel}
        )
    cells: dict[str, Any] = {"mark": _mark, "per_cu": _per_cu, "registers": _registers}
    table = declared_table("capture/discovery/kernels", pl.DataFrame(rows), rows="kernels", **cells)
    return replace(table, row_count=len(kernels.kernels), note=marks)


def _per_cu(row: dict[str, Any]) -> str:
    per_cu = row["workgroups_per_cu"]
    if per_cu is None:
        return "-"
    return "<0.1" if per_cu < 0.1 else f"{per_cu:.1f}" if per_cu < 10 else f"{per_cu:,.0f}"


def _registers(row: dict[str, Any]) -> str:
    vgprs, accum = row["vgpr_count"], row["accum_vgpr_count"]
    return "-" if vgprs is None else f"{vgprs}+{accum}" if accum else str(vgprs)


def _mark(row: dict[str, Any]) -> str:
    return ">" if row["is_suggested"] else "-" if row["passed_over"] else ""


def discovery_json(kernels: DiscoveredKernels, suggestion: Suggestion, command: str) -> dict[str, Any]:
    """The same as plain values."""
    return {
        "dispatch_count": kernels.dispatch_count,
        "process_count": kernels.process_count,
        "total_ns": kernels.total_ns,
        "kernels": list(map(_kernel_json, kernels.kernels)),
        "suggestion": {
            "kernel": suggestion.kernel.name,
            "launches": suggestion.launches,
            "notes": suggestion.notes,
            "command": command,
        },
    }


def _kernel_json(kernel: Kernel) -> dict[str, Any]:
    amounts = ("vgpr_count", "accum_vgpr_count", "sgpr_count", "lds_bytes", "scratch_bytes")
    return {
        **{name: getattr(kernel, name) for name in ("name", "calls", "total_ns", "share")},
        "calls_per_symbol": [symbol.calls for symbol in kernel.symbols],
        "workgroups": kernel.shape.workgroups,
        "workgroup_lanes": kernel.shape.workgroup_lanes,
        "shape_count": kernel.shape_count,
        "workgroups_per_cu": kernel.workgroups_per_cu,
        "wave_slots_share": kernel.fill,
        **{name: getattr(kernel, name) for name in amounts},
        "target": kernel.gpu.target if kernel.gpu else None,
        "passed_over": kernel.passed_over,
    }
