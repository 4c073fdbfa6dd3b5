"""The rules of a diagnosis of a run, as data: what is compared, from when on it is said, what to do, when it is wrong.

`docs/explanation/run-diagnosis.md` is checked against this table. Where no public tool has a threshold, its source says
that it is ours.
"""

from __future__ import annotations

from dataclasses import dataclass

_OURS = "chosen here"


@dataclass(frozen=True)
class Rule:
    """One rule. `remedies` start with the call of HIP to change, then in words of PyTorch."""

    id: str
    name: str
    kind: str  #: Part of the time that the bound is taken from: idle, communication, copies, kernels; note or caveat.
    quantity: str
    say: float | None = None
    stress: float | None = None
    source: str = _OURS
    unit: str = "share"
    remedies: tuple[str, ...] = ()
    false_if: str = ""
    next_command: str = ""


_TABLE = (
    Rule(
        "G1",
        "GPU starved",
        "idle",
        "idle time of the GPU, of the window",
        0.10,
        0.15,
        "10 %: PerfXpert and AMD's rocprofv3 skill; 15 %: TraceLens agent",
        remedies=("record the calls as well (rocprofv3 --runtime-trace) to learn what the GPU waits for",),
        false_if="another process used the GPU meanwhile, or the window holds start-up, checkpoints or evaluation",
        next_command="wavewright gaps {path}",
    ),
    Rule(
        "G2",
        "host-bound",
        "idle",
        "gaps while the launching thread runs its own code, of the window",
        0.05,
        0.15,
        remedies=(
            "do less between launches, or launch ahead: move work off the launching thread, replay a hipGraph",
            "PyTorch: torch.compile (mode='reduce-overhead' uses graphs), torch.cuda.graph, or a larger batch",
        ),
        false_if="the thread waits for another thread (data loader, lock of the interpreter), which is then the cause",
        next_command="wavewright regions {path} --sort cpu",
    ),
    Rule(
        "G3",
        "launch-bound",
        "idle",
        "gaps from the start of a launch to the start of its kernel with an empty queue, of the window",
        0.05,
        0.15,
        "5 to 20 us for a call: HTA; shares: chosen here",
        remedies=(
            "launch fewer and larger kernels, or all of them at once with hipGraphLaunch",
            "PyTorch: torch.compile(mode='reduce-overhead'), torch.cuda.graph, foreach=True or fused=True optimizers",
        ),
        false_if="the kernels come from graphs, or other streams keep the GPU busy",
        next_command="wavewright launches {path}",
    ),
    Rule(
        "G4",
        "readback stalls the pipeline",
        "idle",
        "gaps after copies of at most 64 KiB to the host that the next launch waited for, of the window",
        0.01,
        0.05,
        remedies=(
            "read results one step later: hipMemcpyAsync into pinned memory and hipEventQuery, not hipMemcpy",
            "PyTorch: avoid .item(), .tolist(), .cpu() and prints in the loop; .to('cpu', non_blocking=True)",
        ),
        false_if="the host needs each value before it can choose the next work",
        next_command="wavewright gaps {path} --time {window}",
    ),
    Rule(
        "G5",
        "synchronisation",
        "idle",
        "gaps that start while the launching thread waits for the GPU, of the window",
        0.02,
        0.05,
        remedies=(
            "launch the next work before waiting: hipStreamWaitEvent between streams, not hipDeviceSynchronize",
            "PyTorch: remove torch.cuda.synchronize() and blocking copies from the loop",
        ),
        false_if="the program is being timed step by step: the calls are part of the measurement",
        next_command="wavewright gaps {path} --time {window}",
    ),
    Rule(
        "G6",
        "allocation in the loop",
        "idle",
        "gaps in which memory is allocated or released in at least two steps, of the window",
        0.01,
        0.05,
        remedies=(
            "allocate once before the loop, or from a pool (hipMallocAsync); hipFree waits for the whole GPU",
            "PyTorch: keep tensors, do not call torch.cuda.empty_cache(), set expandable_segments:True",
        ),
        false_if="a caching allocator is still warming up: look at a later part of the run",
        next_command="wavewright memory {path}",
    ),
    Rule(
        "G7",
        "code loaded or compiled in the loop",
        "idle",
        "gaps in which code is loaded or compiled after the first step, of the window",
        0.01,
        0.05,
        remedies=(
            "warm up each kernel before the loop; ship code objects for the target instead of hiprtc",
            "PyTorch: mark dynamic shapes (torch.compile(dynamic=True)) and keep the caches of the compiler",
        ),
        false_if="it is the first call of each kernel, or autotuning on purpose",
        next_command="wavewright gaps {path} --time {window}",
    ),
    Rule(
        "G8",
        "blocking copies",
        "idle",
        "gaps in blocking copies of more than 64 KiB, of the window",
        0.02,
        0.10,
        remedies=(
            "hipMemcpyAsync from pinned memory (hipHostMalloc) on a stream of its own",
            "PyTorch: DataLoader(pin_memory=True) and .to(device, non_blocking=True)",
        ),
        false_if="the result is needed at once",
        next_command="wavewright gaps {path} --time {window}",
    ),
    Rule(
        "C1",
        "exposed copies",
        "copies",
        "copies while no kernel runs, of the window",
        0.05,
        0.20,
        "20 %: rocpd analyze and AMD's rocprofv3 skill; 5 %: chosen here",
        remedies=(
            "copy on a stream of its own while kernels run (hipMemcpyAsync, pinned memory)",
            "PyTorch: .to(device, non_blocking=True) of the next batch on a side stream",
        ),
        false_if="the copies are before the first or after the last kernel, or belong to a collective",
        next_command="wavewright overlap {path}",
    ),
    Rule(
        "C2",
        "slow host copies",
        "copies",
        "rate of copies between host and GPU of at least 1 MiB on average",
        10.0,
        5.0,
        "10 GB/s and 1 MiB: AMD's rocprofv3 skill; 5 GB/s: chosen here",
        "GB/s",
        remedies=(
            "copy from pinned memory (hipHostMalloc, hipHostRegister): rates this low are typical of pageable memory",
            "PyTorch: DataLoader(pin_memory=True), tensor.pin_memory()",
        ),
        false_if="several copies share the link, or the memory is pinned already: recordings do not say",
        next_command="wavewright summary {path}",
    ),
    Rule(
        "C3",
        "small copies stop the pipeline",
        "idle",
        "gaps after small copies (100 or more of a direction, or 10 per step, median below 64 KiB), of the window",
        0.01,
        0.05,
        "1 MB for batching: rocpd analyze; shares: chosen here",
        remedies=(
            "upload once per step in one pinned buffer with hipMemcpyAsync",
            "PyTorch: build one tensor on the host and copy it with non_blocking=True; create constants on the GPU",
        ),
        false_if="the runtime stages kernel arguments: those copies are not in the hand of the program",
        next_command="wavewright gaps {path} --time {window}",
    ),
    Rule(
        "X1",
        "exposed communication",
        "communication",
        "communication while nothing is computed, of the window",
        0.05,
        0.15,
        "30 % hidden: nsys-ai; the ratio is HTA's; shares: chosen here",
        remedies=(
            "communicate on a stream of its own while the GPU computes; start each reduction as its data is ready",
            "PyTorch: DDP bucket_cap_mb and gradient_as_bucket_view, FSDP prefetching, no all_reduce in the forward",
        ),
        false_if="nothing was left to compute: exposed is not the same as blocking",
        next_command="wavewright overlap {path}",
    ),
    Rule(
        "X2",
        "late ranks",
        "communication",
        "time a rank waits in collectives for the last one, mean of the ranks, of the window",
        0.03,
        0.10,
        remedies=("give the late rank less work, or remove what holds it up: its GPU, its host, its data",),
        false_if="the clocks of the nodes were not aligned, or ranks have different jobs (pipeline stages, experts)",
        next_command="wavewright ranks {path}",
    ),
    Rule(
        "X3",
        "unequal work",
        "communication",
        "(most - mean) / most of the computation of ranks with the same kernels",
        0.05,
        0.10,
        "stragglers: HTA; shares: chosen here",
        remedies=("spread the work evenly: sequence lengths, batch sizes, experts, or one slow GPU",),
        false_if="ranks are unequal by design (pipeline stages, experts)",
        next_command="wavewright ranks {path}",
    ),
    Rule(
        "X4",
        "collectives far slower than their kind",
        "communication",
        "time above the median of collectives of the same kind and size that take 3 times the median, of the window",
        0.01,
        0.05,
        "3 times: nsys-ai; share: chosen here",
        remedies=("look at what else ran at that time: other communication, a late rank, first use of a channel",),
        false_if="it is the first use, which sets up channels",
        next_command="wavewright collectives {path}",
    ),
    Rule(
        "X5",
        "collectives below the bandwidth of the link",
        "communication",
        "bus bandwidth of collectives of at least 8 MiB, of the best one in this run",
        0.50,
        0.25,
        "classes of PerfXpert; shares: chosen here",
        remedies=("fewer and larger messages; check NCCL_ALGO, NCCL_PROTO, NIC binding and GPU order",),
        false_if="messages are small, or several collectives share the link",
        next_command="wavewright collectives {path}",
    ),
    Rule(
        "L1",
        "tiny kernels",
        "kernels",
        "kernels below 10 us on average with 100 or more calls, with the gaps beside them, of the window",
        0.05,
        0.15,
        "10 us and 100 calls: TraceLens and AMD's rocprofv3 skill",
        remedies=(
            "fuse them, or do more work in each",
            "PyTorch: torch.compile; fused or foreach optimizers",
        ),
        false_if="they are in a graph, or hidden behind another stream",
        next_command="wavewright top {path}",
    ),
    Rule(
        "L2",
        "candidates for fusion",
        "kernels",
        "element-wise kernels of one grid back to back, all but the longest of each run, of the window",
        0.02,
        None,
        "impact of 2.0: TraceLens; frequent sequences: HTA",
        remedies=("fuse the sequence into one kernel", "PyTorch: torch.compile fuses element-wise operators"),
        false_if="the data dependence forbids it: it is not recorded",
        next_command="wavewright top {path}",
    ),
    Rule(
        "L3",
        "candidates for a graph",
        "idle",
        "gaps inside sequences of 20 kernels that repeat at least 5 times, of the window",
        0.05,
        None,
        remedies=(
            "record the sequence once with hipStreamBeginCapture and replay it with hipGraphLaunch",
            "PyTorch: torch.cuda.graph, torch.cuda.make_graphed_callables, torch.compile(mode='reduce-overhead')",
        ),
        false_if="shapes change between the repetitions",
        next_command="wavewright launches {path}",
    ),
    Rule(
        "L4",
        "underfilled launches",
        "kernels",
        "kernels with fewer workgroups than the GPU has compute units, alone on it, of the computation",
        0.05,
        None,
        remedies=("split the work into more workgroups, or run independent kernels on other streams",),
        false_if="the kernel is persistent, or other streams run beside it",
        next_command="wavewright kernels {kernel} {path}",
    ),
    Rule(
        "L5",
        "tail of the last round",
        "kernels",
        "idle part of the last round of workgroups of kernels of 5 % or more, of their time",
        0.20,
        None,
        "Nsight Compute has such a rule",
        remedies=("choose the grid so that the last round is full, or make the kernel persistent",),
        false_if="workgroups take unequally long",
        next_command="wavewright kernels {kernel} {path}",
    ),
    Rule(
        "T1",
        "clock or power limited",
        "kernels",
        "1 - mean / highest clock while the GPU is busy, at least 20 samples",
        0.05,
        0.10,
        remedies=("look at power cap, temperature and other users of the node: amd-smi metric --power --clock",),
        false_if="the highest clock was reached by light work only",
        next_command="wavewright busy {path}",
    ),
    Rule(
        "T2",
        "steps of unequal length",
        "idle",
        "time above the median of steps that take 1.5 times the median, of the window",
        0.02,
        None,
        "1.5: nsys-ai",
        remedies=("compare a long step with a usual one: what did it do more?",),
        false_if="it is a warm-up, checkpoint or evaluation step",
        next_command="wavewright steps {path}",
    ),
    Rule(
        "T3",
        "waiting for the data loader",
        "idle",
        "gaps while the launching thread is in the data loader, of the window",
        0.05,
        0.15,
        "num_workers=0: PyTorch's pattern matcher; shares: chosen here",
        remedies=(
            "prepare batches in other threads or processes, ahead of the GPU",
            "PyTorch: DataLoader(num_workers=..., prefetch_factor=..., persistent_workers=True, pin_memory=True)",
        ),
        false_if="the storage is the limit: then more workers do not help",
        next_command="wavewright gaps {path} --time {window}",
    ),
    Rule(
        "T4",
        "page faults and migration",
        "idle",
        "gaps with page faults, migrations or evictions of queues, of the window",
        0.01,
        None,
        "AMD's rocprofv3 skill reports any",
        remedies=(
            "prefetch managed memory (hipMemPrefetchAsync), or use hipMalloc",
            "lower the memory use below the GPU's",
        ),
        false_if="it happens once, at first touch",
        next_command="wavewright gaps {path} --time {window}",
    ),
    Rule("N1", "hot kernels", "note", "fewest kernels of 80 % of the computation, and each of 3 %", source="PerfXpert"),
    Rule(
        "N2", "scratch memory in a hot kernel", "note", "scratch bytes of a hot kernel", source="AMD's rocprofv3 skill"
    ),
    Rule("N3", "unused GPUs", "note", "visible GPUs without work"),
    Rule(
        "D1",
        "start-up inside",
        "caveat",
        "time before the first step, of the window; first step against the median",
        0.20,
        None,
    ),
    Rule("D2", "profiler overhead", "caveat", "time in calls of the profiler, of the run", 0.01, 0.20, "20 %: nsys-ai"),
    Rule("D3", "launches unknown", "caveat", "idle time whose launch is not recorded", 0.50, None),
    Rule("D4", "serialised by the profiler", "caveat", "counters, thread trace or serialising settings in the run"),
    Rule("D5", "small sample", "caveat", "fewer than 3 steps, or less than 100 ms"),
)

RULES: dict[str, Rule] = {rule.id: rule for rule in _TABLE}
#: Rules about idle time that need the launch of what ended a gap.
OF_LAUNCHES = ("G1", "G2", "G3", "G4", "G5", "G6", "G7", "G8", "C3", "L3", "T3")
#: Who owns time that several rules claim: the most specific first.
OWNERS = ("T3", "T4", "G4", "C3", "G7", "G6", "G8", "G5", "G3", "G2", "G1", "C1", "X2", "X1", "T2")
