"""Demangling of names that could explode, in a process of its own: names on standard input, one line each back.

An empty line means that the name stays as it is. Run as `python -I -m wavewright.codeobj.demangle_child`.
"""

from __future__ import annotations

import contextlib
import sys

from wavewright import _core

_ADDRESS_SPACE_BYTES = 1 << 30
_CPU_S = 3


def main() -> None:
    """Demangle line by line; each answer leaves at once, so that a death costs one name."""
    with contextlib.suppress(ImportError, ValueError, OSError):
        import resource

        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        resource.setrlimit(resource.RLIMIT_CPU, (_CPU_S, _CPU_S))
        resource.setrlimit(resource.RLIMIT_AS, (_ADDRESS_SPACE_BYTES, _ADDRESS_SPACE_BYTES))
    for line in sys.stdin.buffer.read().splitlines():
        text = _core.demangle(line.decode("ascii")) or ""
        sys.stdout.buffer.write(text.encode() + b"\n")
        sys.stdout.buffer.flush()


if __name__ == "__main__":
    main()
