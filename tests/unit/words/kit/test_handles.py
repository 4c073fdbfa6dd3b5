"""Handles: what an answer offers, a question takes back; anything else is refused in words."""

from __future__ import annotations

import pytest

from tests.kit.together import together
from wavewright.errors import UsageError
from wavewright.words.kit import handles


@together("address", [0, 0x1814, 2**64 - 1])
@together("code_object", [None, 0, 17])
def test_handles_of_instructions_round_trip(address: int, code_object: int | None) -> None:
    text = handles.instruction_handle(address, code_object)
    assert handles.is_handle(text)
    assert handles.parse_code_place(text) == handles.InstructionHandle(address, code_object)
    assert handles.parse_instruction(text.removeprefix("i")) == address


@together("letter", sorted(set(handles.HANDLES) - {"i"}))
def test_handles_of_numbers_round_trip(letter: str) -> None:
    text = handles.handle(letter, 45)
    assert handles.is_handle(text)
    assert handles.handle_parser(letter)(text) == 45 == handles.parse_handle("45", letter)


@together("given", ["", "x3", "k", "k-1", "k3 ; rm", "٣", "d1e9", "k" + "9" * 400])
def test_other_texts_are_refused(given: str) -> None:
    with pytest.raises(UsageError, match="is not a kernel"):
        handles.parse_handle(given, "k")
    with pytest.raises(UsageError, match="is not an instruction"):
        handles.parse_instruction(given)


def test_a_handle_of_another_kind_is_refused() -> None:
    with pytest.raises(UsageError, match="is not a step"):
        handles.parse_handle("d3", "s")
