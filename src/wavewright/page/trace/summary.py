"""A trace on one screen: how its cycles were spent, how much was traced, how busy the hardware was."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from wavewright.analysis.common.occupancy.architecture import architecture
from wavewright.analysis.common.occupancy.limits import Resources
from wavewright.analysis.trace.about.contents import contents
from wavewright.analysis.trace.costs.activity import activity
from wavewright.analysis.trace.occupancy.resources import kernel_resources
from wavewright.analysis.trace.pipes.utilization import utilization
from wavewright.analysis.trace.sampled_counters import sampled_counters
from wavewright.analysis.trace.trust.coverage import coverage
from wavewright.analysis.trace.waves.states import states
from wavewright.errors import UsageError
from wavewright.model.answer import to_builtins
from wavewright.page.protocol.question import PageQuestion

if TYPE_CHECKING:
    from wavewright.model.document import Document
    from wavewright.model.trace import ThreadTrace


def summary(document: Document) -> dict[str, Any]:
    """Activity, contents, coverage, use of the pipes, and hardware utilization from counters (null without them)."""
    return document.kept("summary", lambda: _summary(document))


def _summary(document: Document) -> dict[str, Any]:
    trace = document.trace
    split = activity(trace)
    covered = coverage(trace)
    pipes = utilization(trace, bins=1)
    totals = contents(trace)
    counters = sampled_counters(trace, bins=1) if trace.sampled_counters.height else None
    resources = _with_resources(trace, totals.kernels.drop("code_object", "address", "size").to_dicts())
    answer = {
        "activity": {
            "definition": split.definition, "idle_cycles_total": split.idle_cycles_total,
            "stall_cycles_total": split.stall_cycles_total, "issue_cycles_total": split.issue_cycles_total,
            "cycles_total": split.cycles_total, "execution_count": split.execution_count, "is_stored": split.is_stored,
            "idle_share": split.idle_share, "stall_share": split.stall_share, "issue_share": split.issue_share,
        },
        "totals": {
            "shader_engines": totals.shader_engines, "span_cycles": totals.overview.span_cycles,
            "waves": totals.overview.waves, "waves_complete": totals.overview.waves_complete,
            "instructions": totals.overview.instructions, "unresolved": totals.overview.unresolved,
            "clock_mhz": totals.overview.clock_mhz, "code_rows": totals.code_rows,
            "rows_with_line": totals.rows_with_line, "pc_samples": totals.pc_samples, "missing": totals.missing,
        },
        "kernels": resources,
        "coverage": {
            "executed_row_count": covered.executed_row_count, "entered_row_count": covered.entered_row_count,
            "executed_share": covered.executed_share, "traced_share": covered.traced_share,
            "all_wave_count": covered.all_wave_count, "early_exit_wave_count": covered.early_exit_wave_count,
        },
        "states": states(trace, bins=1).total.to_dicts(),
        "pipes": {
            "definition": pipes.definition, "busy": pipes.pipes.to_dicts(), "bubble_share": pipes.bubble_share,
            "valu_per_matrix": pipes.valu_per_matrix,
        },
        "sampled_counters": counters and {
            "definition": counters.definition, "names_are_known": counters.names_are_known,
            "totals": counters.totals.to_dicts(), "by_cu": counters.by_cu.to_dicts(),
            "hardware": counters.hardware.to_dicts(), "hardware_by_cu": counters.hardware_by_cu.to_dicts(),
        },
    }  # fmt: skip
    content: dict[str, Any] = to_builtins(answer)
    return content


_RESOURCES = ("vgprs", "agprs", "sgprs", "lds_bytes", "wave_size", "workgroup_size")


def _with_resources(trace: ThreadTrace, kernels: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Kernels with the resources that limit their occupancy: code and launches know more than the metadata."""
    try:
        resources = kernel_resources(trace, architecture(trace, None).facts, Resources())
    except UsageError:  # which GPU it was is not known
        return kernels
    of = {kernel.kernel: kernel.resources for kernel in resources}
    return [kernel | _known(of.get(kernel["kernel"])) for kernel in kernels]


def _known(resources: Resources | None) -> dict[str, int]:
    return {name: value for name in _RESOURCES if (value := getattr(resources, name, None)) is not None}


QUESTIONS = (PageQuestion("summary", summary, is_of_time=True),)
