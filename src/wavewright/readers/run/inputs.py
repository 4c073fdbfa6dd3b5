"""Runs that paths name: files, folders, packages, patterns; each run is opened by its own reader."""

from __future__ import annotations

import glob
import os
import weakref
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass, replace
from importlib import import_module
from pathlib import Path

from wavewright.base.compression import PACKED_SUFFIXES
from wavewright.base.files import LEADS_OUT, not_read, open_regular
from wavewright.base.plugins import READERS, load_plugin, plugin_error, reader_suffix
from wavewright.base.sql import quoted
from wavewright.errors import NotATraceError, UsageError, WavewrightError
from wavewright.model.losses import Loss
from wavewright.model.run import Run, RunSource
from wavewright.readers.files.archive import is_archive
from wavewright.readers.files.inventory import Inventory
from wavewright.readers.files.kinds import RUNS, Kind, misfit, sniff
from wavewright.readers.files.rocprofv3_columns import header_of, layout_of, run_of
from wavewright.readers.files.runs import PACKAGE_INDEX, packaged_files, rank_in, refused_below, run_entries
from wavewright.readers.files.unpacked_folder import UnpackedFolder
from wavewright.readers.run.amd_smi import WithSamples, samples_beside

_CSV_KINDS = (Kind.KERNEL_TRACE, Kind.CSV_TRACE, Kind.COUNTERS)
#: Formats of the same run in one folder, the most complete first; CSV comes last.
_FORMS = (
    Kind.ROCPD, Kind.RPD, Kind.ROCPROF_DATABASE, Kind.RESULTS, Kind.CHROME, Kind.ROCPROF_CSV, Kind.PERFETTO,
    Kind.CALL_TOTALS,
)  # fmt: skip
#: Kind -> the function below `readers.run` that reads a run of it, imported when it is needed.
_READERS = {
    Kind.CALL_TOTALS: "call_totals.read_call_totals",
    Kind.CHROME: "chrome.read_kineto",
    Kind.COLLECTIVE_LOG: "collective_logs.read_collective_log",
    Kind.CSV_TRACE: "rocprofv3.csv.read_rocprofv3_csv",
    Kind.FLIGHT_RECORDER: "flight_recorder.read_flight_recorder",
    Kind.MEMORY_SNAPSHOT: "memory_snapshot.read_memory_snapshot",
    Kind.PROTON: "call_totals.read_proton",
    Kind.PERFETTO: "perfetto.read_perfetto",
    Kind.RESULTS: "rocprofv3.json.read_rocprofv3_json",
    Kind.ROCPD: "rocpd.read_rocpd",
    Kind.ROCPROF_COUNTERS: "rocprof_v1.read_rocprof_csv",
    Kind.ROCPROF_CSV: "rocprof_v1.read_rocprof_csv",
    Kind.ROCPROF_DATABASE: "rocprof_v1.read_rocprof_database",
    Kind.RPD: "rpd.read_rpd",
    Kind.RUN_TABLES: "tables.read_run_tables",
    Kind.XPLANE: "xplane.read_xplane",
}
_COMPANIONS = (Kind.STATISTICS, Kind.AGENTS)
_HEAD_BYTES = 1 << 16  #: Of a CSV file, in which its header is.
_NAMED_MAX = 8  #: A loss names at most so many files.
CAPTURES = "capture_traces"  #: The folder into which vLLM, SGLang and xDiT write captures of graphs.
#: With more databases none is opened to see whether it is a pass of counters: they are the ranks of a large job.
_MOST_LOOKED_INTO = 32


@dataclass(frozen=True)
class RunInput:
    """One run before it is opened: the input of a worker of a cluster."""

    path: Path
    kind: Kind
    files: tuple[Path, ...] = ()  #: The files of a run that is spread over several (CSV); empty = `path` alone.
    left_out: tuple[Path, ...] = ()  #: Other forms of the same run, which are not read.
    #: Why it is not read: a link that leads out of the folder or to nothing, a pipe; empty = it can be.
    refused: str = ""
    unpacked: UnpackedFolder | None = None  #: The archive that it was in.
    losses: tuple[Loss, ...] = ()  #: What was lost before it is opened.
    captures: tuple[Path, ...] = ()  #: Traces of the capture of graphs that it may replay.
    snapshot: Path | None = None  #: Memory snapshot of the same process.
    is_pass: bool = False  #: Only counters were collected: the same kernels as in a run, one after another.

    @property
    def label(self) -> str:
        """Name to show: its path, or its place in an archive."""
        return self.unpacked.label(self.path) if self.unpacked else str(self.path)

    def absolute(self) -> RunInput:
        """The input with absolute paths, for a process that works in another folder."""
        several = (self.files, self.left_out, self.captures)
        files, left_out, captures = (tuple(map(Path.absolute, paths)) for paths in several)
        path = self.path.absolute()
        return replace(self, path=path, files=files, left_out=left_out, captures=captures, refused="")


def find_runs(
    paths: Sequence[str | Path],
    inventory: Inventory | None = None,
    *,
    with_passes: bool = False,
    captures: Sequence[str | Path] = (),
) -> list[RunInput]:
    """The runs that files, folders, packages and glob patterns name, each once, in the order of paths and names.

    CSV files of one folder whose names begin alike are one run. A path that is given and holds no run, a database in a
    folder that cannot be read, and a link in a folder that leads out of it are in the list too when others are: opening
    them says why they cannot be read, so that the rest can be answered and they are reported. Statistics and lists of
    agents, which stand beside every run, are left out when there is a run. So are passes that collected counters,
    unless `with_passes`: they run the kernels of the run again, and their times do not add to it. Chrome traces in a
    folder `capture_traces` belong to those beside that folder, and all files of `captures` to all others. Raises
    `UsageError` when a path does not exist, or a pattern matches nothing; `NotATraceError` when no path holds a run.
    """
    files: dict[Path, tuple[Path, Kind]] = {}
    refused: dict[Path, str] = {}
    listings = inventory or Inventory()
    for path in paths:
        for file, kind in _named_by(os.fspath(path), refused, listings):
            files.setdefault(Path(os.path.realpath(file)), (file, kind))
    read_paths = {file.absolute() for file, _ in files.values()}  # a file that is named directly is always read
    unread = {file: reason for file, reason in refused.items() if file.absolute() not in read_paths}
    refused_inputs = [RunInput(file, Kind.UNKNOWN, refused=reason) for file, reason in unread.items()]
    if {kind for _, kind in files.values()} <= {Kind.UNKNOWN, *_COMPANIONS} and (files or refused_inputs):
        raise _not_followed(refused_inputs[0]) if refused_inputs else does_not_hold(next(iter(files.values()))[0])
    inputs = _grouped({real: pair for real, pair in files.items() if pair[1] not in _COMPANIONS})
    inputs = _with_captures(_with_snapshots(inputs), captures, listings)
    if not with_passes:
        inputs = _without_passes(inputs, {Path(path).absolute() for path in paths})
    return [*_from_archives(inputs, listings.archives_unpacked()), *refused_inputs]


def _with_captures(inputs: list[RunInput], paths: Sequence[str | Path], listings: Inventory) -> list[RunInput]:
    """The inputs without captures of graphs, which become `captures` of the Chrome traces that may replay them."""
    given_files = {file: None for path in paths for file in _chrome_files(Path(path), listings)}
    traces = [run_input.path for run_input in inputs if run_input.kind is Kind.CHROME]
    is_replay = {path: path.absolute().parent.name != CAPTURES and path not in given_files for path in traces}
    if not any(is_replay.values()):
        return inputs
    captures = [*given_files, *(path for path, replays in is_replay.items() if not replays)]
    with_captures = []
    for run_input in inputs:
        if is_replay.get(run_input.path):
            folder = run_input.path.parent / CAPTURES
            beside = _chrome_files(folder, listings) if not paths and folder.is_dir() else []
            with_captures.append(replace(run_input, captures=tuple(dict.fromkeys([*captures, *beside]))))
        elif run_input.kind is not Kind.CHROME:
            with_captures.append(run_input)
    return with_captures


def _with_snapshots(inputs: list[RunInput]) -> list[RunInput]:
    """The inputs without snapshots that belong to the Chrome trace beside them: the only one, or that of their rank."""
    snapshot_of_trace: dict[Path, Path] = {}
    kinds = (Kind.CHROME, Kind.MEMORY_SNAPSHOT)
    traces, snapshots = ([run_input.path for run_input in inputs if run_input.kind is kind] for kind in kinds)
    for snapshot in snapshots:
        beside, others = ([path for path in paths if path.parent == snapshot.parent] for paths in (traces, snapshots))
        rank = rank_in(snapshot)
        of_rank = [path for path in beside if rank is not None and rank_in(path) == rank]
        if len(beside) == len(others) == 1 or len(of_rank) == 1:
            snapshot_of_trace[(of_rank or beside)[0]] = snapshot
    partners = set(snapshot_of_trace.values())
    other_inputs = [run_input for run_input in inputs if run_input.path not in partners]
    return [replace(run_input, snapshot=snapshot_of_trace.get(run_input.path)) for run_input in other_inputs]


def _chrome_files(place: Path, listings: Inventory) -> list[Path]:
    """The Chrome traces at a path."""
    return [file for file, kind in _files_at(place, {}, listings) if kind is Kind.CHROME]


def _without_passes(inputs: list[RunInput], named_paths: set[Path]) -> list[RunInput]:
    """The inputs without passes of counters, where there is a run as well; passes that the user named stay."""
    databases = [run_input for run_input in inputs if run_input.kind is Kind.ROCPD]
    if 1 < len(databases) <= _MOST_LOOKED_INTO:
        inputs = [
            replace(run_input, is_pass=_has_counters(run_input.path)) if run_input in databases else run_input
            for run_input in inputs
        ]
    passes = [run_input for run_input in inputs if run_input.is_pass and run_input.path.absolute() not in named_paths]
    others = [run_input for run_input in inputs if run_input not in passes]
    runs = [run_input for run_input in others if not run_input.is_pass and run_input.kind is not Kind.BROKEN_DATABASE]
    if not passes or not runs:
        return inputs
    names = ", ".join(run_input.path.name for run_input in passes[:_NAMED_MAX])
    return [replace(others[0], losses=(Loss("counter_passes", len(passes), detail=names),)), *others[1:]]


def _has_counters(path: Path) -> bool:
    """True if a database holds values of counters."""
    from wavewright.readers.files.sqlite import Database

    with suppress(WavewrightError), closing(Database(path)) as database:
        tables = [name for name in database.tables if name.startswith("rocpd_pmc_event")]
        return any(database.query(f"select 1 from {quoted(name)} limit 1") for name in tables)  # noqa: S608
    return False


def _from_archives(inputs: Sequence[RunInput], archives: Sequence[UnpackedFolder]) -> Iterator[RunInput]:
    """The inputs, with the archives that they are in; the first of each tells what was not taken out of it."""
    seen_archives: set[UnpackedFolder] = set()
    for run_input in inputs:
        archive = next((archive for archive in archives if run_input.path.is_relative_to(archive.folder)), None)
        losses = archive.losses if archive and archive not in seen_archives else ()
        seen_archives |= {archive} if archive else set()
        yield replace(run_input, unpacked=archive, losses=(*run_input.losses, *losses))


def _not_followed(run_input: RunInput) -> UsageError:
    advice = "name the file itself, or a pattern, to have it read" if run_input.refused == LEADS_OUT else ""
    return UsageError(run_input.refused, where=str(run_input.path), advice=advice)


def holds_run(path: Path) -> bool:
    """True if a path is, first of all, the run; folders with thread traces and counters are not.

    Raises `UsageError` when the path does not exist or cannot be read.
    """
    return sniff(path) in RUNS


def open_input(run_input: RunInput, *, show_secrets: bool = False) -> RunSource:
    """Open one run with the reader of its format. Raises `NotATraceError, UnsupportedError` when it cannot be read."""
    if run_input.refused:
        raise _not_followed(run_input)
    try:
        source = _opened(run_input, show_secrets=show_secrets)
    except WavewrightError as error:
        if run_input.unpacked:
            run_input.unpacked.rename_in(error)
        raise
    if run_input.unpacked:
        source.path = run_input.label
        weakref.finalize(source, lambda _: None, run_input.unpacked)  # keeps the unpacked files as long as the source
    source.losses.extend(run_input.losses)
    if run_input.left_out:
        names = ", ".join(path.name for path in run_input.left_out[:_NAMED_MAX])
        source.losses.append(Loss("other_forms", len(run_input.left_out), detail=names))
    samples = None if run_input.unpacked else samples_beside(run_input.files[0] if run_input.files else run_input.path)
    if samples is not None:
        source = WithSamples(source, samples)
    if show_secrets:
        return source
    from wavewright.model.without_secrets import WithoutSecrets

    return WithoutSecrets(source)


def _opened(run_input: RunInput, *, show_secrets: bool) -> RunSource:
    """The source that the reader of its kind makes of a run."""
    from wavewright.readers.files.sqlite import Database

    kind, path = run_input.kind, run_input.path
    if kind is Kind.PLUGIN:
        return _of_plugin(path)
    if kind is Kind.BROKEN_DATABASE:
        Database(path)  # usually raises, and says what is wrong with it
        raise misfit(kind, path, "run")
    if kind not in _READERS:
        raise does_not_hold(path)
    module, _, name = _READERS[kind].rpartition(".")
    reader: Callable[..., RunSource] = getattr(import_module(f"wavewright.readers.run.{module}"), name)
    match kind:
        case Kind.CHROME:
            return reader(path, run_input.captures, run_input.snapshot)
        case Kind.CSV_TRACE:
            return reader(path, run_input.files)
        case Kind.ROCPD:
            return reader(Database(path), show_secrets=show_secrets)
        case Kind.RPD | Kind.ROCPROF_DATABASE:
            return reader(Database(path))
        case Kind.RUN_TABLES:
            return reader(path.parent)
    return reader(path)


def _of_plugin(path: Path) -> RunSource:
    """The source that a reader of another package makes of a file."""
    suffix = reader_suffix(path.name) or ""
    reader = load_plugin(READERS, suffix)
    try:
        source: RunSource = reader(path)
        if not callable(source.chunks) or not isinstance(source.losses, list):
            raise TypeError("it gave no RunSource")
    except WavewrightError:
        raise
    except Exception as error:
        raise plugin_error(READERS, suffix, error) from error
    return source


def open_run(
    *paths: str | os.PathLike[str], show_secrets: bool = False, captures: Sequence[str | os.PathLike[str]] = ()
) -> Run:
    """Open a run, or many: files, folders and glob patterns of ROCpd, RPD and rocprof databases, rocprofv3 CSV and
    JSON, Chrome traces of PyTorch, Perfetto traces, XPlane files of JAX, and tables that `wavewright convert` wrote.

    Parameters
    ----------
    paths
        What to open; all of it becomes one `Run`.
    show_secrets
        Whether values of environment variables, and what follows words like --token in command lines and other
        texts, are read as recorded; otherwise they are masked.
    captures
        Chrome traces, or folders of them, of the capture of graphs that the runs replay; those in a folder
        `capture_traces` beside a run are found without it.

    Raises
    ------
    UsageError
        When a path does not exist.
    NotATraceError, UnsupportedError
        When nothing could be read. What cannot be read beside others is a row of `run.losses`.

    Examples
    --------
    >>> run = open_run("results.db")  # doctest: +SKIP
    >>> run.dispatches  # doctest: +SKIP
    """
    inputs = find_runs([os.fspath(path) for path in paths], captures=[os.fspath(path) for path in captures])
    return open_inputs(inputs, show_secrets=show_secrets)


def open_inputs(inputs: Sequence[RunInput], *, show_secrets: bool = False) -> Run:
    """Open runs that were found; see `open_run`."""
    from wavewright.model.run import MemorySource, Run

    sources: list[RunSource] = []
    problems: list[WavewrightError] = []
    for run_input in inputs:
        try:
            sources.append(open_input(run_input, show_secrets=show_secrets))
        except WavewrightError as error:
            problems.append(error)
            loss = Loss("unreadable_source", detail=str(error))
            sources.append(MemorySource(run_input.label, run_input.kind.value, losses=[loss]))
    if problems and len(problems) == len(sources):
        raise problems[0]
    return Run(sources)


def _named_by(path: str, refused: dict[Path, str], listings: Inventory) -> list[tuple[Path, Kind]]:
    """The files that a path names; a pattern that is not itself a file names the matches that are runs.

    Files on the way that are not read are put into `refused`, with the reason.
    """
    place, refused_before = Path(path), len(refused)
    if place.exists() or not glob.has_magic(path):
        files = _files_at(place, refused, listings)
        return files or ([(place, Kind.UNKNOWN)] if len(refused) == refused_before else [])
    matches = [Path(match) for match in sorted(glob.glob(path, recursive=True))]  # noqa: PTH207 - absolute patterns
    if not matches:
        raise UsageError("no file matches this pattern", where=path)
    files = []
    for match in matches:
        files += _files_at(match, refused, listings) if match.is_dir() else _files_in_folder(match, refused, listings)
    return files or ([(matches[0], Kind.UNKNOWN)] if len(refused) == refused_before else [])


def _files_at(place: Path, refused: dict[Path, str], listings: Inventory) -> list[tuple[Path, Kind]]:
    """The files of runs at a path, and their kinds; a file that is named directly may be of any kind."""
    if not place.exists():
        raise UsageError("no such file or folder", where=str(place))
    unpacked = listings.unpacked(place)
    if place.is_dir() or unpacked:
        files: list[tuple[Path, Kind]] = []
        for file, reason in run_entries(unpacked.folder if unpacked else place, listings):
            if reason:
                refused[file] = reason
            else:
                files += _files_in_folder(file, refused, listings)
        return files
    if place.name == PACKAGE_INDEX:
        return _files_of_package(place, refused)
    kind = sniff(place, listings)
    is_read = _holds_run(place, kind) or kind in (Kind.BROKEN_DATABASE, Kind.ROCPROF_COUNTERS, *_COMPANIONS)
    return [(place, kind if is_read else Kind.UNKNOWN)]


def _files_in_folder(file: Path, refused: dict[Path, str], listings: Inventory) -> list[tuple[Path, Kind]]:
    """A file of a folder; files that are clearly something else are left out."""
    try:
        if file.name == PACKAGE_INDEX:
            with suppress(NotATraceError):
                return _files_of_package(file, refused)
            return []
        if file.is_file() and file.name.endswith(PACKED_SUFFIXES) and is_archive(file):
            return []  # to be named by itself
        kind = sniff(file, listings)
    except (UsageError, OSError):
        return [(file, Kind.UNKNOWN)]
    if file.is_dir():
        return []
    return [(file, kind)] if _holds_run(file, kind) or kind is Kind.BROKEN_DATABASE else []


def _files_of_package(index: Path, refused: dict[Path, str]) -> list[tuple[Path, Kind]]:
    listed = packaged_files(index)
    refused |= {file: reason for file, reason in listed if reason}
    return [(file, sniff(file) if file.is_file() else Kind.UNKNOWN) for file, reason in listed if not reason]


def _holds_run(file: Path, kind: Kind) -> bool:
    if kind is not Kind.COUNTERS:
        return kind in RUNS
    with open_regular(file) as stream:
        return layout_of(header_of(stream.read(_HEAD_BYTES))) is not None


def _grouped(files: dict[Path, tuple[Path, Kind]]) -> list[RunInput]:
    """The files of each run, in the order of their first files; of several formats, the most complete."""
    runs: dict[tuple[Path, str], list[tuple[Path, Kind]]] = {}
    for real, (file, kind) in files.items():
        is_part = kind in _CSV_KINDS or kind in _FORMS
        run = (real.parent, run_of(file.name)) if is_part else (real, "")
        runs.setdefault(run, []).append((file, kind))
    return [run_input for (_, run), members in runs.items() for run_input in _inputs_of(run, members)]


def _inputs_of(run: str, files: list[tuple[Path, Kind]]) -> Iterator[RunInput]:
    """One input per run: tools can write the same run as database, JSON and CSV."""
    tables = tuple(file for file, kind in files if kind in _CSV_KINDS)
    lesser = _CSV_KINDS + ((Kind.PERFETTO,) if tables else ())  # CSV says more than a Perfetto trace
    ranks = {kind: rank for rank, kind in enumerate(_FORMS)}
    complete = sorted((kind for _, kind in files if kind not in lesser), key=lambda kind: ranks.get(kind, len(ranks)))
    best = [file for file, kind in files if complete and kind is complete[0]]
    left_out = tuple(file for file, _ in files if file not in best)
    for file in best:
        yield RunInput(file, complete[0], left_out=left_out)
    if tables and not best:
        path = tables[0] if len(tables) == 1 else tables[0].with_name(f"{run}_*.csv" if run else "*.csv")
        is_pass = all(kind is Kind.COUNTERS for _, kind in files)
        yield RunInput(path, Kind.CSV_TRACE, (*tables, *_agent_lists(tables[0], run)), is_pass=is_pass)


def _agent_lists(file: Path, run: str) -> list[Path]:
    """The lists of agents in the folder of a file of the same run."""
    stem = f"{run}_agent_info.csv" if run else "agent_info.csv"
    places = (file.with_name(name) for name in (stem, *(f"{stem}{end}" for end in PACKED_SUFFIXES)))
    return [place for place in places if place.is_file() and not not_read(place, place.parent)]


def does_not_hold(path: Path) -> WavewrightError:
    """The error for a path without a run: its kind, and the verb that reads it."""
    try:
        kind = sniff(path)
    except UsageError as error:
        return error
    if kind is not Kind.UNKNOWN:
        return misfit(kind, path, "run")
    problem = f"{Kind.UNKNOWN.value}, so not a recorded run"
    if path.is_dir():
        is_empty = not any(path.iterdir())
        problem = "this folder is empty" if is_empty else f"no recorded run in this folder{refused_below(path)}"
    advice = "runs are ROCpd, RPD and rocprof databases, rocprofv3 CSV or JSON, PyTorch's Chrome traces, XPlane of JAX"
    return NotATraceError(problem, where=str(path), advice=advice)
