"""An entry of the answer cache counts only if the user alone can have written it, and only whole."""

from __future__ import annotations

import hashlib
import json
import os
import socket
import struct
from collections.abc import Callable
from pathlib import Path

import pytest

from wavewright.page.protocol import kept_answers
from wavewright.page.protocol.kept_answers import KeptAnswers
from wavewright.page.protocol.payload import ARROW, JSON, Payload

ANSWER = Payload(b'{"label":"mine"}', JSON)
NAME = "0.answers"
MAGIC = b"wavewright answers 2\n"


@pytest.fixture
def entry(tmp_path: Path) -> Path:
    """An entry that counts, in a folder that `KeptAnswers` made."""
    file = tmp_path / "cache" / NAME
    kept = KeptAnswers(file)
    kept.put("overview", {}, ANSWER)
    kept.put("layers", {}, Payload(b"\xff\x00", ARROW))
    kept.save()
    assert KeptAnswers(file).get("overview", {}) == ANSWER
    return file


def rewritten(file: Path, index: object, body: bytes, *, name: str = NAME) -> None:
    """An entry with a right digest: what somebody writes who knows the format."""
    head = index if isinstance(index, bytes) else json.dumps(index).encode()
    content = struct.pack("<Q", len(head)) + head + body
    digest = hashlib.sha256(name.encode() + b"\0" + content).digest()
    file.write_bytes(MAGIC + digest + content)


def flipped(file: Path, at: int) -> None:
    stored = bytearray(file.read_bytes())
    stored[at] ^= 1
    file.write_bytes(bytes(stored))


def moved(file: Path) -> Path:
    elsewhere = file.parent.parent / "elsewhere"
    elsewhere.mkdir(mode=0o700)
    return file.rename(elsewhere / NAME)


def linked(file: Path) -> None:
    file.symlink_to(moved(file))


def hard_linked(file: Path) -> None:
    os.link(moved(file), file)


def a_socket(file: Path) -> None:
    file.unlink()
    here = Path.cwd()
    os.chdir(file.parent)  # the address of a socket has room for about a hundred characters
    try:
        with socket.socket(socket.AF_UNIX) as made:
            made.bind(file.name)
    finally:
        os.chdir(here)


def a_pipe(file: Path) -> None:
    file.unlink()
    os.mkfifo(file)


def a_folder(file: Path) -> None:
    file.unlink()
    file.mkdir()


TAMPERED: dict[str, Callable[[Path], object]] = {
    "gone": lambda file: file.unlink(),
    "empty": lambda file: file.write_bytes(b""),
    "cut": lambda file: file.write_bytes(file.read_bytes()[:-1]),
    "longer": lambda file: file.write_bytes(file.read_bytes() + b"."),
    "another magic": lambda file: flipped(file, 0),
    "another digest": lambda file: flipped(file, len(MAGIC)),
    "another length": lambda file: flipped(file, len(MAGIC) + 32),
    "another index": lambda file: flipped(file, len(MAGIC) + 32 + 9),
    "another answer": lambda file: flipped(file, -1),
    "under another name": lambda file: rewritten(file, [["0/overview", JSON, 2]], b"{}", name="1.answers"),
    "a page": lambda file: rewritten(file, [["0/overview", "text/html", 2]], b"{}"),
    "a script": lambda file: rewritten(file, [["0/overview", JSON + ";x=text/javascript", 2]], b"{}"),
    "a negative size": lambda file: rewritten(file, [["0/overview", JSON, 4], ["0/x", JSON, -2]], b"{}"),
    "more than there is": lambda file: rewritten(file, [["0/overview", JSON, 3]], b"{}"),
    "less than there is": lambda file: rewritten(file, [["0/overview", JSON, 1]], b"{}"),
    "a question twice": lambda file: rewritten(file, [["0/overview", JSON, 1], ["0/overview", JSON, 1]], b"{}"),
    "no list": lambda file: rewritten(file, {"0/overview": JSON}, b"{}"),
    "no text": lambda file: rewritten(file, b"\xff\xfe", b"{}"),
    "deep": lambda file: rewritten(file, b"[" * 100_000, b"{}"),
    "a huge number": lambda file: rewritten(file, b'[["0/overview","application/json",' + b"9" * 5000 + b"]]", b"{}"),
    "a link": linked,
    "a hard link": hard_linked,
    "a link to nothing": lambda file: (file.unlink(), file.symlink_to("nothing")),
    "a pipe": a_pipe,
    "a socket": a_socket,
    "a folder": a_folder,
    "writable by the group": lambda file: file.chmod(0o620),
    "writable by all": lambda file: file.chmod(0o602),
    "in a folder that the group may write": lambda file: file.parent.chmod(0o770),
    "in a folder that all may write": lambda file: file.parent.chmod(0o707),
    "in a sticky folder of all": lambda file: file.parent.chmod(0o1777),
}


@pytest.mark.parametrize("how", TAMPERED)
def test_what_is_not_surely_the_users_own_is_no_entry(entry: Path, how: str) -> None:
    TAMPERED[how](entry)
    assert not KeptAnswers(entry).is_known


@pytest.mark.parametrize("which", ["the entry", "its folder"])
def test_what_another_user_owns_is_no_entry(entry: Path, which: str, monkeypatch: pytest.MonkeyPatch) -> None:
    place = entry if which == "the entry" else entry.parent
    if os.geteuid() == 0:
        os.chown(place, 65534, 65534)
    else:  # nobody else's file can be made: then somebody else looks at this one
        monkeypatch.setattr(os, "geteuid", lambda: os.getuid() + 1)
    assert not KeptAnswers(entry).is_known


def test_too_long_an_entry_is_not_even_read(entry: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kept_answers, "MOST_BYTES", 8)
    assert not KeptAnswers(entry).is_known
    with entry.open("r+b") as stream:
        stream.truncate(1 << 32)  # a hole: it takes no room
    assert not KeptAnswers(entry).is_known


def test_nothing_is_kept_where_it_would_not_be_believed(tmp_path: Path) -> None:
    folder = tmp_path / "open"
    folder.mkdir()
    folder.chmod(0o777)
    kept = KeptAnswers(folder / NAME)
    kept.put("overview", {}, ANSWER)
    kept.save()
    assert list(folder.iterdir()) == []


def test_a_tampered_entry_is_replaced_by_a_sound_one(entry: Path) -> None:
    target = entry.parent / "target"
    target.write_bytes(b"stays")
    entry.unlink()
    entry.symlink_to(target)
    kept = KeptAnswers(entry)
    kept.put("overview", {}, ANSWER)
    kept.save()
    assert not entry.is_symlink()
    assert target.read_bytes() == b"stays"
    assert KeptAnswers(entry).get("overview", {}) == ANSWER


def test_earlier_answers_stay_as_long_as_there_is_room(entry: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    again = KeptAnswers(entry)
    again.put("loops", {}, Payload(b"[]", JSON))
    again.save()
    assert KeptAnswers(entry).get("overview", {}) == ANSWER
    monkeypatch.setattr(kept_answers, "MOST_BYTES", len(ANSWER.content) + 4)
    full = KeptAnswers(entry)
    full.put("costs", {}, Payload(b"x" * (len(ANSWER.content) + 4), JSON))
    full.save()
    assert set(KeptAnswers(entry)._earlier) == {"0/costs"}
