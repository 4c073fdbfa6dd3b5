"""The reader of TableGen's records and what is made of them, on a text in the form of `llvm-tblgen --print-records`."""

from __future__ import annotations

import pytest

from tests.kit.together import together
from tools.isa import instructions
from tools.isa.corrections import corrected
from tools.isa.model import FieldPart, Isa, Operand
from tools.isa.records import Dag, RecordError, TableRecord, parse_dag, read_records
from tools.isa.subtargets import Subtargets

TEXT = """\
------------- Classes -----------------
class Instruction {	// InstructionEncoding
  string Namespace = "";
}
class InstSI<dag InstSI:outs = ?, string InstSI:asm = ""> {	// InstructionEncoding Instruction
  field bit VALU = 0;
  bits<4> TSFlags = { LGKM_CNT, 0, VALU, SALU };
}
------------- Defs -----------------
def FeatureOld {	// SubtargetFeature
  list<SubtargetFeature> Implies = [];
}
def FeatureNew {	// SubtargetFeature
  list<SubtargetFeature> Implies = [FeatureOld, FeatureDot];
}
def FeatureDot {	// SubtargetFeature
  list<SubtargetFeature> Implies = [];
}
def FeatureWavefrontSize32 {	// SubtargetFeature
  list<SubtargetFeature> Implies = [];
}
def FeatureWavefrontSize64 {	// SubtargetFeature
  list<SubtargetFeature> Implies = [];
}
def HasDot {	// Predicate AssemblerPredicate
  bit AssemblerMatcherPredicate = 1;
  dag AssemblerCondDag = (all_of FeatureDot, (not FeatureDoom));
}
def OnlyForTheCompiler {	// Predicate
  string CondString = "Subtarget->never()";
  bit AssemblerMatcherPredicate = 0;
  dag AssemblerCondDag = (all_of FeatureDoom);
}
def isWave64 {	// Predicate AssemblerPredicate
  bit AssemblerMatcherPredicate = 1;
  dag AssemblerCondDag = (any_of FeatureWavefrontSize64);
}
def anonymous_1 {	// Processor ProcessorModel
  string Name = "gfx1100";
  list<SubtargetFeature> Features = [FeatureNew];
}
def anonymous_2 {	// Processor ProcessorModel
  string Name = "gfx900";
  list<SubtargetFeature> Features = [FeatureOld, FeatureWavefrontSize64];
}
def anonymous_3 {	// Processor ProcessorModel
  string Name = "tahiti";
  list<SubtargetFeature> Features = [FeatureOld];
}
def NOTE {	// PatFrag
  code PredicateCode = [{
    if (x) { return true; }
}
    return y == 1;
  }];
  string Name = "after";
}
def S_LOAD_ODD {	// InstructionEncoding Instruction InstSI
  field bit SALU = 1;
  field bits<32> Inst = { !if(!and(New, 0), { so{1}, so{0} }, ?){1}, !if(a, { b, c }, ?){0}, ?, 1, 1, 0, \
off{7}, off{6}, off{5}, off{4}, off{3}, off{2}, off{1}, off{0}, off{8}, En, \
sdst{6}, sdst{5}, sdst{4}, sdst{3}, sdst{2}, sdst{1}, sdst{0}, 0, 0, 0, 0, 0, 0, 0, 0, 1 };
  int Size = 4;
  string DecoderNamespace = "GFX11";
  list<Predicate> Predicates = [HasDot, OnlyForTheCompiler];
  string Namespace = "AMDGPU";
  dag OutOperandList = (outs SReg_32:$sdst);
  dag InOperandList = (ins SReg_64:$sbase, SMEMOffset:$off);
  string AsmString = "s_load_odd{_x} $sdst, $sbase, $off";
  list<Register> Uses = [M0, EXEC];
  list<Register> Defs = [];
  bit mayLoad = 1;
  bit isPseudo = 0;
  bit isCodeGenOnly = 0;
  bit isAsmParserOnly = 0;
  bit hasSideEffects = ?;
  string Constraints = "$sdst = $off";
  bits<4> TSFlags = { 1, 0, 0, 0 };
}
"""


def read(*classes: str, text: str = TEXT, section: str = "Defs") -> dict[str, TableRecord]:
    return {record.name: record for record in read_records(text.splitlines(keepends=True), classes, section)}


def subtargets() -> Subtargets:
    targets = Subtargets()
    for record in read(*targets.classes).values():
        targets.add(record)
    return targets


def flag_bits() -> dict[str, int]:
    return instructions.flag_bits(read("InstSI", section="Classes")["InstSI"])


def test_only_wanted_records_of_the_section_are_read() -> None:
    assert list(read("SubtargetFeature", "PatFrag"))[-2:] == ["FeatureWavefrontSize64", "NOTE"]
    assert list(read("Instruction")) == ["S_LOAD_ODD"]
    assert list(read("Instruction", section="Classes")) == ["Instruction", "InstSI"]


def test_values_of_many_lines_end_where_they_end() -> None:
    note = read("PatFrag")["NOTE"]
    assert note.text("PredicateCode") == "\n    if (x) { return true; }\n}\n    return y == 1;\n  "
    assert note.text("Name") == "after"


def test_fields_are_read_as_their_type_says() -> None:
    record = read("Instruction")["S_LOAD_ODD"]
    assert record.number("Size") == 4
    assert record.number("TSFlags") == 8
    assert (record.flag("mayLoad"), record.flag("hasSideEffects")) == (True, False)
    assert record.reference("hasSideEffects") is None
    assert record.references("Uses") == ["M0", "EXEC"]
    assert record.references("Defs") == []
    assert record.bits("Inst")[-1] == "!if(!and(New, 0), { so{1}, so{0} }, ?){1}"
    assert record.dag("OutOperandList") == Dag("outs", (("SReg_32", "sdst"),))


@together(
    "method, name",
    [
        ("text", "Nothing"),
        ("number", "AsmString"),
        ("number", "Inst"),
        ("text", "Size"),
        ("references", "Size"),
        ("bits", "Size"),
    ],
)
def test_a_field_of_another_form_is_refused(method: str, name: str) -> None:
    with pytest.raises(RecordError):
        getattr(read("Instruction")["S_LOAD_ODD"], method)(name)


def test_a_text_that_ends_early_is_refused() -> None:
    with pytest.raises(RecordError, match="ends inside record S_LOAD_ODD"):
        read("Instruction", text=TEXT[: TEXT.rindex("  bits<4>")])
    with pytest.raises(RecordError, match="ends inside a value"):
        read("PatFrag", text=TEXT[: TEXT.index("    return y")])


def test_dags() -> None:
    assert parse_dag("(ins)") == Dag("ins", ())
    assert parse_dag("(ins (ops A:$a, B):$both, C:$c)") == Dag(
        "ins", ((Dag("ops", (("A", "a"), ("B", ""))), "both"), ("C", "c"))
    )
    for wrong in ("ins", "(ins A", "(ins A) B", ""):
        with pytest.raises(RecordError):
            parse_dag(wrong)


def test_predicates_are_resolved_for_each_target() -> None:
    targets = subtargets()
    assert targets.targets() == ["gfx1100", "gfx900"]
    assert (targets.wave_sizes("gfx1100"), targets.wave_sizes("gfx900")) == ((32, 64), (64,))
    assert targets.features("gfx1100", 32) == {"FeatureNew", "FeatureOld", "FeatureDot", "FeatureWavefrontSize32"}
    assert targets.decodes("gfx1100", 32, "GFX11", ["HasDot", "OnlyForTheCompiler"])
    assert not targets.decodes("gfx1100", 32, "GFX10", ["HasDot"])
    assert not targets.decodes("gfx900", 64, "GFX9", ["HasDot"])
    assert [targets.decodes("gfx1100", size, "GFX11", ["isWave64"]) for size in (32, 64)] == [False, True]
    assert targets.decodes("gfx900", 64, "GFX9", [])
    assert not targets.decodes("gfx900", 64, "GFX90A", [])  # its table is passed over without FeatureGFX90AInsts


def test_an_instruction_becomes_a_record() -> None:
    source = read("Instruction")["S_LOAD_ODD"]
    assert instructions.is_decoded(source)
    columns, wave_size = instructions.columns_of(source, ("gfx900", "gfx1100"), subtargets())
    assert (columns, wave_size) == (("gfx1100",), 0)
    record = instructions.convert(source, flag_bits(), columns, wave_size)
    # By hand: bits 8:0 are 1, bits 28:26 are 110, fields between them; the expressions above are free.
    assert (record.mask, record.value) == (0x1C0001FF, 0x18000001)
    assert dict(record.layout) == {
        "sdst": (FieldPart(high=6, low=0, word_low=9),),
        "En": (FieldPart(high=0, low=0, word_low=16),),
        "off": (FieldPart(high=7, low=0, word_low=18), FieldPart(high=8, low=8, word_low=17)),
    }
    assert (record.mnemonic, record.template) == ("s_load_odd_x", " $sdst, $sbase, $off")
    assert record.ins == (Operand("sbase", "SReg_64"), Operand("off", "SMEMOffset"))
    # SALU is set in the record but not in TSFlags, which count.
    assert record.flags == ("LGKM_CNT", "mayLoad")
    assert record.constraints == "$sdst = $off"


def test_a_record_of_one_wave_size_says_so() -> None:
    source = read("Instruction", text=TEXT.replace("[HasDot, OnlyForTheCompiler]", "[isWave64]"))["S_LOAD_ODD"]
    assert instructions.columns_of(source, ("gfx900", "gfx1100"), subtargets()) == (("gfx1100",), 64)


@pytest.mark.parametrize("change", [("isPseudo = 0", "isPseudo = 1"), ('Namespace = "AMDGPU"', 'Namespace = "R600"')])
def test_what_is_not_decoded_is_left_out(change: tuple[str, str]) -> None:
    assert not instructions.is_decoded(read("Instruction", text=TEXT.replace(*change))["S_LOAD_ODD"])


def test_lds_of_gfx9_does_not_read_m0() -> None:
    source = read("Instruction")["S_LOAD_ODD"]
    old = instructions.convert(source, flag_bits(), ("gfx900",), 0)
    changed = {"decoder_namespace": "GFX8"}, {"decoder_namespace": "GFX9", "implicit_uses": ("EXEC",)}
    older, newer = (type(old)(**{**vars(old), **change}) for change in changed)
    isa = Isa("22.1.8", (older, newer), (), {}, (), {}, (), {}, {}, {})
    assert [record.implicit_uses for record in corrected(isa).records] == [("EXEC",), ("EXEC",)]
