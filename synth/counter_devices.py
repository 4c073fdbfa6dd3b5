"""The GPUs whose counters can be made, as a profiler's `sysinfo.csv` describes them."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["DEVICES", "CounterDevice"]


@dataclass(frozen=True)
class CounterDevice:
    """One GPU in one partition, as the tables of counters see it.

    Examples
    --------
    >>> DEVICES["gfx942"].l2_channel_count
    128
    """

    target: str
    series: str
    model: str
    cu_count: int
    se_count: int
    xcd_count: int
    waves_per_cu_max: int
    clock_mhz_max: int
    memory_clock_mhz_max: int
    l2_channel_count: int
    memory_channel_count: int
    l1_line_bytes: int
    l2_line_bytes: int
    matrix_flops_per_cycle: int
    """Of one CU, on 16-bit floats."""
    fabric_prefix: str
    """How its collector spells the counters of the fabric interface: TCC_EA or TCC_EA0."""
    counts_large_reads: str = ""
    """How reads of 128 bytes are counted: bubble, sizes, or not at all."""

    @property
    def sqc_count(self) -> int:
        """Instruction and scalar caches: two CUs of a shader engine share one.

        Examples
        --------
        >>> DEVICES["gfx942"].sqc_count
        160
        """
        return -(-self.cu_count // self.se_count // 2) * self.se_count

    @property
    def memory_gb_per_second(self) -> float:
        """Peak of the memory: 32 bytes per channel and cycle of its clock.

        Examples
        --------
        >>> DEVICES["gfx90a"].memory_gb_per_second
        1638.4
        """
        return self.memory_clock_mhz_max / 1000 * 32 * self.memory_channel_count

    def sysinfo(self, name: str) -> dict[str, object]:
        """The row of `sysinfo.csv`.

        Examples
        --------
        >>> DEVICES["gfx90a"].sysinfo("made")["gpu_arch"]
        'gfx90a'
        """
        return {
            "workload_name": name,
            "command": "synth",
            "ip_blocks": "SQ|LDS|SQC|TA|TD|TCP|TCC|SPI|CPC|CPF|roofline",
            "timestamp": "",
            "version": 3,
            "hostname": "synthetic",
            "rocm_version": "",
            "compute_partition": "SPX" if self.xcd_count > 1 else "NA",
            "memory_partition": "NPS1" if self.xcd_count > 1 else "NA",
            "gpu_series": self.series,
            "gpu_model": self.model,
            "gpu_arch": self.target,
            "cu_per_gpu": self.cu_count,
            "simd_per_cu": 4,
            "se_per_gpu": self.se_count,
            "wave_size": 64,
            "workgroup_max_size": 1024,
            "max_waves_per_cu": self.waves_per_cu_max,
            "max_sclk": self.clock_mhz_max,
            "max_mclk": self.memory_clock_mhz_max,
            "cur_sclk": self.clock_mhz_max,
            "cur_mclk": self.memory_clock_mhz_max,
            "total_l2_chan": self.l2_channel_count,
            "lds_banks_per_cu": 32,
            "sqc_per_gpu": self.sqc_count,
            "pipes_per_gpu": 4,
            "num_xcd": self.xcd_count,
            "num_hbm_channels": self.memory_channel_count,
        }


DEVICES = {
    device.target: device
    for device in (
        CounterDevice(
            target="gfx908",
            series="MI100",
            model="MI100",
            cu_count=120,
            se_count=8,
            xcd_count=1,
            waves_per_cu_max=40,
            clock_mhz_max=1502,
            memory_clock_mhz_max=1200,
            l2_channel_count=32,
            memory_channel_count=32,
            l1_line_bytes=64,
            l2_line_bytes=64,
            matrix_flops_per_cycle=1024,
            fabric_prefix="TCC_EA",
        ),
        CounterDevice(
            target="gfx90a",
            series="MI200",
            model="MI210",
            cu_count=104,
            se_count=8,
            xcd_count=1,
            waves_per_cu_max=32,
            clock_mhz_max=1700,
            memory_clock_mhz_max=1600,
            l2_channel_count=32,
            memory_channel_count=32,
            l1_line_bytes=64,
            l2_line_bytes=128,
            matrix_flops_per_cycle=1024,
            fabric_prefix="TCC_EA",
        ),
        CounterDevice(
            target="gfx942",
            series="MI300",
            model="MI300X",
            cu_count=304,
            se_count=32,
            xcd_count=8,
            waves_per_cu_max=32,
            clock_mhz_max=2100,
            memory_clock_mhz_max=1300,
            l2_channel_count=128,
            memory_channel_count=128,
            l1_line_bytes=128,
            l2_line_bytes=128,
            matrix_flops_per_cycle=2048,
            fabric_prefix="TCC_EA0",
            counts_large_reads="bubble",
        ),
        CounterDevice(
            target="gfx950",
            series="MI350",
            model="MI350X",
            cu_count=256,
            se_count=32,
            xcd_count=8,
            waves_per_cu_max=32,
            clock_mhz_max=2400,
            memory_clock_mhz_max=1900,
            l2_channel_count=128,
            memory_channel_count=128,
            l1_line_bytes=128,
            l2_line_bytes=128,
            matrix_flops_per_cycle=4096,
            fabric_prefix="TCC_EA0",
            counts_large_reads="sizes",
        ),
    )
}
"""By target; the numbers are those that machines report (spec of ROCm Compute Profiler)."""
