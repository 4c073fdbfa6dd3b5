"""What the page keeps in the user's configuration folder: whole, for nobody else, key by key."""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from tests.unit.server.conftest import Client
from wavewright.errors import UsageError, WavewrightError
from wavewright.model.document import Library
from wavewright.server.running_server import RunningServer, listen
from wavewright.server.user_state import MOST_BYTES, change_state, config_folder, read_state


def sent(**entries: object) -> bytes:
    return json.dumps({"entries": entries}).encode()


def test_keys_are_changed_one_by_one_and_null_removes(tmp_path: Path) -> None:
    folder = tmp_path / "config" / "wavewright"
    change_state(folder, sent(theme="dark", layout="t(isa;0)"))
    change_state(folder, sent(theme="light", notes=[1]))
    change_state(folder, sent(layout=None))
    assert read_state(folder)["entries"] == {"theme": "light", "notes": [1]}
    assert folder.stat().st_mode & 0o777 == 0o700
    assert [(file.name, file.stat().st_mode & 0o777) for file in folder.glob("[!.]*")] == [("page.json", 0o600)]


def test_two_pages_do_not_overwrite_each_other(tmp_path: Path) -> None:
    with ThreadPoolExecutor(8) as threads:
        list(threads.map(lambda n: change_state(tmp_path, sent(**{f"key {n}": n})), range(40)))
    assert read_state(tmp_path)["entries"] == {f"key {n}": n for n in range(40)}


@pytest.mark.parametrize(
    "content", [b"", b"{}", b"[1]", b'{"entries": 3}', b"\xff\xfe", b"[" * 100_000, b'{"entries": {"": 1}}']
)
def test_what_is_no_settings_file_is_told_and_put_aside(tmp_path: Path, content: bytes) -> None:
    file = tmp_path / "page.json"
    file.write_bytes(content)
    told = read_state(tmp_path)
    assert told["entries"] == {}
    assert "could not be read" in told["problem"]
    assert file.read_bytes() == content
    change_state(tmp_path, sent(theme="dark"))
    assert read_state(tmp_path) == {"entries": {"theme": "dark"}, "place": str(file), "problem": ""}
    assert (tmp_path / "page.unreadable.json").read_bytes() == content
    with pytest.raises(UsageError, match="not settings"):
        change_state(tmp_path, content)


def test_it_does_not_grow_without_bound(tmp_path: Path) -> None:
    half = "x" * (MOST_BYTES * 2 // 3)
    change_state(tmp_path, sent(one=half))
    with pytest.raises(UsageError, match="more than"):
        change_state(tmp_path, sent(two=half))
    assert list(read_state(tmp_path)["entries"]) == ["one"]


def test_a_folder_that_cannot_be_made_is_told(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(WavewrightError, match="cannot be kept"):
        change_state(tmp_path / "file" / "below", sent(theme="dark"))
    assert read_state(tmp_path / "file" / "below")["entries"] == {}


def test_where_it_is(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    assert config_folder() is None  # tests keep nothing
    monkeypatch.setenv("WAVEWRIGHT_CONFIG", str(tmp_path))
    assert config_folder() == tmp_path
    monkeypatch.delenv("WAVEWRIGHT_CONFIG")
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    assert config_folder() == tmp_path / "wavewright"
    monkeypatch.setenv("XDG_CONFIG_HOME", "relative")
    monkeypatch.setenv("HOME", str(tmp_path))
    assert config_folder() == tmp_path / ".config" / "wavewright"


def test_only_the_page_reads_and_writes_it(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, built_page: Path) -> None:
    monkeypatch.setenv("WAVEWRIGHT_CONFIG", str(tmp_path / "config"))
    client = Client(RunningServer(Library(command="wavewright open a"), built_page, listen()))
    try:
        own = {"content-type": "application/json", "origin": f"http://127.0.0.1:{client.serving.port}"}
        body = sent(theme="dark")
        assert client.ask("api/kept", method="PUT", headers=own, body=body, root="/wrong/").status == 403
        assert client.ask("api/kept", root="/wrong/").status == 403
        foreign = own | {"origin": "http://elsewhere.example"}
        assert client.ask("api/kept", method="PUT", headers=foreign, body=body).status == 403
        unnamed = {"content-type": "application/json"}
        assert client.ask("api/kept", method="PUT", headers=unnamed, body=body).status == 400
        form = own | {"content-type": "text/plain"}
        assert client.ask("api/kept", method="PUT", headers=form, body=body).status == 400
        assert client.ask("api/kept", method="PUT", headers=own, body=b"x" * (MOST_BYTES + 2)).status == 400
        assert client.json("api/kept")["entries"] == {}
        assert client.ask("api/kept", method="PUT", headers=own, body=body).status == 200
        told = client.json("api/kept")
        assert (told["entries"], told["command"]) == ({"theme": "dark"}, "wavewright open a")
    finally:
        client.serving.stop()
