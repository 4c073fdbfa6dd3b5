"""Instructions, lines, blocks and functions of one trace and their counterparts in another, changed code included."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field
from typing import Any

import polars as pl

from wavewright.analysis.code.control_flow import blocks
from wavewright.analysis.trace.code.control_flow import taken_jumps
from wavewright.analysis.trace.compare.sequences import align, moved
from wavewright.analysis.trace.costs.row_costs import entered_rows, row_totals
from wavewright.model.trace import ThreadTrace

SERIAL = re.compile(r"[._$]\d+\Z")  #: A number that compilers append to names of functions.


@dataclass(frozen=True)
class Alignment:
    """Units of code that traces have in common or for themselves."""

    unit_count: int
    #: For every trace: the unit of each code row; -1 = a row of a function that no wave entered.
    unit_of_row: tuple[tuple[int, ...], ...]
    #: For every trace: what each unit is called there; None = the trace does not have it.
    labels: tuple[tuple[str | None, ...], ...]
    #: For every trace: whether it has the same instructions as the first in the functions that were entered.
    same_as_first: tuple[bool, ...]

    @property
    def same_code(self) -> bool:
        """True if all traces have the same instructions in the functions that were entered."""
        return all(self.same_as_first)


@dataclass
class _Function:
    """The units of one function in order, with the text that stands for each."""

    units: list[int]  #: Numbers of instructions, over all functions.
    texts: list[str]  #: The text of each unit, which the code of the next trace is aligned with.
    #: Texts of a code of this function -> its units: a later trace with the same code takes them over.
    seen: dict[tuple[str, ...], list[int]] = field(default_factory=dict)


def align_rows(traces: Sequence[ThreadTrace]) -> Alignment:
    """Match the instructions of the functions that were entered; the units are in the order of the code.

    Functions are matched by name, then by name without serial numbers, then what is left if it is one on each side.
    Instructions are matched by `sequences.align` and `sequences.moved`, every trace with all that came before it.
    """
    functions: dict[str, _Function] = {}
    count = 0
    unit_of_row: list[list[int]] = []
    texts_of: list[dict[int, str]] = []
    codes = [_code_of(trace) for trace in traces]
    for number, (trace, code) in enumerate(zip(traces, codes, strict=True)):
        units = [-1] * trace.code.height
        text_of_unit: dict[int, str] = {}
        names = _matched_names(list(functions), list(code)) if number else {}
        for name, (rows, texts) in code.items():
            function = functions.get(names.get(name, ""))
            if function is None:
                function = functions.setdefault(name, _Function([], []))
            merged, count = _merged(function, texts, count)
            for row, unit, text in zip(rows, merged, texts, strict=True):
                units[row] = unit
                text_of_unit[unit] = text
        unit_of_row.append(units)
        texts_of.append(text_of_unit)
    order = [unit for function in functions.values() for unit in function.units]
    place = {unit: number for number, unit in enumerate(order)} | {-1: -1}
    return Alignment(
        unit_count=len(order),
        unit_of_row=tuple(tuple(place[unit] for unit in units) for units in unit_of_row),
        labels=tuple(tuple(texts.get(unit) for unit in order) for texts in texts_of),
        same_as_first=tuple(_is_same(codes[0], code) for code in codes),
    )


#: Function -> its rows and texts in order.
Code = dict[str, tuple[list[int], tuple[str, ...]]]


def _is_same(first: Code, code: Code) -> bool:
    """True if two codes have the same functions, apart from serial numbers in names, with the same instructions."""
    names = _matched_names(list(first), list(code))
    if not len(names) == len(code) == len(first):
        return False
    return all(texts == first[names[name]][1] for name, (_, texts) in code.items())


def _code_of(trace: ThreadTrace) -> Code:
    """Function -> its rows and texts in order."""
    entered = entered_rows(trace).select("row")
    code = trace.code.select("row", "function", "text")
    if entered.height:
        code = code.join(entered, on="row", how="semi", maintain_order="left")
    grouped = code.with_columns(pl.col("function").fill_null(""), pl.col("text").fill_null("")).group_by(
        "function", maintain_order=True
    )
    return {name: (frame["row"].to_list(), tuple(frame["text"].to_list())) for (name,), frame in grouped}


def _matched_names(earlier: list[str], names: list[str]) -> dict[str, str]:
    """Name in the new trace -> name in those before."""
    matched = {name: name for name in names if name in earlier}
    for stem in dict.fromkeys([*map(_stem, names), None]):  # None: all that is left, if one on each side
        ours, theirs = (
            [name for name in side if stem in (None, _stem(name)) and name not in used]
            for side, used in ((names, matched.keys()), (earlier, matched.values()))
        )
        if len(ours) == len(theirs) == 1:
            matched[ours[0]] = theirs[0]
    return matched


def _stem(name: str) -> str:
    """The name without a serial number at its end."""
    return SERIAL.sub("", name.removesuffix(".kd"))


def _merged(function: _Function, texts: tuple[str, ...], count: int) -> tuple[list[int], int]:
    """The units of a code; instructions that match none become new units between their neighbours."""
    if texts in function.seen:
        return function.seen[texts], count
    pairs = align(function.texts, texts)
    elsewhere = {to: function.units[at] for at, to in moved(function.texts, texts, pairs)}
    units: list[int] = []
    merged_units: list[int] = []
    merged_texts: list[str] = []
    done = 0
    for at, to in [*pairs, (len(function.units), len(texts))]:  # the end stands for a last pair
        merged_units += function.units[done:at]
        merged_texts += function.texts[done:at]
        for place in range(len(units), to):
            units.append(elsewhere.get(place, count))
            if place not in elsewhere:
                merged_units.append(count)
                merged_texts.append(texts[place])
                count += 1
        done = at
        if to < len(texts):
            merged_units.append(function.units[at])
            merged_texts.append(function.texts[at])
            units.append(function.units[at])
            done = at + 1
    function.units, function.texts = merged_units, merged_texts
    function.seen[texts] = units
    return units, count


def align_traces(traces: Sequence[ThreadTrace], by: str = "instruction", rows: Alignment | None = None) -> Alignment:
    """Units of code that correspond: instructions, source lines, basic blocks or functions.

    `rows` are the instructions that correspond, where they are known already. Lines and blocks are matched by the
    instructions that they share, each counted by what it costs, so that a line keeps its identity when numbers of lines
    change, and what moved to another line is compared with what it was. Lines without shared instructions are matched
    by file and text, or by file and number where the text is not known.
    """
    rows = rows or align_rows(traces)
    if by == "instruction":
        return rows
    groupings = [_GROUPERS[by](trace) for trace in traces]
    groups, labels = [groups for groups, _ in groupings], [labels for _, labels in groupings]
    names: list[dict[Hashable, Hashable]] | None = None
    if by == "line":
        names = _line_names(traces, labels)
    elif by == "block":
        # Numbers of blocks say nothing about what is in them: without shared instructions they do not match.
        names = [{group: (at, group) for group in of_trace} for at, of_trace in enumerate(labels)]
    return grouped_units(rows, groups, labels, names, [_weights(trace) for trace in traces])


def _weights(trace: ThreadTrace) -> list[int]:
    """Weight of a code row when groups are matched: one more than its cycles."""
    totals = row_totals(trace).select("row", cost=pl.col("latency_cycles_total") + pl.col("idle_cycles_total"))
    weights = [1] * trace.code.height
    for row, cost in totals.filter(pl.col("row").is_between(0, trace.code.height - 1)).iter_rows():
        weights[row] += max(int(cost), 0)
    return weights


#: The group of every code row, and what each group is called.
Groups = tuple[list["Hashable | None"], dict["Hashable", str]]


def _lines(trace: ThreadTrace) -> Groups:
    places = [(file, line) if file and line else None for file, line in trace.code.select("file", "line").iter_rows()]
    return [*places], {place: f"{place[0].rsplit('/', 1)[-1]}:{place[1]}" for place in places if place}


def _line_names(traces: Sequence[ThreadTrace], labels: Sequence[dict[Any, str]]) -> list[dict[Hashable, Hashable]]:
    """File and text of every line, if all traces know the text; else file and number."""
    texts = [
        {file: text.splitlines() for file, text in trace.sources.iter_rows() if text is not None} for trace in traces
    ]
    bases = [{path.rsplit("/", 1)[-1] for path in files} for files in texts]
    named: list[dict[Hashable, Hashable]] = []
    for lines_of_trace, lines_of_file in zip(labels, texts, strict=True):
        names: dict[Hashable, Hashable] = {}
        for file, line in lines_of_trace:
            base = file.rsplit("/", 1)[-1]
            lines = lines_of_file.get(file, []) if all(base in others for others in bases) else []
            names[file, line] = (base, lines[line - 1].strip()) if line <= len(lines) else (base, line)
        named.append(names)
    return named


def _functions(trace: ThreadTrace) -> Groups:
    functions = [name or "(no symbol)" for name in trace.code["function"].to_list()]
    return [*functions], {name: name for name in functions}


def _blocks(trace: ThreadTrace) -> Groups:
    """Basic blocks, each called by its length and its first instruction."""
    graph = blocks(trace.code, taken_jumps(trace))
    texts = trace.code["text"].to_list()
    labels: dict[Hashable, str] = {
        block: f"{count:,} instructions from {texts[first] or '?'}"
        for block, first, count in graph.blocks.select("block", "first_row", "row_count").iter_rows()
    }
    return graph.by_row.sort("row")["block"].to_list(), labels


#: The function that groups the code rows of a trace, by the kind of unit.
_GROUPERS = {"line": _lines, "block": _blocks, "function": _functions}


def grouped_units(
    rows: Alignment,
    groups: Sequence[Sequence[Hashable | None]],
    labels: Sequence[dict[Hashable, str]],
    names: Sequence[dict[Hashable, Hashable]] | None = None,
    weights: Sequence[Sequence[int]] | None = None,
) -> Alignment:
    """Units of groups of rows (lines, blocks, functions), matched by the rows that they share.

    `groups` names for every trace the group of each row (None = in none), `labels` what a group is called, and
    `names` under what it is known (default: the group itself). A group of a trace and one of those before are the
    same when each shares at least half of its matched rows with the other, counted by `weights` (default: one each) of
    both; what is left is matched by equal names.
    """
    home: dict[int, tuple[int, int]] = {}  # instruction unit -> group unit and weight in the first trace that has it
    unit_of_name: dict[Hashable, int] = {}
    count = 0
    unit_of_row, texts_of = [], []
    for at, (units, all_groups) in enumerate(zip(rows.unit_of_row, groups, strict=True)):
        group_of = [group if unit >= 0 else None for unit, group in zip(units, all_groups, strict=True)]
        name_of = names[at] if names else {}
        weight_of = weights[at] if weights else [1] * len(units)
        unit_of_group = _mutual(
            [
                (group, home[unit][0], home[unit][1] + weight)
                for unit, group, weight in zip(units, group_of, weight_of, strict=True)
                if unit in home
            ]
        )
        used_units = set(unit_of_group.values())
        for group in dict.fromkeys(group for group in group_of if group is not None):
            name = name_of.get(group, group)
            of_name = unit_of_name.get(name)
            if group not in unit_of_group and of_name is not None and of_name not in used_units:
                unit_of_group[group] = of_name
            if group not in unit_of_group:
                unit_of_group[group] = count
                count += 1
            used_units.add(unit_of_group[group])
            unit_of_name.setdefault(name, unit_of_group[group])
        for unit, group, weight in zip(units, group_of, weight_of, strict=True):
            if unit >= 0 and group is not None:
                home.setdefault(unit, (unit_of_group[group], weight))
        unit_of_row.append(tuple(-1 if group is None else unit_of_group[group] for group in group_of))
        texts_of.append({unit_of_group[group]: label for group, label in labels[at].items() if group in unit_of_group})
    return Alignment(
        unit_count=count,
        unit_of_row=tuple(unit_of_row),
        labels=tuple(tuple(texts.get(unit) for unit in range(count)) for texts in texts_of),
        same_as_first=rows.same_as_first,
    )


def _mutual(votes: list[tuple[Hashable | None, int, int]]) -> dict[Hashable, int]:
    """Group -> unit, where each has at least half of its votes from the other; a vote has a weight."""
    counts: Counter[tuple[Hashable, int]] = Counter()
    of_group: Counter[Hashable] = Counter()
    of_unit: Counter[int] = Counter()
    for group, unit, weight in votes:
        if group is not None:
            counts[group, unit] += weight
            of_group[group] += weight
            of_unit[unit] += weight
    best_unit: dict[Hashable, tuple[int, int]] = {}
    best_group: dict[int, tuple[int, Hashable]] = {}
    for (group, unit), count in counts.items():
        if count > best_unit.get(group, (0, 0))[0]:
            best_unit[group] = (count, unit)
        if count > best_group.get(unit, (0, ""))[0]:
            best_group[unit] = (count, group)
    return {
        group: unit
        for group, (count, unit) in best_unit.items()
        if best_group[unit][1] == group and 2 * count >= max(of_group[group], of_unit[unit])
    }
