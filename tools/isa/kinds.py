"""Numbers of our decoder for names of LLVM: how operands are decoded and printed, flags, features.

The order of each list is the numbering of a generated C++ enumeration (`cpp/src/isa/kinds.inc`). A method or a flag
of LLVM that is not listed here stops the generator: the decoder would not know what to do with it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tools.isa.model import OperandType

#: Decoder methods with a width or none -> how to decode.
DECODERS = {
    "decodeSrcReg9": "source",
    "decodeSrcRegOrImm9": "source",
    "decodeSrcAV10": "source",
    "decodeSrcA9": "source_acc",
    "decodeSrcRegOrImmA9": "source_acc",
    "decodeAVLdSt": "vector_or_acc",
    "decodeAV10": "vector_or_acc",
    "decodeOperand_VSrc_f64": "source_64",
    "decodeOperand_VSrcT16": "source_half",
    "decodeOperand_VSrcT16_Lo128": "source_half_lo128",
    "decodeOperand_VGPR_16": "half",
    "decodeSMEMOffset": "smem_offset",
    "decodeSOPPBrTarget": "number",
    "decodeVersionImm": "number",
    "decodeDpp8FI": "dpp8_fi",
    "decodeOperand_KImmFP": "literal_field",
    "decodeOperand_KImmFP64": "literal_field_64",
    "decodeBoolReg": "wave_mask",
    "decodeSplitBarrier": "source",
    "decodeOperandVOPDDstY": "vopd_dst_y",
    "decodeSDWASrc32": "sdwa_source",
    "decodeSDWASrc16": "sdwa_source",
    "decodeSDWAVopcDst": "sdwa_vopc_dst",
}
#: Register classes that have no decoder of their own -> how to decode.
BANKS = {
    "VGPR": "vector",
    "VReg": "vector",
    "AGPR": "acc",
    "AReg": "acc",
    "AV": "vector_or_acc",
    "AV_LdSt": "vector_or_acc",
    "SReg": "source",
}
DECODES = [
    "number",
    "source",
    "source_acc",
    "source_64",
    "source_half",
    "source_half_lo128",
    "vector",
    "vector_lo128",
    "vector_or_acc",
    "acc",
    "half",
    "half_lo128",
    "wave_mask",
    "smem_offset",
    "dpp8_fi",
    "literal_field",
    "literal_field_64",
    "vopd_dst_y",
    "sdwa_source",
    "sdwa_vopc_dst",
]

#: Print methods of LLVM's printer -> enumerator.
PRINTS = {
    "-": "operand",
    "printOperand": "operand",
    "printRegularOperand": "regular",
    "printVOPDst": "vop_dst",
    "printVINTRPDst": "vintrp_dst",
    "printAVLdSt32Align2RegOp": "first_register",
    "printOperandAndFPInputMods": "float_source",
    "printOperandAndIntInputMods": "integer_source",
    "printU16ImmOperand": "hex_16",
    "printU32ImmOperand": "hex_32",
    "printFP64ImmOperand": "literal_64",
    "printOffset": "offset",
    "printFlatOffset": "flat_offset",
    "printSMEMOffset": "smem_offset",
    "printCPol": "cache_policy",
    "printDPP8": "dpp8",
    "printDPPCtrl": "dpp_ctrl",
    "printDppBoundCtrl": "bound_ctrl",
    "printDppFI": "dpp_fi",
    "printSDWADstSel": "sdwa_dst_sel",
    "printSDWASrc0Sel": "sdwa_src0_sel",
    "printSDWASrc1Sel": "sdwa_src1_sel",
    "printSDWADstUnused": "sdwa_dst_unused",
    "printOpSel": "op_sel",
    "printOpSelHi": "op_sel_hi",
    "printNegLo": "neg_lo",
    "printNegHi": "neg_hi",
    "printOModSI": "output_modifier",
    "printSWaitCnt": "wait_count",
    "printSDelayALU": "delay",
    "printDepCtr": "dep_ctr",
    "printHwreg": "hardware_register",
    "printSendMsg": "message",
    "printEndpgm": "end_program",
    "printSwizzle": "swizzle",
    "printBLGP": "blgp",
    "printGPRIdxMode": "index_mode",
    "printBitOp3": "bit_op3",
    "printIndexKey8bit": "index_key",
    "printIndexKey16bit": "index_key",
    "printIndexKey32bit": "index_key",
    "printMatrixAFMT": "matrix_a_format",
    "printMatrixBFMT": "matrix_b_format",
    "printMatrixAScale": "matrix_a_scale",
    "printMatrixBScale": "matrix_b_scale",
    "printMatrixAScaleFmt": "matrix_a_scale_format",
    "printMatrixBScaleFmt": "matrix_b_scale_format",
    "printInterpSlot": "interpolation_slot",
    "printInterpAttr": "interpolation_attribute",
    "printInterpAttrChan": "interpolation_channel",
    "printFORMAT": "nothing",
    "printR128A16": "r128_or_a16",
    "printDim": "image_dim",
    "printExpTgt": "export_target",
    "printExpSrc0": "export_source_0",
    "printExpSrc1": "export_source_1",
    "printExpSrc2": "export_source_2",
    "printExpSrc3": "export_source_3",
}
_NAMED = ("named_bit", "named_number", "named_hex", "named_number_always", "named_hex_always")
_NAMED_BIT = re.compile(r'printNamedBit\(MI, OpNo, O, "(\w+)"\)')
_NAMED_NUMBER = re.compile(r'printNamedInt\(MI, OpNo, STI, O, "(\w+)", (true|false), (true|false)\)')
PRINT_KINDS = tuple(dict.fromkeys(PRINTS.values())) + _NAMED + ("version",)

#: LLVM's operand types -> which constants an operand can have and how they print.
CONSTANTS = {
    "-": "no_constant",
    "OPERAND_REGISTER": "no_constant",
    "OPERAND_UNKNOWN": "decimal",
    "OPERAND_PCREL": "decimal",
    "OPERAND_IMMEDIATE": "bits_32",
    "OPERAND_INPUT_MODS": "bits_32",
    "OPERAND_SDWA_VOPC_DST": "bits_32",
    "OPERAND_KIMM16": "bits_32",
    "OPERAND_KIMM32": "bits_32",
    "OPERAND_KIMM64": "bits_32",
    "OPERAND_INLINE_SPLIT_BARRIER_INT32": "bits_32",
    "OPERAND_REG_IMM_INT16": "integer_16",
    "OPERAND_REG_INLINE_C_INT16": "integer_16",
    "OPERAND_REG_IMM_FP16": "float_16",
    "OPERAND_REG_INLINE_C_FP16": "float_16",
    "OPERAND_REG_IMM_BF16": "bfloat_16",
    "OPERAND_REG_INLINE_C_BF16": "bfloat_16",
    "OPERAND_REG_IMM_V2INT16": "pair_integer_16",
    "OPERAND_REG_IMM_V2FP16": "pair_float_16",
    "OPERAND_REG_IMM_V2BF16": "pair_bfloat_16",
    "OPERAND_REG_INLINE_C_V2FP16": "inline_pair_float_16",
    "OPERAND_REG_INLINE_C_V2BF16": "inline_pair_bfloat_16",
    "OPERAND_REG_IMM_V2FP16_SPLAT": "pair_float_16_splat",
    "OPERAND_REG_IMM_NOINLINE_V2FP16": "pair_float_16_literal",
    **{
        f"OPERAND_REG_{how}_{what}": kind
        for how in ("IMM", "INLINE_C", "INLINE_AC")
        for what, kind in (
            ("INT32", "bits_32"),
            ("FP32", "bits_32"),
            ("V2INT32", "bits_32"),
            ("V2FP32", "bits_32"),
            ("INT64", "integer_64"),
            ("FP64", "float_64"),
        )
    },
}
CONSTANT_KINDS = tuple(dict.fromkeys(CONSTANTS.values()))

#: Flags of records, in LLVM's words, -> bits; None = nothing here depends on it.
FLAGS: dict[str, str | None] = {
    "IsSingle": "is_single",
    "VOP3_OPSEL": "vop3_op_sel",
    "IsPacked": "is_packed",
    "IsWMMA": "is_wmma",
    "IsSWMMAC": "is_swmmac",
    "IsMAI": "is_mai",
    "FlatGlobal": "flat_global",
    "FlatScratch": "flat_scratch",
    "IsAtomicRet": "atomic_return",
    "IsAtomicNoRet": "atomic_no_return",
    "mayLoad": "may_load",
    "mayStore": "may_store",
    "Gather4": "gather4",
    "isBranch": "branch",
    "isTerminator": "terminator",
    "isCall": "call",
    "isReturn": "returns",
    "isBarrier": "no_fall_through",
    "VALU": "valu",
    "SALU": "salu",
    "TRANS": "transcendental",
    "VM_CNT": "vm_count",
    "LGKM_CNT": "lgkm_count",
    "EXP_CNT": "exp_count",
    "TENSOR_CNT": "tensor_count",
    "ASYNC_CNT": "async_count",
    "D16Buf": "d16_buffer",
    "DisableWQM": None,
    "ClampLo": None,
    "ClampHi": None,
    "IntClamp": None,
    "FPClamp": None,
    "ScalarStore": None,
    "WQM": None,
    "IsDOT": None,
    "GWS": None,
    "IsNeverUniform": None,
}
#: Lists of records in names.json -> bits.
SPECIAL = ("vcc_after_dst", "vcc_after_src1", "vcc_after_src1_mods", "cvt_fp8", "permlane16", "th_store")
#: Patterns of record names where LLVM's code asks for opcodes -> bits.
NAME_PATTERNS = {
    "F8F6F4": "f8f6f4",
    "F64": "named_f64",
    r"LOAD\w*_LDS": "to_lds",
    "V_WMMA_LD_SCALE": "ld_scale",
    "V_FMAMK": "fmamk",
    "V_DUAL_FMAMK": "fmamk_x",
    "_X_FMAMK": "fmamk_y",
    "BUFFER": "named_buffer",
}
#: `Record.wave_size` -> bit.
WAVE_SIZES = {32: "wave32_only", 64: "wave64_only"}
FLAG_BITS = (
    *dict.fromkeys(bit for bit in FLAGS.values() if bit),
    *SPECIAL,
    *NAME_PATTERNS.values(),
    *WAVE_SIZES.values(),
)

ENCODINGS = [
    "SOP1",
    "SOP2",
    "SOPC",
    "SOPK",
    "SOPP",
    "SMRD",
    "VOP1",
    "VOP2",
    "VOP3",
    "VOP3P",
    "VOPC",
    "VOPD3",
    "SDWA",
    "DPP",
    "VINTERP",
    "VINTRP",
    "LDSDIR",
    "EXP",
    "DS",
    "FLAT",
    "MUBUF",
    "MTBUF",
    "MIMG",
    "VIMAGE",
    "VSAMPLE",
]

#: Implicit registers -> bits; counters are no registers.
IMPLICIT: dict[str, str | None] = {
    "EXEC": "exec",
    "VCC": "vcc",
    "SCC": "scc",
    "M0": "m0",
    "FLAT_SCR": "flat_scr",
    "MODE": "mode",
    "ASYNCcnt": None,
    "TENSORcnt": None,
}

#: Features that change decoding or text.
FEATURES = {
    "FeatureGFX90AInsts": "gfx90a_insts",
    "FeatureGFX940Insts": "gfx940_insts",
    "FeatureGFX950Insts": "gfx950_insts",
    "Feature64BitLiterals": "literals_64",
    "FeatureGFX10_BEncoding": "gfx10_b_encoding",
    "FeatureR128A16": "r128_a16",
    "FeatureG16": "g16",
    "FeaturePartialNSAEncoding": "partial_nsa",
    "FeatureUnpackedD16VMem": "unpacked_d16",
}

#: Tables in the order in which a family's disassembler tries them, by size in bytes. (size, namespace) pairs; the
#: second entry of a pair of sizes is where a literal begins when that is not the end of the form (gfx1250).
_GFX12 = ("GFX12", "GFX12_FAKE16", "GFX12W64")
_GFX1250 = ("GFX1250", "GFX1250_FAKE16", *_GFX12)
TABLE_ORDER: dict[str, tuple[tuple[int, tuple[str, ...]], ...]] = {
    "gfx9": (
        (16, ("GFX940",)),
        (8, ("GFX950", "GFX9_DL", "GFX940", "GFX90A", "GFX8", "GFX9")),
        (4, ("GFX8", "AMDGPU", "GFX9", "GFX950", "GFX90A")),
    ),
    "gfx10": ((8, ("GFX10_B", "GFX9_DL", "GFX10")), (4, ("AMDGPU", "GFX10_B", "GFX10"))),
    "gfx11": (
        (12, ("GFX11", "GFX11_FAKE16")),
        (8, ("GFX9_DL", "GFX11", "GFX11_FAKE16", "GFX11W64")),
        (4, ("AMDGPU", "GFX11", "GFX11_FAKE16")),
    ),
    "gfx12": ((12, _GFX12), (8, ("GFX9_DL", *_GFX12)), (4, ("AMDGPU", "GFX12", "GFX12_FAKE16"))),
    "gfx125": (
        (16, ("GFX1250",)),
        (12, (*_GFX1250, "GFX1250+4")),
        (8, ("GFX9_DL", *_GFX1250)),
        (4, ("AMDGPU", "GFX1250", "GFX1250_FAKE16", "GFX12", "GFX12_FAKE16")),
    ),
}


def family(target: str) -> str:
    """The family of tables of a target: gfx9, gfx10, gfx11, gfx12 or gfx125."""
    return "gfx125" if target.startswith("gfx125") else "gfx9" if target.startswith("gfx9") else target[:5]


@dataclass(frozen=True, order=True)
class OperandKind:
    """Decoding and printing of operands of a type."""

    decode: str
    width: int
    print: str
    text: str
    constant: str
    is_register: bool


def operand_kind(operand: OperandType) -> OperandKind:
    """The kind of an operand type; raises ValueError for methods that are not listed."""
    decode, width = _decoder(operand)
    print_kind, text = _printer(operand)
    constant = CONSTANTS.get(operand.operand_type)
    if constant is None:
        raise ValueError(f"operand {operand.name}: unknown type {operand.operand_type}")
    return OperandKind(decode, width, print_kind, text, constant, operand.kind != "Operand")


def _decoder(operand: OperandType) -> tuple[str, int]:
    method, _, width = operand.decoder_method.rstrip(">").partition("<")
    if method in DECODERS:
        return DECODERS[method], int(width or 32)
    if method == "-" and operand.kind == "Operand":
        return "number", 0
    register_class = operand.name if operand.kind == "RegisterClass" else operand.register_class
    if method != "-":
        register_class = method.removeprefix("Decode").removesuffix("RegisterClass")
    match = re.fullmatch(r"([A-Za-z]+(?:_LdSt)?)_(\d+)(_\w+)?", register_class)
    if match is None or match[1] not in BANKS:
        raise ValueError(f"operand {operand.name}: unknown decoder {operand.decoder_method} of {register_class}")
    bits = int(match[2])
    is_low = "Lo128" in (match[3] or "")
    if bits == 16 and match[1] == "VGPR":
        return ("half_lo128" if is_low else "half"), 16
    if bits == 1:
        return "wave_mask", 32
    return ("vector_lo128" if is_low else BANKS[match[1]]), bits


def _printer(operand: OperandType) -> tuple[str, str]:
    method = operand.print_method
    if operand.decoder_method == "decodeVersionImm":
        return "version", ""
    if method in PRINTS:
        return PRINTS[method], ""
    if match := _NAMED_BIT.search(method):
        return "named_bit", match[1]
    if match := _NAMED_NUMBER.search(method):
        kind = "named_hex" if match[2] == "true" else "named_number"
        return kind + ("_always" if match[3] == "true" else ""), match[1]
    raise ValueError(f"operand {operand.name}: unknown print method {method}")
