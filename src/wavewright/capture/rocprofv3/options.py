"""Options of rocprofv3 (options.toml): since when each exists, what it takes, and which variables it hands on."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cache
from typing import Any, NamedTuple

from wavewright.facts.loader import packaged

Version = tuple[int, ...]
#: Keys of an input file that are not options -> first release: groups of counters that take turns over the launches.
FILE_ONLY_KEYS: dict[str, str] = {"pmc_groups": "7.0", "pmc_group_interval": "7.0"}


def version_of(text: str) -> Version:
    """A version as numbers that can be compared; empty when the text does not start with one."""
    match = re.match(r"\d{1,9}(?:\.\d{1,9})*", text.strip())
    return tuple(map(int, match[0].split("."))) if match else ()


def is_within(version: Version, since: str, last: str = "") -> bool:
    """True when a release is one of `since` ... `last`, both included; later corrections of `last` belong to it."""
    newest = version_of(last)
    first = version_of(since)
    padded = version + (0,) * (len(first) - len(version))
    return padded >= first and (not newest or version[: len(newest)] <= newest)


class Kind(StrEnum):
    """The values of an option."""

    NOTHING = "nothing"
    BOOLEAN = "yes or no"  #: Optional; without it yes. ROCm 6.2 takes none.
    TEXT = "text"
    FILE = "file"
    WORDS = "words"  #: At least one; they end at the next option.
    ANY_WORDS = "words or none"
    INTEGER = "integer"  #: Decimal.
    NUMBER = "number"  #: Decimal or 0x...; no unit.
    CHOICE = "one of"
    CHOICES = "some of"


class Alias(NamedTuple):
    """Another name of an option, and the releases in which it is one."""

    name: str
    since: str = ""  #: Empty = as long as the option.
    last: str = ""


@dataclass(frozen=True, kw_only=True)
class Option:
    """One option of the script."""

    name: str
    kind: Kind
    since: str  #: First release that has it.
    last: str = ""  #: Last release that has it; empty = the newest has it.
    aliases: tuple[Alias, ...] = ()
    #: Variable -> what it holds, `{}` being the value: words joined, numbers in decimal. No {} = this text.
    variables: dict[str, str] = field(default_factory=dict, hash=False)
    joint: str = " "  #: Between several words in a variable.
    in_files: bool = True  #: Whether an input file can set it.
    choices: dict[str, str] = field(default_factory=dict, hash=False)  #: Value -> first release that takes it.
    implies: tuple[str, ...] = ()  #: Options that it switches on, where the release has them.
    is_hidden: bool = False  #: Not listed by --help.
    is_tracing: bool = False  #: Counts as something to collect.
    meaning: str  #: In our words.

    @property
    def key(self) -> str:
        """Its name in an input file."""
        return self.name.removeprefix("--").replace("-", "_")

    def exists_in(self, version: Version) -> bool:
        """True when the script of a release has it."""
        return is_within(version, self.since, self.last)

    def choices_in(self, version: Version) -> tuple[str, ...]:
        """The values that a release takes; empty = any."""
        return tuple(value for value, since in self.choices.items() if is_within(version, since))


@cache
def groups() -> dict[str, tuple[Option, ...]]:
    """Headings for documents -> options."""
    tables = packaged("options.toml", __package__)
    return {title: tuple(_option(name, dict(row)) for name, row in rows.items()) for title, rows in tables.items()}


@cache
def all_options() -> dict[str, Option]:
    """Every option of any release, by its name."""
    return {option.name: option for group in groups().values() for option in group}


@cache
def options_in(version: Version) -> dict[str, Option]:
    """Every name that a release takes, aliases and hidden options included -> its option."""
    names = {name: option for name, option in all_options().items() if option.exists_in(version)}
    for option in tuple(names.values()):
        present = [alias for alias in option.aliases if is_within(version, alias.since or option.since, alias.last)]
        names |= {alias.name: option for alias in present}
    return names


@cache
def option_named(name: str) -> Option | None:
    """The option that any release calls so; None = there is no such option."""
    options = all_options().values()
    return next((known for known in options if name in (known.name, *(alias.name for alias in known.aliases))), None)


def _option(name: str, row: dict[str, Any]) -> Option:
    since, last = _span(row.pop("releases"))
    aliases = [alias.partition("@") for alias in row.pop("aliases", "").split()]
    values = [value.partition("@") for value in row.pop("choices", "").split()]
    settings = [setting.partition("=") for setting in row.pop("sets", "").split(" | ") if setting]
    return Option(
        name=name,
        kind=Kind(row.pop("kind")),
        since=since,
        last=last,
        aliases=tuple(Alias(alias, *_span(releases)) for alias, _, releases in aliases),
        variables={variable: content for variable, _, content in settings},
        choices={value: first or since for value, _, first in values},
        implies=tuple(row.pop("implies", "").split()),
        **row,
    )


def _span(releases: str) -> tuple[str, str]:
    since, _, last = releases.partition("-")
    return since, last
