"""`wavewright capture`: from a program and a GPU to data that are worth reading."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

from wavewright.cli.kit.lazy_group import LazyGroup
from wavewright.cli.kit.options import own_command
from wavewright.cli.kit.verbs import read_declaration

if TYPE_CHECKING:
    import click

_DECLARED = read_declaration("cli", "options", "capture", "groups")
_OF_MANY = ("pool", "status")  #: Subcommands about many captures.
_OF_INPUT = ("-i", "--input")  #: Options that name an input file of rocprofv3, as rocprofv3 itself spells them.


class _Subcommands(LazyGroup):
    """All captures."""

    by_heading, path, noun = _DECLARED["headings"], "wavewright capture", "capture"
    elsewhere = "lists what can be captured"

    def load(self, name: str) -> click.Command:
        if name in _OF_MANY:
            return own_command(("capture", name), f"capture.pool:{name}")
        command: click.Command = getattr(import_module("wavewright.cli.capture.recordings"), name)
        return command

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        if args and args[0].startswith(_OF_INPUT):
            args = ["input", *args]
        return super().parse_args(ctx, args)


command = _Subcommands("capture", help=_DECLARED["help"])
#: Every subcommand with what it does.
SUBCOMMANDS = command.sentences
