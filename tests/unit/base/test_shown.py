"""Texts that are shown: nothing in them commands a terminal, and commands can be copied."""

from __future__ import annotations

import json
import subprocess

from hypothesis import given
from hypothesis import strategies as st

from wavewright.base.csv import harmless_text
from wavewright.base.shown import command_line, json_bytes

_OBEYED = [*range(0x20), *range(0x7F, 0xA0), 0x061C, 0x200E, 0x200F, *range(0x2028, 0x202F), *range(0x2066, 0x206A)]
_LETTERS = st.sampled_from([*map(chr, _OBEYED), "a", "\u00e9", "\u65e5", '"', "\\", " ", "'", ";", "$"])


@given(st.text(_LETTERS, max_size=20))
def test_json_holds_the_text_and_nothing_that_a_terminal_obeys(text: str) -> None:
    encoded = json_bytes({"name": text})
    assert json.loads(encoded) == {"name": text}
    assert not {ord(letter) for letter in encoded.decode()} & set(_OBEYED)


@given(st.text(_LETTERS, max_size=20))
def test_csv_holds_nothing_that_a_terminal_obeys(text: str) -> None:
    kept = {ord("\t"), ord("\n"), ord("\r")}
    assert not {ord(letter) for letter in harmless_text(text)} & (set(_OBEYED) - kept)


def test_a_command_that_is_copied_has_the_same_arguments() -> None:
    words = ["printf", "%s|", "a b", "a\nb", "it's", "$(touch x)", "; rm", "\x1b[2J", "\u65e5", ""]
    line = command_line(words)
    assert line.isprintable()
    done = subprocess.run(["bash", "-c", line], capture_output=True, check=True)
    assert done.stdout.decode() == "".join(f"{word}|" for word in words[2:])
