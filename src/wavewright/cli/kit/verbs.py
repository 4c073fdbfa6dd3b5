"""Every verb: those that answer declared questions, and those that do something else."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, NamedTuple

from wavewright.questions.catalog import every_question
from wavewright.questions.kit import groups

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from wavewright.questions.kit.question import Question

_HERE = os.path.dirname(__file__)  # noqa: PTH120 - no pathlib in `--help`


def read_declaration(*words: str) -> dict[str, Any]:
    """The TOML file at this path below the package, without its ending."""
    import tomllib

    with open(os.path.join(_HERE, "..", "..", *words) + ".toml", "rb") as file:  # noqa: PTH118, PTH123 - as above
        return tomllib.load(file)


class Verb(NamedTuple):
    """A verb that is not the answer to a declared question, as `cli/verbs.txt` explains it."""

    group: str
    sentence: str
    then: Sequence[str] = ()  #: Verbs that are offered next, with the same paths.
    then_by_kind: Mapping[str, Sequence[str]] = {}  #: Kind of document -> the same, where the kind matters.
    then_alone: Sequence[str] = ()  #: Commands that are offered where no path was given.


def _own_verbs() -> Iterator[tuple[str, Verb]]:
    with open(os.path.join(_HERE, "..", "verbs.txt"), encoding="utf-8") as file:  # noqa: PTH118, PTH123 - as above
        lines = [line for line in file if not line.startswith("#")]
    for line in lines:
        name, group, next_verbs, alone, sentence = (field.strip() for field in line.split("|"))
        by_kind = dict(part.split(": ") for part in next_verbs.split("; ")) if ":" in next_verbs else {}
        commands = {kind: _listed(verbs) for kind, verbs in by_kind.items()}
        yield name, Verb(group, sentence, () if by_kind else _listed(next_verbs), commands, _listed(alone))


def _listed(words: str) -> tuple[str, ...]:
    return tuple(words.split(", ")) if words else ()


OWN_VERBS = dict(_own_verbs())


def _verbs_by_group() -> dict[str, dict[str, str]]:
    titles: dict[str, dict[str, str]] = {title: {} for title in groups.GROUPS}
    for name, verb in OWN_VERBS.items():
        titles[getattr(groups, verb.group)][name] = verb.sentence
    for question in every_question():
        if not any(question.verb_name in verbs for verbs in titles.values()):
            titles[question.heading][question.verb_name] = question.sentence
    return titles


#: Heading of `--help` -> verbs with the sentence of what they answer or do.
VERBS_BY_GROUP = _verbs_by_group()
#: Every verb with its sentence.
VERBS = {name: sentence for verbs in VERBS_BY_GROUP.values() for name, sentence in verbs.items()}


def question_of_verb(verb: str) -> Question[Any] | None:
    """The first question that a verb answers; None = it does something else."""
    if verb in OWN_VERBS:
        return None
    return next((question for question in every_question() if question.verb_name == verb), None)


def full_help(question: Question[Any], details: str) -> str:
    """The help of a verb: its question as everywhere, then what only its help says."""
    from inspect import cleandoc

    details = cleandoc(details)
    return details if details.startswith(question.sentence) else f"{question.sentence}\n\n{details}".rstrip()
