"""Bytes per lane against LLVM's records: the registers that an instruction loads to or stores from."""

from __future__ import annotations

import csv
import re
from pathlib import Path

import pytest

from wavewright.analysis.trace.code.accesses import LOAD, LOAD_TO_LDS, STORE, access_of

_DWORD_BYTES = 4
_ENCODINGS = {"MUBUF", "MTBUF", "SMRD", "FLAT", "DS", "LDSDIR", "MIMG", "VIMAGE", "VSAMPLE"}
#: Instructions of these encodings that move no data: cache control, clocks, prefetches, sync, moves between lanes.
_MOVES_NOTHING = re.compile(
    r"buffer_(inv|wb|gl[01]_inv)|global_(inv|wb|prefetch)|flat_prefetch|s_(buffer_)?prefetch|s_(dcache|gl1|mem|atc|get_)"
    r"|ds_(nop|gws|ordered|b?permute|swizzle|add_gs|sub_gs)|image_get|tensor_(save|stop)"
)
#: Their width is in a descriptor, in a register, or one for the wave.
_WIDTH_ELSEWHERE = re.compile(
    r"format|_block|src2|ds_(append|consume|bvh|param|direct)|lds_(param|direct)|image_|tensor_"
)


def _table(path: Path) -> list[list[str]]:
    lines = [line for line in path.read_text(encoding="utf-8").splitlines() if not line.startswith("#")]
    return list(csv.reader(lines, delimiter="\t"))[1:]


def _operand_widths(folder: Path) -> dict[str, dict[str, int]]:
    """Template -> operand -> bytes of its registers."""
    classes = {row[0]: row[3] for row in _table(folder / "operand_types.tsv")}
    widths: dict[str, dict[str, int]] = {}
    for template, _, operands in _table(folder / "templates.tsv"):
        widths[template] = {}
        for name, kind in re.findall(r"(\w+):(\S+)", operands):
            bits = re.search(r"_(\d+)", classes[kind] if kind.startswith("anonymous") else kind)
            if bits is not None:
                widths[template][name] = int(bits[1]) // 8
    return widths


def _data_bytes(mnemonic: str, template: str, widths: dict[str, int]) -> int | None:
    """Bytes of one lane in the registers of the data, of one record; None where it has none."""
    is_compare = "cmp" in mnemonic or "mskor" in mnemonic
    names = ("vdst", "vdata", "sdst", "sdata") if not is_compare or mnemonic.startswith("ds_") else ("vdata", "sdata")
    data = next((widths[name] for name in names if name in widths), None)
    if data is None and "data0" in widths:
        data = widths["data0"] * (2 if "data1" in widths and not is_compare else 1)
    if data is not None and is_compare and not mnemonic.startswith("ds_"):
        return data // 2  # the value to compare with is in the same registers
    return data


def test_every_width_is_that_of_the_registers(shared: Path) -> None:
    folder = shared / "data" / "isa"
    if not folder.is_dir():
        pytest.skip("../shared/data/isa is not here")
    operands = _operand_widths(folder)
    compared, wrong = set(), []
    for row in _table(folder / "instructions.tsv"):
        record, mnemonic, template, encoding = row[1], row[5], row[6], row[8]
        if encoding not in _ENCODINGS:
            continue
        access = access_of(mnemonic)
        if _MOVES_NOTHING.match(mnemonic):
            assert access is None, mnemonic
            continue
        assert access is not None, mnemonic
        if _WIDTH_ELSEWHERE.search(mnemonic) or mnemonic.startswith("global_load_tr_b"):
            assert access.bytes_per_lane is None, mnemonic
            continue
        assert access.bytes_per_lane is not None, mnemonic
        data = _data_bytes(mnemonic, template, operands[template])
        if data is None or "TFE" in record or "_lds_" in mnemonic:  # status in one more register; LDS address instead
            continue
        compared.add(mnemonic)
        in_registers = -(-access.bytes_per_lane // _DWORD_BYTES) * _DWORD_BYTES
        if in_registers != data:
            wrong.append((record, mnemonic, access.bytes_per_lane, data))
    assert not wrong
    assert len(compared) > 600


def test_direction_is_that_of_the_flags(shared: Path) -> None:
    folder = shared / "data" / "isa"
    if not folder.is_dir():
        pytest.skip("../shared/data/isa is not here")
    wrong = []
    for row in _table(folder / "instructions.tsv"):
        mnemonic, flags = row[5], set(row[10].split(","))
        access = access_of(f"{mnemonic} v0, s[0:3], 0 lds" if "_LDS_" in row[1] else mnemonic)
        if access is None or not {"mayLoad", "mayStore"} & flags or "write_src2" in mnemonic:  # LDS to LDS
            continue
        moves = {LOAD: {"mayLoad"}, STORE: {"mayStore"}}.get(access.direction, {"mayLoad", "mayStore"})
        is_to_lds = access.direction == LOAD_TO_LDS or "_from_lds" in mnemonic or "store_lds" in mnemonic
        if moves != {"mayLoad", "mayStore"} & flags and not is_to_lds:
            wrong.append((row[1], mnemonic, access.direction, sorted(flags)))
    assert not wrong, {item[1:3] for item in wrong}
