// What PC sampling saw of each row.
import type { Columns } from "../../data/columns";

export interface Samples {
  issued: Float64Array;
  stalled: Float64Array;
  /** Samples of a method that does not tell whether the instruction was issued. */
  unknown: Float64Array;
  /** All samples. */
  all: Float64Array;
  /** Why rows were not issued, the most frequent reason first. */
  byRow: Map<number, { reason: string; count: number }[]>;
  /** All reasons, the most frequent first. */
  reasons: string[];
}

export function samplesFrom(samples: Columns, reasons: Columns, rowCount: number): Samples {
  const spread = (name: string) => {
    const [rows, values] = [samples.numbers("row"), samples.numbers(name)];
    const all = new Float64Array(rowCount);
    for (let i = 0; i < rows.length; i++) all[rows[i] as number] = values[i] as number;
    return all;
  };
  const byRow: Samples["byRow"] = new Map();
  const totals = new Map<string, number>();
  const [rows, counts] = [reasons.numbers("row"), reasons.numbers("count")];
  reasons.texts("reason").forEach((reason, i) => {
    const [row, count] = [rows[i] as number, counts[i] as number];
    byRow.set(row, [...(byRow.get(row) ?? []), { reason, count }]);
    totals.set(reason, (totals.get(reason) ?? 0) + count);
  });
  const ranked = [...totals].sort((a, b) => b[1] - a[1]).map(([reason]) => reason);
  const [issued, stalled, unknown] = [spread("issued_count"), spread("stalled_count"), spread("unknown_count")];
  const all = issued.map((value, row) => value + (stalled[row] ?? 0) + (unknown[row] ?? 0));
  return { issued, stalled, unknown, all, byRow, reasons: ranked };
}
