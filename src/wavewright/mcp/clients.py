"""The settings with which clients start the server, to be printed: no file is changed."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from wavewright.base.shown import command_line

#: Client -> the file of its settings, and the key under which servers stand.
_FILES = {
    "claude": (".mcp.json", "mcpServers"),
    "codex": ("~/.codex/config.toml", "mcp_servers"),
    "cursor": (".cursor/mcp.json", "mcpServers"),
    "gemini": (".gemini/settings.json", "mcpServers"),
    "vscode": (".vscode/mcp.json", "servers"),
}


class Snippet(NamedTuple):
    """Settings of a client."""

    words: str  #: The settings in the client's format, with the name of their file.
    settings: str  #: The same in JSON, for all clients.


def snippet(client: str, roots: Sequence[Path]) -> Snippet:
    """The settings of a client.

    >>> from pathlib import Path
    >>> print(snippet("codex", [Path("/data")]).words)
    # in ~/.codex/config.toml
    [mcp_servers.wavewright]
    command = "wavewright"
    args = ["mcp", "--root", "/data"]
    <BLANKLINE>
    """
    file, key = _FILES[client]
    arguments = ["mcp", *(word for root in roots for word in ("--root", str(root)))]
    entry = {"command": "wavewright", "args": arguments}
    if client == "vscode":
        entry = {"type": "stdio", **entry}
    settings = json.dumps({key: {"wavewright": entry}}, indent=2, ensure_ascii=False) + "\n"
    if client == "codex":
        words = f'[{key}.wavewright]\ncommand = "wavewright"\nargs = {json.dumps(arguments, ensure_ascii=False)}\n'
        return Snippet(f"# in {file}\n{words}", settings)
    lines = [f"// in {file}"]
    if client == "claude":
        lines.append(f"// or: {command_line(['claude', 'mcp', 'add', 'wavewright', '--', 'wavewright', *arguments])}")
    return Snippet("\n".join(lines) + "\n" + settings, settings)
