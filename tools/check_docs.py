"""Checks the documentation: every verb is described, every relative link leads to a file, every named module exists.

Modules are those that pages and docstrings name in code font: `wavewright.open`, `analysis.trace.costs`.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path
from pkgutil import resolve_name

from wavewright.cli import VERBS

ROOT = Path(__file__).resolve().parents[1]
PAGES = [*sorted((ROOT / "docs").rglob("*.md")), *sorted(ROOT.glob("*.md"))]
_LINK = re.compile(r"\]\((?!https?:|mailto:)([^)#\s]+)?(?:#[^)\s]*)?\)")
_NAME = re.compile(
    r"`(?:wavewright\.)((?:[a-z_]+\.)+[a-z_]+)`|`((?:analysis|facts|questions|readers|words|writers)\.[a-z_.]+)`"
)
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


def dead_names(text: str) -> list[str]:
    """Modules and functions of wavewright that a text names in code font and that do not exist."""
    names = sorted({first or second for first, second in _NAME.findall(text)})
    return [name for name in names if not exists(f"wavewright.{name}")]


def exists(name: str) -> bool:
    """True if a dotted name can be imported."""
    try:
        resolve_name(name)
    except (ImportError, AttributeError):
        return False
    return True


def check() -> int:
    """Print every problem; 1 if there is one."""
    problems = [f"docs/reference/cli*.md does not describe the verb {verb}" for verb in undocumented_verbs()]
    problems += [f"dead link in {link}" for link in dead_links()]
    named_in = [page for page in PAGES if page.parent.name != "adr" and page.name != "CHANGELOG.md"]
    for page in (*named_in, *sorted((ROOT / "src").rglob("*.py"))):
        problems += [f"{page.relative_to(ROOT)}: there is no `{name}`" for name in dead_names(page.read_text("utf-8"))]
    for problem in problems:
        print(problem, file=sys.stderr)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(check())
