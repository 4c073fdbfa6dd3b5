"""Verbs that take a capture: their common options, and whether they run here or on another machine."""

from __future__ import annotations

from functools import wraps
from typing import TYPE_CHECKING, Any

import click

from wavewright.cli.kit.capture import NAMES, OPTIONS, TYPED, ProgramCommand, request_of
from wavewright.cli.kit.io import with_options
from wavewright.cli.kit.taking import take_elsewhere

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence


def capture_verb(verb: Callable[..., None], *, stand_in: str = "") -> click.Command:
    """A click command with the common options, which passes them and the program to `verb` as one `CaptureRequest`.

    With a `stand_in` the program may be left away: nothing is run then.
    """

    @wraps(verb)
    def run(**options: Any) -> None:
        common = {name: options.pop(name) for name in NAMES}
        request = request_of(common, stand_in=stand_in)
        if request.place is None:
            verb(request, **options)
            return
        context = click.get_current_context()
        take_elsewhere(request, context.info_name or "", words_for_there(context.meta[TYPED]))

    command = click.command(cls=ProgramCommand)(with_options(run, OPTIONS))
    command.params.sort(key=lambda parameter: parameter.name in NAMES)  # what is special comes first in --help
    return command


#: Options of a command here that a command on another machine is not given; True = they have a value.
_OF_HERE = {"--host": True, "--container": True, "--remote": True, "-o": True, "--output": True}
_OF_HERE |= {"--open": False, "--json": False, "--force": False}


def words_for_there(typed: Sequence[str]) -> list[str]:
    """The words of a command without what is for this machine.

    Examples
    --------
    >>> words_for_there(["--host", "gpu7", "-oout", "--wait=5", "--json", "--", "./a", "--host"])
    ['--wait=5', '--', './a', '--host']
    """
    words = list(typed)
    end = words.index("--") if "--" in words else len(words)
    chosen: list[str] = []
    place = 0
    while place < end:
        word = words[place]
        name = word.partition("=")[0] if word.startswith("--") else word[:2]
        place += 1
        if name not in _OF_HERE:
            chosen.append(word)
        elif _OF_HERE[name] and word == name:
            place += 1
    return chosen + words[end:]
