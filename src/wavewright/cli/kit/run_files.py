"""Runs in files: checks of outputs, and the list of what was written."""

from __future__ import annotations

import sys
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from wavewright.analysis.run.select.choice import RunSelection
from wavewright.base.plugins import EXPORTERS, load_plugin, plugin_error
from wavewright.base.shown import quoted
from wavewright.cli.kit.formats import FORMATS
from wavewright.cli.kit.io import console, emit_json, progress, show_losses
from wavewright.errors import NotATraceError, UsageError, WavewrightError
from wavewright.export.kit.writer_result import Written
from wavewright.model.losses import Loss
from wavewright.model.run import MemorySource, Run, run_losses
from wavewright.readers.files.kinds import THREAD_TRACES, sniff
from wavewright.readers.run.inputs import find_runs, open_inputs

if TYPE_CHECKING:
    from collections.abc import Sequence

    from wavewright.model.run import RunSource
    from wavewright.readers.run.inputs import RunInput

#: Tables of which one has a row at least if a selection leaves anything.
_EVENTS = ("dispatches", "regions", "copies", "samples", "allocations", "counters", "monitors")


def inputs_of(paths: Sequence[str]) -> list[RunInput]:
    """The runs at the paths. Raises `UsageError` when a path holds thread traces and no run."""
    try:
        return find_runs(paths, with_passes=True)
    except NotATraceError:
        for path in map(Path, paths):
            if path.exists() and (kind := sniff(path)) in THREAD_TRACES:
                advice = f"wavewright decode {quoted(path)} --format parquet (or json)"
                raise UsageError(f"{kind.value}, not a run", where=str(path), advice=advice) from None
        raise


def refuse_inputs(targets: Sequence[Path], inputs: Sequence[RunInput]) -> None:
    """Nothing that is read is written over. Raises `UsageError` when a target is an input, or a folder with one."""
    read = {file.resolve() for run_input in inputs for file in (run_input.path, *run_input.files)}
    read |= {run_input.unpacked.archive.resolve() for run_input in inputs if run_input.unpacked}
    folders = {folder for file in read for folder in file.parents}
    for target in targets:
        if target.resolve() in read | folders:
            what = "the output is an input" if target.resolve() in read else "the output folder holds an input"
            raise UsageError(what, where=str(target), advice="give another place with -o")


def opened(inputs: Sequence[RunInput], selection: RunSelection, *, show_secrets: bool) -> Run:
    """The chosen part of the runs; those that cannot be read are losses as long as one can be read.

    Raises `UsageError` when the selection leaves nothing.
    """
    run = _chosen(open_inputs(inputs, show_secrets=show_secrets), selection)
    if selection.kernel is not None and not _has_rows(run, ["dispatches"]):
        what = f"no dispatch of a kernel {selection.kernel!r} matches these filters"
        raise UsageError(what, advice="`wavewright top` lists the kernels")
    if selection != RunSelection() and not _has_rows(run, _EVENTS):
        what = "nothing of the run matches these filters"
        raise UsageError(what, advice="choose more: `wavewright summary` tells what there is")
    return run


def _chosen(run: Run, selection: RunSelection) -> Run:
    """The chosen part of each source; runs that an earlier one has are left out, and so are sources without what is
    asked for, as long as one has it."""
    from wavewright.analysis.run.select.chosen import select

    if len(run.origins) == 1 and selection == RunSelection():
        return run  # nothing can repeat it, and RPD files become Chrome traces without polars
    seen: set[str] = set()
    sources: list[RunSource] = []
    problems: list[UsageError] = []
    for part in run.parts:
        guids = {guid for guid in part.read("processes", ["guid"])["guid"] if guid}
        repeated = sorted(guids & seen)
        seen |= guids
        part.origins[0].losses.extend(Loss("duplicate_run", detail=guid) for guid in repeated)
        try:
            sources += select(part, replace(selection, without_guids=tuple(repeated))).origins
        except UsageError as error:
            problems.append(error)
            lost = Loss("unreadable_source", detail=str(error))
            sources.append(MemorySource(part.origins[0].path, part.origins[0].format, losses=[lost]))
    if problems and len(problems) == len(sources):
        raise problems[0]
    return Run(sources)


def _has_rows(run: Run, tables: Sequence[str]) -> bool:
    return any(piece.height for table in tables for piece in run.chunks(table, ["process"]))


def write_chosen(
    paths: Sequence[str],
    file_format: str,
    output: Path,
    selection: RunSelection,
    *,
    force: bool,
    show_secrets: bool,
    as_json: bool,
) -> None:
    """Write the chosen part of the runs at `paths` in one of `FORMATS`, and tell what was written."""
    inputs = inputs_of(paths)
    refuse_inputs([output], inputs)
    run = opened(inputs, selection, show_secrets=show_secrets)
    with progress(f"writing {output.name}"):
        if file_format in FORMATS:
            module, function = FORMATS[file_format].writer.split(":")
            written: Written = getattr(import_module(f"wavewright.export.{module}"), function)(run, output, force=force)
        else:
            written = _written_by_plugin(file_format, run, output, force=force)
    show_written(paths, [written], [(source.path, source.losses) for source in run.origins], as_json=as_json)


def _written_by_plugin(name: str, run: Run, output: Path, *, force: bool) -> Written:
    write = load_plugin(EXPORTERS, name)
    try:
        written = write(run, output, force=force)
        if not isinstance(written, Written):
            raise TypeError("it gave no Written")
    except WavewrightError:
        raise
    except Exception as error:
        raise plugin_error(EXPORTERS, name, error) from error
    return written


def show_written(
    paths: Sequence[str],
    written: Sequence[Written],
    losses: Sequence[tuple[str, Sequence[Loss]]],
    *,
    as_json: bool,
    more_losses: Sequence[dict[str, Any]] = (),
) -> None:
    """Print written files and losses: (path, losses) of inputs and outputs, and rows for JSON of what else was."""
    outputs: list[dict[str, Any]] = [
        {"path": str(each.path), "bytes": each.byte_count, "counts": each.counts} for each in written
    ]
    losses_by_path = [*losses, *((str(each.path), each.losses) for each in written)]
    lost = [run_losses(path_losses, path) for path, path_losses in losses_by_path if path_losses]
    if as_json:
        rows = [*more_losses, *(row for table in lost for row in table.to_dicts())]
        emit_json({"outputs": outputs}, inputs=paths, losses=rows)
        return
    from wavewright.words.run.data.output_files import written_report

    for part in written_report(outputs):
        console().print(part)
    sys.stdout.flush()
    if lost:
        import polars as pl  # its import takes longer than some conversions

        show_losses(pl.concat(lost), stderr=True)
