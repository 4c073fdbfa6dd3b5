"""The stall classes: which there are, which stall belongs to which, and the words about each, from stall_classes.toml.

The file declares the kinds of operations that waits wait for (`Producer`), the classes (`StallClass`), and the words
and remedies that a diagnosis gives for classes, gaps, empty slots and busy pipes. A wait for several kinds of
operations has a class that is not in the file: `wait_class` composes it, `stall_class` finds it by its name.
"""

from __future__ import annotations

from functools import cache

from wavewright.facts.loader import Fact, FactTable, decoded, packaged

_FILE = "stall_classes.toml"


class Producer(Fact, frozen=True):
    """A kind of operation that waits wait for: its classes of code, and the remedy."""

    name: str
    classes: tuple[str, ...]
    meaning: str
    remedy: str


class StallClass(Fact, frozen=True):
    """A reason to stall.

    `kind` is `wait` (for operations in flight), `issue` (the instruction itself could not be issued), `busy` (its pipe
    had other work: nothing is lost), `padding` (cycles that the code asks for) or `sync` (for other waves).
    """

    name: str
    kind: str
    meaning: str
    remedy: str = ""
    code_classes: tuple[str, ...] = ()  #: `code.class` of the instructions whose own stall this is.
    categories: tuple[int, ...] = ()  #: `instructions.category` that decides for the other instructions.
    if_busy: str = ""  #: Class of the same instructions while their pipe has other work; empty = none of its own.


class StallRemedy(Fact, frozen=True):
    """A remedy for a row of a class of stalls."""

    name: str
    text: str  #: `{accesses}` stands for the accesses by their width.
    fits: str  #: Name of the condition (`analysis.trace.diagnose.remedies`).


class RemedyClause(Fact, frozen=True):
    """A remedy that only some captures can use."""

    of: tuple[str, ...]  #: Kinds of producers, classes, gaps or findings of the grid that it is for.
    needs: str  #: Name of the condition (`analysis.trace.diagnose.remedies`).
    text: str


class GapWords(Fact, frozen=True):
    """The words for a cause of gaps, or a pool of them."""

    name: str
    verdict: str
    reason: str
    remedy: str


class GridWords(Fact, frozen=True):
    """The words for one reason why slots hold no wave."""

    name: str
    verdict: str
    remedy: str


class IssueWords(Fact, frozen=True):
    """The words for one pipe of a SIMD that issues most of the time."""

    name: str
    instructions: str
    prefixes: tuple[str, ...]  #: Of the texts of its instructions.
    remedy: str


class PlanWords(Fact, frozen=True):
    """Rules by which findings become a plan: from which gain on they go first, and how much their remedies change."""

    high_gain_share: float
    medium_gain_share: float
    effort_of_remedy: dict[str, tuple[str, ...]]
    effort_of_kind: dict[str, tuple[str, ...]]  #: Of the finding, for remedies that are not named above.

    def effort(self, kind: str, remedy: str = "") -> str:
        """small, medium or large."""
        efforts = (word for word, names in self.effort_of_remedy.items() if remedy in names)
        return next(efforts, None) or next(word for word, kinds in self.effort_of_kind.items() if kind in kinds)


_DECLARED = FactTable(_FILE, StallClass, "classes")
GAP_WORDS = FactTable(_FILE, GapWords, "gaps")  #: By the cause.
GRID_WORDS = FactTable(_FILE, GridWords, "grid")  #: By the name of the finding.
ISSUE_WORDS = FactTable(_FILE, IssueWords, "issue")  #: By the pipe.
#: Kinds of producers; their place in this list is their bit in the masks of the native pass.
PRODUCERS: tuple[Producer, ...] = tuple(FactTable(_FILE, Producer, "producers").values())
#: `code.class` -> place in PRODUCERS.
PRODUCER_OF_CLASS: dict[str, int] = {name: bit for bit, producer in enumerate(PRODUCERS) for name in producer.classes}

CACHE_BIT = 1 << PRODUCER_OF_CLASS["vmem_invalidate"]  #: Mask of the producer kind `cache`.
UNRESOLVED, OTHER_ISSUE = _DECLARED["wait unresolved"], _DECLARED["other issue"]

#: Stall class -> the class of the same instructions while their pipe has other work.
BUSY_OF: dict[str, str] = {declared.name: declared.if_busy for declared in _DECLARED.values() if declared.if_busy}
#: `code.class` -> its own stall, where the category does not decide.
OWN_CLASS: dict[str, StallClass] = {name: entry for entry in _DECLARED.values() for name in entry.code_classes}
#: `instructions.category` -> pressure on which pipe.
ISSUE_OF_CATEGORY: dict[int, StallClass] = {n: entry for entry in _DECLARED.values() for n in entry.categories}
#: Classes whose instructions would not be there at all if the cause were gone: padding and spills.
REMOVABLE_CLASSES = frozenset(entry.name for entry in _DECLARED.values() if entry.kind == "padding") | {"scratch issue"}


def wait_class(mask: int) -> StallClass:
    """Class of the waits for the producers in `mask` (bit n = PRODUCERS[n]); several make a mixture.

    >>> wait_class(0b10).name, wait_class(0b110).name, wait_class(0).name
    ('wait LDS', 'wait LDS + vector load', 'wait for nothing')
    """
    producers = [producer for number, producer in enumerate(PRODUCERS) if mask >> number & 1]
    if not producers:
        return _DECLARED["wait for nothing"]
    name = "wait " + " + ".join(producer.name for producer in producers)
    meaning = "waits for " + " and ".join(producer.meaning for producer in producers)
    if len(producers) > 1:
        meaning += "; which of them came last cannot be told"
    return StallClass(name, "wait", meaning, "; ".join(producer.remedy for producer in producers))


#: Waits for one producer. Producer 0 is `unknown`: its waits are of the class `wait unresolved`.
_WAITS = [wait_class(1 << bit) for bit in range(1, len(PRODUCERS))]
CLASSES = {entry.name: entry for entry in (*_WAITS, *_DECLARED.values())}  #: Every class but the mixtures, by name.


def stall_class(name: str) -> StallClass:
    """The class of that name, mixtures included. Raises `KeyError` when there is no such class."""
    if name in CLASSES:
        return CLASSES[name]
    if not name.startswith("wait "):
        raise KeyError(name)
    bits = {producer.name: 1 << number for number, producer in enumerate(PRODUCERS)}
    return wait_class(sum({bits[part] for part in _mixed_producers(name)}))


def _mixed_producers(wait_name: str) -> list[str]:
    """Names of the producers in the name of a class of waits, `wait LDS + vector load`."""
    return wait_name.removeprefix("wait ").split(" + ")


def busy_class(declared: StallClass) -> StallClass:
    """The class of a stall during which the port of the instruction was taken."""
    return _DECLARED[declared.if_busy] if declared.if_busy else declared


@cache
def stall_remedies() -> dict[str, tuple[StallRemedy, ...]]:
    """Group of stall classes -> remedies in the order to try them in."""
    return decoded(packaged(_FILE)["remedies"], dict[str, tuple[StallRemedy, ...]], where=f"{_FILE}, remedies")


@cache
def all_clauses() -> tuple[RemedyClause, ...]:
    """Remedies with a condition."""
    return decoded(packaged(_FILE)["clauses"], tuple[RemedyClause, ...], where=f"{_FILE}, clauses")


def remedy_clauses(name: str) -> list[RemedyClause]:
    """Remedies with a condition for a stall class, mixtures of waits included, a gap or a finding of the grid."""
    names = {name, *_mixed_producers(name)} if name.startswith("wait ") else {name}
    return [clause for clause in all_clauses() if names & set(clause.of)]


@cache
def plan_words() -> PlanWords:
    """The declared plan."""
    return decoded(packaged(_FILE)["plan"], PlanWords, where=f"{_FILE}, plan")
