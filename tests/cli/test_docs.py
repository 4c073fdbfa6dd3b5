"""The commands that the documentation shows work, and print what it says."""

from __future__ import annotations

import shlex
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import click
import pytest

from wavewright.cli import _group

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools"))
make_howto_outputs = import_module("make_howto_outputs")

PAGES = sorted((ROOT / "docs").rglob("*.md"))
COMMANDS = [
    pytest.param(command, id=f"{page.stem}: {command}")
    for page in PAGES
    for command in make_howto_outputs.commands(page.read_text(encoding="utf-8"))
    if command.startswith("wavewright ")
]


@pytest.mark.parametrize("command", COMMANDS)
def test_verbs_and_options_of_the_documentation_exist(command: str) -> None:
    words = shlex.split(command, comments=True)[1:]
    for stop in ("|", ">", ";", "&&"):
        words = words[: words.index(stop)] if stop in words else words
    words = words[: words.index("--")] if "--" in words else words  # a program with options of its own
    if words[0].startswith("-"):  # an option of the program itself
        verb, rest = _group, words
    else:
        verb, rest = _group.get_command(click.Context(_group), words[0]), words[1:]
    if isinstance(verb, click.Group) and not rest[0].startswith("--"):
        name, rest = ("input", rest) if rest[:1] == ["-i"] else (rest[0], rest[1:])
        verb = verb.get_command(click.Context(verb), name)
    verb.make_parser(click.Context(verb)).parse_args(rest)


@pytest.mark.slow
@pytest.mark.parametrize("page", make_howto_outputs.PAGES, ids=lambda page: page.stem)
def test_outputs_are_what_the_commands_print(page: Path, tmp_path: Path) -> None:
    text = page.read_text(encoding="utf-8")
    try:
        made = make_howto_outputs.with_outputs(text, tmp_path)
    except subprocess.CalledProcessError as error:
        pytest.fail(f"{error.cmd}: {error.stderr}")
    assert made == text, "run tools/make_howto_outputs.py"
