"""The command line: one module per verb, loaded when the verb is used."""

from __future__ import annotations

import gc
import os
import sys
from importlib import import_module

import click

__all__ = ["main", "program"]

_GROUPS = {
    "Open and convert": {
        "decode": "Decode raw thread traces into tables or a ui_output directory.",
        "demo": "Make a capture, decode it and tell what it shows; needs no GPU.",
        "info": "What is this, from which GPU, how complete, what to do next?",
    },
    "Where does the time go?": {
        "hotspots": "Which instructions, lines, blocks or loops take the cycles?",
        "loops": "How often do loops run, and what does an iteration cost?",
        "source": "The code or its source, line by line: heat, costs, and arrows to what waits.",
    },
    "Why does it wait?": {
        "barriers": "Which wave arrives last at each barrier, and what do the others lose?",
        "latency": "How long does each memory operation take, and how much of it is hidden?",
        "stalls": "What do the waves stall on, and what helps against it?",
        "waits": "Which instruction does each wait wait for, and how much earlier should it be issued?",
    },
    "Is the GPU full?": {
        "l2": "Does a kernel use L2 and memory well? From counters (CSV), not from a trace.",
        "occupancy": "How many waves fit on a SIMD, how many were there, what limits them?",
        "states": "What do waves do over time: states, busy pipes, residency, clock, counters?",
    },
    "Can I trust it?": {
        "coverage": "Which code, waves and lines does the trace cover, and what speaks against it?",
    },
    "What changed, what to do?": {
        "compare": "What changed between traces of the same kernel, and is it more than noise?",
        "diagnose": "What should be changed first? A plan with evidence, remedies and bounds.",
    },
}
"""Verbs by the question they answer, in the order of `--help`."""

_COLLECT_EVERY = 100_000
"""New objects between two searches for garbage: the imports of polars alone would trigger dozens of them."""

_VERBS = {name: text for verbs in _GROUPS.values() for name, text in verbs.items()}


class _LazyGroup(click.Group):
    """Imports a verb's module when it is asked for, so that `--help` stays fast."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return sorted(_VERBS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in _VERBS:
            return None
        command: click.Command = import_module(f"wavescope.cli.{cmd_name}").command
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        for question, verbs in _GROUPS.items():
            formatter.write_paragraph()
            formatter.write_text(question)
            with formatter.indentation():
                formatter.write_dl(list(verbs.items()))


@click.group(cls=_LazyGroup, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 120})
@click.version_option(package_name="wavescope", message="wavescope %(version)s")
@click.option("--debug", is_flag=True, hidden=True, help="Show tracebacks.")
def _group(debug: bool) -> None:
    """Decode, analyse and show AMD GPU performance data. No GPU and no ROCm needed.

    Every verb takes --help and --json. Shell completion: eval "$(_WAVESCOPE_COMPLETE=bash_source wavescope)"
    """


def main() -> None:
    """Run the command line and leave with an honest exit status.

    0 done, 2 wrong usage, 3 input unreadable, 4 input damaged (with --strict), 5 a tool is missing, 70 our bug.

    Examples
    --------
    >>> main()  # doctest: +SKIP
    """
    from wavescope.cli._io import BUG_EXIT_CODE, fail
    from wavescope.errors import WavescopeError

    try:
        _group(prog_name="wavescope", standalone_mode=False)
    except click.exceptions.Abort:
        click.echo("stopped", err=True)
        sys.exit(130)
    except click.exceptions.Exit as stop:
        sys.exit(stop.exit_code)
    except click.ClickException as error:
        error.show()
        sys.exit(error.exit_code)
    except WavescopeError as error:
        fail(error)
    except BrokenPipeError:  # the reader of our output (head, less) has seen enough: that is no failure
        import os

        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # Python flushes once more on its way out
        sys.exit(0)
    except BaseException as error:  # a panic inside polars is not an Exception
        if "--debug" in sys.argv or isinstance(error, KeyboardInterrupt | SystemExit):
            raise
        from importlib.metadata import version

        click.echo(
            f"error: this is a bug in wavescope {version('wavescope')}: {type(error).__name__}: {error}", err=True
        )
        click.echo("  try: run again as `wavescope --debug ...` and report what it prints", err=True)
        sys.exit(BUG_EXIT_CODE)


def program() -> None:
    """`main`, and then an end of the process without Python's tear-down, which would take a tenth of a second.

    Examples
    --------
    >>> program()  # doctest: +SKIP
    """
    gc.set_threshold(_COLLECT_EVERY)
    main()
    try:
        sys.stdout.flush()
        sys.stderr.flush()
    except BrokenPipeError:
        os._exit(0)
    except OSError as error:
        os.write(2, f"error: the output cannot be written: {error.strerror}\n".encode())
        os._exit(os.EX_IOERR)
    os._exit(0)
