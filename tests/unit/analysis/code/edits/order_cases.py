"""Blocks of real and small kernels, and random orders of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from wavewright.analysis.code.edits.block_orders import BlockOrders
from wavewright.analysis.code.edits.kernel_rows import blocks_of
from wavewright.analysis.code.kernel import compiled_rows
from wavewright.analysis.code.machine_code import machine_code
from wavewright.readers.code import open_code

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path
    from random import Random

    from wavewright.analysis.code.edits.kernel_rows import KernelRows


def kernels_of(path: Path) -> Iterator[tuple[str, KernelRows]]:
    """All kernels of a file with code."""
    for place in open_code(path).places:
        opened = place.code_object
        for kernel in opened.kernels if opened else ():
            rows = compiled_rows(machine_code(opened, kernel)) if opened else None
            if rows is not None:
                yield kernel.name, rows


def block_orders(path: Path, *, loops_only: bool = False, least_rows: int = 8) -> Iterator[BlockOrders]:
    """Blocks that may be edited."""
    for _, code in kernels_of(path):
        for block in blocks_of(code):
            if (block.is_loop or not loops_only) and len(block.rows) >= least_rows:
                orders = BlockOrders(code, block)
                if not orders.refusal:
                    yield orders


def random_order(orders: BlockOrders, rng: Random) -> list[int]:
    """A random order that keeps all edges."""
    edges = orders.dependences.edges
    missing = [set(edge) for edge in edges]
    ready = [at for at, before in enumerate(missing) if not before]
    order: list[int] = []
    while ready:
        # Mostly the first one: orders in which rows only wander a little are more like edits than shuffled ones.
        at = ready.pop(rng.randrange(len(ready)) if rng.random() < rng.choice((0.1, 0.5, 1)) else 0)
        order.append(at)
        for other in range(len(edges)):
            if at in missing[other]:
                missing[other].discard(at)
                if not missing[other]:
                    ready.append(other)
        ready.sort()
    return order
