"""Verbs and options that do not exist are answered with those that were meant."""

from __future__ import annotations

import pytest

from tests.cli.in_process import call
from wavewright.cli import VERBS
from wavewright.cli.kit.suggestions import commands_meant, options_meant


@pytest.mark.parametrize(
    ("word", "verb"),
    [
        ("hotspot", "hotspots"),
        ("stall", "stalls"),
        ("wait", "waits"),
        ("isa", "source"),
        ("disasm", "source"),
        ("list", "info"),
        ("export", "convert"),
        ("view", "open"),
        ("timeline", "open"),
        ("roof", "roofline"),
        ("occ", "occupancy"),
        ("memory_chart", "memory-chart"),
        ("leaks", "memory"),
        ("lds", "counters"),
        ("bandwidth", "roofline"),
        ("diagnosis", "diagnose"),
        ("Compare", "compare"),
    ],
)
def test_the_first_suggestion_is_what_was_meant(word: str, verb: str) -> None:
    done = call(word, "somewhere")
    assert done.status == 2
    assert done.stderr.splitlines()[1].startswith(f"  try: wavewright {verb} (")


def test_a_word_that_means_nothing_leads_to_the_list() -> None:
    assert commands_meant("xyzzy", VERBS) == commands_meant("q", VERBS) == []
    assert "wavewright --help lists the verbs" in call("xyzzy").stderr


@pytest.mark.parametrize(
    ("arguments", "option"),
    [
        (("hotspots", "x", "--limit", 3), "--top"),
        (("waits", "x", "-n", 3), "--top"),
        (("diagnose", "x", "--disptach=3"), "--dispatch"),
        (("hotspots", "x", "--kernel-name", "a"), "--kernel"),
    ],
)
def test_options_of_other_tools(arguments: tuple[object, ...], option: str) -> None:
    done = call(*arguments)
    assert (done.status, f"Did you mean {option}?" in done.stderr) == (2, True), done.stderr


def test_an_option_that_the_verb_lacks_is_not_suggested() -> None:
    assert options_meant("--limit", ["--json"]) == []
    assert "Did you mean" not in call("hotspots", "x", "--wxyz").stderr
