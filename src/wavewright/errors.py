"""One exception tree. Each error says what happened, where, what could still be read, and what to do."""

from __future__ import annotations


class WavewrightError(Exception):
    """Base of every error that wavewright raises on purpose.

    Parameters
    ----------
    what
        What happened, with the offending value.
    where
        File, offset or row; empty when there is no place to name.
    kept
        What could still be read.
    advice
        One thing to do next.

    >>> print(WavewrightError("3 bytes are too short for a trace", where="se0.att", advice="capture again"))
    se0.att: 3 bytes are too short for a trace; capture again
    """

    exit_code = 3

    def __init__(self, what: str, *, where: str = "", kept: str = "", advice: str = "") -> None:
        super().__init__(what)
        self.what = what
        self.where = where
        self.kept = kept
        self.advice = advice

    def __str__(self) -> str:
        place = f"{self.where}: " if self.where else ""
        return place + "; ".join(part for part in (self.what, self.kept, self.advice) if part)


class UsageError(WavewrightError):
    """The request itself does not make sense (exit status 2).

    >>> UsageError("no such table: 'wavez'").exit_code
    2
    """

    exit_code = 2


class NotATraceError(WavewrightError):
    """The input is not a format that wavewright reads (exit status 3).

    >>> NotATraceError("not a thread trace").exit_code
    3
    """


class UnsupportedError(WavewrightError):
    """The input is of a known kind, but of a generation or version that is not known here (exit status 3).

    >>> UnsupportedError("stream version 9").exit_code
    3
    """


class DamagedError(WavewrightError):
    """Data was lost and the caller asked for completeness (exit status 4).

    >>> DamagedError("2 losses").exit_code
    4
    """

    exit_code = 4


class MissingToolError(WavewrightError):
    """A program or package that the request needs is not installed (exit status 5).

    >>> MissingToolError("no LLVM found", advice="apt-get install llvm-22").exit_code
    5
    """

    exit_code = 5


class UnreachableError(WavewrightError):
    """Another machine or container cannot be reached, or the connection was lost: trying again may help (status 75).

    >>> UnreachableError("the connection to gpu7 was lost").exit_code
    75
    """

    exit_code = 75


class LimitError(WavewrightError):
    """The operating system grants too few threads, descriptors or too little memory (exit status 71).

    >>> LimitError("only 3 more threads can be started, and 13 are needed").exit_code
    71
    """

    exit_code = 71


class OutputError(WavewrightError):
    """The file system refuses the output: no space, no permission (exit status 74).

    >>> OutputError("cannot write the output: No space left on device").exit_code
    74
    """

    exit_code = 74


class BusyError(WavewrightError):
    """Every GPU that would do is used by somebody, and the time to wait is over (exit status 75).

    >>> BusyError("GPU 3 is used by process 4711", advice="wait for it: --wait 600").exit_code
    75
    """

    exit_code = 75
