"""Write docs/reference/mcp.md from the declared tools, and the glossary that the server hands out.

`--check` only says whether they are up to date.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

from wavewright.mcp.declared import ANSWER_SCHEMA, MOST_ROWS, TOOLS, USUAL_ROWS, Tool
from wavewright.mcp.server import HANDSHAKE, MODERN
from wavewright.mcp.texts import INSTRUCTIONS, PROMPTS, RESOURCES, TEMPLATES

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs" / "reference" / "mcp.md"
GLOSSARY = ROOT / "docs" / "reference" / "glossary.md"
SERVED = ROOT / "src" / "wavewright" / "mcp" / "glossary.md"
INTRODUCTION = (
    "`wavewright mcp [--root DIR]...` speaks the Model Context Protocol over standard input and output "
    "([how to use it](../how-to/ask-from-an-agent.md)). "
    f"Revisions: {', '.join((*MODERN, *HANDSHAKE))}. All tools only read."
)
PARAMETERS = (
    f"`limit` is the number of rows, at most {MOST_ROWS} and, if not given, {USUAL_ROWS} (of `diagnose` 3, of `schema` "
    "50); `cursor` is `next_cursor` of the answer before. `capture` is a handle (`c1`) or a path. `about` chooses the "
    "topic; the first of the kind is the usual one. `at` is the handle of an instruction. Parameters that a tool does "
    "not have are refused."
)
ANSWERS = (
    "Text (Markdown, as `--brief` prints it) and `structuredContent`. Each stays within 2,000 tokens with the usual "
    "number of rows, and both within 24,000 characters whatever is asked for. Errors are results with `isError`: "
    "what happened, where, what could still be read, what to try."
)


def page() -> str:
    """The reference of the server."""
    lines = [
        "# The server for agents",
        "",
        "<!-- Written by tools/make_mcp_docs.py from src/wavewright/mcp; do not edit. -->",
        "",
        INTRODUCTION,
        "",
        "The server tells every client:",
        "",
        f"> {INSTRUCTIONS}",
        "",
        "## Tools",
        "",
        "| tool | answers | parameters (required ones first) | topics |",
        "|---|---|---|---|",
    ]
    lines += [_row(tool) for tool in TOOLS]
    lines += [
        "",
        PARAMETERS,
        "",
        "## Answers",
        "",
        ANSWERS,
        "",
        "```json",
        json.dumps(ANSWER_SCHEMA, indent=1),
        "```",
        "",
        "## Resources",
        "",
        "| resource | content |",
        "|---|---|",
    ]
    lines += [f"| `{each['uri']}` | {each['description']} |" for each in RESOURCES]
    lines += [f"| `{each['uriTemplate']}` | {each['description']} |" for each in TEMPLATES]
    lines += ["", "## Prompts", "", "| prompt | job | arguments |", "|---|---|---|"]
    lines += [f"| `{name}` | {each['sentence']} | {', '.join(each['arguments'])} |" for name, each in PROMPTS.items()]
    return "\n".join([*lines, ""])


def _row(tool: Tool) -> str:
    parameters = sorted(tool.parameters, key=lambda each: not each.is_required)
    named = [f"**{each.name}**" if each.is_required else each.name for each in parameters]
    topics = "; ".join(f"{kind}: {', '.join(names)}" for kind, names in tool.topics.items())
    return f"| `{tool.name}` | {tool.sentence} | {', '.join(named)} | {topics or 'none'} |"


def glossary() -> str:
    """The glossary without links and without the words that are ruled out."""
    lines = []
    for line in GLOSSARY.read_text(encoding="utf-8").splitlines():
        if line.startswith("|"):
            cells = line.replace("\\|", "\0").split("|")[1:3]
            lines.append("|" + "|".join(cells).replace("\0", "\\|") + "|")
        elif line.startswith("#") or not line:
            lines.append(line)
    return "\n".join(_without_links(line) for line in lines).strip() + "\n"


def _without_links(line: str) -> str:
    import re

    return re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", line)


def main(arguments: list[str]) -> int:
    """Run as a program."""
    pages = {PAGE: page(), SERVED: glossary()}
    stale = [path for path, text in pages.items() if not path.is_file() or path.read_text(encoding="utf-8") != text]
    if "--check" in arguments:
        for path in stale:
            print(f"stale: {path.relative_to(ROOT)}; run tools/make_mcp_docs.py", file=sys.stderr)
        return bool(stale)
    for path in stale:
        path.write_text(pages[path], encoding="utf-8")
        print(f"wrote {path.relative_to(ROOT)}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
