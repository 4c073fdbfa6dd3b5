"""What is told of instructions by their names, against LLVM's records: one instruction of every record and target.

Classes, accesses and control flow are told by texts, because texts are all that listings and decoded traces have. The
records say the same of the bytes (`facts` and registers of the core's tables).
"""

from __future__ import annotations

import re
from functools import lru_cache

import polars as pl
import pytest

from tests.unit.codeobj.isa.test_vectors import COLUMNS, _of
from wavewright import _core
from wavewright.analysis.code import flow
from wavewright.analysis.trace.code.accesses import ATOMIC, LOAD, LOAD_TO_LDS, STORE, access_of
from wavewright.codeobj.classes import classify
from wavewright.codeobj.operands import read_texts
from wavewright.codeobj.registers import EXEC, WRITES
from wavewright.codeobj.targets import family_of

# cpp/include/wavewright/isa.hpp: Fact.
LOADS, STORES, IS_ATOMIC, RETURNS_OLD, BRANCH, CALL, ENDS_BLOCK, VALU, SALU, MATRIX, TRANSCENDENTAL = (
    1 << bit for bit in range(11)
)


@lru_cache(maxsize=2)
def rows(column: str) -> pl.DataFrame:
    """`text`, `wave64`, `facts`, `class`, and `writes_exec`, of the bytes of every vector."""
    frames = []
    for group in _of(column):
        code, chunks = b"", []
        for vector in group:
            chunks.append((len(code), len(code), len(code) + len(vector.code), vector.wave64))
            code += vector.code
        answer = _core.disassemble(code, chunks, column, True)
        operands = pl.DataFrame(answer.operands)
        masked = operands.filter(
            (pl.col("role") & WRITES != 0)
            & (pl.col("register") <= EXEC + 1)
            & (pl.col("register") + pl.col("count") > EXEC)
        )["row"].unique()
        decoded = pl.DataFrame(answer.rows)
        assert decoded.height == len(group)
        frames.append(
            decoded.select("facts")
            .with_row_index("row")
            .with_columns(
                pl.Series("text", [vector.text for vector in group]),
                wave64=pl.lit(group[0].wave64),
                writes_exec=pl.col("row").is_in(masked.implode()),
            )
        )
    family = family_of(column)
    return pl.concat(frames).with_columns(
        pl.Series("class", [classify(text, family).name for frame in frames for text in frame["text"]])
    )


def having(column: str, fact: int) -> pl.DataFrame:
    return rows(column).filter((pl.col("facts") & fact) != 0)


def mnemonics(frame: pl.DataFrame) -> set[str]:
    return set(frame["text"].str.extract(r"^(\S+)"))


def contained(column: str, pattern: str) -> pl.DataFrame:
    return rows(column).filter(pl.col("text").str.contains(pattern))


#: Inside LDS, in the global data share, and the state of the tensor unit: not loads, stores or atomics alone.
ELSEWHERE = re.compile(r"write_src2| gds\b|tensor_(save|stop)")


@pytest.mark.first_case
@pytest.mark.parametrize("column", COLUMNS)
def test_accesses_have_the_directions_of_the_records(column: str) -> None:
    directions = {LOAD: "load", STORE: "store", LOAD_TO_LDS: "load_to_lds", ATOMIC: "atomic"}
    for (wave64,), group in rows(column).group_by("wave64"):
        by_records = read_texts(group["text"], (column,), wave64=bool(wave64))["access"]
        wrong = [
            (text, access, by_name)
            for text, access in zip(group["text"], by_records, strict=True)
            if (access or "").removesuffix("_return")
            != (directions[by_name.direction] if (by_name := access_of(text)) else "")
            and not ELSEWHERE.search(text)
        ]
        assert wrong == []


#: LLVM's records of images are all of the form with return; LLVM does not print the return of a cascading atomic.
RETURN_UNSAID = r"^image_atomic|TH_ATOMIC_(CASCADE|0x)"


@pytest.mark.some_cases(6)
@pytest.mark.parametrize("column", COLUMNS)
def test_atomics_return_where_the_records_say_so(column: str) -> None:
    atomics = rows(column).filter(
        pl.col("class").str.contains("^(vmem|flat)_atomic") & ~pl.col("text").str.contains(RETURN_UNSAID)
    )
    assert atomics.height > 20
    gives_back = (pl.col("facts") & RETURNS_OLD) != 0
    wrong = atomics.filter(pl.col("class").str.ends_with("_return") != gives_back)
    assert wrong["text"].to_list() == []


@pytest.mark.parametrize("column", COLUMNS)
def test_matrix_and_transcendental_instructions_are_those_of_the_records(column: str) -> None:
    copies = {"v_accvgpr_read_b32", "v_accvgpr_write_b32", "v_accvgpr_mov_b32"}  # between registers
    matrix = mnemonics(having(column, MATRIX)) - copies
    of_class = mnemonics(rows(column).filter(pl.col("class") == "matrix"))
    scales = {name for name in of_class if "_ld_scale" in name}  # loads what the next matrix instruction scales with
    assert of_class - scales == matrix
    assert mnemonics(contained(column, flow._MATRIX)) - scales == matrix
    transcendental = having(column, TRANSCENDENTAL).filter(pl.col("class") != "valu_dual")
    assert set(transcendental["class"].unique()) == {"valu_transcendental"}
    flagged = mnemonics(transcendental)
    of_class = mnemonics(rows(column).filter(pl.col("class") == "valu_transcendental"))
    assert of_class >= flagged
    # LLVM does not flag these forms of what it flags otherwise.
    unflagged = {name for name in of_class if name.endswith("_e64_dpp")}
    assert of_class - flagged <= unflagged
    assert {name.replace("_e64_dpp", "_e32") for name in unflagged} <= flagged


#: The compiler does not use them, and LLVM has no flags: forks and joins of gfx9, returns from traps.
WITHOUT_FLAGS = r"^s_(cbranch_(g_fork|i_fork|join)|rfe_)"


@pytest.mark.parametrize("column", COLUMNS)
def test_control_flow_is_that_of_the_records(column: str) -> None:
    described = rows(column).with_columns(flow=flow._first(flow._FLOWS, pl.col("text"), flow.NEXT))
    described = described.filter(~pl.col("text").str.contains(WITHOUT_FLAGS))
    is_branch, is_call, ends = ((pl.col("facts") & fact) != 0 for fact in (BRANCH, CALL, ENDS_BLOCK))
    expected = {
        flow.BRANCH: is_branch & ~ends,
        flow.CALL: is_call,
        flow.END: ends & ~is_branch,
    }
    for number, is_expected in expected.items():
        assert mnemonics(described.filter(pl.col("flow") == number)) == mnemonics(described.filter(is_expected)), number
    leaving = described.filter(is_branch & ends)
    assert set(leaving["flow"].unique()) <= {flow.JUMP, flow.BACK, flow.ANYWHERE}
    assert mnemonics(described.filter(pl.col("flow").is_in([flow.JUMP, flow.BACK, flow.ANYWHERE]))) == mnemonics(
        leaving
    )
    classes = {"branch": flow.JUMP, "branch_conditional": flow.BRANCH, "call": flow.CALL, "end": flow.END}
    for name, number in classes.items():
        assert set(described.filter(pl.col("class") == name)["flow"].unique()) <= {number}, name


@pytest.mark.parametrize("column", COLUMNS)
def test_masks_change_only_where_they_are_written(column: str) -> None:
    """Names that narrow or widen the mask of lanes are of instructions that write it."""
    described = rows(column).with_columns(change=flow._first(flow._MASK_CHANGES, pl.col("text"), flow._ANY))
    named = described.filter((pl.col("change") != flow._ANY) & ~pl.col("writes_exec"))
    assert named["text"].to_list() == []
    assert {"v_cmpx", "s_and_saveexec"} <= {
        re.sub(r"^(v_cmpx|s_and_saveexec).*", r"\1", text) for text in described["text"]
    }


@pytest.mark.parametrize("column", COLUMNS)
def test_lanes_of_others_are_read_by_vector_instructions(column: str) -> None:
    for pattern, _ in flow._HABITS:
        others = contained(column, pattern).filter((pl.col("facts") & (VALU | SALU)) == 0)
        assert others["text"].to_list() == [], pattern
