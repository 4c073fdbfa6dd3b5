"""The command line: verbs that are derived from questions, and one module for each that does something else.

A verb is loaded when it is called (`_Verbs.load`): a question's verb is made of its declaration, most others of a file
in `cli/options` with a function to call, and a few make their click command themselves.
"""

from __future__ import annotations

import codecs
import errno
import io
import os
import signal
import sys
from contextlib import suppress
from importlib import import_module
from typing import TYPE_CHECKING, NoReturn

import click

from wavewright.base import stopping
from wavewright.cli.kit.lazy_group import LazyGroup
from wavewright.cli.kit.verbs import VERBS as VERBS  # tools and tests take it from here
from wavewright.cli.kit.verbs import VERBS_BY_GROUP, full_help, question_of_verb
from wavewright.questions.catalog import plugin_question

if TYPE_CHECKING:
    from wavewright.errors import WavewrightError

_STOPPED = 128 + signal.SIGINT
_LONGEST_PATH = 300  #: Characters of it in a message.
_OUTPUT_ERRORS = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO)

_OF_CAPTURES = ("capture", "doctor")  #: Verbs that take the folder of a capture as it is.
#: Modules below `wavewright.cli` of several verbs, each a function that is called like it.
_MODULES = dict.fromkeys(("convert", "merge", "split", "window"), "convert")
_MODULES |= dict.fromkeys(("baseline", "gate", "loop"), "gate") | dict.fromkeys(("query", "schema", "tables"), "tables")
_OF_SEVERAL_QUESTIONS = ("info", "diagnose", "counters")  #: Verbs that are called like a question, but answer more.
_BUILT = ("capture", "compare", "diagnose")  #: Verbs whose modules put their options together.
_OUTPUTS = ("-o", "--output")  #: Options whose value is a place to write.


class _Verbs(LazyGroup):
    """All verbs."""

    by_heading, path, noun = VERBS_BY_GROUP, "wavewright", "verb"
    elsewhere = "lists the verbs by the question they answer"

    def load(self, name: str) -> click.Command:
        question = question_of_verb(name)
        if question is not None and name not in _OF_SEVERAL_QUESTIONS:
            from wavewright.cli.kit.question_verb import derived_verb

            return derived_verb(question)
        is_built = name in _BUILT
        command: click.Command = import_module(f"wavewright.cli.{name}").command if is_built else _own_command(name)
        if question is not None:
            command.help = full_help(question, command.help or "")
        return command

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        command = super().get_command(ctx, cmd_name)
        if command is None and (question := plugin_question(cmd_name)) is not None:  # looking for plugins takes time
            from wavewright.cli.kit.question_verb import derived_verb

            command = derived_verb(question)
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        name, command, rest = super().resolve_command(ctx, args)
        return name, command, rest if name in _OF_CAPTURES or ctx.resilient_parsing else _results_of(rest)

    def invoke(self, ctx: click.Context) -> object:
        is_done = False
        try:
            status = super().invoke(ctx)
            is_done = True
            return status
        except (SystemExit, click.exceptions.Exit):
            is_done = True  # with a status
            raise
        finally:
            if ctx.meta:  # a form was asked for
                from wavewright.cli.kit.form import ended_brief

                brief = ended_brief(ctx)
                if brief is not None and is_done:
                    from wavewright.cli.kit.brief import written

                    click.echo(written(brief))


def _own_command(name: str) -> click.Command:
    from wavewright.cli.kit.lazy_group import DeclaredGroup
    from wavewright.cli.kit.options import own_command

    if name == "store":
        return DeclaredGroup(name)
    place = ("gate", name) if _MODULES.get(name) == "gate" else (name,)
    function = f"{_MODULES[name]}:{name}" if name in _MODULES else f"{name}:command"
    if name == "convert":
        from wavewright.cli.kit.formats import FORMATS_HELP

        return own_command(place, function, epilog=FORMATS_HELP)
    return own_command(place, function)


def _results_of(words: list[str]) -> list[str]:
    """The words of a command line, in which the folder of a capture stands for its result; where to write stays."""
    if all(word.startswith("-") for word in words):
        return words
    from wavewright.base.job_folders import read_instead

    return [
        word if word.startswith("-") or before in _OUTPUTS else read_instead(word)
        for before, word in zip(["", *words], words, strict=False)
    ]


@click.group(cls=_Verbs, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 120})
@click.version_option(package_name="wavewright", message="wavewright %(version)s")
@click.option("--debug", is_flag=True, hidden=True, help="Show tracebacks.")
def _group(debug: bool) -> None:
    """Decode, analyse and show AMD GPU performance data. No GPU and no ROCm needed.

    Every verb takes --help, --json, and --brief: Markdown within 2,000 tokens, for agents and tickets.

    Shell completion: eval "$(_WAVEWRIGHT_COMPLETE=bash_source wavewright)"
    """
    if not {"-h", "--help"} & set(sys.argv):
        from wavewright.cli.kit.limits import check_limits

        check_limits()


def main() -> None:
    """Run the command line and leave with an honest exit status.

    0 done, 1 a threshold was exceeded (gate, compare --fail-above), 2 wrong usage, 3 input unreadable, 4 input damaged
    (with --strict), 5 a tool is missing, 6 a gate cannot tell, 70 our bug, 71 a limit of the system, 74 output cannot
    be written, 128 + N stopped by signal N (Ctrl-C: 130).
    """
    from wavewright.errors import UsageError, WavewrightError

    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:  # closed before we were started: write to nowhere
            setattr(sys, name, open(os.devnull, "w", encoding="utf-8"))  # noqa: SIM115, PTH123 - stays open; no pathlib in `--help`
    _show_every_name()
    try:
        status = _group(prog_name="wavewright", standalone_mode=False)
        if isinstance(status, int) and status:  # that of an Exit, which click hands back in this mode
            sys.exit(status)
    except (click.exceptions.Abort, KeyboardInterrupt):
        click.echo("stopped", err=True)
        sys.exit(_STOPPED)
    except click.exceptions.Exit as stop:
        sys.exit(stop.exit_code)
    except click.ClickException as error:
        (_with_options_meant(error) if isinstance(error, click.NoSuchOption) else error).show()
        sys.exit(error.exit_code)
    except WavewrightError as error:
        _fail(error)
    except BrokenPipeError:  # the reader of our output (head, less) has seen enough: that is no failure
        sys.exit(0)
    except BaseException as error:  # a panic inside polars is not an Exception
        if "--debug" in sys.argv or isinstance(error, SystemExit):
            raise
        if isinstance(error, OSError) and error.errno in _OUTPUT_ERRORS:
            click.echo(f"error: the output cannot be written: {error.strerror}", err=True)
            sys.exit(os.EX_IOERR)
        from wavewright.cli.kit.limits import limit_behind

        if limit := limit_behind(error):
            _fail(limit)
        if isinstance(error, OSError) and error.filename:  # a path that cannot be used is the user's to change
            _fail(UsageError(error.strerror or type(error).__name__, where=os.fsdecode(error.filename)[:_LONGEST_PATH]))
        from importlib.metadata import version

        bug = f"this is a bug in wavewright {version('wavewright')}: {type(error).__name__}: {error}"
        click.echo(f"error: {bug}", err=True)
        click.echo("  try: run again as `wavewright --debug ...` and report what it prints", err=True)
        from wavewright.cli.kit.io import BUG_EXIT_CODE

        sys.exit(BUG_EXIT_CODE)


def _fail(error: WavewrightError) -> NoReturn:
    from wavewright.cli.kit.io import fail  # few need it, and `--help` must stay fast

    fail(error)


def _with_options_meant(error: click.NoSuchOption) -> click.NoSuchOption:
    """The error with better suggestions than click's, which knows no synonyms."""
    from wavewright.cli.kit.suggestions import options_meant

    if error.ctx is None:
        return error
    options = [name for parameter in error.ctx.command.params for name in parameter.opts if name.startswith("--")]
    meant = options_meant(error.option_name, options)
    question = f" Did you mean {' or '.join(meant)}?" if meant else ""
    return click.NoSuchOption(error.option_name, f"No such option {error.option_name!r}.{question}", ctx=error.ctx)


def program() -> None:
    """`main`, and then an end of the process without Python's tear-down, which would take a tenth of a second and
    would end in a crash if native code were still at work in a thread.
    """
    status = 0
    stopping.watch()
    try:
        main()
    except SystemExit as leaving:
        status = leaving.code if isinstance(leaving.code, int) else 0
    stopping.leave(_flushed(status))


def _flushed(status: int) -> int:
    """The exit status, after what is left in the streams has been written."""
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except BrokenPipeError:
            continue
        except OSError as error:
            if status != os.EX_IOERR:  # else it has been said
                with suppress(OSError):
                    os.write(2, f"error: the output cannot be written: {error.strerror}\n".encode())
            return os.EX_IOERR
    return status


def _show_every_name() -> None:
    """Names of files that are not UTF-8 are printed with escapes; a letter that the terminal lacks as a `?`."""

    def escaped(error: UnicodeError) -> tuple[str, int]:
        from wavewright.base.shown import escaped as rule  # few need it, and `--help` must stay fast

        return rule(error)

    codecs.register_error("wavewright.names", escaped)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="wavewright.names")
