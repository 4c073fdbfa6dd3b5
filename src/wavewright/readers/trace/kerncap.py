"""A kerncap folder: one dispatch with the bytes of its arguments (AMDResearch/intellikit, kerncap).

| file | what is read of it |
|---|---|
| `dispatch.json` | kernel, GPU, grid, workgroup size, LDS, number of bytes of arguments |
| `metadata.json` | the same in other words, where the first is missing |
| `kernarg.bin`, `kernarg_raw.bin` | the kernarg segment as the dispatch used it |

The snapshots of device memory are not read.
"""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, TypeVar

import msgspec

from wavewright.base.files import not_read, open_regular
from wavewright.codeobj.code_object import Kernel
from wavewright.codeobj.kernel_arguments import ArgumentValues, DispatchSize, Size3, argument_values, worded_size
from wavewright.codeobj.metadata import MAX_SEGMENT_BYTES
from wavewright.errors import NotATraceError, UsageError

_DISPATCH, _METADATA = "dispatch.json", "metadata.json"
_ARGUMENTS = ("kernarg.bin", "kernarg_raw.bin")
_MAX_JSON_BYTES = 16 << 20  # constant values of Triton kernels are in it; kilobytes in practice
_TARGET = re.compile(r"gfx[0-9a-f]+(?:-[0-9]+)?(?:-generic)?")
_Document = TypeVar("_Document")
_Size = TypeVar("_Size", Size3, int)
_Count = Annotated[int, msgspec.Meta(ge=0, le=0xFFFF_FFFF)]


class _Dispatch(msgspec.Struct):
    mangled_name: str
    grid: tuple[_Count, _Count, _Count]
    block: tuple[_Count, _Count, _Count]
    demangled_name: str = ""
    isa_name: str = ""
    wavefront_size: _Count | None = None
    group_segment_size: _Count | None = None
    kernarg_size: _Count | None = None
    dispatch_index: _Count | None = None


class _Axes(msgspec.Struct):
    x: _Count
    y: _Count
    z: _Count

    @property
    def size(self) -> Size3:
        return self.x, self.y, self.z


class _Metadata(msgspec.Struct):
    kernel_symbol: str
    grid: _Axes
    block: _Axes
    kernel_name: str = ""
    gpu_arch: str = ""
    lds_size: _Count | None = None


@dataclass(frozen=True)
class KerncapDispatch:
    """A dispatch as kerncap recorded it; None = not recorded."""

    where: str
    kernel_name: str  #: As in the symbol table, mangled.
    demangled: str
    target: str | None
    size: DispatchSize
    lds_bytes: int | None  #: Of a workgroup, static and dynamic.
    segment: bytes  #: The kernarg segment.
    wave_size: int | None = None
    dispatch_index: int | None = None  #: Among the dispatches of its kernel, from 0.

    def values(
        self, kernel: Kernel, size: DispatchSize | None = None, *, target: str | None = None, values: Sequence[str] = ()
    ) -> ArgumentValues:
        """The values of the arguments of `kernel`, where this is a dispatch of it on the same kind of GPU.

        `size` and `target` are those of the traced dispatch, None = not known. Raises `UsageError`: it is of another
        kernel, GPU or size, or a given value disagrees with it.
        """
        if self.kernel_name != kernel.name:
            raise self._other(f"this is a dispatch of {self.demangled or self.kernel_name}, not of {kernel.name}")
        if target and self.target and target != self.target:
            raise self._other(f"this is a dispatch on {self.target}, and the trace is of {target}")
        own, traced = self._full_size(kernel), size or DispatchSize()
        common = DispatchSize(
            self._same("workgroup size", own.workgroup_size, traced.workgroup_size),
            self._same("grid", own.grid_size, traced.grid_size),
            self._same("dynamic LDS of", own.dynamic_lds_bytes, traced.dynamic_lds_bytes),
        )
        try:
            return argument_values(kernel, common, given=values, recorded=self.segment)
        except UsageError as error:
            raise UsageError(error.what, where=self.where, kept=error.kept, advice=error.advice) from error

    def _full_size(self, kernel: Kernel) -> DispatchSize:
        """The size with the dynamic part of LDS, which is what the kernel does not declare."""
        if self.lds_bytes is None or kernel.lds_bytes is None or self.lds_bytes < kernel.lds_bytes:
            return self.size
        return self.size._replace(dynamic_lds_bytes=self.lds_bytes - kernel.lds_bytes)

    def _same(self, name: str, own: _Size | None, traced: _Size | None) -> _Size | None:
        if own is None or traced is None:
            return traced if own is None else own
        if own != traced:
            own_text, traced_text = (worded_size(s) if isinstance(s, tuple) else f"{s:,} bytes" for s in (own, traced))
            raise self._other(f"this dispatch has the {name} {own_text}, and the traced one {traced_text}")
        return own

    def _other(self, problem: str) -> UsageError:
        return UsageError(problem, where=self.where, advice="give the arguments of the traced dispatch")


def read_kerncap(path: str | os.PathLike[str]) -> KerncapDispatch:
    """Read a folder that kerncap wrote. Links that lead out of it are not followed.

    Raises `UsageError`: not a folder, or without the files; `NotATraceError`: a file is damaged, cut short, or of
    another size than the folder says.
    """
    folder = Path(path)
    if not folder.is_dir():
        raise UsageError("not a folder" if folder.exists() else "no such folder", where=str(folder))
    dispatch = _read_dispatch(folder)
    name = next((name for name in _ARGUMENTS if (folder / name).exists()), None)
    if name is None:
        raise UsageError(f"a kerncap folder without {_ARGUMENTS[0]}", where=str(folder), advice="capture again")
    segment = _bytes_of(folder, name, MAX_SEGMENT_BYTES)
    if dispatch.kernarg_size is not None and len(segment) != dispatch.kernarg_size:
        relation = "is cut short" if len(segment) < dispatch.kernarg_size else "is too long"
        raise NotATraceError(
            f"{relation}: {len(segment):,} bytes, and {_DISPATCH} says {dispatch.kernarg_size:,}",
            where=str(folder / name),
            advice="copy the folder again",
        )
    size = DispatchSize(dispatch.block, dispatch.grid)
    try:
        size.check()
    except UsageError as error:
        raise NotATraceError(error.what, where=str(folder), advice="copy the folder again") from error
    targets = _TARGET.findall(dispatch.isa_name)
    return KerncapDispatch(
        where=str(folder),
        kernel_name=dispatch.mangled_name.removesuffix(".kd"),
        demangled=dispatch.demangled_name.removesuffix(".kd"),
        target=targets[-1] if targets else None,
        size=size,
        lds_bytes=dispatch.group_segment_size,
        segment=segment,
        wave_size=dispatch.wavefront_size,
        dispatch_index=dispatch.dispatch_index,
    )


def _read_dispatch(folder: Path) -> _Dispatch:
    if (folder / _DISPATCH).exists():
        return decoded_file(folder, _DISPATCH, _Dispatch)
    if not (folder / _METADATA).exists():
        raise UsageError(f"not a kerncap folder: it has neither {_DISPATCH} nor {_METADATA}", where=str(folder))
    other = decoded_file(folder, _METADATA, _Metadata)
    return _Dispatch(
        other.kernel_symbol, other.grid.size, other.block.size, other.kernel_name, other.gpu_arch, None, other.lds_size
    )


def decoded_file(folder: Path, name: str, kind: type[_Document]) -> _Document:
    """A JSON file of a folder as `kind`.

    Raises `NotATraceError` when it is not one, is too large, or a link out of the folder.
    """
    try:
        return msgspec.json.decode(_bytes_of(folder, name, _MAX_JSON_BYTES), type=kind)
    except (msgspec.DecodeError, ValueError, RecursionError) as error:
        problem = f"cannot be read: {error}"
        raise NotATraceError(problem, where=str(folder / name), advice="copy the folder again") from error


def _bytes_of(folder: Path, name: str, limit: int) -> bytes:
    file = folder / name
    if reason := not_read(file, folder):
        raise NotATraceError(f"not read: {reason}", where=str(file))
    try:
        with open_regular(file) as stream:
            data = stream.read(limit + 1)
    except OSError as error:
        raise NotATraceError(f"cannot be read: {error.strerror}", where=str(file)) from error
    if len(data) > limit:
        raise NotATraceError(f"more than {limit:,} bytes", where=str(file), advice="it does not hold arguments")
    return data
