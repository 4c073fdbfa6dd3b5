// The answer to `summary`.
import type {
  CoverageAnswer,
  SummaryByCuRow,
  SummaryHardwareByCuRow,
  SummaryHardwareRow,
  SummaryKernelsRow,
  SummaryPipesRow,
  SummaryStatesRow,
  SummaryTotalsRow,
} from "../../data/answers.gen";

export interface Counted {
  definition: string;
  names_are_known: boolean;
  totals: SummaryTotalsRow[];
  by_cu: SummaryByCuRow[];
  hardware: SummaryHardwareRow[];
  hardware_by_cu: SummaryHardwareByCuRow[];
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
  kernels: SummaryKernelsRow[];
  coverage: Pick<
    CoverageAnswer,
    | "executed_row_count"
    | "entered_row_count"
    | "executed_share"
    | "traced_share"
    | "all_wave_count"
    | "early_exit_wave_count"
  >;
  states: SummaryStatesRow[];
  pipes: {
    definition: string;
    busy: SummaryPipesRow[];
    bubble_share: number | null;
    valu_per_matrix: number | null;
  };
  sampled_counters: Counted | null;
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
    const present = lines.get(place);
    if (present) return present;
    const line = { place, se, cu, shares: new Map<string, number>(), counts: new Map<string, number>() };
    lines.set(place, line);
    return line;
  };
  for (const { name, se, cu, value_total } of counted.by_cu) if (value_total) at(se, cu).counts.set(name, value_total);
  for (const { unit, se, cu, share } of counted.hardware_by_cu) at(se, cu).shares.set(unit, share);
  return [...lines.values()].sort((a, b) => a.se - b.se || a.cu - b.cu);
}
