"""The GPUs of the machine model: few numbers, all in shader-clock cycles and bytes, each a plain fact or a round guess.

The model must be honest, not exact: what matters is that a cause costs what its physics costs and that nothing else
does. Waves issue in order; a pipe takes one instruction at a time; queues are finite; memory has a latency and a rate.
Not modelled: caches for data (a kernel's loads all go to memory), prefetch of instructions, clocks that change, other
processes.
"""

from __future__ import annotations

from dataclasses import dataclass

from synth.isa import Kind
from synth.rdna_ops import op_of

GFX12_VERSION = 4
"""The stream version of gfx12, for the cycles of its op codes."""


@dataclass(frozen=True)
class Machine:
    """One shader engine of a GPU and its share of the memory."""

    target: str
    family: str
    quantum_cycles: int  #: Issue steps: 4 on gfx9, 1 on RDNA.
    lanes: int
    simds: int  #: Of one CU (gfx9) or WGP (RDNA).
    traced_simds: tuple[int, ...]  #: Whose instructions a trace holds.
    cus: int  #: CUs or WGPs of the shader engine.
    gpu_cus_per_se: float  #: Of the whole GPU, on average: some shader engines have a CU less.
    shader_engines: int
    traced_cu: int
    clock_mhz: int
    memory_peak_bytes_per_cycle: float  #: Of one CU or WGP: the GPU's peak over its CUs and clock.
    memory_efficiency: float  #: Share of the peak that a stream reaches at best.
    matrix_cycles: int  #: How long the kernels' matrix instruction occupies its pipe.
    lds_bytes_per_cycle: int = 128
    memory_queue: int = 64  #: Vector memory instructions of a CU in flight; further ones stall at issue.
    lds_queue: int = 32
    scalar_load_cycles: int = 160
    lds_latency_cycles: int = 64
    scratch_latency_cycles: int = 420  #: Spills hit the L2 cache.
    store_latency_cycles: int = 300
    launch_cycles: int = 32  #: From the start of a wave to its first instruction.
    relaunch_cycles: int = 120  #: From the end of a workgroup to the start of the next one in its place.
    barrier_cycles: int = 8
    branch_cycles: int = 8  #: Until the target of a taken branch issues.
    end_cycles: int = 16  #: From s_endpgm, with all stores done, to the report of the wave's end.
    fetch_miss_cycles: int = 500  #: Of an instruction cache line that nobody fetched before.

    @property
    def memory_bytes_per_cycle(self) -> float:
        """The rate that a stream of one CU reaches."""
        return self.memory_peak_bytes_per_cycle * self.memory_efficiency

    def pipe_cycles(self, kind: Kind) -> int:
        """Cycles for which an instruction of a kind occupies its pipe."""
        if self.family != "gfx9":
            if kind == Kind.MATRIX:
                return self.matrix_cycles
            op = op_of(kind, GFX12_VERSION, is_taken=0)
            return op.cycles if op else 1
        return {Kind.MATRIX: self.matrix_cycles, Kind.TRANSCENDENTAL: 16, Kind.VALU_WIDE: 8, Kind.DOUBLE: 8}.get(
            kind, 4
        )

    def step_cycles(self, kind: Kind) -> int:
        """Cycles until the same wave may issue again: what the trace calls the instruction's duration."""
        if self.family == "gfx9":
            return 4
        op = op_of(kind, GFX12_VERSION, is_taken=0)
        return op.cycles if op else 1


# MI300X: 5,324.8 GB/s over 304 CUs at 2.1 GHz; 32 SEs, most of them with 10 CUs (38 per XCD in 4 SEs).
MI300X = Machine(
    target="gfx942",
    family="gfx9",
    quantum_cycles=4,
    lanes=64,
    simds=4,
    traced_simds=(0, 1, 2, 3),
    cus=10,
    gpu_cus_per_se=9.5,
    shader_engines=32,
    traced_cu=1,
    clock_mhz=2100,
    memory_peak_bytes_per_cycle=5324.8 / 2.1 / 304,
    memory_efficiency=0.797,  # 4,244 GB/s: roofline benchmark of ROCm Compute Profiler
    matrix_cycles=32,  # v_mfma_f32_32x32x8_f16
)
# RX 9070 XT: 640 GB/s over 32 WGPs at 2.97 GHz; 4 SEs of 8 WGPs. A trace holds one SIMD of one WGP.
RX9070XT = Machine(
    target="gfx1201",
    family="gfx12",
    quantum_cycles=1,
    lanes=32,
    simds=4,
    traced_simds=(0,),
    cus=8,
    gpu_cus_per_se=8,
    shader_engines=4,
    traced_cu=1,
    clock_mhz=2970,
    memory_peak_bytes_per_cycle=640 / 2.97 / 32,
    memory_efficiency=0.85,
    matrix_cycles=16,  # v_wmma_f32_16x16x16_f16
    lds_bytes_per_cycle=256,
)
MACHINES = {machine.target: machine for machine in (MI300X, RX9070XT)}
"""By target."""
