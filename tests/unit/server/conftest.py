"""A real server on loopback, asked through sockets: what a browser would get, byte for byte."""

from __future__ import annotations

import http.client
import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from wavewright.model.document import Library
from wavewright.model.trace import ThreadTrace, TraceSource
from wavewright.page.protocol.question import PageQuestion
from wavewright.page.questions import questions_about
from wavewright.questions.kit.parameters import whole_number
from wavewright.server.running_server import RunningServer, listen


@dataclass
class Reply:
    status: int
    headers: dict[str, str]
    body: bytes

    @property
    def error(self) -> dict[str, str]:
        return json.loads(self.body)["error"]


@dataclass
class Client:
    serving: RunningServer

    @property
    def root(self) -> str:
        return urlsplit(self.serving.url).path

    def ask(
        self,
        path: str,
        *,
        method: str = "GET",
        headers: dict[str, str] | None = None,
        body: bytes | None = None,
        root: str | None = None,
    ) -> Reply:
        connection = http.client.HTTPConnection("127.0.0.1", self.serving.port)
        try:
            connection.request(method, (self.root if root is None else root) + path, body, headers or {})
            response = connection.getresponse()
            named = {name.lower(): value for name, value in response.getheaders()}
            return Reply(response.status, named, response.read())
        finally:
            connection.close()

    def json(self, path: str) -> Any:
        reply = self.ask(path)
        assert reply.status == 200, reply
        return json.loads(reply.body)


@pytest.fixture(scope="session")
def built_page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder like that of the built page; what it shows does not matter here."""
    tmp_path = tmp_path_factory.mktemp("built")
    folder = tmp_path / "page"
    folder.mkdir()
    (folder / "index.html").write_text("<title>the page</title>")
    (folder / "page.js").write_text("'the script'")
    (tmp_path / "secret.html").write_text("not for the page")
    (folder / "link.html").symlink_to(tmp_path / "secret.html")
    return folder


@pytest.fixture(scope="module")
def trace_path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("traces") / "trace"
    path.mkdir()
    return path


@pytest.fixture(scope="module")
def client(built_page: Path, trace_path: Path) -> Iterator[Client]:
    """Two documents at one place, the second of which no test opens but by asking."""
    library = Library()
    for label in ("trace", "unopened"):
        library.add(label, str(trace_path), lambda: ThreadTrace({}, TraceSource(path="nothing")))
    serving = RunningServer(library, built_page, listen())
    yield Client(serving)
    serving.stop()


@pytest.fixture
def question(monkeypatch: pytest.MonkeyPatch) -> Callable[[Callable[..., Any]], None]:
    """`question(f)`: the page may ask `probe`, with a whole number `of`, and `f` answers it."""

    def add(answer: Callable[..., Any]) -> None:
        probe = PageQuestion("probe", answer, {"of": whole_number})
        for kind in ("any", "trace", "run", "counters"):
            monkeypatch.setitem(questions_about(kind), "probe", probe)

    return add
