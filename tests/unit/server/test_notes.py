"""Notes: the only thing that can be written, where the user said, whole, small, and by the page alone."""

from __future__ import annotations

import json
import socket
import stat
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.unit.server.conftest import Client
from wavewright.model.document import Library
from wavewright.model.trace import ThreadTrace, TraceSource
from wavewright.server.running_server import RunningServer, listen

NOTE = {"id": "1", "text": "a <b>long</b> wait", "address": "w=3", "created": "2026-01-01T00:00:00Z"}
FLAG = {**NOTE, "id": "2", "time": 1250.0, "colour": 3}


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "trace.wavewright-notes.json"


@pytest.fixture
def noting(built_page: Path, tmp_path: Path, file: Path) -> Iterator[Client]:
    library = Library()
    for notes in (str(file), "", str(tmp_path / "missing" / "notes.json")):
        library.add("trace", str(tmp_path), lambda: ThreadTrace({}, TraceSource(path="nothing")), notes=notes)
    serving = RunningServer(library, built_page, listen())
    yield Client(serving)
    serving.stop()


def _put(client: Client, body: object, *, number: int = 0, **headers: str | None):
    origin = f"http://127.0.0.1:{client.serving.port}"
    named = {"Content-Type": "application/json", "Origin": origin, **headers}
    content = body if isinstance(body, bytes) else json.dumps(body).encode()
    given = {name.replace("_", "-"): value for name, value in named.items() if value is not None}
    return client.ask(f"api/{number}/notes", method="PUT", body=content, headers=given)


def test_notes_are_saved_and_found_again(noting, file):
    assert noting.json("api/0/notes") == {"notes": [], "saved_at": None, "can_save": True}
    assert not file.exists()
    reply = _put(noting, {"notes": [NOTE, FLAG]})
    assert (reply.status, json.loads(reply.body)["saved_at"]) == (200, str(file))
    assert noting.json("api/0/notes") == {"notes": [NOTE, FLAG], "saved_at": str(file), "can_save": True}
    assert json.loads(file.read_text())["notes"] == [NOTE, FLAG]
    assert stat.S_IMODE(file.stat().st_mode) & 0o111 == 0
    assert [each.name for each in file.parent.iterdir() if each.name.startswith(".")] == []
    assert _put(noting, {"notes": []}).status == 200
    assert noting.json("api/0/notes")["notes"] == []


@pytest.mark.first_case
@pytest.mark.parametrize(
    ("body", "words"),
    [
        (b"", "not notes"),
        (b"[]", "not notes"),
        (b'{"notes": "x"}', "not notes"),
        (b'{"notes": [{"id": "1"}]}', "missing required field"),
        ({"notes": [{**NOTE, "more": 1}]}, "unknown field"),
        ({"notes": [{**NOTE, "text": 5}]}, "Expected `str`"),
        ({"notes": [{**NOTE, "text": "a" * 10_001}]}, "length"),
        ({"notes": [], "elsewhere": "/etc/passwd"}, "unknown field"),
        (b'{"notes": [' * 90_000, "not notes"),
        (b'{"notes": ["\xff"]}', "not notes"),
        (b" " * ((1 << 20) + 1), "more than 1,048,576 bytes"),
    ],
)
def test_what_are_no_notes_is_refused(noting, file, body, words):
    reply = _put(noting, body)
    assert reply.status == 400
    assert words in reply.error["what"]
    assert not file.exists()


def test_other_pages_and_forms_write_nothing(noting, file):
    for headers in (
        {"Origin": None},
        {"Origin": "http://evil.example"},
        {"Content_Type": "text/plain", "Content-Type": None},
        {"Content-Type": "application/x-www-form-urlencoded"},
    ):
        assert _put(noting, {"notes": [NOTE]}, **headers).status in (400, 403)
    assert noting.ask("api/0/notes", method="PUT", root="/wrong/", body=b"{}").status == 403
    assert noting.ask("api/0/notes", method="POST", body=b"{}").status == 405
    assert noting.ask("api/0/notes/x/notes", method="PUT", body=b"{}").status == 404
    assert not file.exists()


def test_a_body_without_end_is_cut_off(noting, file):
    with socket.create_connection(("127.0.0.1", noting.serving.port)) as connection:
        head = f"PUT {noting.root}api/0/notes HTTP/1.1\r\nHost: localhost\r\nOrigin: http://localhost\r\n"
        head += "Content-Type: application/json\r\nContent-Length: 9999999999\r\n\r\n"
        connection.sendall(head.encode())
        try:
            for _ in range(64):
                connection.sendall(b" " * (1 << 16))
            reply = connection.recv(100)
        except ConnectionError:
            reply = b""
        assert reply == b"" or reply.split()[1] == b"400"
    assert not file.exists()


def test_a_sender_who_leaves_is_no_error(noting, file, caplog):
    with socket.create_connection(("127.0.0.1", noting.serving.port)) as connection:
        head = f"PUT {noting.root}api/0/notes HTTP/1.1\r\nHost: localhost\r\nOrigin: http://localhost\r\n"
        head += 'Content-Type: application/json\r\nContent-Length: 500\r\n\r\n{"notes": ['
        connection.sendall(head.encode())
    assert noting.json("api/0/notes")["notes"] == []
    assert not file.exists()
    assert caplog.text == ""


def test_where_there_is_no_place_it_says_so(noting):
    assert noting.json("api/1/notes") == {"notes": [], "saved_at": None, "can_save": False}
    assert "no place" in _put(noting, {"notes": [NOTE]}, number=1).error["what"]
    assert noting.json("api/2/notes")["can_save"] is False
    reply = _put(noting, {"notes": [NOTE]}, number=2)
    assert reply.status == 422
    assert "cannot be written" in reply.error["what"]
    assert _put(noting, {"notes": [NOTE]}, number=77).status == 400


def test_a_file_that_holds_something_else_is_not_replaced(noting, file):
    file.write_text("my thesis")
    assert noting.ask("api/0/notes").status == 422
    reply = _put(noting, {"notes": [NOTE]})
    assert reply.status == 422
    assert "move the file away" in reply.error["advice"]
    assert file.read_text() == "my thesis"


def test_a_link_is_not_followed_when_writing(noting, file, tmp_path):
    target = tmp_path / "elsewhere.json"
    target.write_text('{"notes": []}')
    file.symlink_to(target)
    assert _put(noting, {"notes": [NOTE]}).status == 200
    assert target.read_text() == '{"notes": []}'
    assert not file.is_symlink()


def test_two_tabs_that_save_leave_one_whole_file(noting, file):
    bodies = [{"notes": [{**NOTE, "id": str(tab), "text": str(tab) * 5000}] * 20} for tab in range(8)]
    threads = [threading.Thread(target=_put, args=(noting, body)) for body in bodies]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(20)
    assert {"notes": json.loads(file.read_text())["notes"]} in bodies
