"""Facts about a dispatch beyond its trace: arguments and sizes, as a user or a recording gives them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from wavewright.errors import UsageError

if TYPE_CHECKING:
    from pathlib import Path

    from wavewright.analysis.trace.lanes.evaluated import LaneOptions
    from wavewright.model.trace import ThreadTrace
    from wavewright.readers.trace.kerncap import KerncapDispatch

    Size = tuple[int, int, int]


def lane_options(
    trace: ThreadTrace,
    arguments: tuple[str, ...] = (),
    workgroup: Size | None = None,
    grid: Size | None = None,
    kerncap: Path | None = None,
    rules: Path | None = None,
) -> tuple[LaneOptions, Path | None]:
    """The facts of the dispatch, and the file beside the capture that it was read from; None = it was not.

    Raises `UsageError`: arguments do not fit the kernel, or no code object has it.
    """
    from wavewright.analysis.trace.lanes.evaluated import LaneOptions
    from wavewright.codeobj.kernel_arguments import DispatchSize
    from wavewright.facts.lanes import lane_rules, read_lane_rules
    from wavewright.readers.trace.arguments_file import arguments_beside, read_arguments
    from wavewright.readers.trace.kerncap import read_kerncap

    chosen_rules = lane_rules() if rules is None else read_lane_rules(rules)
    options = LaneOptions(arguments, workgroup, grid, None, chosen_rules)
    beside = arguments_beside(trace.source.path) if kerncap is None else None
    if not arguments and kerncap is None and beside is None:
        return options, None
    numbers = trace.waves["kernel"].drop_nulls().unique().to_list()
    kernels = [kernel for number in numbers if (kernel := trace.compiled_kernel(number)) is not None]
    if not kernels and not arguments and kerncap is None:
        return options, None
    if not kernels:
        problem = "the code object of the traced kernel is not here, so nothing says where its arguments are"
        raise UsageError(problem, where=trace.source.path, advice="--code-object FILE gives it")
    if kerncap is not None:
        dispatch: KerncapDispatch | None = read_kerncap(kerncap)
    else:
        names = [kernel.name for kernel in kernels]
        dispatch = read_arguments(beside, names, trace.source.dispatch) if beside is not None else None
    if dispatch is None:
        return options, None
    for kernel in kernels:
        dispatch.values(kernel, DispatchSize(workgroup, grid), target=trace.source.target, values=arguments)
    size = dispatch.size
    return LaneOptions(arguments, size.workgroup_size, size.grid_size, dispatch.segment, chosen_rules), beside
