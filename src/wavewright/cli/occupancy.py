"""`wavewright occupancy`: its options."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from wavewright.base.bounds import AMOUNT, SOME
from wavewright.cli.kit.io import console
from wavewright.cli.kit.numbers import Whole
from wavewright.cli.kit.request import Request, target_option
from wavewright.cli.kit.trace import CodeObjectRequest, TraceRequest, whole_trace_verb

if TYPE_CHECKING:
    from wavewright.analysis.common.occupancy.limits import Resources
    from wavewright.cli.kit.request import Parts

_AMOUNT = Whole(AMOUNT)
_OTHER_COLUMNS = 46  #: Characters that the other columns of the table of shader engines need.


@whole_trace_verb
@target_option
@click.option("--vgprs", type=_AMOUNT, help="Vector registers per lane, instead of what the trace says.")
@click.option("--agprs", type=_AMOUNT, default=0, help="Accumulation registers per lane.")
@click.option("--sgprs", type=_AMOUNT, help="Scalar registers per wave.")
@click.option("--lds", type=_AMOUNT, metavar="BYTES", help="LDS per workgroup, static and dynamic.")
@click.option("--workgroup", type=Whole(SOME), metavar="N", help="Work-items per workgroup.")
@click.option("--wave-size", type=click.Choice(["32", "64"]), help="Lanes per wave; default: the kernel's.")
@click.option("--cu-mode", is_flag=True, help="RDNA: the kernel was built with -mcumode.")
def command(
    request: Request,
    target: str | None,
    vgprs: int | None,
    agprs: int,
    sgprs: int | None,
    lds: int | None,
    workgroup: int | None,
    wave_size: str | None,
    cu_mode: bool,
) -> None:
    """PATH is a thread trace, or a code object: then what fits of its kernels. Without PATH, computes it for the
    resources given: --target and --vgprs at least.
    """
    from wavewright.analysis.common.occupancy.limits import Resources

    resources = Resources(vgprs, agprs, sgprs, lds, workgroup, int(wave_size) if wave_size else None)
    if isinstance(request, TraceRequest):
        _of_trace(request, target, resources, wgp_mode=not cu_mode)
    elif isinstance(request, CodeObjectRequest):
        _of_code_object(request, target, resources, wgp_mode=not cu_mode)
    else:
        _calculate(request, target, resources, wgp_mode=not cu_mode)


def _calculate(request: Request, target: str | None, resources: Resources, *, wgp_mode: bool) -> None:
    from wavewright.analysis.trace.occupancy import theoretical
    from wavewright.errors import UsageError

    if target is None or resources.vgprs is None:
        what = "without PATH, --target and --vgprs are needed"
        advice = "wavewright occupancy --target gfx942 --vgprs 144 --agprs 136 --sgprs 112 --lds 12800 --workgroup 256"
        raise UsageError(what, advice=advice)
    answer = theoretical(target, resources, wgp_mode=wgp_mode)

    def report() -> Parts:
        from wavewright.words.trace.occupancy import occupancy_report

        return occupancy_report(answer, (), limit=1)

    request.give(answer, answer.kernels, report, ())


def _of_code_object(request: CodeObjectRequest, target: str | None, resources: Resources, *, wgp_mode: bool) -> None:
    from wavewright.analysis.trace.occupancy import occupancy_of_code_object
    from wavewright.codeobj.code_object import CodeObject
    from wavewright.model.losses import loss_frame

    code_object = CodeObject.read(request.path, target=target)
    answer = occupancy_of_code_object(
        code_object, gpu=target, kernel=request.kernel, override=resources, wgp_mode=wgp_mode
    )
    losses = loss_frame(code_object.losses)

    def report() -> Parts:
        from wavewright.words.trace.occupancy import occupancy_report

        return occupancy_report(answer, (), limit=request.limit)

    request.give(answer, answer.kernels, report, losses)


def _of_trace(request: TraceRequest, target: str | None, resources: Resources, *, wgp_mode: bool) -> None:
    from wavewright.analysis.trace.occupancy import occupancy
    from wavewright.errors import UsageError

    if request.selection.waves or request.selection.chooses_rows:
        what = "occupancy counts all waves of a shader engine: --wave, --file and --line choose nothing here"
        raise UsageError(what, advice="use --kernel, --se, --simd or --time")
    answer = occupancy(request.trace, gpu=target, override=resources, wgp_mode=wgp_mode, selection=request.selection)

    def report() -> Parts:
        from wavewright.analysis.trace.waves.residency import residency
        from wavewright.words.trace.occupancy import occupancy_report

        engines = set(answer.engines["se"].to_list())
        bins = max(8, min(60, console().width - _OTHER_COLUMNS))
        curves = [curve for curve in residency(request.trace, bins=bins) if curve.se in engines]
        return occupancy_report(answer, curves, limit=request.limit)

    request.give(answer, answer.kernels, report, request.trace.losses)
