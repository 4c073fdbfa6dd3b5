"""Documents keep what questions make: each thing once, different things at the same time."""

from __future__ import annotations

import threading

import pytest

from wavewright.model.document import Document


def _document() -> Document:
    return Document(0, "", "", lambda: None)


def test_two_things_are_made_at_the_same_time():
    document, meeting = _document(), threading.Barrier(2, timeout=600)
    threads = [threading.Thread(target=document.kept, args=(name, meeting.wait)) for name in "ab"]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(20)
    assert sorted(document.cache.values()) == [0, 1]


def test_the_same_thing_is_made_once():
    document, made, may_end, begun = _document(), [], threading.Event(), threading.Event()

    def make():
        made.append(1)
        begun.set()
        may_end.wait(600)
        return 7

    got = []
    threads = [threading.Thread(target=lambda: got.append(document.kept("x", make))) for _ in range(4)]
    for thread in threads:
        thread.start()
    assert begun.wait(600)
    may_end.set()
    for thread in threads:
        thread.join(20)
    assert (made, got) == ([1], [7] * 4)


def test_what_could_not_be_made_is_tried_again():
    document = _document()
    with pytest.raises(ZeroDivisionError):
        document.kept("x", lambda: 1 / 0)
    assert document.kept("x", lambda: 3) == 3


def test_a_thing_may_be_made_of_others():
    document = _document()
    assert document.kept("a", lambda: document.kept("b", lambda: 2) + 1) == 3
