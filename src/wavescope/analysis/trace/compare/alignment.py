"""Which instruction, line, block or function of one trace corresponds to which of another, even if the code changed?"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import polars as pl

from wavescope.analysis.trace.code.control_flow import blocks, taken_jumps
from wavescope.analysis.trace.code.entered import entered_rows
from wavescope.analysis.trace.compare.sequences import align, moved

if TYPE_CHECKING:
    from collections.abc import Hashable, Sequence

    from wavescope.model.trace import ThreadTrace

_SERIAL = re.compile(r"[._$]\d+\Z")


@dataclass(frozen=True)
class Alignment:
    """Units of code that traces have in common or for themselves."""

    unit_count: int
    #: For every trace: the unit of each code row; -1 = a row of a function that no wave entered.
    unit_of_row: tuple[tuple[int, ...], ...]
    #: For every trace: what each unit is called there; None = the trace does not have it.
    labels: tuple[tuple[str | None, ...], ...]
    same_code: bool  #: Whether all traces have the same instructions in the functions that were entered.


@dataclass
class _Function:
    """The units of one function in order, with the text that stands for each."""

    units: list[int]
    texts: list[str]
    #: Codes of this function met so far -> their units, for traces with the same code.
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
    same = True
    for number, trace in enumerate(traces):
        units = [-1] * trace.code.height
        text_of_unit: dict[int, str] = {}
        code = _code_of(trace)
        names = _matched_names(list(functions), list(code)) if number else {}
        same = same and (not number or (len(names) == len(code) == len(functions)))
        for name, (rows, texts) in code.items():
            function = functions.get(names.get(name, ""))
            if function is None:
                function = functions.setdefault(name, _Function([], []))
            same = same and (not number or list(texts) == function.texts)
            before = count
            merged, count = _merged(function, texts, count)
            same = same and (not number or before == count)
            for row, unit, text in zip(rows, merged, texts, strict=True):
                units[row] = unit
                text_of_unit[unit] = text
        unit_of_row.append(units)
        texts_of.append(text_of_unit)
    return _in_code_order(functions, unit_of_row, texts_of, same_code=same)


def _code_of(trace: ThreadTrace) -> dict[str, tuple[list[int], tuple[str, ...]]]:
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
    for stem in dict.fromkeys([*map(_stem, names), None]):  # None: whatever is left
        ours, theirs = (
            [name for name in side if stem in (None, _stem(name)) and name not in taken]
            for side, taken in ((names, matched.keys()), (earlier, matched.values()))
        )
        if len(ours) == len(theirs) == 1:
            matched[ours[0]] = theirs[0]
    return matched


def _stem(name: str) -> str:
    """The name without a serial number at its end."""
    return _SERIAL.sub("", name.removesuffix(".kd"))


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
    for at, to in [*pairs, (len(function.units), len(texts))]:
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


def _in_code_order(
    functions: dict[str, _Function], unit_of_row: list[list[int]], texts_of: list[dict[int, str]], *, same_code: bool
) -> Alignment:
    order = [unit for function in functions.values() for unit in function.units]
    place = {unit: number for number, unit in enumerate(order)} | {-1: -1}
    return Alignment(
        unit_count=len(order),
        unit_of_row=tuple(tuple(place[unit] for unit in units) for units in unit_of_row),
        labels=tuple(tuple(texts.get(unit) for unit in order) for texts in texts_of),
        same_code=same_code,
    )


def align_traces(traces: Sequence[ThreadTrace], by: str = "instruction") -> Alignment:
    """Units of code that correspond: instructions, source lines, basic blocks or functions.

    Lines and blocks are matched by the instructions that they share, so that a line keeps its identity when its
    number or the numbers of its neighbours change; lines without shared instructions by file and text, or by file and
    number where the text is not known.
    """
    rows = align_rows(traces)
    if by == "instruction":
        return rows
    if by == "line":
        groupings = [_lines(trace) for trace in traces]
        names = _line_names(traces, [labels for _, labels in groupings])
        return grouped_units(rows, [groups for groups, _ in groupings], [labels for _, labels in groupings], names)
    if by == "block":
        groupings = [_blocks(trace) for trace in traces]
        # Numbers of blocks say nothing about what is in them: without shared instructions they do not match.
        block_names: list[dict[Hashable, Hashable]] = [
            {group: (at, group) for group in labels} for at, (_, labels) in enumerate(groupings)
        ]
        return grouped_units(
            rows, [groups for groups, _ in groupings], [labels for _, labels in groupings], block_names
        )
    groupings = [_functions(trace) for trace in traces]
    return grouped_units(rows, [groups for groups, _ in groupings], [labels for _, labels in groupings])


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


def grouped_units(
    rows: Alignment,
    groups: Sequence[Sequence[Hashable | None]],
    labels: Sequence[dict[Hashable, str]],
    names: Sequence[dict[Hashable, Hashable]] | None = None,
) -> Alignment:
    """Units of groups of rows (lines, blocks, functions), matched by the rows that they share.

    `groups` names for every trace the group of each row (None = in none), `labels` what a group is called, and
    `names` under what it is known (default: the group itself). A group of a trace and one of those before are the
    same when each shares at least half of its matched rows with the other; what is left is matched by equal names.

    Examples
    --------
    >>> rows = Alignment(2, ((0, 1), (0, 1)), (("a", "b"), ("a", "b")), True)
    >>> grouped_units(rows, [(4, 5), (7, 8)], [{4: "f:4", 5: "f:5"}, {7: "f:7", 8: "f:8"}]).labels
    (('f:4', 'f:5'), ('f:7', 'f:8'))
    """
    home: dict[int, int] = {}  # unit of rows -> group unit, from the first trace that has it
    unit_of_name: dict[Hashable, int] = {}
    count = 0
    unit_of_row, texts_of = [], []
    for at, (units, all_groups) in enumerate(zip(rows.unit_of_row, groups, strict=True)):
        group_of = [group if unit >= 0 else None for unit, group in zip(units, all_groups, strict=True)]
        name_of = names[at] if names else {}
        unit_of_group = _mutual(
            [(group, home[unit]) for unit, group in zip(units, group_of, strict=True) if unit in home]
        )
        taken = set(unit_of_group.values())
        for group in dict.fromkeys(group for group in group_of if group is not None):
            name = name_of.get(group, group)
            of_name = unit_of_name.get(name)
            if group not in unit_of_group and of_name is not None and of_name not in taken:
                unit_of_group[group] = of_name
            if group not in unit_of_group:
                unit_of_group[group] = count
                count += 1
            taken.add(unit_of_group[group])
            unit_of_name.setdefault(name, unit_of_group[group])
        for unit, group in zip(units, group_of, strict=True):
            if unit >= 0 and group is not None:
                home.setdefault(unit, unit_of_group[group])
        unit_of_row.append(tuple(-1 if group is None else unit_of_group[group] for group in group_of))
        texts_of.append({unit_of_group[group]: label for group, label in labels[at].items() if group in unit_of_group})
    return Alignment(
        unit_count=count,
        unit_of_row=tuple(unit_of_row),
        labels=tuple(tuple(texts.get(unit) for unit in range(count)) for texts in texts_of),
        same_code=rows.same_code,
    )


def _mutual(votes: list[tuple[Hashable | None, int]]) -> dict[Hashable, int]:
    """Group -> unit, where each has at least half of its votes from the other."""
    counts = Counter((group, unit) for group, unit in votes if group is not None)
    of_group = Counter(group for group, _ in votes)
    of_unit = Counter(unit for group, unit in votes if group is not None)
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
