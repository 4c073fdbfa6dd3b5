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
    #: A stream: every workgroup has `stream_bytes` of its own to read and half as many to write, in two steps.
    stream_begin: tuple[str, ...]
    stream_own: tuple[str, ...]  #: The places of the workgroup; without it all workgroups move the same bytes.
    stream_load: str
    stream_store: str
    stream_step: tuple[str, ...]

    def stream(self) -> tuple[str, ...]:
        """One step of the stream: 64 bytes read and 32 written by every lane."""
        loads, stores = _numbered(self.stream_load, 4), _numbered(self.stream_store, 2)
        return (*loads, self.wait_memory, *self.work(8), *stores, *self.stream_step)

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
        stream_begin=("s_mov_b32 s10, 0", "v_lshlrev_b32_e32 v2, 6, v0", "v_lshlrev_b32_e32 v4, 5, v0"),
        stream_own=(
            "s_lshl_b32 s8, s2, 15",
            "v_add_u32_e32 v2, s8, v2",
            "s_lshl_b32 s9, s2, 14",
            "v_add_u32_e32 v4, s9, v4",
        ),
        stream_load="global_load_dwordx4 v[{first}:{last}], v2, s[4:5] offset:{offset}",
        stream_store="global_store_dwordx4 v4, v[{first}:{last}], s[6:7] offset:{offset}",
        stream_step=(
            "v_add_u32_e32 v2, 0x4000, v2",
            "v_add_u32_e32 v4, 0x2000, v4",
            "s_add_u32 s10, s10, 1",
            "s_cmp_lt_u32 s10, 2",
        ),
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
        stream_begin=("s_mov_b32 s10, 0", "v_lshlrev_b32_e32 v2, 6, v0", "v_lshlrev_b32_e32 v4, 5, v0"),
        stream_own=(
            "s_lshl_b32 s8, ttmp9, 14",
            "v_add_nc_u32_e32 v2, s8, v2",
            "s_lshl_b32 s9, ttmp9, 13",
            "v_add_nc_u32_e32 v4, s9, v4",
        ),
        stream_load="global_load_b128 v[{first}:{last}], v2, s[4:5] offset:{offset}",
        stream_store="global_store_b128 v4, v[{first}:{last}], s[6:7] offset:{offset}",
        stream_step=(
            "v_add_nc_u32_e32 v2, 0x2000, v2",
            "v_add_nc_u32_e32 v4, 0x1000, v4",
            "s_add_co_u32 s10, s10, 1",
            "s_cmp_lt_u32 s10, 2",
        ),
    ),
}
"""By target."""
