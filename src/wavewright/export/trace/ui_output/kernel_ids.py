"""The kernel numbers of occupancy.json: in order of appearance, shared by all directories of one decode."""

from __future__ import annotations

from collections.abc import Iterable

from wavewright.export.trace.ui_output.lines import function_starts
from wavewright.model.trace import ThreadTrace

Entry = tuple[int, int]  #: (code object, address) of a kernel's entry.

_UNKNOWN: Entry = (0, 0)

#: Sizes through which libstdc++'s hash table grows; each has room for as many keys as it has buckets.
_BUCKETS = (13, 29, 59, 127, 257, 541, 1109, 2357, 5087, 10273, 20753, 42043, 85229, 172933, 351061, 712697, 1447153)


class KernelIds:
    """Kernel entries and their numbers; share one among the directories that belong together.

    Number 0 is the unknown entry. A directory also lists the kernels of earlier ones, because AMD's writer has one list
    per process.
    """

    def __init__(self) -> None:
        self._numbers: dict[Entry | str, int] = {_UNKNOWN: 0}
        self.names: dict[int, str] = {0: "0 / 0x0"}

    def number(self, entry: Entry | str, name: str) -> int:
        """The number of `entry`, or of a kernel with only a name; a new one if it is met first."""
        number = self._numbers.setdefault(entry, len(self._numbers))
        self.names.setdefault(number, name)
        return number


class KernelNames:
    """Kernel names in occupancy.json: the symbol when the entry is exactly at the start of the symbol.

    AMD's writer looks up the exact entry, so a kernel that is entered behind its argument preload has only a number.
    Where the trace has no code, the name of the table `kernels` is used.
    """

    def __init__(self, trace: ThreadTrace) -> None:
        self._starts = function_starts(trace.code)
        self._code_objects = {code_object for code_object, _ in self._starts}
        kernels = trace.kernels.select("kernel", "code_object", "address", "name").rows()
        self._kernels = {(code_object, address): name for _, code_object, address, name in kernels}
        self._by_number = {number: name for number, _, _, name in kernels}

    def of(self, entry: Entry) -> str:
        """The name of the kernel entered at `entry`."""
        code_object, address = entry
        number = f"{code_object} / {address:#x}"
        if code_object in self._code_objects:
            return self._starts.get(entry, number)
        return self._kernels.get(entry) or number

    def of_kernel(self, number: int) -> str:
        """The name of a kernel with an unknown entry."""
        return self._by_number.get(number) or "0 / 0x0"


def decode_order(dispatches: Iterable[int]) -> list[int]:
    """The order in which rocprofv3 decodes the dispatches of one capture, given in the order of capture.

    It iterates over a `std::unordered_map` of libstdc++: a new bucket goes to the front of the list, a new key to the
    front of its bucket, and growing links all keys again in list order. Kernel numbers follow from this order.

    >>> decode_order([1, 3])
    [3, 1]
    """
    keys = list(dict.fromkeys(dispatches))
    order: list[int] = []
    for size in _BUCKETS:
        order = _linked([*order, *keys[len(order) : size]], size)
        if len(order) == len(keys):
            break
    return [*order, *keys[len(order) :]]


def _linked(keys: list[int], size: int) -> list[int]:
    buckets: dict[int, list[int]] = {}
    for key in keys:
        buckets.setdefault(key % size, []).append(key)
    return [key for bucket in reversed(buckets.values()) for key in reversed(bucket)]
