"""Checks the documentation: every verb is described, every relative link leads to a file."""

from __future__ import annotations

import re
import sys
from pathlib import Path

from wavewright.cli import VERBS

ROOT = Path(__file__).resolve().parents[1]
PAGES = [*sorted((ROOT / "docs").rglob("*.md")), *sorted(ROOT.glob("*.md"))]
_LINK = re.compile(r"\]\((?!https?:|mailto:)([^)#\s]+)?(?:#[^)\s]*)?\)")
_CODE = re.compile(r"```.*?```|`[^`\n]*`", re.DOTALL)


def undocumented_verbs() -> list[str]:
    """Verbs without a heading or a table row in docs/reference/cli*.md."""
    reference = "\n".join(page.read_text("utf-8") for page in sorted((ROOT / "docs" / "reference").glob("cli*.md")))
    verbs = sorted(VERBS)
    return [verb for verb in verbs if not re.search(rf"^(##+ |\|[^|]*`){re.escape(verb)}\b", reference, re.MULTILINE)]


def dead_links() -> list[str]:
    """Relative links to files that do not exist, as `page: link`."""
    links = [(page, link) for page in PAGES for link in _LINK.findall(_CODE.sub("", page.read_text("utf-8"))) if link]
    return [f"{page.relative_to(ROOT)}: {link}" for page, link in links if not (page.parent / link).exists()]


def check() -> int:
    """Print every problem; 1 if there is one."""
    problems = [f"docs/reference/cli*.md does not describe the verb {verb}" for verb in undocumented_verbs()]
    problems += [f"dead link in {link}" for link in dead_links()]
    for problem in problems:
        print(problem, file=sys.stderr)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(check())
