"""`wavescope.open`: one door for everything that can be read."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from wavescope.errors import NotATraceError, UnsupportedError
from wavescope.readers.sniff import Kind, sniff

if TYPE_CHECKING:
    import os
    from collections.abc import Sequence

    from wavescope.model.thread_trace import ThreadTrace

__all__ = ["open"]


def open(  # noqa: A001
    path: str | os.PathLike[str],
    *,
    dispatch: int | None = None,
    threads: int | None = None,
    code_objects: Sequence[str] = (),
) -> ThreadTrace:
    """Open a capture; the format is found out from its content.

    Parameters
    ----------
    path
        A rocprofv3 thread-trace capture folder, or one raw `.att` file.
    dispatch
        Which dispatch of the capture; None = the one with the most bytes.
    threads
        How many shader engines to decode at once; None = as many as there are cores.
    code_objects
        For raw captures: code objects that do not stand beside the traces; see `decode`.

    Raises
    ------
    UsageError
        When the path does not exist.
    NotATraceError, UnsupportedError
        When it is nothing that wavescope reads.

    Examples
    --------
    >>> open("/nowhere")
    Traceback (most recent call last):
    wavescope.errors.UsageError: /nowhere: no such file or folder
    """
    from wavescope.readers.att import decode

    kind = sniff(Path(path))
    if kind is Kind.RAW_CAPTURE:
        return decode(path, code_objects, dispatch=dispatch, threads=threads)
    if kind is Kind.CODE_OBJECT:
        what = "this is a code object, not a trace"
        raise NotATraceError(what, where=str(path), advice="open the folder with its .att files")
    if kind is Kind.UNKNOWN:
        what = "nothing here that wavescope reads"
        raise NotATraceError(what, where=str(path), advice="a raw capture has *.att files")
    what = f"{kind.value}: this version of wavescope does not read it yet"
    raise UnsupportedError(what, where=str(path), advice="raw captures (*.att) can be opened")
