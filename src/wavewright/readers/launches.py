"""The traced dispatch in the runs beside a trace: its duration, and those of the other calls of its kernel.

Of several runs that hold the dispatch, the one in the nearest folder counts; of those in one folder the one whose name
starts with the process number of the raw trace, then the first by name. A database comes before JSON and CSV files of
the same run (`readers.run.inputs`).

A number is no dispatch: another run of the program gives the same numbers to other calls. A launch is taken only from
the process that was traced (its files lie beside the trace, or have its number), with the workgroups of the trace, and
with a duration that agrees with the traced waves (`model.traced_span`). What is refused is a loss.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path

import polars as pl

from wavewright.base.compression import without_packing
from wavewright.base.scratch import scratch_folder
from wavewright.base.shown import shown
from wavewright.errors import UsageError, WavewrightError
from wavewright.model.launch import Launch, median_noise
from wavewright.model.losses import LOSSES, Loss
from wavewright.model.run import Run
from wavewright.model.trace import ThreadTrace
from wavewright.model.traced_span import agreeing_durations_ns, traced_span_ns
from wavewright.readers.files.archive import ArchiveFolder, is_raw_name
from wavewright.readers.files.capture import TraceFile
from wavewright.readers.files.folder import Directory, Folder
from wavewright.readers.files.rocprofv3_columns import run_of
from wavewright.readers.run.inputs import RunInput, find_runs, open_inputs
from wavewright.readers.trace.assemble import add_losses
from wavewright.readers.trace.resources.usage import plain_name

MAX_BYTES = 256 << 20  #: A run whose files are larger together is not searched for the launch.
MAX_FILES = 64  #: Files of one folder that are searched.
_OF_RUN = re.compile(r".*(_results\.db|_results\.json|kernel_trace\.csv)")
_SHAPE = tuple(f"{size}_{axis}" for size in ("grid", "workgroup") for axis in "xyz")
_COLUMNS = ("process", "agent", "name", "dispatch_id", "start_ns", "end_ns", *_SHAPE)
_ANOTHER_PROCESS = "nothing tells that it is of the process that was traced"


def look_beside(trace: ThreadTrace, around: Sequence[Folder]) -> None:
    """Let `trace.launch` look in these folders, the nearest first."""
    places_around = [_with_runs_only(folder) for folder in around]
    trace.answers["launch folders"] = places_around

    def find_launch(trace: ThreadTrace) -> Launch | None:
        with ExitStack() as stack:
            labels: dict[str, str] = {}
            process = _process_of(trace, places_around)
            files = (_files(folder, stack, labels) for folder in places_around)
            # Files of the process that was traced come first, then those of others, by name.
            places = (sorted(paths, key=lambda path: (run_of(path.name) != process, path.name)) for paths in files)
            launch = _launch(trace, places)
            return replace(launch, path=labels.get(launch.path, launch.path)) if launch else None

    trace.find_launch = find_launch


def _with_runs_only(folder: Folder) -> Folder:
    """The folder; of one in memory, only the files of runs and the names of raw traces stay."""
    if not isinstance(folder, ArchiveFolder):
        return folder
    runs = {name: data for name, data in folder.files.items() if _OF_RUN.fullmatch(without_packing(name))}
    return replace(folder, files=runs | {name: b"" for name in folder.files if is_raw_name(name)})


def look_first_at(trace: ThreadTrace, paths: Sequence[str | os.PathLike[str]]) -> None:
    """Let `trace.launch` look at files and folders that the user named before those beside the trace."""
    beside = trace.find_launch
    files = [path for place in map(Path, paths) for path in (_files(Directory(place)) if place.is_dir() else [place])]
    around: Sequence[Folder] = trace.answers.get("launch folders", ())
    beside_trace = {path.absolute() for folder in around for path in _files(folder)}

    def is_of_process(path: Path) -> bool:
        process = _process_of(trace, [*around, Directory(path.parent)])
        return path.absolute() in beside_trace or (process is not None and run_of(path.name) == process)

    trace.find_launch = lambda trace: (
        _launch(trace, [files], is_of_process=is_of_process) or (beside(trace) if beside else None)
    )


def calls_in_run(trace: ThreadTrace, path: Path) -> Launch:
    """The calls of the traced kernel in a run, those with the size of the traced one where the run has any.

    Raises `UsageError` when the run has no call of a kernel with this name.
    """
    calls = _calls(open_inputs(find_runs([path], with_passes=True)), _names_of(trace))
    if not calls.height:
        advice = "the kernel must have the name that it has in the trace"
        raise UsageError("the run has no call of the traced kernel", where=str(path), advice=advice)
    launch = trace.launch
    if launch is not None:
        shape = zip(_SHAPE, (*(launch.grid_size or (0,) * 3), *(launch.workgroup_size or (0,) * 3)), strict=True)
        of_same_size = calls.filter(pl.col(name) == size for name, size in shape)
        calls = of_same_size if of_same_size.height else calls
    most_frequent = calls.group_by(_SHAPE).len().sort("len", descending=True).drop("len").head(1)
    first = calls.join(most_frequent, on=_SHAPE, how="semi", nulls_equal=True, maintain_order="left")
    return _among(first.row(0, named=True), calls, str(path))


def _launch(
    trace: ThreadTrace, places: Iterable[Sequence[Path]], *, is_of_process: Callable[[Path], bool] | None = None
) -> Launch | None:
    """The first launch in the runs among these files; a run that cannot be read or is refused is a loss."""
    names, dispatch = _names_of(trace), trace.source.dispatch
    if dispatch is None or not names:
        return None
    losses: list[Loss] = []
    inputs = (run_input for files in places for run_input in _runs(files, losses))
    for run_input in inputs:
        launch = _read(run_input, names, dispatch, losses)
        if launch is None:
            continue
        parts = run_input.files or (run_input.path,)
        problem = _ANOTHER_PROCESS if is_of_process and not any(map(is_of_process, parts)) else ""
        if problem := problem or _contradiction(trace, launch):
            detail = f"{run_input.path.name} has a dispatch {dispatch} of {launch.duration_ns / 1e3:,.1f} µs: {problem}"
            losses.append(Loss("launch_of_another_run", detail=detail))
            continue
        add_losses(trace, losses)
        trace.answers["run of the launch"] = run_input
        return launch
    add_losses(trace, losses)
    return None


def run_of_launch(trace: ThreadTrace) -> Run | None:
    """The run that `trace.launch` was found in; None = there is none, or it lay in an archive.

    Raises `WavewrightError` when it cannot be read any more.
    """
    run_input: RunInput | None = trace.answers.get("run of the launch") if trace.launch else None
    if run_input is None or not run_input.path.exists():
        return None
    return open_inputs([run_input])


def _contradiction(trace: ThreadTrace, launch: Launch) -> str:
    """Words for the reason that a launch cannot be the traced dispatch; empty = it can."""
    sizes = trace.dispatches.select(f"workgroup_size_{axis}" for axis in "xyz").unique()
    of_trace = [size for size in sizes.rows() if None not in size and 0 not in size]
    if launch.workgroup_size and of_trace and launch.workgroup_size not in of_trace:
        traced_size, launch_size = (" x ".join(map(str, size)) for size in (of_trace[0], launch.workgroup_size))
        return f"its workgroups have {launch_size} work-items, those of the trace {traced_size}"
    span_ns = traced_span_ns(trace)
    if span_ns is None:
        return ""
    shortest, longest = agreeing_durations_ns(span_ns)
    if shortest <= launch.duration_ns <= longest:
        return ""
    bounds = f"{shortest / 1e3:,.1f} to {longest / 1e3:,.1f} µs"
    return f"the traced waves last {span_ns / 1e3:,.1f} µs, which agrees with {bounds}"


def _names_of(trace: ThreadTrace) -> frozenset[str]:
    """The spellings of the kernels of a trace."""
    return spellings(trace.kernels.select("name", "demangled").iter_rows())


def spellings(pairs: Iterable[tuple[str, str]]) -> frozenset[str]:
    """The names of kernels (mangled, demangled) as runs may spell them: also truncated (`--truncate-kernels`)."""
    names = [name for pair in pairs for name in pair if name]
    return frozenset(map(plain_name, [*names, *map(_truncated, names)]))


def _truncated(name: str) -> str:
    """A demangled name without return type, template arguments and parameters.

    >>> _truncated("void ck::kernel<1, int>(int*)"), _truncated("kernel_0")
    ('ck::kernel', 'kernel_0')
    """
    return re.split(r"[<(]", name.removeprefix("void "))[0]


def _files(folder: Folder, stack: ExitStack | None = None, labels: dict[str, str] | None = None) -> list[Path]:
    """The files of runs in a folder; those of an archive are temporary files until `stack` ends.

    `labels` then has the names to show for them.
    """
    try:
        names = sorted(name for name in folder.names() if _OF_RUN.fullmatch(without_packing(name)))
    except UsageError:  # a folder next to the trace that may not be read
        return []
    paths = [path for name in names[:MAX_FILES] if (path := folder.path_of(name)) is not None]
    if paths or stack is None or labels is None or not names:
        return paths
    scratch = stack.enter_context(scratch_folder())
    for name in names[:MAX_FILES]:
        content = folder.read(name)
        if len(content) <= MAX_BYTES:
            (scratch / name).write_bytes(content)
            paths.append(scratch / name)
            labels[str(scratch / name)] = f"{folder.label}/{name}"
    return paths


def _process_of(trace: ThreadTrace, around: Sequence[Folder]) -> str | None:
    """The number of the process that was traced, from the names of the raw traces of this dispatch."""
    names = {*trace.shader_engines["file"].drop_nulls().to_list()}
    for folder in around:
        try:
            names.update(name for name in folder.names() if name.endswith(".att"))
        except UsageError:
            continue
    raw = [TraceFile.named(Path(name)) for name in sorted(names)]
    source = trace.source
    matches = (file for file in raw if (file.agent, file.dispatch) == (source.agent, source.dispatch))
    return next((str(file.pid) for file in matches if file.pid is not None), None)


def _runs(files: Sequence[Path], losses: list[Loss]) -> Iterator[RunInput]:
    """The runs that the files are, in the order of the files; too large ones are a note."""
    try:
        inputs = find_runs(files, with_passes=True) if files else []
    except WavewrightError as error:
        losses.append(Loss("launch_unread", detail=str(error)))
        return
    position = {path.absolute(): number for number, path in enumerate(files)}

    def first_position(run_input: RunInput) -> int:
        return min(position.get(path.absolute(), len(position)) for path in run_input.files or (run_input.path,))

    for run_input in sorted(inputs, key=first_position):
        try:
            byte_count = sum(path.stat().st_size for path in run_input.files or (run_input.path,))
        except OSError as error:
            losses.append(Loss("launch_unread", detail=f"{run_input.path.name}: cannot be read ({error.strerror})"))
            continue
        if byte_count <= MAX_BYTES:
            yield run_input
        else:
            detail = f"{run_input.path.name} has more than {MAX_BYTES >> 20:,} MiB"
            losses.append(Loss("launch_unread", detail=detail))


def _read(run_input: RunInput, names: Collection[str], dispatch: int, losses: list[Loss]) -> Launch | None:
    """The launch in a run; None = the run does not have the dispatch, or it cannot be read."""
    try:
        run = open_inputs([run_input])
        calls = _calls(run, names)
        losses += [loss for origin in run.origins for loss in origin.losses if LOSSES[loss.kind].is_damage]
    except WavewrightError as error:
        losses.append(Loss("launch_unread", detail=str(error)))
        return None
    rows = calls.filter(pl.col("dispatch_id") == dispatch)
    return None if not rows.height else _among(rows.row(0, named=True), calls, str(run_input.path))


def _calls(run: Run, names: Collection[str]) -> pl.DataFrame:
    """The calls of these kernels that have a duration, in order of their starts."""
    chunks = []
    for chunk in run.chunks("dispatches", _COLUMNS):
        texts = chunk["name"].cast(pl.String).unique().drop_nulls().to_list()
        matches = [name for name in texts if plain_name(name) in names]
        named = pl.col("name").cast(pl.String)
        chunks.append(chunk.with_columns(named).filter(named.is_in(matches), pl.col("end_ns") >= pl.col("start_ns")))
    if not chunks:
        return pl.DataFrame(schema=dict.fromkeys(_COLUMNS, pl.Int64))
    return pl.concat(chunks).sort("process", "start_ns", "dispatch_id", nulls_last=True)


def _among(call: dict[str, int], calls: pl.DataFrame, path: str) -> Launch:
    """The launch of one of the calls, compared with those of the same kernel and size on the same GPU."""
    same_kernel = calls.filter(pl.col(name).eq_missing(pl.lit(call[name])) for name in ("process", "name"))
    alike = same_kernel.filter(pl.col(name).eq_missing(pl.lit(call[name])) for name in ("agent", *_SHAPE))
    durations = alike["end_ns"] - alike["start_ns"]
    p10, median, p90 = (float(durations.quantile(share, "linear") or 0.0) for share in (0.1, 0.5, 0.9))
    return Launch(
        kernel_name=shown(str(call["name"])),
        dispatch_id=call["dispatch_id"],
        duration_ns=call["end_ns"] - call["start_ns"],
        call_number=alike["dispatch_id"].to_list().index(call["dispatch_id"]) + 1,
        call_count=alike.height,
        duration_ns_median=median,
        duration_ns_p10=p10,
        duration_ns_p90=p90,
        path=shown(path),
        median_noise_ns=median_noise(durations),
        kernel_call_count=same_kernel.height,
        grid_size=_size(call, "grid"),
        workgroup_size=_size(call, "workgroup"),
    )


def _size(call: dict[str, int], name: str) -> tuple[int, int, int] | None:
    x, y, z = (call[f"{name}_{axis}"] for axis in "xyz")
    return (x, y, z) if x and y and z else None
