"""From what is wanted to commands: the only way there, for what is printed and for what is run."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from wavewright.capture.wanted import KernelChoice, ThreadTraces

if TYPE_CHECKING:
    from collections.abc import Mapping

    from wavewright.capture.gpus.gpu import Gpu
    from wavewright.capture.plans.command import Command
    from wavewright.capture.rocprofv3.installation import Installation
    from wavewright.capture.wanted import Wanted


@dataclass(frozen=True, kw_only=True)
class Planned:
    """One attempt, before it runs."""

    wanted: Wanted  #: With everything chosen.
    commands: tuple[Command, ...]  #: One per pass.
    notes: tuple[str, ...]  #: What was chosen, and why.


def planned(
    wanted: Wanted, installation: Installation, gpu: Gpu | None, *, raw: str, variables: Mapping[str, str]
) -> Planned:
    """The commands of one attempt, whose data go to the folder `raw` of the machine.

    Raises
    ------
    UsageError
        When the release cannot do what is wanted.
    """
    from wavewright.capture.plans.choices import chosen
    from wavewright.capture.plans.commands import commands_of

    complete, notes = chosen(with_regex(wanted), gpu)
    commands = commands_of(complete, installation, folder=raw, environment=variables)
    return Planned(wanted=complete, commands=commands, notes=tuple(notes))


def environment_of(command: Command, variables: Mapping[str, str]) -> dict[str, str]:
    """The whole environment in which a command runs: that of the machine, less what interferes, and what it sets.

    Examples
    --------
    >>> from wavewright.capture.plans.command import Command
    >>> environment_of(Command(words=("x",), variables={"A": "1"}, removed=("B",)), {"A": "0", "B": "2", "C": "3"})
    {'A': '1', 'C': '3'}
    """
    return {name: value for name, value in variables.items() if name not in command.removed} | command.variables


def needs_discovery(wanted: Wanted) -> bool:
    """Whether a discovery has to come first: thread traces of a kernel, or of launches, that nobody named."""
    return isinstance(wanted, ThreadTraces) and not (wanted.launches and (wanted.kernel or wanted.kernel_regex))


def with_regex(wanted: Wanted) -> Wanted:
    """The same with a regex for the kernel's name, where a name was given."""
    if not isinstance(wanted, KernelChoice) or not wanted.kernel or wanted.kernel_regex:
        return wanted
    from wavewright.capture.rocprofv3.regex import parts_regex

    return replace(wanted, kernel_regex=parts_regex([wanted.kernel]))
