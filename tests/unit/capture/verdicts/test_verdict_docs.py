"""The page about verdicts, and options that messages name."""

from __future__ import annotations

import re
import sys
from importlib import import_module
from pathlib import Path

import click

from wavewright.capture.judgement import Verdict
from wavewright.capture.rocprofv3.messages import messages
from wavewright.capture.rocprofv3.options import option_named

sys.path.insert(0, str(Path(__file__).resolve().parents[4] / "tools"))
verdict_docs = import_module("make_verdict_docs")

#: Options of programs that are neither ours nor rocprofv3's.
OF_OTHERS = {"--cap-add", "--device", "--gpu", "--pc-sampling", "--perf-level", "--plugin"}


def test_the_page_is_what_the_tables_say() -> None:
    assert verdict_docs.PAGE.read_text(encoding="utf-8") == verdict_docs.verdicts_page(), (
        "run tools/make_verdict_docs.py"
    )
    assert set(verdict_docs.EVIDENCE) == set(Verdict)


def _our_options() -> set[str]:
    from wavewright.cli.capture import command

    names: set[str] = set()
    assert isinstance(command, click.Group)
    context = click.Context(command)
    for name in command.list_commands(context):
        try:
            subcommand = command.get_command(context, name)
        except ModuleNotFoundError:  # pragma: no cover - a subcommand that is still being written
            continue
        names |= {option for each in getattr(subcommand, "params", ()) for option in each.opts}
    return names | {option for each in command.params for option in each.opts}


def test_remedies_name_options_that_exist() -> None:
    known_options = _our_options() | OF_OTHERS
    for row in messages().values():
        for text in (row.cause, row.remedy):
            for option in re.findall(r"(?<![\w-])--[a-z][a-z0-9-]*", text):
                assert option in known_options or option_named(option), f"{row.number}: {option}"
