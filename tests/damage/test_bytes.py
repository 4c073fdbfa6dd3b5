"""Any byte string gives a result plus losses: cut, flipped, doubled, shuffled."""

from __future__ import annotations

import random

import polars as pl
import pytest

from tests.damage.conftest import Specimen
from wavewright import _core

OK, EMPTY, TOO_SHORT, NO_PAYLOAD, UNKNOWN_HEADER, STOPPED = range(6)


def decode(specimen: Specimen, data: bytes) -> _core.Records:
    records = _core.decode([data], specimen.program, threads=1)[0]
    check_consistency(records, specimen.program)
    return records


def check_consistency(records: _core.Records, program: _core.Program) -> None:
    """What holds for every result, however damaged the input was."""
    tables = _core.tables(records)
    sizes = {name: len(table) for name, table in tables.items()}
    if not sizes["waves"]:
        assert sizes["instructions"] == sizes["states"] == 0
        return
    waves = pl.DataFrame(tables["waves"]).select("first_instruction", "instruction_count", "first_state", "state_count")
    for first, count, total in (
        ("first_instruction", "instruction_count", sizes["instructions"]),
        ("first_state", "state_count", sizes["states"]),
    ):
        ends = waves[first] + waves[count]
        assert ends[-1] == total
        assert waves[first].to_list() == [0, *ends.to_list()[:-1]]
    rows = pl.DataFrame(tables["instructions"])["row"]
    assert rows.is_between(-1, len(program.rows()) - 1).all()


@pytest.mark.some_cases(2)
def test_cut_anywhere(specimen: Specimen) -> None:
    generator = random.Random(1)
    offsets = [*range(0, len(specimen.data), 512), *generator.choices(range(len(specimen.data)), k=500)]
    for offset in offsets:
        records = decode(specimen, specimen.data[:offset])
        if offset == 0:
            assert records.status == EMPTY
        elif offset < 8:
            assert records.status == TOO_SHORT
        elif offset == 8 and specimen.family == "gfx9":
            assert records.status == NO_PAYLOAD
        else:
            assert records.status in (OK, STOPPED)


def test_a_cut_trace_begins_like_the_whole_one(specimen: Specimen) -> None:
    whole = pl.DataFrame(_core.tables(decode(specimen, specimen.data))["events"])
    cut = pl.DataFrame(_core.tables(decode(specimen, specimen.data[: len(specimen.data) // 2]))["events"])
    assert cut.height
    assert whole.head(cut.height).equals(cut)


@pytest.mark.some_cases(2)
def test_flipped_bits(specimen: Specimen) -> None:
    generator = random.Random(2)
    for _ in range(600):  # `make flips` does 10,000 of every family
        data = bytearray(specimen.data)
        for _ in range(generator.choice((1, 1, 1, 2, 8))):
            data[generator.randrange(len(data))] ^= 1 << generator.randrange(8)
        decode(specimen, bytes(data))


def test_random_bytes_behind_a_sound_header(specimen: Specimen) -> None:
    generator = random.Random(3)
    for size in (1, 7, 8, 9, 64, 4096, 65536):
        for _ in range(10):
            decode(specimen, specimen.data[:8] + generator.randbytes(size))


def test_repeated_and_reordered_pieces(specimen: Specimen) -> None:
    generator = random.Random(4)
    pieces = [specimen.data[at : at + 1024] for at in range(8, len(specimen.data), 1024)]
    for _ in range(50):
        generator.shuffle(pieces)
        decode(specimen, specimen.data[:8] + b"".join(pieces))


def test_without_code(specimen: Specimen) -> None:
    nothing = _core.Program()
    nothing.link()
    records = _core.decode([specimen.data], nothing, threads=1)[0]
    tables = _core.tables(records)
    assert len(tables["instructions"]) > 0
    assert (pl.DataFrame(tables["instructions"])["row"] == -1).all()


@pytest.mark.some_cases(3)
def test_corrected_reads_on(specimen: Specimen) -> None:
    generator = random.Random(5)
    for _ in range(300):
        data = bytearray(specimen.data)
        for _ in range(4):
            data[generator.randrange(8, len(data))] ^= 1 << generator.randrange(8)
        records = _core.decode([bytes(data)], specimen.program, corrected=True, threads=1)[0]
        check_consistency(records, specimen.program)
        assert records.status == OK
