"""Groups of commands that are imported when they are asked for, listed below headings."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from wavewright.cli.kit.options import own_command
from wavewright.cli.kit.verbs import read_declaration

if TYPE_CHECKING:
    from collections.abc import Mapping

_LONGEST_WORD = 40


class LazyGroup(click.Group):
    """Imports a command when it is asked for, so that `--help` stays fast; knows what a wrong word may mean."""

    by_heading: Mapping[str, Mapping[str, str]]  #: Heading of `--help` -> commands with a sentence each.
    path: str  #: The group as it is typed.
    noun: str  #: A command of it, in messages.
    elsewhere: str  #: Where all of them are found.

    @property
    def sentences(self) -> dict[str, str]:
        """Every command with its sentence."""
        return {name: sentence for commands in self.by_heading.values() for name, sentence in commands.items()}

    def load(self, name: str) -> click.Command:
        """The command of that name."""
        raise NotImplementedError

    def list_commands(self, ctx: click.Context) -> list[str]:
        """The names of all commands."""
        return sorted(self.sentences)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """The command of that name, imported."""
        return self.load(cmd_name) if cmd_name in self.sentences else None

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """The command that words name; UsageError with what may be meant where they name none."""
        word, sentences = click.utils.make_str(args[0]), self.sentences
        is_known = word in sentences or word.startswith("-") or ctx.resilient_parsing
        if not is_known and self.get_command(ctx, word) is None:
            from wavewright.cli.kit.suggestions import commands_meant
            from wavewright.errors import UsageError

            names = commands_meant(word, sentences, self.noun)
            meant = [f"{self.path} {name} ({sentences[name]})" for name in names]
            advice = "; or ".join(meant) or f"{self.path} --help {self.elsewhere}"
            raise UsageError(f"there is no {self.noun} {word[:_LONGEST_WORD]!r}", advice=advice)
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the commands below their headings."""
        for heading, commands in self.by_heading.items():
            formatter.write_paragraph()
            formatter.write_text(heading)
            with formatter.indentation():
                formatter.write_dl(list(commands.items()))


class DeclaredGroup(LazyGroup):
    """A group whose commands `groups.toml` of its folder in `cli/options` lists; beside it is a file for each."""

    noun, elsewhere = "command", "lists them"

    def __init__(self, name: str) -> None:
        declared = read_declaration("cli", "options", name, "groups")
        self.by_heading, self.path = declared["headings"], f"wavewright {name}"
        super().__init__(name, help=declared["help"])

    def load(self, name: str) -> click.Command:
        """The command of that name, as NAME_command of the module of the group does it."""
        return own_command((str(self.name), name), f"{self.name}:{name}_command")
