// Values per L2 channel: a strip of values, one per channel, for each metric and series of a table.
import { groupBy } from "../../base/group";
import type { Columns } from "../../data/columns";

export interface Strip {
  /** Id of its first channel. */
  metric: string;
  name: string;
  series: string;
  unit: string;
  /** By channel; NaN = not measured. */
  values: number[];
  channels: number[];
  /** NaN = nothing was measured; then `low` and `high` are null. */
  mean: number;
  low: { value: number; channel: number } | null;
  high: { value: number; channel: number } | null;
  /** Why values are missing; empty = no reason is stated. */
  reason: string;
}

/** The strips of one table; the rows of the answer are its channels, in their order. */
export function strips(columns: Columns, table: string): Strip[] {
  const texts = (name: string) => columns.texts(name);
  const [tables, names, series] = [texts("table_id"), texts("name"), texts("series")];
  const [metrics, units, reasons] = [texts("metric_id"), texts("unit"), texts("reason")];
  const [channels, averages] = [columns.numbers("channel"), columns.numbers("average")];
  const rowsOfStrip = groupBy(
    Array.from({ length: columns.length }, (_, row) => row).filter((row) => tables[row] === table),
    (row) => `${names[row]}\n${series[row]}`,
  );
  return [...rowsOfStrip.values()].map((rows) => {
    const first = rows[0] as number;
    const ofChannels = rows.map((row) => channels[row] ?? 0);
    const values = rows.map((row) => averages[row] ?? Number.NaN);
    return {
      metric: metrics[first] ?? "",
      name: names[first] ?? "",
      series: series[first] ?? "",
      unit: units[first] ?? "",
      values,
      channels: ofChannels,
      ...summaryOf(values, ofChannels),
      reason: rows.map((row) => reasons[row] ?? "").find(Boolean) ?? "",
    };
  });
}

/** Mean, smallest and largest of what was measured. */
export function summaryOf(values: number[], channels: number[]): Pick<Strip, "mean" | "low" | "high"> {
  const measured = values
    .map((value, n) => ({ value, channel: channels[n] ?? n }))
    .filter(({ value }) => !Number.isNaN(value));
  const sum = measured.reduce((total, { value }) => total + value, 0);
  return {
    mean: measured.length ? sum / measured.length : Number.NaN,
    low: measured.reduce<Strip["low"]>((least, each) => (!least || each.value < least.value ? each : least), null),
    high: measured.reduce<Strip["high"]>((most, each) => (!most || each.value > most.value ? each : most), null),
  };
}
