"""`wavewright disassemble`: the kernels in a file, their code and registers, and what one wave more needs."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

from wavewright.analysis.code.kernel import kernel_code
from wavewright.analysis.code.object_overview import code_overview
from wavewright.analysis.common.occupancy.limits import Resources
from wavewright.cli.kit.io import console
from wavewright.cli.kit.request import Parts, Request
from wavewright.errors import UsageError
from wavewright.model.blocks import GAP
from wavewright.model.losses import loss_frame
from wavewright.readers.code import ChosenKernel, CodeFile, open_code


def command(
    path: Path,
    kernel: str | None,
    target: str | None,
    number: int | None,
    lds: int | None,
    workgroup: int | None,
    top: int | None,
    as_csv: bool,
    as_json: bool,
    **view: Any,
) -> None:
    """Show the kernels of a file, or one of them."""
    request = Request(paths=(path,), top=top, as_json=as_json, as_csv=as_csv)
    file = open_code(path, target=target, number=number)
    chosen = file.named(kernel) if kernel is not None else file.kernels
    resources = Resources(lds_bytes=lds, workgroup_size=workgroup)
    if len(chosen) == 1:
        _show_kernel(request, file, chosen[0], resources, view)
    else:
        _show_overview(request, file, chosen if kernel is not None else None, resources)


def _show_overview(
    request: Request, file: CodeFile, chosen: tuple[ChosenKernel, ...] | None, resources: Resources
) -> None:
    answer = code_overview(file.places, override=resources)
    if chosen is not None:
        wanted = {(each.place.number, each.kernel.name) for each in chosen}
        is_chosen = [pair in wanted for pair in answer.kernels.select("object", "name").iter_rows()]
        answer = replace(answer, kernels=answer.kernels.filter(is_chosen))

    def report() -> Parts:
        from wavewright.words.code.object_list import overview_report

        return overview_report(answer, limit=request.limit)

    request.give(answer, answer.kernels, report, loss_frame(file.losses))


def _show_kernel(
    request: Request, file: CodeFile, chosen: ChosenKernel, resources: Resources, view: dict[str, Any]
) -> None:
    answer = kernel_code(chosen.code_object, chosen.kernel, override=resources)
    overview = code_overview([chosen.place], override=resources).kernels
    row = overview.filter(overview["name"] == chosen.kernel.name).row(0, named=True)
    losses = loss_frame((*file.losses, *answer.losses))
    first, last = _range(answer.loops, view)

    def report() -> Parts:
        from wavewright.words.code.kernel import descriptor_report, head_line, kernel_report
        from wavewright.words.code.listing import ListingView, code_listing

        out = console()
        yield head_line(answer)
        if not view["summary"]:
            room = out.width, out.options.ascii_only
            yield code_listing(answer, ListingView(view["show_all"], first, last, view["with_source"], *room))
            yield GAP
        if view["descriptor"]:
            yield from descriptor_report(answer)
        yield from kernel_report(answer, row, limit=request.limit, width=out.width)

    request.give(answer, answer.rows, report, losses, resources=row)


def _range(loops: Any, view: dict[str, Any]) -> tuple[int | None, int | None]:
    """Rows to list: those of a loop, or those that were named."""
    loop: int | None = view["loop"]
    if loop is None:
        first, last = view["rows"]
        return first, last
    if loop >= loops.height:
        advice = f"loops 0 to {loops.height - 1}" if loops.height else "the kernel has no loops"
        raise UsageError(f"there is no loop {loop}", advice=advice)
    return loops["first_row"][loop], loops["last_row"][loop]
