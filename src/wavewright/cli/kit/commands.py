"""One verb about several kinds of documents: the paths or the options of a command line say which kind is meant."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from wavewright.cli.kit.options import arguments
from wavewright.cli.kit.verbs import read_declaration

if TYPE_CHECKING:
    from collections.abc import Callable

#: Kinds of documents, in words.
KINDS = {"trace": "thread traces", "run": "runs", "counters": "counter captures"}


class CommandOfKinds(click.Command):
    """A verb about several kinds of documents: shows the options of all, and runs the command of the one that is meant.

    `choose` takes the arguments, and for each given option the first of the `commands` that has it, by its kind; it
    returns the kind that is meant.
    """

    def __init__(
        self, name: str, commands: dict[str, click.Command], choose: Callable[[list[str], set[str]], str]
    ) -> None:
        declared = read_declaration("cli", "options", name)
        params = arguments(declared)
        self.kind_of_option: dict[str, str] = {}
        for kind, command in commands.items():
            options = [each for each in command.params if isinstance(each, click.Option)]
            more = [each for each in options if not self.kind_of_option.keys() & {*each.opts}]
            params += more
            self.kind_of_option |= {option: kind for each in more for option in each.opts}
        super().__init__(name, params=params, help=declared["help"])
        self.commands, self.choose = commands, choose

    def make_context(
        self, info_name: str | None, args: list[str], parent: click.Context | None = None, **extra: Any
    ) -> click.Context:
        """The context of the command that is meant."""
        if {"-h", "--help"} & set(args):
            return super().make_context(info_name, args, parent, **extra)
        kinds = {self.kind_of_option.get(word.partition("=")[0], "") for word in args}
        kind = self.choose(self._arguments(args), kinds)
        try:
            return self.commands[kind].make_context(info_name, args, parent=parent, **extra)
        except click.NoSuchOption as error:
            if error.option_name not in self.kind_of_option:
                raise
            from wavewright.errors import UsageError

            what = f"{error.option_name} does not apply to {KINDS[kind]}"
            raise UsageError(what, advice=f"`wavewright {info_name} --help` says which options are for what") from error

    def _arguments(self, args: list[str]) -> list[str]:
        """The words that are arguments, neither options nor their values; none if there are mistakes."""
        context = click.Context(self, resilient_parsing=True)
        try:
            values, _, _ = self.make_parser(context).parse_args(list(args))
        except click.UsageError:  # the command of the kind reports it
            return []
        return list(values.get("paths") or ())
