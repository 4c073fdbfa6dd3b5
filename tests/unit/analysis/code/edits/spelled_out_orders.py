"""Whether a listing is safe, spelled out from its texts alone: operands ready, barriers met, padding kept.

It shares nothing with `analysis/code/edits`: own reading of operands, own counters, the loop walked twice.
"""

from __future__ import annotations

import re

_VECTOR = re.compile(r"^(global|buffer|scratch)_(load|store|atomic)")
_ASYNC = re.compile(r"^global_(load_async_to|store_async_from)_lds")
_LDS = re.compile(r"^ds_")
_SCALAR = re.compile(r"^s_(load|buffer_load)")
_NOT_OPERANDS = re.compile(
    r"\s(off|offset\S*|glc|slc|dlc|sc\d|nt|th:\S+|scope:\S+|cbsz\S*|abid\S*|blgp\S*|op_sel\S*)(?=\s|$)"
)


def registers(word: str) -> set[str]:
    """Registers of one operand."""
    match = re.fullmatch(r"-?\|?([vsa])(?:\[(\d+):(\d+)\]|(\d+))\|?", word.strip())
    if not match:
        name = word.strip().removesuffix("_lo").removesuffix("_hi")
        return {name} if name in ("vcc", "exec", "m0", "scc") else set()
    first, last = (int(match[2]), int(match[3])) if match[2] else (int(match[4]), int(match[4]))
    return {f"{match[1]}{number}" for number in range(first, last + 1)}


def operands(text: str) -> tuple[str, set[str], set[str]]:
    """Mnemonic, registers that are read, and written."""
    mnemonic, _, rest = text.partition(" ")
    words = re.findall(r"[^,\[\]\s]+(?:\[[^\]]*\])?", _NOT_OPERANDS.sub(" ", " " + rest))
    found = [registers(word) for word in words]
    if _ASYNC.match(mnemonic):
        return mnemonic, set().union(*found, {"exec"}), set()
    no_result = ("s_cmp", "s_cbranch", "s_wait", "s_barrier", "s_nop", "v_cmpx", "s_bitcmp", "s_endpgm")
    stores = "store" in mnemonic or mnemonic.startswith(("ds_write", *no_result)) or "atomic" in mnemonic
    written = set() if stores or not found else set(found[0])
    read = set().union(*(found if stores else found[1:]), set())
    if re.match(r"v_(mac|fmac|dot\w*c|pk_fmac)", mnemonic) or "d16" in mnemonic:
        read |= written
    if re.match(r"s_(cmp|bitcmp|add|sub|and|or|xor|not|lsh|ash|min|max|bfe|abs)", mnemonic):
        written.add("scc")
    if re.match(r"s_(addc|add_co_ci|subb|sub_co_ci|cselect|cbranch_scc|cmov)", mnemonic):
        read.add("scc")
    if re.match(r"(v|ds|global|buffer|scratch|flat)_(?!readlane|writelane)", mnemonic):
        read.add("exec")
    if mnemonic.startswith("v_cmpx") or "saveexec" in mnemonic:
        written.add("exec")
        read.add("exec")
    return mnemonic, read, written


def queue_of(mnemonic: str, family: str) -> str | None:
    """The counter of an operation."""
    newest = family.startswith("gfx12")
    if _ASYNC.match(mnemonic):
        return "asynccnt"
    if _VECTOR.match(mnemonic):
        is_store = "store" in mnemonic
        if newest:
            return "storecnt" if is_store else "loadcnt"
        return "vscnt" if is_store and family != "gfx9" else "vmcnt"
    if _LDS.match(mnemonic):
        return "dscnt" if newest else "lgkmcnt"
    return ("kmcnt" if newest else "lgkmcnt") if _SCALAR.match(mnemonic) else None


def values_of(text: str) -> dict[str, int]:
    """Counters that a wait names."""
    if "vscnt" in text or text.startswith("s_wait_"):
        number = int(text.split()[-1].split(",")[-1], 0)
        both = re.match(r"s_wait_(load|store)cnt_dscnt", text)
        if both:
            return {f"{both[1]}cnt": number >> 8, "dscnt": number & 255}
        return {"vscnt" if "vscnt" in text else text.split()[0].removeprefix("s_wait_"): number}
    return {name: int(value) for name, value in re.findall(r"(\w+cnt)\((\d+)\)", text)}


def problems(listing: list[str], family: str, *, is_loop: bool) -> list[str]:
    """Everything that is not safe in a block which starts with nothing in flight."""
    found: list[str] = []
    last: dict[str, tuple[int, str]] = {}
    state = 0
    queues: dict[str, list[tuple[str, set[str]]]] = {}
    untranslated: list[tuple[int, str, set[str], str]] = []  # of gfx1250: number, text, what it reads, its counter
    issued = 0
    for _turn in range(2 if is_loop else 1):
        for number, text in enumerate(listing):
            mnemonic, read, written = operands(text)
            if text.startswith(("s_waitcnt", "s_wait_")) and "alu" not in text and "depctr" not in text:
                for counter, value in values_of(text).items():
                    queue = queues.get(counter, [])
                    if not value or not any(_SCALAR.match(each) for each, _ in queue):
                        del queue[: max(0, len(queue) - value)]
                    untranslated = _translated(untranslated, counter, value)
                state += 1
                continue
            if mnemonic == "s_nop":
                state += int(text.split()[1], 0) + 1
                continue
            for queue in queues.values():
                for other, destination in queue:
                    if destination & read:
                        found.append(f"{number} {text} reads what {other} has in flight")
                    alike = _VECTOR.match(mnemonic) and _VECTOR.match(other)
                    if destination & written and not alike:
                        found.append(f"{number} {text} writes what {other} has in flight")
            for _, other, sources, _ in untranslated:
                if sources & written and not (_VECTOR.match(mnemonic) and _VECTOR.match(other)):
                    found.append(f"{number} {text} writes what {other} may read again")
            found += _too_close(number, text, read, last, state) if family == "gfx9" else []
            for register in written:
                last[register] = (state, mnemonic)
            added_to = queue_of(mnemonic, family)
            if added_to:
                queues.setdefault(added_to, []).append((text, set() if "store" in mnemonic else written))
            if family == "gfx1250" and (_VECTOR.match(mnemonic) or _SCALAR.match(mnemonic)) and added_to != "asynccnt":
                is_scalar = bool(_SCALAR.match(mnemonic))
                untranslated = [each for each in untranslated if bool(_SCALAR.match(each[1])) == is_scalar]
                untranslated.append((issued, text, read, added_to or ""))
                issued += 1
            state += 1
    return sorted(set(found))


def _translated(
    untranslated: list[tuple[int, str, set[str], str]], counter: str, value: int
) -> list[tuple[int, str, set[str], str]]:
    """What is still to be translated behind a wait: for translations, or for the accesses themselves."""
    of_counter = [each for each in untranslated if counter in ("xcnt", each[3])]
    is_scalar = any(_SCALAR.match(text) for _, text, *_ in of_counter)
    done = [] if is_scalar and value else of_counter[: max(0, len(of_counter) - value)]
    return [each for each in untranslated if each not in done]


def _too_close(number: int, text: str, read: set[str], last: dict[str, tuple[int, str]], state: int) -> list[str]:
    found = []
    for register in read & set(last):
        since, by = state - last[register][0], last[register][1]
        if "mfma" in by and "mfma" not in text and since < 5 and not text.startswith("s_"):
            found.append(f"{number} {text} is {since} states behind {by}")
        if by.startswith("v_") and register.startswith("s") and register != "scc" and _VECTOR.match(text) and since < 6:
            found.append(f"{number} {text} reads {register} {since} states behind {by}")
    return found


def reads_by_row(listing: list[tuple[int, str]], *, is_loop: bool) -> dict[int, list[tuple[int, ...]]]:
    """For each row of the code, the rows whose results it reads (sorted, none = from before), in the last iteration.

    Where lanes are switched on and off, a vector register holds values of all rows that wrote it, one after the other.
    """
    has_masks = any("exec" in operands(text)[2] for _, text in listing)
    last: dict[str, tuple[int, ...]] = {}
    answer: dict[int, list[tuple[int, ...]]] = {}
    for _turn in range(2 if is_loop else 1):
        for row, text in listing:
            _, read, written = operands(text)
            answer[row] = sorted(last.get(register, ()) for register in read)
            for register in written:
                before = last.get(register, ()) if has_masks and register[0] in "va" and register != "vcc" else ()
                last[register] = (*before, row)
    return answer
