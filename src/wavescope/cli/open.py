"""`wavescope open`: show traces and runs in a browser."""

from __future__ import annotations

from pathlib import Path

import click

from wavescope.cli._io import progress


@click.command()
@click.argument("paths", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option("--port", type=click.IntRange(0, 65535), default=0, help="Port on loopback; default: any free one.")
@click.option("--no-browser", is_flag=True, help="Only print the URL.")
def command(paths: tuple[Path, ...], port: int, no_browser: bool) -> None:
    """Serve the viewer on this machine and open it in a browser."""
    import secrets
    import socket
    import webbrowser
    from functools import partial

    import uvicorn

    from wavescope.page.assets import page_folder
    from wavescope.page.document import Library
    from wavescope.readers.opening import open as open_path
    from wavescope.server.app import make_app

    page = page_folder()
    library = Library()
    for path in paths:
        library.add(path.name, str(path), partial(open_path, path))
    with progress(f"reading {paths[0].name}"):
        _ = library.documents[0].opened
    token = secrets.token_urlsafe(24)
    listener = socket.create_server(("127.0.0.1", port))
    url = f"http://127.0.0.1:{listener.getsockname()[1]}/{token}/"
    click.echo(url)
    if not no_browser:
        webbrowser.open(url)
    config = uvicorn.Config(make_app(library, token, page), log_level="warning")
    uvicorn.Server(config).run(sockets=[listener])
