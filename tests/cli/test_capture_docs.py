"""docs/reference/cli-capture.md against the program: every subcommand and every option."""

from __future__ import annotations

import re
from pathlib import Path

import click
import pytest

from wavewright.cli.capture import SUBCOMMANDS, command

PAGE = Path(__file__).parents[2] / "docs" / "reference" / "cli-capture.md"
PRESENT = list(SUBCOMMANDS)


def section(name: str) -> str:
    """What the page says of a subcommand, and of what all have in common."""
    parts = re.split(r"^## ", PAGE.read_text("utf-8"), flags=re.MULTILINE)
    fitting = [part for part in parts if re.match(rf"capture\b.*\b{name}\b|capture\n", part.split("\n")[0] + "\n")]
    assert len(fitting) >= 2, name
    return "\n".join(fitting)


def parameters(name: str) -> list[click.Parameter]:
    verb = command.get_command(click.Context(command), name)
    assert verb is not None
    return verb.params


@pytest.mark.parametrize("name", PRESENT)
def test_every_option_is_described(name: str) -> None:
    options = [
        option for parameter in parameters(name) for option in parameter.opts if isinstance(parameter, click.Option)
    ]
    text = section(name)
    missing = [option for option in options if not re.search(rf"`?{re.escape(option)}\b", text) and len(option) > 2]
    assert missing == []


def test_every_option_that_is_described_exists() -> None:
    every = set()
    for name in PRESENT:
        every |= {option for parameter in parameters(name) for option in parameter.opts}
    rows = [line.split("|")[1] for line in PAGE.read_text("utf-8").splitlines() if line.startswith("| `-")]
    described = {option for row in rows for option in re.findall(r"--[a-z][a-z0-9-]*", row)}
    assert described - every == set()
