"""Dropped files: where they may go, how much of them, and what stays when they do not arrive."""

from __future__ import annotations

import io
import json
import os
import stat
import struct
import tarfile
import time
import zipfile
from dataclasses import replace

import pytest

from synth.rocpd import write_rocpd_ranks
from synth.workload import Workload
from tests.kit.made_decoded import NAME, decoded_files
from tests.unit.server.conftest import Client
from wavewright.errors import UsageError, WavewrightError
from wavewright.model.document import Library
from wavewright.page.inputs import add_inputs
from wavewright.server.running_server import RunningServer, listen
from wavewright.server.uploads import Budget, Uploads, parts_of

SMALL = Budget(bytes=1_000, files=5, total_bytes=1_500, at_once=2, idle_seconds=60)


def listing(files: dict[str, int]) -> bytes:
    return json.dumps({"files": [{"path": path, "bytes": size} for path, size in files.items()]}).encode()


def dropped(uploads: Uploads, files: dict[str, bytes]) -> list:
    name = uploads.start(listing({path: len(content) for path, content in files.items()}))
    uploads.write(name, 0, b"".join(files.values()))
    return uploads.finish(name)


@pytest.mark.parametrize(
    "path",
    ["", "/", ".", "..", "../x", "a/../b", "a/..", "/etc/passwd", "a\\b", "..\\x", "a\0b", "C:\\x", "x" * 300,
     "é" * 130, "a/" * 40 + "b", "/".join(["n" * 200] * 20)],
)  # fmt: skip
def test_names_that_lead_elsewhere_or_are_too_long_are_refused(path, tmp_path):
    with pytest.raises(UsageError):
        parts_of(path)
    with pytest.raises(UsageError):
        Uploads(parent=tmp_path).start(listing({path: 1}))
    assert not [file for file in tmp_path.rglob("*") if file.is_file()]


def test_letters_that_are_no_part_of_names_become_underscores():
    assert parts_of("a/./b//c\r\n.json") == ("a", "b", "c__.json")
    assert parts_of("\u202egnp.exe") == ("_gnp.exe",)
    assert parts_of("~/-rf *") == ("~", "-rf *")


def test_files_are_private_and_as_they_were(tmp_path):
    uploads = Uploads(parent=tmp_path)
    files = {"run/empty": b"", "run/a.bin": bytes(range(256)), "run/sub/b": b"xyz", "run/last": b""}
    name = uploads.start(listing({path: len(content) for path, content in files.items()}))
    content = b"".join(files.values())
    for at in range(0, len(content), 7):
        uploads.write(name, at, content[at : at + 7])
    (folder,) = uploads.finish(name)
    stored = {str(file.relative_to(folder.parent)): file.read_bytes() for file in folder.rglob("*") if file.is_file()}
    assert (folder.name, stored) == ("run", files)
    for place in (folder, *folder.parents):
        if place == tmp_path:
            break
        assert stat.S_IMODE(place.stat().st_mode) == 0o700
    assert {stat.S_IMODE(file.stat().st_mode) for file in folder.rglob("*") if file.is_file()} == {0o600}
    uploads.end()
    assert list(tmp_path.iterdir()) == []


def test_names_that_differ_only_in_case_do_not_overwrite_each_other(tmp_path):
    (folder,) = dropped(Uploads(parent=tmp_path), {"x/A": b"first", "x/a": b"second"})
    assert sorted(file.read_bytes() for file in folder.iterdir()) == [b"first", b"second"]


@pytest.mark.parametrize("files", [[("a", 1), ("a", 2)], [("a", 1), ("./a", 2)], [("a", 1), ("a/b", 2)]])
def test_two_files_of_one_name_are_refused(files, tmp_path):
    content = json.dumps({"files": [{"path": path, "bytes": size} for path, size in files]}).encode()
    with pytest.raises(UsageError, match=r"called|a file and a folder"):
        Uploads(parent=tmp_path).start(content)


def test_a_link_that_somebody_puts_in_the_way_is_not_followed(tmp_path):
    secret = tmp_path / "secret"
    secret.write_text("secret")
    uploads = Uploads(parent=tmp_path / "cache")
    name = uploads.start(listing({"a": 3, "b": 3}))
    uploads.write(name, 0, b"abc")
    (uploads.upload(name).place / "b").symlink_to(secret)
    with pytest.raises(WavewrightError, match="cannot be stored"):
        uploads.write(name, 3, b"xyz")
    assert secret.read_text() == "secret"


@pytest.mark.parametrize(
    ("files", "what"),
    [({"a": 1_001}, "1,001 bytes"), ({str(n): 0 for n in range(6)}, "6 files"), ({}, "no file"), ({"a": -1}, "list")],
)
def test_budgets_are_told(files, what, tmp_path):
    with pytest.raises(UsageError, match=what) as problem:
        Uploads(SMALL, tmp_path).start(listing(files))
    if files and -1 not in files.values():
        assert "at most" in problem.value.advice
        assert "wavewright open PATH" in problem.value.advice


def test_nothing_but_a_list_is_a_list(tmp_path):
    uploads = Uploads(parent=tmp_path)
    for content in (b"", b"[]", b'{"files": 3}', b'{"files": [{"path": 3, "bytes": 1}]}', b"\xff", b"[" * 5000):
        with pytest.raises(UsageError):
            uploads.start(content)


def test_more_or_other_bytes_than_announced_are_refused(tmp_path):
    uploads = Uploads(parent=tmp_path)
    name = uploads.start(listing({"a": 3}))
    with pytest.raises(UsageError, match="more bytes"):
        uploads.write(name, 0, b"abcd")
    with pytest.raises(UsageError, match="do not follow"):
        uploads.write(name, 2, b"c")
    with pytest.raises(UsageError, match="missing"):
        uploads.finish(name)
    with pytest.raises(UsageError, match="given up"):
        uploads.write(name, 0, b"abc")
    assert not [file for file in tmp_path.rglob("*") if file.is_file()]


def is_there(folder, name):
    try:
        return any(folder.rglob(name))
    except FileNotFoundError:  # a folder is being removed at this moment
        return True


def test_only_a_few_come_at_once_and_what_stops_is_given_up(tmp_path):
    uploads = Uploads(replace(SMALL, idle_seconds=0.2), tmp_path)
    first, second = (uploads.start(listing({"a": 3})) for _ in range(2))
    uploads.write(first, 0, b"ab")
    with pytest.raises(WavewrightError, match="2 other uploads"):
        uploads.start(listing({"a": 3}))
    uploads.give_up(second)
    assert uploads.start(listing({"a": 3}))
    while is_there(tmp_path, "a"):
        time.sleep(0.05)
    with pytest.raises(UsageError, match="given up"):
        uploads.upload(first)


def test_the_oldest_goes_when_there_is_too_much(tmp_path):
    gone = []
    uploads = Uploads(SMALL, tmp_path, gone.append)
    folders = [dropped(uploads, {"a": bytes(600)})[0].parent.parent for _ in range(3)]
    assert gone == folders[:1]
    assert [folder.exists() for folder in folders] == [False, True, True]


@pytest.fixture
def opening(built_page, tmp_path, monkeypatch):
    """A server without documents, that stores what is dropped below `tmp_path/cache`."""
    monkeypatch.setenv("WAVEWRIGHT_CACHE", str(tmp_path / "cache"))
    library = Library()
    serving = RunningServer(library, built_page, listen(), uploads=Budget(bytes=50 << 20, total_bytes=60 << 20))
    yield Client(serving)
    serving.stop()
    assert not (tmp_path / "cache" / "dropped").exists() or not list((tmp_path / "cache" / "dropped").iterdir())


def put(client, path, body=b"{}", media_type="application/json", **headers):
    given = {"Content-Type": media_type, "Origin": f"http://127.0.0.1:{client.serving.port}", **headers}
    return client.ask(f"api/{path}", method="PUT", headers=given, body=body)


def drop(client, files: dict[str, bytes]):
    """What the page does with dropped files: the last reply."""
    reply = put(client, "uploads", listing({path: len(content) for path, content in files.items()}))
    if reply.status != 200:
        return reply
    name = json.loads(reply.body)["upload"]
    reply = put(client, f"uploads/{name}/bytes?at=0", b"".join(files.values()), "application/octet-stream")
    return put(client, f"uploads/{name}/opened") if reply.status == 200 else reply


def test_a_dropped_folder_becomes_a_document(opening):
    assert opening.json("api/documents") == []
    reply = drop(opening, {f"{NAME}/{name}": content for name, content in decoded_files().items()})
    assert (reply.status, json.loads(reply.body)) == (200, {"document": 0})
    (line,) = opening.json("api/documents")
    assert (line["label"], line["kind"]) == (NAME, "trace")
    assert opening.json("api/0/overview")["wave_count"] > 0
    assert opening.json("api/0/notes")["can_save"] is False


def packed(form: str) -> bytes:
    out = io.BytesIO()
    if form == "zip":
        with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
            for name, content in decoded_files().items():
                archive.writestr(f"{NAME}/{name}", content)
        return out.getvalue()
    with tarfile.open(fileobj=out, mode=f"w:{form}") as archive:
        for name, content in decoded_files().items():
            member = tarfile.TarInfo(f"{NAME}/{name}")
            member.size = len(content)
            archive.addfile(member, io.BytesIO(content))
        for name, to in (("evil", "/etc/passwd"), ("../../out", "x")):
            member = tarfile.TarInfo(name)
            member.type, member.linkname = tarfile.SYMTYPE, to
            archive.addfile(member)
    return out.getvalue()


@pytest.mark.first_case
@pytest.mark.parametrize(("form", "name"), [("zip", "t.zip"), ("", "t.tar"), ("gz", "t.tar.gz"), ("xz", "t.tar.xz")])
def test_dropped_archives_are_read_and_links_in_them_are_not_followed(opening, tmp_path, form, name):
    reply = drop(opening, {name: packed(form)})
    assert reply.status == 200, reply.body
    facts = opening.json("api/0/overview")
    assert facts["wave_count"] > 0
    assert form == "zip" or any("links" in loss["message"] for loss in facts["losses"])
    assert [file.name for file in (tmp_path / "cache" / "dropped").rglob("*") if file.is_file()] == [name]


def test_a_bomb_is_refused_with_its_limit_and_leaves_nothing(opening, tmp_path):
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(f"{NAME}/code.json", bytes(300 << 20))
    reply = drop(opening, {"bomb.zip": out.getvalue()})
    assert reply.status == 400
    assert "unpacks to more than" in reply.error["what"]
    assert reply.error["where"] == "bomb.zip"
    assert opening.json("api/documents") == []
    assert not [file for file in (tmp_path / "cache").rglob("*") if file.is_file()]


def test_what_is_not_recognised_is_told_and_leaves_nothing(opening, tmp_path):
    reply = drop(opening, {"notes/hello.txt": b"hello"})
    assert reply.status == 422
    assert "*.att" in reply.error["advice"]
    assert str(tmp_path) not in json.dumps(reply.error)
    assert opening.json("api/documents") == []
    assert not [file for file in (tmp_path / "cache").rglob("*") if file.is_file()]


@pytest.mark.parametrize(
    ("path", "change"),
    [
        ("uploads", {"media_type": "text/plain"}),
        ("uploads", {"media_type": "application/x-www-form-urlencoded"}),
        ("uploads", {"Origin": "http://evil.example"}),
        ("uploads", {"Host": "evil.example"}),
        ("recent/x/opened", {"media_type": "text/plain"}),
        ("uploads/x/opened", {"Origin": "null"}),
    ],
)
def test_other_sites_cannot_send_anything(opening, path, change):
    assert put(opening, path, listing({"a": 1}), **change).status in (400, 403)


def test_a_request_without_an_origin_or_token_is_refused(opening):
    headers = {"Content-Type": "application/json"}
    reply = opening.ask("api/uploads", method="PUT", headers=headers, body=listing({"a": 1}))
    assert reply.status == 400
    reply = opening.ask("api/uploads", method="PUT", headers=headers, body=b"{}", root="/wrong/")
    assert reply.status == 403
    for method in ("POST", "DELETE", "PATCH"):
        assert opening.ask("api/uploads", method=method).status == 405
    assert opening.ask("api/uploads").status in (404, 405)


def test_too_many_bytes_at_once_give_the_upload_up(opening, tmp_path):
    name = json.loads(put(opening, "uploads", listing({"a": 20 << 20})).body)["upload"]
    reply = put(opening, f"uploads/{name}/bytes?at=0", bytes(17 << 20), "application/octet-stream")
    assert reply.status == 400
    assert not [file for file in (tmp_path / "cache").rglob("*") if file.is_file()]


def test_a_document_that_made_room_says_so(opening):
    ballast = {f"{NAME}/{name}": content for name, content in decoded_files().items()}
    ballast[f"{NAME}/ballast.bin"] = os.urandom(1) * (12 << 20)
    for _ in range(3):
        name = json.loads(put(opening, "uploads", listing({p: len(c) for p, c in ballast.items()})).body)["upload"]
        content = b"".join(ballast.values())
        for at in range(0, len(content), 16 << 20):
            put(opening, f"uploads/{name}/bytes?at={at}", content[at : at + (16 << 20)], "application/octet-stream")
        assert put(opening, f"uploads/{name}/opened").status == 200
    reply = put(opening, "uploads", listing({"a": 40 << 20}))
    assert reply.status == 200
    assert opening.ask("api/0/overview").status == 410
    assert "make room" in opening.ask("api/0/overview").error["what"]
    assert opening.ask("api/2/overview").status == 200


def test_a_dropped_folder_whose_database_cannot_be_used_says_why(tmp_path):
    """The log beside it names a file that SQLite would delete; see readers/files/sqlite/moments.py."""
    write_rocpd_ranks(tmp_path, Workload(dispatches=5, ranks=1, seed=1))
    (file,) = tmp_path.rglob("*.db")
    name, magic = b"/tmp/victim", bytes.fromhex("d9d505f920a163d7")
    numbers = struct.pack(">IIIII", 1, 0x1234, file.stat().st_size // 4096, 512, 4096)
    end = struct.pack(">I", 0x40000000) + name + struct.pack(">II", len(name), sum(name)) + magic
    journal = (magic + numbers).ljust(512, b"\0") + b"x" * 4104 + end
    folder = tmp_path / "dropped" / "run"
    folder.mkdir(parents=True)
    (folder / file.name).write_bytes(file.read_bytes())
    (folder / f"{file.name}-journal").write_bytes(journal)
    with pytest.raises(WavewrightError) as told:
        _ = add_inputs(Library(), [folder])[0].opened
    assert file.name in told.value.what
    assert "directory" not in told.value.what
