"""The code of a capture: code objects and listings into one `Program`, and its rows into the `code` table."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Any

import polars as pl

from wavewright import _core
from wavewright.base.files import not_read
from wavewright.codeobj.classes import classify_frame
from wavewright.codeobj.code_object import CodeObject, Kernel
from wavewright.codeobj.disassemble import disassemble
from wavewright.codeobj.lines import line_table
from wavewright.codeobj.listing import is_listing, read_listing
from wavewright.codeobj.names import demangle
from wavewright.codeobj.operands import with_operands
from wavewright.codeobj.targets import family_of
from wavewright.errors import WavewrightError
from wavewright.model.losses import Loss
from wavewright.model.schema import THREAD_TRACE, empty_frame
from wavewright.readers.files.capture import CodeObjectFile
from wavewright.readers.files.kinds import Generation, generation_of
from wavewright.readers.trace.assemble import CAPTURED

#: Up to this much machine code is disassembled at once; of more only the functions that the trace enters.
WHOLE_TEXT_BYTES = 8 << 20
PAGE_BYTES = 4096  #: Load addresses are multiples of this.
#: What to disassemble for when a code object does not name its GPU.
_LIKELY_TARGETS = {
    Generation.GFX9: "gfx942",
    Generation.GFX10: "gfx1030",
    Generation.GFX11: "gfx1100",
    Generation.GFX12: "gfx1200",
    Generation.GFX1250: "gfx1250",
}


@dataclass(frozen=True)
class _Part:
    """One code object as given: an ELF file, a listing, or both."""

    id: int  #: Its rows have addresses of the ELF file; those of 0 have raw virtual addresses.
    load_address: int | None
    name: str
    elf: CodeObject | None = None
    tsv: bytes = b""

    @property
    def bias(self) -> int:
        """Difference between the address of a row and its ELF address: only raw virtual addresses have been moved."""
        return (self.load_address or 0) if self.id == 0 else 0

    def elf_address(self, code_object: int, address: int) -> int | None:
        """ELF address of a place, if it can be in this part."""
        if code_object == self.id != 0:
            return address
        if code_object == 0 and (self.id == 0 or self.load_address is not None):
            offset = address - (self.load_address or 0)
            return offset if offset >= 0 else None
        return None

    def has_raw_address(self, address: int) -> bool:
        """True if the part may have code at a raw virtual address."""
        offset = self.elf_address(0, address)
        return offset is not None and (self.elf is None or self.elf.text_end(offset) is not None)


@dataclass
class Code:
    """All code that a capture came with, ready for decoding and for asking about places in it."""

    program: _core.Program
    parts: tuple[_Part, ...]
    target: str | None
    losses: list[Loss] = field(default_factory=list)
    line_losses: list[Loss] = field(default_factory=list)  #: What the debug lines of the last table lost.
    #: A GPU of the generation that the trace names, for code without a target.
    likely_target: str | None = None
    #: Whether only the entered functions of large code objects are listed; functions they call may be missing.
    is_partial: bool = False
    #: The kernel entries by which code was placed or chosen; None = they did not matter.
    entries: pl.DataFrame | None = None

    def kernels_at(self, entries: pl.DataFrame) -> pl.DataFrame:
        """The `kernels` table for the distinct entries of a trace."""
        spec = THREAD_TRACE["kernels"]
        rows = []
        for number, code_object, address in entries.select("kernel", "code_object", "address").iter_rows():
            kernel = self.kernel_at(code_object, address)
            name = kernel.name if kernel else f"{code_object} / {address:#x}"
            row = {column.name: getattr(kernel, column.name, None) for column in spec.columns}
            if kernel and kernel.vgprs is not None:
                row["resource_origin"] = CAPTURED
            place = {"kernel": number, "code_object": code_object, "address": address}
            rows.append(row | place | {"name": name, "demangled": demangle(name) or name})
        return pl.DataFrame(rows, schema=spec.dtypes)

    def missing_for(self, entries: pl.DataFrame) -> list[Loss]:
        """Losses for code objects that the trace entered and that nobody gave."""
        ids = {part.id for part in self.parts}
        object_ids = entries.filter(entries["code_object"] != 0)["code_object"].unique().sort().to_list()
        losses = [Loss("no_code_object", detail=str(number)) for number in object_ids if number not in ids]
        raw = entries.filter(entries["code_object"] == 0)["address"].to_list()
        unknown = [address for address in raw if not any(part.has_raw_address(address) for part in self.parts)]
        if unknown:
            losses.append(Loss("no_code_object", len(unknown), detail=f"0 (raw address {unknown[0]:#x})"))
        return losses

    def table(self, highest_row: int = -1) -> pl.DataFrame:
        """The `code` table: one row per static instruction, with its function and source line.

        `highest_row` is the largest row that an instruction has: rows behind the listed ones (the same code seen
        through raw addresses) are left out when nothing refers to them.
        """
        losses: list[Loss] = []
        listing, bounds = pl.DataFrame(self.program.listing()), pairwise(self.program.first_rows)
        listed = [(part, listing[start:end]) for part, (start, end) in zip(self.parts, bounds, strict=True)]
        frames = [self._described(part, frame, losses) for part, frame in listed]
        self.line_losses = losses
        if not frames:
            return empty_frame(THREAD_TRACE["code"])
        listing = pl.concat(frames, how="vertical").with_row_index("listed_row")
        rows = pl.DataFrame(self.program.rows()).with_row_index("row")
        if highest_row < listing.height:
            rows = rows.head(listing.height)
        code = rows.join(
            listing.select(pl.exclude("code_object", "address")),
            on=pl.col("listed_row").cast(pl.UInt32),
            how="left",
            maintain_order="left",
        )
        code = code.with_columns(
            pl.col("row").cast(pl.Int32),
            pl.col("text").fill_null(""),
            pl.col("text").str.split(" ").list.first().alias("mnemonic"),
        )
        target = self.target or self.likely_target
        kernels = (kernel for part in self.parts if part.elf for kernel in part.elf.kernels)
        wave64_kernels = {kernel.name for kernel in kernels if kernel.wave_size == 64}
        code = with_operands(classify_frame(code, target), target, wave64_kernels)
        return code.select(THREAD_TRACE["code"].casts)

    def _described(self, part: _Part, listing: pl.DataFrame, losses: list[Loss]) -> pl.DataFrame:
        """A part's rows with `function`, `file`, `line` and `inline_chain`."""
        count = listing.height  # columns, not rows: a listing has tens of thousands of rows
        functions: list[str | None] = [None] * count
        files: list[str | None] = [None] * count
        numbers: list[int | None] = [None] * count
        chains: list[str | None] = [None] * count
        if part.elf is not None:
            lines = line_table(part.elf)
            for index, address in enumerate((listing["address"] - part.bias).to_list()):
                function = part.elf.function_at(address)
                functions[index] = function.name if function else None
                if chain := lines.chain_at(address):
                    files[index], numbers[index] = chain[0].file, chain[0].line or None
                    chains[index] = " -> ".join(map(str, chain))
            losses += lines.losses
        return listing.with_columns(
            pl.Series("function", functions, pl.String),
            pl.Series("file", files, pl.String),
            pl.Series("line", numbers, pl.UInt32),
            pl.Series("inline_chain", chains, pl.String),
        )

    def kernel_at(self, code_object: int, address: int) -> Kernel | None:
        """The kernel or function at a place, None where no code object has code there."""
        for part in self.parts:
            offset = part.elf_address(code_object, address)
            if part.elf is None or offset is None:
                continue
            for kernel in part.elf.kernels:
                if kernel.address == offset:
                    return kernel
            function = part.elf.function_at(offset)
            if function is not None:
                # Waves may enter a kernel after its first instructions, which preload arguments.
                kernels = (kernel for kernel in part.elf.kernels if kernel.name == function.name)
                return next(kernels, Kernel(function.name, function.address, function.size))
        return None


def load_code(
    files: Sequence[CodeObjectFile],
    heads: Sequence[bytes],
    entered: Callable[[], pl.DataFrame] | None = None,
    *,
    whole: bool = False,
) -> Code:
    """Read code objects, disassemble what the trace needs, and link the `Program`.

    Small code objects are disassembled whole. Of large ones only the functions that waves entered are, unless
    `whole` is set: then all of every code object that waves entered. Code objects that cannot be read, and code
    of GPUs that nobody can disassemble, become losses. `heads` are the first bytes of the buffers; `entered` tells
    the kernel entries that they name, and is asked only when that matters.
    """
    losses: list[Loss] = []
    likely_target = _likely_target(heads)
    parts = _of_this_gpu(list(_read_parts(files, likely_target, losses)), likely_target, losses)
    text_bytes = sum(size for part in parts if part.elf for _, size in part.elf.text_ranges)
    has_unplaced = any(part.id == 0 and part.load_address is None for part in parts)
    is_large = text_bytes > WHOLE_TEXT_BYTES
    entries = entered() if entered and (has_unplaced or is_large) else None
    if entries is not None and has_unplaced:
        parts = _placed(parts, entries, losses)
    parts = [_listed(part, entries if is_large else None, losses, whole=whole) for part in parts]
    targets = [part.elf.target for part in parts if part.elf and part.elf.target]
    target = targets[0] if targets else None
    facts: dict[str, Any] = {"likely_target": likely_target, "is_partial": is_large and not whole, "entries": entries}
    return Code(_linked(parts, losses), tuple(parts), target, losses, **facts)


def kernels_entered(files: Sequence[CodeObjectFile], heads: Sequence[bytes], entries: pl.DataFrame) -> pl.DataFrame:
    """The `kernels` table for entries, from the symbols of the code objects alone: nothing is disassembled."""
    losses: list[Loss] = []
    parts = list(_read_parts(files, _likely_target(heads), losses))
    if any(part.id == 0 and part.load_address is None for part in parts):
        parts = _placed(parts, entries, losses)
    return Code(_core.Program(), tuple(parts), None).kernels_at(entries)


def _likely_target(heads: Sequence[bytes]) -> str | None:
    targets = (_LIKELY_TARGETS.get(generation_of(head[:8])) for head in heads)
    return next((target for target in targets if target), None)


def _read_parts(files: Iterable[CodeObjectFile], likely_target: str | None, losses: list[Loss]) -> Iterator[_Part]:
    for file in files:
        name = file.path.name
        try:
            if is_listing(file.path):
                yield _Part(file.id, file.load_address, name, tsv=read_listing(file.path, file.id, file.data))
            else:
                elf = _elf_of(file, likely_target)
                losses += elf.losses
                yield _Part(file.id, file.load_address, name, elf=elf, tsv=_text_beside(file, losses))
        except WavewrightError as error:
            losses.append(Loss("unreadable_code_object", detail=str(error)))


def _elf_of(file: CodeObjectFile, likely_target: str | None) -> CodeObject:
    if file.data is None:
        return CodeObject.read(file.path, target=likely_target)
    return CodeObject.from_bytes(file.data, where=str(file.path), target=likely_target)


def _of_this_gpu(parts: list[_Part], likely_target: str | None, losses: list[Loss]) -> list[_Part]:
    """The parts without code for GPUs of other generations than the one that was traced."""
    family = family_of(likely_target) if likely_target else None
    matches = []
    for part in parts:
        target = part.elf.target if part.elf else None
        if family and target and family_of(target) not in (family, None):
            problem = f"{part.name} is {target} code, but the trace is of a {family} GPU"
            losses.append(Loss("code_of_other_gpu", detail=problem))
        else:
            matches.append(part)
    return matches


def _text_beside(file: CodeObjectFile, losses: list[Loss]) -> bytes:
    """Return the listing next to an ELF file with the same name; its text counts more than our disassembly."""
    beside = file.path.with_name(f"{file.path.stem}.isa.tsv")
    if file.data is not None:
        return b"" if file.listing is None else read_listing(beside, file.id, file.listing)
    if not os.path.lexists(beside):
        return b""
    reason = not_read(beside, beside.parent)
    if reason:
        losses.append(Loss("not_followed", detail=f"{beside.name}: {reason}"))
    return b"" if reason else read_listing(beside, file.id)


def _placed(parts: Sequence[_Part], entries: pl.DataFrame, losses: list[Loss]) -> list[_Part]:
    """The parts with the load addresses that make one of their kernels start at an entry that no object explains.

    A guess counts only where one address is possible for the part and no other part could be there as well.
    """
    raw = entries.filter(entries["code_object"] == 0)["address"].to_list()
    possible = [_possible_load_addresses(part, raw) for part in parts]
    parts_placed = []
    for part, addresses in zip(parts, possible, strict=True):
        entries_elsewhere = {entry for other in possible if other is not addresses for entry in other.values()}
        sole = [load for load, entry in addresses.items() if entry not in entries_elsewhere]
        if len(addresses) == len(sole) == 1:
            losses.append(Loss("guessed_load_address", detail=f"{part.name} ({sole[0]:#x})"))
            parts_placed.append(replace(part, load_address=sole[0]))
        else:
            parts_placed.append(part)
    return parts_placed


def _possible_load_addresses(part: _Part, entries: Sequence[int]) -> dict[int, int]:
    """Load address -> the entry that a kernel of the part would then have."""
    if part.load_address is not None or part.elf is None:
        return {}
    kernels = [kernel.address for kernel in part.elf.kernels if kernel.address is not None]
    functions = [function.address for function in part.elf.functions]
    starts = kernels or functions or [address for address, _ in part.elf.text_ranges]
    pairs = ((entry - start, entry) for entry in entries for start in starts)
    return {load: entry for load, entry in pairs if load >= 0 and load % PAGE_BYTES == 0}


def _listed(part: _Part, entries: pl.DataFrame | None, losses: list[Loss], *, whole: bool) -> _Part:
    """The part with its disassembly: all of it, or with `entries` only what they enter."""
    if part.elf is None or part.tsv:
        return part
    ranges = None
    if entries is not None:
        places = entries.select("code_object", "address").iter_rows()
        offsets = [part.elf_address(code_object, address) for code_object, address in places]
        functions = [part.elf.function_at(offset) for offset in offsets if offset is not None]
        entered = sorted({(function.address, function.size) for function in functions if function is not None})
        if not entered:
            return part
        ranges = None if whole else entered
    listing = disassemble(part.elf, ranges=ranges)
    losses += listing.losses
    return replace(part, tsv=listing.tsv)


def _linked(parts: Sequence[_Part], losses: list[Loss]) -> _core.Program:
    program = _core.Program()
    for part in parts:
        unreadable = program.add_listing(part.id, part.load_address, part.tsv)
        if unreadable:
            losses.append(Loss("listing_lines", unreadable, detail=part.name))
        if part.elf is not None and part.elf.funcmap_text:
            unreadable = program.add_funcmap(part.id, part.elf.funcmap_text)
            if unreadable:
                losses.append(Loss("marker_names", unreadable, detail=part.name))
    program.link()
    return program
