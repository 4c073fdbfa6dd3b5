"""The loader of the TOML files beside it, and the type that its users see."""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from functools import cache
from typing import Any

from wavewright.errors import UsageError
from wavewright.facts.loader import packaged, packaged_text

_FILES = ("gpus/gfx9.toml", "gpus/rdna.toml")


@dataclass(frozen=True)
class Product:
    """One product of a target, or one die where the system shows each as a GPU; None = not known here."""

    name: str
    cu_count: int | None = None
    clock_hz_max: int | None = None
    l2_channel_count: int | None = None
    memory_bytes_per_second_peak: int | None = None
    #: What a program that only copies or reads reached on it; None = nobody measured it, as far as known here.
    memory_bytes_per_second_reached: int | None = None
    memory_reached_by: str = ""  #: The program, in words.
    infinity_cache_bytes: int | None = None  #: The last-level cache in front of the memory; None = there is none known.
    #: As `memory_bytes_per_second_reached`, of the Infinity Cache.
    infinity_cache_bytes_per_second_reached: int | None = None
    link_bytes_per_second_peak: int | None = None  #: To all other GPUs of its node together, in one direction.
    memory_clock_hz_max: int | None = None
    memory_channel_count: int | None = None  #: Of 32 bytes per memory clock each.
    se_count: int | None = None  #: Shader engines.
    sqc_count: int | None = None  #: Caches for instructions and scalars.
    #: Compute partition (SPX, DPX, ...) -> dies of one GPU in it; empty = one die.
    xcds_per_partition: dict[str, int] = field(default_factory=dict, hash=False)


@dataclass(frozen=True)
class Arch:
    """Facts about one GPU target; registers are per lane, LDS and workgroups per CU."""

    target: str
    generation: str
    wave_sizes: tuple[int, ...]
    simds_per_cu: int
    cus_per_wgp: int  #: CUs whose SIMDs and LDS a workgroup shares in WGP mode; 1 = there is no such mode.
    waves_per_simd_max: int
    vgprs_per_simd: dict[int, int] = field(hash=False)  #: Wave size -> registers of one lane in the file of one SIMD.
    vgpr_granule: dict[int, int] = field(hash=False)  #: Wave size -> registers are given out in multiples of this.
    vgprs_per_wave_max: int  #: Vector registers, of both kinds where the file is unified, that one wave can have.
    sgpr_granule: int
    sgprs_per_wave_max: int
    lds_bytes_per_cu: int
    lds_bytes_per_workgroup_max: int
    lds_granule_bytes: int
    workgroup_size_max: int  #: Lanes.
    workgroups_per_cu_max: int  #: Barriers; workgroups of one wave need none.
    #: Accumulation registers: none, separate (a file of their own, gfx908) or unified (one file, from gfx90a).
    accumulation: str = "none"
    accumulation_offset_granule: int = 1
    compute_waves_per_cu_max: int | None = None
    sgprs_per_simd: int | None = None  #: None = scalar registers do not limit the number of waves.
    l2_line_bytes: int | None = None
    memory_kind: str = "memory"  #: Of its products: HBM, GDDR6, LPDDR5X.
    lds_bank_count: int | None = None
    pipe_count: int | None = None  #: Scheduler pipes.
    #: Vector instructions of different waves that a SIMD takes at once at best, which is what floors count with. Most
    #: wait for each other, so a replay lets one go at a time (docs/explanation/replay.md).
    valu_issues_max: int = 1
    #: How an instruction begins (a pattern) -> cycles that it occupies its pipe; the first pattern that fits counts.
    pipe_cycles: dict[str, int] = field(default_factory=dict, hash=False)
    #: Operations or bytes per cycle of one CU, L2 channel (l2_) or instruction and scalar cache (sqc_).
    rates: dict[str, int] = field(default_factory=dict, hash=False)
    marks: tuple[str, ...] = ()  #: Patterns of mnemonics that no earlier target of the family has.
    series: str = ""  #: What the maker calls all products of the target; empty = they have no name in common.
    products: tuple[Product, ...] = ()
    product: Product = Product("")  #: The one that was asked for; else the first, whose facts are then an assumption.

    @property
    def family(self) -> str:
        """Series of its products, else the generation."""
        return self.series or self.generation

    @property
    def has_wgp_mode(self) -> bool:
        """Whether a workgroup may spread over several CUs."""
        return self.cus_per_wgp > 1


def of(gpu: str) -> Arch:
    """Facts about a target such as `gfx942` (features such as `:xnack+` may follow) or a product such as `MI300X`.

    Raises `UsageError` when neither a target nor a product has this name.

    >>> of("gfx950").lds_bytes_per_cu, of("mi325x").target
    (163840, 'gfx942')
    """
    gpu_name = gpu.strip()
    target = gpu_name.rsplit("--", 1)[-1].split(":", 1)[0].lower()
    if target in TARGETS:
        return _arch(target)
    plain_name = _plain(gpu_name)
    for arch in map(_arch, TARGETS):
        for product in arch.products:
            if _plain(product.name) == plain_name:
                return replace(arch, product=product)
    products = ", ".join(product.name for arch in map(_arch, TARGETS) for product in arch.products)
    what = f"no facts about a GPU called {gpu[:60]!r}"
    raise UsageError(what, advice=f"known: {', '.join(TARGETS)}; products: {products}")


def _plain(name: str) -> str:
    """A product's name without the maker's words: `AMD Instinct MI300X VF`, in a virtual machine -> `mi300x`."""
    words = name.lower().replace("-", " ").split()
    return " ".join(word for word in words if word not in ("amd", "instinct", "radeon", "oam", "vf"))


def _inherited(target: str, declared: dict[str, dict[str, Any]]) -> dict[str, Any]:
    """The facts of a target over those of its base.

    Products, series and marks are its own; pipe cycles and rates add up unless fresh.
    """
    entry = dict(declared[target])
    base, fresh = entry.pop("base", None), entry.pop("fresh", [])
    if base is None:
        return entry
    facts = {
        name: fact
        for name, fact in _inherited(base, declared).items()
        if name not in ("products", "series", "marks", *fresh)
    }
    declared_here: dict[str, int] = entry.get("pipe_cycles", {})
    inherited: dict[str, int] = facts.get("pipe_cycles", {})
    entry["pipe_cycles"] = declared_here | {text: n for text, n in inherited.items() if text not in declared_here}
    entry["rates"] = facts.get("rates", {}) | entry.get("rates", {})
    return facts | entry


@cache
def _arch(target: str) -> Arch:
    facts = _inherited(target, packaged(_HOMES[target]))
    for name in ("vgprs_per_simd", "vgpr_granule"):
        facts[name] = {int(size): count for size, count in facts[name].items()}
    products = tuple(Product(name, **fields) for name, fields in facts.pop("products", {}).items())
    facts["wave_sizes"] = tuple(facts["wave_sizes"])
    facts["marks"] = tuple(facts.get("marks", ()))
    return Arch(target, **facts, products=products, product=products[0] if products else Product(""))


#: Target -> the file that declares it; the file is parsed when something is asked about one of its targets.
_HOMES = {target: file for file in _FILES for target in re.findall(r"(?m)^\[([\w-]+)\]", packaged_text(file))}
TARGETS: tuple[str, ...] = tuple(_HOMES)  #: Every target with facts.
