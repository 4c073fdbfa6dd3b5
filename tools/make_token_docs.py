"""Write docs/formats/att-tokens.md, what raw thread traces consist of, from cpp/src. `--check` compares."""

# ruff: noqa: E501 - the sentences of a page
from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "formats" / "att-tokens.md"
_GFX9 = (ROOT / "cpp/src/gfx9/tokens.hpp").read_text("utf-8")
_RDNA = (ROOT / "cpp/src/rdna/tokens.hpp").read_text("utf-8")
_FIELD = re.compile(r"\.?(\w+) = (bits?)\((\d+)(?:, (\d+))?\)")
_GENERATIONS = {"V1": "gfx10", "V3": "gfx11", "V4": "gfx12", "V5": "gfx1250"}
#: Struct of cpp/src/gfx9/tokens.hpp -> the tokens that have its fields.
_OF_STRUCT = {
    "Misc": "misc", "Timestamp": "timestamp", "Reg": "reg", "RegCs": "reg_cs, reg_cs_priv",
    "WaveIdentity": "wave_start, wave_end, inst_userdata", "WaveStart": "wave_start, besides",
    "InstUserdata": "inst_userdata, besides", "Inst": "inst", "InstPc": "inst_pc", "Issue": "issue", "Perf": "perf",
}  # fmt: skip

_INTRODUCTION = """# Tokens of raw thread traces

<!-- made by tools/make_token_docs.py from cpp/src/gfx9/tokens.hpp and cpp/src/rdna/tokens.hpp -->

What an `.att` file consists of, in our words; the tables are those that the decoder is compiled from. An `.att` file is the buffer of one shader engine: what the
hardware wrote, without a container. Bits are counted from the least significant one of a token, bytes are little-endian. Which of the two families a buffer is of is told by
its first eight bytes: the software header of gfx9, or the HEADER token of RDNA, both of which have `0x11` in their low 7 bits.

A stream says when something happened, to which wave slot, and of which kind. It never holds the instruction itself: a decoder follows the program counter of every wave
through the code object, and takes the next instruction whenever a token says that one issued. Without code there are times and kinds, and no addresses.
"""
_ABOUT_GFX9 = """
## gfx9 (MI100, MI200, MI300, MI350)

The header has 8 bytes. Then tokens follow without gaps, each of a whole number of bytes; the low 4 bits are its type. Time goes on in steps of 4 cycles: bit 4 of every token
but `misc` adds one step, `misc` adds up to 255, and `timestamp` gives a time of the constant clock. Only one CU per shader engine is traced in detail; waves of the
others show as `wave_start` and `wave_end` alone.
"""
_ABOUT_WAVES = """
A wave lives from `wave_start` to `wave_end` of its slot. `issue` is sent at the beginning of a turn of a SIMD and has two bits for each of its slots: nothing, stalled (the
wave wanted to issue and could not), issued an instruction, issued one that needs no unit (`s_nop`, `s_waitcnt`, ...). What kind an issued instruction was comes
later, in an `inst` token of its slot, which types the oldest instruction of the wave that has no type yet. Jumps are told so: `PC` and `JUMP` were taken, `NEXT` was
not. `inst_pc` gives the address where a wave is.
"""
_ABOUT_RDNA = """
## RDNA (gfx10 to gfx1250)

The stream is one of bits: tokens have prefixes of 3 to 8 bits and lengths that are multiples of 4 bits (of 8 on gfx1250). The pattern below is written with the most
significant bit first; it is found in the low bits of a token. Most tokens have a short time field, in cycles since the token before. `time` adds more where
nothing happens. Each generation starts from the table of the one before it, and its own rows replace older ones of the same prefix.
"""
_ABOUT_LAYOUT = """
### Fields

Where fields lie depends on the version in the last HEADER token. A dash: this version has no such field.
"""


def tokens_page() -> str:
    """The page as Markdown."""
    parts = [_INTRODUCTION, _ABOUT_GFX9, *_gfx9_tokens(), "\n### Fields\n", *_gfx9_fields(), _ABOUT_WAVES]
    parts += ["\nThe kinds of `inst` tokens:\n", *_gfx9_kinds(), _ABOUT_RDNA]
    for version, label in _GENERATIONS.items():
        parts += [
            f"\n### Tokens {'of' if version == 'V1' else 'that change with'} {label}\n",
            *_rdna_rows(f"kRows{version}"),
        ]
    parts += ["\nSent by the hardware of all but gfx1250 as well:\n", *_rdna_rows("kExecutionRows")]
    parts += [_ABOUT_LAYOUT, *_rdna_layouts(), *_rdna_fixed()]
    return "\n\n".join(part.strip("\n") for part in parts) + "\n"


def _table(header: str, rows: Iterable[Iterable[object]]) -> str:
    cells = [header, *(" | ".join(str(cell) for cell in row) for row in rows)]
    cells.insert(1, " | ".join(["---"] * (header.count("|") + 1)))
    return "\n".join(f"| {line} |" for line in cells) + "\n"


def _bits(match: re.Match[str]) -> str:
    return match[3] if match[4] is None else f"{match[3]}..{match[4]}"


def _gfx9_tokens() -> Iterator[str]:
    numbers = dict(
        re.findall(r"^    (\w+) = (\d+),$", _GFX9[_GFX9.index("enum class TokenType") :].split("};")[0], re.M)
    )
    shapes = re.findall(r"\{(\d+), (\d+)\},\s+// (\w+)", _GFX9)
    rows = [
        (number, f"`{name}`", size, f"{slot}..{int(slot) + 3}" if int(slot) else "-")
        for (size, slot, shape), (name, number) in zip(shapes, numbers.items(), strict=True)
        if shape == name
    ]
    if len(rows) != 16:
        raise SystemExit("cpp/src/gfx9/tokens.hpp: the tokens and their shapes no longer match")
    yield _table("type | token | bytes | bits of the wave slot", rows)


def _gfx9_fields() -> Iterator[str]:
    rows = []
    for struct, tokens in _OF_STRUCT.items():
        body = re.search(rf"struct {struct}\b[^{{]*\{{(.*?)\n\}};", _GFX9, re.S)
        if body is None:
            raise SystemExit(f"cpp/src/gfx9/tokens.hpp: no struct {struct}")
        rows += [(tokens, f"`{match[1]}`", _bits(match)) for match in _FIELD.finditer(body[1])]
    yield _table("token | field | bits", rows)


def _gfx9_kinds() -> Iterator[str]:
    kinds = re.findall(
        r"\{Category::(\w+), (\d+)(?:, InstKind::(\w+))?[^}]*\},\s+// (\d+)(?: ([A-Z][A-Z0-9_]+))?", _GFX9
    )
    words = {"": "types an instruction", "new_pc": "types it; the wave goes on elsewhere", "trap": "the wave enters its trap handler",
             "take_back": "what issued was no instruction of its own", "replay": "likewise: an XNACK replay"}  # fmt: skip
    yield _table(
        "kind | name | category | what it says",
        [(number, name or "reserved", "-" if category == "none" else category, words[effect])
         for category, _, effect, number, name in kinds],
    )  # fmt: skip


def _rdna_rows(table: str) -> Iterator[str]:
    body = _RDNA[_RDNA.index(f"{table}[] = {{") :].split("};")[0]
    row = re.compile(r'\{"([01]+)", Token::(\w+), (\d+)(?:, (\d+), (\d+))?(?:, (\d+))?(, kShortValuDelta)?\}')
    rows = []
    for pattern, token, length, begin, end, bias, deltas in row.findall(body):
        time = f"{begin}..{int(end) - 1}" if end and end != "0" else "-"
        extra = f" + {bias}" if bias and bias != "0" else ""
        rows.append((f"`{pattern}`", f"`{token}`", length, "by bits 4..7" if deltas else time + extra))
    yield _table("prefix | token | bits | time field", rows)


def _rdna_layouts() -> Iterator[str]:
    versions: list[dict[str, str]] = []
    for name in ("kLayoutV3 = {", "Layout layout_v4() {", "Layout layout_v5() {"):
        text = _RDNA[_RDNA.index(name) + len(name) :]
        text = text[: re.search(r"\n\};?\n", text).start()]  # type: ignore[union-attr]
        fields = dict(versions[-1]) if versions else {}
        for group, body in re.findall(r"\.(\w+) = \{([^{}]*(?:\{\}[^{}]*)*)\}", text):
            fields = {key: value for key, value in fields.items() if not key.startswith(f"{group}.")}
            fields |= {f"{group}.{match[1]}": _bits(match) for match in _FIELD.finditer(body)}
        for match in re.finditer(r"layout\.(\w+)\.(\w+) = (bits?)\((\d+)(?:, (\d+))?\);", text):
            fields[f"{match[1]}.{match[2]}"] = match[4] if match[5] is None else f"{match[4]}..{match[5]}"
        outside = re.sub(r"\{[^{}]*(?:\{\}[^{}]*)*\}", "", text)
        fields |= {
            match[1]: _bits(match)
            for match in re.finditer(r"(?<!\w)(?:layout)?\.(\w+) = (bits?)\((\d+)(?:, (\d+))?\)[,;]", outside)
        }
        versions.append(fields)
    names = list(dict.fromkeys(key for fields in versions for key in fields))
    rows = [(f"`{name}`", *(fields.get(name, "-") for fields in versions)) for name in sorted(names)]
    yield _table("field | to version 3 | version 4 | version 5", rows)


def _rdna_fixed() -> Iterator[str]:
    rows = []
    for space, token in (("header", "header"), ("event", "event"), ("reg", "reg"), ("reg_init", "reg_init")):
        body = _RDNA[_RDNA.index(f"namespace {space}_field {{") :].split("}\n")[0]
        rows += [(f"`{token}`", f"`{match[1]}`", _bits(match)) for match in _FIELD.finditer(body)]
    yield "\nThe same in every version:\n"
    yield _table("token | field | bits", rows)


def main(arguments: list[str]) -> int:
    """Write the page, or compare it."""
    page = tokens_page()
    if "--check" in arguments:
        if PAGE.exists() and PAGE.read_text("utf-8") == page:
            return 0
        sys.stderr.write(f"{PAGE.relative_to(ROOT)} is stale: run tools/make_token_docs.py\n")
        return 1
    PAGE.write_text(page, "utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
