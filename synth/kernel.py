"""Kernels that synthetic traces run."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

from synth.kernels import kernel_path, listing_path
from wavewright.codeobj import targets
from wavewright.errors import UsageError

DEFAULT_TARGET = {"gfx9": "gfx942", "gfx10": "gfx1030", "gfx11": "gfx1100", "gfx12": "gfx1201", "gfx1250": "gfx1250"}
"""The GPU whose code a family's traces run unless the scenario says otherwise."""

_LISTINGS = Path(__file__).parent / "listings"
_TOUR_ENTRIES = {"tour": 0x1300, "copy": 0x1500}  # in listings/tour.S, the same for every target


@dataclass(frozen=True)
class KernelImage:
    """A kernel to run: kernels with the same listing share one code object.

    `listing` is TSV (address, size, text), `entry` the ELF address of the kernel (a multiple of 256), `elf` the
    code object's file, if there is one, and `lds_bytes` what its metadata says.

    Examples
    --------
    >>> tour("gfx1100", "copy").entry
    5376
    """

    name: str
    target: str
    listing: bytes = field(repr=False)
    entry: int
    elf: bytes | None = field(default=None, repr=False)
    lds_bytes: int | None = None

    def __post_init__(self) -> None:
        if self.entry % 256:
            problem = f"the entry of {self.name}, {self.entry:#x}, is not a multiple of 256"
            raise UsageError(problem)


def family_of(target: str) -> str:
    """The stream family of a GPU.

    Raises
    ------
    UsageError
        No stream family is known for it.

    Examples
    --------
    >>> family_of("gfx942")
    'gfx9'
    """
    family = targets.family_of(target)
    if family is None:
        problem = f"no stream family is known for {target!r}"
        raise UsageError(problem, advice="known: gfx9 (MI100 to MI350), gfx10, gfx11, gfx12, gfx1250")
    return family


@cache
def tour(target: str, name: str = "tour") -> KernelImage:
    """A kernel ("tour" or "copy") of the built-in program that touches every kind of instruction; it has no ELF file.

    Raises
    ------
    UsageError
        It was not assembled for this target.

    Examples
    --------
    >>> tour("gfx1250").listing.split(b"\\t")[2][:10]
    b's_load_b64'
    """
    file = _LISTINGS / f"tour.{target}.isa.tsv"
    if name not in _TOUR_ENTRIES or not file.is_file():
        problem = f"there is no built-in program {name!r} for {target!r}"
        raise UsageError(problem, advice="targets: " + ", ".join(DEFAULT_TARGET.values()))
    return KernelImage(name, target, file.read_bytes(), _TOUR_ENTRIES[name])


@cache
def compiled(name: str, target: str) -> KernelImage:
    """One of `synth.kernels`, with its code object.

    Raises
    ------
    UsageError
        There is no such kernel for the target.

    Examples
    --------
    >>> compiled("saxpy", "gfx942").elf[:4]
    b'\\x7fELF'
    """
    from wavewright.codeobj.code_object import CodeObject

    path = kernel_path(name, target)
    if not path.is_file():
        problem = f"there is no kernel {name!r} for {target!r}"
        raise UsageError(problem, advice="see synth.kernels.KERNELS and TARGETS")
    # Each of them holds one kernel; a template's symbol is not its source's name.
    entry, lds = next((k.address, k.lds_bytes) for k in CodeObject.read(path).kernels if k.address is not None)
    return KernelImage(name, target, listing_path(name, target).read_bytes(), entry, path.read_bytes(), lds)
