"""Questions and what becomes of them when something goes wrong: always a message, never silence."""

from __future__ import annotations

import json
import socket
import struct
import threading
import time
from pathlib import Path

import polars as pl
import pytest

from tests.unit.server.conftest import Client
from wavewright.errors import WavewrightError
from wavewright.model.document import Library
from wavewright.server.running_server import RunningServer, listen


def test_documents_are_listed_and_know_their_kind_once_opened(client, trace_path):
    line = {
        "number": 1, "label": "unopened", "path": str(trace_path), "identity": str(trace_path), "kind": None,
        "is_open": False,
    }  # fmt: skip
    assert client.json("api/documents")[1] == line
    assert client.json("api/1/overview")["kind"] == "trace"
    assert client.json("api/documents")[1] == line | {"kind": "trace", "is_open": True}


@pytest.mark.parametrize(
    ("path", "words"),
    [
        ("api/7/overview", "no document 7"),
        ("api/-1/overview", "no document -1"),
        ("api/x/overview", "not a whole number"),
        ("api/" + "9" * 5000 + "/overview", "not a whole number"),
        ("api/0/nonsense", "no question 'nonsense'"),
        ("api/0/" + "n" * 9000, "no question"),
        ("api/0/%3Cscript%3E", "no question '<script>'"),
        ("api/0/overview?x=1", "no parameter 'x'"),
        ("api/0/probe?of=1.5", "'1.5' is not a whole number"),
        ("api/0/probe?of=1e400", "not a whole number"),
        ("api/0/probe?of=" + "9" * 30_000, "not a whole number"),
        ("api/0/probe?of=%ff%fe", "not a whole number"),
    ],
)
def test_malformed_questions_are_answered_with_what_is_wrong(client, question, path, words):
    question(lambda document, of=0: [of])
    reply = client.ask(path)
    assert reply.status == 400
    assert words in reply.error["what"]
    assert set(reply.error) == {"what", "where", "kept", "advice"}
    assert len(reply.body) < 1000
    assert reply.headers["content-type"] == "application/json"


def _raising(error):
    def answer(document, of=0):
        raise error

    return answer


@pytest.mark.parametrize(
    ("error", "status", "words"),
    [
        (
            WavewrightError("half of it is missing", kept="3 waves", advice="capture again"),
            422,
            "half of it is missing",
        ),
        (MemoryError(), 507, "not enough memory"),
        (PermissionError(13, "Permission denied", "wave.json"), 422, "Permission denied"),
        (RuntimeError("secret detail"), 500, "a bug in wavewright: RuntimeError"),
        (pl.exceptions.PanicException("secret detail"), 500, "a bug in wavewright: PanicException"),
    ],
)
def test_whatever_goes_wrong_becomes_a_message(client, question, caplog, error, status, words):
    question(_raising(error))
    reply = client.ask("api/0/probe")
    assert reply.status == status
    assert words in reply.error["what"]
    assert b"secret detail" not in reply.body
    assert ("secret detail" in caplog.text) == (status == 500)
    assert client.json("api/documents")


def test_a_trace_that_was_deleted_is_said_to_be_gone(client, question, trace_path):
    question(_raising(FileNotFoundError(2, "No such file or directory")))
    away = trace_path.rename(trace_path.with_name("away"))
    reply = client.ask("api/0/probe")
    away.rename(trace_path)
    assert reply.status == 410
    assert "moved or deleted" in reply.error["what"]
    assert reply.error["where"] == str(trace_path)


def test_a_slow_question_holds_up_no_other(client, question):
    may_go, is_asked = threading.Event(), threading.Event()

    def answer(document, of=0):
        if of == 0:
            is_asked.set()
            assert may_go.wait(600)
        return {"of": of}

    question(answer)
    slow = []
    thread = threading.Thread(target=lambda: slow.append(client.json("api/0/probe?of=0")))
    thread.start()
    assert is_asked.wait(600)
    assert client.json("api/0/probe?of=5") == {"of": 5}
    assert client.json("api/documents")
    assert slow == []
    may_go.set()
    thread.join()
    assert slow == [{"of": 0}]


def test_many_clients_at_once_get_their_own_answers(client, question):
    question(lambda document, of=0: document.kept(("square", of % 5), lambda: time.sleep(0.01)) or [of])
    answers = {}

    def one(number):
        answers[number] = client.json(f"api/0/probe?of={number}")

    threads = [threading.Thread(target=one, args=(number,)) for number in range(40)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert answers == {number: [number] for number in range(40)}


def test_a_dropped_connection_is_no_error(client, question, caplog, capfd):
    has_begun = threading.Event()

    def answer(document, of=0):
        has_begun.set()
        time.sleep(0.1)
        return ["a" * 5_000_000]

    question(answer)
    connection = socket.create_connection(("127.0.0.1", client.serving.port))
    request = f"GET {client.root}api/0/probe HTTP/1.1\r\nHost: localhost\r\n\r\n"
    connection.sendall(request.encode())
    assert has_begun.wait(600)
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))  # reset, as a killed tab does
    connection.close()
    time.sleep(0.3)
    assert client.json("api/documents")
    assert caplog.text == ""
    assert capfd.readouterr() == ("", "")


def test_one_connection_is_kept_for_many_questions(client):
    import http.client

    connection = http.client.HTTPConnection("127.0.0.1", client.serving.port)
    sockets = set()
    for _ in range(3):
        connection.request("GET", client.root + "api/documents")
        sockets.add(connection.sock.getsockname())
        assert json.loads(connection.getresponse().read())[0]["number"] == 0
    connection.close()
    assert len(sockets) == 1


def test_paths_that_are_no_utf8_are_shown_all_the_same(built_page):
    """As Linux gives them: bytes that are no text become halves of pairs."""
    library = Library()
    library.add("bad\udcff", "/nowhere/bad\udcff", _raising(WavewrightError("broken", where="/nowhere/bad\udcff")))
    serving = RunningServer(library, built_page, listen())
    try:
        assert Client(serving).json("api/documents")[0]["label"] == "bad\\xff"
        assert Client(serving).ask("api/0/overview").error["where"] == "/nowhere/bad\\xff"
    finally:
        serving.stop()


def test_a_place_that_may_not_be_looked_at_is_not_called_gone(client, question, monkeypatch):
    def forbidden(_: Path) -> bool:
        raise PermissionError(13, "Permission denied")

    question(_raising(PermissionError(13, "Permission denied", "wave.json")))
    monkeypatch.setattr(Path, "exists", forbidden)
    reply = client.ask("api/0/probe")
    assert reply.status == 422
    assert "Permission denied" in reply.error["what"]
