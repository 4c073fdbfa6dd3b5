"""The table of rocprofv3's options (options.toml), read once."""

from __future__ import annotations

import tomllib
from functools import cache
from importlib.resources import files
from typing import Any

from wavewright.capture.rocprofv3.option import Alias, Kind, Option, Version

#: What --att-activity stands for: eight SQ counters, sampled at the period that it gives.
ACTIVITY_COUNTERS = (
    "SQ_BUSY_CU_CYCLES",
    "SQ_VALU_MFMA_BUSY_CYCLES",
    "SQ_ACTIVE_INST_VALU",
    "SQ_ACTIVE_INST_LDS",
    "SQ_ACTIVE_INST_VMEM",
    "SQ_ACTIVE_INST_FLAT",
    "SQ_ACTIVE_INST_SCA",
    "SQ_ACTIVE_INST_MISC",
)
#: Keys of an input file that are not options -> first release: groups of counters that take turns over the launches.
FILE_ONLY_KEYS: dict[str, str] = {"pmc_groups": "7.0", "pmc_group_interval": "7.0"}


@cache
def groups() -> dict[str, tuple[Option, ...]]:
    """Headings for documents -> options."""
    text = files("wavewright.capture.rocprofv3").joinpath("options.toml").read_text("utf-8")
    tables = tomllib.loads(text)
    return {title: tuple(_option(name, row) for name, row in rows.items()) for title, rows in tables.items()}


@cache
def all_options() -> dict[str, Option]:
    """Every option of any release, by its name."""
    return {option.name: option for group in groups().values() for option in group}


@cache
def options_in(version: Version) -> dict[str, Option]:
    """Every name that a release takes, aliases and hidden options included -> its option."""
    present = [option for option in all_options().values() if option.exists_in(version)]
    return {name: option for option in present for name in option.names_in(version)}


@cache
def option_named(name: str) -> Option | None:
    """The option that any release calls so; None = there is no such option."""
    for option in all_options().values():
        if name == option.name or any(name == alias.name for alias in option.aliases):
            return option
    return None


def _option(name: str, row: dict[str, Any]) -> Option:
    since, _, last = row.pop("releases").partition("-")
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
