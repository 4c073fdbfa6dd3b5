"""Sentences about losses are right for one and for several."""

from __future__ import annotations

import re

from tests.kit.together import together
from wavewright.model.losses import LOSSES, Loss


@together("kind", LOSSES)
@together("count", [1, 2])
def test_no_alternatives_are_left(kind: str, count: int) -> None:
    message = Loss(kind, count, "x").message
    assert not re.search(r"[][|{}]", message)
    if count == 1 and kind != "repeated_marker":
        assert not re.search(r"\b1 (\w+ )?(?!is|has|was|as)\w+s (are|have|were|do)\b", message)


def test_one_and_several() -> None:
    assert Loss("missing_files", 1, "a").message == "1 file that belongs to the directory is not in it (a)"
    assert Loss("missing_files", 2, "a").message == "2 files that belong to the directory are not in it (a)"
    assert Loss("malformed_rows", 1, "[a|b]").message == "1 row does not fit the format and was left out ([a|b])"
