"""Pickles as plain values, without unpickling: nothing is imported, nothing is called, whatever the file says.

The instructions of a pickle are followed one by one. Objects become `PickledObject`: the name of their class, what they
were made with, and their state. Dictionaries are lists of pairs, so that no key is ever hashed; sets are lists.
"""

from __future__ import annotations

import io
import pickletools
import struct
from collections.abc import Callable, Collection
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NoReturn

from wavewright.errors import NotATraceError

_MOST_INSTRUCTIONS = 100_000_000
_OPCODES = {opcode.code.encode("latin-1"): opcode for opcode in pickletools.opcodes}
_MEMOIZE, _GET, _LONG_GET = b"\x94", b"h", b"j"  #: Nearly all instructions of large pickles.


@dataclass
class PickledObject:
    """An object of a class that is only named."""

    module: str
    name: str
    values: list[Any] = field(default_factory=list)

    @property
    def state(self) -> dict[str, Any]:
        """Its fields by name, of those that are named by text."""
        pairs = next((value for value in reversed(self.values) if isinstance(value, PickledPairs)), PickledPairs())
        return {key: value for key, value in pairs if isinstance(key, str)}


class PickledPairs(list[tuple[Any, Any]]):
    """A dictionary as pairs in their order."""


class PickleReader:
    """Follows the instructions of one pickle."""

    def __init__(
        self, path: str, is_allowed: Callable[[str], bool], *, writer: str = "tinygrad", inert: Collection[str] = ()
    ) -> None:
        """`writer` is who writes such files; calls of the functions `inert` stand for their first argument."""
        self._path, self._is_allowed, self._writer, self._inert = path, is_allowed, writer, inert
        self._stack: list[Any] = []
        self._marks: list[int] = []
        self._memo: dict[int, Any] = {}

    def read(self, data: bytes) -> Any:
        """The value of a pickle.

        Raises `NotATraceError` when it is damaged, or names a class of a module that is not allowed.
        """
        stream, stack, memo = io.BytesIO(data), self._stack, self._memo
        try:
            for _ in range(_MOST_INSTRUCTIONS):
                code = stream.read(1)
                if code == _GET:
                    stack.append(memo[stream.read(1)[0]])
                elif code == _LONG_GET:
                    stack.append(memo[struct.unpack("<I", stream.read(4))[0]])
                elif code == _MEMOIZE:
                    memo[len(memo)] = stack[-1]
                elif not code:
                    self._refuse("it ends early")
                elif code == b".":
                    return stack.pop()
                else:
                    opcode = _OPCODES[code]
                    self._step(opcode.name, opcode.arg.reader(stream) if opcode.arg else None)
        except (ValueError, LookupError, TypeError, AttributeError, OverflowError, struct.error) as error:
            self._refuse("its instructions cannot be followed", error)
        return self._refuse(f"more than {_MOST_INSTRUCTIONS:,} instructions")

    def _refuse(self, reason: str, error: Exception | None = None) -> NoReturn:
        advice = f"no code of the file was run; export it again with an unchanged {self._writer}"
        problem = f"not a pickle that can be read safely: {reason}"
        raise NotATraceError(problem, where=self._path, advice=advice) from error

    def _step(self, name: str, argument: Any) -> None:
        """Follow one instruction, by its name in `pickletools`."""
        stack = self._stack
        if name in _PLAIN or (argument is not None and name in _WITH_VALUE):
            stack.append(_PLAIN.get(name, argument) if name in _PLAIN else argument)
        elif name in _EMPTY:
            stack.append(_EMPTY[name]())
        elif name == "MARK":
            self._marks.append(len(stack))
        elif name in ("PUT", "BINPUT", "LONG_BINPUT"):
            self._memo[argument] = stack[-1]
        elif name == "GET":
            stack.append(self._memo[argument])
        elif name in ("GLOBAL", "STACK_GLOBAL"):
            self._name_class(name, argument)
        elif name in ("REDUCE", "NEWOBJ", "BUILD", "NEWOBJ_EX"):
            self._make(name)
        elif name not in ("PROTO", "FRAME"):
            self._collect(name)

    def _name_class(self, name: str, argument: Any) -> None:
        is_on_stack = name == "STACK_GLOBAL"
        class_name, module = (self._stack.pop(), self._stack.pop()) if is_on_stack else argument.split(" ", 1)[::-1]
        if not isinstance(class_name, str) or not isinstance(module, str) or not self._is_allowed(module):
            self._refuse(f"it names {str(module)[:60]!r}.{str(class_name)[:60]!r}, which no file of {self._writer} has")
        self._stack.append(PickledObject(module, class_name))

    def _make(self, name: str) -> None:
        values = [self._stack.pop() for _ in range(2 if name == "NEWOBJ_EX" else 1)][::-1]
        instance = self._stack.pop()
        if not isinstance(instance, PickledObject):
            self._refuse("it calls something other than a class")
        if name == "REDUCE" and f"{instance.module}.{instance.name}" in self._inert:
            self._stack.append(values[0][0])
            return
        # The class stays as it is, because other objects may be made of it.
        self._stack.append(PickledObject(instance.module, instance.name, [*instance.values, *values]))
        if name == "BUILD":  # sets the state of an object that exists, also where the memo refers to it
            instance.values += values
            self._stack[-1] = instance

    def _collect(self, name: str) -> None:
        stack = self._stack
        if name in ("APPEND", "SETITEM"):
            value = stack.pop()
            key = stack.pop() if name == "SETITEM" else None
            stack[-1].append((key, value) if name == "SETITEM" else value)
        elif name in ("TUPLE1", "TUPLE2", "TUPLE3"):
            count = int(name[-1])
            stack[-count:] = [tuple(stack[-count:])]
        elif name == "POP":
            (self._marks if self._marks and self._marks[-1] == len(stack) else stack).pop()
        elif name == "DUP":
            stack.append(stack[-1])
        elif name in _OF_MARK:
            at = self._marks.pop()
            values = stack[at:]
            del stack[at:]
            _OF_MARK[name](stack, values)
        else:
            self._refuse(f"instruction {name}, which files of {self._writer} do not need")


#: What PyTorch's pickles of lists call: the first argument is the value.
_TORCH_INERT = tuple(f"torch.jit._pickle.{name}" for name in ("restore_type_tag", "build_intlist", "build_boollist"))


def torch_pickle(path: Path, data: bytes) -> Any:
    """The value of a pickle that PyTorch wrote. Raises `NotATraceError` as `PickleReader.read` does."""
    reader = PickleReader(str(path), lambda module: module == "torch.jit._pickle", writer="PyTorch", inert=_TORCH_INERT)
    return reader.read(data)


def _pairs(values: list[Any]) -> PickledPairs:
    return PickledPairs(zip(values[::2], values[1::2], strict=True))


#: Instructions that push a constant, their argument, or a new container; and those that end a part after MARK.
_PLAIN = {"NONE": None, "NEWTRUE": True, "NEWFALSE": False}
_WITH_VALUE = {
    "INT", "BININT", "BININT1", "BININT2", "LONG", "LONG1", "LONG4", "FLOAT", "BINFLOAT", "STRING", "BINSTRING",
    "SHORT_BINSTRING", "BINBYTES", "SHORT_BINBYTES", "BINBYTES8", "BYTEARRAY8", "UNICODE", "BINUNICODE",
    "SHORT_BINUNICODE", "BINUNICODE8",
}  # fmt: skip
_EMPTY: dict[str, Callable[[], Any]] = {
    "EMPTY_LIST": list, "EMPTY_TUPLE": tuple, "EMPTY_DICT": PickledPairs, "EMPTY_SET": list
}  # fmt: skip
_OF_MARK: dict[str, Callable[[list[Any], list[Any]], Any]] = {
    "APPENDS": lambda stack, values: stack[-1].extend(values),
    "ADDITEMS": lambda stack, values: stack[-1].extend(values),
    "SETITEMS": lambda stack, values: stack[-1].extend(_pairs(values)),
    "TUPLE": lambda stack, values: stack.append(tuple(values)),
    "LIST": lambda stack, values: stack.append(values),
    "DICT": lambda stack, values: stack.append(_pairs(values)),
    "FROZENSET": lambda stack, values: stack.append(values),
    "POP_MARK": lambda stack, values: None,
}
