"""Hold every room of src/wavewright to its budget: lines of Python, entries of a folder, files of one name.

tools/budgets.toml has the numbers. A room may have at most `lines`; where that is above its `goal`, the number only
goes down. All rooms together may have at most `all_lines`. Raising a number needs an ADR
(docs/adr/0034-rooms-with-budgets.md).

Data files are free: columns of results and of tables in words can move to TOML.

usage: check_budgets.py [--list]
"""

from __future__ import annotations

import subprocess
import sys
import tomllib
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = Path("src/wavewright")


def tracked(folder: str) -> list[Path]:
    """The files that git tracks below a folder."""
    listed = subprocess.run(["git", "ls-files", folder], cwd=ROOT, capture_output=True, text=True, check=True)
    return [path for line in listed.stdout.splitlines() if (ROOT / (path := Path(line))).is_file()]


def line_counts(paths: list[Path]) -> Counter[str]:
    """Lines of Python by room: the folder below the package; modules beside the folders count as `base`."""
    counts: Counter[str] = Counter()
    for path in paths:
        if path.suffix == ".py":
            parts = path.relative_to(PACKAGE).parts
            counts[parts[0] if len(parts) > 1 else "base"] += len((ROOT / path).read_text().splitlines())
    return counts


def entry_counts(paths: list[Path]) -> Counter[str]:
    """Files and folders in each folder."""
    entries = {(path.parents[depth], entry) for path in paths for depth, entry in enumerate([path, *path.parents][:-1])}
    return Counter(str(folder) for folder, _ in entries)


def name_counts(paths: list[Path]) -> Counter[str]:
    """Number of modules of the same name; `__init__.py` does not count."""
    return Counter(path.name for path in paths if path.suffix == ".py" and path.name != "__init__.py")


def problems(budgets: dict[str, Any], paths: list[Path], sources: list[Path]) -> Iterator[str]:
    """Sentences about what is over its budget, or below one that could be lowered."""
    rooms = budgets["rooms"]
    lines = line_counts(paths)
    for room in sorted(lines.keys() | rooms.keys()):
        budget = rooms.get(room, {}).get("lines", 0)
        if lines[room] > budget:
            over = lines[room] - budget
            yield f"{room}: {lines[room]:,} lines of Python; its budget is {budget:,}: {over:,} must go from this room"
        elif lines[room] < budget - budgets["slack_lines"] and budget > rooms[room].get("goal", budget):
            yield f"{room}: {lines[room]:,} lines of Python; lower its budget of {budget:,} to {lines[room]:,}"
    if lines.total() > budgets["all_lines"]:
        yield f"all rooms: {lines.total():,} lines of Python; at most {budgets['all_lines']:,}"
    for what, counts, most, allowed in (
        ("entries", entry_counts([*paths, *sources]), budgets["entries"], budgets["more_entries"]),
        ("files have this name", name_counts(paths), budgets["same_names"], budgets["more_of_a_name"]),
    ):
        for name in sorted(counts.keys() | allowed.keys()):
            limit = allowed.get(name, most)
            if counts[name] > limit:
                yield f"{name}: {counts[name]} {what}; at most {limit}"
            elif name in allowed and counts[name] < limit:
                yield f"{name}: {counts[name]} {what}; lower its number of {limit} in tools/budgets.toml"


def main() -> int:
    """Print what is wrong; with --list, print the lines of every room."""
    budgets = tomllib.loads((ROOT / "tools/budgets.toml").read_text())
    paths = tracked(str(PACKAGE))
    if "--list" in sys.argv[1:]:
        lines = line_counts(paths)
        for room, declared in budgets["rooms"].items():
            most = declared["lines"]
            print(f"{room:<10} {lines[room]:>7,} of {most:>7,}   goal {declared.get('goal', most):>7,}")
        print(f"{'all':<10} {lines.total():>7,}")
        return 0
    wrong = list(problems(budgets, paths, tracked("cpp/src")))
    print(*wrong, sep="\n", file=sys.stderr, end="\n" if wrong else "")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
