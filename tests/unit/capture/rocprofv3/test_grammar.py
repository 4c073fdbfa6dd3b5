"""Launches and periods of collection, with the meanings of spec 1.7."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.kit.amd_script import AmdScript
from wavewright.capture.rocprofv3.grammar import check_periods, launch_words, read_launches
from wavewright.errors import UsageError


@pytest.mark.parametrize(
    ("text", "numbers"),
    [
        ("[1, 2, [5-8]]", (1, 2, 5, 6, 7, 8)),
        ("1 2 5-8", (1, 2, 5, 6, 7, 8)),
        ("[1],[2],[5-8]", (1, 2, 5, 6, 7, 8)),
        ("[6, [8-8]]", (6, 8)),  # seed 001: believed to skip 6 and trace 8
        ("[1, [3-4]]", (1, 3, 4)),
        ("[0, [1-2]]", (0, 1, 2)),
        ("7-8", (7, 8)),
        ("8-7", ()),
        ("3-4x", (3, 4)),  # the tool reads digits and ignores what follows
        ("[]", ()),
        ("", ()),
        ("007", (7,)),
    ],
)
def test_ranges_are_sets(text: str, numbers: tuple[int, ...]) -> None:
    assert read_launches(text).numbers == numbers


def test_surprises_are_named() -> None:
    assert any("brackets" in note and "6, 8" in note for note in read_launches("[6, [8-8]]").notes)
    assert any("coldest" in note for note in read_launches("[1, [3-4]]").notes)
    assert any("never matches" in note for note in read_launches("0 1").notes)
    assert any("downwards" in note for note in read_launches("8-7").notes)
    assert any("only launch 1" in note for note in read_launches("[]").notes)
    assert read_launches("7 8").notes == read_launches("[7],[8]").notes == read_launches("1").notes == ()


@pytest.mark.parametrize("text", ["a", "7;8", "-5", "5-", "1-2-3", "x-4", "4-x", "1.5", "7\t8", "9" * 30, "1-2000000"])
def test_what_ends_the_program_is_refused(text: str) -> None:
    with pytest.raises(UsageError) as error:
        read_launches(text)
    assert error.value.advice


@given(st.sets(st.integers(1, 400)))
def test_words_mean_the_launches(launches: set[int]) -> None:
    words = launch_words(launches)
    assert read_launches(", ".join(words)).numbers == tuple(sorted(launches))  # as the script joins them
    assert read_launches(" ".join(words)).numbers == tuple(sorted(launches))


def test_words_are_plain() -> None:
    assert launch_words((7, 8)) == ("7", "8")
    assert launch_words([1, 2, 3]) == ("1-3",)
    assert launch_words([]) == ()
    with pytest.raises(UsageError, match="no launch 0"):
        launch_words([0, 1])


@pytest.mark.parametrize(
    ("words", "unit"), [(["0.5:2:1"], "sec"), (["1:2:3", "4:5:6"], "msec"), (["0:1:0"], "hour"), (["1e1:1:1"], "nsec")]
)
def test_periods_that_the_script_takes_are_taken(scripts: dict[str, AmdScript], words: list[str], unit: str) -> None:
    check_periods(words, unit)
    assert scripts["7.14"].variables(["-P", *words, "--collection-period-unit", unit])["ROCPROF_COLLECTION_PERIOD"]


@pytest.mark.parametrize("word", ["1:2", "1:2:3:4", "a:2:3", "1:b:3", "1:2:1.5", "nan:1:1", "inf:1:1", "1::1"])
def test_periods_that_break_the_script_are_refused(scripts: dict[str, AmdScript], word: str) -> None:
    assert scripts["7.14"].run(["-P", word, "--", "program"]).is_refused
    with pytest.raises(UsageError, match="delay:time:repeat"):
        check_periods([word])


def test_periods_that_collect_nothing_are_refused() -> None:
    for word in ("1:0:1", "-1:1:1", "1:1:-1"):
        with pytest.raises(UsageError, match="collects nothing"):
            check_periods([word])
    with pytest.raises(UsageError, match="not a unit"):
        check_periods(["1:1:1"], "days")
