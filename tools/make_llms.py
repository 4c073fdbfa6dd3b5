"""Write llms.txt, the index of the documentation for language models, from docs/README.md. `--check` only compares.

The form is that of llmstxt.org: a title, a summary as a quotation, and lists of links with a sentence each.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
TARGET = ROOT / "llms.txt"
_SUMMARY = (
    "Decode, analyse and show AMD GPU performance data: thread traces, profiling databases and hardware counters. "
    "A Python package and the command `wavewright`; it needs neither a GPU nor ROCm."
)
_FIRST = (
    (
        "skills/wavewright/SKILL.md",
        "the skill for agents",
        "which verb answers which question, pitfalls, how to report",
    ),
    ("docs/how-to/ask-from-an-agent.md", "ask from an agent", "the server for agents, `--brief`, handles"),
    ("README.md", "README", "what it is, with examples"),
)
_ROW = re.compile(r"^\| (?P<what>[^|]+) \| (?P<links>[^|]+) \|$")
_LINK = re.compile(r"\[(?P<title>[^\]]+)\]\((?P<path>[^)]+)\)")


def llms_text() -> str:
    """The whole file."""
    lines = ["# wavewright", "", f"> {_SUMMARY}", "", "## First", ""]
    lines += [f"- [{title}]({path}): {what}" for path, title, what in _FIRST]
    for line in (ROOT / "docs" / "README.md").read_text("utf-8").splitlines():
        if line.startswith("## "):
            lines += ["", line, ""]
        elif (row := _ROW.match(line)) and (links := _LINK.findall(row["links"])):
            lines += [f"- [{title.strip('`')}]({_from_root(path)}): {row['what']}" for title, path in links]
    return "\n".join(lines) + "\n"


def _from_root(path: str) -> str:
    """A link of docs/README.md as seen from the root of the repository."""
    return str((ROOT / "docs" / path).resolve().relative_to(ROOT))


def main() -> int:
    """Write or compare; 1 = stale."""
    text = llms_text()
    if "--check" in sys.argv[1:]:
        return int(not TARGET.exists() or TARGET.read_text("utf-8") != text)
    TARGET.write_text(text, "utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
