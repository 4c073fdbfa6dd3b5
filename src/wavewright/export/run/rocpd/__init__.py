"""A run as a ROCpd database (schema 3.0.3): every run with its own tables, and the views that AMD's tools use."""

from __future__ import annotations

import os
import sqlite3
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from wavewright.base.sql import quoted
from wavewright.export.kit.staging import staged
from wavewright.export.kit.writer_result import Written, left_out
from wavewright.export.run.rocpd.guids import guids_of
from wavewright.export.run.rocpd.part import PartWriter
from wavewright.export.run.rocpd.run import RunWriter
from wavewright.export.run.rocpd.sql_schema import VERSION, check_beside, create_views, new_database
from wavewright.model.losses import Loss
from wavewright.model.run import Run
from wavewright.readers.run.rocpd.layout import PREFIX, stored_tables, suffix_of


def write_rocpd(run: Run, out: str | os.PathLike[str], *, force: bool = False) -> Written:
    """Write a run of any origin as one ROCpd file.

    Ids of events, agents, queues, ... are the recorded ones if these are unique in their run. A run that occurs twice
    is written once. References that the schema demands and the origin lacks (a queue, a code object, ...) point to rows
    with the name `unknown`.
    """
    target = Path(out)
    check_beside(target)
    with staged([target], force=force) as (twin,), RocpdFile.created(twin) as file:
        for part in run.parts:
            file.add(part)
    return Written(target, dict(file.counts), file.losses)


class RocpdFile:
    """A ROCpd file that grows source by source; use `RocpdFile.created`."""

    def __init__(self, connection: sqlite3.Connection, version: str) -> None:
        self.connection = connection
        self.version = version
        self.guids: list[str] = []
        # Tables that are not in the schema: name and columns -> the stored tables of the runs that have it.
        self.more_tables: dict[tuple[str, tuple[str, ...]], list[str]] = {}
        self.counts: Counter[str] = Counter()
        self.losses: list[Loss] = []

    @classmethod
    @contextmanager
    def created(cls, path: Path, version: str = VERSION) -> Iterator[RocpdFile]:
        """A new file at `path` with a version of the schema; its views are made at the end.

        Raises `WavewrightError` when it cannot be written.
        """
        with new_database(path) as connection:
            file = cls(connection, version)
            yield file
            file.finish()

    def add(self, part: Run) -> None:
        """Add the runs of one source; runs that the file already has are left out."""
        runs: dict[str, RunWriter] = {}
        writers: list[RunWriter | None] = []
        for guid in guids_of(part):
            if guid in self.guids:
                self.losses.append(Loss("duplicate_run", detail=guid))
                writers.append(None)
                continue
            if guid not in runs:
                runs[guid] = RunWriter(self.connection, guid, self.version)
            writers.append(runs[guid])
        if runs:
            writer = PartWriter(part, writers)
            writer.write()
            self.counts += writer.counts
        self.guids += runs
        for guid in runs:
            self._remove_dangling(guid)
        self.losses += left_out(part, ("monitors", "frames"))
        for name, frame in part.origins[0].extras.items() if part.origins else ():
            if frame.height and not name.endswith("_metadata"):
                self.losses.append(Loss("not_in_format", frame.height, name))

    def finish(self) -> None:
        """Create the views."""
        if self.guids:
            suffixes = [suffix_of(guid) for guid in self.guids]
            tables = {name: [PREFIX + name + suffix for suffix in suffixes] for name in stored_tables(self.version)}
            for (name, _), stored in self.more_tables.items():
                tables.setdefault(name, stored)  # one view cannot show tables with different columns
            create_views(self.connection, tables)

    def _remove_dangling(self, guid: str) -> None:
        """Remove arguments and counters whose event was not written: they would violate foreign keys."""
        events = quoted(f"{PREFIX}event{suffix_of(guid)}")
        for table in ("arg", "pmc_event"):
            stored = quoted(f"{PREFIX}{table}{suffix_of(guid)}")
            lost = self.connection.execute(
                f"DELETE FROM {stored} WHERE event_id IS NOT NULL AND event_id NOT IN (SELECT id FROM {events})"  # noqa: S608
            ).rowcount
            if lost:
                self.losses.append(Loss("dangling_rows", lost, f"{PREFIX}{table}"))
                self.counts[{"arg": "arguments", "pmc_event": "counters"}[table]] -= lost


def write_parts(parts: Mapping[Path, Run], *, force: bool = False) -> list[Written]:
    """Write each run to its path, all in one folder; all of them appear together, or none."""
    targets = list(parts)
    with staged(targets, force=force) as twins:
        written = [write_rocpd(run, twin) for run, twin in zip(parts.values(), twins, strict=True)]
    return [replace(result, path=target) for result, target in zip(written, targets, strict=True)]
