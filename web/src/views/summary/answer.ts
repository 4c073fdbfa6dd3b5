// The answer to `summary`.

export interface Kernel {
  kernel: number;
  name: string;
  demangled: string;
  vgprs: number | null;
  agprs: number | null;
  sgprs: number | null;
  lds_bytes: number | null;
  scratch_bytes: number | null;
  wave_size: number | null;
  workgroup_size: number | null;
  resource_origin: string | null;
}

export interface Counted {
  definition: string;
  names_are_known: boolean;
  totals: { name: string; sample_count: number; value_total: number; value_mean: number | null; value_max: number }[];
  by_cu: { name: string; se: number; cu: number; value_total: number }[];
  hardware: { unit: string; share: number; peak_share: number }[];
  hardware_by_cu: { unit: string; se: number; cu: number; share: number }[];
}

export interface SummaryAnswer {
  activity: {
    definition: string;
    idle_cycles_total: number;
    stall_cycles_total: number;
    issue_cycles_total: number;
    cycles_total: number;
    execution_count: number;
    is_stored: boolean;
    idle_share: number | null;
    stall_share: number | null;
    issue_share: number | null;
  };
  totals: {
    shader_engines: number[];
    span_cycles: number;
    waves: number;
    waves_complete: number;
    instructions: number;
    unresolved: number;
    clock_mhz: number | null;
    code_rows: number;
    rows_with_line: number;
    pc_samples: number;
    missing: string[];
  };
  kernels: Kernel[];
  coverage: {
    executed_row_count: number;
    entered_row_count: number;
    executed_share: number;
    traced_share: number | null;
    all_wave_count: number;
    early_exit_wave_count: number;
  };
  states: { state: string; cycles_total: number; share: number }[];
  pipes: {
    definition: string;
    busy: { pipe: string; busy_cycles_total: number; busy_share: number }[];
    bubble_share: number | null;
    is_issue_only: boolean;
  };
  counters: Counted | null;
}

/** One CU with its utilization per unit and what it counted. */
export interface CuLine {
  place: string;
  se: number;
  cu: number;
  shares: Map<string, number>;
  counts: Map<string, number>;
}

/** The CUs that counted anything, by shader engine and number. */
export function cuLines(counted: Counted): CuLine[] {
  const lines = new Map<string, CuLine>();
  const at = (se: number, cu: number) => {
    const place = `SE ${se} CU ${cu}`;
    const known = lines.get(place);
    if (known) return known;
    const line = { place, se, cu, shares: new Map<string, number>(), counts: new Map<string, number>() };
    lines.set(place, line);
    return line;
  };
  for (const { name, se, cu, value_total } of counted.by_cu) if (value_total) at(se, cu).counts.set(name, value_total);
  for (const { unit, se, cu, share } of counted.hardware_by_cu) at(se, cu).shares.set(unit, share);
  return [...lines.values()].sort((a, b) => a.se - b.se || a.cu - b.cu);
}
