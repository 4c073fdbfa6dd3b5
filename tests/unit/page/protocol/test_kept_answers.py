"""Answers kept for the next time: found again only while nothing changed, whole or not at all."""

from __future__ import annotations

import os

import pytest

from wavewright.base.cache import cache_folder
from wavewright.page.protocol import kept_answers
from wavewright.page.protocol.kept_answers import KeptAnswers, fingerprint
from wavewright.page.protocol.payload import ARROW, JSON, Payload


@pytest.fixture
def trace(tmp_path):
    folder = tmp_path / "run" / "ui_output"
    folder.mkdir(parents=True)
    (folder / "code.json").write_text("{}")
    (folder / "se0.json").write_text("[1]")
    return folder


def test_a_fingerprint_stays_while_nothing_changes(trace):
    assert fingerprint(trace) == fingerprint(trace)
    assert fingerprint(trace / "code.json") is not None


@pytest.mark.parametrize("change", ["content", "new file", "gone", "beside", "in a folder beside", "touched"])
def test_a_fingerprint_changes_with_any_file(trace, change):
    beside = trace.parent / "host"
    beside.mkdir()
    before = fingerprint(trace)
    if change == "content":
        (trace / "se0.json").write_text("[2]")
    elif change == "new file":
        (trace / "se1.json").write_text("[]")
    elif change == "gone":
        (trace / "se0.json").unlink()
    elif change == "beside":
        (trace.parent / "kernel_trace.csv").write_text("VGPR_Count\n")
    elif change == "in a folder beside":
        (beside / "agent_info.csv").write_text("Name\n")
    else:
        os.utime(trace / "se0.json", ns=(1, 1))
    assert fingerprint(trace) != before


def test_a_fingerprint_knows_options_and_notes_do_not_matter(trace):
    assert fingerprint(trace, "dispatch 1") != fingerprint(trace, "dispatch 2")
    before = fingerprint(trace)
    notes = trace.parent / "ui_output.wavewright-notes.json"
    notes.write_text("{}")
    assert fingerprint(trace) == before


def test_what_has_too_many_files_is_not_recognised(trace, monkeypatch):
    monkeypatch.setattr(kept_answers, "MOST_FILES", 2)
    assert fingerprint(trace) is None
    monkeypatch.setattr(kept_answers, "MOST_FILES", 50_000)
    monkeypatch.setattr(kept_answers, "MOST_AROUND", 0)
    (trace.parent / "other").write_text("")
    assert fingerprint(trace) is None


def test_answers_come_back_the_next_time(tmp_path):
    file = tmp_path / "cache" / "a.answers"
    first = KeptAnswers(file)
    assert not first.is_known
    first.put("spans", {"tile": "1", "level": "7"}, Payload(b"\xff\x00", ARROW))
    first.put("overview", {}, Payload(b"{}", JSON))
    first.save()
    again = KeptAnswers(file)
    assert again.get("spans", {"level": "7", "tile": "1"}) == Payload(b"\xff\x00", ARROW)
    assert again.get("overview", {}) == Payload(b"{}", JSON)
    assert again.get("spans", {"level": "7", "tile": "2"}) is None
    assert file.stat().st_mode & 0o077 == 0


@pytest.mark.parametrize("damage", [b"", b"wavewright answers 2\n", b"x" * 100])
def test_a_damaged_file_is_no_file(tmp_path, damage):
    file = tmp_path / "a.answers"
    first = KeptAnswers(file)
    first.put("overview", {}, Payload(b"{}", JSON))
    first.save()
    whole = file.read_bytes()
    for content in (damage, whole[:-1], whole[:60] + b"#" + whole[61:], whole + b"."):
        file.write_bytes(content)
        assert not KeptAnswers(file).is_known


def test_an_answer_that_changed_drops_the_earlier_ones(tmp_path):
    file = tmp_path / "a.answers"
    first = KeptAnswers(file)
    first.put("overview", {}, Payload(b"1", JSON))
    first.save()
    again = KeptAnswers(file)
    again.put("overview", {}, Payload(b"2", JSON))
    assert again.differs()
    assert not file.exists()
    assert again.get("overview", {}) is None


def test_the_cache_is_bounded(tmp_path, monkeypatch):
    monkeypatch.setattr(kept_answers, "MOST_BYTES", 10)
    kept = KeptAnswers(tmp_path / "0.answers")
    kept.put("a", {}, Payload(b"x" * 9, JSON))
    kept.put("b", {}, Payload(b"y" * 9, JSON))
    kept.save()
    assert KeptAnswers(tmp_path / "0.answers").get("b", {}) is None
    monkeypatch.setattr(kept_answers, "MOST_IN_CACHE", 1)
    other = KeptAnswers(tmp_path / "1.answers")
    other.put("a", {}, Payload(b"z", JSON))
    other.save()
    assert list(tmp_path.glob("*.answers")) == []


def test_what_a_killed_process_left_is_removed(tmp_path):
    old, new = tmp_path / "old.part", tmp_path / "new.part"
    for part in (old, new):
        part.write_text("")
    os.utime(old, (1, 1))
    kept = KeptAnswers(tmp_path / "a.answers")
    kept.put("overview", {}, Payload(b"{}", JSON))
    kept.save()
    assert not old.exists()
    assert new.exists()


def test_a_folder_that_cannot_be_written_is_no_failure(tmp_path):
    (tmp_path / "file").write_text("")
    kept = KeptAnswers(tmp_path / "file" / "a.answers")
    kept.put("overview", {}, Payload(b"{}", JSON))
    kept.save()


def test_the_cache_folder_is_the_users_to_choose(monkeypatch, tmp_path):
    monkeypatch.setenv("WAVEWRIGHT_CACHE", "")
    assert cache_folder() is None
    monkeypatch.setenv("WAVEWRIGHT_CACHE", str(tmp_path))
    assert cache_folder() == tmp_path
    monkeypatch.delenv("WAVEWRIGHT_CACHE")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert cache_folder() == tmp_path / "wavewright"


def test_a_parameter_that_looks_like_two_is_one(tmp_path):
    first = KeptAnswers(tmp_path / "a.answers")
    first.put("run_kernel", {"name": "a&step=2"}, Payload(b"1", JSON))
    first.save()
    again = KeptAnswers(tmp_path / "a.answers")
    assert again.get("run_kernel", {"name": "a", "step": "2"}) is None
    assert again.get("run_kernel", {"name": "a&step=2"}) == Payload(b"1", JSON)
