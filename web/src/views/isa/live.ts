// Live registers by row, from the question `live_registers`.
import type { Columns } from "../../data/columns";

const NAMES = ["live_vgprs", "live_agprs", "live_sgprs", "live_vectors", "waves_per_simd"] as const;
export type LiveName = (typeof NAMES)[number];

/** By row; NaN = not known, or the row cannot be reached. */
export type Live = Record<LiveName, Float64Array> & {
  /** Rows of which it is known. */
  count: number;
  /** The most live vector registers of any row. */
  most: number;
};

export function liveFrom(table: Columns, rowCount: number): Live {
  const rows = table.numbers("row");
  const spread = (name: LiveName) => {
    const [values, all] = [table.numbers(name), new Float64Array(rowCount).fill(Number.NaN)];
    for (let i = 0; i < rows.length; i++) all[rows[i] as number] = values[i] as number;
    return all;
  };
  const columns = Object.fromEntries(NAMES.map((name) => [name, spread(name)])) as Record<LiveName, Float64Array>;
  const most = columns.live_vectors.reduce((largest, value) => (value > largest ? value : largest), 1);
  return { ...columns, most, count: rows.length };
}
