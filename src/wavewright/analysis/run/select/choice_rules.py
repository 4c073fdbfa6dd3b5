"""Rules that select the rows of a table: one for each field of a selection that concerns it.

A rule names the columns that it reads and makes a filter for each chunk; all rules of a table must match. What a rule
needs of other tables (numbers of agents, calls, chosen events) is read when the rule is first used.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from functools import cached_property
from typing import NamedTuple

import polars as pl

from wavewright.analysis.common.name_patterns import pattern_of
from wavewright.analysis.run.measures.statistics import is_timed
from wavewright.analysis.run.select.choice import RunSelection
from wavewright.analysis.run.select.windows import TIMED, windows_of
from wavewright.model.run import RunSource
from wavewright.model.run_tables import NUMBERED, RUN

_CUT = ("dispatches", "copies", "allocations", "regions", "monitors")  #: Tables of events that a window can cut.
_AGENT_COLUMNS = ("agent", "src_agent", "dst_agent")  #: An event is of a GPU that one of them names.


class Rule(NamedTuple):
    """The columns that a rule reads, and the filter on a chunk with these columns."""

    columns: Sequence[str]
    keeps: Callable[[pl.DataFrame], pl.Expr]


class ChoiceRules:
    """The rules of a selection for one source and its selected processes; all rules of a table must match."""

    def __init__(self, source: RunSource, selection: RunSelection, processes: Collection[int]) -> None:
        self._source = source
        self._selection = selection
        self._pattern = None if selection.kernel is None else name_pattern(selection.kernel)
        self._is_match: dict[str | None, bool] = {}  #: By the names of kernels so far.
        self.windows = windows_of(source, selection, processes)

    def of(self, table: str) -> list[Rule]:
        """The rules for the rows of a table; `ChosenSource` leaves out processes itself."""
        if table in TIMED or table == "monitors":
            return list(self._event_rules(table))
        if table in ("arguments", "frames") and (self._narrows_dispatches or self._selection.domains):
            return [Rule(("process", "event"), lambda piece: _is_among(piece, self._events))]
        if table == "counters" and self._narrows_dispatches:
            return [Rule(("process", "event", "time_ns", "counter"), self._of_selected_dispatch)]
        return []

    def _event_rules(self, table: str) -> Iterator[Rule]:
        selection, names = self._selection, RUN[table].names
        if self.windows is not None:
            start, end = TIMED.get(table, ("start_ns", "end_ns"))
            yield Rule(("process", start, end), lambda piece: self._in_window(piece, start, end))
        if self._pattern is not None and table == "copies":  # a choice of kernels has no copies
            yield Rule((), lambda _: pl.lit(value=False))
        if self._pattern is not None and table == "dispatches":
            yield Rule(("name",), lambda piece: pl.col("name").is_in(self._matching(piece["name"]).implode()))
        agent_columns = [name for name in _AGENT_COLUMNS if name in names]
        if selection.gpus and agent_columns:
            yield Rule(agent_columns, lambda _: self._on_gpus(agent_columns, has_releases=table == "allocations"))
        if selection.is_launched and table in ("dispatches", "copies"):
            key = ("process", "correlation")
            yield Rule(key, lambda piece: _is_among(piece, self._calls, key))
        if selection.streams and "stream" in names:
            yield Rule(("stream",), lambda _: pl.col("stream").is_in(self._streams.implode()))
        if selection.domains and "domain" in names:
            yield Rule(("domain", "category"), self._of_domain)

    @property
    def _narrows_dispatches(self) -> bool:
        """True if some dispatches are not chosen: then what refers to events is chosen by them."""
        selection = self._selection
        return bool(self._pattern or selection.gpus or selection.streams or selection.is_launched or self.windows)

    def _in_window(self, piece: pl.DataFrame, start_column: str, end_column: str) -> pl.Expr:
        """True for events that are in the window: as a whole, where that is asked for, else some of their time."""
        window_start, window_end = self._borders(piece)
        start, end = pl.col(start_column), pl.max_horizontal(start_column, end_column)
        if self._selection.is_inside:
            return (start >= window_start) & (end <= window_end)
        if self._selection.is_whole:  # events are not cut: one that only touches the window is in it, too
            return (start <= window_end) & (end >= window_start)
        is_moment = (start == end) & (start >= window_start) & (start <= window_end)
        return ((start < window_end) & (end > window_start)) | is_moment

    def _borders(self, piece: pl.DataFrame) -> tuple[pl.Expr, pl.Expr]:
        """Start and end of the window of the process of each row; null = nothing of the process is chosen."""
        windows = self.windows.by_process if self.windows else []
        common = windows[0] if windows and len(set(windows)) == 1 else None
        if common:
            return pl.lit(common.start, pl.Int64), pl.lit(common.end, pl.Int64)
        starts = pl.Series([window.start if window else None for window in windows], dtype=pl.Int64)
        ends = pl.Series([window.end if window else None for window in windows], dtype=pl.Int64)
        return pl.lit(starts.gather(piece["process"])), pl.lit(ends.gather(piece["process"]))

    def cuts(self, table: str, columns: Collection[str]) -> bool:
        """True if the window cuts events of the table, and one of these columns tells it."""
        if self.windows is None or self._selection.is_whole or self._selection.is_inside:
            return False
        return table in _CUT and not {"start_ns", "end_ns"}.isdisjoint(columns)

    def cut(self, piece: pl.DataFrame) -> pl.DataFrame:
        """Rows of the window, which start and end inside of it; impossible lengths stay impossible."""
        first, last = self._borders(piece)
        times = [pl.col(name).clip(first, last) for name in ("start_ns", "end_ns")]
        return piece.with_columns(pl.when(is_timed()).then(time).otherwise(time.meta.output_name()) for time in times)

    def _matching(self, names: pl.Series) -> pl.Series:
        """The names, each once, that the pattern matches."""
        unique = names.unique()
        texts = unique.cast(pl.String).to_list()
        for text in texts:
            if text not in self._is_match:
                self._is_match[text] = bool(self._pattern and self._pattern.search(text or ""))
        return unique.filter(pl.Series([self._is_match[text] for text in texts], dtype=pl.Boolean))

    def _on_gpus(self, agent_columns: Sequence[str], *, has_releases: bool) -> pl.Expr:
        conditions = [pl.col(name).is_in(self._agents.implode()).fill_null(value=False) for name in agent_columns]
        if has_releases:  # a release of memory has no agent, but is needed to match addresses
            conditions.append(pl.col("agent").is_null())
        return pl.any_horizontal(conditions)

    def _of_domain(self, piece: pl.DataFrame) -> pl.Expr:
        """True for rows whose domain or category is one of the chosen ones, whatever the case."""
        domains = upper_domains(self._selection.domains)
        matches = []
        for column in ("domain", "category"):
            unique = piece[column].unique()
            hits = unique.filter(unique.cast(pl.String).str.to_uppercase().is_in(sorted(domains)))
            matches.append(pl.col(column).is_in(hits.implode()).fill_null(value=False))
        return matches[0] | matches[1]

    def _of_selected_dispatch(self, piece: pl.DataFrame) -> pl.Expr:
        """Values of a dispatch follow it; streamed values are chosen by their own time and GPU."""
        streamed = pl.lit(value=True)
        if self.windows is not None:
            streamed &= self._in_window(piece, "time_ns", "time_ns").fill_null(value=False)
        if self._selection.gpus:
            streamed &= pl.col("counter").is_in(self._counters.implode())
        return pl.when(pl.col("time_ns").is_null()).then(_is_among(piece, self._dispatches)).otherwise(streamed)

    @cached_property
    def _dispatches(self) -> pl.DataFrame:
        return self._selected_of(["dispatches"])

    @cached_property
    def _events(self) -> pl.DataFrame:
        return self._selected_of(list(TIMED))

    def _selected_of(self, tables: list[str]) -> pl.DataFrame:
        """(process, event) of the chosen rows, each once."""
        keys = [pl.DataFrame(schema={"process": pl.UInt32, "event": pl.Int64})]
        for table in tables:
            rules = self.of(table)
            columns = dict.fromkeys(["process", "event", *(name for rule in rules for name in rule.columns)])
            for piece in self._source.chunks(table, list(columns)):
                selected = piece.filter([rule.keeps(piece) for rule in rules]) if rules else piece
                keys.append(selected.select("process", "event").drop_nulls())
        return pl.concat(keys).unique()

    @cached_property
    def _calls(self) -> pl.DataFrame:
        """(process, correlation) of all calls, each once."""
        keys = [pl.DataFrame(schema={"process": pl.UInt32, "correlation": pl.Int64})]
        keys += [piece.drop_nulls() for piece in self._source.chunks("regions", ["process", "correlation"])]
        return pl.concat(keys).unique()

    @cached_property
    def _agents(self) -> pl.Series:
        index = pl.coalesce("type_index", "absolute_index")  # RPD and Kineto do not count GPUs apart
        gpus = index.is_in(self._selection.gpus) & (pl.col("kind") == "GPU")
        return self._numbers("agents", ["kind", "type_index", "absolute_index"], gpus)

    @cached_property
    def _streams(self) -> pl.Series:
        return self._numbers("streams", ["stream_id"], pl.col("stream_id").is_in(self._selection.streams))

    @cached_property
    def _counters(self) -> pl.Series:
        return self._numbers("counter_info", ["agent"], pl.col("agent").is_in(self._agents.implode()))

    def _numbers(self, table: str, columns: list[str], condition: pl.Expr) -> pl.Series:
        """Numbers of the rows of a table for which the condition holds."""
        key = NUMBERED[table]
        pieces = self._source.chunks(table, [key, *columns])
        return pl.concat([pl.Series(key, [], pl.UInt32), *(piece.filter(condition)[key] for piece in pieces)])


def _is_among(piece: pl.DataFrame, selected: pl.DataFrame, key: Sequence[str] = ("process", "event")) -> pl.Expr:
    """True if the `key` of each row is among the selected ones."""
    marked = selected.with_columns(is_selected=pl.lit(value=True))
    joined = piece.select(key).join(marked, on=list(key), how="left", maintain_order="left")
    return pl.lit(joined["is_selected"].is_not_null())


def upper_domains(words: Iterable[str]) -> set[str]:
    """Domains and categories in the case of their names; MARKERS is another word for MARKER."""
    domains = {word.upper() for word in words}
    return domains | {"MARKER"} if "MARKERS" in domains else domains


def name_pattern(text: str) -> re.Pattern[str]:
    """The pattern of a name: /regular expression/, else a plain substring.

    Raises `UsageError` when it is no regular expression.

    >>> bool(name_pattern("a.c").search("abc")), bool(name_pattern("/a.c/").search("abc"))
    (False, True)
    """
    return pattern_of(text, "search for plain text") or re.compile(re.escape(text))
