"""A trace on one screen: how its cycles were spent, how much was traced, how busy the hardware was."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import polars as pl

from wavewright.analysis.common.occupancy.architecture import architecture
from wavewright.analysis.common.occupancy.limits import Resources
from wavewright.analysis.trace.about.overview import contents
from wavewright.analysis.trace.costs.row_costs import activity
from wavewright.analysis.trace.derived_counters.sampled_counters import sampled_counters
from wavewright.analysis.trace.occupancy.resources import KernelResources, kernel_resources
from wavewright.analysis.trace.pipes.utilization import utilization
from wavewright.analysis.trace.trust.coverage import coverage
from wavewright.analysis.trace.waves.states import states
from wavewright.errors import UsageError
from wavewright.model.answer import to_builtins
from wavewright.model.document import Document
from wavewright.model.trace import ThreadTrace
from wavewright.page.protocol.question import PageQuestion, once_per_document


@once_per_document
def summary(document: Document) -> dict[str, Any]:
    """Activity, contents, coverage, use of the pipes, and hardware utilization from counters (null without them)."""
    trace = document.trace
    split = activity(trace)
    covered = coverage(trace)
    pipes = utilization(trace)  # without options, as other views call it: its result is computed once
    totals = contents(trace)
    counters = sampled_counters(trace, bins=1) if trace.sampled_counters.height else None
    resources = _with_resources(trace, totals.kernels.drop("code_object", "address", "size").to_dicts())
    answer = {
        "activity": _some(
            split, "definition idle_cycles_total stall_cycles_total issue_cycles_total cycles_total execution_count "
            "is_stored idle_share stall_share issue_share",
        ),
        "totals": _some(totals.overview, "span_cycles waves waves_complete instructions unresolved clock_mhz")
        | _some(totals, "shader_engines code_rows rows_with_line pc_samples")
        | {"missing": _absent_names(totals.missing, resources)},
        "kernels": resources,
        "coverage": _some(
            covered, "executed_row_count entered_row_count executed_share traced_share all_wave_count "
            "early_exit_wave_count",
        ),
        "states": states(trace).total.to_dicts(),
        "pipes": _some(pipes, "definition bubble_share valu_per_matrix") | {"busy": pipes.pipes.to_dicts()},
        "sampled_counters": counters
        and _some(counters, "definition names_are_known totals by_cu hardware hardware_by_cu"),
    }  # fmt: skip
    content: dict[str, Any] = to_builtins(answer)
    return content


def _some(answer: Any, names: str) -> dict[str, Any]:
    """The fields of an answer that `names` lists; tables as their rows."""
    values = {name: getattr(answer, name) for name in names.split()}
    return {name: value.to_dicts() if isinstance(value, pl.DataFrame) else value for name, value in values.items()}


_INFERENCE = "inferred from "
_RESOURCES = ("vgprs", "agprs", "sgprs", "lds_bytes", "wave_size", "workgroup_size")


def _with_resources(trace: ThreadTrace, kernels: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Kernels with the resources that limit their occupancy: code and launches know more than the metadata."""
    try:
        resources = kernel_resources(trace, architecture(trace, None).facts, Resources())
    except UsageError:  # which GPU it was is not known
        return kernels
    by_kernel = {kernel.kernel: kernel for kernel in resources}
    return [kernel | _resource_values(kernel, by_kernel.get(kernel["kernel"])) for kernel in kernels]


def _resource_values(kernel_row: dict[str, Any], kernel: KernelResources | None) -> dict[str, Any]:
    """The resources of a kernel that are known, and where its registers are from if they were not recorded."""
    if kernel is None:
        return {}
    values = {name: value for name in _RESOURCES if (value := getattr(kernel.resources, name)) is not None}
    is_inferred = kernel_row["vgprs"] is None and "vgprs" in values
    return values | ({"resource_origin": _INFERENCE + kernel.registers_from} if is_inferred else {})


def _absent_names(names: Iterable[str], kernels: list[dict[str, Any]]) -> list[str]:
    """Names that the trace lacks; of registers that stand above, only their record."""
    is_inferred = any((kernel["resource_origin"] or "").startswith(_INFERENCE) for kernel in kernels)
    return [f"recorded {name}" if is_inferred and name == "registers and LDS" else name for name in names]


QUESTIONS = (PageQuestion("summary", summary, is_of_time=True),)
