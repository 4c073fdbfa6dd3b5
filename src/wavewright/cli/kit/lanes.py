"""What the user knows about a dispatch beyond its trace: arguments, sizes, rules, and a GPU that is not recorded."""

from __future__ import annotations

from dataclasses import replace
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from wavewright.cli.kit.io import progress, with_options
from wavewright.cli.kit.request import target_option

if TYPE_CHECKING:
    from collections.abc import Callable

    import polars as pl

    from wavewright.analysis.trace.lanes.evaluated import LaneOptions
    from wavewright.cli.kit.trace import TraceRequest
    from wavewright.model.trace import ThreadTrace

_DIMENSIONS = 3


class Size(click.ParamType):  # type: ignore[type-arg,unused-ignore]  # generic in newer versions of click only
    """`256`, `16,16` or `16x16x4`: one to three dimensions."""

    name = "X[,Y[,Z]]"

    def convert(
        self, value: object, param: click.Parameter | None, ctx: click.Context | None
    ) -> tuple[int, int, int] | None:
        """The three numbers; dimensions that are not given are 1."""
        if isinstance(value, tuple):
            return value
        words = str(value).lower().replace("x", ",").split(",")
        if not all(word.strip().isascii() and word.strip().isdigit() for word in words) or len(words) > _DIMENSIONS:
            self.fail(f"{str(value)[:40]!r} is not a size such as 256 or 16,16.", param, ctx)
        x, y, z = ([int(word) for word in words] + [1, 1])[:_DIMENSIONS]
        return x, y, z


def lane_options(verb: Callable[..., None]) -> Callable[..., None]:
    """Give a verb the options about a dispatch, handed on as `options`; the request's trace gets its GPU."""

    @wraps(verb)
    def run(
        request: TraceRequest,
        *,
        target: str | None,
        arguments: tuple[str, ...],
        workgroup: tuple[int, int, int] | None,
        grid: tuple[int, int, int] | None,
        kerncap: Path | None,
        rules: Path | None,
        **rest: Any,
    ) -> None:
        trace = _with_target(request.require_instructions(), target)
        options = _options(trace, arguments, workgroup, grid, kerncap, rules)
        verb(replace(request, trace=trace), options=options, **rest)

    return with_options(run, _OPTIONS)


def evaluated_lanes(request: TraceRequest) -> pl.DataFrame:
    """What lanes cost by code row, for the columns of other verbs."""
    from wavewright.analysis.trace.lanes.columns import lane_sums

    with progress("evaluating lanes"):
        return lane_sums(request.require_instructions())


def _with_target(trace: ThreadTrace, target: str | None) -> ThreadTrace:
    from wavewright.errors import UsageError
    from wavewright.facts.gpus.facts import of

    if target is None:
        return trace
    named = of(target).target
    if trace.source.target not in (None, named):
        what = f"--target is {named}, and the trace is of {trace.source.target}"
        raise UsageError(what, where=trace.source.path, advice="leave out --target")
    return replace(trace, source=replace(trace.source, target=named), answers={})


def _options(
    trace: ThreadTrace,
    arguments: tuple[str, ...],
    workgroup: tuple[int, int, int] | None,
    grid: tuple[int, int, int] | None,
    kerncap: Path | None,
    rules: Path | None,
) -> LaneOptions:
    from wavewright.analysis.trace.lanes.evaluated import LaneOptions
    from wavewright.codeobj.kernel_arguments import DispatchSize
    from wavewright.errors import UsageError
    from wavewright.facts.lanes import lane_rules, read_lane_rules

    chosen_rules = lane_rules() if rules is None else read_lane_rules(rules)
    options = LaneOptions(arguments, workgroup, grid, None, chosen_rules)
    if not arguments and kerncap is None:
        return options
    numbers = trace.waves["kernel"].drop_nulls().unique().to_list()
    kernels = [kernel for number in numbers if (kernel := trace.compiled_kernel(number)) is not None]
    if not kernels:
        what = "the code object of the traced kernel is not here, so nothing says where its arguments are"
        raise UsageError(what, where=trace.source.path, advice="--code-object FILE gives it")
    if kerncap is None:
        return options
    from wavewright.readers.trace.kerncap import read_kerncap

    dispatch = read_kerncap(kerncap)
    for kernel in kernels:
        dispatch.values(kernel, DispatchSize(workgroup, grid), target=trace.source.target, values=arguments)
    size = dispatch.size
    return LaneOptions(arguments, size.workgroup_size, size.grid_size, dispatch.segment, chosen_rules)


_OPTIONS: tuple[Callable[[Any], Any], ...] = (
    target_option,
    click.option(
        "--arg",
        "arguments",
        multiple=True,
        metavar="NAME=VALUE",
        help="A kernel argument, by name or by offset (0x28=32768:u32); may be repeated.",
    ),
    click.option("--workgroup", type=Size(), help="Work-items of a workgroup: 256 or 16,16."),
    click.option("--grid", type=Size(), help="Work-items of the dispatch: 65536 or 1024,1024."),
    click.option(
        "--kerncap",
        type=click.Path(path_type=Path),
        metavar="FOLDER",
        help="Arguments and sizes as kerncap recorded them for this dispatch.",
    ),
    click.option(
        "--rules",
        type=click.Path(path_type=Path),
        metavar="FILE",
        help="Rules of LDS and L1 (TOML, docs/reference/lane-rules.md) over those of wavewright.",
    ),
)
