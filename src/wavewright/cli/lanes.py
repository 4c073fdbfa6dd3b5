"""`wavewright lanes`: its options."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from wavewright.base.bounds import ITEM
from wavewright.cli.kit.io import progress
from wavewright.cli.kit.lanes import lane_options
from wavewright.cli.kit.numbers import Whole
from wavewright.cli.kit.picture import picture_options
from wavewright.cli.kit.trace import trace_verb

if TYPE_CHECKING:
    from wavewright.analysis.trace.lanes.evaluated import LaneOptions
    from wavewright.cli.kit.picture import PictureRequest
    from wavewright.cli.kit.request import Parts
    from wavewright.cli.kit.trace import TraceRequest


@trace_verb
@click.option("--row", type=Whole(ITEM), metavar="N", help="One instruction: its lanes, banks or segments.")
@click.option("--fix", "fixes", is_flag=True, help="Search paddings and XOR swizzles of LDS without conflicts.")
@click.option("--floors", "wants_floors", is_flag=True, help="The cycles that each pipe needs at least for this code.")
@click.option(
    "--omniprobe",
    "omniprobe_path",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="A report or log of Omniprobe of the same kernel, to compare with.",
)
@lane_options
@picture_options
def command(
    request: TraceRequest,
    row: int | None,
    fixes: bool,
    wants_floors: bool,
    omniprobe_path: Path | None,
    options: LaneOptions,
    picture: PictureRequest,
) -> None:
    """The executed instructions are evaluated lane by lane from the ids of the work-items. What depends on arguments,
    on loaded data or on a rule that nobody has measured stays unknown, with the reason; --arg and --kerncap help.

    \b
    wavewright lanes capture/ --fix
    wavewright lanes capture/ --arg n=4096 --arg stride=8192
    wavewright lanes capture/ --row 2843 -o lanes.svg
    """
    from wavewright.errors import UsageError

    if row is not None:
        if fixes or wants_floors or omniprobe_path is not None:
            what = "--row shows one instruction, with the best layout; --fix, --floors and --omniprobe are about all"
            raise UsageError(what, advice="leave out --row, or the other")
        _one_row(request, row, options, picture)
        return
    if wants_floors:
        if fixes or omniprobe_path is not None:
            raise UsageError("--floors is an answer of its own", advice="leave out --fix and --omniprobe")
        _floors(request, options)
        return
    from wavewright.analysis.trace.lanes.answer import lanes
    from wavewright.model.answer import to_builtins

    if picture.output is not None:
        raise UsageError("a picture shows one instruction, and none is chosen", advice="--row N chooses it")
    measured = None
    if omniprobe_path is not None:
        from wavewright.readers.trace.omniprobe import read_omniprobe

        measured = read_omniprobe(omniprobe_path)
    with progress("evaluating lanes"):
        answer = lanes(
            request.trace,
            options,
            rows=request.rows,
            fixes=fixes,
            omniprobe=None if measured is None else measured.accesses,
        )

    def report() -> Parts:
        from wavewright.words.trace.lanes import lanes_report

        return lanes_report(
            answer,
            limit=request.limit,
            has_fixes=fixes,
            measured_losses=None if measured is None else measured.losses,
        )

    facts: dict[str, Any] = {} if measured is None else {"omniprobe_losses": to_builtins(measured.losses)}
    request.give(answer, answer.rows, request.with_code(report), request.trace.losses, **facts)


def _floors(request: TraceRequest, options: LaneOptions) -> None:
    from wavewright.analysis.trace.floors import floors

    with progress("evaluating lanes"):
        answer = floors(request.trace, options)

    def report() -> Parts:
        from wavewright.words.trace.floors import floors_report

        return floors_report(answer, limit=request.limit)

    request.give(answer, answer.pipes, request.with_code(report), request.trace.losses)


def _one_row(request: TraceRequest, row: int, options: LaneOptions, picture: PictureRequest) -> None:
    from wavewright.analysis.trace.lanes.pattern import row_pattern

    with progress("evaluating lanes"):
        answer = row_pattern(request.trace, row, options)

    def drawn(theme: str) -> str:
        from wavewright.words.trace.lane_picture import lane_svg

        return lane_svg(answer, theme=theme)

    def report() -> Parts:
        from wavewright.words.trace.lane_pattern import pattern_report

        return (*pattern_report(answer), *picture.lines())

    picture.write(drawn)
    request.give(answer, answer.lanes, report, request.trace.losses, is_cut=False, **picture.told)
