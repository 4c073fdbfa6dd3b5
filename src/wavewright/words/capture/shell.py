"""Commands for a shell in lines that fit a terminal and can be copied: never cut, continued with a backslash."""

from __future__ import annotations

from typing import TYPE_CHECKING

from wavewright.base.shown import printable, quoted
from wavewright.model.blocks import Preformatted

if TYPE_CHECKING:
    from collections.abc import Sequence

    from wavewright.capture.plans.command import Command

INDENT = "  "


def command_text(command: Command, width: int) -> Preformatted:
    """A command as it will be run, variables first.

    >>> from wavewright.capture.plans.command import Command
    >>> print(command_text(Command(words=("rocprofv3", "--att", "--", "./a b"), variables={"A": "1"}), 22).text)
      env A=1 \\
        rocprofv3 --att \\
        -- './a b'
    """
    changes = [word for name in command.removed for word in ("-u", name)]
    changes += [f"{name}={quoted(value)}" for name, value in command.variables.items()]
    words = [quoted(word) for word in command.words]
    if not changes:
        return shell_text(words, width)
    lines = [*_filled(["env", *changes], INDENT, width), *_filled(words, INDENT * 2, width)]
    return _joined(lines)


def shell_text(words: Sequence[str], width: int, indent: str = INDENT) -> Preformatted:
    """Words that are quoted already.

    >>> print(shell_text(["wavewright", "capture", "att", "--", "./gemm"], 22).text)
      wavewright capture \\
        att -- ./gemm
    """
    return _joined(_filled(words, indent, width, further=indent + INDENT))


def _joined(lines: Sequence[str]) -> Preformatted:
    return Preformatted(" \\\n".join(map(printable, lines)))


def _filled(words: Sequence[str], indent: str, width: int, further: str = INDENT * 2) -> list[str]:
    """Lines of words, the `further` ones indented; an option and its values stay together where they fit."""
    lines = [indent + words[0]]
    for group in _groups(words[1:]):
        if _fits(lines[-1], " ".join(group), width):
            lines[-1] += f" {' '.join(group)}"
            continue
        lines.append(further + group[0])
        for word in group[1:]:
            if _fits(lines[-1], word, width):
                lines[-1] += f" {word}"
            else:
                lines.append(further + word)
    return lines


def _fits(line: str, text: str, width: int) -> bool:
    return len(line) + len(text) + 3 <= width  # a space before it, and a space and a backslash behind


def _groups(words: Sequence[str]) -> list[list[str]]:
    """Each option with the words that follow it; after `--`, which ends options, each word by itself."""
    groups: list[list[str]] = []
    is_program = False
    for word in words:
        if is_program or word.startswith("-") or not groups or not groups[-1][0].startswith("-"):
            groups.append([word])
        else:
            groups[-1].append(word)
        is_program = is_program or word == "--"
    return groups
