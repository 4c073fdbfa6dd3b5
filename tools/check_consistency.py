#!/usr/bin/env python3
"""Ask every question about captures of your own, and tell where two answers contradict each other.

usage: .venv/bin/python tools/check_consistency.py PATH...

A PATH is a capture, or a folder below which captures are looked for. What is compared is that of `tests/consistency`:
one number per quantity of `facts/metrics/quantities.toml` on all surfaces, parts within their wholes, percentages with
a whole.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from tests.consistency.checker import contradictions  # noqa: E402
from tests.consistency.surfaces import answers_of, document_of, sections_of  # noqa: E402
from tests.consistency.words import texts_of, without_whole  # noqa: E402
from wavewright.errors import WavewrightError  # noqa: E402
from wavewright.readers.files.kinds import document_at  # noqa: E402

if TYPE_CHECKING:
    from collections.abc import Iterator


def main(paths: list[str]) -> int:
    """One line per capture; 1 = some contradict themselves."""
    checked_count = bad = 0
    for path in paths:
        for place, kind in captures_below(Path(path)):
            try:
                problems = faults(kind, place)
            except WavewrightError as error:
                print(f"{place}: {error}", flush=True)
                continue
            checked_count, bad = checked_count + 1, bad + bool(problems)
            print(f"{place}: {kind}, {'; '.join(problems[:5]) or 'consistent'}", flush=True)
    print(f"{checked_count} captures, {bad} with contradictions")
    return 1 if bad else 0


def captures_below(path: Path) -> Iterator[tuple[Path, str]]:
    """The captures at a place with their kinds; of folders, those that hold files and not only folders."""
    children = sorted(path.iterdir()) if path.is_dir() else []
    if children and all(child.is_dir() for child in children):
        for child in children:
            yield from captures_below(child)
    elif kind := document_at(path):
        yield path, kind


def faults(kind: str, place: Path) -> list[str]:
    """Contradictions between answers, and percentages without a whole."""
    document = document_of(kind, place)
    texts = (text for section in sections_of(document) for text in texts_of(section))
    bare = [f"a percentage of nothing: {part}" for text in texts for part in without_whole(text)]
    return [*map(str, contradictions(kind, answers_of(document))), *bare]


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]) if sys.argv[1:] else __doc__)
