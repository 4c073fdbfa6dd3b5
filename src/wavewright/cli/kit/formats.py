"""Formats that runs are written in."""

from __future__ import annotations

from typing import Any, NamedTuple

import click

from wavewright.base.plugins import EXPORTERS, plugins
from wavewright.cli.kit.verbs import read_declaration


class Format(NamedTuple):
    """A format that runs are written in, as `cli/kit/formats.toml` declares it."""

    writer: str  #: module:function of the package `export`; the function takes a run and a path, and `force`.
    meaning: str


FORMATS = {name: Format(**row) for name, row in read_declaration("cli", "kit", "formats").items()}
_ALIASES = {"perfetto": "pftrace", "kineto": "chrome"}  #: Names that users try.
#: What stands below the help of `convert`.
FORMATS_HELP = "\n".join(("\b", "Formats:", *(f"  {name:<11} {FORMATS[name].meaning}" for name in sorted(FORMATS))))


class FormatName(click.Choice):  # type: ignore[type-arg,unused-ignore]  # generic in newer versions of click only
    """One of `FORMATS`, or another name of one."""

    def __init__(self) -> None:
        super().__init__(sorted(FORMATS))

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """The name of the format."""
        if value not in FORMATS and value in plugins(EXPORTERS):
            return value
        return super().convert(_ALIASES.get(value, value), param, ctx)
