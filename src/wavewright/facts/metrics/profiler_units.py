"""Units of the counters that a profiler derives itself (FETCH_SIZE, L2CacheHit, ...), and which of them are ratios.

As rocprofiler-sdk describes them (2025-08); counters of the hardware count events and have no unit here.
"""

from __future__ import annotations

_RATIOS_BY_UNIT = {
    "%": """
        ALUStalledByLDS CP_UTIL CpUtil EA_UTIL EaRdDramStallRate EaRdGmiStallRate EaRdIoStallRate EaUtil
        EaWrDramStallRate EaWrGmiStallRate EaWrIoStallRate EaWrStarveRate GDS_UTIL GPUBusy GPU_UTIL GpuUtil L0CacheHit
        L1iCacheHitRate L2CacheHit L2CacheTagRamStallRate LDSBankConflict LdsPipeIssueUtil LdsUtil MemUnitBusy
        MemUnitStalled MfmaUtil OccupancyPercent SALUBusy SPI_UTIL ScaPipeIssueUtil SpiUtil TA_UTIL TaUtil TcUtil
        VALUBusy VALUUtilization ValuPipeIssueUtil VmemPipeIssueUtil WAVE_DEP_WAIT WAVE_ISSUE_WAIT WaveDepWait WaveExec
        WaveIssueWait WriteUnitStalled sL1dCacheHitRate vL1dAtomicTagConfStallRate vL1dBufCoalesceRate
        vL1dCacheTcbHitRate vL1dCacheUtil vL1dDataPendRate vL1dDataRetStallRate vL1dMissReqStallRate
        vL1dRdTagConfStallRate vL1dWrTagConfStallRate
    """,
    "cycles": """
        EaAtomicLatency EaRdLatency EaWrLatency InstrFetchLatency LdsLatency SmemLatency VmemLatency WaveDuration
        vL1dCacheWaveLatency vL1dReadFromL2Latency vL1dWriteToL2Latency
    """,
    "per wave": "FlatLDSInsts FlatVMemInsts GDSInsts LDSInsts SALUInsts SFetchInsts VALUInsts VFetchInsts VWriteInsts",
    "waves": "MeanOccupancyPerActiveCU MeanOccupancyPerCU",
    "threads": "AvgNumActiveThreads",
    "bytes/cycle": "BANDWIDTH_EA",
    "conflicts/access": "LdsBankConflict",
    "": "SIMD_UTILIZATION SerializedAtomicRatio",
}
_RATIOS = {name: unit for unit, names in _RATIOS_BY_UNIT.items() for name in names.split()}
_AMOUNTS = dict.fromkeys(("FETCH_SIZE", "FetchSize", "WRITE_SIZE", "WriteSize", "RDATA1_SIZE", "WDATA1_SIZE"), "KiB")


def unit_of(counter: str) -> str:
    """The unit of a counter; empty = a number of events, or not known.

    Examples
    --------
    >>> unit_of("FETCH_SIZE"), unit_of("L2CacheHit"), unit_of("TCC_HIT")
    ('KiB', '%', '')
    """
    return _AMOUNTS.get(counter) or _RATIOS.get(counter, "")


def is_ratio(counter: str) -> bool:
    """Whether sums of it over dispatches mean nothing.

    Examples
    --------
    >>> is_ratio("L2CacheHit"), is_ratio("FETCH_SIZE")
    (True, False)
    """
    return counter in _RATIOS


def is_derived(counter: str) -> bool:
    """Whether a profiler computed it from counters of the hardware.

    Examples
    --------
    >>> is_derived("FETCH_SIZE"), is_derived("SQ_WAVES")
    (True, False)
    """
    return counter in _AMOUNTS or counter in _RATIOS
