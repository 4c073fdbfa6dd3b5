"""`wavescope occupancy`: how many waves fit on a SIMD, how many were there, and what limits them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from wavescope.base.bounds import AMOUNT, SOME
from wavescope.cli.kit.io import console, emit_json
from wavescope.cli.kit.numbers import Whole
from wavescope.cli.kit.trace import whole_trace_verb

if TYPE_CHECKING:
    from wavescope.analysis.common.occupancy.limits import Resources
    from wavescope.cli.kit.trace import Asked

_AMOUNT = Whole(AMOUNT)
_BESIDE_CURVE = 46  #: Characters that the other columns of the table of shader engines need.


@whole_trace_verb
@click.option("--gpu", metavar="NAME", help="Target (gfx942) or product (MI300X), when the capture does not say.")
@click.option("--vgprs", type=_AMOUNT, help="Vector registers per lane, instead of what the trace says.")
@click.option("--agprs", type=_AMOUNT, default=0, help="Accumulation registers per lane.")
@click.option("--sgprs", type=_AMOUNT, help="Scalar registers per wave.")
@click.option("--lds", type=_AMOUNT, metavar="BYTES", help="LDS per workgroup, static and dynamic.")
@click.option("--workgroup", type=Whole(SOME), metavar="N", help="Work-items per workgroup.")
@click.option("--wave-size", type=click.Choice(["32", "64"]), help="Lanes per wave; default: the kernel's.")
@click.option("--cu-mode", is_flag=True, help="RDNA: the kernel was built with -mcumode.")
def command(
    asked: Asked | None,
    gpu: str | None,
    vgprs: int | None,
    agprs: int,
    sgprs: int | None,
    lds: int | None,
    workgroup: int | None,
    wave_size: str | None,
    cu_mode: bool,
) -> None:
    """How many waves fit on a SIMD, how many were there, and what limits them.

    Without PATH, computes it for the resources given: --gpu and --vgprs at least.
    """
    from wavescope.analysis.common.occupancy.limits import Resources

    resources = Resources(vgprs, agprs, sgprs, lds, workgroup, int(wave_size) if wave_size else None)
    if asked is None:
        _calculate(gpu, resources, wgp_mode=not cu_mode)
    else:
        _of_trace(asked, gpu, resources, wgp_mode=not cu_mode)


def _calculate(gpu: str | None, resources: Resources, *, wgp_mode: bool) -> None:
    from wavescope.analysis.trace.occupancy import theoretical
    from wavescope.errors import UsageError
    from wavescope.model.answer import to_builtins
    from wavescope.report.trace.occupancy import occupancy_report

    if gpu is None or resources.vgprs is None:
        what = "without PATH, --gpu and --vgprs are needed"
        advice = "wavescope occupancy --gpu gfx942 --vgprs 144 --agprs 136 --sgprs 112 --lds 12800 --workgroup 256"
        raise UsageError(what, advice=advice)
    answer = theoretical(gpu, resources, wgp_mode=wgp_mode)
    if click.get_current_context().params.get("as_json"):
        emit_json(to_builtins(answer) | {"losses": []})
        return
    out = console()
    for part in occupancy_report(answer, (), limit=1):
        out.print(part)


def _of_trace(asked: Asked, gpu: str | None, resources: Resources, *, wgp_mode: bool) -> None:
    from wavescope.analysis.trace.occupancy import occupancy
    from wavescope.analysis.trace.waves.residency import residency
    from wavescope.errors import UsageError
    from wavescope.report.trace.occupancy import occupancy_report

    if asked.selection.waves or asked.selection.chooses_rows:
        what = "occupancy counts all waves of a shader engine: --wave, --file and --line choose nothing here"
        raise UsageError(what, advice="use --kernel, --se, --simd or --time")
    answer = occupancy(asked.trace, gpu=gpu, override=resources, wgp_mode=wgp_mode, selection=asked.selection)
    if asked.as_json:
        asked.emit(answer)
        return
    engines = set(answer.engines["se"].to_list())
    bins = max(8, min(60, console().width - _BESIDE_CURVE))
    curves = [curve for curve in residency(asked.trace, bins=bins) if curve.se in engines]
    asked.show(*occupancy_report(answer, curves, limit=asked.limit))
