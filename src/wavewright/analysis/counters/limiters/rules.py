"""What a kernel can be limited by, as data: what speaks for each limiter, what against it, and what to do about it."""

from __future__ import annotations

from dataclasses import dataclass

from wavewright.analysis.counters.l2.verdict import HEALTHY_FROM, SATURATED_FROM, SCATTERED_FROM


@dataclass(frozen=True)
class Threshold:
    """When a quantity makes a limiter likely, and when strongly so."""

    quantity: str
    likely: float
    strong: float
    why: str
    below: bool = False  #: Whether low values are the bad ones.

    def level(self, value: float) -> int:
        """0 = speaks against, 1 = for it, 2 = strongly for it.

        Examples
        --------
        >>> Threshold("valu_busy", 50, 80, "").level(80)
        2
        """
        if self.below:
            return (value <= self.likely) + (value <= self.strong)
        return (value >= self.likely) + (value >= self.strong)


@dataclass(frozen=True)
class LimiterRule:
    """One limit."""

    name: str
    kind: str  #: throughput, waste, latency, occupancy, launch or clock.
    decides: tuple[Threshold, ...]  #: Any of them makes it; all that this GPU has must be measured to exclude it.
    instead: tuple[Threshold, ...] = ()  #: Used where none of `decides` was measured; then it is likely at most.
    only_if: tuple[Threshold, ...] = ()  #: Each must hold as well: without it, the limiter costs no time.
    one_of: tuple[Threshold, ...] = ()  #: One of them must hold as well, if there are any.
    signs: tuple[Threshold, ...] = ()  #: Not needed, but any of them makes it more certain, and none of them less.
    shows: tuple[str, ...] = ()  #: Quantities that go with it as numbers only.
    at_most: str = "at limit"
    needs_sign: bool = False  #: Whether it is no more than likely unless a sign was seen.
    if_nothing_busy: bool = False  #: Whether it does not matter once some unit is at its limit.
    #: Whether it is about counters that a profiler derives: without them it is not mentioned.
    is_optional: bool = False
    gain_part: str = ""  #: Quantity, percent of the time: at most this can be gained.
    gain_rest: str = ""  #: Quantity, percent of a peak: at most the rest of the time can be gained with the same work.
    remedy: str = ""


_STALL = "from 10 % on, stalls are significant (rule of thumb of ROCm Compute Profiler)"
_UNIT = "hardly anything exceeds 80 to 90 % of a peak; below half, the unit has time to spare"
_STREAM = "clean streaming reaches 50 to 60 % of the peak, hardly anything more than 80 to 90 %"
_LOOKUPS = "a contiguous access takes 16 lookups, up to 32 with 128 bits per lane, one to scattered lanes 64"
_WAITING = "what makes waves wait matters only where waves wait"
_SLOTS = "what limits the number of waves matters only where few are resident"
_SHORT = "launch, first waves and last waves take some microseconds of every kernel"
_AROUND = "what happens around a kernel matters only where the kernel itself is short"
_MEMORY_PEAK = (100 * HEALTHY_FROM, 100 * SATURATED_FROM)

_waits = Threshold("dependency_wait", 25, 50, _WAITING)
_valu_works = Threshold("valu_busy", 50, 80, "it costs time where vector arithmetic is what takes the time")
_ta_works = Threshold("ta_busy", 50, 80, "it costs time where the address unit is what takes the time")
_data_is_late = Threshold("l1_waits_for_l2_data", 10, 100, "it costs time where L1 waits for the data")
_few_waves = Threshold("occupancy", 50, 25, _SLOTS, below=True)


def _full(quantity: str) -> tuple[Threshold, ...]:
    return (Threshold(quantity, 10, 30, _STALL),)


def _fits(quantity: str) -> tuple[Threshold, ...]:
    return (Threshold(quantity, 50, 25, "the registers and LDS of the dispatch allow no more", below=True),)


_DECLARED = (
    LimiterRule(
        "memory bandwidth",
        "throughput",
        (Threshold("memory_bandwidth", *_MEMORY_PEAK, _STREAM),),
        signs=(
            Threshold("memory_read_stall", 10, 25, _STALL),
            Threshold("memory_write_stall", 10, 25, _STALL),
            Threshold("write_starvation", 10, 25, _STALL),
        ),
        shows=("memory_read", "memory_write", "write_unit_stall", "l2_hit_rate", "read_32b", "over_fetch"),
        gain_rest="memory_bandwidth",
        remedy="move fewer bytes: fuse kernels, use smaller types, keep tiles in LDS or L2; make lanes use whole lines",
    ),
    LimiterRule(
        "scattered reads",
        "waste",
        (Threshold("read_32b", 100 * SCATTERED_FROM, 25, "reads of 32 bytes cost the memory as much as whole lines"),),
        one_of=(
            Threshold("memory_bandwidth", *_MEMORY_PEAK, "it costs time where memory is what takes the time"),
            _data_is_late,
        ),
        shows=("over_fetch", "coalescing", "l2_hit_rate"),
        remedy="use whole lines of 64 or 128 bytes: align rows, let neighbouring lanes read neighbouring bytes, pack "
        "what is read together",
    ),
    LimiterRule(
        "L2 bandwidth",
        "throughput",
        (Threshold("l2_bandwidth", 50, 80, _UNIT),),
        signs=(Threshold("l1_waits_for_l2_requests", 10, 25, _STALL),),
        shows=("l2_hit_rate", "l1_hit_rate"),
        gain_rest="l2_bandwidth",
        remedy="reuse data in registers, LDS and L1: larger tiles, wider loads, neighbours that share data",
    ),
    LimiterRule(
        "L2 channel imbalance",
        "waste",
        (Threshold("busiest_channel", 50, 80, _UNIT),),
        only_if=(Threshold("channel_imbalance", 1.5, 2, "even traffic stays near 1"),),
        shows=("l2_bandwidth",),
        remedy="strides that are multiples of the channel interleave (256 bytes x channels) hit few channels: pad rows "
        "or swizzle addresses",
    ),
    LimiterRule(
        "L2 and memory latency",
        "latency",
        (Threshold("l1_waits_for_l2_data", 10, 30, _STALL),),
        only_if=(_waits,),
        shows=("l2_hit_rate", "l2_read_latency", "fabric_read_latency", "occupancy"),
        if_nothing_busy=True,
        gain_rest="busiest_unit",
        remedy="issue loads earlier (prefetch the next tile), have more loads in flight per wave, raise the hit rate "
        "by ordering workgroups so that neighbours share data",
    ),
    LimiterRule(
        "L1 bandwidth",
        "throughput",
        (Threshold("l1_bandwidth", 50, 80, _UNIT),),
        signs=(_ta_works, Threshold("td_busy", 50, 80, _UNIT)),
        shows=("l1_hit_rate", "coalescing"),
        gain_rest="l1_bandwidth",
        remedy="load each value once: registers, LDS, wider loads (128 bits per lane)",
    ),
    LimiterRule(
        "memory unit",
        "throughput",
        (Threshold("memory_unit_busy", 50, 80, _UNIT),),
        signs=(Threshold("memory_unit_stall", 10, 25, _STALL),),
        shows=("write_unit_stall", "l2_hit_rate"),
        at_most="likely",
        is_optional=True,
        remedy="fewer and wider memory instructions, neighbouring lanes on neighbouring bytes, values kept in "
        "registers and LDS; where the unit is stalled, caches or memory are too slow: raise the hit rates, move fewer "
        "bytes",
    ),
    LimiterRule(
        "uncoalesced access",
        "waste",
        (Threshold("coalescing", 50, 25, "at most 50 % is poor; 25 % is one access per lane", below=True),),
        only_if=(Threshold("lines_per_access", 33, 48, _LOOKUPS),),
        one_of=(_ta_works, _data_is_late),
        signs=(Threshold("ta_address_stall", 10, 25, _STALL), Threshold("l1_tag_stall", 10, 25, _STALL)),
        shows=("l1_hit_rate", "read_32b"),
        remedy="let neighbouring lanes access neighbouring bytes: transpose through LDS, structures of arrays instead "
        "of arrays of structures",
    ),
    LimiterRule(
        "L1 tag conflicts",
        "waste",
        (Threshold("l1_tag_stall", 10, 30, _STALL),),
        only_if=(_ta_works,),
        shows=("coalescing",),
        gain_part="l1_tag_stall",
        remedy="strides that are powers of two meet in the same sets of L1: pad rows; touch fewer lines per access",
    ),
    LimiterRule(
        "address translation",
        "latency",
        (Threshold("translation_hits", 75, 50, "pages that are reused miss only once", below=True),),
        only_if=(_waits,),
        shows=("l1_waits_for_l2_data", "fabric_read_latency"),
        at_most="likely",
        if_nothing_busy=True,
        gain_rest="busiest_unit",
        remedy="touch fewer pages at a time: larger pages and allocations, blocks instead of long strides",
    ),
    LimiterRule(
        "remote traffic",
        "waste",
        (
            Threshold("remote_reads", 10, 50, "memory of another GPU or of the host is several times slower"),
            Threshold("remote_writes", 10, 50, "memory of another GPU or of the host is several times slower"),
        ),
        only_if=(_waits,),
        signs=(
            Threshold("fabric_read_stall", 10, 25, _STALL),
            Threshold("fabric_write_stall", 10, 25, _STALL),
            Threshold("pcie_read_stall", 10, 25, _STALL),
            Threshold("pcie_write_stall", 10, 25, _STALL),
        ),
        shows=("fabric_read_latency", "fabric_write_latency"),
        needs_sign=True,
        remedy="keep data in the memory of the GPU that uses it: copy once instead of reading remotely, avoid "
        "fine-grained and host-pinned buffers in kernels",
    ),
    LimiterRule(
        "LDS bandwidth",
        "throughput",
        (Threshold("lds_busy", 50, 80, _UNIT),),
        shows=("lds_bandwidth", "lds_conflicts", "alu_lds_stall", "lds_latency"),
        gain_rest="lds_busy",
        remedy="keep operands in registers, read 128 bits per lane, and remove bank conflicts first if there are any",
    ),
    LimiterRule(
        "LDS bank conflicts",
        "waste",
        (Threshold("lds_conflicts", 10, 30, _STALL),),
        only_if=(Threshold("lds_busy", 25, 80, "it costs time where LDS is what takes the time"),),
        shows=("lds_latency",),
        gain_part="lds_conflict_time",
        remedy="pad or swizzle the LDS layout so that the lanes of one access fall on different banks",
    ),
    LimiterRule(
        "matrix throughput",
        "throughput",
        (Threshold("mfma_busy", 50, 80, _UNIT),),
        shows=("mfma_f16", "mfma_bf16", "mfma_f8", "mfma_f32", "mfma_f64", "mfma_i8"),
        gain_rest="mfma_busy",
        remedy="the matrix units work: only fewer or cheaper operations help (smaller types, larger instructions of "
        "the same type, sparsity)",
    ),
    LimiterRule(
        "VALU throughput",
        "throughput",
        (Threshold("valu_busy", 50, 80, _UNIT),),
        shows=("valu_flops", "valu_iops", "active_lanes"),
        gain_rest="valu_busy",
        remedy="fewer vector instructions: packed and fused ones, hoisted address arithmetic, matrix instructions "
        "where they fit",
    ),
    LimiterRule(
        "costly vector instructions",
        "waste",
        (
            Threshold(
                "slow_valu",
                50,
                75,
                "these compute no sums or products; transcendental and 64-bit ones take several turns",
            ),
        ),
        only_if=(_valu_works,),
        shows=("transcendental", "integer", "conversions", "valu_flops"),
        remedy="hoist index arithmetic out of loops, use 32-bit instead of 64-bit integers, approximate or table the "
        "transcendental functions, convert once",
    ),
    LimiterRule(
        "divergence",
        "waste",
        (Threshold("active_lanes", 75, 50, "idle lanes cost as much as busy ones", below=True),),
        only_if=(_valu_works,),
        gain_part="idle_lanes_time",
        remedy="let the lanes of a wave take the same way: sort or group work by branch, compact active lanes, full "
        "waves at the borders of the grid",
    ),
    LimiterRule(
        "instruction issue",
        "throughput",
        (Threshold("ipc", 60, 80, "a CU issues at most five instructions per cycle, one of each kind"),),
        signs=(Threshold("issue_wait", 10, 30, _STALL),),
        shows=("valu_busy", "salu_busy"),
        gain_rest="ipc",
        remedy="fewer instructions: wider loads and stores, packed arithmetic, loops without address arithmetic",
    ),
    LimiterRule(
        "scalar or branch unit",
        "throughput",
        (Threshold("salu_busy", 50, 80, _UNIT), Threshold("branch_busy", 50, 80, _UNIT)),
        signs=(Threshold("issue_wait", 10, 30, _STALL),),
        remedy="unroll loops, hoist scalar arithmetic and scalar loads, replace short branches by selects",
    ),
    LimiterRule(
        "instruction fetch",
        "latency",
        (Threshold("l1i_misses", 10, 25, "loops that fit into the cache miss only once"),),
        only_if=(_waits,),
        shows=("fetch_latency", "l1i_bandwidth"),
        if_nothing_busy=True,
        gain_rest="busiest_unit",
        remedy="smaller code: unroll less, fewer variants in one loop; loop bodies inside the instruction cache",
    ),
    LimiterRule(
        "scalar cache",
        "latency",
        (Threshold("sl1d_misses", 10, 25, "constants that are reused miss only once"),),
        only_if=(_waits, Threshold("scalar_loads", 5, 20, "few scalar loads make few waits")),
        shows=("smem_latency", "sl1d_bandwidth"),
        if_nothing_busy=True,
        gain_rest="busiest_unit",
        remedy="load scalars once and early, pass them as kernel arguments, make one wide load of several narrow ones",
    ),
    LimiterRule(
        "latency",
        "latency",
        (Threshold("dependency_wait", 50, 75, "most of the waves' time is waiting, and no unit is busy"),),
        shows=("occupancy", "fabric_read_latency", "lds_latency", "smem_latency"),
        if_nothing_busy=True,
        gain_rest="busiest_unit",
        remedy="more waves, or more independent work per wave: prefetch, unroll, more loads in flight; a thread trace "
        "(`wavewright diagnose TRACE --counters PATH`) shows which instruction waits",
    ),
    LimiterRule(
        "occupancy: VGPRs",
        "occupancy",
        _full("vgpr_full"),
        instead=_fits("fits_vgpr"),
        only_if=(_few_waves, _waits),
        if_nothing_busy=True,
        gain_rest="busiest_unit",
        remedy="fewer vector registers: smaller tiles, __launch_bounds__, less unrolling; or hide latency within waves",
    ),
    LimiterRule(
        "occupancy: SGPRs",
        "occupancy",
        _full("sgpr_full"),
        instead=_fits("fits_sgpr"),
        only_if=(_few_waves, _waits),
        if_nothing_busy=True,
        gain_rest="busiest_unit",
        remedy="fewer scalar registers: fewer kernel arguments alive at a time, less unrolling of scalar code",
    ),
    LimiterRule(
        "occupancy: LDS",
        "occupancy",
        _full("lds_full"),
        instead=_fits("fits_lds"),
        only_if=(_few_waves, _waits),
        if_nothing_busy=True,
        gain_rest="busiest_unit",
        remedy="less LDS per workgroup: smaller or fewer buffers, smaller types, parts of the tile in registers",
    ),
    LimiterRule(
        "occupancy: workgroups and barriers",
        "occupancy",
        (*_full("barriers_full"), *_full("groups_full")),
        instead=_fits("fits_group"),
        only_if=(_few_waves, _waits),
        if_nothing_busy=True,
        gain_rest="busiest_unit",
        remedy="larger workgroups: a CU holds a limited number of them at a time",
    ),
    LimiterRule(
        "occupancy: wave slots",
        "occupancy",
        (*_full("slots_full"), *_full("waves_full")),
        only_if=(_waits,),
        shows=("occupancy",),
        at_most="likely",
        if_nothing_busy=True,
        gain_rest="busiest_unit",
        remedy="all wave slots are taken and waves still wait: more independent work within each wave, not more waves",
    ),
    LimiterRule(
        "too few workgroups",
        "launch",
        (Threshold("idle_cus", 10, 50, "a CU without a workgroup does nothing"),),
        if_nothing_busy=True,
        gain_part="idle_cus",
        remedy="give the grid at least one workgroup per CU: smaller tiles, split along another dimension (split-K, "
        "stream-K), or several problems in one launch",
    ),
    LimiterRule(
        "tail",
        "launch",
        (Threshold("tail", 10, 25, "the last round takes as long as a full one"),),
        at_most="likely",
        if_nothing_busy=True,
        gain_part="tail",
        remedy="make the number of workgroups a multiple of what fits at a time, or take smaller or persistent ones",
    ),
    LimiterRule(
        "short kernel",
        "launch",
        (Threshold("duration", 20, 5, _SHORT, below=True),),
        shows=("cu_busy",),
        at_most="likely",
        if_nothing_busy=True,
        remedy="more work per launch: fuse kernels, batch, or replay launches with a graph",
    ),
    LimiterRule(
        "scratch spills",
        "waste",
        (Threshold("spill_accesses", 10, 30, "spilled registers go through L1 like any other memory"),),
        only_if=(Threshold("scratch", 1, 1, "without scratch memory there are no spills"), _waits),
        signs=_full("scratch_stall"),
        shows=("l1_bandwidth",),
        remedy="free registers: smaller tiles, less unrolling, arrays with constant indices only; check "
        "-Rpass-analysis=kernel-resource-usage",
    ),
    LimiterRule(
        "atomics",
        "waste",
        (Threshold("atomics", 10, 50, "atomics to one address are done one after the other"),),
        only_if=(_waits,),
        signs=(Threshold("atomic_tag_stall", 10, 25, _STALL),),
        shows=("atomic_latency",),
        remedy="reduce in registers and LDS first, one atomic per workgroup; spread counters over addresses",
    ),
    LimiterRule(
        "clock",
        "clock",
        (Threshold("clock", 80, 50, "peaks are those of the highest clock", below=True),),
        at_most="likely",
        remedy="the GPU ran slower than it can: power or temperature limit, or a fixed performance level; warm it up "
        "and look at rocm-smi",
    ),
    LimiterRule(
        "idle GPU",
        "clock",
        (Threshold("gpu_busy", 90, 50, "the counters ran longer than the kernel", below=True),),
        only_if=(Threshold("duration", 20, 5, _AROUND, below=True),),
        at_most="likely",
        if_nothing_busy=True,
        remedy="the GPU waits for work around the kernel: see gaps and launches in a run",
    ),
    LimiterRule(
        "command processor",
        "launch",
        (Threshold("cpc_stall", 10, 50, _STALL), Threshold("cpf_stall", 10, 50, _STALL)),
        only_if=(Threshold("duration", 5, 2, _AROUND, below=True),),
        at_most="likely",
        if_nothing_busy=True,
        remedy="fewer and larger launches: graphs, batched kernels, fewer barriers between packets",
    ),
)

LIMITER_RULES = {rule.name: rule for rule in _DECLARED}  #: By the name of the limiter.

#: Units that must be known to have time to spare before latency can be what limits a kernel.
CORE = ("memory bandwidth", "L2 bandwidth", "L1 bandwidth", "LDS bandwidth", "matrix throughput", "VALU throughput")
