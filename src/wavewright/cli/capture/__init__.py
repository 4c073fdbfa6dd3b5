"""`wavewright capture`: from a program and a GPU to data that are worth reading; one module per subcommand."""

from __future__ import annotations

from importlib import import_module

import click

#: Subcommands by what they are for, in the order of `--help`.
_GROUPS = {
    "Take a capture of a program": {
        "discover": "Which kernels run, how often and how long; which one to look at, and which of its launches.",
        "att": "Thread traces: where the waves of a kernel spend their cycles.",
        "counters": "Hardware counters: what the units of the GPU did, in as many passes as it takes.",
        "samples": "PC samples: where the whole program spends its GPU time, instruction by instruction.",
        "run": "A trace of the whole program: kernels, HIP calls, copies, markers.",
        "input": "Check an input file of rocprofv3, and run it; `capture -i FILE` is the same.",
    },
    "Many captures": {
        "pool": "The jobs of a file on many GPUs: locked, resumable, on one machine or with Dask.",
        "status": "How far the captures below a folder are, and what became of each.",
    },
}

#: Every subcommand with what it does.
SUBCOMMANDS = {name: text for commands in _GROUPS.values() for name, text in commands.items()}
#: Modules of subcommands about many captures.
_OF_MODULE = {"pool": "pool", "status": "pool"}
_LONGEST_WORD = 40
_OF_INPUT = ("-i", "--input")  #: Options that name an input file of rocprofv3, as rocprofv3 itself spells them.


class _Subcommands(click.Group):
    """Imports a subcommand's module when it is asked for."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return sorted(SUBCOMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in SUBCOMMANDS:
            return None
        module = import_module(f"wavewright.cli.capture.{_OF_MODULE.get(cmd_name, 'recordings')}")
        command: click.Command = getattr(module, cmd_name)
        return command

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        if args and args[0].startswith(_OF_INPUT):
            args = ["input", *args]
        return super().parse_args(ctx, args)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        from wavewright.errors import UsageError

        word = click.utils.make_str(args[0])
        if word not in SUBCOMMANDS and not word.startswith("-") and not ctx.resilient_parsing:
            from wavewright.cli.kit.suggestions import captures_meant

            meant = [f"wavewright capture {name} ({SUBCOMMANDS[name]})" for name in captures_meant(word, SUBCOMMANDS)]
            advice = "; or ".join(meant) if meant else "wavewright capture --help lists what can be captured"
            raise UsageError(f"there is no capture {word[:_LONGEST_WORD]!r}", advice=advice)
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        for what, commands in _GROUPS.items():
            formatter.write_paragraph()
            formatter.write_text(what)
            with formatter.indentation():
                formatter.write_dl(list(commands.items()))


@click.group(cls=_Subcommands)
def command() -> None:
    """Run a program under ROCm's profiler and judge what it left: a capture that is worth reading, or the reason.

    The program and its arguments stand behind `--`. Every capture takes --dry-run, which prints the command of any
    release of ROCm and runs nothing; it needs neither a GPU nor ROCm. --json prints events as lines.

    \b
    wavewright capture att -- python bench.py
    wavewright capture discover --dry-run --rocm-version 7.2 -- ./gemm 4096
    wavewright capture -i input.yaml -- python bench.py
    """
