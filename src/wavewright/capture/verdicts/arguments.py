"""Arguments of launches, recorded beside a thread trace: those of the traced dispatches get their numbers."""

from __future__ import annotations

from collections import Counter
from contextlib import suppress
from typing import TYPE_CHECKING

from msgspec import json, structs

from wavewright.codeobj.names import demangle_all
from wavewright.errors import NotATraceError
from wavewright.readers.trace.arguments_file import NAME, ArgumentsDocument
from wavewright.readers.trace.kerncap import decoded_file

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from wavewright.capture.judgement import TracedDispatch


def number_arguments(attempt: Path, dispatches: Sequence[TracedDispatch]) -> int:
    """Number the recorded launches that were traced, and drop all others; how many were.

    A recording counts launches of a kernel, a trace counts dispatches: the kernel trace beside it knows both. Launches
    of two functions with the same name cannot be told apart, and are dropped.
    """
    count = 0
    for path in (attempt / "raw").glob(f"*/{NAME}"):
        with suppress(NotATraceError, OSError):  # of a program that was killed while it wrote
            document = decoded_file(path.parent, path.name, ArgumentsDocument)
            places = (path.parent, path.parent.parent)
            numbers = {
                (each.kernel, each.launch): each.dispatch for each in dispatches if attempt / each.folder in places
            }
            plain = demangle_all({entry.kernel for entry in document.dispatches})
            copies = Counter((entry.kernel, entry.launch) for entry in document.dispatches)
            entries = [
                structs.replace(entry, dispatch=number)
                for entry in document.dispatches
                if entry.launch is not None and copies[entry.kernel, entry.launch] == 1
                for number in (numbers.get((name, entry.launch)) for name in {entry.kernel, plain[entry.kernel]})
                if number is not None
            ]
            path.write_bytes(json.encode(structs.replace(document, dispatches=entries)))
            count += len(entries)
    return count
