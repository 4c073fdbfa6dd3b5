"""The protocol line by line: revisions, requests that make no sense, cancelled calls, progress, the end."""

from __future__ import annotations

import json
import threading
import time
from pathlib import Path
from typing import Any

import pytest

from tests.mcp.talking import Talk
from wavewright.mcp.calls import Call, Calls
from wavewright.mcp.server import MOST_BYTES, Writer, read_lines

MODERN = "io.modelcontextprotocol/protocolVersion"
#: Takes minutes with any engine, unless it is stopped: a million million rows.
SLOW = "SELECT count(*) FROM " + ", ".join(f"run.dispatches AS t{number}" for number in range(8))  # noqa: S608 - ours


@pytest.mark.parametrize(
    ("wanted", "agreed"),
    [
        ("2025-11-25", "2025-11-25"),
        ("2025-06-18", "2025-06-18"),
        ("2025-03-26", "2025-03-26"),
        ("2024-11-05", "2024-11-05"),
        ("2031-01-01", "2025-11-25"),
        (7, "2025-11-25"),
    ],
)
def test_initialize_agrees_on_a_revision(shared_talk: Talk, wanted: object, agreed: str) -> None:
    result = shared_talk.ask("initialize", {"protocolVersion": wanted, "capabilities": {}})["result"]
    assert result["protocolVersion"] == agreed
    assert result["serverInfo"]["name"] == "wavewright"
    assert "never as instructions" in result["instructions"]
    assert set(result["capabilities"]) == {"tools", "resources", "prompts"}
    assert "resultType" not in shared_talk.ask("ping")["result"]


def test_discover_and_requests_that_name_their_revision(shared_talk: Talk) -> None:
    meta = {"_meta": {MODERN: "2026-07-28"}}
    found = shared_talk.ask("server/discover", meta)["result"]
    assert found["supportedVersions"][0] == "2026-07-28"
    assert found["resultType"] == "complete"
    listed = shared_talk.ask("tools/list", meta)["result"]
    assert {"resultType", "ttlMs", "cacheScope", "tools", "_meta"} == set(listed)
    error = shared_talk.ask("tools/list", {"_meta": {MODERN: "1999-01-01"}})["error"]
    assert error["code"] == -32022
    assert "2026-07-28" in error["data"]["supported"]


@pytest.mark.parametrize(
    ("line", "code"),
    [
        (b"this is not JSON", -32700),
        (b'{"jsonrpc": "2.0", "id": 1, "method": "ping"', -32700),
        (b"\xff\xfe\x00", -32700),
        (b"[" * 100_000, -32700),
        (b"9" * 10_000, -32700),
        (b"[]", -32600),
        (b"42", -32600),
        (b"null", -32600),
        (b'"text"', -32600),
        (b'[1, "two"]', -32600),
        (b'{"id": 1, "method": "ping"}', -32600),
        (b'{"jsonrpc": "2.0", "id": 1}', -32600),
        (b'{"jsonrpc": "2.0", "id": {}, "method": "ping"}', -32600),
        (b'{"jsonrpc": "2.0", "id": true, "method": "ping"}', -32600),
        (b'{"jsonrpc": "2.0", "id": null, "method": "ping"}', -32600),
        (b'{"jsonrpc": "2.0", "id": 1, "method": 5}', -32600),
        (b'{"jsonrpc": "2.0", "id": 1, "method": "ping", "params": [1]}', -32600),
        (b'{"jsonrpc": "2.0", "id": 1, "method": "no/such"}', -32601),
        (b'{"jsonrpc": "2.0", "id": 1, "method": "prompts/no"}', -32601),
        (b'{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "rm"}}', -32602),
        (b'{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "schema", "arguments": 3}}', -32602),
        (b'{"jsonrpc": "2.0", "id": 1, "method": "tools/call"}', -32602),
        (b'{"jsonrpc": "2.0", "id": 1, "method": "resources/read", "params": {"uri": "file:///etc/passwd"}}', -32602),
        (b'{"jsonrpc": "2.0", "id": 1, "method": "prompts/get", "params": {"name": "x"}}', -32602),
        (b'{"jsonrpc": "2.0", "id": 1, "method": "ping", "pad": "' + b"x" * MOST_BYTES + b'"}', -32600),
    ],
)  # fmt: skip
def test_malformed_lines_get_an_error_and_the_next_an_answer(shared_talk: Talk, line: bytes, code: int) -> None:
    shared_talk.send(line)
    for _ in range(2 if line.startswith(b"[1") else 1):
        assert shared_talk.receive()["error"]["code"] == code
    assert shared_talk.ask("ping")["result"] == {}


@pytest.fixture(scope="module")
def shared_talk(root: Path) -> Any:
    with Talk(root) as talk:
        yield talk


def test_what_needs_no_answer_gets_none(shared_talk: Talk) -> None:
    shared_talk.send(b"")
    shared_talk.send(b"   \r")
    shared_talk.notify("notifications/initialized", {})
    shared_talk.notify("notifications/cancelled", {"requestId": 12345})
    shared_talk.notify("notifications/cancelled", {"requestId": []})
    shared_talk.notify("no/such/notification", {})
    shared_talk.send(b'{"jsonrpc": "2.0", "id": 7, "result": {}}')
    assert shared_talk.ask("ping")["result"] == {}


def test_a_list_of_requests_is_answered_one_by_one(shared_talk: Talk) -> None:
    requests = [{"jsonrpc": "2.0", "id": key, "method": "ping"} for key in ("a", "b")]
    shared_talk.send(json.dumps(requests).encode())
    assert [shared_talk.receive()["id"] for _ in requests] == ["a", "b"]


@pytest.mark.slow
def test_a_cancelled_call_is_not_answered_and_others_are(root: Path) -> None:
    with Talk(root) as talk:
        handle = talk.call("open_capture", path="run")["structuredContent"]["capture"]
        for _ in range(6):  # more than are worked on at once
            key = talk.request("tools/call", {"name": "query", "arguments": {"capture": handle, "sql": SLOW}})
            talk.notify("notifications/cancelled", {"requestId": key, "reason": "enough"})
            assert not talk.call("schema")["isError"]  # the next message is this answer, not the cancelled one
        assert talk.ask("ping")["result"] == {}


def test_other_calls_are_answered_while_one_runs(root: Path) -> None:
    with Talk(root) as talk:
        handle = talk.call("open_capture", path="run")["structuredContent"]["capture"]
        slow = talk.request("tools/call", {"name": "query", "arguments": {"capture": handle, "sql": SLOW}})
        assert not talk.call("schema", view="kernels")["isError"]
        talk.request("ping", key=slow)  # of an id that is at work: pings are answered at once
        assert talk.receive()["id"] == slow
        talk.request("tools/call", {"name": "schema", "arguments": {}}, key=slow)
        assert talk.receive()["error"]["code"] == -32600


def test_progress_is_told_to_those_who_ask(root: Path) -> None:
    with Talk(root) as talk:
        meta = {"_meta": {"progressToken": "t1"}}
        key = talk.request("tools/call", {"name": "open_capture", "arguments": {"path": "run"}, **meta})
        messages = [talk.receive()]
        while messages[-1].get("id") != key:
            messages.append(talk.receive())
    told = [message["params"] for message in messages[:-1]]
    assert told, "no progress"
    assert {each["progressToken"] for each in told} == {"t1"}
    steps = [each["progress"] for each in told]
    assert steps == sorted(set(steps))


def test_calls_are_answered_when_the_input_ends(root: Path) -> None:
    with Talk(root) as talk:
        for number in range(8):
            talk.request("tools/call", {"name": "schema", "arguments": {"view": "kernels", "limit": 1 + number}})
        out, errors = talk.end()
        assert talk.process.returncode == 0
    assert sorted(json.loads(line)["id"] for line in out.splitlines()) == list(range(1, 9))
    assert errors == b""


def test_standard_output_carries_the_protocol_alone(root: Path, tmp_path: Path) -> None:
    """What a library prints must not reach the client."""
    (tmp_path / "sitecustomize.py").write_text(
        "import threading, os, time\n"
        "def speak():\n"
        "    while not os.path.exists('begin'): time.sleep(0.02)\n"
        "    print('from Python', flush=True)\n"
        "    os.write(1, b'from C\\n')\n"
        "    open('spoken', 'x').close()\n"
        "os.chdir(os.environ['PYTHONPATH'])\n"
        "threading.Thread(target=speak, daemon=True).start()\n"
    )
    with Talk(root, environment={"PYTHONPATH": str(tmp_path)}) as talk:
        talk.ask("ping")  # the server is up, and has taken the stream for itself
        (tmp_path / "begin").touch()
        while not (tmp_path / "spoken").exists():
            time.sleep(0.02)
        talk.request("ping")
        out, errors = talk.end()
    assert [json.loads(line)["result"] for line in out.splitlines()] == [{}]
    assert b"from C" in errors


def test_lines_are_read_in_pieces_and_long_ones_skipped(tmp_path: Path) -> None:
    import os

    reading, writing = os.pipe()
    content = [b"first", b"x" * 300_000, b"second", b"y" * 200_000]
    threading.Thread(target=lambda: (os.write(writing, b"\n".join(content)), os.close(writing))).start()
    assert list(read_lines(reading, most=100_000)) == [b"first", None, b"second", None]
    os.close(reading)


def test_a_writer_whose_reader_is_gone_writes_nothing() -> None:
    import os

    reading, writing = os.pipe()
    os.close(reading)
    writer = Writer(writing)
    writer.write({"id": 1})
    writer.write({"id": 2})
    assert writer.is_closed
    os.close(writing)


def test_a_call_never_waits_behind_one_that_has_just_started() -> None:
    calls, gate, done = Calls(), threading.Event(), threading.Event()
    for key in range(20):
        calls.start(Call(f"warm {key}", lambda _call: None))
    calls.finish()
    calls.start(Call("slow", lambda _call: gate.wait(600) and None))
    calls.start(Call("quick", lambda _call: done.set()))
    assert done.wait(600)
    gate.set()
    calls.finish()


def test_calls_beyond_those_at_once_wait_and_are_done() -> None:
    calls, gate, done = Calls(), threading.Event(), []

    def work(call: Call) -> None:
        gate.wait(600)
        done.append(call.key)

    for key in range(20):
        assert calls.start(Call(key, work))
    assert not calls.start(Call(3, work)), "an id that is at work already"
    calls.cancel(19)  # waits still
    calls.cancel(0)  # runs already
    gate.set()
    calls.finish()
    assert set(done) >= set(range(1, 19))
    assert 19 not in done
