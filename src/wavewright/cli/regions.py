"""`wavewright regions`: its options."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

import click

from wavewright.base.bounds import BINS, SHARE
from wavewright.cli.kit.io import console
from wavewright.cli.kit.numbers import Real, Whole
from wavewright.cli.kit.run import run_verb
from wavewright.errors import UsageError

if TYPE_CHECKING:
    from wavewright.analysis.run.contents.regions import Regions
    from wavewright.cli.kit.request import Parts
    from wavewright.cli.kit.run import RunRequest

_LAYER_LINES = 40  #: Lines of `--layers` without `--top`: a model has some dozens of equal layers.


@run_verb
@click.option("--depth", type=Whole(BINS), help="Levels of the tree to show; default: all.")
@click.option(
    "--min-share",
    type=Real(SHARE),
    default=1.0,
    show_default=True,
    metavar="PERCENT",
    help="Leave out nodes below this share of the time, and of the GPU time.",
)
@click.option(
    "--sort",
    type=click.Choice(["gpu", "cpu", "self", "calls"]),
    help="By GPU time launched, by CPU time with or without what is inside, or by calls; default: gpu if there is any.",
)
@click.option(
    "--name", metavar="NAME", help="Only regions whose name contains NAME, or matches /REGEX/, and all inside."
)
@click.option("--layers", is_flag=True, help="Only modules of PyTorch (nn.Module), with the GPU work launched in each.")
@click.option("--stacks", is_flag=True, help="Call stacks of calls instead of regions (RPD with RPDT_STACKFRAMES=1).")
@click.option("--shapes", is_flag=True, help="Operators by the shapes of their inputs, with TFLOP/s and TB/s.")
@click.option(
    "--frames", is_flag=True, help="Also Python frames and launching calls that add nothing to the line above."
)
def command(
    request: RunRequest,
    depth: int | None,
    min_share: float,
    sort: str | None,
    name: str | None,
    layers: bool,
    stacks: bool,
    shapes: bool,
    frames: bool,
) -> None:
    """Regions (calls, markers, operators, Python frames) are nested by time and added up by path over threads,
    processes and ranks. CPU time is the length of a region, GPU time that of the kernels and copies launched in it.
    With --domain (OPERATOR, MARKER, PYTHON, HIP, ...) only regions of that domain are nodes; GPU work launched inside
    them is theirs. --csv prints the whole tree, one row per path; --json too. --shapes has the operators of PyTorch by
    the shapes of their inputs, and for products of matrices, convolutions and attention their operations and bytes per
    second.

    \b
    wavewright regions trace.json
    wavewright regions trace.json --layers
    wavewright regions trace.json --shapes
    wavewright regions trace.json --name attention --sort cpu
    wavewright regions results.db --domain MARKER --depth 3
    """
    from wavewright.analysis.run.contents.regions import combine_regions, named_regions, partial_regions

    if shapes:
        _give_shapes(request, name, sort)
        return
    domains = request.selection.domains
    request = replace(
        request, selection=replace(request.selection, domains=())
    )  # other calls still tell what they launched
    if stacks:
        from wavewright.analysis.run.contents.stacks import partial_stacks

        gathered = request.gather(partial_stacks)
    else:
        gathered = request.gather(partial(partial_regions, domains=domains, layers=layers))
    answer = combine_regions(gathered.values, sort=sort)
    if stacks and not answer.tree.height:
        raise UsageError("no call stacks were recorded", advice="record with rocmProfileData and RPDT_STACKFRAMES=1")
    _check_choice(answer, domains, layers=layers)
    if name is not None:
        answer = named_regions(answer, name, sort=sort)
        if not answer.tree.height:
            raise UsageError(f"no region's name contains {name!r}", advice="`--csv` lists all names")

    def report() -> Parts:
        from wavewright.analysis.run.contents.regions import folded_layers
        from wavewright.words.run.regions import regions_report

        return regions_report(
            answer if layers or name is not None else folded_layers(answer, sort=sort),
            width=console().width,
            limit=_LAYER_LINES if layers and request.top is None else request.limit,
            depth=depth,
            min_share=min_share / 100,
            sort=sort,
            frames=frames,
        )

    request.give(answer, answer.tree, report, gathered.losses, inputs=gathered.paths)


def _check_choice(answer: Regions, domains: tuple[str, ...], *, layers: bool) -> None:
    """An error that says what there is instead, where nothing is of the domain, or no module was recorded."""
    if answer.tree.height or not answer.domains.height:
        return
    if layers:
        what = "no module (nn.Module) was recorded"
        raise UsageError(what, advice="record with with_stack=True and with_modules=True of torch.profiler")
    if domains:
        listed = ", ".join(f"{domain} {count:,}" for domain, count in answer.domains.iter_rows())
        raise UsageError(f"no region of the domain {' or '.join(domains)}", advice=f"this run has {listed}")


def _give_shapes(request: RunRequest, name: str | None, sort: str | None) -> None:
    """Operators by the shapes of their inputs."""
    from wavewright.analysis.run.kernels.gemms import combine_gemms, named_gemms, partial_gemms

    # Of an event that a window cuts, the operations would count whole and the time in part.
    request = replace(request, selection=replace(request.selection, domains=(), is_inside=True))
    gathered = request.gather(partial_gemms)
    answer = combine_gemms(gathered.values)
    if name is not None or sort == "calls":
        answer = named_gemms(answer, name or "", by_calls=sort == "calls")

    def report() -> Parts:
        from wavewright.words.run.gemms import gemms_report

        return gemms_report(answer, width=console().width, limit=request.limit)

    request.give(answer, answer.operators, report, gathered.losses, inputs=gathered.paths)
