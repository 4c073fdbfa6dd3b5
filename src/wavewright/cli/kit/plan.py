"""`--plan`: the passes of a capture that is still to be taken, as input of rocprofv3."""

from __future__ import annotations

from contextlib import suppress
from functools import wraps
from typing import TYPE_CHECKING, Any

import click

from wavewright.cli.kit.io import emit_json
from wavewright.cli.kit.options import options, with_parameters
from wavewright.cli.kit.verbs import read_declaration
from wavewright.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from wavewright.cli.kit.counters import CounterRequest


def plannable(verb: Callable[..., None]) -> Callable[..., None]:
    """Give a verb about counters `--plan` and what belongs to it; with it, the verb itself is not called."""

    @wraps(verb)
    def run(
        request: CounterRequest,
        *,
        is_plan: bool,
        max_passes: int | None,
        output: Path | None,
        force: bool,
        **rest: Any,
    ) -> None:
        if is_plan:
            if idle := [f"--{name.replace('_', '-')}" for name in _OF_CAPTURES if rest.get(name)]:
                what = f"{', '.join(idle)} is about a capture that exists, not about a plan"
                raise UsageError(what, advice="leave it away, or leave --plan away")
            panels = ("all",) if rest["everything"] else rest["panels"]
            choice = {"panels": panels, "metrics": rest["metrics"], "more": rest["more"], "max_passes": max_passes}
            _give_plan(request, choice, output=output, force=force)
        elif output or max_passes or (force and not rest["csv_dir"]):
            what = "--max-passes, -o and --force are about the input that --plan makes"
            raise UsageError(what, advice="add --plan, or use --json, --csv or --csv-dir")
        else:
            verb(request, force=force, **rest)

    return with_parameters(run, options(read_declaration("cli", "options", "counters")["plan"]))


#: Options of the verb that a plan has no use for.
_OF_CAPTURES = ("by", "explain", "all_channels", "decimals", "amd", "csv_dir")


def _give_plan(request: CounterRequest, choice: Mapping[str, Any], *, output: Path | None, force: bool) -> None:
    """Plan for the target, or for the GPU of the capture where there is one, and print or write the input."""
    from wavewright.analysis.counters.plan import plan_capture
    from wavewright.capture.inputs.counter_input import commands, input_files, input_text
    from wavewright.capture.plans.counter_passes import definitions, remarks, summary
    from wavewright.export.kit.staging import staged

    plan = plan_capture(_gpu(request), **choice)
    kernels = _kernels(request)
    files = input_files(plan, output, kernels=kernels) if output else {}
    if files:
        with staged(list(files), force=force) as twins:
            for twin, content in zip(twins, files.values(), strict=True):
                twin.write_text(content, encoding="utf-8")
    run, look = commands(plan, output)
    lines = (summary(plan), *remarks(plan), f"capture: {run}")
    text = input_text(plan, kernels=kernels)
    if request.as_json:
        from wavewright.model.answer import to_builtins

        facts = {
            "capture_command": run,
            "look_command": look,
            "files": {"input": text, "definitions": definitions(plan)},
            "written": list(map(str, files)),
        }
        emit_json({**to_builtins(plan), **facts}, inputs=request.paths)
    elif request.as_csv:
        from wavewright.base.csv import write_csv

        click.echo(write_csv(plan.counters), nl=False)
    elif output:
        for line in (*(f"wrote {path}" for path in files), *lines, f"look: {look}"):
            click.echo(line)
    else:
        click.echo(text, nl=False)
        for line in lines:
            click.echo(line, err=True)


def _gpu(request: CounterRequest) -> str:
    if request.target:
        return request.target
    if request.path is None:
        what = "for which GPU is the capture to be planned?"
        raise UsageError(what, advice="--target gfx942 or --target MI300X; or the PATH of an earlier capture of it")
    from wavewright.facts import gpus

    system = request.counters.system
    for name in (system.product, (system.product or "").split("_")[0], system.target):
        with suppress(UsageError):
            if name and gpus.of(name).target == (system.target or gpus.of(name).target):
                return name
    what = f"the capture is of {system.target or 'a GPU that it does not name'}, about which nothing is known"
    raise UsageError(what, where=str(request.path), advice="name a GPU with --target gfx942 or --target MI300X")


def _kernels(request: CounterRequest) -> tuple[str, ...]:
    """Parts of names; a rank is the kernel of that rank in the capture, where one is given."""
    if not any(name.isdigit() for name in request.kernels):
        return request.kernels
    if request.path is None:
        what = "a kernel's rank is known in a capture only"
        raise UsageError(what, advice="give a part of the kernel's name to --kernel, or the PATH of an earlier capture")
    from wavewright.analysis.counters.choice import ranked_kernels

    ranked = ranked_kernels(request.counters.dispatches)["kernel_name"].to_list()
    for name in request.kernels:
        if name.isdigit() and int(name) >= len(ranked):
            advice = f"there are {len(ranked):,} kernels; 0 is the longest"
            raise UsageError(f"no kernel of rank {name}", where=str(request.path), advice=advice)
    return tuple(ranked[int(name)] if name.isdigit() else name for name in request.kernels)
