"""Classes, counters and accesses agree with what LLVM's records say of every instruction (../shared/data/isa).

What LLVM's flags do not say is in its pass that inserts waits (SIInsertWaitcnts.cpp): which of the counters a vector
memory instruction adds to, by load, store, sampler and ray. `counters_of` follows that pass.
"""

from __future__ import annotations

import csv
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from fnmatch import fnmatch
from pathlib import Path

import pytest

from wavewright.codeobj.classes import classify
from wavewright.codeobj.targets import family_of

#: Mnemonic and words of the operands -> why the counters differ from the flags.
COUNTER_EXCEPTIONS = {
    ("ds_nop", "*"): "has the flag of all LDS instructions, and does nothing",
    ("s_sendmsg*", "*"): "counts by SIInsertWaitcnts (SQ_MESSAGE), not by a flag",
    ("s_get_barrier_state", "*"): "counts by SIInsertWaitcnts (SMEM_ACCESS), not by a flag",
    ("global_wb*", "*"): "counts as a store by SIInsertWaitcnts (getVmemWaitEventType); its flags are a load's",
    # In the words of SIInsertWaitcnts, LDS DMA loads are also stores on the LDS side, but should use VM_CNT.
    ("*_load_*", "* lds*"): "copies between memory and LDS complete with vmcnt; LLVM also flags the LDS side",
    ("*_load_lds_*", "*"): "copies between memory and LDS complete with vmcnt; LLVM also flags the LDS side",
    ("buffer_store_lds_dword", "*"): "copies between memory and LDS complete with vmcnt; LLVM also flags the LDS side",
    # The record is that of the form with return; whether there is one says a bit of the instruction.
    ("image_atomic_*", "*"): "returns with glc or th:*RETURN only; LLVM's records are all of the form with return",
    # TH_ATOMIC_CASCADE_NT, TH_ATOMIC_0x5: LLVM does not print the return then. The column `access` has it.
    ("*_atomic_*", "*TH_ATOMIC_CASCADE_*"): "the text does not say whether there is a return",
    ("*_atomic_*", "*TH_ATOMIC_0x*"): "the text does not say whether there is a return",
}
#: Class -> flags that its instructions have, and flags that they do not have.
ACCESSES = {
    **dict.fromkeys(
        ("vmem_load", "flat_load", "scratch_load", "smem_load", "lds_load", "lds_param", "bvh"),
        ({"mayLoad"}, {"mayStore", "IsAtomicRet", "IsAtomicNoRet"}),
    ),
    **dict.fromkeys(("image_load", "image_sample"), (set(), {"mayStore", "IsAtomicRet", "IsAtomicNoRet"})),
    # LLVM flags ds_write_b32 as an atomic without return too.
    **dict.fromkeys(
        ("vmem_store", "flat_store", "scratch_store", "smem_store", "image_store", "lds_store"),
        ({"mayStore"}, {"mayLoad", "IsAtomicRet"}),
    ),
    **dict.fromkeys(("vmem_atomic", "flat_atomic"), ({"mayLoad", "mayStore", "IsAtomicNoRet"}, {"IsAtomicRet"})),
    **dict.fromkeys(
        ("vmem_atomic_return", "flat_atomic_return", "image_atomic_return"),
        ({"mayLoad", "mayStore", "IsAtomicRet"}, {"IsAtomicNoRet"}),
    ),
    **dict.fromkeys(
        ("lds_atomic", "lds_async_arrive", "smem_atomic", "image_atomic"), ({"mayLoad", "mayStore"}, set())
    ),
    **dict.fromkeys(("vmem_lds_load", "vmem_lds_store", "tensor_lds_load"), ({"mayLoad", "mayStore"}, set())),
    **dict.fromkeys(
        ("valu", "valu_packed", "valu_double", "valu_dual", "valu_transcendental", "matrix"),
        ({"VALU"}, {"mayLoad", "mayStore"}),
    ),
    "salu": (set(), {"mayLoad", "mayStore", "VALU", "VM_CNT", "LGKM_CNT"}),
}
ACCESS_EXCEPTIONS = {
    ("buffer_store_lds_dword", "*"): "reads LDS, too",
    ("ds_write_src2_*", "*"): "copies inside LDS",
    ("*_atomic_*", "*TH_ATOMIC_CASCADE_*"): COUNTER_EXCEPTIONS["*_atomic_*", "*TH_ATOMIC_CASCADE_*"],
    ("*_atomic_*", "*TH_ATOMIC_0x*"): COUNTER_EXCEPTIONS["*_atomic_*", "*TH_ATOMIC_0x*"],
}
#: Class -> the flags of control flow that LLVM gives to its instructions.
CONTROL_FLOW = {
    "branch": {"isBranch", "isTerminator", "isBarrier"},
    "jump": {"isBranch", "isTerminator", "isBarrier"},
    "branch_conditional": {"isBranch", "isTerminator"},
    "call": {"isCall"},
    "end": {"isReturn", "isTerminator", "isBarrier"},
    "padding": {"isReturn", "isTerminator", "isBarrier"},
}
CONTROL_FLOW_EXCEPTIONS = {
    ("s_cbranch_?_fork", "*"): "the compiler does not use it, and LLVM has no flags",
    ("s_cbranch_join", "*"): "the compiler does not use it, and LLVM has no flags",
    ("s_rfe_*", "*"): "returns from a trap: the compiler does not use it, and LLVM has no flags",
}
#: Flag -> the class of all instructions that have it.
UNITS = {
    "TRANS": "valu_transcendental",
    "IsMAI": "matrix",
    "IsWMMA": "matrix",
    "IsSWMMAC": "matrix",
    "IsDOT": "valu_packed",
}
UNIT_EXCEPTIONS = {("v_accvgpr_*", "*"): "copies a register to or from the matrix unit"}


@dataclass(frozen=True)
class Row:
    """An instruction of a target, with its record's flags; `is_ray` and `samples` are those of images."""

    text: str
    target: str
    flags: frozenset[str]
    encoding: frozenset[str]
    is_ray: bool
    samples: bool


def rows_of(path: Path) -> Iterator[dict[str, str]]:
    with path.open(encoding="utf-8") as file:
        lines = (line for line in file if not line.startswith("#"))
        yield from csv.DictReader(lines, delimiter="\t", quoting=csv.QUOTE_NONE)


@pytest.fixture(scope="module")
def rows(shared: Path) -> list[Row]:
    """A text for every record and target: LLVM's, or the mnemonic alone where there is none."""
    folder = shared / "data/isa"
    bases = {row["base"]: row for row in rows_of(folder / "mimg_base.tsv")}
    images = {row["record"]: bases[row["base"]] for row in rows_of(folder / "mimg_records.tsv")}
    no_image = {"BVH": "0", "Sampler": "0"}
    texts: dict[str, dict[str, str]] = defaultdict(dict)
    for vector in rows_of(folder / "vectors.tsv"):
        texts[vector["record"]][vector["target"]] = vector["text"]
    rows = []
    for record in rows_of(folder / "instructions.tsv"):
        image, of_targets = images.get(record["record"], no_image), texts[record["record"]]
        other = next(iter(of_targets.values()), record["mnemonic"])
        rows += [
            Row(
                of_targets.get(target, other),
                target,
                frozenset(record["flags"].split(",")),
                frozenset(record["encoding"].split("+")),
                is_ray=image["BVH"] == "1",
                samples=image["Sampler"] == "1" or record["encoding"] == "VSAMPLE",
            )
            for target in record["targets"].split(",")
        ]
    return rows


def counters_of(row: Row, family: str) -> set[str]:
    """The counters that an instruction adds to, by its record."""
    split = family in ("gfx12", "gfx1250")
    if "ASYNC_CNT" in row.flags or "TENSOR_CNT" in row.flags:
        return {"asynccnt" if "ASYNC_CNT" in row.flags else "tensorcnt"}
    counters = set()
    if "VM_CNT" in row.flags:
        writes = "mayStore" in row.flags and ("mayLoad" not in row.flags or "IsAtomicNoRet" in row.flags)
        if writes and family != "gfx9":
            counters.add("storecnt" if split else "vscnt")
        elif not split:
            counters.add("vmcnt")
        else:
            counters.add("bvhcnt" if row.is_ray else "samplecnt" if row.samples else "loadcnt")
    if "LGKM_CNT" in row.flags:
        counters.add(("kmcnt" if "SMRD" in row.encoding else "dscnt") if split else "lgkmcnt")
    if row.encoding & {"EXP", "LDSDIR"}:
        counters.add("expcnt")
    return counters


def exception(row: Row, exceptions: dict[tuple[str, str], str]) -> tuple[str, str] | None:
    mnemonic, _, operands = row.text.partition(" ")
    return next((key for key in exceptions if fnmatch(mnemonic, key[0]) and fnmatch(f" {operands}", key[1])), None)


@pytest.mark.slow
def test_every_record_has_a_class(rows: list[Row]) -> None:
    assert len(rows) > 40_000
    assert {row.text for row in rows if classify(row.text, family_of(row.target)).name == "unknown"} == set()


@pytest.mark.slow
def test_counters_are_those_of_the_records(rows: list[Row]) -> None:
    wrong, used = set(), set()
    for row in rows:
        family = family_of(row.target)
        assert family is not None
        instruction = classify(row.text, family)
        if set(instruction.counters) != (expected := counters_of(row, family)):
            used.add(key := exception(row, COUNTER_EXCEPTIONS))
            if key is None:
                wrong.add((family, instruction.name, instruction.counters, tuple(expected), row.text))
    assert wrong == set()
    assert used == set(COUNTER_EXCEPTIONS)


@pytest.mark.slow
def test_loads_stores_and_atomics_are_those_of_the_records(rows: list[Row]) -> None:
    wrong, used = set(), set()
    for row in rows:
        name = classify(row.text, family_of(row.target)).name
        needed, barred = ACCESSES.get(name, (set(), set()))
        if not needed <= row.flags or barred & row.flags:
            used.add(key := exception(row, ACCESS_EXCEPTIONS))
            if key is None:
                wrong.add((row.target, name, tuple(sorted(row.flags)), row.text))
    assert wrong == set()
    assert used == set(ACCESS_EXCEPTIONS)


@pytest.mark.slow
def test_control_flow_is_that_of_the_records(rows: list[Row]) -> None:
    flags = set().union(*CONTROL_FLOW.values())
    wrong, used = set(), set()
    for row in rows:
        name = classify(row.text, family_of(row.target)).name
        if CONTROL_FLOW.get(name, set()) != row.flags & flags:
            used.add(key := exception(row, CONTROL_FLOW_EXCEPTIONS))
            if key is None:
                wrong.add((row.target, name, row.text))
    assert wrong == set()
    assert used == set(CONTROL_FLOW_EXCEPTIONS)


def test_units_are_those_of_the_records(rows: list[Row]) -> None:
    wrong, used = set(), set()
    for row in rows:
        name = classify(row.text, family_of(row.target)).name
        # Both halves of a dual instruction are in one class.
        if name != "valu_dual" and {UNITS[flag] for flag in row.flags & UNITS.keys()} - {name}:
            used.add(key := exception(row, UNIT_EXCEPTIONS))
            if key is None:
                wrong.add((row.target, name, row.text))
    assert wrong == set()
    assert used == set(UNIT_EXCEPTIONS)
