"""Raw captures and code objects, for the terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.table import Table
from rich.text import Text

from wavescope.base.words import percent, shortened
from wavescope.report.kit.losses import loss_lines

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from rich.console import RenderableType

    from wavescope.analysis.trace.overview import Overview
    from wavescope.codeobj.code_object import Kernel
    from wavescope.errors import WavescopeError
    from wavescope.model.losses import Loss


def capture_report(
    path: str, files: str, facts: Sequence[Overview], problems: Sequence[WavescopeError]
) -> Iterator[RenderableType]:
    """The answer of `wavescope info` on a raw capture."""
    yield Text.assemble((path, "bold"), f": raw thread-trace capture, {files}")
    target = next((f.target for f in facts if f.target), None)
    generation = max((f.gfxip for f in facts), default=0)
    clock = next((f.clock_mhz for f in facts if f.clock_mhz), None)
    running = f", shader clock {clock:,.0f} MHz" if clock else ""
    yield Text(f"GPU: {target or 'not named'} (stream of gfx{generation}){running}")
    yield _dispatch_table(facts)
    kernels = [name for f in facts for name in f.kernels]
    for name in dict.fromkeys(kernels):
        yield Text(f"  kernel {shortened(name)}")
    for fact in facts:
        label = "" if fact.dispatch is None else f"dispatch {fact.dispatch} "
        for line in loss_lines(fact.losses):
            yield Text.assemble(label, line)
    for problem in problems:
        yield Text.assemble(("unreadable: ", "bold red"), str(problem))
    yield Text.assemble(("next: ", "bold"), _next_step(path, facts))


def code_object_report(
    path: str, target: str | None, kernels: Sequence[Kernel], losses: Sequence[Loss]
) -> Iterator[RenderableType]:
    """The answer of `wavescope info` on a code object.

    Examples
    --------
    >>> str(next(iter(code_object_report("a.out", "gfx942", [], []))))
    'a.out: GPU code object for gfx942, 0 kernels'
    """
    yield Text.assemble((path, "bold"), f": GPU code object for {target or 'an unnamed GPU'}, {len(kernels)} kernels")
    columns = ("vgprs", "agprs", "sgprs", "lds_bytes", "scratch_bytes", "wave_size", "workgroup_size_max")
    table = Table("kernel", box=None, header_style="bold")
    for column in columns:
        table.add_column(column, justify="right")
    for kernel in kernels:
        values = (getattr(kernel, column) for column in columns)
        table.add_row(shortened(kernel.name), *("-" if value is None else f"{value:,}" for value in values))
    if kernels:
        yield table
    for loss in losses:
        yield Text.assemble(("loss: ", "bold yellow"), f"{loss.message}; {loss.advice}")


def _dispatch_table(facts: Sequence[Overview]) -> Table:
    table = Table(box=None, header_style="bold")
    for name in ("dispatch", "SE", "MB", "waves", "instructions", "without PC", "occupancy events", "span (cycles)"):
        table.add_column(name, justify="right")
    for f in facts:
        waves = f"{f.waves:,}" if f.waves == f.waves_complete else f"{f.waves:,} ({f.waves - f.waves_complete:,} cut)"
        unresolved = percent(f.unresolved / f.instructions) if f.instructions else "-"
        table.add_row(
            "-" if f.dispatch is None else str(f.dispatch),
            str(f.shader_engines),
            f"{f.bytes / 1e6:,.2f}",
            waves,
            f"{f.instructions:,}",
            unresolved,
            f"{f.occupancy_events:,}",
            f"{f.span_cycles:,}",
        )
    return table


def _next_step(path: str, facts: Sequence[Overview]) -> str:
    if not any(f.waves for f in facts):
        return "capture again: no wave ran on the traced CU (--att-target-cu, --att-shader-engine-mask, a larger grid)"
    if any(f.damaged for f in facts):
        return f"fix the losses above, or check what can be trusted: wavescope coverage {path}"
    return f"wavescope hotspots {path} (where the time goes), stalls, diagnose; or wavescope decode {path} -o decoded"
