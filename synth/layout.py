"""Token layouts as data, one packer for all of them, and the writer that turns tokens into bytes.

Every token length of every family is a multiple of 4 bits, and both the byte-aligned families (gfx9, gfx1250)
and the nibble-aligned ones (gfx10 to gfx12) are little-endian bit strings. So one writer serves all: it keeps the
tokens as hexadecimal text and converts once at the end.
"""

from __future__ import annotations

from dataclasses import dataclass, field

BitRange = tuple[int, int]  # first and last bit, both inclusive
DELTA = "delta"  # the name of the time field in every layout that has one

HEX_FORMATS = tuple(f"%0{digits}x" for digits in range(19))
"""By number of nibbles: how a token becomes hexadecimal text."""


@dataclass(frozen=True)
class Layout:
    """One kind of token: its length, its fixed low bits, and where its fields are.

    >>> Layout("MISC", 16, 0, 4, {"delta": (4, 11), "type": (13, 15)}).pack(delta=255, type=1) == 0x2FF0
    True
    """

    name: str
    bits: int
    prefix: int
    prefix_bits: int
    fields: dict[str, BitRange]
    nibbles: int = field(init=False)
    delta_shift: int = field(init=False)
    delta_max: int = field(init=False)

    def __post_init__(self) -> None:
        low, high = self.fields.get(DELTA, (0, -1))
        object.__setattr__(self, "nibbles", self.bits // 4)
        object.__setattr__(self, "delta_shift", low)
        object.__setattr__(self, "delta_max", (1 << (high - low + 1)) - 1)

    def pack(self, **values: int) -> int:
        """The token's bits with these field values; fields not named are 0. ValueError if one does not fit."""
        word = self.prefix
        for name, value in values.items():
            low, high = self.fields[name]
            if not 0 <= value < 1 << (high - low + 1):
                message = f"{self.name}.{name} has {high - low + 1} bits, {value} does not fit"
                raise ValueError(message)
            word |= value << low
        return word

    def unpack(self, word: int) -> dict[str, int]:
        """The field values of a token."""
        return {name: word >> low & (1 << (high - low + 1)) - 1 for name, (low, high) in self.fields.items()}


class TokenWriter:
    """Collects tokens as hexadecimal text.

    `parts` is open to the encoders' inner loops: append one string of `bits / 4` digits per token.
    """

    def __init__(self) -> None:
        self.parts: list[str] = []
        self._measured_parts = 0
        self._measured = 0

    @property
    def position(self) -> int:
        """Nibbles (4 bits) written so far."""
        self._measured += sum(map(len, self.parts[self._measured_parts :]))
        self._measured_parts = len(self.parts)
        return self._measured

    def put(self, value: int, nibbles: int) -> None:
        """Append `nibbles` * 4 bits."""
        self.parts.append(HEX_FORMATS[nibbles] % value)

    def pad(self, unit_bytes: int, behind_nibbles: int = 0) -> None:
        """Append zero bits up to a multiple of `unit_bytes`, counted from `behind_nibbles`.

        In every family zeros are tokens without effect.
        """
        self.parts.append("0" * ((behind_nibbles - self.position) % (2 * unit_bytes)))

    def has_boundary(self, position: int, pad_nibbles: int) -> bool:
        """True if a token starts at this nibble; padding consists of tokens of `pad_nibbles`."""
        at = 0
        for part in self.parts:
            if at + len(part) > position:
                return at == position or (part.strip("0") == "" and (position - at) % pad_nibbles == 0)
            at += len(part)
        return True

    def to_bytes(self) -> bytes:
        """The buffer; its position must stand at a byte boundary."""
        return bytes.fromhex("".join(reversed(self.parts)))[::-1]
