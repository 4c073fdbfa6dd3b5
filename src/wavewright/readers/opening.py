"""`wavewright.open`: opens any input, thread trace, run or counters, with the reader of its kind."""

from __future__ import annotations

import math
import os
import weakref
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypedDict, Unpack

from wavewright.base.bounds import integer_of
from wavewright.base.job_folders import read_instead
from wavewright.base.shown import quoted
from wavewright.base.words import counted
from wavewright.errors import NotATraceError, UsageError, WavewrightError
from wavewright.model.counters import CounterSet
from wavewright.model.losses import Loss, refused_losses
from wavewright.model.run import Run
from wavewright.model.trace import ThreadTrace
from wavewright.readers.files.archive import Archive, ArchiveFolder, is_archive, is_raw_name
from wavewright.readers.files.decoded_traces import DecodedTrace, decoded_in_archive, decoded_on_disk, survey
from wavewright.readers.files.dispatches import Dispatch, choose, named
from wavewright.readers.files.folder import Directory, Folder
from wavewright.readers.files.in_memory import Memory, stored
from wavewright.readers.files.inventory import Inventory
from wavewright.readers.files.kinds import (
    COUNTER_CAPTURES,
    RUNS,
    THREAD_TRACES,
    Generation,
    Kind,
    advice_for,
    generation_of,
    misfit,
    sniff,
)
from wavewright.readers.files.runs import refused_below
from wavewright.readers.trace.assemble import add_losses

if TYPE_CHECKING:
    from wavewright.readers.trace.samples.files import SampleFile

_HEAD_BYTES = 16  #: Enough to recognize a raw trace.
MAX_ARCHIVES = 16  #: All archives of a folder are unpacked to find the fullest dispatch; with more it is an error.


class OpenOptions(TypedDict, total=False):
    """Options of `open_trace`; `open` explains all but `in_parts`."""

    dispatch: int | str | None
    kernel: str | None
    threads: int | None
    code_objects: Sequence[str]
    resources: Sequence[str | os.PathLike[str]]
    amd: bool
    in_parts: bool
    inventory: Inventory


@dataclass(frozen=True)
class OpenRequest:
    """A path to open with its options."""

    path: Path
    dispatch: int | str | None = None
    kernel: str | None = None
    threads: int | None = None
    code_objects: Sequence[str] = ()
    resources: Sequence[str | os.PathLike[str]] = ()
    amd: bool = False
    in_parts: bool = False
    inventory: Inventory = field(default_factory=Inventory)

    @cached_property
    def kind(self) -> Kind:
        """Kind of the content."""
        return sniff(self.path, self.inventory)


def open(  # noqa: A001
    path: str | os.PathLike[str] | Memory,
    *,
    dispatch: int | str | None = None,
    kernel: str | None = None,
    threads: int | None = None,
    code_objects: Sequence[str] = (),
    resources: Sequence[str | os.PathLike[str]] = (),
    amd: bool = False,
    inventory: Inventory | None = None,
) -> ThreadTrace | Run | CounterSet:
    """Open a thread trace, a capture of hardware counters or the run, whichever the content is.

    A folder that holds several of them is opened as a thread trace, else as a run; `open_run` reads its
    runs and `open_counters` its counters.

    Parameters
    ----------
    path
        A run as in `open_run`; counters as in `open_counters`; a rocprofv3 thread-trace capture folder or one
        raw `.att` file; a decoded `ui_output_*` directory, any JSON file in it, or a tar or zip archive of it; a
        Parquet directory of ours; a folder with several of these; or the folder of a `wavewright capture`, which is
        read as its result. Or the content of one file: bytes, or a memory map.
    dispatch
        Which dispatch of thread traces: its number, or its key where several have the number (`3@run_b`). None = the
        fullest with traced waves, kernels of the runtime last; `trace.source.other_dispatches` lists the rest.
    kernel
        A part of the kernel's name, to choose the dispatch of thread traces by.
    threads
        How many shader engines to decode, or wave files to read, at once; None = as many as there are cores.
    code_objects
        For raw captures: code objects that do not stand beside the traces; see `decode`.
    resources
        Kernel trace CSVs, agent lists, result JSONs, code objects, or folders of them, that tell registers, LDS and
        GPU of a decoded trace. Those next to it are found without it.
    amd
        Thread traces by the rules of AMD's decoder and viewer, defects included.
    inventory
        Listings of directories that the caller made already.

    Raises
    ------
    UsageError
        When the path does not exist, has no such dispatch, or several of that number.
    NotATraceError, UnsupportedError
        When it is nothing that wavewright reads.

    Examples
    --------
    >>> open("/nowhere")
    Traceback (most recent call last):
    wavewright.errors.UsageError: /nowhere: no such file or folder
    """
    inventory = inventory or Inventory()
    request = OpenRequest(Path(), dispatch, kernel, threads, code_objects, resources, amd, inventory=inventory)
    if isinstance(path, str | os.PathLike):
        return _opened(replace(request, path=Path(read_instead(os.fspath(path)))))
    return _open_content(path, request)


def _opened(request: OpenRequest) -> ThreadTrace | Run | CounterSet:
    if request.kind is Kind.RESULTS and samples_at(request.path, request.inventory):
        return _open_samples(request)
    return _OPENERS.get(request.kind, _open_samples)(request)


def _open_content(content: Memory, request: OpenRequest) -> ThreadTrace | Run | CounterSet:
    """Open the content of a file: a raw buffer in place, anything else as a file that is removed with the document."""
    if generation_of(bytes(content[:_HEAD_BYTES])) is not Generation.NONE:
        from wavewright.readers.trace.att import decode

        choice: dict[str, Any] = {"dispatch": request.dispatch, "kernel": request.kernel, "amd": request.amd}
        return decode(content, request.code_objects, request.threads, **choice)
    file, folder = stored(content)
    try:
        document = _opened(replace(request, path=file))
    except WavewrightError as error:
        error.where = "memory"
        folder.cleanup()
        raise
    weakref.finalize(document, folder.cleanup)
    return document


def samples_at(path: Path, inventory: Inventory | None = None) -> list[SampleFile]:
    """The files of PC samples at a path, or in the run there; none where it is a thread trace or counters.

    Raises `UsageError` when the path does not exist or cannot be read.
    """
    inventory = inventory or Inventory()
    if sniff(path, inventory) not in KINDS_WITH_SAMPLES:
        return []
    from wavewright.readers.trace.samples.files import find_samples

    unpacked = inventory.unpacked(path)
    return find_samples(unpacked.folder if unpacked else path, inventory)


def open_trace(path: str | os.PathLike[str], **options: Unpack[OpenOptions]) -> ThreadTrace:
    """Open a thread trace; see `open`.

    With `in_parts` a raw capture of more than `buffers.GROUP_BYTES` is only counted, and decoded when its instructions
    are asked for (`ThreadTrace.each_part`). Raises `UsageError` when the path does not exist, has no such dispatch, or
    several of that number; `NotATraceError, UnsupportedError` when it is not a thread trace; the error says what it is
    and which verb fits.
    """
    request = OpenRequest(Path(path), **options)
    return _TRACE_OPENERS.get(request.kind, _open_samples)(request)


def _open_counters(request: OpenRequest) -> CounterSet:
    from wavewright.readers.counters import open_counters

    return open_counters(request.path, inventory=request.inventory)


def _open_run(request: OpenRequest) -> Run:
    from wavewright.readers.run.inputs import find_runs, open_inputs

    return open_inputs(find_runs([request.path], request.inventory))


def _open_samples(request: OpenRequest) -> ThreadTrace:
    """The PC samples at a path without other thread traces; runs may hold some in their result files."""
    from wavewright.readers.trace.samples import read_samples

    path, inventory, dispatch = request.path, request.inventory, request.dispatch
    files = samples_at(path, inventory)
    if not files:
        raise does_not_fit(request.kind, path)
    number = None if dispatch is None else integer_of(str(dispatch))
    if dispatch is not None and number is None:
        problem = f"dispatch {str(dispatch)[:60]!r} is not a number"
        raise UsageError(problem, where=str(path), advice="samples name dispatches by number")
    unpacked = inventory.unpacked(path)
    try:
        trace = read_samples(files, dispatch=number, code_objects=request.code_objects, inventory=inventory)
    except WavewrightError as error:
        if unpacked is not None:
            unpacked.rename_in(error)
        raise
    if unpacked is not None:
        trace.source = replace(trace.source, path=unpacked.in_words(trace.source.path))
        add_losses(trace, unpacked.losses)
    return _with_named(trace, request.resources)


def _open_decoded(request: OpenRequest) -> ThreadTrace:
    return _with_rules(_chosen_decoded(request, *candidates_of(request.path, request.kind, request.inventory)), request)


def _chosen_decoded(request: OpenRequest, traces: Sequence[DecodedTrace], losses: Sequence[Loss] = ()) -> ThreadTrace:
    """The trace of the dispatch that is asked for among decoded ones."""
    from wavewright.readers.trace.dispatches import decoded_dispatches

    dispatches = decoded_dispatches(traces, str(request.path))
    chosen = choose(dispatches, request.dispatch, request.kernel, where=str(request.path))
    is_asked = request.dispatch is not None or request.kernel is not None
    return open_decoded(chosen, dispatches, losses, request.resources, threads=request.threads, is_asked=is_asked)


def _with_rules(trace: ThreadTrace, request: OpenRequest) -> ThreadTrace:
    """The trace, marked as one that follows AMD's rules where that is requested."""
    if request.amd:
        trace.source = replace(trace.source, amd=True)
    return trace


#: Kinds that hold traces which were decoded before.
DECODED_KINDS = tuple(kind for kind in THREAD_TRACES if kind not in (Kind.RAW_CAPTURE, Kind.SAMPLES))
KINDS_WITH_SAMPLES = (Kind.SAMPLES, Kind.RESULTS, Kind.RUN_FOLDER)  #: Kinds in which there may be PC samples.


def candidates_of(path: Path, kind: Kind, inventory: Inventory | None = None) -> tuple[list[DecodedTrace], list[Loss]]:
    """The decoded traces at a path of one of the decoded kinds, and what was lost while finding them."""
    inventory = inventory or Inventory()
    if kind in (Kind.UI_OUTPUT, Kind.PARQUET):
        return decoded_on_disk([path if path.is_dir() else path.absolute().parent], inventory), []
    if kind is Kind.ARCHIVE:
        return _in_archives([path])
    if kind not in (Kind.DECODED_FOLDER, Kind.ARCHIVE_FOLDER):
        return [], []
    below = survey(path, inventory)
    if kind is Kind.ARCHIVE_FOLDER:
        decoded, losses = _in_archives(below.archives)
    else:
        decoded, count = decoded_on_disk(below.decoded, inventory), len(below.archives)
        losses = [Loss("unopened_archives", count, detail=counted(count, "archives"))] if count else []
    return decoded, [*losses, *refused_losses(below.refused)]


def read_decoded(candidate: DecodedTrace, losses: Sequence[Loss] = (), *, threads: int | None = None) -> ThreadTrace:
    """The trace in one decoded folder, with the registers and the GPU that files beside it tell, and more losses."""
    from wavewright.readers.launches import look_beside
    from wavewright.readers.trace.resources import fill_from_around
    from wavewright.readers.trace.ui_output import read_ui_output

    if candidate.form == "parquet":
        from wavewright.readers.trace.parquet import read_parquet

        trace = read_parquet(candidate.folder)
        look_beside(trace, candidate.around)
        add_losses(trace, [*losses, *refused_losses(_parts_not_read(candidate.folder))])
        return trace
    folder, forget_waves = _with_droppable_files(candidate.folder)
    trace = read_ui_output(folder, threads)
    forget_waves()
    fill_from_around(trace, candidate.around)
    look_beside(trace, candidate.around)
    add_losses(trace, [*_disagreements(trace), *losses, *refused_losses(_parts_not_read(candidate.folder))])
    return trace


def _parts_not_read(folder: Folder) -> dict[str, str]:
    """The names of a decoded folder that look like parts of the trace and are not read, with the reason."""
    from wavewright.readers.trace.resources.sidecars import is_sidecar

    return {
        name: reason
        for name, reason in folder.refused().items()
        if name.endswith((".json", ".parquet")) or name.startswith("source_") or is_sidecar(name)
    }


def _with_droppable_files(folder: Folder) -> tuple[Folder, Callable[[], None]]:
    """A folder from which the trace can read source texts later, and a function that drops all other files.

    Archives are in memory: the bytes of wave files need not stay there when the waves have become tables.
    """
    if not isinstance(folder, ArchiveFolder):
        return folder, lambda: None
    twin = replace(folder, files=dict(folder.files))

    def forget() -> None:
        for name in [name for name in twin.files if name.endswith(".json")]:
            del twin.files[name]

    return twin, forget


def _disagreements(trace: ThreadTrace) -> list[Loss]:
    """Losses when the files of a decoded directory cannot all be of one whole decoding."""
    import polars as pl

    from wavewright.model.executions import is_execution

    losses = []
    stated_count = int(trace.stored_totals["hit_count"].sum())
    records = trace.instructions.filter(pl.col("row") >= 0)
    executions = int(records.select(is_execution().sum()).item())
    # writers count the two records of a gfx9 barrier once, as we do, or twice
    if stated_count not in (0, executions, records.height):
        detail = f"{stated_count:,} executed instructions, the wave files have {executions:,}"
        losses.append(Loss("totals_disagree", abs(stated_count - executions), detail=detail))
    if trace.waves.height and not trace.occupancy.height:
        losses.append(Loss("no_occupancy"))
    return losses


def _in_archives(paths: Sequence[Path]) -> tuple[list[DecodedTrace], list[Loss]]:
    if len(paths) > MAX_ARCHIVES:
        raise UsageError(f"{len(paths):,} archives", where=str(paths[0].parent), advice="name one of them")
    decoded: list[DecodedTrace] = []
    losses: list[Loss] = []
    for path in paths:
        archive = Archive.read(path)
        inside = decoded_in_archive(archive)
        if not inside and len(paths) == 1:
            raise _nothing_in(archive)
        decoded += inside
        losses += archive.losses
    return decoded, losses


def _nothing_in(archive: Archive) -> NotATraceError:
    """The error for an archive without decoded traces."""
    names = [name for folder in archive.folders.values() for name in folder.names()]
    is_broken = any(loss.kind == "broken_archive" for loss in archive.losses)
    what_is_left = f"{len(names):,} files were unpacked before the damage" if is_broken else ""
    problem, advice = "no decoded trace in the archive", "pack the ui_output_* directory whole"
    if any(map(is_raw_name, names)):
        problem = "the archive holds raw traces"
        advice = f"open the archive itself: wavewright info {quoted(archive.path)}"
    return NotATraceError(problem, where=str(archive.path), kept=what_is_left, advice=advice)


def open_decoded(
    chosen: Dispatch[DecodedTrace],
    dispatches: Sequence[Dispatch[DecodedTrace]],
    losses: Sequence[Loss] = (),
    resources: Sequence[str | os.PathLike[str]] = (),
    *,
    threads: int | None = None,
    is_asked: bool = False,
) -> ThreadTrace:
    """The trace of one of the dispatches, with a note about the others unless this one was asked for; see `open`."""
    from wavewright.readers.trace.dispatches import name_dispatch

    trace = read_decoded(chosen.item, losses, threads=threads)
    name_dispatch(trace, chosen, dispatches, is_asked=is_asked)
    return _with_named(trace, resources)


def _with_named(trace: ThreadTrace, resources: Sequence[str | os.PathLike[str]]) -> ThreadTrace:
    from wavewright.readers.launches import look_first_at
    from wavewright.readers.trace.resources import with_resources

    if not resources:
        return trace
    with_facts = with_resources(trace, resources)
    look_first_at(with_facts, resources)
    return with_facts


def _open_raw(request: OpenRequest) -> ThreadTrace:
    """A raw capture; of decoded directories next to it, the form with more data."""
    decoded = _decoded_beside_raw(request.path, request.inventory)
    why_not = _why_not_raw(request) if decoded else ""
    if why_not:
        trace = _chosen_decoded(request, decoded)
        detail = f"a decoded directory was read because {why_not}"
    else:
        trace = _with_named(_decoded_raw(request), request.resources)
        count = counted(len(decoded), "decoded directories")
        detail = f"the raw traces were decoded, the {count} {'was' if len(decoded) == 1 else 'were'} not read"
    if decoded:
        add_losses(trace, [Loss("both_forms", detail=detail)])
    return _with_rules(trace, request)


def _decoded_beside_raw(path: Path, inventory: Inventory) -> list[DecodedTrace]:
    """The decoded traces in a folder or archive of raw ones."""
    if path.is_dir():
        return decoded_on_disk(survey(path, inventory).decoded, inventory)
    return decoded_in_archive(inventory.archive(path)) if is_archive(path) else []


def _decoded_raw(request: OpenRequest) -> ThreadTrace:
    """A raw capture, with the sizes of its dispatches where CSV or JSON files beside it tell them."""
    from wavewright.readers.launches import look_beside
    from wavewright.readers.trace import buffers
    from wavewright.readers.trace.att import decode
    from wavewright.readers.trace.resources import fill_from_around

    choice: dict[str, Any] = {"dispatch": request.dispatch, "kernel": request.kernel, "amd": request.amd}
    choice |= {"rows_up_to": buffers.GROUP_BYTES if request.in_parts else math.inf, "inventory": request.inventory}
    trace = decode(request.path, request.code_objects, request.threads, **choice)
    around = beside_capture(trace, request.inventory)
    fill_from_around(trace, around, with_code=False)
    look_beside(trace, around)
    return trace


def beside_capture(trace: ThreadTrace, inventory: Inventory | None = None) -> list[Folder]:
    """The folder of a raw capture and its parent, on disk or in an archive."""
    folder = Path(trace.source.path).absolute()
    inventory = inventory or Inventory()
    archives = [place for place in (folder, *folder.parents) if place.is_file()]
    if archives and not is_archive(archives[0]):
        return []  # a capture of tinygrad holds all that belongs to it
    if not archives:
        return [Directory(folder, inventory), Directory(folder.parent, inventory)]
    inside = inventory.archive(archives[0]).folders
    within = [place for place in (folder, folder.parent) if place.is_relative_to(archives[0])]
    places = [str(place.relative_to(archives[0])).removeprefix(".") for place in within]
    outside = [Directory(archives[0].parent, inventory)] if folder == archives[0] else []
    return [*(inside[place] for place in places if place in inside), *outside]


def _why_not_raw(request: OpenRequest) -> str:
    """The reason to read the decoded directories instead of the raw traces; empty = there is none."""
    from wavewright.readers.files.capture import find_capture
    from wavewright.readers.trace.dispatches import raw_dispatches

    capture = find_capture([request.path], request.code_objects, request.inventory)
    if request.dispatch is not None and not named(raw_dispatches(capture, request.path), request.dispatch):
        return f"there is no raw trace of dispatch {request.dispatch}"
    return "" if capture.code_objects else "no code object next to the raw traces"


def does_not_fit(kind: Kind, path: Path) -> NotATraceError:
    """The error for a path without thread trace: what it is, and which verb reads it, or that none does."""
    if kind is not Kind.UNKNOWN or not path.is_dir():
        return misfit(kind, path, "trace")
    reason = refused_below(path) or " is of a format that wavewright reads"
    what = f"nothing in this folder{reason}" if any(path.iterdir()) else "this folder is empty"
    return NotATraceError(what, where=str(path), advice=advice_for(kind, path))


#: Kind of thread trace -> its opener; of other kinds the PC samples are read, if they have any.
_TRACE_OPENERS: dict[Kind, Callable[[OpenRequest], ThreadTrace]] = {
    Kind.RAW_CAPTURE: _open_raw,
    **dict.fromkeys(DECODED_KINDS, _open_decoded),
}
#: Kind of content -> its opener.
_OPENERS: dict[Kind, Callable[[OpenRequest], ThreadTrace | Run | CounterSet]] = {
    **_TRACE_OPENERS,
    **dict.fromkeys(COUNTER_CAPTURES, _open_counters),
    **dict.fromkeys(RUNS, _open_run),
}
