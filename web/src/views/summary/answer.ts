// The answer to `summary`, and the lines of its table of CUs.
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

/** What the counters in the trace say; `names_are_known` = the capture tells which counters it holds. */
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
  /** Hardware unit -> share of the busy cycles of the CU. */
  shares: Map<string, number>;
  /** Counter -> sum of its samples. */
  counts: Map<string, number>;
}

/** The CUs that counted anything, by shader engine and number. */
export function cuLines(counted: Counted): CuLine[] {
  const lines = new Map<string, CuLine>();
  const lineOf = (se: number, cu: number) => {
    const place = `SE ${se} CU ${cu}`;
    const line = lines.get(place) ?? { place, se, cu, shares: new Map(), counts: new Map() };
    lines.set(place, line);
    return line;
  };
  for (const { name, se, cu, value_total } of counted.by_cu) {
    if (value_total) lineOf(se, cu).counts.set(name, value_total);
  }
  for (const { unit, se, cu, share } of counted.hardware_by_cu) lineOf(se, cu).shares.set(unit, share);
  return [...lines.values()].sort((a, b) => a.se - b.se || a.cu - b.cu);
}
