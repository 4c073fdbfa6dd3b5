"""Selection of a part of a run: sources whose rows are left out, and cut at a time window, while they are read."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property

import polars as pl

from wavewright.analysis.run.select.choice import RunSelection
from wavewright.analysis.run.select.choice_rules import ChoiceRules, Rule
from wavewright.errors import UsageError
from wavewright.model.losses import Loss
from wavewright.model.run import Run, RunSource
from wavewright.model.run_tables import REFERENCES, RUN


class ChosenSource:
    """`source` reduced to a selection; `select` documents the rules."""

    def __init__(self, source: RunSource, selection: RunSelection) -> None:
        self.path = source.path
        self.format = source.format
        self.version = source.version
        self.extras: Mapping[str, pl.DataFrame] = source.extras
        self._source = source
        self._selection = selection
        self._rules = ChoiceRules(source, selection, self._selected_processes.to_list())
        self._new_numbers: dict[str, pl.Series] = {}

    @property
    def losses(self) -> list[Loss]:
        """The losses of the source, and notes about the window, such as one that reaches beyond the recording."""
        return [*self._source.losses, *(self._rules.windows.notes if self._rules.windows else ())]

    @property
    def windows(self) -> list[tuple[int, int] | None] | None:
        """The window of each selected process; None = all of the time, or events that it cuts stay whole."""
        windows = self._rules.windows
        if windows is None or self._selection.is_whole:
            return None
        return [windows.by_process[process] for process in self._selected_processes]

    @property
    def is_cut(self) -> bool:
        """True if events are cut at the borders of a window."""
        return self.windows is not None and not self._selection.is_inside

    def without_window(self) -> ChosenSource:
        """The selection without its time window."""
        return ChosenSource(self._source, replace(self._selection, begin=None, end=None, between=None))

    def chunks(self, table: str, columns: Sequence[str]) -> Iterator[pl.DataFrame]:
        """The chosen rows in chunks, with these columns in this order."""
        rules = [*self._process_rules(table), *self._rules.of(table)]
        is_cut = self._rules.cuts(table, columns)
        needed = dict.fromkeys([*columns, *(name for rule in rules for name in rule.columns)])
        for piece in self._source.chunks(table, list(needed)):
            selected = piece.filter([rule.keeps(piece) for rule in rules]) if rules else piece
            if selected.height:
                yield self._renumbered((self._rules.cut(selected) if is_cut else selected).select(columns))

    def _process_rules(self, table: str) -> Iterator[Rule]:
        if self._leaves_out_processes and "process" in RUN[table].names:
            processes = self._selected_processes.implode()
            yield Rule(("process",), lambda _: pl.col("process").is_null() | pl.col("process").is_in(processes))

    @cached_property
    def _leaves_out_processes(self) -> bool:
        return len(self._selected_processes) < self._processes.height

    @cached_property
    def _processes(self) -> pl.DataFrame:
        columns = ["process", "pid", "rank", "guid"]
        schema = {name: RUN["processes"].dtypes[name] for name in columns}
        return pl.concat([pl.DataFrame(schema=schema), *self._source.chunks("processes", columns)])

    @cached_property
    def _selected_processes(self) -> pl.Series:
        selection, processes = self._selection, self._processes
        if selection.ranks and processes.height and processes["rank"].null_count() == processes.height:
            what = "the ranks of these processes are not recorded"
            raise UsageError(what, where=self.path, advice="choose processes with --pid")
        if selection.pids:
            processes = processes.filter(pl.col("pid").is_in(selection.pids))
        if selection.ranks:
            processes = processes.filter(pl.col("rank").is_in(selection.ranks))
        if selection.processes:
            processes = processes.filter(pl.col("process").is_in(selection.processes))
        if selection.without_guids:
            processes = processes.filter(~pl.col("guid").is_in(selection.without_guids).fill_null(value=False))
        return processes["process"]

    def _renumbered(self, piece: pl.DataFrame) -> pl.DataFrame:
        """The rows with references to the new numbers of rows, which skip rows of processes that are left out."""
        if not self._leaves_out_processes:
            return piece
        numbers = [name for name in piece.columns if name in REFERENCES and piece.schema[name] == pl.UInt32]
        return piece.with_columns(
            pl.lit(self._new_number(REFERENCES[name]).gather(piece[name])).alias(name)
            for name in numbers
            if "process" in RUN[REFERENCES[name]].names
        )

    def _new_number(self, table: str) -> pl.Series:
        """Number of a row in the source -> its number in the selection; null = left out."""
        if table not in self._new_numbers:
            pieces = [piece["process"] for piece in self._source.chunks(table, ["process"])]
            process = pl.concat([pl.Series("process", [], pl.UInt32), *pieces])
            is_selected = process.is_null() | process.is_in(self._selected_processes.implode())
            number = is_selected.cast(pl.Int64).cum_sum() - 1
            self._new_numbers[table] = pl.select(pl.when(is_selected).then(number).cast(pl.UInt32)).to_series()
        return self._new_numbers[table]


def without_window(run: Run) -> Run:
    """The run without its time window, if that cuts events; else the run itself."""
    cut = [source for source in run.origins if isinstance(source, ChosenSource) and source.is_cut]
    return Run([source.without_window() if source in cut else source for source in run.origins]) if cut else run


def select(run: Run, selection: RunSelection) -> Run:
    """The run cut down to the selection; rows are left out while they are read.

    A field speaks only about the tables that have what it names: `kernel` about work of GPUs (copies are of no kernel),
    `gpus` about dispatches, copies (either end), allocations and monitors, `streams` about work that is put into
    streams, `domains` about regions and samples, times about everything that has one. Counters follow their dispatch,
    arguments and call stacks their event. A process that is left out takes its threads, agents, ... along, and the rest
    is numbered anew; tables of numbered rows are whole otherwise. Events that a time window cuts begin and end at its
    borders, unless `is_whole`.

    Percentages and times with units count from the first event of each node in each source, `-5ms` from its last event;
    the markers of `between` are looked up there, too. Where several markers have a name, the window is from the start
    of the first to the end of the last. Raises `UsageError` when a time or regular expression cannot be read, no marker
    has a name of `between`, or ranks are asked for and none is known.
    """
    if selection == RunSelection():
        return run
    return Run([ChosenSource(source, selection) for source in run.origins])
