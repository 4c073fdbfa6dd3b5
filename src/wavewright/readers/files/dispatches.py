"""The dispatches of an input: a key for each that `--dispatch` takes, and which one to read."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import combinations
from typing import Generic, TypeVar

from wavewright.base.words import counted, shortened, some_of
from wavewright.errors import UsageError
from wavewright.facts.kernel_titles import kernel_title
from wavewright.facts.library_kernels import is_runtime_kernel

T = TypeVar("T")
_LISTED = 12  #: Dispatches that an error names.
_NAME_WIDTH = 40  #: Characters of a kernel's name in a list.
_SEPARATORS = re.compile(r"[/!]")


@dataclass(frozen=True)
class Contents:
    """Contents of a dispatch's files, from a look at their start."""

    #: Kernels that traced waves entered, else those of waves on other CUs: as in the code, and demangled.
    kernels: tuple[tuple[str, str], ...] = ()
    has_waves: bool = True  #: Whether a wave was traced, or may have been.
    others: tuple[tuple[str, str], ...] = ()  #: Kernels of which no wave was traced, where `kernels` were.
    is_partial: bool = False  #: Whether more kernels may follow behind the part that was looked at.
    #: Of traced waves; of a long buffer, as many as its whole has if it goes on like its start. None = not counted.
    instruction_count: int | None = None

    @property
    def is_runtime(self) -> bool:
        """True if all its kernels belong to the runtime; not known = no."""
        return bool(self.kernels) and all(is_runtime_kernel(name) for name, _ in self.kernels)

    def has_kernel(self, part: str) -> bool:
        """True if the name of one of the kernels contains the part."""
        return any(part in name for names in (*self.kernels, *self.others) for name in names)

    @property
    def title(self) -> str:
        """The kernels in a few words; empty = not known."""
        if not self.kernels:
            return ""
        more = f" and {len(self.kernels) - 1:,} more" if len(self.kernels) > 1 else ""
        return shortened(kernel_title(self.kernels[0][1]), _NAME_WIDTH) + more


@dataclass(frozen=True)
class Dispatch(Generic[T]):
    """One dispatch of an input, and what tells it from the others."""

    item: T  #: What its reader needs.
    number: int | None
    agent: int | None
    pid: int | None
    path: str  #: Of its folder, below the input.
    name: str  #: Of its own folder, if it has one.
    size: Callable[[], tuple[int, ...]] = field(repr=False)  #: How full it is; the largest is the fullest.
    look: Callable[[], Contents] = field(repr=False)
    #: No more instructions fit into its files: one that has as many already need not look at it.
    instruction_count_max: Callable[[], float] = field(repr=False, default=lambda: math.inf)
    key: str = ""  #: What `--dispatch` takes for it; empty = it is the only one and has no number.

    @cached_property
    def contents(self) -> Contents:
        """Its kernels, looked up once."""
        return self.look()

    @property
    def title(self) -> str:
        """Key and kernel."""
        facts = [self.contents.title, "" if self.contents.has_waves else "no wave traced"]
        words = ", ".join(fact for fact in facts if fact)
        return f"{self.key or 'without a number'}{f' ({words})' if words else ''}"


def with_keys(dispatches: Sequence[Dispatch[T]]) -> list[Dispatch[T]]:
    """The dispatches with their keys, in order of place and number.

    The key is the number (`3`). Where several have it, what tells them apart follows: the folder (`3@run_b`), the
    agent (`3@5600`), the process, or as many of these as are needed (`3@run_b/5600`).
    """
    of_number: dict[int | None, list[tuple[Dispatch[T], tuple[str, ...]]]] = {}
    for dispatch, words in zip(dispatches, _words(dispatches), strict=True):
        of_number.setdefault(dispatch.number, []).append((dispatch, words))
    with_key = []
    for number, group in of_number.items():
        endings = _endings([words for _, words in group])
        start = "" if number is None else str(number)
        with_key += [replace(dispatch, key=start + end) for (dispatch, _), end in zip(group, endings, strict=True)]
    return sorted(with_key, key=lambda d: (d.path, d.agent or 0, d.pid or 0, d.number is None, d.number or 0, d.name))


def _words(dispatches: Sequence[Dispatch[T]]) -> list[tuple[str, ...]]:
    """Words that may tell each dispatch from the others: folder, agent, process and name, the preferred ones first.

    Where all folders are only called after their agents, the folder comes behind agent and process.
    """
    folders = _distinct_parts([dispatch.path for dispatch in dispatches])
    agents = ["" if dispatch.agent is None else str(dispatch.agent) for dispatch in dispatches]
    pids = ["" if dispatch.pid is None else str(dispatch.pid) for dispatch in dispatches]
    names = [dispatch.name for dispatch in dispatches]
    if all(agent and agent in folder for agent, folder in zip(agents, folders, strict=True)):
        return list(zip(agents, pids, folders, names, strict=True))
    return list(zip(folders, agents, pids, names, strict=True))


def _endings(own_words: Sequence[tuple[str, ...]]) -> list[str]:
    """`@` and the fewest words that tell dispatches of one number apart; empty where there is only one."""
    if len(own_words) == 1:
        return [""]
    places = range(len(own_words[0]))
    for subset in (subset for count in places for subset in combinations(places, count + 1)):
        parts = [tuple(words[place] for place in subset) for words in own_words]
        if all(map(all, parts)) and len(set(parts)) == len(parts):
            return [f"@{'/'.join(part)}" for part in parts]
    return [f"@{'/'.join(word for word in words if word)}" for words in own_words]


def _distinct_parts(paths: Sequence[str]) -> list[str]:
    """The paths without the folders at their start and end that all of them have."""
    parts = [_parts(path) for path in paths]
    if len({tuple(words) for words in parts}) < 2:
        return ["/".join(words) for words in parts]
    shortest = min(map(len, parts))
    start = next((n for n in range(shortest) if len({words[n] for words in parts}) > 1), shortest)
    end = next((n for n in range(shortest - start) if len({words[-1 - n] for words in parts}) > 1), shortest - start)
    distinct = [words[start : len(words) - end] for words in parts]
    return ["/".join(words) for words in (distinct if all(distinct) else parts)]


def _parts(path: str) -> list[str]:
    return [part for part in _SEPARATORS.split(path) if part]


def named(dispatches: Sequence[Dispatch[T]], name: int | str) -> list[Dispatch[T]]:
    """The dispatches that a number, a key, or a number with any of its words (`3@run_b`) means."""
    text = str(name)
    exact = [dispatch for dispatch in dispatches if dispatch.key == text]
    if exact:
        return exact
    number, _, where = text.partition("@")
    words = _parts(where)
    with_number = [d for d in dispatches if number in ("", "" if d.number is None else str(d.number))]
    return [d for d in with_number if {*_parts(d.path), d.name, str(d.agent), str(d.pid)}.issuperset(words)]


def choose(
    dispatches: Sequence[Dispatch[T]], name: int | str | None = None, kernel: str | None = None, *, where: str = ""
) -> Dispatch[T]:
    """The dispatch that is meant by number or key, and by a part of its kernel's name; else the preferred one.

    Preferred are dispatches with traced waves and instructions, of these kernels of the program before those of the
    runtime, of these the one with the most instructions, of these the largest. Raises `UsageError` when there is none,
    or when a number or key stands for several.
    """
    possible = list(dispatches) if name is None else named(dispatches, name)
    if not possible:
        problem = f"no dispatch {name}" if dispatches else "no thread trace"
        raise UsageError(problem, where=where, advice=f"there are: {listed(dispatches)}" if dispatches else "")
    if kernel is not None:
        possible = _of_kernel(possible, kernel, where)
    if len(possible) == 1:
        return possible[0]
    if name is not None:
        problem = f"{counted(len(possible), 'dispatches')} are called {name}"
        raise UsageError(problem, where=where, advice=f"choose one with --dispatch: {listed(possible)}")
    return _preferred(possible)


def _of_kernel(dispatches: Sequence[Dispatch[T]], kernel: str, where: str) -> list[Dispatch[T]]:
    matches = [d for d in dispatches if d.contents.has_kernel(kernel)]
    matches = matches or [d for d in dispatches if d.contents.is_partial or not d.contents.kernels]
    if not matches:
        problem = f"no dispatch of a kernel whose name contains {kernel!r}"
        raise UsageError(problem, where=where, advice=f"there are: {listed(dispatches)}")
    return matches


def _preferred(dispatches: Iterable[Dispatch[T]]) -> Dispatch[T]:
    """The best one; of several that are as good, the largest. Those that cannot be better are not looked at."""
    by_size = sorted(dispatches, key=lambda dispatch: dispatch.size(), reverse=True)
    best = by_size[0]
    for dispatch in by_size[1:]:
        *is_good, count = _merit(best.contents)
        if all(is_good) and dispatch.instruction_count_max() <= count:
            continue
        if _merit(dispatch.contents) > _merit(best.contents):
            best = dispatch
    return best


def _merit(contents: Contents) -> tuple[bool, bool, bool, int]:
    count = contents.instruction_count
    return contents.has_waves, count != 0, not contents.is_runtime, count or 0


def listed(dispatches: Sequence[Dispatch[T]]) -> str:
    """Keys and kernels in a line."""
    return some_of(dispatches, _LISTED, lambda dispatch: dispatch.title)
