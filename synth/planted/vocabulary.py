"""The instructions of the planted kernels, per target; registers are chosen so that nothing waits for a result."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Vocabulary:
    """Texts of one target."""

    begin: tuple[str, ...]
    load: str  #: Format with `first` and `last` register and `offset`; `dword` loads 4 bytes, `wide` 16.
    wide_load: str
    store: str
    wide_store: str
    wait_memory: str  #: For loads (and on gfx9 for stores).
    lds_read: str
    wait_lds: str
    scratch_store: str
    scratch_load: str
    matrix: str
    barrier: tuple[str, ...]

    def work(self, count: int) -> tuple[str, ...]:
        """Vector instructions that do not depend on each other."""
        return tuple(f"v_add_f32_e32 v{100 + number % 24}, v20, v21" for number in range(count))

    def loads(self, count: int, *, wide: bool = False) -> tuple[str, ...]:
        """Loads into registers of their own."""
        return _numbered(self.wide_load if wide else self.load, count)

    def stores(self, count: int, *, wide: bool = False) -> tuple[str, ...]:
        """Stores one behind the other."""
        return _numbered(self.wide_store if wide else self.store, count)

    def lds_reads(self, count: int) -> tuple[str, ...]:
        """LDS reads of 16 bytes per lane."""
        return _numbered(self.lds_read, count)

    def spills(self, count: int) -> tuple[str, ...]:
        """Registers put aside and fetched again."""
        return _numbered(self.scratch_store, count) + _numbered(self.scratch_load, count) + (self.wait_memory,)

    def matrices(self, count: int, accumulators: int = 4) -> tuple[str, ...]:
        """Matrix instructions on as many independent accumulators."""
        return tuple(self._matrix(number % accumulators) for number in range(count))

    def _matrix(self, accumulator: int) -> str:
        size = 16 if self.matrix.startswith("v_mfma") else 8
        first = accumulator * size if size == 16 else 160 + accumulator * size
        return self.matrix.format(first=first, last=first + size - 1)


def _numbered(text: str, count: int) -> tuple[str, ...]:
    return tuple(
        text.format(first=40 + 4 * number, last=43 + 4 * number, offset=16 * number) for number in range(count)
    )


VOCABULARIES = {
    "gfx942": Vocabulary(
        begin=(
            "s_load_dwordx4 s[4:7], s[0:1], 0x0",
            "s_waitcnt lgkmcnt(0)",
            "v_lshl_add_u64 v[2:3], v[2:3], 0, s[4:5]",
        ),
        load="global_load_dword v{first}, v[2:3], off offset:{offset}",
        wide_load="global_load_dwordx4 v[{first}:{last}], v[2:3], off offset:{offset}",
        store="global_store_dword v[4:5], v{first}, off offset:{offset}",
        wide_store="global_store_dwordx4 v[4:5], v[{first}:{last}], off offset:{offset}",
        wait_memory="s_waitcnt vmcnt(0)",
        lds_read="ds_read_b128 v[{first}:{last}], v1 offset:{offset}",
        wait_lds="s_waitcnt lgkmcnt(0)",
        scratch_store="scratch_store_dwordx4 off, v[{first}:{last}], off offset:{offset}",
        scratch_load="scratch_load_dwordx4 v[{first}:{last}], off, off offset:{offset}",
        matrix="v_mfma_f32_32x32x8_f16 a[{first}:{last}], v[8:9], v[10:11], a[{first}:{last}]",
        barrier=("s_barrier",),
    ),
    "gfx1201": Vocabulary(
        begin=("s_load_b128 s[4:7], s[0:1], 0x0", "s_wait_kmcnt 0x0"),
        load="global_load_b32 v{first}, v[2:3], off offset:{offset}",
        wide_load="global_load_b128 v[{first}:{last}], v[2:3], off offset:{offset}",
        store="global_store_b32 v[4:5], v{first}, off offset:{offset}",
        wide_store="global_store_b128 v[4:5], v[{first}:{last}], off offset:{offset}",
        wait_memory="s_wait_loadcnt 0x0",
        lds_read="ds_load_b128 v[{first}:{last}], v1 offset:{offset}",
        wait_lds="s_wait_dscnt 0x0",
        scratch_store="scratch_store_b128 off, v[{first}:{last}], off offset:{offset}",
        scratch_load="scratch_load_b128 v[{first}:{last}], off, off offset:{offset}",
        matrix="v_wmma_f32_16x16x16_f16 v[{first}:{last}], v[8:11], v[12:15], v[{first}:{last}]",
        barrier=("s_barrier_signal -1", "s_barrier_wait 0xffff"),
    ),
}
"""By target."""
