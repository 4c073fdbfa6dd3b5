"""`wavewright open`: an address, answers behind it, and Ctrl-C."""

from __future__ import annotations

import json
import os
import shlex
import shutil
import signal
import socket
import time
from urllib.error import HTTPError
from urllib.parse import urlsplit
from urllib.request import Request, urlopen

import pytest

from synth.counter_capture import CounterCapture, write_counter_csv, write_counters
from synth.rocpd import write_rocpd_ranks
from synth.workload import Workload
from tests.cli.in_process import call
from tests.cli.serving import running
from wavewright.errors import MissingToolError
from wavewright.page.assets import page_folder

try:
    page_folder()
except MissingToolError as error:
    pytestmark = pytest.mark.skip(reason=str(error))


@pytest.fixture(scope="module")
def run_of_two(tmp_path_factory):
    folder = tmp_path_factory.mktemp("run")
    write_rocpd_ranks(folder, Workload(dispatches=60, ranks=2, nodes=1, gpus=2, seed=3))
    return folder


def test_a_raw_capture_is_decoded_and_served_until_ctrl_c(capture):
    with running("open", capture) as program:
        assert urlsplit(program.url).hostname == "127.0.0.1"
        assert program.ask("documents")[0] == {
            "number": 0, "label": "capture", "path": str(capture), "identity": f"{capture}.wavewright-notes.json",
            "kind": "trace", "is_open": True,
        }  # fmt: skip
        assert program.ask("0/overview")["instruction_count"] > 0
        status, said = program.interrupt()
    assert status == 0
    assert said.endswith("stopped\n")
    assert "Traceback" not in said
    assert "ssh" not in said


def test_scripts_get_the_address_as_json_in_the_first_line(capture):
    with running("open", capture, "--json", "--no-browser") as program:
        assert program.first_line.startswith('{"url":"http://127.0.0.1:')
        assert program.ask("documents")[0]["is_open"]
        assert program.interrupt() == (0, "stopped\n")


def test_a_place_is_opened_again_by_the_command_that_the_page_copies(capture, tmp_path):
    settings = {"WAVEWRIGHT_CONFIG": str(tmp_path / "config")}
    options = ["--no-browser", "--no-cache", "--source-root", tmp_path, "--at", "#row=3&layout=t(isa;0)"]
    with running("open", capture, *options, environment=settings) as program:
        address, _, place = program.url.partition("#")
        assert place == "row=3&layout=t(isa;0)"
        with urlopen(f"{address}api/kept") as reply:  # noqa: S310 - its own address
            told = json.loads(reply.read())
    command = shlex.join(["wavewright", "open", str(capture), "--source-root", str(tmp_path), "--no-cache"])
    assert told == {"entries": {}, "place": str(tmp_path / "config" / "page.json"), "problem": "", "command": command}
    assert not (tmp_path / "config").exists()  # looking writes nothing
    done = call("open", capture, "--at", "a b")
    assert (done.status, "not a location of the page" in done.stderr) == (2, True)


def test_over_ssh_it_tells_the_way_through(capture, tmp_path):
    opened = tmp_path / "opened"
    environment = {
        "SSH_CONNECTION": "192.0.2.1 50022 192.0.2.7 2222",
        "BROWSER": f"touch {opened} %s",
    }
    with running("open", capture, environment=environment) as program:
        port = urlsplit(program.url).port
        said = program.interrupt()[1]
    assert f"ssh -p 2222 -L {port}:127.0.0.1:{port} " in said
    assert not opened.exists()


def test_a_port_in_use_is_said_before_anything_is_read(capture):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        done = call("open", capture, "--port", taken.getsockname()[1])
    assert done.status == 2
    assert "is in use" in done.stderr
    assert "--port" in done.stderr


def test_the_port_that_was_asked_for_is_taken(capture):
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    with running("open", capture, "--port", port) as program:
        assert urlsplit(program.url).port == port


def test_what_cannot_be_shown_leaves_with_an_honest_status(capture, tmp_path):
    (tmp_path / "notes.txt").write_text("hello")
    for paths, status in (
        (["/nowhere"], 2),
        ([tmp_path / "notes.txt"], 3),
        ([capture, tmp_path / "notes.txt"], 3),
    ):
        done = call("open", *paths)
        assert (done.status, done.stdout) == (status, ""), paths
        assert "error:" in done.stderr


def test_what_turns_out_to_be_unreadable_ends_it(capture):
    for arguments, status in ((["--dispatch", 77], 2), (["--one-run"], 3)):
        done = call("open", capture, *arguments)
        assert done.status == status, arguments
        assert "error:" in done.stderr


def test_without_the_built_page_it_says_what_is_missing(capture, monkeypatch, tmp_path):
    import wavewright

    monkeypatch.setattr(wavewright, "__path__", [str(tmp_path)])
    done = call("open", capture)
    assert done.status == 5
    assert "Node.js" in done.stderr


def test_each_path_is_a_document_and_read_when_it_is_asked_for(capture, run_of_two):
    with running("open", run_of_two, capture) as program:
        assert [line["kind"] for line in program.ask("documents")] == ["run", None]
        assert program.ask("1/overview")["kind"] == "trace"
        assert [line["kind"] for line in program.ask("documents")] == ["run", "trace"]


def test_databases_of_one_run_are_one_document(run_of_two):
    files = sorted(run_of_two.glob("*.db"))
    with running("open", *files, "--one-run") as program:
        assert [line["label"] for line in program.ask("documents")] == [f"{files[0].name} and 1 more"]


@pytest.fixture
def three_dispatches(capture, tmp_path):
    assert call("decode", capture, "-o", tmp_path / "decoded").status == 0
    decoded = next((tmp_path / "decoded").glob("ui_output_*"))
    for number in (1, 2, 3):
        shutil.copytree(decoded, tmp_path / "many" / f"ui_output_agent_1_dispatch_{number}")
    return tmp_path / "many"


@pytest.mark.slow
def test_other_dispatches_of_the_folder_can_be_chosen(three_dispatches):
    with running("open", three_dispatches, "--dispatch", 2) as program:
        labels = [(line["label"], line["is_open"]) for line in program.ask("documents")]
        assert labels == [("many, dispatch 2", True), ("dispatch 1", False), ("dispatch 3", False)]
        assert program.ask("2/overview")["source"]["dispatch"] == 3


def test_a_trace_deleted_while_it_is_open_is_reported(three_dispatches):
    with running("open", three_dispatches) as program:
        assert len(program.ask("documents")) == 3
        shutil.rmtree(three_dispatches)
        with pytest.raises(HTTPError) as problem:
            program.ask("1/overview")
        assert problem.value.code == 410
        assert b"moved or deleted" in problem.value.read()
        assert program.ask("documents")


@pytest.mark.slow
def test_notes_go_beside_the_trace_or_where_the_user_said(capture, tmp_path):
    note = {"id": "1", "text": "look here", "address": "view=isa", "created": "2026-01-01T00:00:00Z"}
    for options, file in (((), "capture.wavewright-notes.json"), (("--notes", tmp_path / "mine.json"), "mine.json")):
        with running("open", capture, *options) as program:
            assert program.ask("0/notes") == {"notes": [], "saved_at": None, "can_save": True}
            headers = {"Content-Type": "application/json", "Origin": program.url.rsplit("/", 2)[0]}
            body = json.dumps({"notes": [note]}).encode()
            request = Request(f"{program.url}api/0/notes", body, headers, method="PUT")  # noqa: S310 - its own address
            with urlopen(request) as reply:  # noqa: S310
                assert json.loads(reply.read())["saved_at"] == str(tmp_path / file)
        assert json.loads((tmp_path / file).read_text())["notes"] == [note]


def test_ctrl_c_does_not_wait_for_an_answer(capture):
    with (
        running("open", capture) as program,
        socket.create_connection(("127.0.0.1", urlsplit(program.url).port)) as connection,
    ):
        connection.sendall(f"GET {urlsplit(program.url).path}api/0/over".encode())  # never ends
        assert program.interrupt()[0] == 0  # which waits for the end of the program, but not for ever


def test_sigterm_ends_it(capture):
    with running("open", capture) as program:
        os.kill(program.process.pid, signal.SIGTERM)
        assert program.process.wait() == 128 + signal.SIGTERM


@pytest.mark.slow
def test_what_was_opened_before_is_answered_again_until_it_changes(capture, tmp_path):
    cache, copy = tmp_path / "cache", tmp_path / "made" / "capture"
    shutil.copytree(capture, copy)
    environment = {"WAVEWRIGHT_CACHE": str(cache)}

    def overview(*options: str) -> dict:
        with running("open", copy, "--no-browser", *options, environment=environment) as program:
            program.ask("documents")
            answer = program.ask("0/overview")
            while not options and not list(cache.glob("*.answers")):
                time.sleep(0.05)
            return answer

    first = overview()
    (kept,) = cache.glob("*.answers")
    assert overview() == first
    assert list(cache.glob("*.answers")) == [kept]
    buffers = sorted(copy.rglob("*.att"))
    buffers[0].write_bytes(buffers[0].read_bytes()[: buffers[0].stat().st_size // 2])
    changed = overview()
    assert changed["instruction_count"] < first["instruction_count"]
    shutil.rmtree(cache)
    assert overview("--no-cache") == changed
    assert not cache.exists()


@pytest.mark.slow
def test_a_counter_capture_is_served_and_takes_its_gpu_from_the_user(tmp_path):
    write_counters(tmp_path / "capture", CounterCapture("gfx942"))
    with running("open", tmp_path / "capture") as program:
        assert program.ask("documents")[0]["kind"] == "counters"
        assert program.ask("0/overview")["target"] == "gfx942"
        assert program.ask("0/counter_panels?kernel=0")["rows"]["row_count"] > 300
        assert program.interrupt()[0] == 0
    made = write_counter_csv(tmp_path / "collected", CounterCapture("gfx942"))
    for agents in made.folder.rglob("*agent_info.csv"):
        agents.unlink()
    for options, target in (((), None), (("--target", "MI300X"), "gfx942")):
        with running("open", made.folder, "--no-cache", *options) as program:
            assert program.ask("0/overview")["target"] == target


def test_a_gpu_that_nobody_knows_ends_it(tmp_path):
    write_counters(tmp_path / "capture", CounterCapture("gfx942", with_channels=False))
    done = call("open", tmp_path / "capture", "--target", "gfx1", "--no-browser")
    assert done.status == 2
    assert "no facts about a GPU called 'gfx1'" in done.stderr


@pytest.mark.slow
def test_the_counters_of_a_run_are_a_document_of_their_own(run_of_two):
    database = next(iter(sorted(run_of_two.glob("*.db"))))
    with running("open", database, "--no-cache") as program:
        assert [line["label"] for line in program.ask("documents")] == [database.name, "counters"]
        facts = program.ask("1/overview")
        assert facts["kind"] == "counters"
        assert facts["counter_count"] == 2
        assert program.ask("1/counter_raw")["counters"]["row_count"] >= 2


@pytest.mark.slow
def test_without_paths_it_waits_for_something_to_open(capture, tmp_path):
    environment = {"WAVEWRIGHT_CONFIG": str(tmp_path / "config")}
    with running("open", capture, "--no-browser", environment=environment) as program:
        program.ask("documents")
    with running("open", "--no-browser", environment=environment) as program:
        assert program.ask("documents") == []
        (entry,) = program.ask("recent")["entries"]
        assert (entry["label"], entry["what"]) == ("capture", "raw thread-trace capture")
        status, said = program.interrupt()
    assert (status, said.endswith("stopped\n")) == (0, True)
    for options in (["--one-run"], ["--dispatch", 3], ["--at", "row=1"]):
        done = call("open", *options)
        assert (done.status, "without PATHS" in done.stderr) == (2, True)
