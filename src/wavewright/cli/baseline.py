"""`wavewright baseline`: write down what captures measured, so that a gate can judge later ones by it."""

from __future__ import annotations

from pathlib import Path

import click

from wavewright.base.words import amount, counted
from wavewright.cli.kit.io import emit_json, json_option
from wavewright.cli.kit.measuring import kernel_option, measured_with_progress, step_option


@click.command()
@click.argument("paths", nargs=-1, required=True, type=click.Path())
@click.option("-o", "--output", required=True, type=click.Path(path_type=Path), metavar="FILE", help="What to write.")
@step_option
@kernel_option
@click.option(
    "--metric", "metrics", multiple=True, metavar="NAME", help="Of counters: a metric by id or part of its name."
)
@click.option("--force", is_flag=True, help="Replace a file that exists.")
@json_option
def command(
    paths: tuple[str, ...],
    output: Path,
    step: str | None,
    kernel: str | None,
    metrics: tuple[str, ...],
    force: bool,
    as_json: bool,
) -> None:
    """Write what captures PATHS measured into a small file, the baseline of `wavewright gate`.

    PATHS are runs, thread traces or counter captures of the same program; each PATH is one of them: a file, or a folder
    or pattern of the files of its ranks. Five or more show how much captures differ without a cause, which one alone
    cannot.

    \b
    wavewright baseline main-1.db main-2.db main-3.db main-4.db main-5.db -o main.wwbase
    wavewright baseline run.db --step train_step -o main.wwbase
    wavewright baseline counters/ --metric "L2 Cache Hit Rate" -o main.wwbase
    """
    from wavewright.cluster.measurements import kind_of_paths
    from wavewright.export.gate.baseline import write_baseline

    kind = kind_of_paths(paths, asks_for_counters=bool(metrics))
    baseline = measured_with_progress(paths, kind, step=step, kernel=kernel, metrics=metrics)
    write_baseline(baseline, output, force=force)
    size = output.stat().st_size
    counts = [len(capture.quantities) for capture in baseline.captures]
    damages = [f"{capture.label}: {damage}" for capture in baseline.captures for damage in capture.damages]
    if as_json:
        facts = {"output": str(output), "kind": kind, "capture_count": len(counts), "quantity_count": sum(counts)}
        emit_json({**facts, "byte_count": size, "targets": list(baseline.targets)}, inputs=paths, losses=damages)
        return
    from wavewright.base.shown import printable

    gpus = ", ".join(baseline.targets) or "GPU not recorded"
    what = f"{counted(len(counts), 'captures')}, {counted(sum(counts), 'quantities')}, {gpus}, {amount(size)}"
    click.echo(printable(f"{output}: {what}"))
    for damage in damages:
        click.echo(printable(f"damaged, so that a gate cannot tell: {damage}"), err=True)
