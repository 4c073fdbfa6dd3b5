"""An order of workgroups as a user gives it: CSV with a line for each, launched number and number of its work."""

from __future__ import annotations

from pathlib import Path

from wavewright.base.bounds import integer_of
from wavewright.errors import NotATraceError

_MOST_BYTES = 64 << 20


def read_workgroup_order(path: Path) -> tuple[int, ...]:
    """The number of the work of each launched workgroup, by launched number.

    Raises `NotATraceError` when a line is not two numbers, or a launched number is missing or given twice.
    """
    if path.stat().st_size > _MOST_BYTES:
        raise NotATraceError(f"the order is larger than {_MOST_BYTES >> 20} MiB", where=str(path))
    order: dict[int, int] = {}
    for line_number, line in enumerate(path.read_text("utf-8", errors="replace").splitlines(), 1):
        numbers = [integer_of(word.strip(), below=10**9) for word in line.split(",")]
        if not line.strip() or (line_number == 1 and numbers[0] is None):
            continue
        if len(numbers) != 2 or numbers[0] is None or numbers[1] is None:
            advice = "each line: launched number, number of its work; both count x first, from 0"
            raise NotATraceError(f"line {line_number} is not two numbers", where=str(path), advice=advice)
        if numbers[0] in order:
            raise NotATraceError(f"launched number {numbers[0]} is given twice", where=str(path))
        order[numbers[0]] = numbers[1]
    if order.keys() != set(range(len(order))):
        raise NotATraceError("the launched numbers are not 0, 1, 2, ... without gaps", where=str(path))
    return tuple(order[number] for number in range(len(order)))
