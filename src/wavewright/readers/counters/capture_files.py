"""Files below a path that are the passes of one capture."""

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

_MAX_FILES = 1000
_JOINED = re.compile(r"pmc_perf\.csv(\.gz)?", re.IGNORECASE)
_UNJOINED = re.compile(r"pmc_perf_\w+\.csv(\.gz)?", re.IGNORECASE)
_LEVEL = re.compile(r"SQC?_\w*\.csv(\.gz)?")
_COLLECTED = re.compile(r".*counter_collection\.csv(\.gz)?")
_TIMES = "timestamps.csv"
_SYSTEM = "sysinfo.csv"
_ROOFLINE = "roofline.csv"
_SHOWN = 6


@dataclass
class CaptureFiles:
    """The files of one capture."""

    tables: list[Path] = field(default_factory=list)  #: CSV files, each with one pass or several.
    stores: list[Path] = field(default_factory=list)  #: Databases and JSON files with counters inside.
    analysis: Path | None = None  #: A database with metrics instead of counters.
    times: Path | None = None  #: Times of a pass without counters.
    system: Path | None = None
    ceilings: Path | None = None
    left_out: list[Path] = field(default_factory=list)  #: The same passes in another form.
    #: Links that lead out of the folder or to nothing, and special files, which are not read; with the reason.
    refused: dict[str, str] = field(default_factory=dict)


def find_counters(path: Path, inventory: Inventory | None = None) -> CaptureFiles:
    """The files of the capture at a path.

    Raises `UsageError` when it does not exist, or is a folder of several captures; `NotATraceError, UsageError` when it
    has no counters.
    """
    listings = inventory or Inventory()
    kind = sniff(path, listings)
    if path.is_dir():
        entries = list(run_entries(path, listings))
        files = _among([file for file, reason in entries if not reason and file.is_file()], path, kind)
        files.refused = {str(file.relative_to(path)): reason for file, reason in entries if reason}
        return files
    if kind is Kind.COMPUTE_DATABASE:
        return CaptureFiles(analysis=path)
    if kind in STORES_OF_COUNTERS:
        return CaptureFiles(stores=[path])
    if kind not in COUNTER_TABLES and not path.name.lower().endswith((".csv", ".csv.gz")):
        raise _no_counters(path, kind)
    files = CaptureFiles(tables=[path])
    files.system, files.ceilings = (beside(path, name, files.refused) for name in (_SYSTEM, _ROOFLINE))
    return files


def beside(file: Path, name: str, refused: dict[str, str]) -> Path | None:
    """The file of that name in the folder of another one; None = there is none, or it is put into `refused`."""
    place = file.with_name(name)
    if not os.path.lexists(place):
        return None
    reason = not_read(place, place.parent)
    if reason:
        refused[name] = reason
    return place if not reason and place.is_file() else None


def plain_stem(file: Path) -> str:
    """The name of a file without its suffixes."""
    return re.sub(r"\.(csv|gz|db|json)(\.gz)?$", "", file.name, flags=re.IGNORECASE)


def _among(files: Sequence[Path], folder: Path, kind: Kind) -> CaptureFiles:
    is_of_workload = (file.name == _SYSTEM or _JOINED.fullmatch(file.name) for file in files)
    workloads = list(dict.fromkeys(file.parent for file in compress(files, is_of_workload)))
    if len(workloads) > 1:
        raise _several(folder, workloads)
    capture = _workload(workloads[0], files) if workloads else CaptureFiles()
    if capture.tables:
        return capture
    collections = [file for file in files if _COLLECTED.fullmatch(file.name)]
    times = None
    if not collections:
        kinds = {file: sniff(file) for file in files[:_MAX_FILES] if file.name not in (_SYSTEM, _ROOFLINE, _TIMES)}

        def of_kind(*wanted: Kind) -> list[Path]:
            return [file for file, kind in kinds.items() if kind in wanted]

        collections, dispatches = of_kind(*COUNTER_TABLES), of_kind(Kind.ROCPROF_CSV)
        times = dispatches[0] if collections and len(dispatches) == 1 else None
        stores, analyses = of_kind(*STORES_OF_COUNTERS), of_kind(Kind.COMPUTE_DATABASE)
        if not collections and analyses:
            if len(analyses) > 1:
                raise _several(folder, analyses)
            return CaptureFiles(analysis=analyses[0])
        if not collections and stores:
            return replace(capture, stores=stores)
        collections = collections or dispatches
    if not collections:
        raise _no_counters(folder, kind)
    if len(collections) > _MAX_FILES:
        problem = f"{len(collections):,} files of counters are too many at once"
        raise UsageError(problem, where=str(folder), advice="name a folder below it")
    return CaptureFiles(tables=collections, times=times)


def _workload(folder: Path, files: Sequence[Path]) -> CaptureFiles:
    """A folder of ROCm Compute Profiler. Unjoined passes are read only where the joined table has nothing."""
    tables = [file for file in files if _JOINED.fullmatch(file.name) and file.parent == folder][:1]
    parts = [file for file in files if _UNJOINED.fullmatch(file.name)]
    levels = [file for file in files if _LEVEL.fullmatch(file.name)]
    raw = [file for file in files if _COLLECTED.fullmatch(file.name)]
    first = next((files for files in (tables, parts, raw) if any(map(_has_rows, files))), tables or parts)
    beside = {file.name: file for file in files if file.parent == folder}
    return CaptureFiles(
        tables=[*first, *(levels if first is not raw else [])],
        times=beside.get(_TIMES),
        system=beside.get(_SYSTEM),
        ceilings=beside.get(_ROOFLINE),
        left_out=[file for candidates in (tables, parts, raw) if candidates is not first for file in candidates],
    )


def _has_rows(file: Path) -> bool:
    with open_regular(file) as stream:
        head = head_of(stream.read(1 << 20), 1 << 20)
    return bool(head.partition(b"\n")[2].strip())


def _several(folder: Path, captures: Sequence[Path]) -> UsageError:
    names = [str(capture.relative_to(folder)) for capture in captures]
    problem = f"{len(names):,} captures of counters below this folder"
    return UsageError(problem, where=str(folder), advice=f"name one of them: {some_of(names, _SHOWN)}")


def _no_counters(path: Path, kind: Kind) -> WavewrightError:
    if kind in THREAD_TRACES:
        problem, advice = f"{kind.value}: no counters of dispatches", f"wavewright hotspots {quoted(path)}"
    elif kind is Kind.BROKEN_DATABASE:
        problem, advice = kind.value, why_unreadable(path) or "record again: it has no tables"
    elif path.is_dir():
        problem = f"no counters in this folder{refused_below(path)}"
        advice = "rocprof-compute profile writes pmc_perf.csv, rocprofv3 --pmc writes *_counter_collection.csv"
        return UsageError(problem, where=str(path), advice=advice)
    else:
        problem = "not a table of counters" if kind is Kind.UNKNOWN else f"{kind.value}: no counters of dispatches"
        advice = "give *_counter_collection.csv of rocprofv3 or the folder with pmc_perf.csv"
    return NotATraceError(problem, where=str(path), advice=advice)
