"""`wavewright capture`: from a program and a GPU to data that are worth reading."""

from __future__ import annotations

from typing import Any

import click

from wavewright.base.shown import command_line
from wavewright.cli.kit.lazy_group import DeclaredGroup
from wavewright.cli.kit.options import options, own_command
from wavewright.cli.kit.verbs import read_declaration
from wavewright.errors import UsageError

_OF_MANY = ("pool", "status")  #: Subcommands about many captures.
_OF_INPUT = ("-i", "--input")  #: Options that name an input file of rocprofv3, as rocprofv3 itself spells them.
_PROGRAM, _TYPED = "wavewright.program", "wavewright.typed"  #: Keys of click's context: the program, and all words.
_SHOWN_WORDS, _LONGEST_WORD = 12, 60  #: Of a program, in messages.


class _Subcommands(DeclaredGroup):
    """All captures."""

    noun, elsewhere = "capture", "lists what can be captured"

    def load(self, name: str) -> click.Command:
        if name in _OF_MANY:
            return own_command(("capture", name), f"capture.pool:{name}")
        return _program_command(name)

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        if args and args[0].startswith(_OF_INPUT):
            args = ["input", *args]
        return super().parse_args(ctx, args)


class _ProgramCommand(click.Command):
    """A command whose own options end at `--`; what follows is the program, word by word."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Parse the options in front of `--`; UsageError when a program stands there without `--`."""
        place = args.index("--") if "--" in args else len(args)
        ctx.meta[_PROGRAM], ctx.meta[_TYPED] = tuple(args[place + 1 :]), tuple(args)
        ctx.allow_interspersed_args = any(isinstance(each, click.Argument) for each in self.params)
        ctx.allow_extra_args = True
        rest = super().parse_args(ctx, args[:place])
        if ctx.args and not ctx.resilient_parsing:
            word = ctx.args[0][:_LONGEST_WORD]
            if place < len(args):
                raise UsageError(f"{word!r} stands before --", advice="options first, then -- and the program")
            ours = args[: place - len(ctx.args)]
            program = ctx.args[:_SHOWN_WORDS] + (["..."] if len(ctx.args) > _SHOWN_WORDS else [])
            again = f"wavewright capture {ctx.info_name} {command_line([*ours, '--', *program])}"
            raise UsageError(f"{word!r} has no -- before it", advice=f"write -- before the program: {again}")
        return rest

    def collect_usage_pieces(self, ctx: click.Context) -> list[str]:
        """The options, and the program behind `--`."""
        return [*super().collect_usage_pieces(ctx), "-- PROGRAM..."]


def _program_command(name: str) -> click.Command:
    """The command that takes a capture of a program: its own options, and those that all captures have."""
    declared = read_declaration("cli", "options", "capture", name)
    shared = read_declaration("cli", "options", "capture", "common")
    common = options(shared["common"])

    def run(**given: Any) -> None:
        from wavewright.cli.capture import recordings  # `--help` needs none of it
        from wavewright.cli.kit.capture import request_of

        context = click.get_current_context()
        common_values = {each.name or "": given.pop(each.name or "") for each in common if each.expose_value}
        request = request_of(name, context.meta.get(_PROGRAM, ()), common_values)
        if request.place is None:
            getattr(recordings, name)(request, **given)
        else:
            recordings.take_elsewhere(request, name, context.meta[_TYPED])

    parameters = [*options([{"like": "brief"}]), *options(declared.get("option", ()), shared), *common]
    return _ProgramCommand(name, params=parameters, help=declared["help"], callback=run)


command = _Subcommands("capture")
#: Every subcommand with what it does.
SUBCOMMANDS = command.sentences
