"""The process: standard input and output are the protocol's alone."""

from __future__ import annotations

import os
from importlib.metadata import version
from typing import TYPE_CHECKING

from wavescope.base import stopping
from wavescope.mcp.lines import Writer
from wavescope.mcp.server import Server

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path


def serve(roots: Sequence[Path]) -> None:
    """Answer a client until it closes our input.

    Whatever else prints (a library, a warning) goes to standard error: one foreign line would end the conversation.
    """
    protocol = os.dup(1)
    os.dup2(2, 1)
    with stopping.served_until_interrupt():
        Server.over(Writer(protocol), roots, version("wavescope")).serve(0)
