"""Accesses of memory by one wave as the truth has them, and the wave that collects them."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TypeAlias

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    LaneValues: TypeAlias = NDArray[np.int64]
    LaneMask: TypeAlias = NDArray[np.bool_]

Direction: TypeAlias = Literal["read", "write", "atomic"]
Space: TypeAlias = Literal["lds", "global", "flat"]
Data: TypeAlias = Literal["", "address", "mask"]


@dataclass(frozen=True)
class LaneAccess:
    """One execution of one access by one wave.

    `addresses` are those of the active lanes, in the order of the lanes, in bytes from the start of the LDS or from the
    pointer `base`. An instruction with two addresses per lane makes two parts. `needs` are the arguments without which
    the pattern cannot be told (others only move all lanes alike). `data` says what comes from memory: the address, then
    there are no `addresses`; or the mask, then `active` is 0 and the addresses are those of all lanes.
    """

    label: str
    execution: int  #: Number of this execution among those of the same label, in the order of the wave's walk.
    part: int
    space: Space
    direction: Direction
    width_bytes: int
    base: str
    active: int
    addresses: tuple[int, ...]
    needs: tuple[str, ...] = ()
    data: Data = ""


class LaneWave:
    """A wave that runs a kernel's meaning; arrays hold a value per lane."""

    def __init__(
        self, number: int, lanes: int, target: str, workgroup: int, arguments: Mapping[str, int], width: int
    ) -> None:
        self.number = number
        self.lanes = lanes
        self.target = target
        self.workgroup = workgroup
        self.arguments = arguments
        self.lane: LaneValues = np.arange(lanes, dtype=np.int64)
        self.id: LaneValues = self.lane + number * lanes  #: Of the work-item in its workgroup.
        self.x: LaneValues = self.id % width
        self.y: LaneValues = self.id // width
        self.active: LaneMask = np.ones(lanes, dtype=np.bool_)
        self.accesses: list[LaneAccess] = []
        self._ordered: dict[str, tuple[str, ...]] = {}
        self._executions: Counter[str] = Counter()

    def ordered(self, *labels: str) -> None:
        """The code makes accesses with these labels in the order of the source; of others it may change the order."""
        self._ordered |= dict.fromkeys(labels, labels)

    @property
    def sequences(self) -> tuple[tuple[str, ...], ...]:
        """Labels of the accesses so far: a sequence for each label, and one for those that are ordered together."""
        sequences: dict[tuple[str, ...], list[str]] = {}
        for access in self.accesses:
            if access.part == 0:
                sequences.setdefault(self._ordered.get(access.label, (access.label,)), []).append(access.label)
        return tuple(map(tuple, sequences.values()))

    def read(self, label: str, width: int, index: LaneValues | int, *, needs: str = "", data: Data = "") -> None:
        """An element of the LDS is read; nothing happens if no lane is active."""
        self._access(label, "lds", "read", width, (index,), "", needs, data)

    def read_two(self, label: str, width: int, first: LaneValues, second: LaneValues) -> None:
        """Two elements of the LDS are read at once."""
        self._access(label, "lds", "read", width, (first, second), "", "", "")

    def write(self, label: str, width: int, index: LaneValues | int, *, needs: str = "", data: Data = "") -> None:
        """An element of the LDS is written."""
        self._access(label, "lds", "write", width, (index,), "", needs, data)

    def write_two(self, label: str, width: int, first: LaneValues, second: LaneValues) -> None:
        """Two elements of the LDS are written at once."""
        self._access(label, "lds", "write", width, (first, second), "", "", "")

    def load(
        self,
        label: str,
        width: int,
        index: LaneValues | int,
        base: str,
        *,
        needs: str = "",
        data: Data = "",
        space: Space = "global",
    ) -> None:
        """An element of memory is read."""
        self._access(label, space, "read", width, (index,), base, needs, data)

    def store(
        self, label: str, width: int, index: LaneValues | int, base: str, *, needs: str = "", data: Data = ""
    ) -> None:
        """An element of memory is written."""
        self._access(label, "global", "write", width, (index,), base, needs, data)

    def add(self, label: str, width: int, index: LaneValues | int, space: Space, base: str = "") -> None:
        """An element of the LDS or of memory is added to."""
        self._access(label, space, "atomic", width, (index,), base, "", "")

    def _access(
        self,
        label: str,
        space: Space,
        direction: Direction,
        width: int,
        indices: tuple[LaneValues | int, ...],
        base: str,
        needs: str,
        data: Data,
    ) -> None:
        if not self.active.any():
            return
        execution = self._executions[label]
        self._executions[label] += 1
        active = 0 if data == "mask" else sum(1 << int(lane) for lane in self.lane[self.active])
        for part, index in enumerate(indices):
            every = np.broadcast_to(np.asarray(index, dtype=np.int64), (self.lanes,)) * width
            addresses = () if data == "address" else tuple(int(address) for address in every[self.active])
            self.accesses.append(
                LaneAccess(
                    label, execution, part, space, direction, width, base, active,
                    addresses, tuple(needs.split()), data,
                )
            )  # fmt: skip
