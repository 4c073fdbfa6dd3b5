"""Chrome traces of graphs, written event by event: what was captured, and what was replayed, with the truth of both."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pathlib import Path

Event = dict[str, Any]
CHILD = "child graph"


@dataclass
class GraphTrace:
    """A trace that is written one call after another; times are microseconds."""

    events: list[Event] = field(default_factory=list)
    now: float = 1000.0
    correlation: int = 0
    gpu_now: float = 5000.0

    def _call(self, name: str, **args: Any) -> int:
        self.correlation += 1
        self._event("cuda_runtime", name, 1.0, correlation=self.correlation, **args)
        return self.correlation

    def _event(self, cat: str, name: str, length: float, *, at: float | None = None, **args: Any) -> None:
        self.events.append(
            {"ph": "X", "cat": cat, "name": name, "pid": 7, "tid": 7, "ts": self.now if at is None else at}
            | {"dur": length, "args": args}
        )
        self.now += 2.0 if at is None else 0.0

    def _around(self, cat: str, name: str, begin: float, **args: Any) -> None:
        self._event(cat, name, self.now - begin, at=begin, **args)

    def capture(self, kernels: list[str], *, layer: int = 0, rows: int = 8, module: str = "Layer") -> None:
        """Capture a graph; every kernel is launched in an operator `op::KERNEL`, whose input has `rows` rows."""
        self._call("hipStreamBeginCapture")
        outer = self.now
        for kernel in kernels:
            begin = self.now
            if kernel == CHILD:
                self._call("hipGraphLaunch")
            elif kernel == "copy":
                self._call("hipMemcpyAsync")
            else:
                self._call("hipModuleLaunchKernel", kernel=kernel, grid=[rows, 1, 1], block=[64, 1, 1])
            shape = {"Input Dims": [[rows, 16]], "Input type": ["c10::BFloat16"]}
            self._around("cpu_op", f"op::{kernel}", begin, **shape)
        self._around("python_function", f"nn.Module: {module}_{layer}", outer)
        self._call("hipStreamEndCapture")

    def marked(self, name: str, begin: float) -> None:
        """A marker from then until now."""
        self._around("user_annotation", name, begin)

    def replay(self, kernels: list[str], *, streams: list[int] | None = None, numbers: list[int] | None = None) -> None:
        """Launch a graph, whose kernels take 10, 11, ... microseconds."""
        correlation = self._call("hipGraphLaunch")
        for place, kernel in enumerate(kernels):
            is_copy = kernel == "copy"
            name = "Memcpy DtoD (Device -> Device)" if is_copy else kernel
            args = {"device": 0, "stream": streams[place] if streams else 3, "correlation": correlation}
            if numbers:
                args |= {"graph id": 5, "graph node id": (9 << 32) | numbers[place]}
            self._event("gpu_memcpy" if is_copy else "kernel", name, 10.0 + place, at=self.gpu_now, **args)
            self.gpu_now += 100.0

    def eager(self, kernel: str) -> None:
        """Launch a kernel in an operator."""
        begin = self.now
        correlation = self._call("hipLaunchKernel", kernel=kernel, grid=[1, 1, 1], block=[64, 1, 1])
        self._around("cpu_op", f"op::{kernel}", begin)
        self._event("kernel", kernel, 5.0, at=self.gpu_now, device=0, stream=3, correlation=correlation)
        self.gpu_now += 100.0

    def write(self, path: Path) -> Path:
        """The trace as a file."""
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps({"schemaVersion": 1, "deviceProperties": [], "traceEvents": self.events}))
        return path
