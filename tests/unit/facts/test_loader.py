"""The loader of declared data: what it refuses, and how it says so."""

import pytest

from wavewright.errors import UsageError
from wavewright.facts.loader import Fact, FactTable, decoded


class Port(Fact, frozen=True):
    name: str
    width_bits: int = 32


@pytest.mark.parametrize(
    ("declared", "words"),
    [
        ({"name": "valu", "width_bits": "wide"}, "width_bits: expected `int`"),
        ({"name": "valu", "widht_bits": 3}, "unknown key `widht_bits`"),
        ({}, "has no `name`"),
    ],
)
def test_a_value_that_does_not_fit_is_named_with_its_file(declared, words):
    with pytest.raises(UsageError) as refusal:
        decoded(declared, Port, where="ports.toml")
    assert refusal.value.where == "ports.toml"
    assert words in str(refusal.value)


def test_a_table_is_read_when_it_is_first_asked():
    table = FactTable("no_such_file.toml", Port)
    with pytest.raises(FileNotFoundError):
        len(table)
