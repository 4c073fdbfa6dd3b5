"""Documents in a browser: the server on loopback, its address, and how to reach it from another computer."""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from importlib import import_module
from threading import Thread
from time import monotonic, sleep
from typing import TYPE_CHECKING, Self

import click

from wavewright.base import stopping
from wavewright.cli.kit.io import progress
from wavewright.errors import WavewrightError

if TYPE_CHECKING:
    from pathlib import Path
    from socket import socket

    from wavewright.model.document import Document, Library

ERROR_GRACE_S = 2.0  #: How long the server stays up after an error, so that the page can show it.
INITIAL_READ_DELAY_S = 2.0  #: Reading waits at most so long while the page draws cached answers.
FIRST_LOOK_S = 20.0  #: What the page asks in this time after the start is cached for the next opening.
SAVE_INTERVAL_S = 0.2  #: Pause between two looks for answers to cache.


def import_server() -> None:
    """Import the server in a separate thread, while native code reads."""

    def load() -> None:
        for name in ("starlette.routing", "starlette.responses", "uvicorn.protocols.http.h11_impl"):
            import_module(name)

    Thread(target=load, daemon=True).start()


class Listener:
    """The port of the page, bound before anything is read: a port in use is reported at once."""

    def __init__(self, port: int) -> None:
        from wavewright.page.assets import page_folder
        from wavewright.server.running_server import listen

        self.page: Path = page_folder()
        self.socket: socket = listen(port)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.socket.close()

    def serve(self, library: Library, *, no_browser: bool, as_json: bool = False, at: str = "") -> None:
        """Serve until Ctrl-C, which is not a failure. The page opens at the location `at`.

        The first document is read while the browser loads the page, which waits for it. What cannot be read ends the
        program with its own exit status. Without documents the page asks for some.
        """
        from wavewright.server.running_server import RunningServer

        first = library.documents[0] if library.documents else None
        with stopping.served_until_interrupt():
            serving = RunningServer(library, self.page, self.socket)
            place = at if library.documents else "start"
            url = f"{serving.url}#{place}" if place else serving.url
            _tell(url, serving.port, as_json=as_json)
            has_browser = not no_browser and _has_browser()
            if has_browser:  # on a thread: some browsers keep the caller until they end
                import webbrowser

                Thread(target=webbrowser.open, args=(url,), daemon=True).start()
            if first is None:
                serving.wait()
                return
            try:
                if first.kept_answers and first.kept_answers.is_known:
                    first.kept_answers.when_quiet(INITIAL_READ_DELAY_S)
                with progress(f"reading {first.label}"):
                    _ = first.opened
            except WavewrightError:
                sleep(ERROR_GRACE_S if has_browser else 0)  # the page says it, too
                raise
            Thread(target=_prepare, args=(first,), daemon=True).start()
            serving.wait()


def _prepare(first: Document) -> None:
    """Compute the first answers of the page, and cache them for the next opening."""
    from wavewright.page.payloads import prepare

    prepare(first)
    cache = first.kept_answers
    if cache is None:
        return
    if cache.differs():
        click.echo("cached answers are out of date: reload the page", err=True)
    end = monotonic() + FIRST_LOOK_S
    while monotonic() < end:
        cache.when_quiet(FIRST_LOOK_S)
        cache.save()
        sleep(SAVE_INTERVAL_S)


def _tell(url: str, port: int, *, as_json: bool) -> None:
    if as_json:
        import msgspec

        click.echo(msgspec.json.encode({"url": url}).decode())
    else:
        if tunnel := _tunnel(port):
            click.echo(f"on your own machine: {tunnel}", err=True)
        click.echo("serving until Ctrl-C:", err=True)
        click.echo(url)
    sys.stdout.flush()  # whoever reads a pipe waits for the address


def _is_remote() -> bool:
    return bool(os.environ.get("SSH_CONNECTION") or os.environ.get("SSH_TTY"))


def _tunnel(port: int) -> str:
    """The command that makes our port one of the machine from which this session came; empty = it came from here."""
    if not _is_remote():
        return ""
    import getpass
    import socket

    connection = os.environ.get("SSH_CONNECTION", "").split()
    # CLIENT CLIENT_PORT SERVER SERVER_PORT, as sshd sets it.
    address, ssh_port = connection[2:] if len(connection) == 4 else ("", "22")
    name = socket.gethostname()
    host = name if "." in name or not address else address  # a short name may mean nothing elsewhere
    user = ""
    with suppress(KeyError, OSError):
        user = getpass.getuser() + "@"
    other_port = "" if ssh_port == "22" else f"-p {ssh_port} "
    return f"ssh {other_port}-L {port}:127.0.0.1:{port} {user}{host}"


def _has_browser() -> bool:
    """True if this session has a screen; text browsers would take the terminal over."""
    if _is_remote():
        return False
    return sys.platform == "darwin" or any(os.environ.get(name) for name in ("DISPLAY", "WAYLAND_DISPLAY", "BROWSER"))
