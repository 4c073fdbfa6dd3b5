"""Writes the keys into docs/reference/jobs-file.md from their declaration; `--check` says whether they are stale."""

from __future__ import annotations

import sys
from pathlib import Path

from wavewright.capture.kinds import KINDS
from wavewright.capture.pool.keys import KEYS

PAGE = Path(__file__).resolve().parents[1] / "docs" / "reference" / "jobs-file.md"
BEGIN, END = "<!-- keys: tools/make_jobs_file_docs.py -->\n", "<!-- end of keys -->\n"


def table() -> str:
    """The keys as rows of Markdown."""
    rows = ["| key | for | may be | meaning |", "|---|---|---|---|"]
    for key in KEYS.values():
        kinds = "all" if set(key.kinds) == set(KINDS) else ", ".join(key.kinds)
        meaning = key.meaning if key.is_for_defaults else f"{key.meaning} Not in `[defaults]`."
        rows.append(f"| `{key.name}` | {kinds} | {key.form} | {meaning} |")
    return "\n".join(rows) + "\n"


def page(text: str) -> str:
    """The page with the table of today."""
    head, _, rest = text.partition(BEGIN)
    _, _, tail = rest.partition(END)
    return f"{head}{BEGIN}\n{table()}\n{END}{tail}"


def main() -> int:
    """Write the page; 1 if it is stale and only to be checked."""
    before = PAGE.read_text("utf-8")
    after = page(before)
    if "--check" in sys.argv:
        if before != after:
            print("docs/reference/jobs-file.md is stale: run tools/make_jobs_file_docs.py", file=sys.stderr)
        return int(before != after)
    PAGE.write_text(after, "utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
