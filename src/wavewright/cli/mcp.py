"""`wavewright mcp`: questions about captures for agents, by the Model Context Protocol."""

from __future__ import annotations

from pathlib import Path

import click

from wavewright.cli.kit.form import json_flag

_CLIENTS = ("claude", "codex", "cursor", "gemini", "vscode")


@click.command()
@click.option(
    "--root",
    "roots",
    type=click.Path(path_type=Path, exists=True, file_okay=False),
    multiple=True,
    metavar="DIR",
    help="Folder below which captures may be read; may be repeated. Default: the current folder.",
)
@click.option(
    "--config",
    "client",
    type=click.Choice(_CLIENTS),
    help="Print what a client needs in its settings, and leave.",
)
@json_flag
def command(roots: tuple[Path, ...], client: str | None, as_json: bool) -> None:
    """Serve agents over standard input and output: tools that open, diagnose, compare and query captures.

    A client starts this command itself; --config prints what it needs for that. Only files below --root are read,
    nothing is run, nothing is written.

    \b
    wavewright mcp --config claude
    claude mcp add wavewright -- wavewright mcp --root ~/captures
    """
    chosen = roots or (Path(),)
    if client is not None or as_json:
        from wavewright.mcp.clients import snippet

        text = snippet(client or "claude", [path.absolute() for path in chosen])
        click.echo(text.settings if as_json else text.words, nl=False)
        return
    from wavewright.mcp.serving import serve

    serve([path.absolute() for path in chosen])
