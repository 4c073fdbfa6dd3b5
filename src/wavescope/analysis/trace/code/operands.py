"""Registers that an instruction writes and reads, from its text."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

_REGISTER = re.compile(
    r"\b([vsa])(?:(\d{1,4})|\[(\d{1,4})(?::(\d{1,4}))?\])(?![\w\[])|\b(vcc|exec|m0|scc)(?:_lo|_hi)?\b"
)
_LONGEST = 64  #: Registers of one operand; more belong to damaged text.
_NO_RESULT = re.compile(
    r"(buffer|global|flat|scratch|tbuffer|image|s|s_buffer)_store|ds_(write|store)|exp\b|export"
    r"|s_(branch|cbranch|wait|barrier|nop|endpgm|sleep|sendmsg|setreg|setprio|delay|clause|cmp|bitcmp|icache|dcache|ttrace)"
    r"|(buffer|global)_(wb|inv)|.*_atomic_(?!.*\b(sc0|glc|th:TH_ATOMIC_RETURN)\b)"
)
#: Two operands are written: the second takes a carry or a scale, or is exchanged.
_TWO_RESULTS = re.compile(
    r"v_(add|sub|subrev|addc|subb|subbrev)_co|v_(add|sub)_co_ci|v_mad_[ui]64|v_div_scale|v_swap|v_permlane\d+_swap"
)
#: The result is also an operand.
_READS_RESULT = re.compile(r"v_(fmac|mac|pk_fmac|dot\w*c|smfmac|swmmac|swap|permlane\d+_swap|writelane)|.*_d16|.*_dpp$")
_READS_VCC = re.compile(r"v_div_fmas|s_cbranch_vcc")
_READS_M0 = re.compile(r"ds_\w*gws|ds_\w*addtid|s_movrel|v_movrel|s_sendmsg|v_interp|lds_\w*(param|direct)_load")
_READS_EXEC = re.compile(r"s_cbranch_exec|v_readlane|v_readfirstlane|v_div_fmas")
_OTHER_LANES = re.compile(
    r"v_(readlane|readfirstlane|writelane|permlane)|\S*_dpp|.*\b(quad_perm|row_\w+|wave_\w+|dpp8)\b"
)


@dataclass(frozen=True)
class Uses:
    """Registers of one instruction: `v3`, `a7`, `s12`, `vcc`, `exec`, `m0`, `scc`."""

    writes: frozenset[str]
    reads: frozenset[str]
    reads_other_lanes: bool  #: Whether a lane gets what another lane holds (DPP, v_readlane, v_permlane).


@lru_cache(maxsize=1 << 12)
def uses_of(text: str) -> Uses:
    """Registers that an instruction writes and reads.

    Examples
    --------
    >>> uses = uses_of("v_add_co_u32_e32 v2, vcc, s4, v[6:7]")
    >>> sorted(uses.writes), sorted(uses.reads)
    (['v2', 'vcc'], ['s4', 'v6', 'v7'])
    """
    mnemonic, _, rest = text.partition(" ")
    operands = [_registers(part) for part in rest.split(",")]
    has_none = _has_no_result(mnemonic, text) or (mnemonic.startswith("v_cmpx") and len(operands) == 2)  # RDNA
    count = 0 if has_none else 2 if _TWO_RESULTS.match(mnemonic) else 1
    writes: set[str] = set().union(*operands[:count])
    reads: set[str] = set().union(*operands[count:])
    if _READS_RESULT.match(mnemonic):
        reads |= writes
    if re.match(r"s_(cmp|bitcmp)", mnemonic):
        writes.add("scc")
    if mnemonic.startswith("v_cmpx") or "saveexec" in mnemonic:
        writes.add("exec")
    reads |= _implied(mnemonic, text)
    return Uses(frozenset(writes), frozenset(reads), _OTHER_LANES.match(text) is not None)


def _has_no_result(mnemonic: str, text: str) -> bool:
    return _NO_RESULT.match(text) is not None or _loads_to_lds(mnemonic, text)


def _loads_to_lds(mnemonic: str, text: str) -> bool:
    return "load_lds" in mnemonic or ("load" in mnemonic and text.endswith(" lds"))


def _implied(mnemonic: str, text: str) -> set[str]:
    """Registers that are read without being named."""
    implied = {"vcc"} if _READS_VCC.match(mnemonic) else set()
    if _READS_M0.match(mnemonic) or _loads_to_lds(mnemonic, text):
        implied.add("m0")
    if _READS_EXEC.match(mnemonic) or _OTHER_LANES.match(text):
        implied.add("exec")
    return implied


def _registers(operand: str) -> set[str]:
    registers: set[str] = set()
    for kind, single, first, last, special in _REGISTER.findall(operand):
        if special:
            registers.add(special)
            continue
        begin = int(single or first)
        registers |= {f"{kind}{number}" for number in range(begin, min(int(last or begin), begin + _LONGEST) + 1)}
    return registers
