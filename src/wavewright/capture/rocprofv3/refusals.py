"""Combinations of options that the script or its tool refuses, or takes without doing what was meant.

The script answers with a line or a traceback and status 1; the tool ends the program that is profiled, often after it
ran; some are taken in silence. We refuse all of them before anything runs; refusals.toml lists them.
"""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from wavewright.base.bounds import integer_of
from wavewright.capture.rocprofv3.grammar import check_periods, read_launches
from wavewright.capture.rocprofv3.options import Kind, Version, all_options, is_within
from wavewright.capture.rocprofv3.regex import check_regex
from wavewright.capture.rocprofv3.words import Given, number_of
from wavewright.errors import UsageError
from wavewright.facts.loader import packaged

_ATT = "--advanced-thread-trace"
_TRACE_COUNTERS_MAX = 8
_DECLARED = packaged("refusals.toml", __package__)


@dataclass(frozen=True)
class CommandLine:
    """The options of one command line, as rules look at them."""

    given: Sequence[Given]
    version: Version
    environment: Mapping[str, str]

    def all(self, name: str) -> list[Given]:
        """Every time that an option is given."""
        return [use for use in self.given if use.option.name == name]

    def on(self, name: str) -> bool:
        """True when an option has an effect: the last one counts; numbers that are 0 count as not given."""
        uses = self.all(name)
        if not uses:
            return False
        last = uses[-1]
        if last.option.kind is Kind.INTEGER:
            return int(last.values[0]) != 0
        if last.option.kind is Kind.ANY_WORDS and not last.values:
            return name == "--ompt-trace"  # the only one that has an effect without a value
        return last.is_on and "".join(last.values) != "" if last.values else last.is_on

    def value(self, name: str) -> str:
        """The value that counts; empty = it is not given."""
        uses = self.all(name)
        return uses[-1].values[0] if uses and uses[-1].values else ""

    def number(self, name: str) -> int | None:
        """The value that counts as a number; None = not given, or not a number."""
        return number_of(self.value(name)) if self.value(name) else None

    @property
    def traces(self) -> bool:
        """True when anything is collected that the script counts as such for --stats."""
        is_old = self.version < (7, 0)  # there, only what is traced counts
        for option in (use.option for use in self.given):
            if not option.is_tracing or not self.on(option.name):
                continue
            if is_old and option.name in ("--pmc", _ATT, "--pc-sampling-beta-enabled"):
                continue
            if not option.implies or self._implied(option.name):
                return True
        return False

    def _implied(self, name: str) -> bool:
        """True when something remains of what an option switches on; from 7.0 on, parts can be taken out by =no."""
        option = all_options()[name]
        if option.variables:
            return True
        parts = [all_options()[part] for part in option.implies if all_options()[part].exists_in(self.version)]
        for part in parts:
            if self.version >= (7, 0) and self.all(part.name) and not self.on(part.name):
                continue
            if not part.implies or self._implied(part.name):
                return True
        return False


class Refusal(NamedTuple):
    """A combination that is refused, as refusals.toml declares it."""

    name: str  #: For tests and documents.
    by: str  #: Who would refuse: script, tool (ends the program), or nobody (it is taken in silence).
    when: tuple[str, ...]  #: Terms that all hold; those divided by | are alternatives.
    what: str
    advice: str
    since: str = "6.2"
    last: str = ""

    def applies(self, line: CommandLine) -> bool:
        """True when a command line is such a combination."""
        return all(any(_holds(term, line) for term in terms.split(" | ")) for terms in self.when)


_COMPARED = re.compile(r"(--[a-z-]+)(==|!=|<|>|=|#)(.*)")


def _holds(term: str, line: CommandLine) -> bool:
    """True when a term holds; refusals.toml explains its forms."""
    if term.startswith("!"):
        return not _holds(term[1:], line)
    if term.startswith("?"):
        return bool(line.all(term[1:]))
    if not term.startswith("--"):
        return _FUNCTIONS[term](line)
    match = _COMPARED.fullmatch(term)
    if match is None:
        return line.on(term)
    name, relation, text = match.groups()
    if relation == "=":
        return line.value(name) == text
    if relation == "#":
        uses = line.all(name)
        return len(uses) >= int(text) if int(text) else any(not use.values for use in uses)
    number = line.number(name)
    return number is not None and _RELATIONS[relation](number, int(text))


_RELATIONS = {"==": operator.eq, "!=": operator.ne, "<": operator.lt, ">": operator.gt}


def _has_wrong_ranks(line: CommandLine) -> bool:
    """True when a list of ranks is refused. Outside of MPI the script does not look at it."""
    rank, size = _world(line)
    if rank is None or not line.value("--profile-mpi-ranks"):
        return False
    ranks: set[int] = set()
    for part in line.value("--profile-mpi-ranks").split(","):
        match = re.fullmatch(r"(\d{1,9})(?:-(\d{1,9}))?", part.strip())
        if not match or int(match[2] or match[1]) < int(match[1]):
            return True
        ranks |= {int(match[1]), int(match[2] or match[1])}
    return size is not None and bool(ranks) and max(ranks) >= size


def _world(line: CommandLine) -> tuple[int | None, int | None]:
    """Rank and number of ranks, by the variables that the options name, else by those of known launchers."""
    own_names = (line.value("--mpi-world-rank-variable"), line.value("--mpi-world-size-variable"))
    pairs = [own_names] if all(own_names) else _DECLARED["rank_variables"]
    for rank_name, size_name in pairs:
        rank, size = (integer_of(line.environment.get(name)) for name in (rank_name, size_name))
        if rank is not None and (size is not None or all(own_names)):
            return rank, size
    return None, None


_FUNCTIONS: dict[str, Callable[[CommandLine], bool]] = {
    "traces": lambda line: line.traces,
    "many_trace_counters": lambda line: (
        len(re.split(r"[\s,]+", line.value("--att-perfcounters"))) > _TRACE_COUNTERS_MAX
    ),
    "gpu_numbers": lambda line: bool(re.fullmatch(r"\d+(,\d+)*", line.value("--att-gpu-index"))),
    "wrong_ranks": _has_wrong_ranks,
}
#: Order: first what explains others.
REFUSALS = tuple(Refusal(**{**row, "when": tuple(row["when"])}) for row in _DECLARED["refusal"])


def refusal_of(line: CommandLine) -> Refusal | None:
    """The first rule that refuses a command line; None = nothing speaks against it."""
    for refusal in REFUSALS:
        if is_within(line.version, refusal.since, refusal.last) and refusal.applies(line):
            return refusal
    return None


def check_options(
    given: Sequence[Given], version: Version, environment: Mapping[str, str] | None = None, *, where: str = "rocprofv3"
) -> None:
    """Refuse a command line that the release would refuse, fail on, or take for something else.

    `environment` is that in which the program would run: ranks of MPI. `where` is what an error calls the command line.
    """
    line = CommandLine(given, version, environment or {})
    refusal = refusal_of(line)
    if refusal is not None:
        raise UsageError(refusal.what, where=where, advice=refusal.advice)
    for use in given:
        name = use.option.name
        if name == "--kernel-iteration-range":
            read_launches(", ".join(use.values))
        elif name == "--collection-period":
            check_periods(use.values, line.value("--collection-period-unit") or "sec")
        elif name in ("--kernel-include-regex", "--kernel-exclude-regex"):
            check_regex(use.values[0], version)
