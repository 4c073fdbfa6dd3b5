"""The files below a path that make one capture of counters: tables of its passes and descriptions beside them.

Input is the path that a user names, a file or a folder; output is `CaptureFiles`. Files are chosen by the names that
ROCm Compute Profiler and rocprofv3 give them, and only where no name fits by their first bytes.
"""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from itertools import compress
from pathlib import Path

from wavewright.base.files import not_read, open_regular
from wavewright.base.shown import quoted
from wavewright.base.words import some_of
from wavewright.errors import NotATraceError, UsageError, WavewrightError
from wavewright.readers.files.inventory import Inventory
from wavewright.readers.files.kinds import COUNTER_TABLES, STORES_OF_COUNTERS, THREAD_TRACES, Kind, sniff
from wavewright.readers.files.runs import refused_below, run_entries
from wavewright.readers.files.sqlite import why_unreadable
from wavewright.readers.files.text import head_of

_FILES_MAX = 1000  #: Files whose first bytes are looked at, and tables that are read.
# ROCm Compute Profiler: all passes joined (pmc_perf.csv), or one file per pass (pmc_perf_0.csv); no other tool writes
# pmc_perf, so its case is ignored. Passes of level counters are files of their own, such as SQ_IFETCH_LEVEL.csv.
_JOINED = re.compile(r"pmc_perf\.csv(\.gz)?", re.IGNORECASE)
_UNJOINED = re.compile(r"pmc_perf_\w+\.csv(\.gz)?", re.IGNORECASE)
_LEVEL = re.compile(r"SQC?_\w*\.csv(\.gz)?")
# rocprofv3 --pmc: one file per process and pass.
_COLLECTED = re.compile(r".*counter_collection\.csv(\.gz)?")
# ROCm Compute Profiler, beside its tables: times of a pass without counters, the GPU, and rates of a benchmark.
_TIMES = "timestamps.csv"
_SYSTEM = "sysinfo.csv"
_ROOFLINE = "roofline.csv"
_CAPTURES_SHOWN = 6


@dataclass
class CaptureFiles:
    """The files of one capture: `tables`, or `stores`, or `analysis`, and what describes them."""

    tables: list[Path] = field(default_factory=list)  #: CSV files, each with one pass or several.
    stores: list[Path] = field(default_factory=list)  #: ROCpd databases and rocprofv3 JSON with counters inside.
    analysis: Path | None = None  #: A database of ROCm Compute Profiler with metrics instead of counters.
    times: Path | None = None  #: A table with the times of dispatches, without counters.
    system: Path | None = None  #: sysinfo.csv: the GPU and its clocks.
    ceilings: Path | None = None  #: roofline.csv: rates that a benchmark reached on the GPUs.
    left_out: list[Path] = field(default_factory=list)  #: The same passes in another form.
    #: Links that lead out of the folder or to nothing, and special files, which are not read; with the reason.
    refused: dict[str, str] = field(default_factory=dict)
    unseen_count: int = 0  #: Files that were not looked at, because there are too many.


def find_counters(path: Path, inventory: Inventory | None = None) -> CaptureFiles:
    """The files of the capture at a path.

    Raises `UsageError` when the path does not exist, or is a folder without counters, with several captures or with too
    many tables; `NotATraceError` when it is a file without counters.
    """
    listings = inventory or Inventory()
    kind = sniff(path, listings)
    if path.is_dir():
        entries = list(run_entries(path, listings))
        capture = _capture_among([file for file, reason in entries if not reason and file.is_file()], path, kind)
        capture.refused = {str(file.relative_to(path)): reason for file, reason in entries if reason}
        return capture
    if kind is Kind.COMPUTE_DATABASE:
        return CaptureFiles(analysis=path)
    if kind in STORES_OF_COUNTERS:
        return CaptureFiles(stores=[path])
    if kind not in COUNTER_TABLES and not path.name.lower().endswith((".csv", ".csv.gz")):
        raise _no_counters(path, kind)
    capture = CaptureFiles(tables=[path])
    capture.system, capture.ceilings = (beside(path, name, capture.refused) for name in (_SYSTEM, _ROOFLINE))
    return capture


def beside(file: Path, name: str, refused: dict[str, str]) -> Path | None:
    """The file of that name in the folder of another one; None = there is none, or it is put into `refused`."""
    neighbour = file.with_name(name)
    if not os.path.lexists(neighbour):
        return None
    reason = not_read(neighbour, neighbour.parent)
    if reason:
        refused[name] = reason
    return neighbour if not reason and neighbour.is_file() else None


def plain_stem(file: Path) -> str:
    """The name of a file without its suffixes."""
    return re.sub(r"\.(csv|gz|db|json)(\.gz)?$", "", file.name, flags=re.IGNORECASE)


def _capture_among(files: Sequence[Path], folder: Path, folder_kind: Kind) -> CaptureFiles:
    """The capture that the files below a folder are.

    In this order: the one workload of ROCm Compute Profiler, counter tables of rocprofv3 by their names, then whatever
    the first bytes of files tell (`_sniffed_capture`). Raises `UsageError` for several captures, none, or too many
    tables.
    """
    is_of_workload = (file.name == _SYSTEM or _JOINED.fullmatch(file.name) for file in files)
    workloads = list(dict.fromkeys(file.parent for file in compress(files, is_of_workload)))
    if len(workloads) > 1:
        raise _several(folder, workloads)
    workload = _workload(workloads[0], files) if workloads else CaptureFiles()
    if workload.tables:
        return workload
    tables = [file for file in files if _COLLECTED.fullmatch(file.name)]
    capture = CaptureFiles(tables=tables) if tables else _sniffed_capture(files, folder, workload)
    if not (capture.tables or capture.stores or capture.analysis):
        raise _no_counters(folder, folder_kind, capture.unseen_count)
    if len(capture.tables) > _FILES_MAX:
        problem = f"{len(capture.tables):,} files of counters are too many at once"
        raise UsageError(problem, where=str(folder), advice="name a folder below it")
    return capture


def _sniffed_capture(files: Sequence[Path], folder: Path, workload: CaptureFiles) -> CaptureFiles:
    """The capture that the first bytes of files tell: tables of counters, else an analysis database, else stores.

    Tables of dispatches (rocprof v1) come last: they have times and no counters. Stores keep the description of the GPU
    that the folder has (`workload`).
    """
    candidates = [file for file in files if file.name not in (_SYSTEM, _ROOFLINE, _TIMES)]
    unseen_count = max(0, len(candidates) - _FILES_MAX)
    kinds = {file: sniff(file) for file in candidates[:_FILES_MAX]}

    def of_kind(*wanted: Kind) -> list[Path]:
        return [file for file, kind in kinds.items() if kind in wanted]

    tables, dispatches = of_kind(*COUNTER_TABLES), of_kind(Kind.ROCPROF_CSV)
    if tables:
        times = dispatches[0] if len(dispatches) == 1 else None  # of several, none is known to belong to the tables
        return CaptureFiles(tables=tables, times=times, unseen_count=unseen_count)
    analyses = of_kind(Kind.COMPUTE_DATABASE)
    if len(analyses) > 1:
        raise _several(folder, analyses)
    if analyses:
        return CaptureFiles(analysis=analyses[0], unseen_count=unseen_count)
    stores = of_kind(*STORES_OF_COUNTERS)
    if stores:
        return replace(workload, stores=stores, unseen_count=unseen_count)
    return CaptureFiles(tables=dispatches, unseen_count=unseen_count)


def _workload(folder: Path, files: Sequence[Path]) -> CaptureFiles:
    """A folder of ROCm Compute Profiler. Unjoined passes are read only where the joined table has nothing."""
    joined_tables = [file for file in files if _JOINED.fullmatch(file.name) and file.parent == folder][:1]
    pass_tables = [file for file in files if _UNJOINED.fullmatch(file.name)]
    level_tables = [file for file in files if _LEVEL.fullmatch(file.name)]
    collected_tables = [file for file in files if _COLLECTED.fullmatch(file.name)]
    forms = (joined_tables, pass_tables, collected_tables)
    best_form = next((form for form in forms if any(map(_has_rows, form))), joined_tables or pass_tables)
    by_name = {file.name: file for file in files if file.parent == folder}
    # Collected tables have the level counters, too.
    tables = collected_tables if best_form is collected_tables else [*best_form, *level_tables]
    return CaptureFiles(
        tables=tables,
        times=by_name.get(_TIMES),
        system=by_name.get(_SYSTEM),
        ceilings=by_name.get(_ROOFLINE),
        left_out=[file for form in forms if form is not best_form for file in form],
    )


def _has_rows(file: Path) -> bool:
    with open_regular(file) as stream:
        head = head_of(stream.read(1 << 20), 1 << 20)
    return bool(head.partition(b"\n")[2].strip())


def _several(folder: Path, captures: Sequence[Path]) -> UsageError:
    names = [str(capture.relative_to(folder)) for capture in captures]
    problem = f"{len(names):,} captures of counters below this folder"
    return UsageError(problem, where=str(folder), advice=f"name one of them: {some_of(names, _CAPTURES_SHOWN)}")


def _no_counters(path: Path, kind: Kind, unseen_count: int = 0) -> WavewrightError:
    """The error that a file or folder has no counters, with the command or the recording that would help."""
    if kind in THREAD_TRACES:
        problem, advice = f"{kind.value}: no counters of dispatches", f"wavewright hotspots {quoted(path)}"
    elif kind is Kind.BROKEN_DATABASE:
        problem, advice = kind.value, why_unreadable(path) or "record again: it has no tables"
    elif path.is_dir():
        part = f"the first {_FILES_MAX:,} files of this folder" if unseen_count else "this folder"
        problem = f"no counters in {part}{refused_below(path)}"
        advice = "rocprof-compute profile writes pmc_perf.csv, rocprofv3 --pmc writes *_counter_collection.csv"
        return UsageError(problem, where=str(path), advice=advice)
    else:
        problem = "not a table of counters" if kind is Kind.UNKNOWN else f"{kind.value}: no counters of dispatches"
        advice = "give *_counter_collection.csv of rocprofv3 or the folder with pmc_perf.csv"
    return NotATraceError(problem, where=str(path), advice=advice)
