"""The process: standard input and output are the protocol's alone."""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from wavewright.base import stopping
from wavewright.mcp.lines import Writer
from wavewright.mcp.server import Server

if TYPE_CHECKING:
    from collections.abc import Sequence


def serve(roots: Sequence[Path]) -> None:
    """Answer a client until it closes our input.

    Whatever else prints (a library, a warning) goes to standard error: one foreign line would end the conversation.
    """
    protocol = os.dup(1)
    os.dup2(2, 1)
    with stopping.served_until_interrupt():
        Server.over(Writer(protocol), roots, version()).serve(0)


def version() -> str:
    """Our version, by the name of the folder that installers write: `importlib.metadata` takes longer than all else."""
    start, end = "wavewright-", ".dist-info"
    for folder in sys.path:
        with suppress(OSError):
            for entry in Path(folder).iterdir():
                if entry.name.startswith(start) and entry.name.endswith(end):
                    return entry.name[len(start) : -len(end)]
    import importlib.metadata

    return importlib.metadata.version("wavewright")
