"""`wavewright mcp`: questions about captures for agents, by the Model Context Protocol."""

from __future__ import annotations

from pathlib import Path

import click


def command(roots: tuple[Path, ...], client: str | None, as_json: bool) -> None:
    """Serve agents, or print the settings of a client."""
    chosen = roots or (Path(),)
    if client is not None or as_json:
        from wavewright.mcp.clients import snippet

        text = snippet(client or "claude", [path.absolute() for path in chosen])
        click.echo(text.settings if as_json else text.words, nl=False)
        return
    from wavewright.mcp.server import serve

    serve([path.absolute() for path in chosen])
