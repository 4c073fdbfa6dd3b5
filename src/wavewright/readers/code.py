"""Files with code and their kernels: code objects, bundles, programs and libraries."""

from __future__ import annotations

import re
from dataclasses import dataclass
from os import PathLike

from wavewright.base.words import shortened
from wavewright.codeobj.code_object import CodeObject, Kernel
from wavewright.codeobj.containers import code_objects_in
from wavewright.codeobj.containers.embedded_objects import EmbeddedObject
from wavewright.codeobj.names import demangle_all
from wavewright.errors import NotATraceError, UnsupportedError, UsageError
from wavewright.model.losses import Loss

_SHOWN = 4  #: An error names at most so many kernels.


@dataclass(frozen=True)
class ObjectPlace:
    """A code object, and where in its file it lies."""

    number: int  #: In its file, of all code objects.
    code_object: CodeObject | None  #: None = it could not be read.
    target: str | None = None
    entry: str | None = None  #: This and the fields below are those of `EmbeddedObject`.
    place: str | None = None
    size: int = 0  #: Bytes.
    packing: str | None = None


@dataclass(frozen=True)
class ChosenKernel:
    """A kernel of a file."""

    place: ObjectPlace
    code_object: CodeObject
    kernel: Kernel


@dataclass(frozen=True)
class CodeFile:
    """The code objects of a file that were chosen, and what could not be read of them."""

    where: str
    places: tuple[ObjectPlace, ...]
    losses: tuple[Loss, ...]

    @property
    def kernels(self) -> tuple[ChosenKernel, ...]:
        """Every kernel of every code object."""
        return tuple(
            ChosenKernel(place, place.code_object, kernel)
            for place in self.places
            if place.code_object
            for kernel in place.code_object.kernels
        )

    def named(self, name: str) -> tuple[ChosenKernel, ...]:
        """Kernels with exactly this name, else those whose name contains it, else those that match it as a pattern.

        Names are compared mangled and demangled. Raises `UsageError` when no kernel matches.
        """
        demangled = demangle_all(candidate.kernel.name for candidate in self.kernels)
        names = [(candidate, (candidate.kernel.name, demangled[candidate.kernel.name])) for candidate in self.kernels]
        try:
            pattern = re.compile(name)
        except re.error:
            pattern = re.compile(re.escape(name))
        for fits in (name.__eq__, lambda text: name in text, lambda text: pattern.search(text) is not None):
            matches = tuple(candidate for candidate, spellings in names if any(map(fits, spellings)))
            if matches:
                return matches
        kernel_list = ", ".join(shortened(demangled[candidate.kernel.name]) for candidate in self.kernels[:_SHOWN])
        problem = f"no kernel is called {name[:60]!r}" if kernel_list else "there are no kernels"
        raise UsageError(problem, where=self.where, advice=f"kernels: {kernel_list}" if kernel_list else "")


def open_code(path: str | PathLike[str], *, target: str | None = None, number: int | None = None) -> CodeFile:
    """Read the code objects of a file: all, those for a GPU, or the one of a number.

    A code object that cannot be read is a loss, unless it is the only one. Raises `NotATraceError` when the file has no
    code object, or none that can be read; `UnsupportedError` when it is of a kind that is not read; `UsageError` when
    it has none of this GPU or number.
    """
    contents = code_objects_in(path)
    if number is not None:
        objects: tuple[EmbeddedObject, ...] = (contents.choose(number=number),)
    else:
        objects = contents.of_target(target) if target else contents.objects
        if target and not objects and len(contents.objects) > 1:
            contents.choose(target=target)  # raises an error that lists the targets in the file
        objects = objects or contents.objects  # the only one: it may not say for which GPU it is
    places: list[ObjectPlace] = []
    losses: list[Loss] = list(contents.losses)
    for item in objects:
        code_object = None
        try:
            code_object = CodeObject.from_bytes(item.read(), where=contents.where, target=item.target or target)
            losses += code_object.losses
        except (NotATraceError, UnsupportedError) as error:
            if len(objects) == 1:
                raise
            losses.append(Loss("unreadable_code_object", detail=f"{item.name}: {error.what}"))
        place = (item.target, item.entry, item.place, item.size_bytes, item.packing)
        places.append(ObjectPlace(item.number, code_object, *place))
    return CodeFile(contents.where, tuple(places), tuple(losses))
