"""The program called inside the test's own process: as from a shell, without the start of one."""

from __future__ import annotations

import io
import sys
from dataclasses import dataclass
from typing import Any

import pytest

from wavewright.cli import main


@dataclass(frozen=True)
class Done:
    """How a call ended."""

    status: int
    stdout: str
    stderr: str


def call(*arguments: object, encoding: str = "utf-8") -> Done:
    """Call `wavewright` with these arguments."""
    streams = [io.TextIOWrapper(io.BytesIO(), encoding=encoding) for _ in range(2)]
    status: Any = 0
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "argv", ["wavewright", *map(str, arguments)])
        patch.setattr(sys, "stdout", streams[0])
        patch.setattr(sys, "stderr", streams[1])
        try:
            main()
        except SystemExit as leaving:
            status = leaving.code or 0
    texts = []
    for stream in streams:
        stream.flush()
        texts.append(stream.buffer.getvalue().decode(encoding))  # type: ignore[attr-defined]
    return Done(status, *texts)
