"""Result of an encoder, and the cut of a full trace buffer."""

from __future__ import annotations

from dataclasses import dataclass

BLOCK_BYTES = 32  # the hardware writes whole blocks


@dataclass(frozen=True)
class Encoded:
    """The bytes of one buffer, the part of them that can be repeated, and how many acts a decoder sees whole."""

    data: bytes
    windows_start_byte: int
    windows_end_byte: int
    acts: int
    cut_inside_token: bool = False


def kept_bytes(encoded: Encoded, share: float) -> int:
    """The size at which a buffer is cut that keeps `share` of the windows, in whole blocks."""
    payload = encoded.windows_end_byte - encoded.windows_start_byte
    return encoded.windows_start_byte + int(share * payload) // BLOCK_BYTES * BLOCK_BYTES
