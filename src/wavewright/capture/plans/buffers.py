"""How the buffer of a thread trace is divided among shader engines, and what it may measure (aqlprofile, ROCm 7.14)."""

from __future__ import annotations

from wavewright.errors import UsageError

MIB = 1 << 20
GIB = 1 << 30
PAGE_BYTES = 4096
#: Least bytes of all engines together; the tool refuses less.
BUFFER_BYTES_MIN = MIB
#: Least bytes of one engine.
ENGINE_BYTES_MIN = 128 << 10
#: The bytes of one engine stay below this.
ENGINE_BYTES_LIMIT = 16 * GIB
ENGINE_BYTES_LIMIT_GFX11 = 512 * MIB
#: Beyond this, more selected engines do not get more memory by themselves.
CHOSEN_BYTES_MAX = 2 * GIB
CHOSEN_BYTES_MIN = 256 * MIB
CHOSEN_BYTES_PER_ENGINE = 64 * MIB
#: Engines for which gfx10 and gfx11 keep a page each, selected or not.
_RESERVED_ENGINES = 64


def is_gfx9(target: str) -> bool:
    """Whether a target traces CUs with masks of SIMDs; an unknown target counts as one.

    Examples
    --------
    >>> is_gfx9("gfx942"), is_gfx9("gfx1100"), is_gfx9("")
    (True, False, True)
    """
    return not target or target.startswith("gfx9")


def selected_engines(se_mask: int, se_count: int | None = None) -> int:
    """Engines of a mask, as far as the GPU has them.

    Examples
    --------
    >>> selected_engines(0x11111111, 32), selected_engines(0xFFFF, 4)
    (8, 4)
    """
    return (se_mask & ((1 << se_count) - 1) if se_count else se_mask).bit_count()


def engine_bytes(buffer_bytes: int, engines: int, target: str = "") -> int:
    """Bytes of one engine's part of a buffer: a stream of exactly this length was cut.

    Examples
    --------
    >>> engine_bytes(256 * MIB, 8, "gfx942") == 32 * MIB, engine_bytes(MIB, 1, "gfx1100")
    (True, 790528)
    """
    reserved = (_RESERVED_ENGINES - engines) * PAGE_BYTES if target.startswith(("gfx10", "gfx11")) else 0
    return max(0, buffer_bytes - reserved) // max(1, engines) // PAGE_BYTES * PAGE_BYTES


def engine_bytes_limit(target: str) -> int:
    """What the part of one engine stays below."""
    return ENGINE_BYTES_LIMIT_GFX11 if target.startswith("gfx11") else ENGINE_BYTES_LIMIT


def largest_buffer(engines: int, target: str = "", memory_bytes: int | None = None) -> int:
    """The largest buffer that makes sense: the limit of the hardware, 2 GiB, and half of the GPU's memory.

    Examples
    --------
    >>> largest_buffer(1, "gfx1100") < 512 * MIB, largest_buffer(1, "gfx942") == 2 * GIB
    (True, True)
    """
    hardware = (engine_bytes_limit(target) - PAGE_BYTES) * max(1, engines)
    memory = memory_bytes // 2 if memory_bytes else CHOSEN_BYTES_MAX
    return max(BUFFER_BYTES_MIN, min(CHOSEN_BYTES_MAX, hardware, memory) // PAGE_BYTES * PAGE_BYTES)


def chosen_buffer(engines: int, target: str = "", memory_bytes: int | None = None) -> int:
    """A buffer for a first look: 256 MiB, and 64 MiB per engine where that is more."""
    wanted_bytes = max(CHOSEN_BYTES_MIN, engines * CHOSEN_BYTES_PER_ENGINE)
    return min(wanted_bytes, largest_buffer(engines, target, memory_bytes))


def check_buffer(buffer_bytes: int, engines: int, target: str = "") -> None:
    """Refuse a buffer that the tool or the hardware would refuse.

    Raises
    ------
    UsageError
        When it is too small or too large.
    """
    if buffer_bytes < BUFFER_BYTES_MIN:
        raise UsageError(f"a buffer of {buffer_bytes:,} bytes is too small", advice="it takes at least 1 MiB")
    part = engine_bytes(buffer_bytes, engines, target)
    if part < ENGINE_BYTES_MIN:
        raise UsageError(
            f"a buffer of {buffer_bytes:,} bytes leaves {part:,} bytes to each of {engines} shader engines",
            advice="each needs at least 128 KiB: take a larger buffer or fewer shader engines",
        )
    limit = engine_bytes_limit(target)
    if part >= limit:
        raise UsageError(
            f"a buffer of {buffer_bytes:,} bytes gives {part:,} bytes to each of {engines} shader engines",
            advice=f"{target or 'the hardware'} takes less than {limit // MIB:,} MiB each: take a smaller buffer",
        )
