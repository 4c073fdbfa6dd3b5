"""Recent inputs: what is remembered, for whom, and that nothing else can be opened."""

from __future__ import annotations

import json
import shutil
import stat
from pathlib import Path

import pytest

from tests.kit.made_decoded import NAME, decoded_files, write_files
from tests.unit.server.conftest import Client
from tests.unit.server.test_uploads import put
from wavewright.model.document import Library
from wavewright.page.inputs import Reading
from wavewright.server import recent
from wavewright.server.recent import MOST_ENTRIES, recent_lines, remember
from wavewright.server.running_server import RunningServer, listen


@pytest.fixture
def config(tmp_path, monkeypatch):
    folder = tmp_path / "config"
    monkeypatch.setenv("WAVEWRIGHT_CONFIG", str(folder))
    return folder


@pytest.fixture
def trace(tmp_path):
    return write_files(tmp_path / "data" / NAME, decoded_files())


def test_an_input_is_remembered_with_what_it_is_and_how_it_was_read(config, trace):
    remember([trace], Reading(dispatch="3", source_root=str(trace)))
    (line,) = recent_lines(config)
    size = sum(file.stat().st_size for file in trace.rglob("*") if file.is_file())
    assert (line["label"], line["is_there"], line["bytes"]) == (NAME, True, size)
    assert line["what"] == "decoded thread trace (ui_output directory)"
    assert line["paths"] == (str(trace),)
    assert recent.entry_called(config, line["id"]).reading.dispatch == "3"
    assert stat.S_IMODE((config / "recent.json").stat().st_mode) == 0o600
    assert stat.S_IMODE(config.stat().st_mode) == 0o700
    shutil.rmtree(trace)
    (line,) = recent_lines(config)
    assert (line["is_there"], line["bytes"]) == (False, None)


def test_the_latest_comes_first_once_and_there_are_not_too_many(config, trace):
    for number in range(MOST_ENTRIES + 5):
        remember([trace], Reading(dispatch=str(number)))
    remember([trace], Reading(dispatch="10"))
    numbers = [recent.entry_called(config, line["id"]).reading.dispatch for line in recent_lines(config)]
    assert len(numbers) == MOST_ENTRIES
    assert numbers[:2] == ["10", "24"]
    assert len(set(numbers)) == MOST_ENTRIES


def test_nothing_is_remembered_where_that_is_switched_off_or_not_possible(config, trace, monkeypatch):
    remember([trace], Reading(code_objects=("x.out",)))
    remember([Path("/nowhere")], Reading())
    assert recent_lines(config) == []
    monkeypatch.setenv("WAVEWRIGHT_CONFIG", "")
    remember([trace], Reading())
    assert recent_lines(None) == []


@pytest.mark.parametrize("content", [b"", b"[]", b'{"entries": 3}', b"\xff", b"[" * 9000, b" " * (2 << 20)])
def test_a_damaged_list_is_an_empty_one_and_is_replaced(config, trace, content):
    config.mkdir()
    (config / "recent.json").write_bytes(content)
    assert recent_lines(config) == []
    remember([trace], Reading())
    assert len(recent_lines(config)) == 1


def test_a_list_that_others_can_have_written_does_not_count(config, trace, tmp_path):
    remember([trace], Reading())
    (config / "recent.json").chmod(0o666)
    assert recent_lines(config) == []
    (config / "recent.json").rename(tmp_path / "elsewhere")
    (tmp_path / "elsewhere").chmod(0o600)
    (config / "recent.json").symlink_to(tmp_path / "elsewhere")
    assert recent_lines(config) == []


def test_the_page_opens_exactly_these(config, trace, built_page):
    remember([trace], Reading())
    serving = RunningServer(Library(), built_page, listen())
    try:
        client = Client(serving)
        answer = client.json("api/recent")
        assert "4.0 GiB and 200,000 files" in answer["most_words"]
        (line,) = answer["entries"]
        for name in ("x", str(trace), "..", line["id"][:-1]):
            assert put(client, f"recent/{name.replace('/', '%2F')}/opened").status in (400, 404)
        assert client.json("api/documents") == []
        reply = put(client, f"recent/{line['id']}/opened")
        assert json.loads(reply.body) == {"document": 0}
        assert client.json("api/documents")[0]["path"] == str(trace)
        assert put(client, f"recent/{line['id']}/forgotten").status == 200
        assert client.json("api/recent")["entries"] == []
        assert trace.is_dir()
    finally:
        serving.stop()


def test_a_recent_input_that_is_gone_is_told(config, trace, built_page):
    remember([trace], Reading())
    (line,) = recent_lines(config)
    shutil.rmtree(trace)
    serving = RunningServer(Library(), built_page, listen())
    try:
        reply = put(Client(serving), f"recent/{line['id']}/opened")
        assert (reply.status, reply.error["where"]) == (400, str(trace))
        assert "no such file" in reply.error["what"]
    finally:
        serving.stop()
