"""`wavewright convert`, `merge`, `split` and `window`: runs, or parts of them, in files."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from wavewright.analysis.run.select.choice import RunSelection
from wavewright.cli.kit.io import progress, show_losses
from wavewright.cli.kit.run import file_progress, selection_of
from wavewright.cli.kit.run_files import inputs_of, opened, refuse_inputs, show_written, write_chosen
from wavewright.errors import UsageError
from wavewright.model.run import Run
from wavewright.readers.files.kinds import COUNTER_CAPTURES, THREAD_TRACES, sniff

if TYPE_CHECKING:
    from collections.abc import Sequence

    from wavewright.model.counters import CounterSet
    from wavewright.model.losses import Loss
    from wavewright.model.trace import ThreadTrace


def convert(paths: tuple[str, ...], file_format: str, output: Path, no_source: bool, **options: Any) -> None:
    """Write runs in another format."""
    selection = selection_of(options, is_whole=True)
    if file_format == "html":
        _write_page(paths, output, selection, with_source=not no_source, **options)
    elif no_source:
        raise UsageError("--no-source is about html: other formats hold no source texts", advice="leave it out")
    else:
        write_chosen(paths, file_format, output, selection, **options)


def _write_page(
    paths: Sequence[str],
    output: Path,
    selection: RunSelection,
    *,
    with_source: bool,
    force: bool,
    show_secrets: bool,
    as_json: bool,
) -> None:
    """The viewer's page with what is at each path inside."""
    from wavewright.export.page import write_html

    shown: list[tuple[str, ThreadTrace | Run | CounterSet]] = []
    losses: list[tuple[str, Sequence[Loss]]] = []
    lost: list[dict[str, Any]] = []
    for path in paths:
        with progress(f"reading {Path(path).name}"):
            document = _document(path, output, selection, show_secrets=show_secrets)
        shown.append((Path(path).resolve().name, document))
        if isinstance(document, Run):
            losses += [(source.path, source.losses) for source in document.origins]
        else:
            lost += _losses_of(path, document, as_json=as_json)
    with progress(f"writing {output.name}"):
        written = write_html(shown, output, force=force, with_source=with_source)
    show_written(paths, [written], losses, as_json=as_json, more_losses=lost)


def _document(
    path: str, output: Path, selection: RunSelection, *, show_secrets: bool
) -> ThreadTrace | Run | CounterSet:
    from wavewright.page.inputs import read_paths

    place = Path(path)
    kind = sniff(place) if place.exists() else None  # what does not exist may be a pattern
    if kind not in (*THREAD_TRACES, *COUNTER_CAPTURES):
        inputs = inputs_of([path])
        refuse_inputs([output], inputs)
        return opened(inputs, selection, show_secrets=show_secrets)
    if selection != RunSelection():
        what = f"a {'counter capture' if kind in COUNTER_CAPTURES else 'thread trace'} is written whole"
        what += ": the options that choose are about runs"
        raise UsageError(what, where=path, advice="leave them out")
    if output.resolve() == place.resolve() or output.resolve() in place.resolve().parents:
        what = "the output is an input, or holds it"
        raise UsageError(what, where=str(output), advice="give another place with -o")
    return read_paths([place])  # as `wavewright open` does


def _losses_of(path: str, trace: ThreadTrace | CounterSet, *, as_json: bool) -> list[dict[str, Any]]:
    """Losses of a trace or a counter capture, as rows for JSON; else said at once. The page says it, too."""
    from wavewright.analysis.trace.about.overview import losses_of

    losses = losses_of(trace)
    if not as_json:
        show_losses(losses, stderr=True)
    names = ("kind", "count", "message", "advice", "is_damage")
    return [{"source": None, "path": path} | {name: getattr(loss, name) for name in names} for loss in losses]


def merge(paths: tuple[str, ...], output: Path, force: bool, show_secrets: bool, as_json: bool) -> None:
    """Write one database of many runs."""
    from wavewright.export.run.rocpd.merge import merge_runs

    inputs = inputs_of(paths)
    refuse_inputs([output], inputs)
    with file_progress(inputs) as done:
        written = merge_runs(inputs, output, show_secrets=show_secrets, force=force, done=done)
    show_written(paths, [written], [], as_json=as_json)


def split(
    paths: tuple[str, ...], by: Any, marker: str | None, output: Path, force: bool, show_secrets: bool, as_json: bool
) -> None:
    """Write the parts of a run."""
    from wavewright.analysis.run.select.run_parts import parts_of
    from wavewright.export.run.rocpd import write_parts

    if (marker is not None) != (by == "marker"):
        raise UsageError("--marker and --by marker belong together", advice='--by marker --marker "step"')
    inputs = inputs_of(paths)
    run = opened(inputs, RunSelection(), show_secrets=show_secrets)
    parts = {output / f"{part.name}_results.db": part.run for part in parts_of(run, by, marker)}
    refuse_inputs(list(parts), inputs)
    with progress(f"writing {len(parts):,} parts"):
        written = write_parts(parts, force=force)
    show_written(paths, written, [(source.path, source.losses) for source in run.origins], as_json=as_json)


def window(paths: tuple[str, ...], file_format: str, output: Path, **options: Any) -> None:
    """Write a part of runs."""
    selection = selection_of(options, is_whole=True)
    if selection in (RunSelection(), RunSelection(is_inside=True)):
        what = "nothing says which part to write"
        raise UsageError(what, advice="give --time, --between, --rank, --gpu, --kernel, ...; or use `wavewright merge`")
    write_chosen(paths, file_format, output, selection, **options)
