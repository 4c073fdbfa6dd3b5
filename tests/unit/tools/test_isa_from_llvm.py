"""The tables from LLVM's sources equal those that were made once in another way (../shared/data/isa).

Needs the sources of LLVM 22.1.8 and its programs: `WAVEWRIGHT_LLVM_SOURCE` names the folder that has
`llvm/lib/Target/AMDGPU` (see tools/isa/from_llvm.py for where the archive is).
"""

from __future__ import annotations

import os
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tools.isa import emit, from_llvm, pack
from tools.isa.corrections import corrected
from tools.isa.from_tsv import read_isa
from tools.isa.model import Isa
from tools.isa.subtargets import COLUMNS

pytestmark = pytest.mark.slow
TABLES = Path(__file__).resolve().parents[3] / "cpp/src/isa"
#: What the older tables lack: targets with records of their own, forms of wave64 on gfx11 and gfx12.
NEW_COLUMNS = {"gfx904", "gfx1011", "gfx1013"}
#: Records of tables that LLVM tries by a feature alone -> the columns that have that feature.
BY_FEATURE = {
    **dict.fromkeys(("V_FMA_MIX_F32_vi", "V_FMA_MIXLO_F16_vi", "V_FMA_MIXHI_F16_vi"), set(COLUMNS) - {"gfx900"}),
    "V_MUL_LEGACY_F32_e64_gfx90a": {"gfx90a", "gfx942", "gfx950"},
}
NEW_OPERANDS = {"IndexKey8bit", "VISrc_64_bf16", "VISrc_64_f16"}


@pytest.fixture(scope="module")
def isa() -> Isa:
    folder = os.environ.get("WAVEWRIGHT_LLVM_SOURCE")
    if not folder or shutil.which("llvm-tblgen-22") is None or shutil.which("llvm-mc-22") is None:
        pytest.skip("LLVM's sources are not here (WAVEWRIGHT_LLVM_SOURCE), or its programs (apt-get install llvm-22)")
    return from_llvm.load(Path(folder))


@pytest.fixture(scope="module")
def older(shared: Path) -> Isa:
    return read_isa(shared / "data/isa")


def test_the_committed_tables_are_made_of_them(isa: Isa) -> None:
    packed = pack.pack(corrected(isa))
    assert (TABLES / "kinds.inc").read_text() == emit.emit_kinds(packed)
    assert (TABLES / "tables.inc").read_text() == emit.emit_tables(packed)


def old_columns(groups: Any) -> list[tuple[list[str], dict[str, str]]]:
    """Names by targets, in any order, without the new columns."""
    by_targets = [([t for t in group["targets"] if t not in NEW_COLUMNS], group["names"]) for group in groups]
    return sorted(by_targets, key=lambda group: group[0])


def test_records(isa: Isa, older: Isa) -> None:
    here = {record.name: record for record in isa.records}
    assert len(here) == len(isa.records)
    for record in older.records:
        targets = tuple(target for target in here[record.name].targets if target not in NEW_COLUMNS)
        if record.name in BY_FEATURE:
            assert set(here[record.name].targets) == BY_FEATURE[record.name]
            targets = record.targets
        assert replace(here[record.name], targets=targets, wave_size=0) == record
    more = [here[name] for name in here.keys() - {record.name for record in older.records}]
    assert len(more) == 32
    assert {record.wave_size for record in more} == {64}
    assert {record.decoder_namespace for record in more} == {"GFX11W64", "GFX12W64"}


def test_operand_types_features_and_images(isa: Isa, older: Isa) -> None:
    types = {operand for operand in isa.operand_types if operand.name not in NEW_OPERANDS}
    assert types == set(older.operand_types)
    assert {column: isa.features[column] for column in older.features} == older.features
    assert set(isa.features) - set(older.features) == NEW_COLUMNS
    assert set(isa.image_records) == set(older.image_records)
    assert (isa.image_bases, isa.image_sizes, isa.image_dims) == (
        older.image_bases,
        older.image_sizes,
        older.image_dims,
    )


def test_names(isa: Isa, older: Isa) -> None:
    for key in ("hwreg", "sendmsg_imm16"):
        assert old_columns(isa.names[key]) == old_columns(older.names[key])
    for key in ("exp_target", "s_version", "image_dim", "records"):
        assert isa.names[key] == older.names[key]
    for key in ("tbuffer_format", "tbuffer_format_default"):
        expected = dict(older.names[key])  # type: ignore[call-overload]
        del expected["gfx125"]  # has no typed buffers
        assert isa.names[key] == expected


def test_target_groups(isa: Isa, older: Isa) -> None:
    groups = {group.targets: group for group in isa.target_groups}
    assert {group.targets for group in older.target_groups} == set(groups)
    for group in older.target_groups:
        here = groups[group.targets]
        if here.column in NEW_COLUMNS:
            assert (here.nearest, here.missing_there, here.extra_there) == (here.column, 0, 0)
        else:
            assert here == group
