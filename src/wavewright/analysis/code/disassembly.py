"""Disassembly of files with code, without a trace."""

from __future__ import annotations

from os import PathLike

from wavewright.analysis.code.kernel import KernelCode, kernel_code
from wavewright.analysis.code.object_overview import CodeOverview, code_overview
from wavewright.analysis.common.occupancy.limits import Resources
from wavewright.base.words import shortened
from wavewright.errors import UsageError
from wavewright.readers.code import open_code

_NAMED = 4  # kernels that an error names


def disassemble(
    path: str | PathLike[str],
    kernel: str | None = None,
    *,
    target: str | None = None,
    number: int | None = None,
    resources: Resources | None = None,
) -> CodeOverview | KernelCode:
    """The kernels of a file with code, or one of them: its listing, live registers, loops, waits. Needs no trace.

    Parameters
    ----------
    path
        A code object, a bundle, or a program or library with code objects in it.
    kernel
        Name of a kernel, or a part of it, or a regular expression; None = all, as an overview.
    target
        Only code objects for this GPU (`gfx942`); None = all.
    number
        Only the code object with this number (`object` in `CodeOverview.objects`); None = all.
    resources
        LDS and workgroup size of a launch, instead of what the code object says.

    Raises
    ------
    NotATraceError
        When the file has no code object of an AMD GPU.
    UsageError
        When no kernel is meant, or several are.

    Examples
    --------
    >>> from synth.kernels import kernel_path
    >>> code = disassemble(kernel_path("saxpy", "gfx942"), "saxpy")
    >>> code.registers.select("kind", "used", "peak").rows()[0]
    ('vgprs', 8, 7)
    """
    file = open_code(path, target=target, number=number)
    if kernel is None:
        return code_overview(file.places, override=resources)
    chosen = file.named(kernel)
    if len(chosen) > 1:
        names = ", ".join(f"object {match.place.number}: {shortened(match.kernel.name)}" for match in chosen[:_NAMED])
        raise UsageError(f"{len(chosen):,} kernels are meant", where=file.where, advice=f"name one of them: {names}")
    return kernel_code(chosen[0].code_object, chosen[0].kernel, override=resources)
