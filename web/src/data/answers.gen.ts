// Made by tools/make_page_types.py from tools/page_shapes.toml: do not edit.
import type { Frame, TableInfo } from "./tables";

/** Questions that can be asked about a part of the time. */
export const OF_TIME = new Set([
  "arrows",
  "barriers",
  "branches",
  "costs",
  "diagnose",
  "flame",
  "heat_map",
  "histogram",
  "loops",
  "memory_latency",
  "row_latencies",
  "run_busy",
  "run_collectives",
  "run_diagnosis",
  "run_flame",
  "run_functions",
  "run_gaps",
  "run_kernel",
  "run_kernels",
  "run_launches",
  "run_line_stacks",
  "run_lines",
  "run_memory",
  "run_overlap",
  "run_ranks",
  "run_region_domains",
  "run_regions",
  "run_sandwich",
  "run_sql",
  "run_summary",
  "source",
  "source_calls",
  "source_categories",
  "source_files",
  "source_lines",
  "stall_rows",
  "stalls",
  "summary",
  "utilization",
  "waits",
]);

/** View -> the question that it answers, as everywhere else. */
export const ASKED = {
  barriers: "Which wave arrives last at each barrier, and what do the others lose?",
  busy: "How busy is each GPU, in total and over time?",
  collectives: "How long do collectives of ranks take, at which bandwidth, who waits in them, and what made them late?",
  counter_diagnosis: "What should be changed first, on which evidence, and how much can it gain at most?",
  counter_kernels: "How do the kernels differ, metric by metric?",
  counter_system: "What is this, from which GPU, how complete, what to do next?",
  coverage: "Which code, waves and lines does the trace cover, and can it be trusted?",
  diagnosis: "What should be changed first, on which evidence, and how much can it gain at most?",
  gaps: "When do the GPUs idle between their work, and who makes them wait?",
  isa: "Which instructions, lines, files, functions, kernels, blocks or loops take the cycles?",
  kernels: "How do the dispatches of kernels behave: durations, launch parameters, registers, occupancy?",
  lanes: "Which instruction conflicts in LDS, which does not coalesce, which lanes are active?",
  launches: "By which calls is GPU work launched, how long before it starts, how much is queued, how many per step?",
  loops: "How often do loops run, and what does an iteration cost?",
  memory: "How much memory is in use, what is alive at the peak, what is not freed?",
  memory_chart: "What flows between waves, caches and memory?",
  memory_latency: "How long does each memory operation take, and how much of it is hidden?",
  occupancy_limits: "How many waves fit on a SIMD, how many were there, and what limits them?",
  overlap: "What runs at the same time: copies, kernels, communication, computation, streams, processes, calls?",
  panels: "What are the metrics of one panel, by its number or word?",
  path: "Which chain of host code, launches, kernels, copies and late ranks set the time?",
  ranks: "Which ranks have more work, arrive late, and let the others wait?",
  regions: "Which calls, markers and operators take the time, as a tree, and what GPU work do they cause?",
  roofline: "Is a kernel bound by arithmetic or by which memory level, and how far from the roof?",
  run_diagnosis: "What should be changed first, on which evidence, and how much can it gain at most?",
  run_summary: "Where did the time go: kernels, copies, allocations, calls, markers?",
  run_timeline: "What is this, from which GPU, how complete, what to do next?",
  source: "What does each line of the code or its source cost, and what does it wait for?",
  speed_of_light: "How near is each unit of the GPU to its limit?",
  stalls: "What do the waves stall on, and what helps against it?",
  summary: "What is this, from which GPU, how complete, what to do next?",
  traffic: "Which bytes leave the XCDs, and which order of workgroups saves them?",
  waits: "Which instruction does each wait wait for, and how much earlier should it be issued?",
  wave_states: "What do waves do over time: states, busy pipes, residency, clock, counters?",
  waves: "Which waves are slow or unlike the others, and at which instructions?",
};

/** One row is one code row, that with most latency first. */
export interface AreaRow {
  /** Code row */
  row: number;
  /** The instruction */
  text: string;
  /** Executions */
  execution_count: number;
  /** Sum of durations [cycles] */
  latency_cycles_total: number;
  /** Sum of stalls [cycles] */
  stall_cycles_total: number;
  /** Latency less stall [cycles] */
  issue_cycles_total: number;
  /** Of the latency of all rows here */
  latency_share: number;
  /** Longest duration [cycles] */
  latency_cycles_max: number;
  /** Number of its first execution here among all instructions */
  first_item: number;
  /** Number of its longest execution */
  longest_item: number;
}

export const AREA: TableInfo<AreaRow> = {
  row: ["Row", "", "Code row"],
  text: ["Text", "", "The instruction"],
  execution_count: ["Executions", "", "Executions"],
  latency_cycles_total: ["Latency cycles", "cycles", "Sum of durations"],
  stall_cycles_total: ["Stall cycles", "cycles", "Sum of stalls"],
  issue_cycles_total: ["Issue cycles", "cycles", "Latency less stall"],
  latency_share: ["Latency share", "", "Of the latency of all rows here"],
  latency_cycles_max: ["Latency cycles max", "cycles", "Longest duration"],
  first_item: ["First item", "", "Number of its first execution here among all instructions"],
  longest_item: ["Longest item", "", "Number of its longest execution"],
};

/** The instructions of some tracks in a window of time, by code row. */
export interface AreaAnswer {
  definition: string;
  rows: Frame<AreaRow>;
  execution_count: number;
  latency_cycles_total: number;
  stall_cycles_total: number;
  /** Executions without a known PC. */
  unknown_count: number;
  track_count: number;
}

/** One row is one barrier instruction that was executed, most cycles lost first. */
export interface BarriersRow {
  /** Code row */
  row: number;
  /** Address */
  address: string;
  /** Disassembly */
  text: string;
  /** Source file */
  file: string | null;
  /** Source line */
  line: number | null;
  /** Executions */
  execution_count: number;
  /** Stall of the executions [cycles] */
  stall_cycles_total: number;
  /** Times that a workgroup of two or more traced waves passed it */
  meeting_count: number;
  /** Mean number of traced waves in a meeting */
  waves_per_meeting: number | null;
  /** Mean time from the first to the last arrival [cycles] */
  spread_cycles_mean: number | null;
  /** Longest time from the first to the last arrival [cycles] */
  spread_cycles_max: number | null;
  /** Cycles that waves waited for the last one, over all meetings [cycles] */
  lost_cycles_total: number;
  /** By how much the last wave was later than the one before [cycles] */
  late_cycles_total: number;
  /** SIMD whose wave was last most often */
  last_simd: number | null;
  /** In this share of the meetings */
  last_simd_share: number | null;
  /** Wave slot whose wave was last most often */
  last_slot: number | null;
  /** In this share of the meetings */
  last_slot_share: number | null;
}

export const BARRIERS: TableInfo<BarriersRow> = {
  row: ["Row", "", "Code row"],
  address: ["Address", "", "Address"],
  text: ["Text", "", "Disassembly"],
  file: ["File", "", "Source file"],
  line: ["Line", "", "Source line"],
  execution_count: ["Executions", "", "Executions"],
  stall_cycles_total: ["Stall cycles", "cycles", "Stall of the executions"],
  meeting_count: ["Meetings", "", "Times that a workgroup of two or more traced waves passed it"],
  waves_per_meeting: ["Waves per meeting", "", "Mean number of traced waves in a meeting"],
  spread_cycles_mean: ["Spread cycles mean", "cycles", "Mean time from the first to the last arrival"],
  spread_cycles_max: ["Spread cycles max", "cycles", "Longest time from the first to the last arrival"],
  lost_cycles_total: ["Lost cycles", "cycles", "Cycles that waves waited for the last one, over all meetings"],
  late_cycles_total: ["Late cycles", "cycles", "By how much the last wave was later than the one before"],
  last_simd: ["Last SIMD", "", "SIMD whose wave was last most often"],
  last_simd_share: ["Last SIMD share", "", "In this share of the meetings"],
  last_slot: ["Last slot", "", "Wave slot whose wave was last most often"],
  last_slot_share: ["Last slot share", "", "In this share of the meetings"],
};

/** One row is one place whose waves were last at one barrier. */
export interface BarriersLastWavesRow {
  /** Code row */
  row: number;
  /** SIMD */
  simd: number;
  /** Wave slot in the SIMD */
  slot: number;
  /** Meetings in which its wave was last */
  last_count: number;
  /** Of the meetings of this barrier */
  last_share: number;
  /** Cycles by which it was later than the wave before [cycles] */
  late_cycles_total: number;
}

export const BARRIERS_LAST_WAVES: TableInfo<BarriersLastWavesRow> = {
  row: ["Row", "", "Code row"],
  simd: ["SIMD", "", "SIMD"],
  slot: ["Slot", "", "Wave slot in the SIMD"],
  last_count: ["Last", "", "Meetings in which its wave was last"],
  last_share: ["Last share", "", "Of the meetings of this barrier"],
  late_cycles_total: ["Late cycles", "cycles", "Cycles by which it was later than the wave before"],
};

/** One row is one row of code at which the waves that came last to a barrier had spent more cycles than the others. */
export interface BarriersCausesRow {
  /** Code row of the barrier */
  row: number;
  /** Code row on the way to it */
  cause_row: number;
  /** Address of the cause */
  address: string;
  /** Disassembly of the cause */
  text: string;
  /** Source file of the cause */
  file: string | null;
  /** Source line of the cause */
  line: number | null;
  /** Spent there by the last wave of a meeting [cycles] */
  last_cycles_mean: number;
  /** Spent there by another wave [cycles] */
  other_cycles_mean: number;
  /** What the last wave spent there beyond the others, per meeting [cycles] */
  excess_cycles_mean: number;
}

export const BARRIERS_CAUSES: TableInfo<BarriersCausesRow> = {
  row: ["Row", "", "Code row of the barrier"],
  cause_row: ["Cause row", "", "Code row on the way to it"],
  address: ["Address", "", "Address of the cause"],
  text: ["Text", "", "Disassembly of the cause"],
  file: ["File", "", "Source file of the cause"],
  line: ["Line", "", "Source line of the cause"],
  last_cycles_mean: ["Last cycles mean", "cycles", "Spent there by the last wave of a meeting"],
  other_cycles_mean: ["Other cycles mean", "cycles", "Spent there by another wave"],
  excess_cycles_mean: ["Excess cycles mean", "cycles", "What the last wave spent there beyond the others, per meeting"],
};

/** Every barrier of the code with its meetings. */
export interface BarriersAnswer {
  definition: string;
  /** Groups of two or more traced waves that met. */
  workgroup_count: number;
  /** Mean number of traced waves of these. */
  waves_per_workgroup: number;
  /** Waves that passed barriers but met no other traced wave. */
  alone_wave_count: number;
  stall_cycles_total: number;
  lost_cycles_total: number;
  /** Cycles of all traced waves, to measure the loss against. */
  wave_cycles_total: number;
  rows: Frame<BarriersRow>;
  last_waves: Frame<BarriersLastWavesRow>;
  causes: Frame<BarriersCausesRow>;
}

/** One row is one class of stalls in one trace, against the first trace; largest difference first. */
export interface CompareStallClassesRow {
  /** Number of the trace */
  trace: number;
  /** Class of stalls (wavewright stalls) */
  class: string;
  /** Stall in the first trace [cycles] */
  base_stall_cycles_per_wave: number;
  /** Stall in this trace [cycles] */
  stall_cycles_per_wave: number;
  /** Stall in this trace - stall in the first [cycles] */
  delta_cycles_per_wave: number;
}

export const COMPARE_STALL_CLASSES: TableInfo<CompareStallClassesRow> = {
  trace: ["Trace", "", "Number of the trace"],
  class: ["Class", "", "Class of stalls (wavewright stalls)"],
  base_stall_cycles_per_wave: ["Base stall cycles per wave", "cycles", "Stall in the first trace"],
  stall_cycles_per_wave: ["Stall cycles per wave", "cycles", "Stall in this trace"],
  delta_cycles_per_wave: ["Delta cycles per wave", "cycles", "Stall in this trace - stall in the first"],
};

/** One row is one cause of idle cycles in one trace, against the first trace; largest difference first. */
export interface CompareIdlePartsRow {
  /** Number of the trace */
  trace: number;
  /** Cause of idle cycles (wavewright stalls) */
  part: string;
  /** Idle in the first trace [cycles] */
  base_idle_cycles_per_wave: number;
  /** Idle in this trace [cycles] */
  idle_cycles_per_wave: number;
  /** Idle in this trace - idle in the first [cycles] */
  delta_cycles_per_wave: number;
}

export const COMPARE_IDLE_PARTS: TableInfo<CompareIdlePartsRow> = {
  trace: ["Trace", "", "Number of the trace"],
  part: ["Part", "", "Cause of idle cycles (wavewright stalls)"],
  base_idle_cycles_per_wave: ["Base idle cycles per wave", "cycles", "Idle in the first trace"],
  idle_cycles_per_wave: ["Idle cycles per wave", "cycles", "Idle in this trace"],
  delta_cycles_per_wave: ["Delta cycles per wave", "cycles", "Idle in this trace - idle in the first"],
};

/** One row is one trace. */
export interface CompareTracesRow {
  /** Number of the trace: 0 = the one that the others are measured against */
  trace: number;
  /** What it is called */
  label: string;
  /** Where it came from */
  path: string;
  /** Waves with traced instructions */
  wave_count: number;
  /** Waves without, where only their start and end were traced */
  untraced_wave_count: number;
  /** Waves that left early */
  early_exit_wave_count: number;
  /** Executed instructions per wave */
  instructions_per_wave: number;
  /** Sum of the durations of all instructions, per wave [cycles] */
  latency_cycles_per_wave: number;
  /** Stall per wave [cycles] */
  stall_cycles_per_wave: number;
  /** Idle per wave [cycles] */
  idle_cycles_per_wave: number;
  /** Mean of end - start of its waves [cycles] */
  duration_cycles_mean: number;
  /** Shortest wave [cycles] */
  duration_cycles_min: number;
  /** Median wave [cycles] */
  duration_cycles_median: number;
  /** Longest wave [cycles] */
  duration_cycles_max: number;
  /** duration_cycles_mean against the first trace: 0.05 = 5 % longer */
  duration_delta_share: number | null;
  /** Noise of that; empty = not known */
  duration_noise_share: number | null;
  /** Part of the difference in cost from executing more or less */
  work_share: number;
  /** Part of it from the same instructions running slower or faster */
  speed_share: number;
  /** Of speed_share, what is time between instructions (idle) */
  speed_idle_share: number;
  /** Of its cost, waiting for code that its CU never ran before (trust) */
  cold_share: number;
  /** Cost of its executions against the same ones at the first trace's cost */
  speed_delta_share: number | null;
  /** Noise of that; empty = not known */
  speed_noise_share: number | null;
  /** Achieved occupancy; empty = no occupancy events */
  waves_per_simd_mean: number | null;
  /** Whether its functions have the same instructions as the first trace's */
  is_same_code: boolean;
  /** Source lines of its executed code */
  line_count: number;
  /** Of the same code: executed instructions of another source line than in the first trace; empty = the code differs */
  moved_row_count: number | null;
  /** Base, same code, faster, slower, within noise or not known (one run) */
  outcome: string;
  /** The traced call among those of its kernel; empty = not known */
  call: string | null;
  /** Which call of the kernel was traced; 1 = the first */
  call_number: number | null;
  /** Calls of the kernel in the run beside the trace */
  call_count: number | null;
  /** Duration of the traced call [ns] */
  kernel_ns: number | null;
  /** Median duration of all these calls [ns] */
  kernel_ns_median: number | null;
  /** That median against the first trace's; empty = not known on both sides */
  kernel_ns_delta_share: number | null;
  /** Noise of that; empty = too few calls */
  kernel_ns_noise_share: number | null;
}

export const COMPARE_TRACES: TableInfo<CompareTracesRow> = {
  trace: ["Trace", "", "Number of the trace: 0 = the one that the others are measured against"],
  label: ["Label", "", "What it is called"],
  path: ["Path", "", "Where it came from"],
  wave_count: ["Waves", "", "Waves with traced instructions"],
  untraced_wave_count: ["Untraced waves", "", "Waves without, where only their start and end were traced"],
  early_exit_wave_count: ["Early exit waves", "", "Waves that left early"],
  instructions_per_wave: ["Instructions per wave", "", "Executed instructions per wave"],
  latency_cycles_per_wave: ["Latency cycles per wave", "cycles", "Sum of the durations of all instructions, per wave"],
  stall_cycles_per_wave: ["Stall cycles per wave", "cycles", "Stall per wave"],
  idle_cycles_per_wave: ["Idle cycles per wave", "cycles", "Idle per wave"],
  duration_cycles_mean: ["Duration cycles mean", "cycles", "Mean of end - start of its waves"],
  duration_cycles_min: ["Duration cycles min", "cycles", "Shortest wave"],
  duration_cycles_median: ["Duration cycles median", "cycles", "Median wave"],
  duration_cycles_max: ["Duration cycles max", "cycles", "Longest wave"],
  duration_delta_share: ["Duration delta share", "", "duration_cycles_mean against the first trace: 0.05 = 5 % longer"],
  duration_noise_share: ["Duration noise share", "", "Noise of that; empty = not known"],
  work_share: ["Work share", "", "Part of the difference in cost from executing more or less"],
  speed_share: ["Speed share", "", "Part of it from the same instructions running slower or faster"],
  speed_idle_share: ["Speed idle share", "", "Of speed_share, what is time between instructions (idle)"],
  cold_share: ["Cold share", "", "Of its cost, waiting for code that its CU never ran before (trust)"],
  speed_delta_share: ["Speed delta share", "", "Cost of its executions against the same ones at the first trace's cost"],
  speed_noise_share: ["Speed noise share", "", "Noise of that; empty = not known"],
  waves_per_simd_mean: ["Waves per SIMD mean", "", "Achieved occupancy; empty = no occupancy events"],
  is_same_code: ["Same code", "", "Whether its functions have the same instructions as the first trace's"],
  line_count: ["Lines", "", "Source lines of its executed code"],
  moved_row_count: ["Moved rows", "", "Of the same code: executed instructions of another source line than in the first trace; empty = the code differs"],
  outcome: ["Outcome", "", "Base, same code, faster, slower, within noise or not known (one run)"],
  call: ["Call", "", "The traced call among those of its kernel; empty = not known"],
  call_number: ["Call number", "", "Which call of the kernel was traced; 1 = the first"],
  call_count: ["Calls", "", "Calls of the kernel in the run beside the trace"],
  kernel_ns: ["Kernel", "ns", "Duration of the traced call"],
  kernel_ns_median: ["Kernel median", "ns", "Median duration of all these calls"],
  kernel_ns_delta_share: ["Kernel delta share", "", "That median against the first trace's; empty = not known on both sides"],
  kernel_ns_noise_share: ["Kernel noise share", "", "Noise of that; empty = too few calls"],
};

/** Traces against the first of them. */
export interface CompareAnswer {
  definition: string;
  by: string;
  /** `repeats` or `waves`: where the noise of cycles was measured. */
  noise_from: string;
  /** Further dispatches that the noise was measured from. */
  repeat_count: number;
  /** Repeats of sides that have only one: two values show no noise. */
  unused_repeat_count: number;
  /** Whether all traces ran the same instructions. */
  same_code: boolean;
  /** Cost of the first trace on units that every other trace has too. */
  matched_share: number;
  different_kernels: boolean;
  traces: Frame<CompareTracesRow>;
  stall_classes: Frame<CompareStallClassesRow>;
  idle_parts: Frame<CompareIdlePartsRow>;
  verdict: string;
  standing_out_count: number;
}

/** One row is one unit of code in one trace, against the first trace; largest difference first. */
export interface CompareUnitsRow {
  /** Number of the unit, in the order of the code */
  unit: number;
  /** What it is; empty = gone */
  label: string | null;
  /** What it was in the first trace; empty = new */
  base_label: string | null;
  /** Same, registers (names others), text (reads otherwise), new, gone */
  change: string;
  /** Its first code row in this trace; empty = gone */
  row: number | null;
  /** Its first code row in the first trace; empty = new */
  base_row: number | null;
  /** Executions, first trace */
  base_hit_count_per_wave: number;
  /** Executions, this trace */
  hit_count_per_wave: number;
  /** Latency, first trace [cycles] */
  base_latency_cycles_per_wave: number;
  /** Latency, this trace [cycles] */
  latency_cycles_per_wave: number;
  /** Stall, first trace [cycles] */
  base_stall_cycles_per_wave: number;
  /** Stall, this trace [cycles] */
  stall_cycles_per_wave: number;
  /** Idle, first trace [cycles] */
  base_idle_cycles_per_wave: number;
  /** Idle, this trace [cycles] */
  idle_cycles_per_wave: number;
  /** What no other wave hid, first trace [cycles] */
  base_exposed_cycles_per_wave: number;
  /** What no other wave hid, this trace [cycles] */
  exposed_cycles_per_wave: number;
  /** Latency + idle, first trace [cycles] */
  base_cost_cycles_per_wave: number;
  /** Latency + idle, this trace [cycles] */
  cost_cycles_per_wave: number;
  /** (latency + idle) / hits, first trace; empty = never ran [cycles] */
  base_cost_cycles_per_execution: number | null;
  /** (latency + idle) / hits, this trace; empty = never ran [cycles] */
  cost_cycles_per_execution: number | null;
  /** Cost (latency + idle) in this trace - cost in the base [cycles] */
  delta_cycles_per_wave: number;
  /** Delta / cost of all units of the first trace */
  delta_share: number;
  /** Part of the delta from more or fewer executions [cycles] */
  work_cycles_per_wave: number;
  /** Part of the delta from slower or faster executions [cycles] */
  speed_cycles_per_wave: number;
  /** Noise of the delta, measured as noise_from says; empty = not known [cycles] */
  noise_cycles_per_wave: number | null;
  /** Noise of the speed part; empty = not known [cycles] */
  speed_noise_cycles_per_wave: number | null;
  /** Delta or speed exceeds its noise; false if the code is the same */
  stands_out: boolean;
}

export const COMPARE_UNITS: TableInfo<CompareUnitsRow> = {
  unit: ["Unit", "", "Number of the unit, in the order of the code"],
  label: ["Label", "", "What it is; empty = gone"],
  base_label: ["Base label", "", "What it was in the first trace; empty = new"],
  change: ["Change", "", "Same, registers (names others), text (reads otherwise), new, gone"],
  row: ["Row", "", "Its first code row in this trace; empty = gone"],
  base_row: ["Base row", "", "Its first code row in the first trace; empty = new"],
  base_hit_count_per_wave: ["Base hit count per wave", "", "Executions, first trace"],
  hit_count_per_wave: ["Hit count per wave", "", "Executions, this trace"],
  base_latency_cycles_per_wave: ["Base latency cycles per wave", "cycles", "Latency, first trace"],
  latency_cycles_per_wave: ["Latency cycles per wave", "cycles", "Latency, this trace"],
  base_stall_cycles_per_wave: ["Base stall cycles per wave", "cycles", "Stall, first trace"],
  stall_cycles_per_wave: ["Stall cycles per wave", "cycles", "Stall, this trace"],
  base_idle_cycles_per_wave: ["Base idle cycles per wave", "cycles", "Idle, first trace"],
  idle_cycles_per_wave: ["Idle cycles per wave", "cycles", "Idle, this trace"],
  base_exposed_cycles_per_wave: ["Base exposed cycles per wave", "cycles", "What no other wave hid, first trace"],
  exposed_cycles_per_wave: ["Exposed cycles per wave", "cycles", "What no other wave hid, this trace"],
  base_cost_cycles_per_wave: ["Base cost cycles per wave", "cycles", "Latency + idle, first trace"],
  cost_cycles_per_wave: ["Cost cycles per wave", "cycles", "Latency + idle, this trace"],
  base_cost_cycles_per_execution: ["Base cost cycles per execution", "cycles", "(latency + idle) / hits, first trace; empty = never ran"],
  cost_cycles_per_execution: ["Cost cycles per execution", "cycles", "(latency + idle) / hits, this trace; empty = never ran"],
  delta_cycles_per_wave: ["Delta cycles per wave", "cycles", "Cost (latency + idle) in this trace - cost in the base"],
  delta_share: ["Delta share", "", "Delta / cost of all units of the first trace"],
  work_cycles_per_wave: ["Work cycles per wave", "cycles", "Part of the delta from more or fewer executions"],
  speed_cycles_per_wave: ["Speed cycles per wave", "cycles", "Part of the delta from slower or faster executions"],
  noise_cycles_per_wave: ["Noise cycles per wave", "cycles", "Noise of the delta, measured as noise_from says; empty = not known"],
  speed_noise_cycles_per_wave: ["Speed noise cycles per wave", "cycles", "Noise of the speed part; empty = not known"],
  stands_out: ["Stands out", "", "Delta or speed exceeds its noise; false if the code is the same"],
};

/** One row is one executed code row, in row order. */
export interface CostsRow {
  /** Code row */
  row: number;
  /** Executions */
  hit_count: number;
  /** Sum of durations; stall and issue [cycles] */
  latency_cycles_total: number;
  /** Sum of stalls [cycles] */
  stall_cycles_total: number;
  /** Sum of the gaps before its executions [cycles] */
  idle_cycles_total: number;
  /** Longest duration [cycles] */
  latency_cycles_max: number;
  /** Longest stall [cycles] */
  stall_cycles_max: number;
  /** Hidden part of its gaps, at most the gaps themselves; so below [cycles] */
  hidden_idle_cycles_total: number;
  /** Hidden part of its stalls [cycles] */
  hidden_stall_cycles_total: number;
  /** Hidden part of latency minus stall [cycles] */
  hidden_issue_cycles_total: number;
  /** Gaps that nothing hid [cycles] */
  exposed_idle_cycles_total: number;
  /** Stalls that nothing hid [cycles] */
  exposed_stall_cycles_total: number;
  /** Issue that nothing hid [cycles] */
  exposed_issue_cycles_total: number;
  /** Sum of the three [cycles] */
  exposed_cycles_total: number;
}

export const COSTS: TableInfo<CostsRow> = {
  row: ["Row", "", "Code row"],
  hit_count: ["Hits", "", "Executions"],
  latency_cycles_total: ["Latency cycles", "cycles", "Sum of durations; stall and issue"],
  stall_cycles_total: ["Stall cycles", "cycles", "Sum of stalls"],
  idle_cycles_total: ["Idle cycles", "cycles", "Sum of the gaps before its executions"],
  latency_cycles_max: ["Latency cycles max", "cycles", "Longest duration"],
  stall_cycles_max: ["Stall cycles max", "cycles", "Longest stall"],
  hidden_idle_cycles_total: ["Hidden idle cycles", "cycles", "Hidden part of its gaps, at most the gaps themselves; so below"],
  hidden_stall_cycles_total: ["Hidden stall cycles", "cycles", "Hidden part of its stalls"],
  hidden_issue_cycles_total: ["Hidden issue cycles", "cycles", "Hidden part of latency minus stall"],
  exposed_idle_cycles_total: ["Exposed idle cycles", "cycles", "Gaps that nothing hid"],
  exposed_stall_cycles_total: ["Exposed stall cycles", "cycles", "Stalls that nothing hid"],
  exposed_issue_cycles_total: ["Exposed issue cycles", "cycles", "Issue that nothing hid"],
  exposed_cycles_total: ["Exposed cycles", "cycles", "Sum of the three"],
};

/** One row is one function in which at least one row was executed. */
export interface CoverageFunctionsRow {
  /** Symbol */
  function: string | null;
  /** Its code rows */
  row_count: number;
  /** Of these: executed */
  executed_row_count: number;
  /** executed_row_count / row_count */
  executed_share: number;
  /** Executions of its rows */
  hit_count: number;
}

export const COVERAGE_FUNCTIONS: TableInfo<CoverageFunctionsRow> = {
  function: ["Function", "", "Symbol"],
  row_count: ["Rows", "", "Its code rows"],
  executed_row_count: ["Executed rows", "", "Of these: executed"],
  executed_share: ["Executed share", "", "executed_row_count / row_count"],
  hit_count: ["Hits", "", "Executions of its rows"],
};

/** One row is one set of rows that waves ran. */
export interface CoveragePathsRow {
  /** Number of the path, most wave cycles first */
  path: number;
  /** Kernel of these waves; empty = not known */
  kernel: string | null;
  /** Waves that took it */
  wave_count: number;
  /** Of all traced waves */
  wave_share: number;
  /** Of the cycles (end - begin) of all traced waves */
  cycles_share: number;
  /** Different code rows of the path */
  distinct_row_count: number;
  /** Instructions of the wave that ran the fewest */
  instruction_count_min: number;
  /** Median of the instructions per wave */
  instruction_count_median: number;
  /** Instructions of the wave that ran the most */
  instruction_count_max: number;
  /** Shortest wave [cycles] */
  duration_cycles_min: number;
  /** Median wave [cycles] */
  duration_cycles_median: number;
  /** Longest wave [cycles] */
  duration_cycles_max: number;
  /** An example: the lowest wave number */
  first_wave: number;
  /** Whether its waves left early */
  early_exit: boolean;
}

export const COVERAGE_PATHS: TableInfo<CoveragePathsRow> = {
  path: ["Path", "", "Number of the path, most wave cycles first"],
  kernel: ["Kernel", "", "Kernel of these waves; empty = not known"],
  wave_count: ["Waves", "", "Waves that took it"],
  wave_share: ["Wave share", "", "Of all traced waves"],
  cycles_share: ["Cycles share", "", "Of the cycles (end - begin) of all traced waves"],
  distinct_row_count: ["Distinct rows", "", "Different code rows of the path"],
  instruction_count_min: ["Instruction count min", "", "Instructions of the wave that ran the fewest"],
  instruction_count_median: ["Instruction count median", "", "Median of the instructions per wave"],
  instruction_count_max: ["Instruction count max", "", "Instructions of the wave that ran the most"],
  duration_cycles_min: ["Duration cycles min", "cycles", "Shortest wave"],
  duration_cycles_median: ["Duration cycles median", "cycles", "Median wave"],
  duration_cycles_max: ["Duration cycles max", "cycles", "Longest wave"],
  first_wave: ["First wave", "", "An example: the lowest wave number"],
  early_exit: ["Early exit", "", "Whether its waves left early"],
};

/** One row is one traced shader engine. */
export interface CoverageEnginesRow {
  /** Shader engine */
  se: number;
  /** Traced CUs, or WGPs */
  cu: string | null;
  /** Waves of the traced CUs */
  wave_count: number;
  /** Of these: without traced instructions */
  untraced_wave_count: number;
  /** Traced instructions */
  instruction_count: number;
  /** Waves that started on any of its CUs (occupancy events) */
  all_wave_count: number;
  /** Traced waves / all waves */
  traced_share: number | null;
  /** Further CUs on which waves ended */
  other_cu_count: number;
  /** Mean duration of waves on the traced CUs [cycles] */
  target_duration_cycles_mean: number | null;
  /** Mean duration of waves on the other CUs [cycles] */
  other_duration_cycles_mean: number | null;
}

export const COVERAGE_ENGINES: TableInfo<CoverageEnginesRow> = {
  se: ["SE", "", "Shader engine"],
  cu: ["CU", "", "Traced CUs, or WGPs"],
  wave_count: ["Waves", "", "Waves of the traced CUs"],
  untraced_wave_count: ["Untraced waves", "", "Of these: without traced instructions"],
  instruction_count: ["Instructions", "", "Traced instructions"],
  all_wave_count: ["All waves", "", "Waves that started on any of its CUs (occupancy events)"],
  traced_share: ["Traced share", "", "Traced waves / all waves"],
  other_cu_count: ["Other cus", "", "Further CUs on which waves ended"],
  target_duration_cycles_mean: ["Target duration cycles mean", "cycles", "Mean duration of waves on the traced CUs"],
  other_duration_cycles_mean: ["Other duration cycles mean", "cycles", "Mean duration of waves on the other CUs"],
};

/** One row is one wave whose cycles per instruction are far from those of its path. */
export interface CoverageOutliersRow {
  /** Number of the wave */
  wave: number;
  /** Shader engine */
  se: number;
  /** SIMD */
  simd: number;
  /** Wave slot */
  slot: number;
  /** Number of the path */
  path: number;
  /** Its instructions */
  instruction_count: number;
  /** From start to end [cycles] */
  duration_cycles: number;
  /** Its cycles per instruction / the median of its path */
  cycles_per_instruction_ratio: number;
}

export const COVERAGE_OUTLIERS: TableInfo<CoverageOutliersRow> = {
  wave: ["Wave", "", "Number of the wave"],
  se: ["SE", "", "Shader engine"],
  simd: ["SIMD", "", "SIMD"],
  slot: ["Slot", "", "Wave slot"],
  path: ["Path", "", "Number of the path"],
  instruction_count: ["Instructions", "", "Its instructions"],
  duration_cycles: ["Duration cycles", "cycles", "From start to end"],
  cycles_per_instruction_ratio: ["Cycles per instruction ratio", "", "Its cycles per instruction / the median of its path"],
};

/** The traced part, and how even it is. */
export interface CoverageAnswer {
  definition: string;
  wave_count: number;
  incomplete_wave_count: number;
  instruction_count: number;
  /** Instructions whose PC is not known. */
  unresolved_count: number;
  row_count: number;
  /** Rows of the functions in which something was executed. */
  entered_row_count: number;
  executed_row_count: number;
  early_exit_wave_count: number;
  /** Waves without traced instructions: their shader engine or SIMD recorded none. */
  untraced_wave_count: number;
  /** Waves that started on any CU of the traced shader engines; 0 = no occupancy events. */
  all_wave_count: number;
  /** Mean stay of a wave on the traced CUs, from the occupancy events. */
  target_duration_cycles_mean: number | null;
  other_duration_cycles_mean: number | null;
  functions: Frame<CoverageFunctionsRow>;
  paths: Frame<CoveragePathsRow>;
  engines: Frame<CoverageEnginesRow>;
  outliers: Frame<CoverageOutliersRow>;
  executed_share: number;
  traced_share: number | null;
  is_same_short_path: boolean;
}

/** One row is one derived counter. */
export interface DerivedSummaryRow {
  /** Name; names that start with _ are not shown */
  name: string;
  /** Its definition */
  expression: string;
  /** XCC x SE x CU x steps */
  shape: string;
  /** Mean of its finite values; empty = there is none */
  value_mean: number | null;
  /** Smallest finite value */
  value_min: number;
  /** Largest finite value */
  value_max: number;
  /** Share of values that are numbers: a division by zero gives none */
  finite_share: number;
}

export const DERIVED_SUMMARY: TableInfo<DerivedSummaryRow> = {
  name: ["Name", "", "Name; names that start with _ are not shown"],
  expression: ["Expression", "", "Its definition"],
  shape: ["Shape", "", "XCC x SE x CU x steps"],
  value_mean: ["Value mean", "", "Mean of its finite values; empty = there is none"],
  value_min: ["Value min", "", "Smallest finite value"],
  value_max: ["Value max", "", "Largest finite value"],
  finite_share: ["Finite share", "", "Share of values that are numbers: a division by zero gives none"],
};

/** One row is one definition of the user without a value. */
export interface DerivedProblemsRow {
  /** Line in the definitions */
  line: number;
  /** Column in the line */
  column: number;
  /** Name of the definition */
  name: string;
  /** Why */
  message: string;
}

export const DERIVED_PROBLEMS: TableInfo<DerivedProblemsRow> = {
  line: ["Line", "", "Line in the definitions"],
  column: ["Column", "", "Column in the line"],
  name: ["Name", "", "Name of the definition"],
  message: ["Message", "", "Why"],
};

/** One row is one counter that a row of a loop waits longer for than the loop needs. */
export interface DiagnoseStrictWaitsRow {
  /** Row that waits */
  row: number;
  /** Hardware counter */
  counter: string;
  /** It waits until no more than this many operations are outstanding */
  value: number;
  /** The largest value that is enough while all others stay; empty = it need not wait at all */
  needed_value: number | null;
  /** First row of the loop */
  first_row: number;
}

export const DIAGNOSE_STRICT_WAITS: TableInfo<DiagnoseStrictWaitsRow> = {
  row: ["Row", "", "Row that waits"],
  counter: ["Counter", "", "Hardware counter"],
  value: ["Value", "", "It waits until no more than this many operations are outstanding"],
  needed_value: ["Needed value", "", "The largest value that is enough while all others stay; empty = it need not wait at all"],
  first_row: ["First row", "", "First row of the loop"],
};

/** One row is one barrier that LDS writes of its wave may reach before they are done. */
export interface DiagnoseOpenBarriersRow {
  /** The barrier */
  row: number;
  /** Rows whose LDS writes may be in flight there [rows] */
  write_count: number;
  /** The latest of them */
  write_row: number;
}

export const DIAGNOSE_OPEN_BARRIERS: TableInfo<DiagnoseOpenBarriersRow> = {
  row: ["Row", "", "The barrier"],
  write_count: ["Writes", "rows", "Rows whose LDS writes may be in flight there"],
  write_row: ["Write row", "", "The latest of them"],
};

/** One reason not to take a trace at face value. */
export interface Caveat {
  name: string;
  /** One of SEVERITIES. */
  severity: string;
  sentence: string;
  advice: string;
  numbers: Record<string, unknown>;
}

/** Trust in a trace: its cycles, and apart from them its source lines. */
export interface Trust {
  /** good, use with caution, or do not use. */
  cycles: string;
  /** good, coarse, few or none. */
  lines: string;
  /** Whether instructions were executed and most of them have a known PC. Without, nothing is known of what waves did and waited for: no stall class and no gain can be stated. */
  has_code: boolean;
  /** Worst first. */
  caveats_of_cycles: Caveat[];
  caveats_of_lines: Caveat[];
}

/** One code row that a finding is based on. */
export interface CodeEvidence {
  row: number;
  address: string;
  text: string;
  file: string | null;
  line: number | null;
  execution_count: number;
  stall_cycles_total: number;
  exposed_cycles_total: number;
  /** What it waited for, by mnemonic, and how long before that was issued (mean cycles). */
  producers: string[];
  /** No stalls: gaps before it, or its issue, where the finding is about these. */
  other_cycles_total: number;
}

/** One stall class or gap of a finding, by itself. */
export interface Cause {
  name: string;
  /** What a replay without it saves. */
  gain_share_max: number;
  /** Share of the time of the traced SIMDs in which one issues nothing while a wave of it waits for this. */
  no_issue_share: number;
}

/** One thing to change, for some of the rows of a finding. */
export interface Remedy {
  name: string;
  text: string;
  rows: number[];
  /** Exposed cycles of these rows: what the remedy is about. */
  exposed_cycles_total: number;
}

/** One number of hardware counters of the same kernel that explains a finding. */
export interface Reason {
  /** A quantity of analysis/limiters. */
  quantity: string;
  text: string;
  value: number | null;
  unit: string;
  /** panel.table.index, as `wavewright metrics` has it; empty = not a metric of a panel. */
  metric_id: string;
  /** Of a limiter: at limit or likely; of a question about L2: its answer; of a number by itself: empty. */
  verdict: string;
}

/** Access patterns of lanes, and how much of a finding they can explain. */
export interface LaneCause {
  /** bank conflicts, or lanes that do not coalesce. */
  name: string;
  /** LDS or L1. */
  pipe: string;
  /** The code rows that lose cycles, those that lose most first. */
  rows: number[];
  /** Cycles of the pipe that all rows lose. */
  saved_cycles_total: number;
  /** Of the time: what removing these cycles gains at most. */
  gain_share_max: number;
  /** Of the stalls of the finding, at most. */
  explained_share: number;
  /** cause, part or harmless. */
  verdict: string;
  text: string;
  /** Of the rule: counter-proven, published or hypothesis. */
  confidence: string;
}

/** One cause of lost time, or a roof that is reached. */
export interface StallFinding {
  /** What it is about: a stall class, a limiter, a question. */
  name: string;
  kind: string;
  verdict: string;
  /** The numbers or the cause behind the verdict. */
  reason: string;
  /** high, medium or low; empty = not stated. */
  confidence: string;
  confidence_reason: string;
  evidence: CodeEvidence[];
  /** The first thing to do; empty = nothing. */
  remedy: string;
  /** Upper bound of the share of time that can be saved; None = unknown. */
  gain_share_max: number;
  /** Least share of the time that is saved; memory: 0, its bandwidth may be the limit. */
  gain_share_min: number;
  /** traced SIMDs or dispatch; the gains of one basis do not add up to more than 1. */
  gain_basis: string;
  /** Stall classes and gaps that it is made of; largest first. */
  causes: Cause[];
  /** All of them, the one about most cycles first. */
  remedies: Remedy[];
  /** Code rows that it is about; `evidence` has the costliest of them. */
  row_count: number;
  /** Stalls and gaps of all waves. */
  stall_cycles_total: number;
  /** Of the cycles of all waves. */
  stall_share: number;
  /** Numbers of counters of the same kernel that explain it, if there are any. */
  reasons: Reason[];
  /** What access patterns have to do with it, where lanes are known. */
  lane_causes: LaneCause[];
}

/** Busy time of the pipes of the traced SIMDs, as shares of their time. */
export interface Pipes {
  matrix_share: number;
  valu_share: number;
  matrix_count: number;
  valu_count: number;
}

/** Bytes of a dispatch, lower and upper bound each. */
export interface Traffic {
  /** HBM, GDDR6, ... of the bytes where they are evidence; else L1, of which lanes request them. */
  level: string;
  /** counters, distinct bytes or requests. */
  evidence: string;
  /** Of the whole dispatch; None = the GPU is not known, or counters tell a rate only. */
  bytes_total: number[] | null;
  /** Of the dispatch; equal where a run of the same process recorded it. */
  seconds: number[] | null;
  /** Of the whole GPU; None = the GPU or the clock is not known. */
  bytes_per_second: number[] | null;
  /** Of the requests. */
  store_share: number;
  /** Of the requests: accesses of less than 4 bytes per lane. */
  narrow_share: number;
  assumptions: string[];
  /** Whether the rate is that of the traced dispatch: counters may be of dispatches that took another time. */
  is_of_dispatch: boolean;
}

/** A limit of the GPU, and how much of it is used. */
export interface Roof {
  /** memory bandwidth, matrix throughput or VALU throughput. */
  name: string;
  /** Of the peak; of bandwidth what is certain, above 1 where a cache delivers a part. */
  share: number;
  /** The same, at most. */
  share_max: number;
  amount: number;
  amount_max: number;
  /** What programs that only copy reached on this GPU where that is known, else that of the data sheet. */
  peak: number;
  /** The program that reached it, or data sheet; empty = a pipe. */
  peak_source: string;
  unit: string;
  is_limit: boolean;
  /** Of bandwidth: HBM, GDDR6, ... */
  level: string;
  /** Of bandwidth: counters or distinct bytes. */
  evidence: string;
  /** Of bandwidth: the product whose peak it is. */
  product: string;
  /** Of bandwidth: the peak of the data sheet. */
  sheet_peak: number | null;
  /** Whether the bytes are those of the traced dispatch: they need at least their time. */
  bounds_gains: boolean;
}

/** Least time of one pipe. */
export interface Floor {
  pipe: string;
  cycles: number;
  /** Of the span. */
  share: number;
  /** Whether all executions are counted; if not, the true floor may be higher. */
  is_whole: boolean;
  /** Of its rate: counter-proven, published or hypothesis. */
  confidence: string;
}

/** Floors of the traced CUs for one kernel. */
export interface Floors {
  pipes: unknown;
  by_cu: unknown;
  changes: unknown;
  /** The kernel with the longest span. */
  kernel: number | null;
  cu_count: number;
  wave_count: number;
  span_cycles_total: number;
  /** None = nothing is known. */
  largest: Floor | null;
  /** The largest of the other pipes. */
  next: Floor | null;
  /** The largest floor if no access had conflicts and all were coalesced. */
  best: Floor | null;
  /** No order of the same instructions gains more than this many times. */
  speedup_max: number | null;
  notes: string[];
}

/** One call of a kernel among those with the same grid and workgroup on the same GPU. */
export interface Launch {
  /** As the run spells it. */
  kernel_name: string;
  dispatch_id: number;
  /** From its start to its end on the GPU. */
  duration_ns: number;
  /** Its place among the calls in order of their starts; 1 = the first. */
  call_number: number;
  /** Calls with the same grid and workgroup on the same GPU. */
  call_count: number;
  duration_ns_median: number;
  /** A tenth of the calls is shorter. */
  duration_ns_p10: number;
  /** A tenth of the calls is longer. */
  duration_ns_p90: number;
  /** The file of the run. */
  path: string;
  /** The median of all such calls lies within this of `duration_ns_median` (95 %); None = too few calls. */
  median_noise_ns: number | null;
  /** Calls of the kernel with any grid, on any GPU of the process. */
  kernel_call_count: number;
  /** Work-items; None = not recorded. */
  grid_size: number[] | null;
  /** Work-items; None = not recorded. */
  workgroup_size: number[] | null;
}

/** The gain of a run for a gain of the calls of a kernel: an interval, for every reading of the record. */
export interface RunGain {
  /** Calls with this name, grid and workgroup, in the processes that the span is of. */
  call_count: number;
  /** Their durations, added up. */
  calls_ns: number;
  /** From the first event of these processes to the last. */
  span_ns: number;
  /** Of the span; negative = it becomes longer. */
  gain_ns_min: number;
  gain_ns_max: number;
  /** Steps with calls of the kernel; 0 = no steps were found, or none has any. */
  step_count: number;
  /** Median length of these steps. */
  step_ns_median: number | null;
  /** Mean of these steps, from faster calls in them alone; None = no steps. */
  step_gain_ns_min: number | null;
  step_gain_ns_max: number | null;
  /** Why there is no interval: then gains are 0 and mean nothing; empty = there is one. */
  unknown: string;
}

/** A prioritized plan, and how far its trace can be trusted. */
export interface DiagnoseAnswer {
  definition: string;
  /** Whether the cycles and the source lines can be used, with the caveats. */
  trust: Trust;
  findings: StallFinding[];
  /** Which findings do not stand in the order of their gains, and why; empty = all do. */
  order_note: string;
  /** Of the cycles of all waves: waiting for code that was never executed before on the CU. */
  cold_share: number;
  stall_cycles_total: number;
  /** Latency and idle cycles of all waves. */
  wave_cycles_total: number;
  /** Of the traced CUs, added up: from the first start to the last end of the replayed waves. */
  time_cycles: number;
  /** Of the instructions; of large traces some CUs are replayed. */
  replayed_share: number;
  /** Waves that left early; they are left out. */
  early_wave_count: number;
  /** None = there are no instructions. */
  pipes: Pipes | null;
  /** None = the code asks memory for nothing that can be told. */
  traffic: Traffic | null;
  roofs: Roof[];
  /** None = the trace is too large for them, has several kernels, or no instructions. */
  floors: Floors | null;
  /** The traced dispatch in the run recorded beside the trace; None = not found. */
  launch: Launch | null;
  strict_waits: Frame<DiagnoseStrictWaitsRow>;
  open_barriers: Frame<DiagnoseOpenBarriersRow>;
  /** What the first findings would do to the run beside the trace, one each (`analysis.beside`); empty = no run. */
  in_run: RunGain[];
  headline: string;
  in_run_words: string[];
}

/** One row is one edit, best first; refused ones last. */
export interface EditEditsRow {
  /** Number of the edit */
  edit: number;
  /** The edit in words */
  name: string;
  /** Certain gain, no certain gain, certain loss, bound only, not timed or refused */
  verdict: string;
  /** Least share of the time that it saves; empty = not timed, or bound only */
  gain_low_share: number | null;
  /** Most; empty = not timed */
  gain_high_share: number | null;
  /** With latencies that are typical of each row; empty as the least */
  gain_about_share: number | null;
  /** Replay (or rule) that the low end is of; empty as the least */
  gain_low_end: string | null;
  /** Replay (or rule) that the high end is of */
  gain_high_end: string | null;
  /** Whether fewer operations are in flight at a wait than in any recorded execution */
  is_extrapolated: boolean | null;
  /** Vector registers that the code names then; empty = refused, here and below */
  vgprs: number | null;
  /** More than before */
  vgprs_more: number | null;
  /** Values that live in other registers than before */
  moved_value_count: number | null;
  /** Waves that fit on a SIMD with as many; empty = not known [waves] */
  waves_per_simd_limit: number | null;
  /** What must shrink for more waves; empty = nothing */
  needs: string | null;
  /** Why it is refused, not timed or only bounded; empty = none of these */
  reason: string | null;
}

export const EDIT_EDITS: TableInfo<EditEditsRow> = {
  edit: ["Edit", "", "Number of the edit"],
  name: ["Name", "", "The edit in words"],
  verdict: ["Verdict", "", "Certain gain, no certain gain, certain loss, bound only, not timed or refused"],
  gain_low_share: ["Gain low share", "", "Least share of the time that it saves; empty = not timed, or bound only"],
  gain_high_share: ["Gain high share", "", "Most; empty = not timed"],
  gain_about_share: ["Gain about share", "", "With latencies that are typical of each row; empty as the least"],
  gain_low_end: ["Gain low end", "", "Replay (or rule) that the low end is of; empty as the least"],
  gain_high_end: ["Gain high end", "", "Replay (or rule) that the high end is of"],
  is_extrapolated: ["Extrapolated", "", "Whether fewer operations are in flight at a wait than in any recorded execution"],
  vgprs: ["VGPRs", "", "Vector registers that the code names then; empty = refused, here and below"],
  vgprs_more: ["VGPRs more", "", "More than before"],
  moved_value_count: ["Moved values", "", "Values that live in other registers than before"],
  waves_per_simd_limit: ["Waves per SIMD limit", "waves", "Waves that fit on a SIMD with as many; empty = not known"],
  needs: ["Needs", "", "What must shrink for more waves; empty = nothing"],
  reason: ["Reason", "", "Why it is refused, not timed or only bounded; empty = none of these"],
};

/** One row is one counter that a derived wait of an edit waits for. */
export interface EditWaitsRow {
  /** edits.edit */
  edit: number;
  /** Code row that the wait stands before; -2 = the end of the block */
  row: number;
  /** Hardware counter */
  counter: string;
  /** It has come down to this value */
  value: number;
  /** Code row of the operation that must be complete */
  needed_row: number;
  /** Register, or order: the code had waited for it there */
  needed_for: string;
}

export const EDIT_WAITS: TableInfo<EditWaitsRow> = {
  edit: ["Edit", "", "edits.edit"],
  row: ["Row", "", "Code row that the wait stands before; -2 = the end of the block"],
  counter: ["Counter", "", "Hardware counter"],
  value: ["Value", "", "It has come down to this value"],
  needed_row: ["Needed row", "", "Code row of the operation that must be complete"],
  needed_for: ["Needed for", "", "Register, or order: the code had waited for it there"],
};

/** One row is one row of an edited block, in its new order. */
export interface EditListingRow {
  /** edits.edit */
  edit: number;
  /** Place in the listing */
  place: number;
  /** Block, before the loop, or behind the loop */
  part: string;
  /** Code row; empty = put in by the edit */
  row: number | null;
  /** Disassembly */
  text: string;
  /** Places later (+) or earlier (-) than before among rows that are not derived; empty = put in [rows] */
  moved_by: number | null;
  /** Whether its text is another: other registers, or a new wait */
  is_changed: boolean;
}

export const EDIT_LISTING: TableInfo<EditListingRow> = {
  edit: ["Edit", "", "edits.edit"],
  place: ["Place", "", "Place in the listing"],
  part: ["Part", "", "Block, before the loop, or behind the loop"],
  row: ["Row", "", "Code row; empty = put in by the edit"],
  text: ["Text", "", "Disassembly"],
  moved_by: ["Moved by", "rows", "Places later (+) or earlier (-) than before among rows that are not derived; empty = put in"],
  is_changed: ["Changed", "", "Whether its text is another: other registers, or a new wait"],
};

/** One row is one row of one execution of the block, the middle one of the median wave, for the first timed edit. */
export interface EditExecutionRow {
  /** As it would be, instead of as it was recorded */
  is_edited: boolean;
  /** Code row; empty = put in by the edit */
  row: number | null;
  /** Issue of the instruction before it, since the first row began [cycles] */
  begin_cycles: number;
  /** Its own issue [cycles] */
  end_cycles: number;
}

export const EDIT_EXECUTION: TableInfo<EditExecutionRow> = {
  is_edited: ["Edited", "", "As it would be, instead of as it was recorded"],
  row: ["Row", "", "Code row; empty = put in by the edit"],
  begin_cycles: ["Begin cycles", "cycles", "Issue of the instruction before it, since the first row began"],
  end_cycles: ["End cycles", "cycles", "Its own issue"],
};

/** Edits of a block: what they gain, and what they need. */
export interface EditAnswer {
  definition: string;
  /** Of the block. */
  first_row: number;
  last_row: number;
  is_loop: boolean;
  /** Times that the block was executed. */
  execution_count: number;
  /** What a replay without all stalls and gaps of the block saves: no edit of it gains more. */
  bound_share: number;
  /** Of the traced CUs, added up. */
  time_cycles: number;
  /** That are replayed. */
  instruction_count: number;
  /** Vector registers that the code names. */
  vgprs: number;
  waves_per_simd_limit: number | null;
  /** Pairs of LDS rows that never touch the same bytes on the executed path. */
  disjoint_pair_count: number;
  /** Orders that were tried; 0 = edits were given. */
  searched_count: number;
  edits: Frame<EditEditsRow>;
  waits: Frame<EditWaitsRow>;
  listing: Frame<EditListingRow>;
  assumptions: string[];
  execution: Frame<EditExecutionRow>;
  verdict: string;
}

/** One row is one compute unit or SIMD of a traced shader engine on which a wave was seen. */
export interface HeatMapPlacesRow {
  /** Accelerator die; empty = the GPU has one, or is not known */
  xcc: number | null;
  /** Shader engine */
  se: number;
  /** Shader array; empty = the trace does not name it (gfx9) */
  sa: number | null;
  /** CU (gfx9) or WGP byte */
  cu: number;
  /** SIMD; empty = all of the compute unit */
  simd: number | null;
  /** Waves that were resident there [waves] */
  wave_count: number;
  /** Mean from start to end, of those whose start and end were seen; empty = none [cycles] */
  duration_cycles_mean: number | null;
  /** Mean number of waves that were resident at once; empty = none was seen [waves] */
  resident_waves_mean: number | null;
  /** Traced waves [waves] */
  traced_wave_count: number;
  /** Their instructions; empty = no wave was traced there */
  instruction_count: number | null;
  /** Their durations; empty = no wave was traced there [cycles] */
  cycles_total: number | null;
  /** Stall of their instructions; empty = no wave was traced there [cycles] */
  stall_cycles_total: number | null;
  /** stall_cycles_total / cycles_total; empty = no wave was traced there */
  stall_share: number | null;
  /** The traced wave that started first; empty = no wave was traced there */
  first_wave: number | null;
}

export const HEAT_MAP_PLACES: TableInfo<HeatMapPlacesRow> = {
  xcc: ["Xcc", "", "Accelerator die; empty = the GPU has one, or is not known"],
  se: ["SE", "", "Shader engine"],
  sa: ["Sa", "", "Shader array; empty = the trace does not name it (gfx9)"],
  cu: ["CU", "", "CU (gfx9) or WGP byte"],
  simd: ["SIMD", "", "SIMD; empty = all of the compute unit"],
  wave_count: ["Waves", "waves", "Waves that were resident there"],
  duration_cycles_mean: ["Duration cycles mean", "cycles", "Mean from start to end, of those whose start and end were seen; empty = none"],
  resident_waves_mean: ["Resident waves mean", "waves", "Mean number of waves that were resident at once; empty = none was seen"],
  traced_wave_count: ["Traced waves", "waves", "Traced waves"],
  instruction_count: ["Instructions", "", "Their instructions; empty = no wave was traced there"],
  cycles_total: ["Cycles", "cycles", "Their durations; empty = no wave was traced there"],
  stall_cycles_total: ["Stall cycles", "cycles", "Stall of their instructions; empty = no wave was traced there"],
  stall_share: ["Stall share", "", "stall_cycles_total / cycles_total; empty = no wave was traced there"],
  first_wave: ["First wave", "", "The traced wave that started first; empty = no wave was traced there"],
};

/** Waves by compute unit or SIMD. */
export interface HeatMapAnswer {
  definition: string;
  /** Of the time that the means are over, aligned. */
  start_cycles: number;
  end_cycles: number;
  places: Frame<HeatMapPlacesRow>;
}

/** One row is one category in one bin of rows in which it occurs, in the order of rows. */
export interface HistogramBinsRow {
  /** Number of the bin */
  bin: number;
  /** Its first code row */
  first_row: number;
  /** Its last code row */
  last_row: number;
  /** Kind of instruction (CATEGORIES, MATRIX) */
  category: string;
  /** Sum of lengths [cycles] */
  cycles_total: number;
  /** Executions */
  execution_count: number;
}

export const HISTOGRAM_BINS: TableInfo<HistogramBinsRow> = {
  bin: ["Bin", "", "Number of the bin"],
  first_row: ["First row", "", "Its first code row"],
  last_row: ["Last row", "", "Its last code row"],
  category: ["Category", "", "Kind of instruction (CATEGORIES, MATRIX)"],
  cycles_total: ["Cycles", "cycles", "Sum of lengths"],
  execution_count: ["Executions", "", "Executions"],
};

/** Cycles per bin of code rows, by category. */
export interface HistogramAnswer {
  definition: string;
  bins: Frame<HistogramBinsRow>;
  first_row: number;
  /** -1 = there is no code. */
  last_row: number;
  rows_per_bin: number;
  bin_count: number;
  /** Of all bins. */
  cycles_total: number;
  /** Cycles of instructions with an unknown row: they are in no bin. */
  unknown_cycles_total: number;
}

/** One row is one pattern: the lane addresses that executions of one access of the instruction have. */
export interface LaneServicePatternsRow {
  /** Number, from 0 */
  pattern: number;
  /** Which access of the instruction: 0, and 1 of read2 and write2 */
  place: number;
  /** Of the executions of this access whose lane addresses are certain */
  share: number;
  /** Active lanes */
  active_lane_count: number;
  /** LDS: phases with an active lane [cycles] */
  ideal_cycles: number | null;
  /** LDS: cycles lost to bank conflicts [cycles] */
  extra_cycles: number | null;
  /** Memory: segments that the lanes touch */
  segment_count: number | null;
  /** Memory: segments if each lane's bytes lay side by side */
  least_segment_count: number | null;
}

export const LANE_SERVICE_PATTERNS: TableInfo<LaneServicePatternsRow> = {
  pattern: ["Pattern", "", "Number, from 0"],
  place: ["Place", "", "Which access of the instruction: 0, and 1 of read2 and write2"],
  share: ["Share", "", "Of the executions of this access whose lane addresses are certain"],
  active_lane_count: ["Active lanes", "", "Active lanes"],
  ideal_cycles: ["Ideal cycles", "cycles", "LDS: phases with an active lane"],
  extra_cycles: ["Extra cycles", "cycles", "LDS: cycles lost to bank conflicts"],
  segment_count: ["Segments", "", "Memory: segments that the lanes touch"],
  least_segment_count: ["Least segments", "", "Memory: segments if each lane's bytes lay side by side"],
};

/** One row is one phase of a pattern, in the order of service. */
export interface LaneServicePhasesRow {
  /** Number of the pattern */
  pattern: number;
  /** Number, from 0 */
  phase: number;
  /** Active lanes */
  lanes: number[];
  /** Distinct dwords in the fullest bank [cycles] */
  cycles: number;
}

export const LANE_SERVICE_PHASES: TableInfo<LaneServicePhasesRow> = {
  pattern: ["Pattern", "", "Number of the pattern"],
  phase: ["Phase", "", "Number, from 0"],
  lanes: ["Lanes", "", "Active lanes"],
  cycles: ["Cycles", "cycles", "Distinct dwords in the fullest bank"],
};

/** One row is some banks side by side that lanes of a phase want. */
export interface LaneServiceBankCellsRow {
  /** Number of the pattern */
  pattern: number;
  /** Number of the phase */
  phase: number;
  /** First of banks_per_column banks, which the same lanes want */
  first_bank: number;
  /** Lanes that want them */
  lanes: number[];
  /** Distinct dwords that they want in each bank; more than 1 collide */
  dword_count: number;
}

export const LANE_SERVICE_BANK_CELLS: TableInfo<LaneServiceBankCellsRow> = {
  pattern: ["Pattern", "", "Number of the pattern"],
  phase: ["Phase", "", "Number of the phase"],
  first_bank: ["First bank", "", "First of banks_per_column banks, which the same lanes want"],
  lanes: ["Lanes", "", "Lanes that want them"],
  dword_count: ["Dwords", "", "Distinct dwords that they want in each bank; more than 1 collide"],
};

/** One row is one group of consecutive lanes of a pattern. */
export interface LaneServiceGroupsRow {
  /** Number of the pattern */
  pattern: number;
  /** Number, from 0 */
  group: number;
  /** Active lanes */
  lanes: number[];
  /** Segments that they touch */
  segment_count: number;
  /** Segments if each lane's bytes lay side by side */
  least_segment_count: number;
}

export const LANE_SERVICE_GROUPS: TableInfo<LaneServiceGroupsRow> = {
  pattern: ["Pattern", "", "Number of the pattern"],
  group: ["Group", "", "Number, from 0"],
  lanes: ["Lanes", "", "Active lanes"],
  segment_count: ["Segments", "", "Segments that they touch"],
  least_segment_count: ["Least segments", "", "Segments if each lane's bytes lay side by side"],
};

/** One row is one segment that lanes of a group touch. */
export interface LaneServiceSegmentCellsRow {
  /** Number of the pattern */
  pattern: number;
  /** Number of the group */
  group: number;
  /** Start of the segment [bytes] */
  offset_bytes: number;
  /** Lanes that touch it */
  lanes: number[];
  /** Bytes of it that they ask for [bytes] */
  used_bytes: number;
}

export const LANE_SERVICE_SEGMENT_CELLS: TableInfo<LaneServiceSegmentCellsRow> = {
  pattern: ["Pattern", "", "Number of the pattern"],
  group: ["Group", "", "Number of the group"],
  offset_bytes: ["Offset", "bytes", "Start of the segment"],
  lanes: ["Lanes", "", "Lanes that touch it"],
  used_bytes: ["Used", "bytes", "Bytes of it that they ask for"],
};

/** Service of the lanes of one instruction. */
export interface LaneServiceAnswer {
  definition: string;
  patterns: Frame<LaneServicePatternsRow>;
  phases: Frame<LaneServicePhasesRow>;
  bank_cells: Frame<LaneServiceBankCellsRow>;
  groups: Frame<LaneServiceGroupsRow>;
  segment_cells: Frame<LaneServiceSegmentCellsRow>;
  row: number;
  text: string;
  /** Lanes of a wave. */
  lane_count: number;
  /** Banks of LDS; None = no LDS access, or no rule. */
  banks: number | null;
  /** Banks that the same lanes want in every phase. */
  banks_per_column: number;
  /** Consecutive lanes that the cache looks up together; None = no memory access, or no rule. */
  group_lanes: number | null;
  /** Size of a segment. */
  segment_bytes: number | null;
  /** Different patterns; `patterns` has the most frequent. */
  pattern_count: number;
  /** Of the rule. */
  evidence: string;
  /** Why nothing is drawn; empty = something is. */
  problem: string;
}

/** One row is one executed memory instruction of the code. */
export interface LanesRow {
  /** Code row */
  row: number;
  /** Disassembly */
  text: string;
  /** Source file; empty = no debug line */
  file: string | null;
  /** Source line */
  line: number | null;
  /** Lds, memory, flat or scratch */
  space: string;
  /** Load, store, atomic or load to LDS */
  direction: string;
  /** Bytes of one active lane [bytes] */
  bytes_per_lane: number | null;
  /** Active lanes of all lanes, mean; empty = not known */
  active_lane_share: number | null;
  /** Executions by traced waves */
  execution_count: number;
  /** Of these, executions whose lane addresses are certain */
  known_count: number;
  /** Of these, executions whose cost a rule says: what follows is over them */
  cost_known_count: number;
  /** LDS: phases with an active lane; empty = no LDS access [cycles] */
  ideal_cycles_total: number | null;
  /** LDS: cycles lost to bank conflicts [cycles] */
  extra_cycles_total: number | null;
  /** Memory: segments that lanes touch = L1 accesses; empty = no memory access */
  segment_count_total: number | null;
  /** Memory: segments if each lane's bytes lay side by side */
  least_segment_count_total: number | null;
  /** Bytes that active lanes ask for, over known_count executions [bytes] */
  requested_bytes_total: number;
  /** Memory: segments x their size [bytes] */
  moved_bytes_total: number | null;
  /** Of the rule: counter-proven, published or hypothesis; empty = no rule */
  confidence: string | null;
  /** Why some executions are not known, the most frequent reason */
  reason: string | null;
  /** What must hold for the numbers; empty = nothing */
  assumes: string;
}

export const LANES: TableInfo<LanesRow> = {
  row: ["Row", "", "Code row"],
  text: ["Text", "", "Disassembly"],
  file: ["File", "", "Source file; empty = no debug line"],
  line: ["Line", "", "Source line"],
  space: ["Space", "", "Lds, memory, flat or scratch"],
  direction: ["Direction", "", "Load, store, atomic or load to LDS"],
  bytes_per_lane: ["Bytes per lane", "bytes", "Bytes of one active lane"],
  active_lane_share: ["Active lane share", "", "Active lanes of all lanes, mean; empty = not known"],
  execution_count: ["Executions", "", "Executions by traced waves"],
  known_count: ["Knowns", "", "Of these, executions whose lane addresses are certain"],
  cost_known_count: ["Cost knowns", "", "Of these, executions whose cost a rule says: what follows is over them"],
  ideal_cycles_total: ["Ideal cycles", "cycles", "LDS: phases with an active lane; empty = no LDS access"],
  extra_cycles_total: ["Extra cycles", "cycles", "LDS: cycles lost to bank conflicts"],
  segment_count_total: ["Segments", "", "Memory: segments that lanes touch = L1 accesses; empty = no memory access"],
  least_segment_count_total: ["Least segments", "", "Memory: segments if each lane's bytes lay side by side"],
  requested_bytes_total: ["Requested", "bytes", "Bytes that active lanes ask for, over known_count executions"],
  moved_bytes_total: ["Moved", "bytes", "Memory: segments x their size"],
  confidence: ["Confidence", "", "Of the rule: counter-proven, published or hypothesis; empty = no rule"],
  reason: ["Reason", "", "Why some executions are not known, the most frequent reason"],
  assumes: ["Assumes", "", "What must hold for the numbers; empty = nothing"],
};

/** One row is one reason why executions of a row are not known. */
export interface LanesReasonsRow {
  /** Code row */
  row: number;
  /** Why */
  reason: string;
  /** Whether only the cost is not known, and the addresses are */
  is_cost: boolean;
  /** Executions */
  execution_count: number;
}

export const LANES_REASONS: TableInfo<LanesReasonsRow> = {
  row: ["Row", "", "Code row"],
  reason: ["Reason", "", "Why"],
  is_cost: ["Cost", "", "Whether only the cost is not known, and the addresses are"],
  execution_count: ["Executions", "", "Executions"],
};

/** One row is one executed row of the code that changes or tests which lanes are active. */
export interface LanesBranchesRow {
  /** Code row */
  row: number;
  /** Disassembly */
  text: string;
  /** Source file */
  file: string | null;
  /** Source line */
  line: number | null;
  /** Executions by traced waves */
  execution_count: number;
  /** Active lanes of all lanes before it, mean; empty = not known */
  active_lane_share: number | null;
}

export const LANES_BRANCHES: TableInfo<LanesBranchesRow> = {
  row: ["Row", "", "Code row"],
  text: ["Text", "", "Disassembly"],
  file: ["File", "", "Source file"],
  line: ["Line", "", "Source line"],
  execution_count: ["Executions", "", "Executions by traced waves"],
  active_lane_share: ["Active lane share", "", "Active lanes of all lanes before it, mean; empty = not known"],
};

/** Lane addresses of the executed memory instructions. */
export interface LanesAnswer {
  definition: string;
  rows: Frame<LanesRow>;
  reasons: Frame<LanesReasonsRow>;
  branches: Frame<LanesBranchesRow>;
  target: string;
  /** Lanes of a wave. */
  lane_count: number;
  /** Size of a segment; None = no rule for this GPU. */
  segment_bytes: number | null;
  /** Segments that the L1 of a CU serves in a cycle; None = not known. */
  accesses_per_cycle: number | null;
  wave_count: number;
  /** Different paths of waves; each was evaluated once. */
  path_count: number;
  /** Conditional branches on these paths. */
  branch_count: number;
  /** Of these, those with a certain condition: all of them go the way the trace went. */
  checked_branch_count: number;
  notes: string[];
}

/** One row is one order in which the workgroups of the dispatch could be handed out. */
export interface TrafficMappingsRow {
  /** Name */
  mapping: string;
  /** The new index, from the launched number id that counts x first; empty = as it is */
  formula: string;
  /** Lines that are read, added up over XCDs */
  lines_count: number;
  /** Of these lines: read from the fabric at least [bytes] */
  read_bytes: number;
  /** Of these, those that another XCD reads as well [bytes] */
  replicated_bytes: number;
  /** Of the bytes that are read in today's order; negative = more */
  saved_share: number;
  /** Read by the order of waves that loses most lines of L2; empty = not simulated [bytes] */
  most_bytes: number | null;
}

export const TRAFFIC_MAPPINGS: TableInfo<TrafficMappingsRow> = {
  mapping: ["Mapping", "", "Name"],
  formula: ["Formula", "", "The new index, from the launched number id that counts x first; empty = as it is"],
  lines_count: ["Lineses", "", "Lines that are read, added up over XCDs"],
  read_bytes: ["Read", "bytes", "Of these lines: read from the fabric at least"],
  replicated_bytes: ["Replicated", "bytes", "Of these, those that another XCD reads as well"],
  saved_share: ["Saved share", "", "Of the bytes that are read in today's order; negative = more"],
  most_bytes: ["Most", "bytes", "Read by the order of waves that loses most lines of L2; empty = not simulated"],
};

/** One row is one array: what a pointer among the arguments points to. */
export interface TrafficArraysRow {
  /** Name of the argument */
  array: string;
  /** Lines that are read, added up over XCDs [bytes] */
  read_bytes: number;
  /** Lines that are read, once each [bytes] */
  unavoidable_bytes: number;
  /** XCDs that read a line, mean; empty = nothing is read */
  xcd_mean: number | null;
  /** Distinct bytes that are stored [bytes] */
  written_bytes: number;
  /** Of the bytes from the first to the last that is stored; empty = nothing is stored */
  stored_share: number | null;
}

export const TRAFFIC_ARRAYS: TableInfo<TrafficArraysRow> = {
  array: ["Array", "", "Name of the argument"],
  read_bytes: ["Read", "bytes", "Lines that are read, added up over XCDs"],
  unavoidable_bytes: ["Unavoidable", "bytes", "Lines that are read, once each"],
  xcd_mean: ["Xcd mean", "", "XCDs that read a line, mean; empty = nothing is read"],
  written_bytes: ["Written", "bytes", "Distinct bytes that are stored"],
  stored_share: ["Stored share", "", "Of the bytes from the first to the last that is stored; empty = nothing is stored"],
};

/** One row is one memory instruction of the code. */
export interface TrafficRow {
  /** Code row */
  row: number;
  /** Disassembly */
  text: string;
  /** Source file; empty = no debug line */
  file: string | null;
  /** Source line */
  line: number | null;
  /** Array that it touches */
  array: string;
  /** Load or store */
  direction: string;
  /** Of active lanes, of all workgroups [bytes] */
  requested_bytes: number;
  /** Lines that it touches, added up over XCDs; a line counts for each instruction that touches it [bytes] */
  fabric_bytes: number;
  /** Lines that it touches, once each [bytes] */
  distinct_bytes: number;
}

export const TRAFFIC: TableInfo<TrafficRow> = {
  row: ["Row", "", "Code row"],
  text: ["Text", "", "Disassembly"],
  file: ["File", "", "Source file; empty = no debug line"],
  line: ["Line", "", "Source line"],
  array: ["Array", "", "Array that it touches"],
  direction: ["Direction", "", "Load or store"],
  requested_bytes: ["Requested", "bytes", "Of active lanes, of all workgroups"],
  fabric_bytes: ["Fabric", "bytes", "Lines that it touches, added up over XCDs; a line counts for each instruction that touches it"],
  distinct_bytes: ["Distinct", "bytes", "Lines that it touches, once each"],
};

/** One row is one reason why accesses are not known. */
export interface TrafficReasonsRow {
  /** Code row */
  row: number;
  /** Disassembly */
  text: string;
  /** Why */
  reason: string;
  /** Executions by one workgroup */
  execution_count: number;
}

export const TRAFFIC_REASONS: TableInfo<TrafficReasonsRow> = {
  row: ["Row", "", "Code row"],
  text: ["Text", "", "Disassembly"],
  reason: ["Reason", "", "Why"],
  execution_count: ["Executions", "", "Executions by one workgroup"],
};

/** One row is one workgroup of a dispatch with few of them, by today's order. */
export interface TrafficWorkgroupsRow {
  /** Launched number, which counts x first */
  number: number;
  /** Workgroup id */
  x: number;
  /** Workgroup id */
  y: number;
  /** Workgroup id */
  z: number;
  /** XCD that it runs on */
  xcd: number;
  /** Lines that it reads */
  lines_count: number;
  /** Of these, those that another workgroup of its XCD reads as well */
  shared_share: number;
  /** Of these, those that only workgroups of other XCDs read as well */
  away_share: number;
}

export const TRAFFIC_WORKGROUPS: TableInfo<TrafficWorkgroupsRow> = {
  number: ["Number", "", "Launched number, which counts x first"],
  x: ["X", "", "Workgroup id"],
  y: ["Y", "", "Workgroup id"],
  z: ["Z", "", "Workgroup id"],
  xcd: ["Xcd", "", "XCD that it runs on"],
  lines_count: ["Lineses", "", "Lines that it reads"],
  shared_share: ["Shared share", "", "Of these, those that another workgroup of its XCD reads as well"],
  away_share: ["Away share", "", "Of these, those that only workgroups of other XCDs read as well"],
};

/** One row is one set of arguments among alternatives. */
export interface TrafficFitsRow {
  /** Those in which the sets differ */
  arguments: string;
  /** Fits, or what contradicts it */
  verdict: string;
}

export const TRAFFIC_FITS: TableInfo<TrafficFitsRow> = {
  arguments: ["Arguments", "", "Those in which the sets differ"],
  verdict: ["Verdict", "", "Fits, or what contradicts it"],
};

/** Traffic of one dispatch between its L2 caches and the fabric. */
export interface TrafficAnswer {
  definition: string;
  mappings: Frame<TrafficMappingsRow>;
  arrays: Frame<TrafficArraysRow>;
  rows: Frame<TrafficRow>;
  reasons: Frame<TrafficReasonsRow>;
  workgroups: Frame<TrafficWorkgroupsRow>;
  fits: Frame<TrafficFitsRow>;
  target: string;
  /** Why there are no numbers; empty = there are. */
  problem: string;
  /** Of the facts about the caches: counter-proven, published or hypothesis; empty = there are none. */
  confidence: string;
  evidence: string;
  xcd_count: number;
  line_bytes: number;
  /** Workgroups in x, y and z. */
  counts: number[];
  /** Waves that were evaluated; the others follow from them. */
  evaluated_count: number;
  /** Workgroups drawn at random that agree with what follows. */
  checked_count: number;
  /** Of the accesses; below 1 all bytes are at least so many. */
  known_share: number;
  /** From the fabric, in today's order, with caches that lose nothing: the lower bound. */
  read_bytes: number;
  /** That any order reads. */
  unavoidable_bytes: number;
  /** To the fabric. */
  write_bytes: number;
  /** Of L2, over the orders of waves that were simulated and the traced one; None = none was simulated. */
  hit_rate: number[] | null;
  /** Workgroups of the simulation. */
  simulated_count: number;
  /** From the vector L1 to L2; None = not counted for this GPU. */
  read_request_count: number | null;
  write_request_count: number | null;
  /** Workgroups whose accesses were followed in the traced order. */
  traced_count: number;
  traced_read_requests: number[] | null;
  traced_hit_rate: number[] | null;
  /** That several workgroups store. */
  overlapping_bytes: number;
  /** From HBM, where the Infinity Cache starts empty, over the orders of waves; None = no bound above. */
  hbm_read_bytes: number[];
  /** Whether all that is touched fits; None = there is no such cache. */
  fits_infinity_cache: boolean | null;
  /** That reads fewest bytes; empty = nothing to win. */
  best_mapping: string;
  notes: string[];
}

/** One row is one code row that can be reached from the start of a kernel; none where the code is not known well enough. */
export interface LiveRegistersRow {
  /** Code row */
  row: number;
  /** Live vector registers */
  live_vgprs: number;
  /** Live accumulation registers */
  live_agprs: number;
  /** Live scalar registers, s0 to s105 */
  live_sgprs: number;
  /** Live vector and accumulation registers at the same time */
  live_vectors: number;
  /** Waves that fit on a SIMD with as many vector registers; empty = GPU not known [waves] */
  waves_per_simd: number | null;
}

export const LIVE_REGISTERS: TableInfo<LiveRegistersRow> = {
  row: ["Row", "", "Code row"],
  live_vgprs: ["Live VGPRs", "", "Live vector registers"],
  live_agprs: ["Live AGPRs", "", "Live accumulation registers"],
  live_sgprs: ["Live SGPRs", "", "Live scalar registers, s0 to s105"],
  live_vectors: ["Live vectors", "", "Live vector and accumulation registers at the same time"],
  waves_per_simd: ["Waves per SIMD", "waves", "Waves that fit on a SIMD with as many vector registers; empty = GPU not known"],
};

/** One row is one loop, outer ones before inner ones. */
export interface LoopsRow {
  /** Number of the loop */
  loop: number;
  /** The loop around it; empty = none */
  parent: number | null;
  /** Loops around it */
  depth: number;
  /** Its first code row */
  first_row: number;
  /** Its last code row */
  last_row: number;
  /** Code row with which an iteration starts */
  start_row: number;
  /** Address of the first row */
  address: string;
  /** Function it is in */
  function: string | null;
  /** Source file that most of its rows come from */
  file: string | null;
  /** Smallest source line of its rows in that file */
  first_line: number | null;
  /** Largest source line of its rows in that file */
  last_line: number | null;
  /** Waves that entered it */
  wave_count: number | null;
  /** Times that waves entered it */
  entry_count: number | null;
  /** Iterations of all waves */
  iteration_count: number | null;
  /** Fewest iterations after an entry */
  trips_min: number | null;
  /** Median number of iterations after an entry */
  trips_median: number | null;
  /** Most iterations after an entry */
  trips_max: number | null;
  /** Shortest iteration [cycles] */
  iteration_cycles_min: number | null;
  /** Median iteration [cycles] */
  iteration_cycles_median: number | null;
  /** Longest iteration [cycles] */
  iteration_cycles_max: number | null;
  /** Median of the first iterations [cycles] */
  first_cycles_median: number | null;
  /** Median of the steady ones; empty = there are none [cycles] */
  steady_cycles_median: number | null;
  /** Median of the last iterations [cycles] */
  last_cycles_median: number | null;
  /** Iteration number with the largest mean, of those that at least half of the entries reached */
  slowest_iteration: number | null;
  /** Mean duration of that iteration [cycles] */
  slowest_cycles_mean: number | null;
  /** The same / the median of the means of these iteration numbers */
  slowest_ratio: number | null;
  /** Stall of steady iterations (of all, if none), of their cycles */
  steady_stall_share: number | null;
  /** Executions of its rows */
  hit_count: number;
  /** Sum of their durations [cycles] */
  latency_cycles_total: number;
  /** Sum of their stalls [cycles] */
  stall_cycles_total: number;
  /** Sum of the gaps before them [cycles] */
  idle_cycles_total: number;
  /** Latency and idle that no other wave hid [cycles] */
  exposed_cycles_total: number;
  /** Latency and idle, of the whole trace */
  cycles_share: number;
  /** The same without inner loops */
  self_cycles_share: number;
}

export const LOOPS: TableInfo<LoopsRow> = {
  loop: ["Loop", "", "Number of the loop"],
  parent: ["Parent", "", "The loop around it; empty = none"],
  depth: ["Depth", "", "Loops around it"],
  first_row: ["First row", "", "Its first code row"],
  last_row: ["Last row", "", "Its last code row"],
  start_row: ["Start row", "", "Code row with which an iteration starts"],
  address: ["Address", "", "Address of the first row"],
  function: ["Function", "", "Function it is in"],
  file: ["File", "", "Source file that most of its rows come from"],
  first_line: ["First line", "", "Smallest source line of its rows in that file"],
  last_line: ["Last line", "", "Largest source line of its rows in that file"],
  wave_count: ["Waves", "", "Waves that entered it"],
  entry_count: ["Entries", "", "Times that waves entered it"],
  iteration_count: ["Iterations", "", "Iterations of all waves"],
  trips_min: ["Trips min", "", "Fewest iterations after an entry"],
  trips_median: ["Trips median", "", "Median number of iterations after an entry"],
  trips_max: ["Trips max", "", "Most iterations after an entry"],
  iteration_cycles_min: ["Iteration cycles min", "cycles", "Shortest iteration"],
  iteration_cycles_median: ["Iteration cycles median", "cycles", "Median iteration"],
  iteration_cycles_max: ["Iteration cycles max", "cycles", "Longest iteration"],
  first_cycles_median: ["First cycles median", "cycles", "Median of the first iterations"],
  steady_cycles_median: ["Steady cycles median", "cycles", "Median of the steady ones; empty = there are none"],
  last_cycles_median: ["Last cycles median", "cycles", "Median of the last iterations"],
  slowest_iteration: ["Slowest iteration", "", "Iteration number with the largest mean, of those that at least half of the entries reached"],
  slowest_cycles_mean: ["Slowest cycles mean", "cycles", "Mean duration of that iteration"],
  slowest_ratio: ["Slowest ratio", "", "The same / the median of the means of these iteration numbers"],
  steady_stall_share: ["Steady stall share", "", "Stall of steady iterations (of all, if none), of their cycles"],
  hit_count: ["Hits", "", "Executions of its rows"],
  latency_cycles_total: ["Latency cycles", "cycles", "Sum of their durations"],
  stall_cycles_total: ["Stall cycles", "cycles", "Sum of their stalls"],
  idle_cycles_total: ["Idle cycles", "cycles", "Sum of the gaps before them"],
  exposed_cycles_total: ["Exposed cycles", "cycles", "Latency and idle that no other wave hid"],
  cycles_share: ["Cycles share", "", "Latency and idle, of the whole trace"],
  self_cycles_share: ["Self cycles share", "", "The same without inner loops"],
};

/** One row is one iteration number of a loop, over all waves and entries, in the order of loops and numbers. */
export interface LoopsIterationsRow {
  /** loops.loop */
  loop: number;
  /** Iterations since the wave entered the loop; 0 = the first */
  iteration: number;
  /** Waves that executed it */
  wave_count: number;
  /** Times it was executed: once per entry that got so far */
  execution_count: number;
  /** Mean duration [cycles] */
  cycles_mean: number;
  /** Shortest one [cycles] */
  cycles_min: number;
  /** Longest one [cycles] */
  cycles_max: number;
  /** Mean stall of the instructions in it [cycles] */
  stall_cycles_mean: number;
  /** Of its executions: longer than the median iteration of the same wave */
  longer_share: number;
}

export const LOOPS_ITERATIONS: TableInfo<LoopsIterationsRow> = {
  loop: ["Loop", "", "loops.loop"],
  iteration: ["Iteration", "", "Iterations since the wave entered the loop; 0 = the first"],
  wave_count: ["Waves", "", "Waves that executed it"],
  execution_count: ["Executions", "", "Times it was executed: once per entry that got so far"],
  cycles_mean: ["Cycles mean", "cycles", "Mean duration"],
  cycles_min: ["Cycles min", "cycles", "Shortest one"],
  cycles_max: ["Cycles max", "cycles", "Longest one"],
  stall_cycles_mean: ["Stall cycles mean", "cycles", "Mean stall of the instructions in it"],
  longer_share: ["Longer share", "", "Of its executions: longer than the median iteration of the same wave"],
};

/** The loops of a trace, outer ones before inner ones. */
export interface LoopsAnswer {
  definition: string;
  loops: Frame<LoopsRow>;
  iterations: Frame<LoopsIterationsRow>;
  /** Loops beyond the thousand that were gone round most often. */
  left_out_count: number;
  /** Latency and idle of rows in no loop, of the whole trace. */
  outside_cycles_share: number;
}

/** One row is one memory operation that some wait drained; largest total latency first. */
export interface MemoryLatencyByRowRow {
  /** Code row */
  row: number;
  /** What it is */
  kind: string;
  /** Bytes of one lane (scalar: of the wave); empty = not in the text [bytes] */
  bytes_per_lane: number | null;
  /** By one execution, all lanes active; empty = not known [bytes] */
  requested_bytes: number | null;
  /** Executions whose wait is known */
  sample_count: number;
  /** Of them those that ended their wait: their latency is exact */
  tight_count: number;
  /** Mean time from issue to the end of the wait; may be a bound [cycles] */
  latency_cycles_mean: number;
  /** Sample standard deviation of the same; empty = one sample [cycles] */
  latency_cycles_sd: number | null;
  /** Shortest latency [cycles] */
  latency_cycles_min: number;
  /** Median latency [cycles] */
  latency_cycles_p50: number;
  /** Latency that 95 % of the samples do not exceed [cycles] */
  latency_cycles_p95: number;
  /** Longest latency [cycles] */
  latency_cycles_max: number;
  /** No sample is tight: the numbers are upper bounds */
  is_bound: boolean;
  /** Mean over all samples: at most so long [cycles] */
  bound_cycles_mean: number;
  /** Of the same, in bins of bin_cycles from 0; the last has the rest */
  distribution: number[] | null;
  /** Address */
  address: string;
  /** Instruction */
  text: string;
  /** Source file */
  file: string | null;
  /** Source line */
  line: number | null;
}

export const MEMORY_LATENCY_BY_ROW: TableInfo<MemoryLatencyByRowRow> = {
  row: ["Row", "", "Code row"],
  kind: ["Kind", "", "What it is"],
  bytes_per_lane: ["Bytes per lane", "bytes", "Bytes of one lane (scalar: of the wave); empty = not in the text"],
  requested_bytes: ["Requested", "bytes", "By one execution, all lanes active; empty = not known"],
  sample_count: ["Samples", "", "Executions whose wait is known"],
  tight_count: ["Tight", "", "Of them those that ended their wait: their latency is exact"],
  latency_cycles_mean: ["Latency cycles mean", "cycles", "Mean time from issue to the end of the wait; may be a bound"],
  latency_cycles_sd: ["Latency cycles sd", "cycles", "Sample standard deviation of the same; empty = one sample"],
  latency_cycles_min: ["Latency cycles min", "cycles", "Shortest latency"],
  latency_cycles_p50: ["Latency cycles p50", "cycles", "Median latency"],
  latency_cycles_p95: ["Latency cycles p95", "cycles", "Latency that 95 % of the samples do not exceed"],
  latency_cycles_max: ["Latency cycles max", "cycles", "Longest latency"],
  is_bound: ["Bound", "", "No sample is tight: the numbers are upper bounds"],
  bound_cycles_mean: ["Bound cycles mean", "cycles", "Mean over all samples: at most so long"],
  distribution: ["Distribution", "", "Of the same, in bins of bin_cycles from 0; the last has the rest"],
  address: ["Address", "", "Address"],
  text: ["Text", "", "Instruction"],
  file: ["File", "", "Source file"],
  line: ["Line", "", "Source line"],
};

/** One row is one memory operation, from the level counters in the trace (SQ_INST_LEVEL_VMEM, SQ_INST_LEVEL_LDS). */
export interface MemoryLatencyFromCountersRow {
  /** Code row */
  row: number;
  /** Which counter */
  counter: string;
  /** Executions whose end was seen */
  sample_count: number;
  /** Mean time from issue to the first counter sample by which it was done [cycles] */
  latency_cycles_mean: number;
  /** Sample standard deviation; 0 for one sample [cycles] */
  latency_cycles_sd: number | null;
  /** Sqrt(sd^2 + interval^2 / 3) / sqrt(n - 1.5); n = 1: / 0.1 [cycles] */
  error_cycles: number | null;
  /** Stall before the issue, per sample [cycles] */
  stall_cycles_mean: number | null;
  /** Issue, per sample [cycles] */
  issue_cycles_mean: number | null;
  /** Address */
  address: string;
  /** Instruction */
  text: string;
  /** Source file */
  file: string | null;
  /** Source line */
  line: number | null;
}

export const MEMORY_LATENCY_FROM_COUNTERS: TableInfo<MemoryLatencyFromCountersRow> = {
  row: ["Row", "", "Code row"],
  counter: ["Counter", "", "Which counter"],
  sample_count: ["Samples", "", "Executions whose end was seen"],
  latency_cycles_mean: ["Latency cycles mean", "cycles", "Mean time from issue to the first counter sample by which it was done"],
  latency_cycles_sd: ["Latency cycles sd", "cycles", "Sample standard deviation; 0 for one sample"],
  error_cycles: ["Error cycles", "cycles", "Sqrt(sd^2 + interval^2 / 3) / sqrt(n - 1.5); n = 1: / 0.1"],
  stall_cycles_mean: ["Stall cycles mean", "cycles", "Stall before the issue, per sample"],
  issue_cycles_mean: ["Issue cycles mean", "cycles", "Issue, per sample"],
  address: ["Address", "", "Address"],
  text: ["Text", "", "Instruction"],
  file: ["File", "", "Source file"],
  line: ["Line", "", "Source line"],
};

/** One row is one part of the waves' time, and how much of it was hidden by other work on the same SIMD (`analysis.trace.costs.row_costs`). */
export interface MemoryLatencyExposureRow {
  /** Stall, issue or idle */
  part: string;
  /** Of all code rows that were asked about [cycles] */
  cycles_total: number;
  /** Hidden by other waves [cycles] */
  hidden_cycles_total: number;
  /** Not hidden by other waves [cycles] */
  exposed_cycles_total: number;
  /** Exposed cycles of this part */
  exposed_share: number | null;
}

export const MEMORY_LATENCY_EXPOSURE: TableInfo<MemoryLatencyExposureRow> = {
  part: ["Part", "", "Stall, issue or idle"],
  cycles_total: ["Cycles", "cycles", "Of all code rows that were asked about"],
  hidden_cycles_total: ["Hidden cycles", "cycles", "Hidden by other waves"],
  exposed_cycles_total: ["Exposed cycles", "cycles", "Not hidden by other waves"],
  exposed_share: ["Exposed share", "", "Exposed cycles of this part"],
};

/** One row is one width of accesses to one memory in one direction; most requested bytes first. */
export interface MemoryLatencyTrafficRow {
  /** Memory (global and buffer), flat, scratch, lds or scalar */
  space: string;
  /** Load, store, atomic or load to LDS */
  direction: string;
  /** Bytes of one lane, of the wave where scalar; empty = not in the text [bytes] */
  bytes_per_lane: number | null;
  /** Instructions in the code that were executed */
  row_count: number;
  /** Their executions */
  execution_count: number;
  /** Bytes that they request if all lanes are active; empty = not known [bytes] */
  requested_bytes_total: number | null;
  /** The same / waves with instructions; empty = not known [bytes] */
  requested_bytes_per_wave: number | null;
  /** The same / cycles of the traced CUs; empty = not known [bytes] */
  requested_bytes_per_cycle: number | null;
}

export const MEMORY_LATENCY_TRAFFIC: TableInfo<MemoryLatencyTrafficRow> = {
  space: ["Space", "", "Memory (global and buffer), flat, scratch, lds or scalar"],
  direction: ["Direction", "", "Load, store, atomic or load to LDS"],
  bytes_per_lane: ["Bytes per lane", "bytes", "Bytes of one lane, of the wave where scalar; empty = not in the text"],
  row_count: ["Rows", "", "Instructions in the code that were executed"],
  execution_count: ["Executions", "", "Their executions"],
  requested_bytes_total: ["Requested", "bytes", "Bytes that they request if all lanes are active; empty = not known"],
  requested_bytes_per_wave: ["Requested per wave", "bytes", "The same / waves with instructions; empty = not known"],
  requested_bytes_per_cycle: ["Requested per cycle", "bytes", "The same / cycles of the traced CUs; empty = not known"],
};

/** One row is accesses of one basic block to consecutive offsets of the same address; most first. */
export interface MemoryLatencyNeighboursRow {
  /** Code row of the first of them in the code */
  first_row: number;
  /** Its address */
  address: string;
  /** Their mnemonic */
  mnemonic: string;
  /** Memory, flat, scratch or lds */
  space: string;
  /** Load or store */
  direction: string;
  /** Bytes per lane of each [bytes] */
  bytes_per_lane: number;
  /** How many there are */
  access_count: number;
  /** Accesses of up to 16 bytes per lane that would move the same bytes, if aligned */
  wide_count: number;
}

export const MEMORY_LATENCY_NEIGHBOURS: TableInfo<MemoryLatencyNeighboursRow> = {
  first_row: ["First row", "", "Code row of the first of them in the code"],
  address: ["Address", "", "Its address"],
  mnemonic: ["Mnemonic", "", "Their mnemonic"],
  space: ["Space", "", "Memory, flat, scratch or lds"],
  direction: ["Direction", "", "Load or store"],
  bytes_per_lane: ["Bytes per lane", "bytes", "Bytes per lane of each"],
  access_count: ["Accesses", "", "How many there are"],
  wide_count: ["Wides", "", "Accesses of up to 16 bytes per lane that would move the same bytes, if aligned"],
};

/** Latency of every memory operation, from waits and from counters. */
export interface MemoryLatencyAnswer {
  definition: string;
  by_row: Frame<MemoryLatencyByRowRow>;
  from_counters: Frame<MemoryLatencyFromCountersRow>;
  exposure: Frame<MemoryLatencyExposureRow>;
  traffic: Frame<MemoryLatencyTrafficRow>;
  neighbours: Frame<MemoryLatencyNeighboursRow>;
  /** Lanes of a wave; None = not known. */
  lane_count: number | null;
  /** Cycles of the traced CUs, that of `requested_bytes_per_cycle`. */
  cu_cycles: number;
  /** What `requested_bytes_per_cycle` is of: a CU (gfx9), or the traced SIMD of a WGP (RDNA). */
  traced_unit: string;
  /** GPU of the trace, as recorded. */
  target: string | null;
  /** Width of the bins of `distribution`. */
  bin_cycles: number;
  /** Sampling interval of the counters; 0 = the trace has none of them. */
  counter_interval_cycles: number;
}

/** One row is one kernel whose waves were seen, or that was asked about. */
export interface OccupancyLimitsKernelsRow {
  /** Number of the kernel; empty = waves whose kernel is not known */
  kernel: number | null;
  /** Demangled name */
  name: string;
  /** Vector registers per lane; empty = not known, here and below */
  vgprs: number | null;
  /** Accumulation registers per lane */
  agprs: number | null;
  /** Scalar registers per wave */
  sgprs: number | null;
  /** LDS per workgroup [bytes] */
  lds_bytes: number | null;
  /** Work-items per workgroup [lanes] */
  workgroup_size: number | null;
  /** 32 or 64 [lanes] */
  wave_size: number | null;
  /** Who knows them: code, metadata, dispatch, options, nothing; or two */
  registers_from: string;
  /** Theoretical occupancy: waves of this kernel that fit on a SIMD [waves] */
  waves_per_simd_limit: number | null;
  /** Limiter that binds: VGPR, LDS, SGPR, workgroup or hardware */
  bound_by: string | null;
  /** What the next step reaches; empty = none [waves] */
  next_waves_per_simd: number | null;
  /** Most waves of this kernel seen on one SIMD at a time [waves] */
  waves_per_simd_max: number | null;
  /** Wave cycles over the cycles of the SIMDs that held its waves [waves] */
  waves_per_simd_mean: number | null;
  /** waves_per_simd_mean over waves_per_simd_limit */
  limit_share: number | null;
  /** Waves of this kernel on all CUs of the traced shader engines [waves] */
  wave_count: number | null;
  /** Share of its time after its last wave started */
  drain_share: number | null;
  /** Whether no wave had to wait for another to leave: the grid is the limit */
  all_at_once: boolean | null;
}

export const OCCUPANCY_LIMITS_KERNELS: TableInfo<OccupancyLimitsKernelsRow> = {
  kernel: ["Kernel", "", "Number of the kernel; empty = waves whose kernel is not known"],
  name: ["Name", "", "Demangled name"],
  vgprs: ["VGPRs", "", "Vector registers per lane; empty = not known, here and below"],
  agprs: ["AGPRs", "", "Accumulation registers per lane"],
  sgprs: ["SGPRs", "", "Scalar registers per wave"],
  lds_bytes: ["LDS", "bytes", "LDS per workgroup"],
  workgroup_size: ["Workgroup size", "lanes", "Work-items per workgroup"],
  wave_size: ["Wave size", "lanes", "32 or 64"],
  registers_from: ["Registers from", "", "Who knows them: code, metadata, dispatch, options, nothing; or two"],
  waves_per_simd_limit: ["Waves per SIMD limit", "waves", "Theoretical occupancy: waves of this kernel that fit on a SIMD"],
  bound_by: ["Bound by", "", "Limiter that binds: VGPR, LDS, SGPR, workgroup or hardware"],
  next_waves_per_simd: ["Next waves per SIMD", "waves", "What the next step reaches; empty = none"],
  waves_per_simd_max: ["Waves per SIMD max", "waves", "Most waves of this kernel seen on one SIMD at a time"],
  waves_per_simd_mean: ["Waves per SIMD mean", "waves", "Wave cycles over the cycles of the SIMDs that held its waves"],
  limit_share: ["Limit share", "", "waves_per_simd_mean over waves_per_simd_limit"],
  wave_count: ["Waves", "waves", "Waves of this kernel on all CUs of the traced shader engines"],
  drain_share: ["Drain share", "", "Share of its time after its last wave started"],
  all_at_once: ["All at once", "", "Whether no wave had to wait for another to leave: the grid is the limit"],
};

/** One row is what one resource allows one kernel. */
export interface OccupancyLimitsLimitersRow {
  /** Number of the kernel */
  kernel: number | null;
  /** VGPR, LDS, SGPR, workgroup (whole workgroups, barriers) or hardware */
  limiter: string;
  /** Waves per SIMD that it allows, not above the hardware's maximum [waves] */
  waves_per_simd: number;
  /** What a wave (registers) or a workgroup (LDS, waves) asks for */
  used: number;
  /** Rounded up to the granule */
  allocated: number;
  /** What a SIMD (registers) or a CU or WGP (LDS, workgroups) has */
  available: number;
  /** Registers, bytes or waves */
  unit: string;
  /** Whether it allows no more waves than fit; several may */
  is_binding: boolean;
  /** Has to come down to this for the next step; empty = is no obstacle to it */
  next_at_most: number | null;
}

export const OCCUPANCY_LIMITS_LIMITERS: TableInfo<OccupancyLimitsLimitersRow> = {
  kernel: ["Kernel", "", "Number of the kernel"],
  limiter: ["Limiter", "", "VGPR, LDS, SGPR, workgroup (whole workgroups, barriers) or hardware"],
  waves_per_simd: ["Waves per SIMD", "waves", "Waves per SIMD that it allows, not above the hardware's maximum"],
  used: ["Used", "", "What a wave (registers) or a workgroup (LDS, waves) asks for"],
  allocated: ["Allocated", "", "Rounded up to the granule"],
  available: ["Available", "", "What a SIMD (registers) or a CU or WGP (LDS, workgroups) has"],
  unit: ["Unit", "", "Registers, bytes or waves"],
  is_binding: ["Binding", "", "Whether it allows no more waves than fit; several may"],
  next_at_most: ["Next at most", "", "Has to come down to this for the next step; empty = is no obstacle to it"],
};

/** One row is how many waves of one kernel fit with at most so much of one resource, all others as they are. */
export interface OccupancyLimitsAmountsRow {
  /** Number of the kernel */
  kernel: number | null;
  /** VGPR (with accumulation registers) or LDS */
  limiter: string;
  /** Registers per wave, or bytes of LDS per workgroup */
  at_most: number;
  /** Waves per SIMD that fit then [waves] */
  waves_per_simd: number;
}

export const OCCUPANCY_LIMITS_AMOUNTS: TableInfo<OccupancyLimitsAmountsRow> = {
  kernel: ["Kernel", "", "Number of the kernel"],
  limiter: ["Limiter", "", "VGPR (with accumulation registers) or LDS"],
  at_most: ["At most", "", "Registers per wave, or bytes of LDS per workgroup"],
  waves_per_simd: ["Waves per SIMD", "waves", "Waves per SIMD that fit then"],
};

/** One row is one traced shader engine. */
export interface OccupancyLimitsEnginesRow {
  /** Shader engine */
  se: number;
  /** Start of the first wave [cycles] */
  start_cycles: number;
  /** End of the last wave [cycles] */
  end_cycles: number;
  /** SIMDs that held waves */
  simd_count: number;
  /** Waves on all its CUs [waves] */
  wave_count: number;
  /** Most waves on one SIMD at a time [waves] */
  waves_per_simd_max: number;
  /** Wave cycles over time and simd_count [waves] */
  waves_per_simd_mean: number;
  /** Share of the time after the last wave started */
  drain_share: number | null;
}

export const OCCUPANCY_LIMITS_ENGINES: TableInfo<OccupancyLimitsEnginesRow> = {
  se: ["SE", "", "Shader engine"],
  start_cycles: ["Start cycles", "cycles", "Start of the first wave"],
  end_cycles: ["End cycles", "cycles", "End of the last wave"],
  simd_count: ["SIMDs", "", "SIMDs that held waves"],
  wave_count: ["Waves", "waves", "Waves on all its CUs"],
  waves_per_simd_max: ["Waves per SIMD max", "waves", "Most waves on one SIMD at a time"],
  waves_per_simd_mean: ["Waves per SIMD mean", "waves", "Wave cycles over time and simd_count"],
  drain_share: ["Drain share", "", "Share of the time after the last wave started"],
};

/** Theoretical and achieved occupancy of the kernels of a trace. */
export interface OccupancyLimitsAnswer {
  definition: string;
  target: string;
  target_origin: string;
  target_is_certain: boolean;
  /** CU or WGP: whose SIMDs share the LDS and run a workgroup. */
  lds_shared_by: string;
  kernels: Frame<OccupancyLimitsKernelsRow>;
  limiters: Frame<OccupancyLimitsLimitersRow>;
  amounts: Frame<OccupancyLimitsAmountsRow>;
  engines: Frame<OccupancyLimitsEnginesRow>;
  /** What to know before trusting the numbers. */
  notes: string[];
}

/** One row is one unit (instruction, line, ...). */
export interface SampleHotspotsUnitsRow {
  /** Its name; empty = rows that belong to none */
  unit: string | null;
  /** First sampled code row in it */
  first_row: number;
  /** Address of that row */
  address: string;
  /** Instruction of its most sampled row */
  text: string;
  /** Source file of its most sampled row, as attributed */
  file: string | null;
  /** Source line of its most sampled row */
  line: number | null;
  /** Sampled code rows in it */
  row_count: number;
  /** How often waves were sampled here */
  sample_count: number;
  /** Samples in which the instruction was issued */
  issued_count: number;
  /** Samples in which it was not issued */
  stalled_count: number;
  /** Samples of a method that does not tell */
  unknown_count: number;
  /** Of all samples */
  sample_share: number;
  /** Most frequent reason of stalls; empty = none */
  reason: string | null;
  /** Samples with that reason */
  reason_count: number | null;
}

export const SAMPLE_HOTSPOTS_UNITS: TableInfo<SampleHotspotsUnitsRow> = {
  unit: ["Unit", "", "Its name; empty = rows that belong to none"],
  first_row: ["First row", "", "First sampled code row in it"],
  address: ["Address", "", "Address of that row"],
  text: ["Text", "", "Instruction of its most sampled row"],
  file: ["File", "", "Source file of its most sampled row, as attributed"],
  line: ["Line", "", "Source line of its most sampled row"],
  row_count: ["Rows", "", "Sampled code rows in it"],
  sample_count: ["Samples", "", "How often waves were sampled here"],
  issued_count: ["Issued", "", "Samples in which the instruction was issued"],
  stalled_count: ["Stalled", "", "Samples in which it was not issued"],
  unknown_count: ["Unknowns", "", "Samples of a method that does not tell"],
  sample_share: ["Sample share", "", "Of all samples"],
  reason: ["Reason", "", "Most frequent reason of stalls; empty = none"],
  reason_count: ["Reasons", "", "Samples with that reason"],
};

/** One row is one reason of stalls, the most frequent first. */
export interface SampleHotspotsReasonsRow {
  /** Why */
  reason: string;
  /** Samples */
  count: number;
  /** Of all samples */
  share: number;
}

export const SAMPLE_HOTSPOTS_REASONS: TableInfo<SampleHotspotsReasonsRow> = {
  reason: ["Reason", "", "Why"],
  count: ["Count", "", "Samples"],
  share: ["Share", "", "Of all samples"],
};

/** PC samples of units of the code, the most frequent first. */
export interface SampleHotspotsAnswer {
  definition: string;
  by: string;
  attribution: string;
  sample_count: number;
  issued_count: number;
  stalled_count: number;
  unknown_count: number;
  reasons: Frame<SampleHotspotsReasonsRow>;
  units: Frame<SampleHotspotsUnitsRow>;
}

/** One row is one class of stalls; largest first. */
export interface StallsClassesRow {
  /** What was stalled on */
  class: string;
  /** Wait, issue, busy, padding or sync */
  kind: string;
  /** Stall of all executions of this class [cycles] */
  stall_cycles_total: number;
  /** Of all stall cycles that were asked about */
  stall_share: number;
  /** Of them those that no other wave hid (exposure); PC unknown: all [cycles] */
  exposed_stall_cycles_total: number;
  /** Executions */
  execution_count: number;
  /** Executions that stalled */
  stalled_count: number;
  /** Sum of durations [cycles] */
  latency_cycles_total: number;
  /** Code rows */
  row_count: number;
  /** The code row with the largest stall of this class */
  top_row: number;
  /** Its share of the class's stall */
  top_row_share: number | null;
  /** What the class means */
  meaning: string;
  /** What helps; empty = nothing in general */
  remedy: string;
}

export const STALLS_CLASSES: TableInfo<StallsClassesRow> = {
  class: ["Class", "", "What was stalled on"],
  kind: ["Kind", "", "Wait, issue, busy, padding or sync"],
  stall_cycles_total: ["Stall cycles", "cycles", "Stall of all executions of this class"],
  stall_share: ["Stall share", "", "Of all stall cycles that were asked about"],
  exposed_stall_cycles_total: ["Exposed stall cycles", "cycles", "Of them those that no other wave hid (exposure); PC unknown: all"],
  execution_count: ["Executions", "", "Executions"],
  stalled_count: ["Stalled", "", "Executions that stalled"],
  latency_cycles_total: ["Latency cycles", "cycles", "Sum of durations"],
  row_count: ["Rows", "", "Code rows"],
  top_row: ["Top row", "", "The code row with the largest stall of this class"],
  top_row_share: ["Top row share", "", "Its share of the class's stall"],
  meaning: ["Meaning", "", "What the class means"],
  remedy: ["Remedy", "", "What helps; empty = nothing in general"],
};

/** One row is idle cycles (before the first attempt to issue; not part of any stall) by their cause. */
export interface StallsIdleRow {
  /** Start-up, cold or other instruction fetch, dependency gap, store drain */
  part: string;
  /** Time before the first attempt to issue [cycles] */
  idle_cycles_total: number;
  /** Of all idle cycles that were asked about */
  idle_share: number;
}

export const STALLS_IDLE: TableInfo<StallsIdleRow> = {
  part: ["Part", "", "Start-up, cold or other instruction fetch, dependency gap, store drain"],
  idle_cycles_total: ["Idle cycles", "cycles", "Time before the first attempt to issue"],
  idle_share: ["Idle share", "", "Of all idle cycles that were asked about"],
};

/** Stall cycles by class, and by code row and class. */
export interface StallsAnswer {
  definition: string;
  classes: Frame<StallsClassesRow>;
  idle: Frame<StallsIdleRow>;
  stall_cycles_total: number;
  exposed_stall_cycles_total: number;
  latency_cycles_total: number;
  idle_cycles_total: number;
  /** Of the issue cycles those in which `s_endpgm` waited for stores: store drain, too. */
  ending_cycles_total: number;
  /** Executed waits. */
  wait_count: number;
  /** Waits among them with unknown producers. */
  unresolved_wait_count: number;
}

/** One row is one code row and one class of its stalls; largest stall first. */
export interface StallRowsRow {
  /** Code row; -1 = instructions without a known PC */
  row: number;
  /** What it stalled on */
  class: string;
  /** Wait, issue, busy, padding or sync */
  kind: string;
  /** Stall of all executions of this class [cycles] */
  stall_cycles_total: number;
  /** Of all stall cycles that were asked about */
  stall_share: number;
  /** Of them those that no other wave hid (exposure); PC unknown: all [cycles] */
  exposed_stall_cycles_total: number;
  /** Executions of this class */
  execution_count: number;
  /** Executions that stalled (a wait: longer than its issue slot) */
  stalled_count: number;
  /** Sum of durations [cycles] */
  latency_cycles_total: number;
  /** Instruction */
  text: string;
  /** Source file */
  file: string | null;
  /** Source line */
  line: number | null;
}

export const STALL_ROWS: TableInfo<StallRowsRow> = {
  row: ["Row", "", "Code row; -1 = instructions without a known PC"],
  class: ["Class", "", "What it stalled on"],
  kind: ["Kind", "", "Wait, issue, busy, padding or sync"],
  stall_cycles_total: ["Stall cycles", "cycles", "Stall of all executions of this class"],
  stall_share: ["Stall share", "", "Of all stall cycles that were asked about"],
  exposed_stall_cycles_total: ["Exposed stall cycles", "cycles", "Of them those that no other wave hid (exposure); PC unknown: all"],
  execution_count: ["Executions", "", "Executions of this class"],
  stalled_count: ["Stalled", "", "Executions that stalled (a wait: longer than its issue slot)"],
  latency_cycles_total: ["Latency cycles", "cycles", "Sum of durations"],
  text: ["Text", "", "Instruction"],
  file: ["File", "", "Source file"],
  line: ["Line", "", "Source line"],
};

/** One row is one kernel or function that waves of this trace entered. */
export interface SummaryKernelsRow {
  /** Number of the kernel in this trace */
  kernel: number;
  /** Symbol as in the code object; <code object> / 0x<address> when unknown */
  name: string;
  /** C++ signature; equal to name when the name is not mangled */
  demangled: string;
  /** Vector registers per lane; empty = not known, here and below */
  vgprs: number | null;
  /** Accumulation vector registers per lane */
  agprs: number | null;
  /** Scalar registers per wave */
  sgprs: number | null;
  /** LDS per workgroup: as dispatched where that is known, else the static part [bytes] */
  lds_bytes: number | null;
  /** Private segment per lane [bytes] */
  scratch_bytes: number | null;
  /** Kernel argument segment [bytes] */
  kernarg_bytes: number;
  /** 32 or 64 [lanes] */
  wave_size: number | null;
  /** Largest flat workgroup size the kernel was compiled for [lanes] */
  workgroup_size_max: number;
  /** Work-items per workgroup as dispatched [lanes] */
  workgroup_size: number | null;
  /** Who says so: a file beside the trace, or the code object of the capture */
  resource_origin: string | null;
}

export const SUMMARY_KERNELS: TableInfo<SummaryKernelsRow> = {
  kernel: ["Kernel", "", "Number of the kernel in this trace"],
  name: ["Name", "", "Symbol as in the code object; <code object> / 0x<address> when unknown"],
  demangled: ["Demangled", "", "C++ signature; equal to name when the name is not mangled"],
  vgprs: ["VGPRs", "", "Vector registers per lane; empty = not known, here and below"],
  agprs: ["AGPRs", "", "Accumulation vector registers per lane"],
  sgprs: ["SGPRs", "", "Scalar registers per wave"],
  lds_bytes: ["LDS", "bytes", "LDS per workgroup: as dispatched where that is known, else the static part"],
  scratch_bytes: ["Scratch", "bytes", "Private segment per lane"],
  kernarg_bytes: ["Kernarg", "bytes", "Kernel argument segment"],
  wave_size: ["Wave size", "lanes", "32 or 64"],
  workgroup_size_max: ["Workgroup size max", "lanes", "Largest flat workgroup size the kernel was compiled for"],
  workgroup_size: ["Workgroup size", "lanes", "Work-items per workgroup as dispatched"],
  resource_origin: ["Resource origin", "", "Who says so: a file beside the trace, or the code object of the capture"],
};

/** One row is one state. */
export interface SummaryStatesRow {
  /** IDLE, EXEC, WAIT, STALL (EMPTY: not yet or no longer there) */
  state: string;
  /** Wave-cycles in the state [cycles] */
  cycles_total: number;
  /** Of the wave-cycles of the group */
  share: number;
}

export const SUMMARY_STATES: TableInfo<SummaryStatesRow> = {
  state: ["State", "", "IDLE, EXEC, WAIT, STALL (EMPTY: not yet or no longer there)"],
  cycles_total: ["Cycles", "cycles", "Wave-cycles in the state"],
  share: ["Share", "", "Of the wave-cycles of the group"],
};

/** One row is one pipe, over all SIMDs. */
export interface SummaryPipesRow {
  /** Pipe */
  pipe: string;
  /** Instructions that issue to it */
  issue_count: number;
  /** Cycles in which an instruction issues to it, added up over SIMDs [cycles] */
  issue_cycles_total: number;
  /** Of the traced span of these SIMDs */
  issue_share: number | null;
  /** Cycles in which an instruction occupies it, for all its passes [cycles] */
  busy_cycles_total: number;
  /** Of the traced span of these SIMDs */
  busy_share: number | null;
  /** Cycles in which a wave is between its first and its last instruction for the pipe [cycles] */
  phase_cycles_total: number;
  /** Of these cycles */
  phase_busy_share: number | null;
}

export const SUMMARY_PIPES: TableInfo<SummaryPipesRow> = {
  pipe: ["Pipe", "", "Pipe"],
  issue_count: ["Issues", "", "Instructions that issue to it"],
  issue_cycles_total: ["Issue cycles", "cycles", "Cycles in which an instruction issues to it, added up over SIMDs"],
  issue_share: ["Issue share", "", "Of the traced span of these SIMDs"],
  busy_cycles_total: ["Busy cycles", "cycles", "Cycles in which an instruction occupies it, for all its passes"],
  busy_share: ["Busy share", "", "Of the traced span of these SIMDs"],
  phase_cycles_total: ["Phase cycles", "cycles", "Cycles in which a wave is between its first and its last instruction for the pipe"],
  phase_busy_share: ["Phase busy share", "", "Of these cycles"],
};

/** One row is one counter. */
export interface SummaryTotalsRow {
  /** Counter */
  name: string;
  /** Samples written; samples of nothing but zeros are not */
  sample_count: number;
  /** Sum of the samples: total events; of a level use value_mean */
  value_total: number;
  /** Mean of the samples */
  value_mean: number;
  /** Largest sample */
  value_max: number;
}

export const SUMMARY_TOTALS: TableInfo<SummaryTotalsRow> = {
  name: ["Name", "", "Counter"],
  sample_count: ["Samples", "", "Samples written; samples of nothing but zeros are not"],
  value_total: ["Value", "", "Sum of the samples: total events; of a level use value_mean"],
  value_mean: ["Value mean", "", "Mean of the samples"],
  value_max: ["Value max", "", "Largest sample"],
};

/** One row is one counter of one CU. */
export interface SummaryByCuRow {
  /** Counter */
  name: string;
  /** Shader engine */
  se: number;
  /** CU */
  cu: number;
  /** Samples written; samples of nothing but zeros are not */
  sample_count: number;
  /** Sum of the samples: total events; of a level use value_mean */
  value_total: number;
  /** Mean of the samples */
  value_mean: number;
  /** Largest sample */
  value_max: number;
}

export const SUMMARY_BY_CU: TableInfo<SummaryByCuRow> = {
  name: ["Name", "", "Counter"],
  se: ["SE", "", "Shader engine"],
  cu: ["CU", "", "CU"],
  sample_count: ["Samples", "", "Samples written; samples of nothing but zeros are not"],
  value_total: ["Value", "", "Sum of the samples: total events; of a level use value_mean"],
  value_mean: ["Value mean", "", "Mean of the samples"],
  value_max: ["Value max", "", "Largest sample"],
};

/** One row is one part of the hardware. */
export interface SummaryHardwareRow {
  /** MFMA, VALU, LDS, VMEM, FLAT, SCA (scalar) or MISC */
  unit: string;
  /** Of the cycles in which CUs were busy; VALU can exceed 1 (two issues at once) */
  share: number;
  /** Largest sum over CUs at one time / largest sum of busy cycles at one time */
  peak_share: number;
}

export const SUMMARY_HARDWARE: TableInfo<SummaryHardwareRow> = {
  unit: ["Unit", "", "MFMA, VALU, LDS, VMEM, FLAT, SCA (scalar) or MISC"],
  share: ["Share", "", "Of the cycles in which CUs were busy; VALU can exceed 1 (two issues at once)"],
  peak_share: ["Peak share", "", "Largest sum over CUs at one time / largest sum of busy cycles at one time"],
};

/** One row is one part of the hardware of one CU. */
export interface SummaryHardwareByCuRow {
  /** As in hardware */
  unit: string;
  /** Shader engine */
  se: number;
  /** CU */
  cu: number;
  /** Of the busy cycles of the CU */
  share: number;
}

export const SUMMARY_HARDWARE_BY_CU: TableInfo<SummaryHardwareByCuRow> = {
  unit: ["Unit", "", "As in hardware"],
  se: ["SE", "", "Shader engine"],
  cu: ["CU", "", "CU"],
  share: ["Share", "", "Of the busy cycles of the CU"],
};

/** One row is one pipe of one shader engine. */
export interface UtilizationByEngineRow {
  /** Shader engine */
  se: number;
  /** Pipe */
  pipe: string;
  /** Instructions that issue to it */
  issue_count: number;
  /** Cycles in which an instruction issues to it, added up over SIMDs [cycles] */
  issue_cycles_total: number;
  /** Of the traced span of these SIMDs */
  issue_share: number | null;
  /** Cycles in which an instruction occupies it, for all its passes [cycles] */
  busy_cycles_total: number;
  /** Of the traced span of these SIMDs */
  busy_share: number | null;
  /** Cycles in which a wave is between its first and its last instruction for the pipe [cycles] */
  phase_cycles_total: number;
  /** Of these cycles */
  phase_busy_share: number | null;
}

export const UTILIZATION_BY_ENGINE: TableInfo<UtilizationByEngineRow> = {
  se: ["SE", "", "Shader engine"],
  pipe: ["Pipe", "", "Pipe"],
  issue_count: ["Issues", "", "Instructions that issue to it"],
  issue_cycles_total: ["Issue cycles", "cycles", "Cycles in which an instruction issues to it, added up over SIMDs"],
  issue_share: ["Issue share", "", "Of the traced span of these SIMDs"],
  busy_cycles_total: ["Busy cycles", "cycles", "Cycles in which an instruction occupies it, for all its passes"],
  busy_share: ["Busy share", "", "Of the traced span of these SIMDs"],
  phase_cycles_total: ["Phase cycles", "cycles", "Cycles in which a wave is between its first and its last instruction for the pipe"],
  phase_busy_share: ["Phase busy share", "", "Of these cycles"],
};

/** One row is one shader engine. */
export interface UtilizationBubblesRow {
  /** Shader engine */
  se: number;
  /** SIMDs with traced waves */
  simd_count: number;
  /** From the first start to the last end of the waves of a SIMD, over SIMDs [cycles] */
  span_cycles_total: number;
  /** Cycles with at least one traced wave, over SIMDs [cycles] */
  resident_cycles_total: number;
  /** Cycles in which any pipe issues [cycles] */
  issue_cycles_total: number;
  /** Cycles with a traced wave in which no pipe issues [cycles] */
  bubble_cycles_total: number;
  /** Of the resident cycles */
  bubble_share: number | null;
}

export const UTILIZATION_BUBBLES: TableInfo<UtilizationBubblesRow> = {
  se: ["SE", "", "Shader engine"],
  simd_count: ["SIMDs", "", "SIMDs with traced waves"],
  span_cycles_total: ["Span cycles", "cycles", "From the first start to the last end of the waves of a SIMD, over SIMDs"],
  resident_cycles_total: ["Resident cycles", "cycles", "Cycles with at least one traced wave, over SIMDs"],
  issue_cycles_total: ["Issue cycles", "cycles", "Cycles in which any pipe issues"],
  bubble_cycles_total: ["Bubble cycles", "cycles", "Cycles with a traced wave in which no pipe issues"],
  bubble_share: ["Bubble share", "", "Of the resident cycles"],
};

/** Busy pipes and issue bubbles. */
export interface UtilizationAnswer {
  definition: string;
  pipes: Frame<SummaryPipesRow>;
  by_engine: Frame<UtilizationByEngineRow>;
  bubbles: Frame<UtilizationBubblesRow>;
  /** Over all shader engines; None = no waves. */
  bubble_share: number | null;
  /** VALU instructions for each matrix instruction; None = no matrix instructions. */
  valu_per_matrix: number | null;
  /** Start of the first bin, on the aligned clock. */
  start_cycles: number;
  end_cycles: number;
  bin_cycles: number;
  bin_count: number;
}

/** One row is one wait instruction; largest stall first. */
export interface WaitsRow {
  /** Code row of the wait */
  row: number;
  /** What most of its stall was for */
  class: string;
  /** Executions */
  execution_count: number;
  /** Executions that held the wave longer than an issue slot */
  stalled_count: number;
  /** Stall of the wait, over all its executions and all its producers [cycles] */
  stall_cycles_total: number;
  /** Of the stall of all waits that were asked about */
  stall_share: number;
  /** Mean stall of an execution [cycles] */
  stall_cycles_mean: number;
  /** Longest stall [cycles] */
  stall_cycles_max: number;
  /** Producer rows */
  producer_count: number;
  /** Address */
  address: string;
  /** Instruction */
  text: string;
  /** Source file */
  file: string | null;
  /** Source line */
  line: number | null;
  /** Stall that no other wave hid; empty = not known [cycles] */
  exposed_stall_cycles_total: number | null;
}

export const WAITS: TableInfo<WaitsRow> = {
  row: ["Row", "", "Code row of the wait"],
  class: ["Class", "", "What most of its stall was for"],
  execution_count: ["Executions", "", "Executions"],
  stalled_count: ["Stalled", "", "Executions that held the wave longer than an issue slot"],
  stall_cycles_total: ["Stall cycles", "cycles", "Stall of the wait, over all its executions and all its producers"],
  stall_share: ["Stall share", "", "Of the stall of all waits that were asked about"],
  stall_cycles_mean: ["Stall cycles mean", "cycles", "Mean stall of an execution"],
  stall_cycles_max: ["Stall cycles max", "cycles", "Longest stall"],
  producer_count: ["Producers", "", "Producer rows"],
  address: ["Address", "", "Address"],
  text: ["Text", "", "Instruction"],
  file: ["File", "", "Source file"],
  line: ["Line", "", "Source line"],
  exposed_stall_cycles_total: ["Exposed stall cycles", "cycles", "Stall that no other wave hid; empty = not known"],
};

/** One row is one producer of one wait, through one counter; in the order of `waits`, most frequent first. */
export interface WaitsProducersRow {
  /** Code row of the wait */
  row: number;
  /** Code row of the awaited instruction */
  producer_row: number;
  /** Hardware counter of the wait */
  counter: string;
  /** Times it was certainly awaited */
  count: number;
  /** Times it may have been awaited, but cannot be told from others */
  candidate_count: number;
  /** Count per execution of the wait; above 1: several at once */
  execution_share: number;
  /** Times it certainly was what ended the wait */
  last_count: number;
  /** Mean stall when it ended the wait: how much earlier to issue it [cycles] */
  last_stall_cycles_mean: number | null;
  /** How much earlier to never stall on it [cycles] */
  last_stall_cycles_max: number | null;
  /** Mean time from its issue to the first attempt of the wait [cycles] */
  distance_cycles_mean: number | null;
  /** Shortest [cycles] */
  distance_cycles_min: number;
  /** Longest [cycles] */
  distance_cycles_max: number;
  /** Mean number of instructions of the wave from it to the wait */
  distance_instructions_mean: number | null;
  /** Fewest */
  distance_instructions_min: number;
  /** Most */
  distance_instructions_max: number;
  /** Mean time from its issue to the end of the wait; done by then: start [cycles] */
  latency_cycles_mean: number | null;
  /** Shortest [cycles] */
  latency_cycles_min: number;
  /** Longest [cycles] */
  latency_cycles_max: number;
  /** Times the wait found it done */
  done_count: number;
  /** Then: distance minus the row's median tight latency; may be empty [cycles] */
  slack_cycles_mean: number | null;
  /** What the producer is */
  producer_kind: string;
  /** Address of the producer */
  producer_address: string;
  /** Instruction of the producer */
  producer_text: string;
  /** Source file of the producer */
  producer_file: string | null;
  /** Source line of the producer */
  producer_line: number | null;
}

export const WAITS_PRODUCERS: TableInfo<WaitsProducersRow> = {
  row: ["Row", "", "Code row of the wait"],
  producer_row: ["Producer row", "", "Code row of the awaited instruction"],
  counter: ["Counter", "", "Hardware counter of the wait"],
  count: ["Count", "", "Times it was certainly awaited"],
  candidate_count: ["Candidates", "", "Times it may have been awaited, but cannot be told from others"],
  execution_share: ["Execution share", "", "Count per execution of the wait; above 1: several at once"],
  last_count: ["Last", "", "Times it certainly was what ended the wait"],
  last_stall_cycles_mean: ["Last stall cycles mean", "cycles", "Mean stall when it ended the wait: how much earlier to issue it"],
  last_stall_cycles_max: ["Last stall cycles max", "cycles", "How much earlier to never stall on it"],
  distance_cycles_mean: ["Distance cycles mean", "cycles", "Mean time from its issue to the first attempt of the wait"],
  distance_cycles_min: ["Distance cycles min", "cycles", "Shortest"],
  distance_cycles_max: ["Distance cycles max", "cycles", "Longest"],
  distance_instructions_mean: ["Distance instructions mean", "", "Mean number of instructions of the wave from it to the wait"],
  distance_instructions_min: ["Distance instructions min", "", "Fewest"],
  distance_instructions_max: ["Distance instructions max", "", "Most"],
  latency_cycles_mean: ["Latency cycles mean", "cycles", "Mean time from its issue to the end of the wait; done by then: start"],
  latency_cycles_min: ["Latency cycles min", "cycles", "Shortest"],
  latency_cycles_max: ["Latency cycles max", "cycles", "Longest"],
  done_count: ["Done", "", "Times the wait found it done"],
  slack_cycles_mean: ["Slack cycles mean", "cycles", "Then: distance minus the row's median tight latency; may be empty"],
  producer_kind: ["Producer kind", "", "What the producer is"],
  producer_address: ["Producer address", "", "Address of the producer"],
  producer_text: ["Producer text", "", "Instruction of the producer"],
  producer_file: ["Producer file", "", "Source file of the producer"],
  producer_line: ["Producer line", "", "Source line of the producer"],
};

/** Every executed wait row, and its producers. */
export interface WaitsAnswer {
  definition: string;
  waits: Frame<WaitsRow>;
  producers: Frame<WaitsProducersRow>;
  /** Of all waits that were asked about. */
  stall_cycles_total: number;
  execution_count: number;
  stalled_count: number;
}

/** One row is one traced wave. */
export interface WavesRow {
  /** Number of the wave in this trace */
  wave: number;
  /** Shader engine */
  se: number;
  /** CU (gfx9) or WGP byte */
  cu: number;
  /** SIMD */
  simd: number;
  /** Wave slot in the SIMD */
  slot: number;
  /** Running number of the wave among those of its SE, SIMD and slot */
  slot_wave: number | null;
  /** Start, on the clock that all shader engines share [cycles] */
  start_cycles: number;
  /** End, on the clock that all shader engines share [cycles] */
  end_cycles: number;
  /** Number of the kernel; empty = entry not known */
  kernel: number | null;
  /** Micro engine that launched it */
  me: number | null;
  /** Pipe that launched it */
  pipe: number | null;
  /** gfx9: active work-items (as AMD's decoder reports it); RDNA4: workgroup id */
  workgroup: number | null;
  /** Whether the end of the wave was seen */
  complete: boolean;
  /** Index of its first row in instructions */
  first_instruction: number | null;
  /** Number of its rows in instructions */
  instruction_count: number | null;
  /** Stall of its instructions [cycles] */
  stall_cycles_total: number;
}

export const WAVES: TableInfo<WavesRow> = {
  wave: ["Wave", "", "Number of the wave in this trace"],
  se: ["SE", "", "Shader engine"],
  cu: ["CU", "", "CU (gfx9) or WGP byte"],
  simd: ["SIMD", "", "SIMD"],
  slot: ["Slot", "", "Wave slot in the SIMD"],
  slot_wave: ["Slot wave", "", "Running number of the wave among those of its SE, SIMD and slot"],
  start_cycles: ["Start cycles", "cycles", "Start, on the clock that all shader engines share"],
  end_cycles: ["End cycles", "cycles", "End, on the clock that all shader engines share"],
  kernel: ["Kernel", "", "Number of the kernel; empty = entry not known"],
  me: ["ME", "", "Micro engine that launched it"],
  pipe: ["Pipe", "", "Pipe that launched it"],
  workgroup: ["Workgroup", "", "gfx9: active work-items (as AMD's decoder reports it); RDNA4: workgroup id"],
  complete: ["Complete", "", "Whether the end of the wave was seen"],
  first_instruction: ["First instruction", "", "Index of its first row in instructions"],
  instruction_count: ["Instructions", "", "Number of its rows in instructions"],
  stall_cycles_total: ["Stall cycles", "cycles", "Stall of its instructions"],
};

/** One row is one name, that with most time first. */
export interface RunAreaNamesRow {
  /** kinds.kind of the timeline */
  kind: number;
  /** Kernel, kind of copy or allocation, function, marker */
  name: string;
  /** Events */
  event_count: number;
  /** Their time inside [ns] */
  total_ns: number;
  /** Of an event [ns] */
  mean_ns: number;
  /** Of the time of all names here */
  share: number;
  /** Longest time of an event inside [ns] */
  max_ns: number;
  /** Start of the first event, since the start of its node [ns] */
  first_ns: number;
  /** Number of the first event */
  first_item: number;
  /** Start of the longest event, since the start of its node [ns] */
  longest_ns: number;
  /** Number of the longest event */
  longest_item: number;
}

export const RUN_AREA_NAMES: TableInfo<RunAreaNamesRow> = {
  kind: ["Kind", "", "kinds.kind of the timeline"],
  name: ["Name", "", "Kernel, kind of copy or allocation, function, marker"],
  event_count: ["Events", "", "Events"],
  total_ns: ["Total", "ns", "Their time inside"],
  mean_ns: ["Mean", "ns", "Of an event"],
  share: ["Share", "", "Of the time of all names here"],
  max_ns: ["Max", "ns", "Longest time of an event inside"],
  first_ns: ["First", "ns", "Start of the first event, since the start of its node"],
  first_item: ["First item", "", "Number of the first event"],
  longest_ns: ["Longest", "ns", "Start of the longest event, since the start of its node"],
  longest_item: ["Longest item", "", "Number of the longest event"],
};

/** The events of some tracks in a window of time, by name. */
export interface RunAreaAnswer {
  definition: string;
  names: Frame<RunAreaNamesRow>;
  event_count: number;
  total_ns: number;
  track_count: number;
}

/** One row is one GPU that had work. */
export interface RunBusyGpusRow {
  /** Host name of the node, else the file */
  node: string;
  /** Number of the GPU on the node; empty = not recorded */
  gpu: number | null;
  /** gfx942, ... */
  target: string;
  /** Name of the product */
  product: string;
  /** Processes whose work it did */
  process_count: number;
  /** Dispatches */
  kernel_count: number;
  /** Copies from or to it */
  copy_count: number;
  /** Start, since the start of its node [ns] */
  begin: number;
  /** End, since the start of its node [ns] */
  end: number;
  /** Span of all GPU work of its node, or the time window [ns] */
  span_ns: number;
  /** Time that was recorded on its node, or the time window [ns] */
  wall_ns: number;
  /** With at least one dispatch or copy [ns] */
  busy_ns: number;
  /** Share of the span with work */
  busy_share: number;
  /** busy_ns / wall_ns */
  busy_wall_share: number;
  /** With at least one dispatch [ns] */
  kernel_busy_ns: number;
  /** kernel_busy_ns / span_ns */
  kernel_busy_share: number;
  /** With at least one copy [ns] */
  copy_busy_ns: number;
  /** copy_busy_ns / span_ns */
  copy_busy_share: number;
  /** Durations of dispatches and copies added up, overlaps included [ns] */
  duration_sum_ns: number;
  /** duration_sum_ns / span_ns: the busy figure of RPD */
  duration_sum_share: number;
  /** duration_sum_ns / busy_ns: work at the same time while busy */
  concurrency_mean: number;
}

export const RUN_BUSY_GPUS: TableInfo<RunBusyGpusRow> = {
  node: ["Node", "", "Host name of the node, else the file"],
  gpu: ["GPU", "", "Number of the GPU on the node; empty = not recorded"],
  target: ["Target", "", "gfx942, ..."],
  product: ["Product", "", "Name of the product"],
  process_count: ["Processes", "", "Processes whose work it did"],
  kernel_count: ["Kernels", "", "Dispatches"],
  copy_count: ["Copies", "", "Copies from or to it"],
  begin: ["Begin", "ns", "Start, since the start of its node"],
  end: ["End", "ns", "End, since the start of its node"],
  span_ns: ["Span", "ns", "Span of all GPU work of its node, or the time window"],
  wall_ns: ["Wall", "ns", "Time that was recorded on its node, or the time window"],
  busy_ns: ["Busy", "ns", "With at least one dispatch or copy"],
  busy_share: ["Busy share", "", "Share of the span with work"],
  busy_wall_share: ["Busy wall share", "", "busy_ns / wall_ns"],
  kernel_busy_ns: ["Kernel busy", "ns", "With at least one dispatch"],
  kernel_busy_share: ["Kernel busy share", "", "kernel_busy_ns / span_ns"],
  copy_busy_ns: ["Copy busy", "ns", "With at least one copy"],
  copy_busy_share: ["Copy busy share", "", "copy_busy_ns / span_ns"],
  duration_sum_ns: ["Duration sum", "ns", "Durations of dispatches and copies added up, overlaps included"],
  duration_sum_share: ["Duration sum share", "", "duration_sum_ns / span_ns: the busy figure of RPD"],
  concurrency_mean: ["Concurrency mean", "", "duration_sum_ns / busy_ns: work at the same time while busy"],
};

/** One row is one stream of one process on one GPU. */
export interface RunBusyStreamsRow {
  /** Host name of the node, else the file */
  node: string;
  /** Number of the GPU on the node; empty = not recorded */
  gpu: number | null;
  /** Process */
  pid: number;
  /** Rank; empty = not known */
  rank: number | null;
  /** Stream; empty = not recorded */
  stream_id: number | null;
  /** Dispatches */
  kernel_count: number;
  /** Copies */
  copy_count: number;
  /** Durations added up [ns] */
  duration_sum_ns: number;
  /** With at least one dispatch or copy [ns] */
  busy_ns: number;
  /** Of the span of the node */
  busy_share: number;
}

export const RUN_BUSY_STREAMS: TableInfo<RunBusyStreamsRow> = {
  node: ["Node", "", "Host name of the node, else the file"],
  gpu: ["GPU", "", "Number of the GPU on the node; empty = not recorded"],
  pid: ["PID", "", "Process"],
  rank: ["Rank", "", "Rank; empty = not known"],
  stream_id: ["Stream ID", "", "Stream; empty = not recorded"],
  kernel_count: ["Kernels", "", "Dispatches"],
  copy_count: ["Copies", "", "Copies"],
  duration_sum_ns: ["Duration sum", "ns", "Durations added up"],
  busy_ns: ["Busy", "ns", "With at least one dispatch or copy"],
  busy_share: ["Busy share", "", "Of the span of the node"],
};

/** One row is one node. */
export interface RunBusyNodesRow {
  /** Host name of the node, else the file */
  node: string;
  /** Start, since the start of its node [ns] */
  begin: number;
  /** End, since the start of its node [ns] */
  end: number;
  /** Begin of the recording on it: times of --time count from here [ns] */
  begin_ns: number;
  /** Whether a time window was chosen */
  is_window: boolean;
  /** Length of a stretch of over_time [ns] */
  bin_ns: number;
  /** Stretches */
  bin_count: number;
  /** GPUs with work */
  gpu_count: number;
  /** GPUs that processes saw and did not use */
  unused_gpu_count: number;
}

export const RUN_BUSY_NODES: TableInfo<RunBusyNodesRow> = {
  node: ["Node", "", "Host name of the node, else the file"],
  begin: ["Begin", "ns", "Start, since the start of its node"],
  end: ["End", "ns", "End, since the start of its node"],
  begin_ns: ["Begin", "ns", "Begin of the recording on it: times of --time count from here"],
  is_window: ["Window", "", "Whether a time window was chosen"],
  bin_ns: ["Bin", "ns", "Length of a stretch of over_time"],
  bin_count: ["Bins", "", "Stretches"],
  gpu_count: ["GPUs", "", "GPUs with work"],
  unused_gpu_count: ["Unused GPUs", "", "GPUs that processes saw and did not use"],
};

/** Share of the time that each GPU had work. */
export interface RunBusyAnswer {
  definition: string;
  gpus: Frame<RunBusyGpusRow>;
  streams: Frame<RunBusyStreamsRow>;
  nodes: Frame<RunBusyNodesRow>;
}

/** One row is one collective of one size and group. */
export interface RunCollectivesRow {
  /** All-reduce, all-gather, ...; empty = not known */
  kind: string | null;
  /** As it was recorded; empty = it was not */
  collective: string | null;
  /** Process group or communicator as recorded */
  group: string | null;
  /** Kernel */
  name: string;
  /** Output of all-gather, input of others; empty = not recorded [bytes] */
  size_bytes: number | null;
  /** Ranks of the group; empty = not recorded */
  group_size: number | null;
  /** Processes that met, or that called it alone */
  process_count: number;
  /** Meetings; where there is none, calls of single processes */
  calls: number;
  /** Calls of processes without a certain partner */
  unmatched_count: number;
  /** Of all meetings; of single processes with their waits [ns] */
  communication_ns: number;
  /** Median of them [ns] */
  communication_median_ns: number | null;
  /** Size over communication time [bytes/s] */
  algorithm_bytes_per_second: number | null;
  /** The same times the share of the data that each rank moves [bytes/s] */
  bus_bytes_per_second: number | null;
  /** Mean wait of its ranks, added up; empty = not known [ns] */
  wait_ns: number | null;
  /** Latest minus first arrival, mean of the meetings [ns] */
  start_skew_ns: number | null;
  /** The largest of them [ns] */
  start_skew_max_ns: number | null;
  /** Latest minus first end, mean; empty = clocks do not tell [ns] */
  end_skew_ns: number | null;
  /** How the last is known: start, aligned, duration, unknown */
  rule: string | null;
  /** Node of the process that is last most often */
  host: string | null;
  /** Its process id */
  pid: number | null;
  /** Its rank */
  rank: number | null;
  /** Its recording */
  run: string | null;
  /** How often it is */
  last_count: number;
}

export const RUN_COLLECTIVES: TableInfo<RunCollectivesRow> = {
  kind: ["Kind", "", "All-reduce, all-gather, ...; empty = not known"],
  collective: ["Collective", "", "As it was recorded; empty = it was not"],
  group: ["Group", "", "Process group or communicator as recorded"],
  name: ["Name", "", "Kernel"],
  size_bytes: ["Size", "bytes", "Output of all-gather, input of others; empty = not recorded"],
  group_size: ["Group size", "", "Ranks of the group; empty = not recorded"],
  process_count: ["Processes", "", "Processes that met, or that called it alone"],
  calls: ["Calls", "", "Meetings; where there is none, calls of single processes"],
  unmatched_count: ["Unmatched", "", "Calls of processes without a certain partner"],
  communication_ns: ["Communication", "ns", "Of all meetings; of single processes with their waits"],
  communication_median_ns: ["Communication median", "ns", "Median of them"],
  algorithm_bytes_per_second: ["Algorithm per second", "bytes/s", "Size over communication time"],
  bus_bytes_per_second: ["Bus per second", "bytes/s", "The same times the share of the data that each rank moves"],
  wait_ns: ["Wait", "ns", "Mean wait of its ranks, added up; empty = not known"],
  start_skew_ns: ["Start skew", "ns", "Latest minus first arrival, mean of the meetings"],
  start_skew_max_ns: ["Start skew max", "ns", "The largest of them"],
  end_skew_ns: ["End skew", "ns", "Latest minus first end, mean; empty = clocks do not tell"],
  rule: ["Rule", "", "How the last is known: start, aligned, duration, unknown"],
  host: ["Host", "", "Node of the process that is last most often"],
  pid: ["PID", "", "Its process id"],
  rank: ["Rank", "", "Its rank"],
  run: ["Run", "", "Its recording"],
  last_count: ["Last", "", "How often it is"],
};

/** One row is one collective of one size and group, of calls that no other rank recorded. */
export interface RunCollectivesAloneRow {
  /** All-reduce, all-gather, ...; empty = not known */
  kind: string | null;
  /** As it was recorded; empty = it was not */
  collective: string | null;
  /** Process group or communicator as recorded */
  group: string | null;
  /** Kernel */
  name: string;
  /** Output of all-gather, input of others; empty = not recorded [bytes] */
  size_bytes: number | null;
  /** Ranks of the group; empty = not recorded */
  group_size: number | null;
  /** Processes that called it */
  process_count: number;
  /** Calls of single processes */
  calls: number;
  /** Their durations, with their waits [ns] */
  total_ns: number;
  /** The shortest of them [ns] */
  shortest_ns: number;
  /** As if all of the time moved data: the apparent bus bandwidth; empty = size or ranks are not recorded [bytes/s] */
  bus_bytes_per_second: number | null;
  /** Of the shortest call [bytes/s] */
  bus_bytes_per_second_max: number | null;
  /** What the links of the GPU can send to the others of its node; empty = not known [bytes/s] */
  link_bytes_per_second: number | null;
  /** Above the shortest call, waiting for ranks or for links at least; empty = sizes are not recorded [ns] */
  waiting_ns_min: number | null;
  /** Above the time at the peak of the links, waiting at most; empty = not known [ns] */
  waiting_ns_max: number | null;
}

export const RUN_COLLECTIVES_ALONE: TableInfo<RunCollectivesAloneRow> = {
  kind: ["Kind", "", "All-reduce, all-gather, ...; empty = not known"],
  collective: ["Collective", "", "As it was recorded; empty = it was not"],
  group: ["Group", "", "Process group or communicator as recorded"],
  name: ["Name", "", "Kernel"],
  size_bytes: ["Size", "bytes", "Output of all-gather, input of others; empty = not recorded"],
  group_size: ["Group size", "", "Ranks of the group; empty = not recorded"],
  process_count: ["Processes", "", "Processes that called it"],
  calls: ["Calls", "", "Calls of single processes"],
  total_ns: ["Total", "ns", "Their durations, with their waits"],
  shortest_ns: ["Shortest", "ns", "The shortest of them"],
  bus_bytes_per_second: ["Bus per second", "bytes/s", "As if all of the time moved data: the apparent bus bandwidth; empty = size or ranks are not recorded"],
  bus_bytes_per_second_max: ["Bus per second max", "bytes/s", "Of the shortest call"],
  link_bytes_per_second: ["Link per second", "bytes/s", "What the links of the GPU can send to the others of its node; empty = not known"],
  waiting_ns_min: ["Waiting min", "ns", "Above the shortest call, waiting for ranks or for links at least; empty = sizes are not recorded"],
  waiting_ns_max: ["Waiting max", "ns", "Above the time at the peak of the links, waiting at most; empty = not known"],
};

/** One row is one collective of one size and group as RCCL itself, RCCL Inspector, the ACCL profiler or the flight recorder of PyTorch logged it. */
export interface RunCollectivesLoggedRow {
  /** Who logged it */
  recorder: string;
  /** All-reduce, all-gather, ...; empty = not known */
  kind: string | null;
  /** As it was logged */
  collective: string;
  /** Communicator or process group */
  group: string | null;
  /** Ranks of the group */
  group_size: number | null;
  /** As it was logged; output of all-gather in dumps of the flight recorder [bytes] */
  size_bytes: number | null;
  /** Ranks that logged it */
  rank_count: number;
  /** Of all ranks */
  calls: number;
  /** Of these, with a duration */
  timed_count: number;
  /** Scheduled or started, not completed */
  unfinished_count: number;
  /** Median duration [ns] */
  duration_median_ns: number | null;
  /** Shortest duration [ns] */
  shortest_ns: number | null;
  /** Of the durations of all calls with one [bytes/s] */
  bus_bytes_per_second: number | null;
  /** Of the shortest call [bytes/s] */
  bus_bytes_per_second_max: number | null;
  /** Sequence numbers of the group between its first and its last that no rank logged */
  unlogged_count: number;
}

export const RUN_COLLECTIVES_LOGGED: TableInfo<RunCollectivesLoggedRow> = {
  recorder: ["Recorder", "", "Who logged it"],
  kind: ["Kind", "", "All-reduce, all-gather, ...; empty = not known"],
  collective: ["Collective", "", "As it was logged"],
  group: ["Group", "", "Communicator or process group"],
  group_size: ["Group size", "", "Ranks of the group"],
  size_bytes: ["Size", "bytes", "As it was logged; output of all-gather in dumps of the flight recorder"],
  rank_count: ["Ranks", "", "Ranks that logged it"],
  calls: ["Calls", "", "Of all ranks"],
  timed_count: ["Timed", "", "Of these, with a duration"],
  unfinished_count: ["Unfinished", "", "Scheduled or started, not completed"],
  duration_median_ns: ["Duration median", "ns", "Median duration"],
  shortest_ns: ["Shortest", "ns", "Shortest duration"],
  bus_bytes_per_second: ["Bus per second", "bytes/s", "Of the durations of all calls with one"],
  bus_bytes_per_second_max: ["Bus per second max", "bytes/s", "Of the shortest call"],
  unlogged_count: ["Unlogged", "", "Sequence numbers of the group between its first and its last that no rank logged"],
};

/** One row is one group whose ranks did not come equally far, or did not call the same: the first call at which they differ. */
export interface RunCollectivesUnequalRow {
  /** Process group */
  group: string;
  /** Number of the call in the group */
  sequence: number;
  /** What most ranks called */
  collective: string;
  /** In what they differ: not called, called by few, collective, sizes, state */
  reason: string;
  /** The ranks that differ, with what they did */
  ranks: string;
  /** How many */
  rank_count: number;
  /** Ranks that agree */
  other_count: number;
  /** Where one that differs called it, or called last */
  site: string | null;
}

export const RUN_COLLECTIVES_UNEQUAL: TableInfo<RunCollectivesUnequalRow> = {
  group: ["Group", "", "Process group"],
  sequence: ["Sequence", "", "Number of the call in the group"],
  collective: ["Collective", "", "What most ranks called"],
  reason: ["Reason", "", "In what they differ: not called, called by few, collective, sizes, state"],
  ranks: ["Ranks", "", "The ranks that differ, with what they did"],
  rank_count: ["Ranks", "", "How many"],
  other_count: ["Others", "", "Ranks that agree"],
  site: ["Site", "", "Where one that differs called it, or called last"],
};

/** One row is one meeting. */
export interface RunCollectivesCallsRow {
  /** Number */
  meeting: number;
  /** All-reduce, all-gather, ...; empty = not known */
  kind: string | null;
  /** As it was recorded; empty = it was not */
  collective: string | null;
  /** Process group or communicator as recorded */
  group: string | null;
  /** Kernel */
  name: string;
  /** Output of all-gather, input of others; empty = not recorded [bytes] */
  size_bytes: number | null;
  /** Processes that met */
  process_count: number;
  /** Start, since the start of its node [ns] */
  begin: number;
  /** Shortest duration among them [ns] */
  communication_ns: number;
  /** Size over communication time [bytes/s] */
  algorithm_bytes_per_second: number | null;
  /** The same times the share of the data that each rank moves [bytes/s] */
  bus_bytes_per_second: number | null;
  /** Mean wait [ns] */
  wait_ns: number | null;
  /** Longest wait [ns] */
  wait_max_ns: number | null;
  /** Latest minus first arrival [ns] */
  start_skew_ns: number | null;
  /** Latest minus first end [ns] */
  end_skew_ns: number | null;
  /** How the last is known */
  rule: string;
  /** Node of the last */
  host: string | null;
  /** Its process id */
  pid: number | null;
  /** Its rank */
  rank: number | null;
  /** Its recording */
  run: string | null;
}

export const RUN_COLLECTIVES_CALLS: TableInfo<RunCollectivesCallsRow> = {
  meeting: ["Meeting", "", "Number"],
  kind: ["Kind", "", "All-reduce, all-gather, ...; empty = not known"],
  collective: ["Collective", "", "As it was recorded; empty = it was not"],
  group: ["Group", "", "Process group or communicator as recorded"],
  name: ["Name", "", "Kernel"],
  size_bytes: ["Size", "bytes", "Output of all-gather, input of others; empty = not recorded"],
  process_count: ["Processes", "", "Processes that met"],
  begin: ["Begin", "ns", "Start, since the start of its node"],
  communication_ns: ["Communication", "ns", "Shortest duration among them"],
  algorithm_bytes_per_second: ["Algorithm per second", "bytes/s", "Size over communication time"],
  bus_bytes_per_second: ["Bus per second", "bytes/s", "The same times the share of the data that each rank moves"],
  wait_ns: ["Wait", "ns", "Mean wait"],
  wait_max_ns: ["Wait max", "ns", "Longest wait"],
  start_skew_ns: ["Start skew", "ns", "Latest minus first arrival"],
  end_skew_ns: ["End skew", "ns", "Latest minus first end"],
  rule: ["Rule", "", "How the last is known"],
  host: ["Host", "", "Node of the last"],
  pid: ["PID", "", "Its process id"],
  rank: ["Rank", "", "Its rank"],
  run: ["Run", "", "Its recording"],
};

/** One row is one process at one meeting. */
export interface RunCollectivesArrivalsRow {
  /** Number */
  meeting: number;
  /** Node of the process */
  host: string | null;
  /** Its process id */
  pid: number | null;
  /** Its rank */
  rank: number | null;
  /** Its recording */
  run: string | null;
  /** Start, since the start of its node [ns] */
  begin: number;
  /** Of its kernel [ns] */
  duration_ns: number;
  /** Latest arrival minus its own, at most its duration [ns] */
  wait_ns: number | null;
}

export const RUN_COLLECTIVES_ARRIVALS: TableInfo<RunCollectivesArrivalsRow> = {
  meeting: ["Meeting", "", "Number"],
  host: ["Host", "", "Node of the process"],
  pid: ["PID", "", "Its process id"],
  rank: ["Rank", "", "Its rank"],
  run: ["Run", "", "Its recording"],
  begin: ["Begin", "ns", "Start, since the start of its node"],
  duration_ns: ["Duration", "ns", "Of its kernel"],
  wait_ns: ["Wait", "ns", "Latest arrival minus its own, at most its duration"],
};

/** One row is one process with collectives. */
export interface RunCollectivesProcessesRow {
  /** Node of the process */
  host: string | null;
  /** Its process id */
  pid: number | null;
  /** Its rank */
  rank: number | null;
  /** Its recording */
  run: string | null;
  /** Its calls */
  calls: number;
  /** Of these, with a certain partner */
  matched_count: number;
  /** Their durations [ns] */
  total_ns: number;
  /** Of that, waiting for later ranks; empty = none has a partner [ns] */
  wait_ns: number | null;
  /** How often it was last */
  last_count: number;
  /** Added to its times gives those of the reference clock [ns] */
  offset_ns: number | null;
  /** Median distance of ends from that [ns] */
  residual_ns: number | null;
  /** How far the offset moved from the first third to the last [ns] */
  drift_ns: number | null;
}

export const RUN_COLLECTIVES_PROCESSES: TableInfo<RunCollectivesProcessesRow> = {
  host: ["Host", "", "Node of the process"],
  pid: ["PID", "", "Its process id"],
  rank: ["Rank", "", "Its rank"],
  run: ["Run", "", "Its recording"],
  calls: ["Calls", "", "Its calls"],
  matched_count: ["Matched", "", "Of these, with a certain partner"],
  total_ns: ["Total", "ns", "Their durations"],
  wait_ns: ["Wait", "ns", "Of that, waiting for later ranks; empty = none has a partner"],
  last_count: ["Last", "", "How often it was last"],
  offset_ns: ["Offset", "ns", "Added to its times gives those of the reference clock"],
  residual_ns: ["Residual", "ns", "Median distance of ends from that"],
  drift_ns: ["Drift", "ns", "How far the offset moved from the first third to the last"],
};

/** One row is one meeting with a late rank, the latest first. */
export interface RunCollectivesStragglersRow {
  /** Number */
  meeting: number;
  /** Node of the late process */
  host: string | null;
  /** Its process id */
  pid: number | null;
  /** Its rank */
  rank: number | null;
  /** Its recording */
  run: string | null;
  /** Its arrival minus the median of the others [ns] */
  late_ns: number;
  /** Meeting before, at which it was on time; empty = none */
  since_meeting: number | null;
  /** Time from there to its arrival [ns] */
  since_ns: number;
  /** Computation that it had more since then [ns] */
  compute_ns: number;
  /** Exposed communication that it had more [ns] */
  communication_ns: number;
  /** Exposed copies that it had more [ns] */
  copy_ns: number;
  /** Idle with launched work that it had more; empty = not recorded [ns] */
  queued_ns: number | null;
  /** Idle with nothing launched that it had more; empty = the same [ns] */
  host_ns: number | null;
  /** Idle of both kinds that it had more [ns] */
  idle_ns: number;
  /** The largest, in words; unknown = it had more of nothing */
  cause: string;
}

export const RUN_COLLECTIVES_STRAGGLERS: TableInfo<RunCollectivesStragglersRow> = {
  meeting: ["Meeting", "", "Number"],
  host: ["Host", "", "Node of the late process"],
  pid: ["PID", "", "Its process id"],
  rank: ["Rank", "", "Its rank"],
  run: ["Run", "", "Its recording"],
  late_ns: ["Late", "ns", "Its arrival minus the median of the others"],
  since_meeting: ["Since meeting", "", "Meeting before, at which it was on time; empty = none"],
  since_ns: ["Since", "ns", "Time from there to its arrival"],
  compute_ns: ["Compute", "ns", "Computation that it had more since then"],
  communication_ns: ["Communication", "ns", "Exposed communication that it had more"],
  copy_ns: ["Copy", "ns", "Exposed copies that it had more"],
  queued_ns: ["Queued", "ns", "Idle with launched work that it had more; empty = not recorded"],
  host_ns: ["Host", "ns", "Idle with nothing launched that it had more; empty = the same"],
  idle_ns: ["Idle", "ns", "Idle of both kinds that it had more"],
  cause: ["Cause", "", "The largest, in words; unknown = it had more of nothing"],
};

/** One row is one process that was late, by what it had more than others. */
export interface RunCollectivesCausesRow {
  /** Node of the late process */
  host: string | null;
  /** Its process id */
  pid: number | null;
  /** Its rank */
  rank: number | null;
  /** Its recording */
  run: string | null;
  /** Delays that were looked at, each once */
  late_count: number;
  /** Their sum [ns] */
  late_ns: number;
  /** Computation that it had more since then [ns] */
  compute_ns: number;
  /** Exposed communication that it had more [ns] */
  communication_ns: number;
  /** Exposed copies that it had more [ns] */
  copy_ns: number;
  /** Idle with launched work that it had more; empty = not recorded [ns] */
  queued_ns: number | null;
  /** Idle with nothing launched that it had more; empty = the same [ns] */
  host_ns: number | null;
  /** Idle of both kinds that it had more [ns] */
  idle_ns: number;
  /** The largest, in words; unknown = it had more of nothing */
  cause: string;
  /** Share of the cause in all that it had more */
  cause_share: number | null;
}

export const RUN_COLLECTIVES_CAUSES: TableInfo<RunCollectivesCausesRow> = {
  host: ["Host", "", "Node of the late process"],
  pid: ["PID", "", "Its process id"],
  rank: ["Rank", "", "Its rank"],
  run: ["Run", "", "Its recording"],
  late_count: ["Lates", "", "Delays that were looked at, each once"],
  late_ns: ["Late", "ns", "Their sum"],
  compute_ns: ["Compute", "ns", "Computation that it had more since then"],
  communication_ns: ["Communication", "ns", "Exposed communication that it had more"],
  copy_ns: ["Copy", "ns", "Exposed copies that it had more"],
  queued_ns: ["Queued", "ns", "Idle with launched work that it had more; empty = not recorded"],
  host_ns: ["Host", "ns", "Idle with nothing launched that it had more; empty = the same"],
  idle_ns: ["Idle", "ns", "Idle of both kinds that it had more"],
  cause: ["Cause", "", "The largest, in words; unknown = it had more of nothing"],
  cause_share: ["Cause share", "", "Share of the cause in all that it had more"],
};

/** Collectives over ranks. */
export interface RunCollectivesAnswer {
  definition: string;
  collectives: Frame<RunCollectivesRow>;
  calls: Frame<RunCollectivesCallsRow>;
  alone: Frame<RunCollectivesAloneRow>;
  logged: Frame<RunCollectivesLoggedRow>;
  unequal: Frame<RunCollectivesUnequalRow>;
  arrivals: Frame<RunCollectivesArrivalsRow>;
  processes: Frame<RunCollectivesProcessesRow>;
  stragglers: Frame<RunCollectivesStragglersRow>;
  causes: Frame<RunCollectivesCausesRow>;
  caveats: Caveat[];
  verdict: string;
}

/** One row is one side of the comparison; the first is the base. */
export interface RunCompareSidesRow {
  /** Number of the side */
  side: number;
  /** Its name: A, B, ... */
  label: string;
  /** Processes */
  process_count: number;
  /** Steps of all processes; 1 = the whole run is the unit */
  step_count: number;
  /** Time of kernels and copies per unit [ns] */
  gpu_ns: number;
  /** Of the GPU time against the base */
  change: number;
  /** What the change must exceed, up or down; empty = not known */
  noise: number | null;
  /** Mean duration of the marker ranges that are steps; empty = the unit is the run [ns] */
  step_ns: number | null;
  /** Of this against the base */
  step_change: number | null;
  /** What that must exceed; empty = not known */
  step_noise: number | null;
  /** From the first event to the last, on the node where that took longest [ns] */
  wall_ns: number;
  /** GPUs with work, of all processes */
  gpu_count: number;
  /** Time of a GPU per unit (mean) with kernels that compute [ns] */
  computation_ns: number;
  /** With communication, without computation [ns] */
  communication_ns: number;
  /** With copies, without any kernel [ns] */
  copy_ns: number;
  /** Without any work [ns] */
  idle_ns: number;
}

export const RUN_COMPARE_SIDES: TableInfo<RunCompareSidesRow> = {
  side: ["Side", "", "Number of the side"],
  label: ["Label", "", "Its name: A, B, ..."],
  process_count: ["Processes", "", "Processes"],
  step_count: ["Steps", "", "Steps of all processes; 1 = the whole run is the unit"],
  gpu_ns: ["GPU", "ns", "Time of kernels and copies per unit"],
  change: ["Change", "", "Of the GPU time against the base"],
  noise: ["Noise", "", "What the change must exceed, up or down; empty = not known"],
  step_ns: ["Step", "ns", "Mean duration of the marker ranges that are steps; empty = the unit is the run"],
  step_change: ["Step change", "", "Of this against the base"],
  step_noise: ["Step noise", "", "What that must exceed; empty = not known"],
  wall_ns: ["Wall", "ns", "From the first event to the last, on the node where that took longest"],
  gpu_count: ["GPUs", "", "GPUs with work, of all processes"],
  computation_ns: ["Computation", "ns", "Time of a GPU per unit (mean) with kernels that compute"],
  communication_ns: ["Communication", "ns", "With communication, without computation"],
  copy_ns: ["Copy", "ns", "With copies, without any kernel"],
  idle_ns: ["Idle", "ns", "Without any work"],
};

/** One row is one part of the difference of a side's GPU time; the sum of all is the difference. */
export interface RunComparePartsRow {
  /** sides.side */
  side: number;
  /** things.status */
  status: string;
  /** Whether it is a change, beyond noise */
  is_attributed: boolean;
  /** Kernels and kinds of copies */
  thing_count: number;
  /** Their difference of the time per unit [ns] */
  delta_ns: number;
  /** The one with the largest difference */
  largest_name: string;
  /** Its difference [ns] */
  largest_delta_ns: number;
}

export const RUN_COMPARE_PARTS: TableInfo<RunComparePartsRow> = {
  side: ["Side", "", "sides.side"],
  status: ["Status", "", "things.status"],
  is_attributed: ["Attributed", "", "Whether it is a change, beyond noise"],
  thing_count: ["Things", "", "Kernels and kinds of copies"],
  delta_ns: ["Delta", "ns", "Their difference of the time per unit"],
  largest_name: ["Largest name", "", "The one with the largest difference"],
  largest_delta_ns: ["Largest delta", "ns", "Its difference"],
};

/** One row is one thing on one side against the base, the largest effect first. */
export interface RunCompareThingsRow {
  /** sides.side */
  side: number;
  /** KERNEL, COPY, ... or the kind of call */
  domain: string;
  /** Its name */
  name: string;
  /** Its name at the base, of renamed kernels; empty = the same */
  base_name: string | null;
  /** Slower, faster, renamed, new, gone, more calls, fewer calls, same, cannot tell */
  status: string;
  /** Calls per unit of the base */
  base_calls: number;
  /** Calls per unit */
  calls: number;
  /** Mean duration of the base [ns] */
  base_mean_ns: number;
  /** Mean duration [ns] */
  mean_ns: number;
  /** Change of the mean duration */
  change: number;
  /** What the change must exceed, up or down; empty = not known */
  noise: number | null;
  /** Time per unit of the base [ns] */
  base_ns: number;
  /** Time per unit [ns] */
  time_ns: number;
  /** Difference of the time per unit [ns] */
  delta_ns: number;
  /** Of this, by more or fewer calls [ns] */
  work_ns: number;
  /** Of this, by longer or shorter calls [ns] */
  speed_ns: number;
  /** Delta of the base's GPU time; empty for what is not GPU time */
  delta_share: number | null;
}

export const RUN_COMPARE_THINGS: TableInfo<RunCompareThingsRow> = {
  side: ["Side", "", "sides.side"],
  domain: ["Domain", "", "KERNEL, COPY, ... or the kind of call"],
  name: ["Name", "", "Its name"],
  base_name: ["Base name", "", "Its name at the base, of renamed kernels; empty = the same"],
  status: ["Status", "", "Slower, faster, renamed, new, gone, more calls, fewer calls, same, cannot tell"],
  base_calls: ["Base calls", "", "Calls per unit of the base"],
  calls: ["Calls", "", "Calls per unit"],
  base_mean_ns: ["Base mean", "ns", "Mean duration of the base"],
  mean_ns: ["Mean", "ns", "Mean duration"],
  change: ["Change", "", "Change of the mean duration"],
  noise: ["Noise", "", "What the change must exceed, up or down; empty = not known"],
  base_ns: ["Base", "ns", "Time per unit of the base"],
  time_ns: ["Time", "ns", "Time per unit"],
  delta_ns: ["Delta", "ns", "Difference of the time per unit"],
  work_ns: ["Work", "ns", "Of this, by more or fewer calls"],
  speed_ns: ["Speed", "ns", "Of this, by longer or shorter calls"],
  delta_share: ["Delta share", "", "Delta of the base's GPU time; empty for what is not GPU time"],
};

/** One row is one name of lowest common ancestors: of what the call trees of both sides have, with the GPU time that none of the pairs below it has. */
export interface RunCompareOperatorsRow {
  /** sides.side */
  side: number;
  /** Name of an operator, marker or module; of its launch where that is not recorded */
  name: string;
  /** Its name at the base, where it is another one; empty = the same */
  base_name: string | null;
  /** Slower, faster, new, gone, same, cannot tell */
  status: string;
  /** Pairs of nodes of the two trees */
  pair_count: number;
  /** Dispatches and copies of the base */
  base_gpu_count: number;
  /** Dispatches and copies */
  gpu_count: number;
  /** GPU time per unit of the base [ns] */
  base_ns: number;
  /** GPU time per unit [ns] */
  time_ns: number;
  /** Difference; the sum of all is that of the GPU time [ns] */
  delta_ns: number;
  /** Change of the GPU time; empty = the base has none */
  change: number | null;
  /** What the change must exceed, by the differences of pairs of equal shapes; empty = not known */
  noise: number | null;
  /** Pairs whose shapes differ: their times are no measure of each other */
  other_shape_count: number;
  /** Operators inside that only the base has, with their numbers; empty = none */
  base_only: string | null;
  /** Operators inside that only the side has; empty = none */
  side_only: string | null;
}

export const RUN_COMPARE_OPERATORS: TableInfo<RunCompareOperatorsRow> = {
  side: ["Side", "", "sides.side"],
  name: ["Name", "", "Name of an operator, marker or module; of its launch where that is not recorded"],
  base_name: ["Base name", "", "Its name at the base, where it is another one; empty = the same"],
  status: ["Status", "", "Slower, faster, new, gone, same, cannot tell"],
  pair_count: ["Pairs", "", "Pairs of nodes of the two trees"],
  base_gpu_count: ["Base GPUs", "", "Dispatches and copies of the base"],
  gpu_count: ["GPUs", "", "Dispatches and copies"],
  base_ns: ["Base", "ns", "GPU time per unit of the base"],
  time_ns: ["Time", "ns", "GPU time per unit"],
  delta_ns: ["Delta", "ns", "Difference; the sum of all is that of the GPU time"],
  change: ["Change", "", "Change of the GPU time; empty = the base has none"],
  noise: ["Noise", "", "What the change must exceed, by the differences of pairs of equal shapes; empty = not known"],
  other_shape_count: ["Other shapes", "", "Pairs whose shapes differ: their times are no measure of each other"],
  base_only: ["Base only", "", "Operators inside that only the base has, with their numbers; empty = none"],
  side_only: ["Side only", "", "Operators inside that only the side has; empty = none"],
};

/** One row is one path of names of pairs, the tree from its root; delta is the sum of own_delta and of the deltas right below. */
export interface RunCompareTreeRow {
  /** sides.side */
  side: number;
  /** Its number */
  node: number;
  /** Number of the node above; -1 = none */
  parent: number;
  /** Nodes above */
  depth: number;
  /** Name */
  name: string;
  /** Its name at the base, where it is another one; empty = the same */
  base_name: string | null;
  /** Pairs */
  pair_count: number;
  /** GPU time per unit of the base, of everything below [ns] */
  base_ns: number;
  /** Of the side [ns] */
  time_ns: number;
  /** Difference [ns] */
  delta_ns: number;
  /** Of this, what no pair below has, of the base [ns] */
  own_base_ns: number;
  /** Of the side [ns] */
  own_ns: number;
  /** Difference [ns] */
  own_delta_ns: number;
}

export const RUN_COMPARE_TREE: TableInfo<RunCompareTreeRow> = {
  side: ["Side", "", "sides.side"],
  node: ["Node", "", "Its number"],
  parent: ["Parent", "", "Number of the node above; -1 = none"],
  depth: ["Depth", "", "Nodes above"],
  name: ["Name", "", "Name"],
  base_name: ["Base name", "", "Its name at the base, where it is another one; empty = the same"],
  pair_count: ["Pairs", "", "Pairs"],
  base_ns: ["Base", "ns", "GPU time per unit of the base, of everything below"],
  time_ns: ["Time", "ns", "Of the side"],
  delta_ns: ["Delta", "ns", "Difference"],
  own_base_ns: ["Own base", "ns", "Of this, what no pair below has, of the base"],
  own_ns: ["Own", "ns", "Of the side"],
  own_delta_ns: ["Own delta", "ns", "Difference"],
};

/** One row is one kernel of the base with that which does its work on the side, under one name of common ancestors. */
export interface RunCompareKernelPairsRow {
  /** sides.side */
  side: number;
  /** operators.name */
  operator: string;
  /** Kernel or copy of the base; empty = only the side has one */
  base_name: string | null;
  /** Kernel or copy of the side; empty = only the base has one */
  name: string | null;
  /** Dispatches and copies of the base */
  base_gpu_count: number;
  /** Dispatches and copies */
  gpu_count: number;
  /** GPU time per unit of the base [ns] */
  base_ns: number;
  /** GPU time per unit [ns] */
  time_ns: number;
  /** Difference [ns] */
  delta_ns: number;
}

export const RUN_COMPARE_KERNEL_PAIRS: TableInfo<RunCompareKernelPairsRow> = {
  side: ["Side", "", "sides.side"],
  operator: ["Operator", "", "operators.name"],
  base_name: ["Base name", "", "Kernel or copy of the base; empty = only the side has one"],
  name: ["Name", "", "Kernel or copy of the side; empty = only the base has one"],
  base_gpu_count: ["Base GPUs", "", "Dispatches and copies of the base"],
  gpu_count: ["GPUs", "", "Dispatches and copies"],
  base_ns: ["Base", "ns", "GPU time per unit of the base"],
  time_ns: ["Time", "ns", "GPU time per unit"],
  delta_ns: ["Delta", "ns", "Difference"],
};

/** A kernel of a side that was compared with one of the base under another name. */
export interface Renamed {
  side: number;
  base_name: string;
  name: string;
}

/** Runs against the first of them. */
export interface RunCompareAnswer {
  definition: string;
  sides: Frame<RunCompareSidesRow>;
  parts: Frame<RunComparePartsRow>;
  things: Frame<RunCompareThingsRow>;
  /** Marker range that is a step; None = the unit is the run. */
  step: string | null;
  /** Repeated runs of the base that the noise was measured with. */
  repeat_count: number;
  operators: Frame<RunCompareOperatorsRow>;
  tree: Frame<RunCompareTreeRow>;
  kernel_pairs: Frame<RunCompareKernelPairsRow>;
  /** Of each side but the base: see `Structure`. */
  most_gains_ns: number[];
  /** Kernels that were compared although their names differ. */
  renamed: Renamed[];
  verdict: string;
  time_verdict: string | null;
  structure_verdict: string | null;
}

/** One row is one GPU. */
export interface RunDiagnosisGpusRow {
  /** Host name of the node, else the file */
  node: string;
  /** Number of the GPU on the node; empty = not recorded */
  gpu: number | null;
  /** Process with most of its work */
  pid: number;
  /** Its rank; empty = not known */
  rank: number | null;
  /** Start, since the start of its node [ns] */
  begin: number;
  /** End, since the start of its node [ns] */
  end: number;
  /** Length of the window, without time between recordings [ns] */
  window_ns: number;
  /** With kernels that compute [ns] */
  computation_ns: number;
  /** With communication, without computation [ns] */
  exposed_communication_ns: number;
  /** With copies, without any kernel [ns] */
  exposed_copy_ns: number;
  /** Without any work; the four add up to the window [ns] */
  idle_ns: number;
}

export const RUN_DIAGNOSIS_GPUS: TableInfo<RunDiagnosisGpusRow> = {
  node: ["Node", "", "Host name of the node, else the file"],
  gpu: ["GPU", "", "Number of the GPU on the node; empty = not recorded"],
  pid: ["PID", "", "Process with most of its work"],
  rank: ["Rank", "", "Its rank; empty = not known"],
  begin: ["Begin", "ns", "Start, since the start of its node"],
  end: ["End", "ns", "End, since the start of its node"],
  window_ns: ["Window", "ns", "Length of the window, without time between recordings"],
  computation_ns: ["Computation", "ns", "With kernels that compute"],
  exposed_communication_ns: ["Exposed communication", "ns", "With communication, without computation"],
  exposed_copy_ns: ["Exposed copy", "ns", "With copies, without any kernel"],
  idle_ns: ["Idle", "ns", "Without any work; the four add up to the window"],
};

/** One row is one hot kernel. */
export interface RunDiagnosisKernelsRow {
  /** The kernel */
  name: string;
  /** Dispatches on all GPUs */
  calls: number;
  /** Their time [ns] */
  total_ns: number;
  /** Of the time of all computing kernels */
  share: number;
  /** The longest [ns] */
  max_ns: number;
  /** Scratch memory per lane; empty = not recorded [bytes] */
  scratch_bytes: number | null;
}

export const RUN_DIAGNOSIS_KERNELS: TableInfo<RunDiagnosisKernelsRow> = {
  name: ["Name", "", "The kernel"],
  calls: ["Calls", "", "Dispatches on all GPUs"],
  total_ns: ["Total", "ns", "Their time"],
  share: ["Share", "", "Of the time of all computing kernels"],
  max_ns: ["Max", "ns", "The longest"],
  scratch_bytes: ["Scratch", "bytes", "Scratch memory per lane; empty = not recorded"],
};

/** One case of a finding in a run: what it was, and where and when to look at it. */
export interface PlaceEvidence {
  /** The kernel, call, copy or rank; of a gap, the work before it. */
  what: string;
  /** How many cases it stands for. */
  count: number;
  /** How long they took together. */
  time_ns: number;
  /** The work that ended the gap; empty = it is no gap. */
  next_work: string;
  /** The kernels of `what` one by one, if it is a sequence of them. */
  sequence: string[];
  node: string | null;
  gpu: number | null;
  rank: number | null;
  /** On the clock of the node; of the longest case. */
  start_ns: number | null;
  end_ns: number | null;
  /** The same as a value of --time, counted from the start of the run; empty = no single time. */
  window: string;
  /** The call that took more of it, `call_ns`, than any other; empty = none, or not recorded. */
  call: string;
  call_ns: number;
  /** Markers, operators and functions that were open, outermost first. */
  stack: string[];
}

/** From which value on a rule speaks, and why from there. */
export interface Threshold {
  quantity: string;
  value: number | null;
  /** share or GB/s. */
  unit: string;
  /** None = always. */
  say: number | null;
  /** From here on the finding is strong; None = never. */
  stress: number | null;
  source: string;
}

/** One cause of lost time in a run. */
export interface RunFinding {
  /** What it is about: a stall class, a limiter, a question. */
  name: string;
  kind: string;
  verdict: string;
  /** The numbers or the cause behind the verdict. */
  reason: string;
  /** high, medium or low; empty = not stated. */
  confidence: string;
  confidence_reason: string;
  evidence: PlaceEvidence[];
  /** The first thing to do; empty = nothing. */
  remedy: string;
  /** Upper bound of the share of time that can be saved; None = unknown. */
  gain_share_max: number | null;
  rule: string;
  /** This rule and those whose cases it includes. */
  rules: string[];
  /** The rule of the finding that promises this time already; empty = it stands by itself. */
  within: string;
  remedies: string[];
  /** Of the window, or of the computation for kernels: what the threshold is compared with. */
  share: number;
  /** The time it is about, per GPU. */
  time_ns: number;
  /** The same per step; None = no steps are known. */
  step_time_ns: number | null;
  /** At most so much shorter if only this is changed. */
  bound_alone_ns: number;
  /** At most so much after the findings above: no nanosecond is promised twice. */
  bound_ns: number;
  bound_share: number;
  /** window / (window - bound_ns); None = nothing would be left. */
  speedup_max: number | null;
  is_strong: boolean;
  false_if: string;
  next_command: string;
  threshold: Threshold;
  /** Cases in all, of which `evidence` has the longest. */
  case_count: number;
}

/** A sentence beside the findings, with the rule that it is about. */
export interface Note {
  rule: string;
  text: string;
}

/** One case of a finding: what it was, and where on the timeline. */
export interface Case {
  /** The kernel, call, copy or rank, by its short name. */
  what: string;
  /** Its full name. */
  name: string;
  /** How many cases it stands for. */
  count: number;
  /** How long they took together. */
  time_ns: number;
  node: string | null;
  gpu: number | null;
  rank: number | null;
  /** Of the longest, since the start of its node; null = no single time. */
  begin: number | null;
  end: number | null;
  /** The call that took most of the time; empty = none, or not recorded. */
  call: string;
  /** Markers, operators and functions that were open, outermost first. */
  stack: string[];
}

/** Causes of the time of a run, and what to change first. */
export interface RunDiagnosisAnswer {
  definition: string;
  /** What was measured, in a line. */
  subject: string;
  /** good, or use with caution: then `caveats` says why. */
  trust: string;
  /** What set the time. */
  headline: string;
  findings: RunFinding[];
  /** Hot kernels, scratch memory, unused GPUs: nothing is lost by them. */
  notes: Note[];
  /** What looks like a problem and is none. */
  not_findings: Note[];
  /** Rules that could not be checked, and why. */
  skipped: Note[];
  caveats: Note[];
  /** Rules that were checked and say nothing. */
  checked: string[];
  gpus: Frame<RunDiagnosisGpusRow>;
  kernels: Frame<RunDiagnosisKernelsRow>;
  /** Mean of the GPUs. */
  window_ns: number;
  computation_share: number;
  /** Exposed. */
  communication_share: number;
  /** Exposed. */
  copy_share: number;
  idle_share: number;
  /** 0 = no steps are known. */
  step_count: number;
  step_name: string;
  /** What to ask next. */
  next_command: string;
  cases: Case[][];
}

/** One row is all regions of one name. */
export interface RunFunctionsRow {
  /** Name of the regions */
  name: string;
  /** OPERATOR, MARKER, HIP, PYTHON, ... */
  domain: string;
  /** Regions */
  call_count: number;
  /** Their lengths; regions inside regions of the same name count once [ns] */
  total_ns: number;
  /** Without the time that regions below cover [ns] */
  self_ns: number;
  /** Durations of what they and all regions below launched [ns] */
  gpu_total_ns: number;
  /** Durations of what they launched themselves [ns] */
  gpu_ns: number;
}

export const RUN_FUNCTIONS: TableInfo<RunFunctionsRow> = {
  name: ["Name", "", "Name of the regions"],
  domain: ["Domain", "", "OPERATOR, MARKER, HIP, PYTHON, ..."],
  call_count: ["Calls", "", "Regions"],
  total_ns: ["Total", "ns", "Their lengths; regions inside regions of the same name count once"],
  self_ns: ["Self", "ns", "Without the time that regions below cover"],
  gpu_total_ns: ["GPU", "ns", "Durations of what they and all regions below launched"],
  gpu_ns: ["GPU", "ns", "Durations of what they launched themselves"],
};

/** One row is one GPU, or one stream of a process on it. */
export interface RunGapsGpusRow {
  /** Host name of the node, else the file */
  node: string;
  /** Number of the GPU on the node; empty = not recorded */
  gpu: number | null;
  /** Process; empty = all of the GPU */
  pid: number | null;
  /** Its rank; empty = not known */
  rank: number | null;
  /** Stream; empty = all of the GPU, or not recorded */
  stream_id: number | null;
  /** Number of gaps */
  gap_count: number;
  /** Length of all gaps [ns] */
  gap_ns: number;
  /** Of the span of the node */
  gap_share: number;
  /** Mean length of a gap [ns] */
  gap_mean_ns: number;
  /** Longest gap [ns] */
  gap_max_ns: number;
  /** Time with work [ns] */
  busy_ns: number;
  /** Before the first and after the last work, within the wall time [ns] */
  edge_ns: number;
  /** Times of 1 ns between work, which rounding makes: no gaps [ns] */
  rounding_ns: number;
  /** Span of all GPU work of the node, or the time window [ns] */
  span_ns: number;
  /** Time that was recorded on the node, or the time window [ns] */
  wall_ns: number;
}

export const RUN_GAPS_GPUS: TableInfo<RunGapsGpusRow> = {
  node: ["Node", "", "Host name of the node, else the file"],
  gpu: ["GPU", "", "Number of the GPU on the node; empty = not recorded"],
  pid: ["PID", "", "Process; empty = all of the GPU"],
  rank: ["Rank", "", "Its rank; empty = not known"],
  stream_id: ["Stream ID", "", "Stream; empty = all of the GPU, or not recorded"],
  gap_count: ["Gaps", "", "Number of gaps"],
  gap_ns: ["Gap", "ns", "Length of all gaps"],
  gap_share: ["Gap share", "", "Of the span of the node"],
  gap_mean_ns: ["Gap mean", "ns", "Mean length of a gap"],
  gap_max_ns: ["Gap max", "ns", "Longest gap"],
  busy_ns: ["Busy", "ns", "Time with work"],
  edge_ns: ["Edge", "ns", "Before the first and after the last work, within the wall time"],
  rounding_ns: ["Rounding", "ns", "Times of 1 ns between work, which rounding makes: no gaps"],
  span_ns: ["Span", "ns", "Span of all GPU work of the node, or the time window"],
  wall_ns: ["Wall", "ns", "Time that was recorded on the node, or the time window"],
};

/** One row is one cause on one GPU. */
export interface RunGapsCausesRow {
  /** Host name of the node, else the file */
  node: string;
  /** Number of the GPU on the node; empty = not recorded */
  gpu: number | null;
  /** Synchronisation, allocation, copy call, loading code, launch call, other call (time in such a call of the thread that launched what ended the gap, before it did so), host code (outside of calls), launch (from the start of the launching call), stream wait (launched, but its stream had to wait for an event), queued (launched, but waited for other work), unknown (its launch is not recorded) */
  cause: string;
  /** Function that was called; empty = none */
  function: string | null;
  /** Calls, or gaps, that it took part in */
  call_count: number;
  /** Its part of the gaps [ns] */
  wait_ns: number;
  /** Of the gaps of the GPU */
  gap_share: number;
  /** Of the span of the node */
  span_share: number;
}

export const RUN_GAPS_CAUSES: TableInfo<RunGapsCausesRow> = {
  node: ["Node", "", "Host name of the node, else the file"],
  gpu: ["GPU", "", "Number of the GPU on the node; empty = not recorded"],
  cause: ["Cause", "", "Synchronisation, allocation, copy call, loading code, launch call, other call (time in such a call of the thread that launched what ended the gap, before it did so), host code (outside of calls), launch (from the start of the launching call), stream wait (launched, but its stream had to wait for an event), queued (launched, but waited for other work), unknown (its launch is not recorded)"],
  function: ["Function", "", "Function that was called; empty = none"],
  call_count: ["Calls", "", "Calls, or gaps, that it took part in"],
  wait_ns: ["Wait", "ns", "Its part of the gaps"],
  gap_share: ["Gap share", "", "Of the gaps of the GPU"],
  span_share: ["Span share", "", "Of the span of the node"],
};

/** One row is one range of lengths on one GPU or stream. */
export interface RunGapsHistogramRow {
  /** Host name of the node, else the file */
  node: string;
  /** Number of the GPU on the node; empty = not recorded */
  gpu: number | null;
  /** Process; empty = all of the GPU */
  pid: number | null;
  /** Its rank; empty = not known */
  rank: number | null;
  /** Stream; empty = all of the GPU, or not recorded */
  stream_id: number | null;
  /** Shortest length of the range [ns] */
  from_ns: number;
  /** Number of gaps */
  gap_count: number;
  /** Length of all of them [ns] */
  gap_ns: number;
}

export const RUN_GAPS_HISTOGRAM: TableInfo<RunGapsHistogramRow> = {
  node: ["Node", "", "Host name of the node, else the file"],
  gpu: ["GPU", "", "Number of the GPU on the node; empty = not recorded"],
  pid: ["PID", "", "Process; empty = all of the GPU"],
  rank: ["Rank", "", "Its rank; empty = not known"],
  stream_id: ["Stream ID", "", "Stream; empty = all of the GPU, or not recorded"],
  from_ns: ["From", "ns", "Shortest length of the range"],
  gap_count: ["Gaps", "", "Number of gaps"],
  gap_ns: ["Gap", "ns", "Length of all of them"],
};

/** One row is one of the longest gaps. */
export interface RunGapsLargestRow {
  /** Host name of the node, else the file */
  node: string;
  /** Number of the GPU on the node; empty = not recorded */
  gpu: number | null;
  /** Process; empty = all of the GPU */
  pid: number | null;
  /** Its rank; empty = not known */
  rank: number | null;
  /** Stream; empty = all of the GPU, or not recorded */
  stream_id: number | null;
  /** Start, since the start of its node [ns] */
  begin: number;
  /** The same after the begin of the recording on its node, as --time counts [ns] */
  at_ns: number;
  /** How long it lasted [ns] */
  gap_ns: number;
  /** The dispatch or copy that ended when it began */
  previous: string;
  /** The dispatch or copy that ended it */
  next: string;
  /** Of the next dispatch; empty for copies */
  dispatch_id: number | null;
  /** Thread that launched the next one */
  tid: number;
  /** Launch of the next one after the begin of the gap; negative = before [ns] */
  launch_at_ns: number;
  /** From the begin of that call to the start of the next one; empty = not known [ns] */
  launch_ns: number | null;
  /** Work of the GPU that was launched and had not begun when the gap began */
  queue_depth: number;
  /** Largest part of the gap, as in causes */
  cause: string;
  /** The call of that thread that took most of the gap, or is its cause */
  function: string | null;
  /** Time of the gap in that call [ns] */
  function_ns: number;
  /** Innermost of stack */
  context: string | null;
  /** Markers, operators, frames that lasted half of the gap, outermost first */
  stack: string | null;
}

export const RUN_GAPS_LARGEST: TableInfo<RunGapsLargestRow> = {
  node: ["Node", "", "Host name of the node, else the file"],
  gpu: ["GPU", "", "Number of the GPU on the node; empty = not recorded"],
  pid: ["PID", "", "Process; empty = all of the GPU"],
  rank: ["Rank", "", "Its rank; empty = not known"],
  stream_id: ["Stream ID", "", "Stream; empty = all of the GPU, or not recorded"],
  begin: ["Begin", "ns", "Start, since the start of its node"],
  at_ns: ["At", "ns", "The same after the begin of the recording on its node, as --time counts"],
  gap_ns: ["Gap", "ns", "How long it lasted"],
  previous: ["Previous", "", "The dispatch or copy that ended when it began"],
  next: ["Next", "", "The dispatch or copy that ended it"],
  dispatch_id: ["Dispatch ID", "", "Of the next dispatch; empty for copies"],
  tid: ["TID", "", "Thread that launched the next one"],
  launch_at_ns: ["Launch at", "ns", "Launch of the next one after the begin of the gap; negative = before"],
  launch_ns: ["Launch", "ns", "From the begin of that call to the start of the next one; empty = not known"],
  queue_depth: ["Queue depth", "", "Work of the GPU that was launched and had not begun when the gap began"],
  cause: ["Cause", "", "Largest part of the gap, as in causes"],
  function: ["Function", "", "The call of that thread that took most of the gap, or is its cause"],
  function_ns: ["Function", "ns", "Time of the gap in that call"],
  context: ["Context", "", "Innermost of stack"],
  stack: ["Stack", "", "Markers, operators, frames that lasted half of the gap, outermost first"],
};

/** Idle time of GPUs, or their streams, between work, and its causes. */
export interface RunGapsAnswer {
  definition: string;
  gpus: Frame<RunGapsGpusRow>;
  causes: Frame<RunGapsCausesRow>;
  histogram: Frame<RunGapsHistogramRow>;
  largest: Frame<RunGapsLargestRow>;
  /** All gaps, of which `largest` has the longest. */
  gap_count: number;
  /** Recorded calls into runtimes, which tell why. */
  call_count: number;
}

/** One row is one function that launches work. */
export interface RunLaunchesFunctionsRow {
  /** The call */
  function: string;
  /** Calls that launched work */
  launch_count: number;
  /** Of these, with several pieces of work */
  graph_count: number;
  /** Kernels and copies they launched */
  work_count: number;
  /** Median duration of the call [ns] */
  call_median_ns: number | null;
  /** Durations of these calls [ns] */
  call_total_ns: number | null;
  /** Launches whose first work began before the call returned */
  early_count: number;
  /** Mean delay [ns] */
  delay_mean_ns: number | null;
  /** Median delay [ns] */
  delay_median_ns: number | null;
  /** 95 of 100 delays are shorter [ns] */
  delay_p95_ns: number | null;
  /** Longest delay [ns] */
  delay_max_ns: number | null;
}

export const RUN_LAUNCHES_FUNCTIONS: TableInfo<RunLaunchesFunctionsRow> = {
  function: ["Function", "", "The call"],
  launch_count: ["Launches", "", "Calls that launched work"],
  graph_count: ["Graphs", "", "Of these, with several pieces of work"],
  work_count: ["Works", "", "Kernels and copies they launched"],
  call_median_ns: ["Call median", "ns", "Median duration of the call"],
  call_total_ns: ["Call", "ns", "Durations of these calls"],
  early_count: ["Earlies", "", "Launches whose first work began before the call returned"],
  delay_mean_ns: ["Delay mean", "ns", "Mean delay"],
  delay_median_ns: ["Delay median", "ns", "Median delay"],
  delay_p95_ns: ["Delay p95", "ns", "95 of 100 delays are shorter"],
  delay_max_ns: ["Delay max", "ns", "Longest delay"],
};

/** One row is one process with GPU work. */
export interface RunLaunchesProcessesRow {
  /** Node */
  host: string | null;
  /** Process id */
  pid: number | null;
  /** Rank; empty = not known */
  rank: number | null;
  /** Recording */
  run: string | null;
  /** Kernels and copies */
  work_count: number;
  /** Launches of these that were recorded */
  launch_count: number;
  /** Kernels and copies whose launch was not recorded */
  unknown_count: number;
  /** Share of them in all */
  unknown_share: number | null;
  /** Their durations [ns] */
  unknown_ns: number;
  /** Mean queue depth over time */
  depth_mean: number | null;
  /** Deepest queue */
  depth_max: number | null;
  /** Share of the time with nothing launched that has not started */
  empty_share: number | null;
  /** Steps */
  step_count: number;
  /** Launches that start in a step, median */
  launches_per_step: number | null;
  /** Calls into the runtime that start in a step, median */
  calls_per_step: number | null;
}

export const RUN_LAUNCHES_PROCESSES: TableInfo<RunLaunchesProcessesRow> = {
  host: ["Host", "", "Node"],
  pid: ["PID", "", "Process id"],
  rank: ["Rank", "", "Rank; empty = not known"],
  run: ["Run", "", "Recording"],
  work_count: ["Works", "", "Kernels and copies"],
  launch_count: ["Launches", "", "Launches of these that were recorded"],
  unknown_count: ["Unknowns", "", "Kernels and copies whose launch was not recorded"],
  unknown_share: ["Unknown share", "", "Share of them in all"],
  unknown_ns: ["Unknown", "ns", "Their durations"],
  depth_mean: ["Depth mean", "", "Mean queue depth over time"],
  depth_max: ["Depth max", "", "Deepest queue"],
  empty_share: ["Empty share", "", "Share of the time with nothing launched that has not started"],
  step_count: ["Steps", "", "Steps"],
  launches_per_step: ["Launches per step", "", "Launches that start in a step, median"],
  calls_per_step: ["Calls per step", "", "Calls into the runtime that start in a step, median"],
};

/** One row is one of up to 60 equal intervals of a process. */
export interface RunLaunchesDepthsRow {
  /** Node */
  host: string | null;
  /** Process id */
  pid: number | null;
  /** Rank; empty = not known */
  rank: number | null;
  /** Recording */
  run: string | null;
  /** Start, since the start of its node [ns] */
  begin: number;
  /** Mean queue depth */
  depth_mean: number;
  /** Deepest queue */
  depth_max: number;
}

export const RUN_LAUNCHES_DEPTHS: TableInfo<RunLaunchesDepthsRow> = {
  host: ["Host", "", "Node"],
  pid: ["PID", "", "Process id"],
  rank: ["Rank", "", "Rank; empty = not known"],
  run: ["Run", "", "Recording"],
  begin: ["Begin", "ns", "Start, since the start of its node"],
  depth_mean: ["Depth mean", "", "Mean queue depth"],
  depth_max: ["Depth max", "", "Deepest queue"],
};

/** Launches of GPU work. */
export interface RunLaunchesAnswer {
  definition: string;
  /** Recorded calls into runtimes. */
  call_count: number;
  functions: Frame<RunLaunchesFunctionsRow>;
  processes: Frame<RunLaunchesProcessesRow>;
  depths: Frame<RunLaunchesDepthsRow>;
  verdict: string;
}

/** One row is one thread, or one stream of a GPU. */
export interface RunLinesRow {
  /** Number */
  line: number;
  /** Thread or stream */
  kind: string;
  /** The process to show */
  group: string;
  /** Its thread or GPU to show */
  part: string;
  /** Its first track to show */
  label: string;
  /** Events on it */
  span_count: number;
  /** Durations of the outermost events [ns] */
  total_ns: number;
}

export const RUN_LINES: TableInfo<RunLinesRow> = {
  line: ["Line", "", "Number"],
  kind: ["Kind", "", "Thread or stream"],
  group: ["Group", "", "The process to show"],
  part: ["Part", "", "Its thread or GPU to show"],
  label: ["Label", "", "Its first track to show"],
  span_count: ["Spans", "", "Events on it"],
  total_ns: ["Total", "ns", "Durations of the outermost events"],
};

/** One row is the memory of one GPU, or of the host, of one process and one allocator. */
export interface RunMemoryPlacesRow {
  /** Name of the node */
  host: string;
  /** Process */
  pid: number;
  /** Its rank; empty = not known */
  rank: number | null;
  /** Id of the recording, else the file */
  run: string;
  /** GPU or HOST; empty = not recorded */
  kind: string | null;
  /** Number of the GPU on the node; empty = host memory, or not recorded */
  gpu: number | null;
  /** FRAMEWORK = the allocator of PyTorch or XLA; HIP = the runtime */
  pool: string;
  /** Allocations */
  allocation_count: number;
  /** Releases */
  release_count: number;
  /** Sum of all allocations [bytes] */
  allocated_bytes: number;
  /** Alive before the recording, as far as known [bytes] */
  before_bytes: number;
  /** Most that was alive at once [bytes] */
  peak_bytes: number;
  /** Of the peak: from before the recording; the rest has a call site [bytes] */
  peak_before_bytes: number;
  /** When it was first reached, from the start of the run [ns] */
  peak_ns: number;
  /** Innermost marker that was open then; empty = none */
  peak_marker: string | null;
  /** Most that the allocator had reserved of the GPU's memory; empty = not recorded [bytes] */
  reserved_peak_bytes: number | null;
  /** Alive at the end [bytes] */
  end_bytes: number;
  /** Allocations that are not freed */
  unfreed_count: number;
  /** Their size [bytes] */
  unfreed_bytes: number;
  /** Releases of what was allocated before the recording */
  earlier_count: number;
  /** Allocations at an address that was not released before */
  reused_count: number;
  /** Duration of all these calls [ns] */
  call_ns: number;
}

export const RUN_MEMORY_PLACES: TableInfo<RunMemoryPlacesRow> = {
  host: ["Host", "", "Name of the node"],
  pid: ["PID", "", "Process"],
  rank: ["Rank", "", "Its rank; empty = not known"],
  run: ["Run", "", "Id of the recording, else the file"],
  kind: ["Kind", "", "GPU or HOST; empty = not recorded"],
  gpu: ["GPU", "", "Number of the GPU on the node; empty = host memory, or not recorded"],
  pool: ["Pool", "", "FRAMEWORK = the allocator of PyTorch or XLA; HIP = the runtime"],
  allocation_count: ["Allocations", "", "Allocations"],
  release_count: ["Releases", "", "Releases"],
  allocated_bytes: ["Allocated", "bytes", "Sum of all allocations"],
  before_bytes: ["Before", "bytes", "Alive before the recording, as far as known"],
  peak_bytes: ["Peak", "bytes", "Most that was alive at once"],
  peak_before_bytes: ["Peak before", "bytes", "Of the peak: from before the recording; the rest has a call site"],
  peak_ns: ["Peak", "ns", "When it was first reached, from the start of the run"],
  peak_marker: ["Peak marker", "", "Innermost marker that was open then; empty = none"],
  reserved_peak_bytes: ["Reserved peak", "bytes", "Most that the allocator had reserved of the GPU's memory; empty = not recorded"],
  end_bytes: ["End", "bytes", "Alive at the end"],
  unfreed_count: ["Unfreed", "", "Allocations that are not freed"],
  unfreed_bytes: ["Unfreed", "bytes", "Their size"],
  earlier_count: ["Earliers", "", "Releases of what was allocated before the recording"],
  reused_count: ["Reused", "", "Allocations at an address that was not released before"],
  call_ns: ["Call", "ns", "Duration of all these calls"],
};

/** One row is one call site of one allocator, over all processes. */
export interface RunMemorySitesRow {
  /** FRAMEWORK or HIP */
  pool: string;
  /** The innermost operators, markers or functions, outermost first */
  site: string;
  /** Allocations */
  allocation_count: number;
  /** Their size [bytes] */
  allocated_bytes: number;
  /** Alive at the peak of their GPU */
  peak_count: number;
  /** Their size [bytes] */
  peak_bytes: number;
  /** Not freed */
  unfreed_count: number;
  /** Their size [bytes] */
  unfreed_bytes: number;
  /** Duration of the calls that allocate [ns] */
  call_ns: number;
}

export const RUN_MEMORY_SITES: TableInfo<RunMemorySitesRow> = {
  pool: ["Pool", "", "FRAMEWORK or HIP"],
  site: ["Site", "", "The innermost operators, markers or functions, outermost first"],
  allocation_count: ["Allocations", "", "Allocations"],
  allocated_bytes: ["Allocated", "bytes", "Their size"],
  peak_count: ["Peaks", "", "Alive at the peak of their GPU"],
  peak_bytes: ["Peak", "bytes", "Their size"],
  unfreed_count: ["Unfreed", "", "Not freed"],
  unfreed_bytes: ["Unfreed", "bytes", "Their size"],
  call_ns: ["Call", "ns", "Duration of the calls that allocate"],
};

/** One row is allocations of one allocator that were made for the same, of those that were recorded with their stack. */
export interface RunMemoryCategoriesRow {
  /** FRAMEWORK or HIP */
  pool: string;
  /** Forward pass, backward pass, optimizer, KV cache, ...; as the frames of the stack say */
  category: string;
  /** Allocations */
  allocation_count: number;
  /** Their size [bytes] */
  allocated_bytes: number;
  /** Alive at the peak of their GPU */
  peak_count: number;
  /** Their size [bytes] */
  peak_bytes: number;
  /** Not freed */
  unfreed_count: number;
  /** Their size [bytes] */
  unfreed_bytes: number;
  /** Duration of the calls that allocate [ns] */
  call_ns: number;
}

export const RUN_MEMORY_CATEGORIES: TableInfo<RunMemoryCategoriesRow> = {
  pool: ["Pool", "", "FRAMEWORK or HIP"],
  category: ["Category", "", "Forward pass, backward pass, optimizer, KV cache, ...; as the frames of the stack say"],
  allocation_count: ["Allocations", "", "Allocations"],
  allocated_bytes: ["Allocated", "bytes", "Their size"],
  peak_count: ["Peaks", "", "Alive at the peak of their GPU"],
  peak_bytes: ["Peak", "bytes", "Their size"],
  unfreed_count: ["Unfreed", "", "Not freed"],
  unfreed_bytes: ["Unfreed", "bytes", "Their size"],
  call_ns: ["Call", "ns", "Duration of the calls that allocate"],
};

/** One row is segments of one type, stream and owner that the allocator of a framework had reserved when it was asked. */
export interface RunMemoryPoolsRow {
  /** Name of the node */
  host: string;
  /** Process */
  pid: number;
  /** Its rank; empty = not known */
  rank: number | null;
  /** Id of the recording, else the file */
  run: string;
  /** GPU or HOST; empty = not recorded */
  kind: string | null;
  /** Number of the GPU on the node; empty = host memory, or not recorded */
  gpu: number | null;
  /** FRAMEWORK = the allocator of PyTorch or XLA; HIP = the runtime */
  pool: string;
  /** Private pool, such as that of a captured graph; empty = the general one */
  owner: string | null;
  /** Large or small */
  segment_type: string | null;
  /** Stream that allocates from it */
  stream: number | null;
  /** Segments */
  segment_count: number;
  /** Their size [bytes] */
  reserved_bytes: number;
  /** Of that, blocks in use [bytes] */
  used_bytes: number;
  /** What was asked for them; the rest of the blocks in use is rounding [bytes] */
  requested_bytes: number;
  /** Free blocks of segments in which another block is in use: they cannot be given back [bytes] */
  fragmented_bytes: number;
  /** Free blocks of other segments, which torch.cuda.empty_cache() gives back [bytes] */
  cached_bytes: number;
  /** Largest free block: a larger allocation needs a new segment [bytes] */
  largest_free_bytes: number;
}

export const RUN_MEMORY_POOLS: TableInfo<RunMemoryPoolsRow> = {
  host: ["Host", "", "Name of the node"],
  pid: ["PID", "", "Process"],
  rank: ["Rank", "", "Its rank; empty = not known"],
  run: ["Run", "", "Id of the recording, else the file"],
  kind: ["Kind", "", "GPU or HOST; empty = not recorded"],
  gpu: ["GPU", "", "Number of the GPU on the node; empty = host memory, or not recorded"],
  pool: ["Pool", "", "FRAMEWORK = the allocator of PyTorch or XLA; HIP = the runtime"],
  owner: ["Owner", "", "Private pool, such as that of a captured graph; empty = the general one"],
  segment_type: ["Segment type", "", "Large or small"],
  stream: ["Stream", "", "Stream that allocates from it"],
  segment_count: ["Segments", "", "Segments"],
  reserved_bytes: ["Reserved", "bytes", "Their size"],
  used_bytes: ["Used", "bytes", "Of that, blocks in use"],
  requested_bytes: ["Requested", "bytes", "What was asked for them; the rest of the blocks in use is rounding"],
  fragmented_bytes: ["Fragmented", "bytes", "Free blocks of segments in which another block is in use: they cannot be given back"],
  cached_bytes: ["Cached", "bytes", "Free blocks of other segments, which torch.cuda.empty_cache() gives back"],
  largest_free_bytes: ["Largest free", "bytes", "Largest free block: a larger allocation needs a new segment"],
};

/** One row is one bin of time of one place. */
export interface RunMemoryCurveRow {
  /** Name of the node */
  host: string;
  /** Process */
  pid: number;
  /** Its rank; empty = not known */
  rank: number | null;
  /** Id of the recording, else the file */
  run: string;
  /** GPU or HOST; empty = not recorded */
  kind: string | null;
  /** Number of the GPU on the node; empty = host memory, or not recorded */
  gpu: number | null;
  /** FRAMEWORK = the allocator of PyTorch or XLA; HIP = the runtime */
  pool: string;
  /** Start, since the start of its node [ns] */
  begin: number;
  /** End, since the start of its node [ns] */
  end: number;
  /** Most that was alive in it [bytes] */
  live_bytes: number;
  /** Most that the allocator held of the GPU's memory in it; empty = not recorded [bytes] */
  reserved_bytes: number | null;
}

export const RUN_MEMORY_CURVE: TableInfo<RunMemoryCurveRow> = {
  host: ["Host", "", "Name of the node"],
  pid: ["PID", "", "Process"],
  rank: ["Rank", "", "Its rank; empty = not known"],
  run: ["Run", "", "Id of the recording, else the file"],
  kind: ["Kind", "", "GPU or HOST; empty = not recorded"],
  gpu: ["GPU", "", "Number of the GPU on the node; empty = host memory, or not recorded"],
  pool: ["Pool", "", "FRAMEWORK = the allocator of PyTorch or XLA; HIP = the runtime"],
  begin: ["Begin", "ns", "Start, since the start of its node"],
  end: ["End", "ns", "End, since the start of its node"],
  live_bytes: ["Live", "bytes", "Most that was alive in it"],
  reserved_bytes: ["Reserved", "bytes", "Most that the allocator held of the GPU's memory in it; empty = not recorded"],
};

/** The memory of a run over time. */
export interface RunMemoryAnswer {
  definition: string;
  places: Frame<RunMemoryPlacesRow>;
  sites: Frame<RunMemorySitesRow>;
  categories: Frame<RunMemoryCategoriesRow>;
  pools: Frame<RunMemoryPoolsRow>;
  curve: Frame<RunMemoryCurveRow>;
  /** Whether the recording covers the end of every process, so that what is not freed is a leak. */
  covers_end: boolean;
  verdict: string;
}

/** One row is one GPU; of work of one process where several use it. */
export interface RunOverlapGpusRow {
  /** Host name of the node, else the file */
  node: string;
  /** Number of the GPU on the node; empty = not recorded */
  gpu: number | null;
  /** Process */
  pid: number;
  /** Its rank; empty = not known */
  rank: number | null;
  /** Span of all GPU work of its node, or the time window [ns] */
  span_ns: number;
  /** With kernels that compute [ns] */
  computation_ns: number;
  /** With kernels that communicate [ns] */
  communication_ns: number;
  /** With copies [ns] */
  copy_ns: number;
  /** With communication, without computation [ns] */
  exposed_communication_ns: number;
  /** With copies, without any kernel [ns] */
  exposed_copy_ns: number;
  /** Of copy_ns: with a kernel at the same time */
  copy_hidden_share: number;
  /** Of communication_ns: with computation at the same time */
  communication_hidden_share: number;
  /** With work of any kind [ns] */
  busy_ns: number;
  /** Without any work, of the span [ns] */
  idle_ns: number;
  /** Share of the span with work */
  busy_share: number;
  /** With work of any process on this GPU; empty = too many intervals to tell [ns] */
  gpu_busy_ns: number | null;
}

export const RUN_OVERLAP_GPUS: TableInfo<RunOverlapGpusRow> = {
  node: ["Node", "", "Host name of the node, else the file"],
  gpu: ["GPU", "", "Number of the GPU on the node; empty = not recorded"],
  pid: ["PID", "", "Process"],
  rank: ["Rank", "", "Its rank; empty = not known"],
  span_ns: ["Span", "ns", "Span of all GPU work of its node, or the time window"],
  computation_ns: ["Computation", "ns", "With kernels that compute"],
  communication_ns: ["Communication", "ns", "With kernels that communicate"],
  copy_ns: ["Copy", "ns", "With copies"],
  exposed_communication_ns: ["Exposed communication", "ns", "With communication, without computation"],
  exposed_copy_ns: ["Exposed copy", "ns", "With copies, without any kernel"],
  copy_hidden_share: ["Copy hidden share", "", "Of copy_ns: with a kernel at the same time"],
  communication_hidden_share: ["Communication hidden share", "", "Of communication_ns: with computation at the same time"],
  busy_ns: ["Busy", "ns", "With work of any kind"],
  idle_ns: ["Idle", "ns", "Without any work, of the span"],
  busy_share: ["Busy share", "", "Share of the span with work"],
  gpu_busy_ns: ["GPU busy", "ns", "With work of any process on this GPU; empty = too many intervals to tell"],
};

/** One row is two streams of one process on one GPU that both had work. */
export interface RunOverlapStreamsRow {
  /** Host name of the node, else the file */
  node: string;
  /** Number of the GPU on the node; empty = not recorded */
  gpu: number | null;
  /** Process */
  pid: number;
  /** Its rank; empty = not known */
  rank: number | null;
  /** One stream */
  first_stream_id: number;
  /** The other stream */
  second_stream_id: number;
  /** With work of the first [ns] */
  first_busy_ns: number;
  /** With work of the second [ns] */
  second_busy_ns: number;
  /** With work of both [ns] */
  both_ns: number;
  /** both_ns of the shorter of the two */
  both_share: number;
}

export const RUN_OVERLAP_STREAMS: TableInfo<RunOverlapStreamsRow> = {
  node: ["Node", "", "Host name of the node, else the file"],
  gpu: ["GPU", "", "Number of the GPU on the node; empty = not recorded"],
  pid: ["PID", "", "Process"],
  rank: ["Rank", "", "Its rank; empty = not known"],
  first_stream_id: ["First stream ID", "", "One stream"],
  second_stream_id: ["Second stream ID", "", "The other stream"],
  first_busy_ns: ["First busy", "ns", "With work of the first"],
  second_busy_ns: ["Second busy", "ns", "With work of the second"],
  both_ns: ["Both", "ns", "With work of both"],
  both_share: ["Both share", "", "both_ns of the shorter of the two"],
};

/** One row is two processes on one GPU. */
export interface RunOverlapProcessesRow {
  /** Host name of the node, else the file */
  node: string;
  /** Number of the GPU on the node; empty = not recorded */
  gpu: number | null;
  /** One process */
  first_pid: number;
  /** The other process */
  second_pid: number;
  /** With work of the first [ns] */
  first_busy_ns: number;
  /** With work of the second [ns] */
  second_busy_ns: number;
  /** With work of both [ns] */
  both_ns: number;
  /** both_ns of the shorter of the two */
  both_share: number;
}

export const RUN_OVERLAP_PROCESSES: TableInfo<RunOverlapProcessesRow> = {
  node: ["Node", "", "Host name of the node, else the file"],
  gpu: ["GPU", "", "Number of the GPU on the node; empty = not recorded"],
  first_pid: ["First PID", "", "One process"],
  second_pid: ["Second PID", "", "The other process"],
  first_busy_ns: ["First busy", "ns", "With work of the first"],
  second_busy_ns: ["Second busy", "ns", "With work of the second"],
  both_ns: ["Both", "ns", "With work of both"],
  both_share: ["Both share", "", "both_ns of the shorter of the two"],
};

/** One row is one number of processes, or of streams of a GPU, that have GPU work at the same time. */
export interface RunOverlapLevelsRow {
  /** Host name of the node, else the file */
  node: string;
  /** GPU, for streams; empty for processes of the node */
  gpu: number | null;
  /** Processes or streams */
  what: string;
  /** How many at the same time */
  level: number;
  /** How long [ns] */
  length_ns: number;
  /** Of the time with at least one */
  busy_share: number;
}

export const RUN_OVERLAP_LEVELS: TableInfo<RunOverlapLevelsRow> = {
  node: ["Node", "", "Host name of the node, else the file"],
  gpu: ["GPU", "", "GPU, for streams; empty for processes of the node"],
  what: ["What", "", "Processes or streams"],
  level: ["Level", "", "How many at the same time"],
  length_ns: ["Length", "ns", "How long"],
  busy_share: ["Busy share", "", "Of the time with at least one"],
};

/** One row is one process. */
export interface RunOverlapHostRow {
  /** Host name of the node, else the file */
  node: string;
  /** Process */
  pid: number;
  /** Its rank; empty = unknown */
  rank: number | null;
  /** With at least one call into the runtime, in any of its threads [ns] */
  call_ns: number;
  /** Of that, while the GPU did work of the process [ns] */
  call_hidden_ns: number;
  /** call_hidden_ns / call_ns */
  call_hidden_share: number;
  /** With GPU work of the process [ns] */
  gpu_busy_ns: number;
}

export const RUN_OVERLAP_HOST: TableInfo<RunOverlapHostRow> = {
  node: ["Node", "", "Host name of the node, else the file"],
  pid: ["PID", "", "Process"],
  rank: ["Rank", "", "Its rank; empty = unknown"],
  call_ns: ["Call", "ns", "With at least one call into the runtime, in any of its threads"],
  call_hidden_ns: ["Call hidden", "ns", "Of that, while the GPU did work of the process"],
  call_hidden_share: ["Call hidden share", "", "call_hidden_ns / call_ns"],
  gpu_busy_ns: ["GPU busy", "ns", "With GPU work of the process"],
};

/** Events that run at the same time. */
export interface RunOverlapAnswer {
  definition: string;
  gpus: Frame<RunOverlapGpusRow>;
  streams: Frame<RunOverlapStreamsRow>;
  processes: Frame<RunOverlapProcessesRow>;
  levels: Frame<RunOverlapLevelsRow>;
  host: Frame<RunOverlapHostRow>;
  /** Idle time that `processes` and their `levels` count as busy, because a process has too many intervals. */
  bridged_ns: number;
  /** Streams of a GPU that `streams` compares, the busiest, where there are more; None = all are compared. */
  stream_limit: number | null;
  verdict: string;
}

/** One row is one process. */
export interface RunOverviewProcessesRow {
  /** ROCpd, RPD, rocprofv3 CSV, ... */
  format: string;
  /** Host name; empty = not recorded */
  node: string | null;
  /** Process id; empty = not recorded */
  pid: number | null;
  /** Its rank; empty = unknown */
  rank: number | null;
  /** Command line; empty = not recorded */
  command: string | null;
  /** Dispatches */
  kernel_count: number;
  /** Copies */
  copy_count: number;
  /** Calls and ranges */
  region_count: number;
  /** Marks and calls without duration */
  sample_count: number;
  /** Allocations and releases */
  allocation_count: number;
  /** Values of counters */
  counter_count: number;
  /** Host name of its node, else the file */
  place: string;
  /** First event, since the start of its node [ns] */
  begin: number | null;
  /** Last event, since the start of its node [ns] */
  end: number | null;
  /** First dispatch or copy, since the start of its node [ns] */
  gpu_begin: number | null;
  /** Last dispatch or copy, since the start of its node [ns] */
  gpu_end: number | null;
}

export const RUN_OVERVIEW_PROCESSES: TableInfo<RunOverviewProcessesRow> = {
  format: ["Format", "", "ROCpd, RPD, rocprofv3 CSV, ..."],
  node: ["Node", "", "Host name; empty = not recorded"],
  pid: ["PID", "", "Process id; empty = not recorded"],
  rank: ["Rank", "", "Its rank; empty = unknown"],
  command: ["Command", "", "Command line; empty = not recorded"],
  kernel_count: ["Kernels", "", "Dispatches"],
  copy_count: ["Copies", "", "Copies"],
  region_count: ["Regions", "", "Calls and ranges"],
  sample_count: ["Samples", "", "Marks and calls without duration"],
  allocation_count: ["Allocations", "", "Allocations and releases"],
  counter_count: ["Counters", "", "Values of counters"],
  place: ["Place", "", "Host name of its node, else the file"],
  begin: ["Begin", "ns", "First event, since the start of its node"],
  end: ["End", "ns", "Last event, since the start of its node"],
  gpu_begin: ["GPU begin", "ns", "First dispatch or copy, since the start of its node"],
  gpu_end: ["GPU end", "ns", "Last dispatch or copy, since the start of its node"],
};

/** One row is one GPU that processes saw. */
export interface RunOverviewGpusRow {
  /** Host name of the node, else the file */
  node: string;
  /** Number of the GPU on the node; empty = not recorded */
  gpu: number | null;
  /** gfx942, ...; empty = not recorded */
  target: string | null;
  /** Name of the product; empty = not recorded */
  product: string | null;
  /** Dispatches that ran on it */
  kernel_count: number;
}

export const RUN_OVERVIEW_GPUS: TableInfo<RunOverviewGpusRow> = {
  node: ["Node", "", "Host name of the node, else the file"],
  gpu: ["GPU", "", "Number of the GPU on the node; empty = not recorded"],
  target: ["Target", "", "gfx942, ...; empty = not recorded"],
  product: ["Product", "", "Name of the product; empty = not recorded"],
  kernel_count: ["Kernels", "", "Dispatches that ran on it"],
};

/** One row is one group of processes that meet in collectives, the longest first; others are alone. */
export interface RunPathGroupsRow {
  /** Group of processes that meet in collectives: the number of its first process */
  group: number;
  /** Processes in it */
  process_count: number;
  /** Node of the process that ends last */
  host: string;
  /** Its process id */
  pid: number;
  /** Its rank; empty = not known */
  rank: number | null;
  /** From there to the end of its last event [ns] */
  span_ns: number;
  /** Segments of its path */
  segment_count: number;
  /** Time of the segments that are inferred [ns] */
  inferred_ns: number;
  /** Time of the segments with evidence: not inferred, idle or unknown [ns] */
  explained_ns: number;
  /** Of the span */
  explained_share: number;
  /** Time with work of a GPU of the process that the path is in [ns] */
  gpu_busy_ns: number;
  /** By how much clocks of CPU and GPU contradict each other in its processes [ns] */
  tolerance_ns: number;
}

export const RUN_PATH_GROUPS: TableInfo<RunPathGroupsRow> = {
  group: ["Group", "", "Group of processes that meet in collectives: the number of its first process"],
  process_count: ["Processes", "", "Processes in it"],
  host: ["Host", "", "Node of the process that ends last"],
  pid: ["PID", "", "Its process id"],
  rank: ["Rank", "", "Its rank; empty = not known"],
  span_ns: ["Span", "ns", "From there to the end of its last event"],
  segment_count: ["Segments", "", "Segments of its path"],
  inferred_ns: ["Inferred", "ns", "Time of the segments that are inferred"],
  explained_ns: ["Explained", "ns", "Time of the segments with evidence: not inferred, idle or unknown"],
  explained_share: ["Explained share", "", "Of the span"],
  gpu_busy_ns: ["GPU busy", "ns", "Time with work of a GPU of the process that the path is in"],
  tolerance_ns: ["Tolerance", "ns", "By how much clocks of CPU and GPU contradict each other in its processes"],
};

/** One row is one class of time on the path of one group. */
export interface RunPathClassesRow {
  /** Group of processes that meet in collectives: the number of its first process */
  group: number;
  /** Host, launch, kernels, communication, copies, idle, unknown */
  class: string;
  /** Time on the path [ns] */
  path_ns: number;
  /** Of the span of the group */
  path_share: number;
  /** Of these, inferred [ns] */
  inferred_ns: number;
  /** Of these, with work of a GPU of the process [ns] */
  gpu_busy_ns: number;
}

export const RUN_PATH_CLASSES: TableInfo<RunPathClassesRow> = {
  group: ["Group", "", "Group of processes that meet in collectives: the number of its first process"],
  class: ["Class", "", "Host, launch, kernels, communication, copies, idle, unknown"],
  path_ns: ["Path", "ns", "Time on the path"],
  path_share: ["Path share", "", "Of the span of the group"],
  inferred_ns: ["Inferred", "ns", "Of these, inferred"],
  gpu_busy_ns: ["GPU busy", "ns", "Of these, with work of a GPU of the process"],
};

/** One row is one kernel, copy, call, or host code before a call, on the path of one group. */
export interface RunPathContributorsRow {
  /** Group of processes that meet in collectives: the number of its first process */
  group: number;
  /** As in classes */
  class: string;
  /** Work, call, code before, launch, ... */
  what: string;
  /** Kernel, copy or function; of code before, the function that is called after it */
  name: string;
  /** Segments */
  count: number;
  /** Time on the path [ns] */
  path_ns: number;
  /** Of the span of the group */
  path_share: number;
  /** Its longest segment [ns] */
  longest_ns: number;
  /** Time of all events of this name in the group, on the path or not [ns] */
  total_ns: number | null;
  /** Smallest slack of those [ns] */
  slack_min_ns: number | null;
}

export const RUN_PATH_CONTRIBUTORS: TableInfo<RunPathContributorsRow> = {
  group: ["Group", "", "Group of processes that meet in collectives: the number of its first process"],
  class: ["Class", "", "As in classes"],
  what: ["What", "", "Work, call, code before, launch, ..."],
  name: ["Name", "", "Kernel, copy or function; of code before, the function that is called after it"],
  count: ["Count", "", "Segments"],
  path_ns: ["Path", "ns", "Time on the path"],
  path_share: ["Path share", "", "Of the span of the group"],
  longest_ns: ["Longest", "ns", "Its longest segment"],
  total_ns: ["Total", "ns", "Time of all events of this name in the group, on the path or not"],
  slack_min_ns: ["Slack min", "ns", "Smallest slack of those"],
};

/** One row is one segment of the path; the longest. */
export interface RunPathSegmentsRow {
  /** Group of processes that meet in collectives */
  group: number;
  /** The event on the timeline; empty = before the first or after the last */
  item: number | null;
  /** Start, since the start of its node [ns] */
  begin: number;
  /** End, since the start of its node [ns] */
  end: number;
  /** How long [ns] */
  length_ns: number;
  /** Host, launch, kernels, communication, copies, idle, unknown */
  class: string;
  /** Work, call, code before, launch, ... */
  what: string;
  /** Kernel, copy or function; of code before, the function that is called after it */
  name: string;
  /** Rank of its process */
  rank: number | null;
  /** Whether the record only suggests what was waited for */
  is_inferred: boolean;
  /** Markers, operators and frames that were open, outermost first */
  stack: string;
}

export const RUN_PATH_SEGMENTS: TableInfo<RunPathSegmentsRow> = {
  group: ["Group", "", "Group of processes that meet in collectives"],
  item: ["Item", "", "The event on the timeline; empty = before the first or after the last"],
  begin: ["Begin", "ns", "Start, since the start of its node"],
  end: ["End", "ns", "End, since the start of its node"],
  length_ns: ["Length", "ns", "How long"],
  class: ["Class", "", "Host, launch, kernels, communication, copies, idle, unknown"],
  what: ["What", "", "Work, call, code before, launch, ..."],
  name: ["Name", "", "Kernel, copy or function; of code before, the function that is called after it"],
  rank: ["Rank", "", "Rank of its process"],
  is_inferred: ["Inferred", "", "Whether the record only suggests what was waited for"],
  stack: ["Stack", "", "Markers, operators and frames that were open, outermost first"],
};

/** One row is one class of time on the path within one step. */
export interface RunPathStepsRow {
  /** Group of processes that meet in collectives */
  group: number;
  /** Number of the step */
  step: number;
  /** Start, since the start of its node [ns] */
  begin: number;
  /** How long it took [ns] */
  span_ns: number;
  /** Host, launch, kernels, communication, copies, idle, unknown */
  class: string;
  /** Time on the path [ns] */
  path_ns: number;
  /** Of the step */
  path_share: number;
}

export const RUN_PATH_STEPS: TableInfo<RunPathStepsRow> = {
  group: ["Group", "", "Group of processes that meet in collectives"],
  step: ["Step", "", "Number of the step"],
  begin: ["Begin", "ns", "Start, since the start of its node"],
  span_ns: ["Span", "ns", "How long it took"],
  class: ["Class", "", "Host, launch, kernels, communication, copies, idle, unknown"],
  path_ns: ["Path", "ns", "Time on the path"],
  path_share: ["Path share", "", "Of the step"],
};

/** One row is one process. */
export interface RunRanksProcessesRow {
  /** Node */
  host: string | null;
  /** Process id */
  pid: number | null;
  /** Rank; empty = not known */
  rank: number | null;
  /** Unique id of the recording, or its path */
  run: string;
  /** GPUs it used */
  gpu_count: number;
  /** Durations of its kernels without collectives, added up [ns] */
  compute_ns: number;
  /** Number of the ranks with the same kernels */
  peers: number;
  /** Its compute time over the mean of its peers, minus 1; empty = it has none */
  deviation: number | null;
  /** With a collective, waiting included; several at once count once [ns] */
  collective_ns: number;
  /** Of these, waiting for ranks that arrived later; of complete collectives [ns] */
  waited_ns: number;
  /** Collectives at which it arrived last */
  last_count: number;
  /** Time of its copies [ns] */
  copy_ns: number;
  /** Without any GPU work between its first and its last [ns] */
  idle_ns: number;
  /** Of that, with nothing launched; empty = launches were not recorded [ns] */
  host_ns: number | null;
  /** From its first event to its last [ns] */
  wall_ns: number | null;
  /** Share of that in which its GPUs ran anything */
  busy_share: number | null;
}

export const RUN_RANKS_PROCESSES: TableInfo<RunRanksProcessesRow> = {
  host: ["Host", "", "Node"],
  pid: ["PID", "", "Process id"],
  rank: ["Rank", "", "Rank; empty = not known"],
  run: ["Run", "", "Unique id of the recording, or its path"],
  gpu_count: ["GPUs", "", "GPUs it used"],
  compute_ns: ["Compute", "ns", "Durations of its kernels without collectives, added up"],
  peers: ["Peers", "", "Number of the ranks with the same kernels"],
  deviation: ["Deviation", "", "Its compute time over the mean of its peers, minus 1; empty = it has none"],
  collective_ns: ["Collective", "ns", "With a collective, waiting included; several at once count once"],
  waited_ns: ["Waited", "ns", "Of these, waiting for ranks that arrived later; of complete collectives"],
  last_count: ["Last", "", "Collectives at which it arrived last"],
  copy_ns: ["Copy", "ns", "Time of its copies"],
  idle_ns: ["Idle", "ns", "Without any GPU work between its first and its last"],
  host_ns: ["Host", "ns", "Of that, with nothing launched; empty = launches were not recorded"],
  wall_ns: ["Wall", "ns", "From its first event to its last"],
  busy_share: ["Busy share", "", "Share of that in which its GPUs ran anything"],
};

/** One row is one kernel, no collective, that several processes ran. */
export interface RunRanksKernelsRow {
  /** Kernel */
  name: string;
  /** Processes that ran it */
  process_count: number;
  /** Dispatches of all of them */
  calls: number;
  /** Mean of the processes' total times [ns] */
  mean_ns: number;
  /** Largest total time of a process [ns] */
  max_ns: number;
  /** Largest total time minus the mean [ns] */
  cost_ns: number;
  /** Largest total time over the mean */
  imbalance: number | null;
  /** Largest mean duration of a process over the mean duration of all */
  per_call: number | null;
  /** Node of the process that takes longest */
  host: string | null;
  /** Its process id */
  pid: number | null;
  /** Its rank */
  rank: number | null;
  /** Its recording */
  run: string;
}

export const RUN_RANKS_KERNELS: TableInfo<RunRanksKernelsRow> = {
  name: ["Name", "", "Kernel"],
  process_count: ["Processes", "", "Processes that ran it"],
  calls: ["Calls", "", "Dispatches of all of them"],
  mean_ns: ["Mean", "ns", "Mean of the processes' total times"],
  max_ns: ["Max", "ns", "Largest total time of a process"],
  cost_ns: ["Cost", "ns", "Largest total time minus the mean"],
  imbalance: ["Imbalance", "", "Largest total time over the mean"],
  per_call: ["Per call", "", "Largest mean duration of a process over the mean duration of all"],
  host: ["Host", "", "Node of the process that takes longest"],
  pid: ["PID", "", "Its process id"],
  rank: ["Rank", "", "Its rank"],
  run: ["Run", "", "Its recording"],
};

/** One row is one collective that several processes ran. */
export interface RunRanksCollectivesRow {
  /** Kernel */
  name: string;
  /** Name of the collective as it was recorded: allreduce, ...; empty = it was not */
  collective: string | null;
  /** Ranks of its process group as recorded; empty = not recorded */
  group: string | null;
  /** Processes that ran it */
  process_count: number;
  /** Calls that were matched */
  calls: number;
  /** Whether all of its calls were */
  is_complete: boolean;
  /** How the last is known: start, aligned clocks, (shortest) duration, unknown */
  rule: string;
  /** Longest wait of a process, added up over calls [ns] */
  spread_ns: number;
  /** Longest minus mean wait of the processes, added up over calls [ns] */
  excess_ns: number;
  /** Spread over the longest durations, added up: part of it that is waiting */
  spread_share: number | null;
  /** Node of the process that arrived last most often */
  host: string | null;
  /** Its process id */
  pid: number | null;
  /** Its rank */
  rank: number | null;
  /** Its recording */
  run: string | null;
  /** How often it arrived last */
  last_count: number;
}

export const RUN_RANKS_COLLECTIVES: TableInfo<RunRanksCollectivesRow> = {
  name: ["Name", "", "Kernel"],
  collective: ["Collective", "", "Name of the collective as it was recorded: allreduce, ...; empty = it was not"],
  group: ["Group", "", "Ranks of its process group as recorded; empty = not recorded"],
  process_count: ["Processes", "", "Processes that ran it"],
  calls: ["Calls", "", "Calls that were matched"],
  is_complete: ["Complete", "", "Whether all of its calls were"],
  rule: ["Rule", "", "How the last is known: start, aligned clocks, (shortest) duration, unknown"],
  spread_ns: ["Spread", "ns", "Longest wait of a process, added up over calls"],
  excess_ns: ["Excess", "ns", "Longest minus mean wait of the processes, added up over calls"],
  spread_share: ["Spread share", "", "Spread over the longest durations, added up: part of it that is waiting"],
  host: ["Host", "", "Node of the process that arrived last most often"],
  pid: ["PID", "", "Its process id"],
  rank: ["Rank", "", "Its rank"],
  run: ["Run", "", "Its recording"],
  last_count: ["Last", "", "How often it arrived last"],
};

/** Spread of the work of a run over its processes. */
export interface RunRanksAnswer {
  definition: string;
  processes: Frame<RunRanksProcessesRow>;
  kernels: Frame<RunRanksKernelsRow>;
  collectives: Frame<RunRanksCollectivesRow>;
  causes: Frame<RunCollectivesCausesRow>;
  /** Largest compute time over the mean of its peers; None = nothing can be compared. */
  imbalance: number | null;
  /** Largest compute time minus the mean, of the peers where that is most. */
  cost_ns: number;
  /** Waiting in collectives, of all processes together. */
  waited_ns: number;
  caveats: Caveat[];
  verdict: string;
}

/** One row is one frame of the callers; the first is the function. */
export interface RunSandwichCallersRow {
  /** Number of the frame; every one comes behind its parent */
  frame: number;
  /** Frame that it lies in; -1 = none */
  parent: number;
  /** Name of the regions */
  name: string;
  /** OPERATOR, MARKER, HIP, PYTHON, ...; smaller = frames too small to be shown, together */
  domain: string;
  /** Regions */
  call_count: number;
  /** Their lengths added up [ns] */
  total_ns: number;
  /** Without the time that regions below cover [ns] */
  self_ns: number;
  /** Durations of what they and all regions below launched [ns] */
  gpu_total_ns: number;
  /** Durations of what they launched themselves [ns] */
  gpu_ns: number;
}

export const RUN_SANDWICH_CALLERS: TableInfo<RunSandwichCallersRow> = {
  frame: ["Frame", "", "Number of the frame; every one comes behind its parent"],
  parent: ["Parent", "", "Frame that it lies in; -1 = none"],
  name: ["Name", "", "Name of the regions"],
  domain: ["Domain", "", "OPERATOR, MARKER, HIP, PYTHON, ...; smaller = frames too small to be shown, together"],
  call_count: ["Calls", "", "Regions"],
  total_ns: ["Total", "ns", "Their lengths added up"],
  self_ns: ["Self", "ns", "Without the time that regions below cover"],
  gpu_total_ns: ["GPU", "ns", "Durations of what they and all regions below launched"],
  gpu_ns: ["GPU", "ns", "Durations of what they launched themselves"],
};

/** One row is one frame of the callees; the first is the function. */
export interface RunSandwichCalleesRow {
  /** Number of the frame; every one comes behind its parent */
  frame: number;
  /** Frame that it lies in; -1 = none */
  parent: number;
  /** Name of the regions */
  name: string;
  /** OPERATOR, MARKER, HIP, PYTHON, ...; smaller = frames too small to be shown, together */
  domain: string;
  /** Regions */
  call_count: number;
  /** Their lengths added up [ns] */
  total_ns: number;
  /** Without the time that regions below cover [ns] */
  self_ns: number;
  /** Durations of what they and all regions below launched [ns] */
  gpu_total_ns: number;
  /** Durations of what they launched themselves [ns] */
  gpu_ns: number;
}

export const RUN_SANDWICH_CALLEES: TableInfo<RunSandwichCalleesRow> = {
  frame: ["Frame", "", "Number of the frame; every one comes behind its parent"],
  parent: ["Parent", "", "Frame that it lies in; -1 = none"],
  name: ["Name", "", "Name of the regions"],
  domain: ["Domain", "", "OPERATOR, MARKER, HIP, PYTHON, ...; smaller = frames too small to be shown, together"],
  call_count: ["Calls", "", "Regions"],
  total_ns: ["Total", "ns", "Their lengths added up"],
  self_ns: ["Self", "ns", "Without the time that regions below cover"],
  gpu_total_ns: ["GPU", "ns", "Durations of what they and all regions below launched"],
  gpu_ns: ["GPU", "ns", "Durations of what they launched themselves"],
};

/** One function with its callers and its callees. */
export interface RunSandwichAnswer {
  definition: string;
  callers: Frame<RunSandwichCallersRow>;
  callees: Frame<RunSandwichCalleesRow>;
}

/** One row is one group of processes after the change, the longest first. */
export interface RunWhatIfPredictionsRow {
  /** Group of processes that meet in collectives */
  group: number;
  /** As recorded [ns] */
  span_ns: number;
  /** After the change, at least [ns] */
  span_ns_min: number;
  /** After the change, at most [ns] */
  span_ns_max: number;
}

export const RUN_WHAT_IF_PREDICTIONS: TableInfo<RunWhatIfPredictionsRow> = {
  group: ["Group", "", "Group of processes that meet in collectives"],
  span_ns: ["Span", "ns", "As recorded"],
  span_ns_min: ["Span min", "ns", "After the change, at least"],
  span_ns_max: ["Span max", "ns", "After the change, at most"],
};

/** One row is one path of names; every node comes behind its parent, siblings by GPU time, without any by CPU time. */
export interface RunRegionsTreeRow {
  /** Number of the node, in the order of the rows */
  node: number;
  /** Node above; -1 = none */
  parent: number;
  /** Nodes above */
  depth: number;
  /** Name of the regions */
  name: string;
  /** Regions of this path of names */
  call_count: number;
  /** Of these, calls in replays of graphs, which have no CPU time */
  replayed_count: number;
  /** Inclusive CPU time: their lengths added up [ns] */
  total_ns: number;
  /** Of the inclusive time of all roots */
  total_share: number;
  /** Exclusive CPU time: without the time that regions below cover [ns] */
  self_ns: number;
  /** Of the inclusive time of all roots */
  self_share: number;
  /** Mean length of a region; empty = all are of replays [ns] */
  mean_ns: number | null;
  /** Shortest region; empty = all are of replays [ns] */
  min_ns: number | null;
  /** Longest region; empty = all are of replays [ns] */
  max_ns: number | null;
  /** Dispatches and copies that its regions launched themselves */
  gpu_count: number;
  /** Durations of the dispatches and copies that it launched itself [ns] */
  gpu_ns: number;
  /** Those of all nodes below included */
  gpu_total_count: number;
  /** Durations of what it and all regions below launched [ns] */
  gpu_total_ns: number;
  /** From the first start to the last end of what a region and all regions below launched, added up over the regions [ns] */
  gpu_length_ns: number;
  /** gpu_total_ns of all GPU time with a known launch */
  gpu_share: number;
  /** Regions that outlast the one they began in */
  crossing_count: number;
}

export const RUN_REGIONS_TREE: TableInfo<RunRegionsTreeRow> = {
  node: ["Node", "", "Number of the node, in the order of the rows"],
  parent: ["Parent", "", "Node above; -1 = none"],
  depth: ["Depth", "", "Nodes above"],
  name: ["Name", "", "Name of the regions"],
  call_count: ["Calls", "", "Regions of this path of names"],
  replayed_count: ["Replayed", "", "Of these, calls in replays of graphs, which have no CPU time"],
  total_ns: ["Total", "ns", "Inclusive CPU time: their lengths added up"],
  total_share: ["Total share", "", "Of the inclusive time of all roots"],
  self_ns: ["Self", "ns", "Exclusive CPU time: without the time that regions below cover"],
  self_share: ["Self share", "", "Of the inclusive time of all roots"],
  mean_ns: ["Mean", "ns", "Mean length of a region; empty = all are of replays"],
  min_ns: ["Min", "ns", "Shortest region; empty = all are of replays"],
  max_ns: ["Max", "ns", "Longest region; empty = all are of replays"],
  gpu_count: ["GPUs", "", "Dispatches and copies that its regions launched themselves"],
  gpu_ns: ["GPU", "ns", "Durations of the dispatches and copies that it launched itself"],
  gpu_total_count: ["GPUs", "", "Those of all nodes below included"],
  gpu_total_ns: ["GPU", "ns", "Durations of what it and all regions below launched"],
  gpu_length_ns: ["GPU length", "ns", "From the first start to the last end of what a region and all regions below launched, added up over the regions"],
  gpu_share: ["GPU share", "", "gpu_total_ns of all GPU time with a known launch"],
  crossing_count: ["Crossings", "", "Regions that outlast the one they began in"],
};

/** The tree of regions. */
export interface RunRegionsAnswer {
  definition: string;
  tree: Frame<RunRegionsTreeRow>;
  region_count: number;
  thread_count: number;
  process_count: number;
  /** GPU time whose launch is not among the regions. */
  unlinked_gpu_ns: number;
  /** Regions that outlast their parent. */
  crossing_count: number;
  /** Regions without a possible length; they are left out. */
  untimed_count: number;
}

/** One row is one kernel, kind of copy or allocation, or call, in one group. */
export interface RunSummaryThingsRow {
  /** File; empty = not grouped by it */
  path: string | null;
  /** Node, by GPU its file where none is recorded; empty = not grouped by it, here and below */
  host: string | null;
  /** Process id */
  pid: number | null;
  /** Rank; empty also where it is not known */
  rank: number | null;
  /** Unique id of the recording, or its path */
  run: string | null;
  /** Number of the GPU on its node */
  gpu: number | null;
  /** Id of the stream */
  stream: number | null;
  /** Innermost marker range that was open on the calling thread; empty also where none was */
  marker: string | null;
  /** KERNEL, COPY, ALLOCATION, SCRATCH, or the kind of call: HIP, HSA, RCCL, MARKER, ... */
  domain: string;
  /** Kernel, kind of copy, function or marker range; for allocations type and level */
  name: string;
  /** Number of calls */
  calls: number;
  /** Of these, without a usable begin and end: not in the times */
  untimed_calls: number;
  /** Sum of the durations [ns] */
  total_ns: number;
  /** Mean duration [ns] */
  mean_ns: number;
  /** Median duration [ns] */
  median_ns: number;
  /** 95 % take at most so long [ns] */
  p95_ns: number;
  /** 99 % take at most so long [ns] */
  p99_ns: number;
  /** Shortest duration [ns] */
  min_ns: number;
  /** Longest duration [ns] */
  max_ns: number;
  /** Standard deviation of a sample (n - 1); empty for one call [ns] */
  stddev_ns: number | null;
  /** Bytes copied or allocated, of the calls whose size was recorded; empty = of none [bytes] */
  bytes_total: number | null;
  /** Calls whose size was recorded */
  sized_calls: number;
  /** Bytes over durations of the calls that have both; empty = of none [bytes/s] */
  bytes_per_second: number | null;
  /** Whether median, p95 and p99 are exact */
  is_exact: boolean;
  /** Of the durations of its domain in its group */
  share: number;
}

export const RUN_SUMMARY_THINGS: TableInfo<RunSummaryThingsRow> = {
  path: ["Path", "", "File; empty = not grouped by it"],
  host: ["Host", "", "Node, by GPU its file where none is recorded; empty = not grouped by it, here and below"],
  pid: ["PID", "", "Process id"],
  rank: ["Rank", "", "Rank; empty also where it is not known"],
  run: ["Run", "", "Unique id of the recording, or its path"],
  gpu: ["GPU", "", "Number of the GPU on its node"],
  stream: ["Stream", "", "Id of the stream"],
  marker: ["Marker", "", "Innermost marker range that was open on the calling thread; empty also where none was"],
  domain: ["Domain", "", "KERNEL, COPY, ALLOCATION, SCRATCH, or the kind of call: HIP, HSA, RCCL, MARKER, ..."],
  name: ["Name", "", "Kernel, kind of copy, function or marker range; for allocations type and level"],
  calls: ["Calls", "", "Number of calls"],
  untimed_calls: ["Untimed calls", "", "Of these, without a usable begin and end: not in the times"],
  total_ns: ["Total", "ns", "Sum of the durations"],
  mean_ns: ["Mean", "ns", "Mean duration"],
  median_ns: ["Median", "ns", "Median duration"],
  p95_ns: ["P95", "ns", "95 % take at most so long"],
  p99_ns: ["P99", "ns", "99 % take at most so long"],
  min_ns: ["Min", "ns", "Shortest duration"],
  max_ns: ["Max", "ns", "Longest duration"],
  stddev_ns: ["Stddev", "ns", "Standard deviation of a sample (n - 1); empty for one call"],
  bytes_total: ["Bytes", "bytes", "Bytes copied or allocated, of the calls whose size was recorded; empty = of none"],
  sized_calls: ["Sized calls", "", "Calls whose size was recorded"],
  bytes_per_second: ["Bytes per second", "bytes/s", "Bytes over durations of the calls that have both; empty = of none"],
  is_exact: ["Exact", "", "Whether median, p95 and p99 are exact"],
  share: ["Share", "", "Of the durations of its domain in its group"],
};

/** One row is one domain in one group. */
export interface RunSummaryDomainsRow {
  /** File; empty = not grouped by it */
  path: string | null;
  /** Node, by GPU its file where none is recorded; empty = not grouped by it, here and below */
  host: string | null;
  /** Process id */
  pid: number | null;
  /** Rank; empty also where it is not known */
  rank: number | null;
  /** Unique id of the recording, or its path */
  run: string | null;
  /** Number of the GPU on its node */
  gpu: number | null;
  /** Id of the stream */
  stream: number | null;
  /** Innermost marker range that was open on the calling thread; empty also where none was */
  marker: string | null;
  /** KERNEL, COPY, ALLOCATION, SCRATCH, or the kind of call: HIP, HSA, RCCL, MARKER, ... */
  domain: string;
  /** Different names */
  name_count: number;
  /** Number of calls */
  calls: number;
  /** Of these, without a usable begin and end: not in the times */
  untimed_calls: number;
  /** Sum of the durations [ns] */
  total_ns: number;
  /** Mean duration [ns] */
  mean_ns: number;
  /** Median duration [ns] */
  median_ns: number;
  /** 95 % take at most so long [ns] */
  p95_ns: number;
  /** 99 % take at most so long [ns] */
  p99_ns: number;
  /** Shortest duration [ns] */
  min_ns: number;
  /** Longest duration [ns] */
  max_ns: number;
  /** Standard deviation of a sample (n - 1); empty for one call [ns] */
  stddev_ns: number | null;
  /** Bytes copied or allocated, of the calls whose size was recorded; empty = of none [bytes] */
  bytes_total: number | null;
  /** Calls whose size was recorded */
  sized_calls: number;
  /** Bytes over durations of the calls that have both; empty = of none [bytes/s] */
  bytes_per_second: number | null;
  /** Whether median, p95 and p99 are exact */
  is_exact: boolean;
  /** Of the GPU time of its group; empty for what is not GPU time */
  share: number | null;
}

export const RUN_SUMMARY_DOMAINS: TableInfo<RunSummaryDomainsRow> = {
  path: ["Path", "", "File; empty = not grouped by it"],
  host: ["Host", "", "Node, by GPU its file where none is recorded; empty = not grouped by it, here and below"],
  pid: ["PID", "", "Process id"],
  rank: ["Rank", "", "Rank; empty also where it is not known"],
  run: ["Run", "", "Unique id of the recording, or its path"],
  gpu: ["GPU", "", "Number of the GPU on its node"],
  stream: ["Stream", "", "Id of the stream"],
  marker: ["Marker", "", "Innermost marker range that was open on the calling thread; empty also where none was"],
  domain: ["Domain", "", "KERNEL, COPY, ALLOCATION, SCRATCH, or the kind of call: HIP, HSA, RCCL, MARKER, ..."],
  name_count: ["Names", "", "Different names"],
  calls: ["Calls", "", "Number of calls"],
  untimed_calls: ["Untimed calls", "", "Of these, without a usable begin and end: not in the times"],
  total_ns: ["Total", "ns", "Sum of the durations"],
  mean_ns: ["Mean", "ns", "Mean duration"],
  median_ns: ["Median", "ns", "Median duration"],
  p95_ns: ["P95", "ns", "95 % take at most so long"],
  p99_ns: ["P99", "ns", "99 % take at most so long"],
  min_ns: ["Min", "ns", "Shortest duration"],
  max_ns: ["Max", "ns", "Longest duration"],
  stddev_ns: ["Stddev", "ns", "Standard deviation of a sample (n - 1); empty for one call"],
  bytes_total: ["Bytes", "bytes", "Bytes copied or allocated, of the calls whose size was recorded; empty = of none"],
  sized_calls: ["Sized calls", "", "Calls whose size was recorded"],
  bytes_per_second: ["Bytes per second", "bytes/s", "Bytes over durations of the calls that have both; empty = of none"],
  is_exact: ["Exact", "", "Whether median, p95 and p99 are exact"],
  share: ["Share", "", "Of the GPU time of its group; empty for what is not GPU time"],
};

/** Time of a run by kernels, copies, allocations and calls. */
export interface RunSummaryAnswer {
  definition: string;
  by: "all" | "file" | "process" | "rank" | "gpu" | "stream" | "marker";
  domains: Frame<RunSummaryDomainsRow>;
  things: Frame<RunSummaryThingsRow>;
  /** GPUs that kernels ran on. */
  gpu_count: number;
  /** Nodes on which processes ran. */
  node_count: number;
  /** Time of all kernels and copies together. */
  gpu_ns: number;
  wall_ns: number;
  /** Share of the wall time in which GPUs ran anything; None = no GPU was used. */
  busy_share: number | null;
}

/** One row is one kernel. */
export interface RunKernelRow {
  /** The kernel */
  name: string;
  /** Dispatches */
  calls: number;
  /** Durations added up [ns] */
  total_ns: number;
  /** Of the durations of all dispatches, of other kernels too */
  share: number;
  /** Mean duration [ns] */
  mean_ns: number;
  /** Standard deviation of a sample; empty for one call [ns] */
  stddev_ns: number | null;
  /** Shortest duration [ns] */
  min_ns: number;
  /** Half of the calls are shorter [ns] */
  median_ns: number;
  /** 95 % of the durations are shorter [ns] */
  p95_ns: number;
  /** 99 % of the durations are shorter [ns] */
  p99_ns: number;
  /** Longest duration [ns] */
  max_ns: number;
  /** Dispatches without a possible duration */
  untimed_calls: number;
  /** Launch latency; empty = launches are not known [ns] */
  latency_median_ns: number | null;
  /** Launch latency that 95 % stay below [ns] */
  latency_p95_ns: number;
  /** Distinct ways in which it was launched */
  shape_count: number;
  /** Processes that launched it */
  process_count: number;
  /** GPUs it ran on */
  gpu_count: number;
  /** Streams it ran in, of all processes */
  stream_count: number;
}

export const RUN_KERNEL: TableInfo<RunKernelRow> = {
  name: ["Name", "", "The kernel"],
  calls: ["Calls", "", "Dispatches"],
  total_ns: ["Total", "ns", "Durations added up"],
  share: ["Share", "", "Of the durations of all dispatches, of other kernels too"],
  mean_ns: ["Mean", "ns", "Mean duration"],
  stddev_ns: ["Stddev", "ns", "Standard deviation of a sample; empty for one call"],
  min_ns: ["Min", "ns", "Shortest duration"],
  median_ns: ["Median", "ns", "Half of the calls are shorter"],
  p95_ns: ["P95", "ns", "95 % of the durations are shorter"],
  p99_ns: ["P99", "ns", "99 % of the durations are shorter"],
  max_ns: ["Max", "ns", "Longest duration"],
  untimed_calls: ["Untimed calls", "", "Dispatches without a possible duration"],
  latency_median_ns: ["Latency median", "ns", "Launch latency; empty = launches are not known"],
  latency_p95_ns: ["Latency p95", "ns", "Launch latency that 95 % stay below"],
  shape_count: ["Shapes", "", "Distinct ways in which it was launched"],
  process_count: ["Processes", "", "Processes that launched it"],
  gpu_count: ["GPUs", "", "GPUs it ran on"],
  stream_count: ["Streams", "", "Streams it ran in, of all processes"],
};

/** One row is one way in which a kernel was launched. */
export interface RunKernelShapesRow {
  /** The kernel */
  name: string;
  /** gfx942, ... */
  target: string;
  /** Size of a workgroup; empty = not recorded, here and below [lanes] */
  workgroup_x: number | null;
  /** Size of a workgroup [lanes] */
  workgroup_y: number;
  /** Size of a workgroup [lanes] */
  workgroup_z: number;
  /** Size of the grid [lanes] */
  grid_x: number;
  /** Size of the grid [lanes] */
  grid_y: number;
  /** Size of the grid [lanes] */
  grid_z: number;
  /** LDS per workgroup [bytes] */
  lds_bytes: number;
  /** Scratch memory per lane [bytes] */
  scratch_bytes: number;
  /** Vector registers */
  vgpr_count: number;
  /** Accumulation registers */
  accum_vgpr_count: number;
  /** Scalar registers */
  sgpr_count: number;
  /** Dispatches */
  calls: number;
  /** Durations added up [ns] */
  total_ns: number;
  /** Of the time of the kernel */
  kernel_share: number;
  /** Mean duration [ns] */
  mean_ns: number;
  /** Shortest duration [ns] */
  min_ns: number;
  /** Longest duration [ns] */
  max_ns: number;
  /** Theoretical occupancy; empty = not known [waves] */
  waves_per_simd: number | null;
  /** Most that the target holds [waves] */
  waves_per_simd_max: number;
  /** What limits it: VGPR, LDS, SGPR, workgroup or hardware */
  bound_by: string;
}

export const RUN_KERNEL_SHAPES: TableInfo<RunKernelShapesRow> = {
  name: ["Name", "", "The kernel"],
  target: ["Target", "", "gfx942, ..."],
  workgroup_x: ["Workgroup x", "lanes", "Size of a workgroup; empty = not recorded, here and below"],
  workgroup_y: ["Workgroup y", "lanes", "Size of a workgroup"],
  workgroup_z: ["Workgroup z", "lanes", "Size of a workgroup"],
  grid_x: ["Grid x", "lanes", "Size of the grid"],
  grid_y: ["Grid y", "lanes", "Size of the grid"],
  grid_z: ["Grid z", "lanes", "Size of the grid"],
  lds_bytes: ["LDS", "bytes", "LDS per workgroup"],
  scratch_bytes: ["Scratch", "bytes", "Scratch memory per lane"],
  vgpr_count: ["VGPRs", "", "Vector registers"],
  accum_vgpr_count: ["Accum VGPRs", "", "Accumulation registers"],
  sgpr_count: ["SGPRs", "", "Scalar registers"],
  calls: ["Calls", "", "Dispatches"],
  total_ns: ["Total", "ns", "Durations added up"],
  kernel_share: ["Kernel share", "", "Of the time of the kernel"],
  mean_ns: ["Mean", "ns", "Mean duration"],
  min_ns: ["Min", "ns", "Shortest duration"],
  max_ns: ["Max", "ns", "Longest duration"],
  waves_per_simd: ["Waves per SIMD", "waves", "Theoretical occupancy; empty = not known"],
  waves_per_simd_max: ["Waves per SIMD max", "waves", "Most that the target holds"],
  bound_by: ["Bound by", "", "What limits it: VGPR, LDS, SGPR, workgroup or hardware"],
};

/** One row is one range of durations of one kernel. */
export interface RunKernelHistogramRow {
  /** The kernel */
  name: string;
  /** Begin of the range; the next begins 1.26 times later [ns] */
  from_ns: number;
  /** Dispatches in it */
  calls: number;
}

export const RUN_KERNEL_HISTOGRAM: TableInfo<RunKernelHistogramRow> = {
  name: ["Name", "", "The kernel"],
  from_ns: ["From", "ns", "Begin of the range; the next begins 1.26 times later"],
  calls: ["Calls", "", "Dispatches in it"],
};

/** One row is one kernel in one time bin on one node. */
export interface RunKernelOverTimeRow {
  /** The kernel */
  name: string;
  /** The node */
  machine: string;
  /** Number of the stretch, from the first in which any of the kernels began */
  bin: number;
  /** Start, since the start of its node [ns] */
  begin: number;
  /** Its length [ns] */
  length_ns: number;
  /** Dispatches that began in it */
  calls: number;
  /** Their mean duration [ns] */
  mean_ns: number;
  /** The shortest [ns] */
  min_ns: number;
  /** The longest [ns] */
  max_ns: number;
}

export const RUN_KERNEL_OVER_TIME: TableInfo<RunKernelOverTimeRow> = {
  name: ["Name", "", "The kernel"],
  machine: ["Machine", "", "The node"],
  bin: ["Bin", "", "Number of the stretch, from the first in which any of the kernels began"],
  begin: ["Begin", "ns", "Start, since the start of its node"],
  length_ns: ["Length", "ns", "Its length"],
  calls: ["Calls", "", "Dispatches that began in it"],
  mean_ns: ["Mean", "ns", "Their mean duration"],
  min_ns: ["Min", "ns", "The shortest"],
  max_ns: ["Max", "ns", "The longest"],
};

/** One row is one of the longest dispatches of a kernel. */
export interface RunKernelLongestRow {
  /** The kernel */
  name: string;
  /** Host name of the node, else the file */
  node: string;
  /** GPU */
  gpu: number | null;
  /** Process */
  pid: number | null;
  /** Rank; empty = not known */
  rank: number | null;
  /** Stream */
  stream_id: number;
  /** Number of the dispatch in its process */
  dispatch_id: number;
  /** Start, since the start of its node [ns] */
  begin: number;
  /** How long it took [ns] */
  duration_ns: number;
  /** Times the median of the kernel */
  median_ratio: number;
}

export const RUN_KERNEL_LONGEST: TableInfo<RunKernelLongestRow> = {
  name: ["Name", "", "The kernel"],
  node: ["Node", "", "Host name of the node, else the file"],
  gpu: ["GPU", "", "GPU"],
  pid: ["PID", "", "Process"],
  rank: ["Rank", "", "Rank; empty = not known"],
  stream_id: ["Stream ID", "", "Stream"],
  dispatch_id: ["Dispatch ID", "", "Number of the dispatch in its process"],
  begin: ["Begin", "ns", "Start, since the start of its node"],
  duration_ns: ["Duration", "ns", "How long it took"],
  median_ratio: ["Median ratio", "", "Times the median of the kernel"],
};

/** One row is one hardware counter of one kernel. */
export interface RunKernelCountersRow {
  /** The kernel */
  name: string;
  /** The counter */
  counter: string;
  /** Dispatches it was measured for */
  dispatch_count: number;
  /** Mean per dispatch, instances added up */
  value_mean: number;
  /** Smallest value of a dispatch */
  value_min: number;
  /** Largest value of a dispatch */
  value_max: number;
}

export const RUN_KERNEL_COUNTERS: TableInfo<RunKernelCountersRow> = {
  name: ["Name", "", "The kernel"],
  counter: ["Counter", "", "The counter"],
  dispatch_count: ["Dispatches", "", "Dispatches it was measured for"],
  value_mean: ["Value mean", "", "Mean per dispatch, instances added up"],
  value_min: ["Value min", "", "Smallest value of a dispatch"],
  value_max: ["Value max", "", "Largest value of a dispatch"],
};

/** One row is one traced dispatch in the folder of the run, of a kernel of this name; of which run it is, the trace tells. */
export interface RunKernelTracesRow {
  /** The kernel, as the run spells it */
  name: string;
  /** What --dispatch takes for it; empty = the only one */
  dispatch: string;
  /** What to ask about it */
  command: string;
}

export const RUN_KERNEL_TRACES: TableInfo<RunKernelTracesRow> = {
  name: ["Name", "", "The kernel, as the run spells it"],
  dispatch: ["Dispatch", "", "What --dispatch takes for it; empty = the only one"],
  command: ["Command", "", "What to ask about it"],
};

/** One row is one kernel of this name in the hardware counters in the folder of the run. */
export interface RunKernelLimitsRow {
  /** The kernel, as the run spells it */
  name: string;
  /** What limits it, by its counters */
  limit: string;
  /** How sure that is */
  confidence: string;
  /** Dispatches that were counted */
  dispatch_count: number;
  /** What to ask about it */
  command: string;
}

export const RUN_KERNEL_LIMITS: TableInfo<RunKernelLimitsRow> = {
  name: ["Name", "", "The kernel, as the run spells it"],
  limit: ["Limit", "", "What limits it, by its counters"],
  confidence: ["Confidence", "", "How sure that is"],
  dispatch_count: ["Dispatches", "", "Dispatches that were counted"],
  command: ["Command", "", "What to ask about it"],
};

/** The dispatches of the kernels in question. */
export interface RunKernelAnswer {
  definition: string;
  kernels: Frame<RunKernelRow>;
  shapes: Frame<RunKernelShapesRow>;
  histogram: Frame<RunKernelHistogramRow>;
  over_time: Frame<RunKernelOverTimeRow>;
  longest: Frame<RunKernelLongestRow>;
  counters: Frame<RunKernelCountersRow>;
  traces: Frame<RunKernelTracesRow>;
  limits: Frame<RunKernelLimitsRow>;
  /** Durations of all dispatches, of other kernels too. */
  all_ns: number;
  /** Traced dispatches of the folder beyond those whose kernels were looked up. */
  unread_trace_count: number;
  by_gpu: RunSummaryThingsRow[];
  by_process: RunSummaryThingsRow[];
}

/** One row is one capture; the first is the base. */
export interface CounterCompareSidesRow {
  /** Number of the side */
  side: number;
  /** Its name: A, B, ... */
  label: string;
  /** What was opened */
  path: string;
  /** GPU target; empty = not known */
  target: string;
  /** Product; empty = not known */
  product: string;
  /** Chosen dispatches */
  dispatch_count: number;
  /** Chosen kernels */
  kernel_count: number;
  /** Of the chosen dispatches; empty = no sound timestamps [ns] */
  duration_ns: number | null;
  /** Change of the duration against the base */
  change: number | null;
}

export const COUNTER_COMPARE_SIDES: TableInfo<CounterCompareSidesRow> = {
  side: ["Side", "", "Number of the side"],
  label: ["Label", "", "Its name: A, B, ..."],
  path: ["Path", "", "What was opened"],
  target: ["Target", "", "GPU target; empty = not known"],
  product: ["Product", "", "Product; empty = not known"],
  dispatch_count: ["Dispatches", "", "Chosen dispatches"],
  kernel_count: ["Kernels", "", "Chosen kernels"],
  duration_ns: ["Duration", "ns", "Of the chosen dispatches; empty = no sound timestamps"],
  change: ["Change", "", "Change of the duration against the base"],
};

/** One row is one kernel on one side against the base, the largest effect first. */
export interface CounterCompareKernelsRow {
  /** sides.side */
  side: number;
  /** Name of the kernel */
  kernel_name: string;
  /** Slower, faster, new, gone, same or unknown (noise is not known) */
  status: string;
  /** Dispatches of the base */
  base_dispatch_count: number;
  /** Dispatches */
  dispatch_count: number;
  /** Mean duration of the base; empty = no sound timestamps [ns] */
  base_mean_ns: number | null;
  /** Mean duration [ns] */
  mean_ns: number;
  /** Change of the mean duration */
  change: number;
  /** What the change must exceed, up or down; empty = not known */
  noise: number | null;
  /** Difference of the total durations [ns] */
  delta_ns: number;
  /** Rank of the kernel here; empty = all dispatches, or only the base has it */
  kernel: number | null;
}

export const COUNTER_COMPARE_KERNELS: TableInfo<CounterCompareKernelsRow> = {
  side: ["Side", "", "sides.side"],
  kernel_name: ["Kernel name", "", "Name of the kernel"],
  status: ["Status", "", "Slower, faster, new, gone, same or unknown (noise is not known)"],
  base_dispatch_count: ["Base dispatches", "", "Dispatches of the base"],
  dispatch_count: ["Dispatches", "", "Dispatches"],
  base_mean_ns: ["Base mean", "ns", "Mean duration of the base; empty = no sound timestamps"],
  mean_ns: ["Mean", "ns", "Mean duration"],
  change: ["Change", "", "Change of the mean duration"],
  noise: ["Noise", "", "What the change must exceed, up or down; empty = not known"],
  delta_ns: ["Delta", "ns", "Difference of the total durations"],
  kernel: ["Kernel", "", "Rank of the kernel here; empty = all dispatches, or only the base has it"],
};

/** One row is one metric of one kernel on one side against the base, in the order of the panels. */
export interface CounterCompareMetricsRow {
  /** sides.side */
  side: number;
  /** Kernel, as the base calls it; empty = all chosen dispatches */
  kernel_name: string | null;
  /** panel.table */
  table_id: string;
  /** panel.table.index on the base's GPU, or on the side's if only that has it */
  metric_id: string;
  /** Name of the metric */
  name: string;
  /** Of tables with several values per channel: which one; else empty */
  series: string;
  /** L2 channel; empty = the metric is not about one */
  channel: number | null;
  /** Unit of the values */
  unit: string;
  /** Higher, lower, same, unknown, not in base, not in side, other unit or blank */
  status: string;
  /** Average of the base; empty = not measured */
  base: number | null;
  /** Average; empty = not measured */
  value: number | null;
  /** Difference; empty = a side lacks it */
  delta: number | null;
  /** Difference as a share of the base; empty = the base is 0, or a side lacks it */
  change: number | null;
  /** What the difference must exceed, up or down; empty = not known */
  noise: number | null;
  /** Of the base's peak [%] */
  base_peak_share: number | null;
  /** Of the peak [%] */
  peak_share: number | null;
  /** Why the base has no value; else empty */
  base_reason: string;
  /** Why the side has no value; else empty */
  reason: string;
  /** Rank of the kernel here; empty = all dispatches, or only the base has it */
  kernel: number | null;
}

export const COUNTER_COMPARE_METRICS: TableInfo<CounterCompareMetricsRow> = {
  side: ["Side", "", "sides.side"],
  kernel_name: ["Kernel name", "", "Kernel, as the base calls it; empty = all chosen dispatches"],
  table_id: ["Table ID", "", "panel.table"],
  metric_id: ["Metric ID", "", "panel.table.index on the base's GPU, or on the side's if only that has it"],
  name: ["Name", "", "Name of the metric"],
  series: ["Series", "", "Of tables with several values per channel: which one; else empty"],
  channel: ["Channel", "", "L2 channel; empty = the metric is not about one"],
  unit: ["Unit", "", "Unit of the values"],
  status: ["Status", "", "Higher, lower, same, unknown, not in base, not in side, other unit or blank"],
  base: ["Base", "", "Average of the base; empty = not measured"],
  value: ["Value", "", "Average; empty = not measured"],
  delta: ["Delta", "", "Difference; empty = a side lacks it"],
  change: ["Change", "", "Difference as a share of the base; empty = the base is 0, or a side lacks it"],
  noise: ["Noise", "", "What the difference must exceed, up or down; empty = not known"],
  base_peak_share: ["Base peak share", "%", "Of the base's peak"],
  peak_share: ["Peak share", "%", "Of the peak"],
  base_reason: ["Base reason", "", "Why the base has no value; else empty"],
  reason: ["Reason", "", "Why the side has no value; else empty"],
  kernel: ["Kernel", "", "Rank of the kernel here; empty = all dispatches, or only the base has it"],
};

/** Counter captures against the first of them. */
export interface CounterCompareAnswer {
  definition: string;
  sides: Frame<CounterCompareSidesRow>;
  kernels: Frame<CounterCompareKernelsRow>;
  metrics: Frame<CounterCompareMetricsRow>;
  /** kernel, wave, cycle or second. */
  normalization: string;
  /** corrected, or the reference whose rules were applied. */
  rules: string;
  /** What to know about the comparison: other GPUs, kernels that are not matched. */
  notes: string[];
  verdict: string;
}

/** One number that is evidence for or against a finding. */
export interface NumberEvidence {
  quantity: string;
  label: string;
  value: number | null;
  unit: string;
  amount: number | null;
  amount_unit: string;
  peak: number | null;
  /** panel.table.index, as in `wavewright metrics`; empty = a formula of the analysis. */
  metric_id: string;
  /** decides, instead, only if, sign or number. */
  role: string;
  /** 0 = against, 1 = for, 2 = strongly for; None = a number only, or not measured. */
  level: number | null;
  threshold: string;
  /** Reason for the threshold; without a value, why there is none. */
  why: string;
}

/** The verdict about one limiter of one kernel: one of VERDICTS. */
export interface Limiter {
  /** What it is about: a stall class, a limiter, a question. */
  name: string;
  kind: string;
  verdict: string;
  /** The numbers or the cause behind the verdict. */
  reason: string;
  /** high, medium or low; empty = not stated. */
  confidence: string;
  confidence_reason: string;
  evidence: NumberEvidence[];
  /** The first thing to do; empty = nothing. */
  remedy: string;
  /** Upper bound of the share of time that can be saved; None = unknown. */
  gain_share_max: number | null;
  /** Counters that would decide it. */
  missing_counters: string[];
  /** Metrics that need these counters. */
  missing_metrics: string[];
  /** Command that plans the passes which would decide it; empty = it is decided, or no counter would help. */
  plan: string;
}

/** One kernel: what limits it, and the verdict about every limiter. */
export interface KernelLimit {
  /** Its rank by total duration; --kernel takes it. */
  kernel: number;
  kernel_name: string;
  dispatch_count: number;
  duration_ns_total: number | null;
  duration_ns_mean: number | null;
  /** Of all dispatches of the capture, or of the run: see `KernelLimit.is_time_of_run`. */
  duration_share: number | null;
  summary: string;
  /** Limiters that are at their limit; also those that are likely, unless a unit or a waste of it is at its limit. */
  limits: string[];
  confidence: string;
  confidence_reason: string;
  /** At limit, likely, undecided, excluded. */
  limiters: Limiter[];
  /** Command that plans the passes which would decide what is undecided; empty = nothing that counters can tell. */
  plan: string;
  /** Its share is that in a run beside the passes, which count a few dispatches only. */
  is_time_of_run: boolean;
}

/** Limits of the kernels of a counter capture, the longest kernel first. */
export interface CounterDiagnosisAnswer {
  definition: string;
  target: string | null;
  product: string | null;
  dispatch_count: number;
  duration_ns_total: number | null;
  kernel_count: number;
  kernels: KernelLimit[];
  caveats: Caveat[];
}

/** One row is one dispatch of the program; its passes are joined. */
export interface CounterDispatchesRow {
  /** Number of this row */
  dispatch: number;
  /** Id in the first pass that has it */
  dispatch_id: number;
  /** Rank of that GPU among the GPUs of the capture; empty = not known */
  gpu: number | null;
  /** Name of the kernel, without suffixes of tools */
  kernel_name: string;
  /** Work-items [lanes] */
  grid_size: number;
  /** Work-items per workgroup [lanes] */
  workgroup_size: number;
  /** LDS of a workgroup [bytes] */
  lds_bytes: number;
  /** Scratch memory of a work-item [bytes] */
  scratch_bytes: number;
  /** Vector registers of a lane [registers] */
  arch_vgprs: number;
  /** Accumulation registers of a lane [registers] */
  accum_vgprs: number;
  /** Scalar registers of a wave [registers] */
  sgprs: number;
  /** Rank of its kernel */
  kernel: number;
  /** Of the pass without counters if there is one; passes may be averaged [ns] */
  duration_ns: number;
}

export const COUNTER_DISPATCHES: TableInfo<CounterDispatchesRow> = {
  dispatch: ["Dispatch", "", "Number of this row"],
  dispatch_id: ["Dispatch ID", "", "Id in the first pass that has it"],
  gpu: ["GPU", "", "Rank of that GPU among the GPUs of the capture; empty = not known"],
  kernel_name: ["Kernel name", "", "Name of the kernel, without suffixes of tools"],
  grid_size: ["Grid size", "lanes", "Work-items"],
  workgroup_size: ["Workgroup size", "lanes", "Work-items per workgroup"],
  lds_bytes: ["LDS", "bytes", "LDS of a workgroup"],
  scratch_bytes: ["Scratch", "bytes", "Scratch memory of a work-item"],
  arch_vgprs: ["Arch VGPRs", "registers", "Vector registers of a lane"],
  accum_vgprs: ["Accum VGPRs", "registers", "Accumulation registers of a lane"],
  sgprs: ["SGPRs", "registers", "Scalar registers of a wave"],
  kernel: ["Kernel", "", "Rank of its kernel"],
  duration_ns: ["Duration", "ns", "Of the pass without counters if there is one; passes may be averaged"],
};

/** One row is one kernel of the whole capture, the longest first. */
export interface CounterKernelsRow {
  /** Its rank; --kernel takes it, or a part of the name */
  kernel: number;
  /** Name of the kernel */
  kernel_name: string;
  /** Dispatches */
  dispatch_count: number;
  /** Of all of them; empty = no sound timestamps [ns] */
  duration_ns_total: number | null;
  /** Mean duration of a dispatch [ns] */
  duration_ns_mean: number | null;
  /** Median duration of a dispatch [ns] */
  duration_ns_median: number | null;
  /** Share of the time of all kernels */
  duration_share: number | null;
}

export const COUNTER_KERNELS: TableInfo<CounterKernelsRow> = {
  kernel: ["Kernel", "", "Its rank; --kernel takes it, or a part of the name"],
  kernel_name: ["Kernel name", "", "Name of the kernel"],
  dispatch_count: ["Dispatches", "", "Dispatches"],
  duration_ns_total: ["Duration", "ns", "Of all of them; empty = no sound timestamps"],
  duration_ns_mean: ["Duration mean", "ns", "Mean duration of a dispatch"],
  duration_ns_median: ["Duration median", "ns", "Median duration of a dispatch"],
  duration_share: ["Duration share", "", "Share of the time of all kernels"],
};

/** One row is one metric, or one channel of one metric. */
export interface CounterPanelsRow {
  /** panel.table */
  table_id: string;
  /** panel.table.index */
  metric_id: string;
  /** Name of the metric */
  name: string;
  /** Of tables with several values per channel: which one; else empty */
  series: string;
  /** Unit, with the normalization put in */
  unit: string;
  /** Ratio of sums, or mean per dispatch; empty = see reason */
  average: number | null;
  /** Sample standard deviation over dispatches */
  deviation: number | null;
  /** Smallest value of a dispatch */
  minimum: number | null;
  /** First quartile over the dispatches */
  q1: number | null;
  /** Median over the dispatches */
  median: number | null;
  /** Third quartile over the dispatches */
  q3: number | null;
  /** Largest value of a dispatch */
  maximum: number | null;
  /** What the hardware can do at most, in the same unit; empty = no such bound */
  peak: number | null;
  /** 100 average / peak [%] */
  peak_share: number | null;
  /** Dispatches that have a value */
  dispatch_count: number;
  /** Why there is no average; else empty */
  reason: string;
}

export const COUNTER_PANELS: TableInfo<CounterPanelsRow> = {
  table_id: ["Table ID", "", "panel.table"],
  metric_id: ["Metric ID", "", "panel.table.index"],
  name: ["Name", "", "Name of the metric"],
  series: ["Series", "", "Of tables with several values per channel: which one; else empty"],
  unit: ["Unit", "", "Unit, with the normalization put in"],
  average: ["Average", "", "Ratio of sums, or mean per dispatch; empty = see reason"],
  deviation: ["Deviation", "", "Sample standard deviation over dispatches"],
  minimum: ["Minimum", "", "Smallest value of a dispatch"],
  q1: ["Q1", "", "First quartile over the dispatches"],
  median: ["Median", "", "Median over the dispatches"],
  q3: ["Q3", "", "Third quartile over the dispatches"],
  maximum: ["Maximum", "", "Largest value of a dispatch"],
  peak: ["Peak", "", "What the hardware can do at most, in the same unit; empty = no such bound"],
  peak_share: ["Peak share", "%", "100 average / peak"],
  dispatch_count: ["Dispatches", "", "Dispatches that have a value"],
  reason: ["Reason", "", "Why there is no average; else empty"],
};

/** One row is one counter of one pass. */
export interface CounterRawCountersRow {
  /** Name, without _sum and channel */
  counter: string;
  /** passes.pass */
  pass: number;
  /** Name of the pass */
  pass_name: string;
  /** Of counters that the profiler derives: KiB, %, cycles; empty = events */
  unit: string;
  /** Channels that were measured one by one */
  channel_count: number;
  /** Chosen dispatches that have a value */
  dispatch_count: number;
  /** Sum over them; empty = no dispatch has a value, or a ratio */
  total: number | null;
  /** Mean over the dispatches */
  mean: number | null;
  /** Smallest value of a dispatch */
  minimum: number | null;
  /** Largest value of a dispatch */
  maximum: number | null;
}

export const COUNTER_RAW_COUNTERS: TableInfo<CounterRawCountersRow> = {
  counter: ["Counter", "", "Name, without _sum and channel"],
  pass: ["Pass", "", "passes.pass"],
  pass_name: ["Pass name", "", "Name of the pass"],
  unit: ["Unit", "", "Of counters that the profiler derives: KiB, %, cycles; empty = events"],
  channel_count: ["Channels", "", "Channels that were measured one by one"],
  dispatch_count: ["Dispatches", "", "Chosen dispatches that have a value"],
  total: ["Total", "", "Sum over them; empty = no dispatch has a value, or a ratio"],
  mean: ["Mean", "", "Mean over the dispatches"],
  minimum: ["Minimum", "", "Smallest value of a dispatch"],
  maximum: ["Maximum", "", "Largest value of a dispatch"],
};

/** Counters as they were measured, before any formula. */
export interface CounterRawAnswer {
  definition: string;
  /** Chosen dispatches. */
  dispatch_count: number;
  counters: Frame<CounterRawCountersRow>;
}

/** One row is one roof: the bandwidth of a level of memory, or the rate of one precision on one pipe. */
export interface CounterRooflineCeilingsRow {
  /** HBM, L2, ..., or pipe and precision */
  name: string;
  /** Bandwidth or compute */
  kind: string;
  /** fp16, i8, ...; empty = bandwidth */
  precision: string | null;
  /** VALU, MFMA or WMMA; empty = bandwidth */
  pipe: string | null;
  /** GB/s, GFLOP/s or GIOP/s: of the numbers of this row */
  unit: string;
  /** Rate of the hardware per cycle x units x highest clock; empty = not known [10^9/s] */
  theoretical: number | null;
  /** Mean of the benchmark beside the capture; empty = not measured [10^9/s] */
  empirical: number | null;
  /** Lower end of its 95 % interval [10^9/s] */
  empirical_low: number | null;
  /** Upper end [10^9/s] */
  empirical_high: number | null;
  /** The one that kernels are compared with; empty = see reason [10^9/s] */
  used: number | null;
  /** Empirical or theoretical; empty = neither */
  used_from: string;
  /** Why there is none, or why it is not the benchmark; else empty */
  reason: string;
}

export const COUNTER_ROOFLINE_CEILINGS: TableInfo<CounterRooflineCeilingsRow> = {
  name: ["Name", "", "HBM, L2, ..., or pipe and precision"],
  kind: ["Kind", "", "Bandwidth or compute"],
  precision: ["Precision", "", "fp16, i8, ...; empty = bandwidth"],
  pipe: ["Pipe", "", "VALU, MFMA or WMMA; empty = bandwidth"],
  unit: ["Unit", "", "GB/s, GFLOP/s or GIOP/s: of the numbers of this row"],
  theoretical: ["Theoretical", "10^9/s", "Rate of the hardware per cycle x units x highest clock; empty = not known"],
  empirical: ["Empirical", "10^9/s", "Mean of the benchmark beside the capture; empty = not measured"],
  empirical_low: ["Empirical low", "10^9/s", "Lower end of its 95 % interval"],
  empirical_high: ["Empirical high", "10^9/s", "Upper end"],
  used: ["Used", "10^9/s", "The one that kernels are compared with; empty = see reason"],
  used_from: ["Used from", "", "Empirical or theoretical; empty = neither"],
  reason: ["Reason", "", "Why there is none, or why it is not the benchmark; else empty"],
};

/** One row is one kernel, or one dispatch, those with most time first. */
export interface CounterRooflineKernelsRow {
  /** Rank of the kernel by its time, as in wavewright counters */
  kernel: number;
  /** Name of the kernel */
  kernel_name: string;
  /** dispatches.dispatch; empty = mean over the dispatches of the kernel */
  dispatch: number | null;
  /** Its id, as --dispatch takes it */
  dispatch_id: number | null;
  /** Dispatches that it is about */
  dispatch_count: number;
  /** Mean duration; empty = no sound timestamps [ns] */
  duration_ns_mean: number | null;
  /** Of the time of all dispatches of the capture */
  duration_share: number | null;
  /** Floating-point operations per dispatch */
  flops: number;
  /** Flops over the duration [GFLOP/s] */
  gflops_per_second: number | null;
  /** Integer operations per dispatch */
  iops: number;
  /** Iops over the duration [GIOP/s] */
  giops_per_second: number | null;
  /** Kinds of them that were not measured: flops is a lower bound */
  flops_missing: string;
  /** Likewise of iops */
  iops_missing: string;
  /** The unit that needs most time for the work: the lowest roof */
  bound: string | null;
  /** Of that roof: its least time over the duration; empty also above it */
  share: number | null;
  /** The conclusion in words */
  verdict: string;
}

export const COUNTER_ROOFLINE_KERNELS: TableInfo<CounterRooflineKernelsRow> = {
  kernel: ["Kernel", "", "Rank of the kernel by its time, as in wavewright counters"],
  kernel_name: ["Kernel name", "", "Name of the kernel"],
  dispatch: ["Dispatch", "", "dispatches.dispatch; empty = mean over the dispatches of the kernel"],
  dispatch_id: ["Dispatch ID", "", "Its id, as --dispatch takes it"],
  dispatch_count: ["Dispatches", "", "Dispatches that it is about"],
  duration_ns_mean: ["Duration mean", "ns", "Mean duration; empty = no sound timestamps"],
  duration_share: ["Duration share", "", "Of the time of all dispatches of the capture"],
  flops: ["Flops", "", "Floating-point operations per dispatch"],
  gflops_per_second: ["Gflops per second", "GFLOP/s", "Flops over the duration"],
  iops: ["Iops", "", "Integer operations per dispatch"],
  giops_per_second: ["Giops per second", "GIOP/s", "Iops over the duration"],
  flops_missing: ["Flops missing", "", "Kinds of them that were not measured: flops is a lower bound"],
  iops_missing: ["Iops missing", "", "Likewise of iops"],
  bound: ["Bound", "", "The unit that needs most time for the work: the lowest roof"],
  share: ["Share", "", "Of that roof: its least time over the duration; empty also above it"],
  verdict: ["Verdict", "", "The conclusion in words"],
};

/** One row is one kernel or dispatch at one level of memory, with its floating-point or its integer work. */
export interface CounterRooflinePointsRow {
  /** Rank of the kernel by its time, as in wavewright counters */
  kernel: number;
  /** Name of the kernel */
  kernel_name: string;
  /** dispatches.dispatch; empty = mean over the dispatches of the kernel */
  dispatch: number | null;
  /** Its id, as --dispatch takes it */
  dispatch_id: number | null;
  /** HBM (all that L2 asks the fabric for), L2, L1 or LDS */
  level: string;
  /** Flop or iop */
  work: string;
  /** Per dispatch */
  operations: number;
  /** Moved at that level, per dispatch [bytes] */
  bytes: number;
  /** Operations per byte; empty = see reason [1/byte] */
  intensity: number | null;
  /** Operations over the duration [10^9/s] */
  gops_per_second: number | null;
  /** Bytes over the duration [GB/s] */
  gb_per_second: number | null;
  /** The lowest roof above the point: the level, or the pipe */
  roof: string | null;
  /** Its height at this intensity [10^9/s] */
  roof_gops_per_second: number | null;
  /** Of the roof, or of the bandwidth without operations; empty = above it */
  share: number | null;
  /** Why something is missing; else empty */
  reason: string;
}

export const COUNTER_ROOFLINE_POINTS: TableInfo<CounterRooflinePointsRow> = {
  kernel: ["Kernel", "", "Rank of the kernel by its time, as in wavewright counters"],
  kernel_name: ["Kernel name", "", "Name of the kernel"],
  dispatch: ["Dispatch", "", "dispatches.dispatch; empty = mean over the dispatches of the kernel"],
  dispatch_id: ["Dispatch ID", "", "Its id, as --dispatch takes it"],
  level: ["Level", "", "HBM (all that L2 asks the fabric for), L2, L1 or LDS"],
  work: ["Work", "", "Flop or iop"],
  operations: ["Operations", "", "Per dispatch"],
  bytes: ["Bytes", "bytes", "Moved at that level, per dispatch"],
  intensity: ["Intensity", "1/byte", "Operations per byte; empty = see reason"],
  gops_per_second: ["Gops per second", "10^9/s", "Operations over the duration"],
  gb_per_second: ["Gb per second", "GB/s", "Bytes over the duration"],
  roof: ["Roof", "", "The lowest roof above the point: the level, or the pipe"],
  roof_gops_per_second: ["Roof gops per second", "10^9/s", "Its height at this intensity"],
  share: ["Share", "", "Of the roof, or of the bandwidth without operations; empty = above it"],
  reason: ["Reason", "", "Why something is missing; else empty"],
};

/** One row is the operations of one precision on one pipe, of one kernel or dispatch. */
export interface CounterRooflineOperationsRow {
  /** Rank of the kernel by its time, as in wavewright counters */
  kernel: number;
  /** Name of the kernel */
  kernel_name: string;
  /** dispatches.dispatch; empty = mean over the dispatches of the kernel */
  dispatch: number | null;
  /** Its id, as --dispatch takes it */
  dispatch_id: number | null;
  /** Pipe and precision */
  kind: string;
  /** fp16, i8, ... */
  precision: string;
  /** VALU, MFMA or WMMA */
  pipe: string;
  /** Flop or iop */
  work: string;
  /** Per dispatch; empty = see reason */
  operations: number | null;
  /** Over the duration [10^9/s] */
  gops_per_second: number;
  /** The ceiling used [10^9/s] */
  ceiling_gops_per_second: number;
  /** Of that ceiling; empty = above it */
  share: number | null;
  /** Why they are not known; else empty */
  reason: string;
}

export const COUNTER_ROOFLINE_OPERATIONS: TableInfo<CounterRooflineOperationsRow> = {
  kernel: ["Kernel", "", "Rank of the kernel by its time, as in wavewright counters"],
  kernel_name: ["Kernel name", "", "Name of the kernel"],
  dispatch: ["Dispatch", "", "dispatches.dispatch; empty = mean over the dispatches of the kernel"],
  dispatch_id: ["Dispatch ID", "", "Its id, as --dispatch takes it"],
  kind: ["Kind", "", "Pipe and precision"],
  precision: ["Precision", "", "fp16, i8, ..."],
  pipe: ["Pipe", "", "VALU, MFMA or WMMA"],
  work: ["Work", "", "Flop or iop"],
  operations: ["Operations", "", "Per dispatch; empty = see reason"],
  gops_per_second: ["Gops per second", "10^9/s", "Over the duration"],
  ceiling_gops_per_second: ["Ceiling gops per second", "10^9/s", "The ceiling used"],
  share: ["Share", "", "Of that ceiling; empty = above it"],
  reason: ["Reason", "", "Why they are not known; else empty"],
};

/** Kernels under their roofs. */
export interface CounterRooflineAnswer {
  definition: string;
  target: string;
  product: string;
  /** kernel or dispatch. */
  by: string;
  /** corrected, or the reference whose bytes and rates were applied. */
  rules: string;
  /** Kernels or dispatches that were chosen; `kernels` has the first of them. */
  total_count: number;
  ceilings: Frame<CounterRooflineCeilingsRow>;
  kernels: Frame<CounterRooflineKernelsRow>;
  points: Frame<CounterRooflinePointsRow>;
  operations: Frame<CounterRooflineOperationsRow>;
  /** What limits the trust in the numbers. */
  caveats: string[];
}

/** One row is one block of the hardware. */
export interface MemoryChartBlocksRow {
  /** Its name here */
  block: string;
  /** Its name in pictures */
  title: string;
  /** Distance from the waves: 0 = the CUs, 1 = caches beside them, then one more per level */
  stage: number;
}

export const MEMORY_CHART_BLOCKS: TableInfo<MemoryChartBlocksRow> = {
  block: ["Block", "", "Its name here"],
  title: ["Title", "", "Its name in pictures"],
  stage: ["Stage", "", "Distance from the waves: 0 = the CUs, 1 = caches beside them, then one more per level"],
};

/** One row is one number in one block. */
export interface MemoryChartValuesRow {
  /** blocks.block */
  block: string;
  /** What it is, in a word */
  label: string;
  /** The value; empty = see reason */
  value: number | null;
  /** Unit of value */
  unit: string;
  /** Metric: wavewright metrics ID explains it; several are joined by + */
  metric_id: string;
  /** What the hardware can do at most, in the same unit; empty = no such bound is known */
  peak: number | null;
  /** 100 value / peak [%] */
  peak_share: number | null;
  /** Why there is no value; else empty */
  reason: string;
  /** What the metric means */
  about: string;
  /** Whether it is the traffic of the block */
  is_rate: boolean;
  /** Good, warm or hot, of shares that one would want to be high or low; else empty */
  heat: string;
}

export const MEMORY_CHART_VALUES: TableInfo<MemoryChartValuesRow> = {
  block: ["Block", "", "blocks.block"],
  label: ["Label", "", "What it is, in a word"],
  value: ["Value", "", "The value; empty = see reason"],
  unit: ["Unit", "", "Unit of value"],
  metric_id: ["Metric ID", "", "Metric: wavewright metrics ID explains it; several are joined by +"],
  peak: ["Peak", "", "What the hardware can do at most, in the same unit; empty = no such bound is known"],
  peak_share: ["Peak share", "%", "100 value / peak"],
  reason: ["Reason", "", "Why there is no value; else empty"],
  about: ["About", "", "What the metric means"],
  is_rate: ["Rate", "", "Whether it is the traffic of the block"],
  heat: ["Heat", "", "Good, warm or hot, of shares that one would want to be high or low; else empty"],
};

/** One row is one kind of requests over one wire. */
export interface MemoryChartWiresRow {
  /** Block that asks */
  source: string;
  /** Block that answers */
  target: string;
  /** Read, write, atomic or request; traffic = bytes of all of them */
  kind: string;
  /** The value; empty = see reason */
  value: number | null;
  /** Unit of value */
  unit: string;
  /** Metric: wavewright metrics ID explains it; several are joined by + */
  metric_id: string;
  /** What the hardware can do at most, in the same unit; empty = no such bound is known */
  peak: number | null;
  /** 100 value / peak [%] */
  peak_share: number | null;
  /** Why there is no value; else empty */
  reason: string;
  /** Bytes of these requests per second; empty = no metric tells them [GB/s] */
  rate: number | null;
  /** Of the peak of what carries them [%] */
  rate_share: number | null;
  /** Warm or hot where that is near the peak; else empty */
  heat: string;
}

export const MEMORY_CHART_WIRES: TableInfo<MemoryChartWiresRow> = {
  source: ["Source", "", "Block that asks"],
  target: ["Target", "", "Block that answers"],
  kind: ["Kind", "", "Read, write, atomic or request; traffic = bytes of all of them"],
  value: ["Value", "", "The value; empty = see reason"],
  unit: ["Unit", "", "Unit of value"],
  metric_id: ["Metric ID", "", "Metric: wavewright metrics ID explains it; several are joined by +"],
  peak: ["Peak", "", "What the hardware can do at most, in the same unit; empty = no such bound is known"],
  peak_share: ["Peak share", "%", "100 value / peak"],
  reason: ["Reason", "", "Why there is no value; else empty"],
  rate: ["Rate", "GB/s", "Bytes of these requests per second; empty = no metric tells them"],
  rate_share: ["Rate share", "%", "Of the peak of what carries them"],
  heat: ["Heat", "", "Warm or hot where that is near the peak; else empty"],
};

/** Blocks, their values and the wires between them. */
export interface MemoryChartAnswer {
  definition: string;
  target: string;
  product: string;
  /** cdna or rdna. */
  family: string;
  /** Requests per kernel, wave, cycle or second. */
  normalization: string;
  rules: string;
  dispatch_count: number;
  duration_ns_mean: number | null;
  /** Block whose traffic is nearest to its peak; empty = no traffic can be compared with a peak. */
  busiest: string;
  blocks: Frame<MemoryChartBlocksRow>;
  values: Frame<MemoryChartValuesRow>;
  wires: Frame<MemoryChartWiresRow>;
  caveats: string[];
}
