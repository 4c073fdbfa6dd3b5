"""A command as it will be run: words, variables, and what was left out of the caller's environment."""

from __future__ import annotations

from dataclasses import dataclass, field

from wavewright.base.shown import command_line


@dataclass(frozen=True, kw_only=True)
class Command:
    """One run of a profiler around a program."""

    words: tuple[str, ...]
    variables: dict[str, str] = field(default_factory=dict, hash=False)  #: Set in addition to the caller's.
    removed: tuple[str, ...] = ()  #: Variables of the caller that would interfere, taken out.
    cwd: str = ""  #: Empty = the current folder.
    notes: tuple[str, ...] = ()  #: What was chosen for the user, and why.
    #: Files that must be there before it runs: path on the machine -> content.
    files: dict[str, bytes] = field(default_factory=dict, hash=False)

    @property
    def line(self) -> str:
        """For a shell: variables and words, quoted.

        Examples
        --------
        >>> one_gpu = {"ROCR_VISIBLE_DEVICES": "3"}
        >>> Command(words=("rocprofv3", "--", "a b"), variables=one_gpu, removed=("LD_PRELOAD",)).line
        "env -u LD_PRELOAD ROCR_VISIBLE_DEVICES=3 rocprofv3 -- 'a b'"
        """
        changes = [*(word for name in self.removed for word in ("-u", name)), *map("=".join, self.variables.items())]
        return command_line(["env", *changes, *self.words] if changes else self.words)
