// Values of one metric, dispatch by dispatch.
import type { Columns } from "../../data/columns";

export interface DispatchValue {
  /** Number of the dispatch in the capture. */
  dispatch: number;
  /** The id that the profiler gave it; NaN = none is recorded. */
  id: number;
  /** Rank of its kernel. */
  kernel: number;
  value: number;
  isOutlier: boolean;
}

/** What stands for the duration among metrics. */
export const DURATION = "duration";

/** The table of a metric: "17.1.2" -> "17.1"; empty for durations, which come with every table. */
export function tableOf(metric: string): string {
  return metric === DURATION ? "" : metric.split(".").slice(0, 2).join(".");
}

/** The values of a metric that are known, of one kernel or of all. */
export function valuesOf(columns: Columns, metric: string, kernel: number | null): DispatchValue[] {
  const name = metric === DURATION ? "duration_ns" : metric;
  if (!columns.has(name)) return [];
  const values = columns.numbers(name);
  const [dispatches, ids] = [columns.numbers("dispatch"), columns.numbers("dispatch_id")];
  const kernels = columns.numbers("kernel");
  /** Per dispatch the metrics in which it is an outlier, apart by spaces. */
  const outliers = columns.texts("outlier_ids");
  const list: DispatchValue[] = [];
  for (let i = 0; i < columns.length; i++) {
    const value = values[i] ?? Number.NaN;
    const rank = kernels[i] ?? -1;
    if (Number.isNaN(value) || (kernel !== null && rank !== kernel)) continue;
    const isOutlier = (outliers[i] ?? "").split(" ").includes(metric);
    list.push({ dispatch: dispatches[i] ?? i, id: ids[i] ?? Number.NaN, kernel: rank, value, isOutlier });
  }
  return list;
}

/** The axis of values: from zero, or the smallest value where that is below, with 5 % of room above; never empty. */
export function rangeOf(values: DispatchValue[]): { low: number; high: number } {
  let [low, high] = [0, Number.NEGATIVE_INFINITY];
  for (const { value } of values) {
    low = Math.min(low, value);
    high = Math.max(high, value);
  }
  return high > low ? { low, high: high + (high - low) * 0.05 } : { low, high: low + 1 };
}
