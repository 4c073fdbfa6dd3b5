"""Hardware counters per dispatch, from the files of every generation of AMD's profilers."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

from wavewright.errors import WavewrightError
from wavewright.model.counters import CounterSet, System
from wavewright.model.losses import Loss, refused_losses
from wavewright.readers.counters.assembly import assembled
from wavewright.readers.counters.capture_files import CaptureFiles, beside, find_counters, plain_stem
from wavewright.readers.counters.execution import Pass, wide_pass, with_agent_numbers, with_processes_together
from wavewright.readers.counters.long import is_long, long_passes, long_rows
from wavewright.readers.counters.names import COLUMNS
from wavewright.readers.counters.rocke_bundle import counters_of_bundle, is_bundle
from wavewright.readers.counters.silent import without_silent
from wavewright.readers.counters.system import first_rows, system_of_agents, system_of_row, with_facts
from wavewright.readers.counters.table import no_table, read_table
from wavewright.readers.files.inventory import Inventory
from wavewright.readers.files.kinds import sniff

_NAMED = 6  #: A loss names at most so many files or counters.


def open_counters(
    path: str | os.PathLike[str], *, target: str | None = None, inventory: Inventory | None = None
) -> CounterSet:
    """Open a capture of hardware counters; all files below a folder are passes over the same program.

    Passes are joined by dispatch and never added up. What is missing, damaged or cannot be true is a row of `losses`.

    Parameters
    ----------
    path
        A workload folder of ROCm Compute Profiler, its pmc_perf.csv or its analysis database; *_counter_collection.csv
        of rocprofv3, or a folder of its passes; CSV files of rocprof (v1); ROCpd databases and rocprofv3 JSON with
        counters; a tar or zip archive of such a folder.
    target
        The GPU (`gfx942`, `MI300X`) where the capture does not say it, or says it wrong.
    inventory
        Listings of directories that the caller made already.

    Raises
    ------
    UsageError
        When the path does not exist, or the folder holds several captures; when there is no such GPU.
    NotATraceError
        When there are no counters.

    Examples
    --------
    >>> open_counters("/nowhere")
    Traceback (most recent call last):
    wavewright.errors.UsageError: /nowhere: no such file or folder
    """
    file, listings = Path(path), inventory or Inventory()
    kind, archive = sniff(file, listings), listings.unpacked(file)
    if archive is None:
        return replace(_opened(file, target, listings, []), path=str(file), run_times=partial(_times_of_run, file))
    listings.kinds[archive.folder] = kind  # raw traces are not unpacked
    try:
        counters = _opened(archive.folder, target, listings, [*archive.losses])
    except WavewrightError as error:
        archive.rename_in(error)
        raise
    files = counters.passes["file"].str.replace_all(f"{archive.folder}/", f"{file}!", literal=True)
    tables = counters.tables | {"passes": counters.passes.with_columns(files)}
    return replace(counters, tables=tables, path=str(file))


def _times_of_run(folder: Path) -> dict[str, int]:
    from wavewright.readers.counters.runs import times_of_run  # most captures are read without

    return times_of_run(folder)


def _opened(place: Path, target: str | None, listings: Inventory, losses: list[Loss]) -> CounterSet:
    """The capture in a folder or file on disk."""
    if is_bundle(place):
        place = counters_of_bundle(place, losses)
    files = find_counters(place, listings)
    if files.unseen_count:
        losses.append(Loss("unseen_files", files.unseen_count))
    if files.analysis:
        from wavewright.readers.counters.analysis_database import read_analysis_database  # SQLite takes its time

        return read_analysis_database(files.analysis, losses, target=target)
    if files.stores:
        from wavewright.readers.counters.runs import passes_of_runs

        passes, system = passes_of_runs(files.stores, losses)
        system = _described_system(files, losses) or system
    else:
        passes = _passes(files, place, losses)
        system = _system(files, passes, losses)
    system = with_facts(system, target, losses)
    passes = without_silent(with_processes_together([*map(with_agent_numbers, passes)]), losses)
    losses += _partner_losses(passes, system)
    losses += refused_losses(files.refused)
    if files.left_out:
        names = ", ".join(file.name for file in files.left_out[:_NAMED])
        losses.append(Loss("other_forms", len(files.left_out), detail=names))
    ceilings = None
    if files.ceilings:
        from wavewright.readers.counters.ceilings import ceilings_of_rows

        ceilings = ceilings_of_rows(first_rows(files.ceilings, losses))
    return assembled(passes, system, losses, path=str(place), ceilings=ceilings)


def _passes(files: CaptureFiles, place: Path, losses: list[Loss]) -> list[Pass]:
    """All passes; a file that cannot be read is a loss where others can."""
    passes: list[Pass] = []
    problems: list[WavewrightError] = []
    for file in [*files.tables, *([files.times] if files.times else [])]:
        try:
            passes += _passes_of(file, place, losses, has_counters=file != files.times)
        except WavewrightError as error:
            problems.append(error)
    if problems and not any(pass_.counters for pass_ in passes):
        raise problems[0]
    losses += [Loss("unreadable_source", detail=str(problem)) for problem in problems]
    return passes


def _passes_of(file: Path, place: Path, losses: list[Loss], *, has_counters: bool) -> list[Pass]:
    table = read_table(file, long_rows)
    losses += table.losses
    name = _pass_name(file, place)
    if table.index(*COLUMNS["kernel_name"]) is None:
        raise no_table(file)
    if is_long(table):
        return long_passes(table, name, losses)
    pass_ = wide_pass(table, name, is_joined=name == "pmc_perf", losses=losses)
    if has_counters and not pass_.counters and table.frame.height:
        raise no_table(file)
    return [pass_]


def _pass_name(file: Path, place: Path) -> str:
    """The level or the table of ROCm Compute Profiler; of rocprofv3, the folder of the pass or the file."""
    stem = plain_stem(file)
    if stem.startswith(("pmc_perf", "SQ", "timestamps")):
        return stem
    stem = stem.removesuffix("counter_collection").rstrip("_")
    folder = file.parent.name if place.is_dir() and file.parent != place else ""
    return folder or stem or plain_stem(file)


def _described_system(files: CaptureFiles, losses: list[Loss]) -> System | None:
    rows = first_rows(files.system, losses) if files.system else []
    return system_of_row(rows[0], files.system.name) if files.system and rows else None


def _system(files: CaptureFiles, passes: Sequence[Pass], losses: list[Loss]) -> System:
    described = _described_system(files, losses)
    if described:
        return described
    from wavewright.readers.counters.system import agents_of_rocminfo

    used = {agent for pass_ in passes for agent in pass_.rows["agent"].drop_nulls().unique()}
    for file in files.tables:
        agents = beside(file, file.name.split("counter_collection.csv")[0] + "agent_info.csv", files.refused)
        if agents and agents != file:
            system = system_of_agents(first_rows(agents, losses), used, agents.name)
            if system.target:
                return system
        texts = (beside(file, text.name, files.refused) for text in sorted(file.parent.glob("*.sysinfo.txt"))[:1])
        for text in filter(None, texts):
            system = system_of_agents(agents_of_rocminfo(text), used, text.name)
            if system.target:
                return system
    return System()


def _partner_losses(passes: Sequence[Pass], system: System) -> list[Loss]:
    """One loss for channels that lack counters which others have, or that the GPU has and no counter names."""
    channels_by_counter: dict[str, set[int]] = {}
    for pass_ in passes:
        for counter in pass_.counters:
            if counter.named.channel is not None:
                channels_by_counter.setdefault(counter.named.counter, set()).add(counter.named.channel)
    if not channels_by_counter:
        return []
    all_channels = set().union(*channels_by_counter.values())
    count = max(len(all_channels), int(system.l2_channel_count or 0))
    partial = {name: len(channels) for name, channels in channels_by_counter.items() if len(channels) < count}
    if not partial:
        return []
    common = set.intersection(*channels_by_counter.values())
    descriptions = [f"{name} of {channels}" for name, channels in sorted(partial.items(), key=lambda pair: pair[1])]
    more = f" and {len(descriptions) - _NAMED} counters more" if len(descriptions) > _NAMED else ""
    detail = f"{', '.join(descriptions[:_NAMED])}{more}, of {count} channels"
    return [Loss("counter_partner", count - len(common), detail=detail)]
