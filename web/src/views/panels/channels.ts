// Values per L2 channel, as one strip per table and column.
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
  mean: number;
  low: { value: number; channel: number } | null;
  high: { value: number; channel: number } | null;
  reason: string;
}

/** The strips of one table. */
export function strips(columns: Columns, table: string): Strip[] {
  const [tables, metrics, names] = [columns.texts("table_id"), columns.texts("metric_id"), columns.texts("name")];
  const [series, units, reasons] = [columns.texts("series"), columns.texts("unit"), columns.texts("reason")];
  const [channels, values] = [columns.numbers("channel"), columns.numbers("average")];
  const byKey = new Map<string, Strip>();
  for (let i = 0; i < columns.length; i++) {
    if (tables[i] !== table) continue;
    const key = `${names[i]}\n${series[i]}`;
    let strip = byKey.get(key);
    if (!strip) {
      strip = {
        metric: metrics[i] ?? "",
        name: names[i] ?? "",
        series: series[i] ?? "",
        unit: units[i] ?? "",
        values: [],
        channels: [],
        mean: Number.NaN,
        low: null,
        high: null,
        reason: "",
      };
      byKey.set(key, strip);
    }
    strip.values.push(values[i] ?? Number.NaN);
    strip.channels.push(channels[i] ?? 0);
    strip.reason ||= reasons[i] ?? "";
  }
  const all = [...byKey.values()];
  for (const strip of all) summarize(strip);
  return all;
}

/** Mean, smallest and largest of what was measured. */
export function summarize(strip: Strip): void {
  let sum = 0;
  let count = 0;
  strip.values.forEach((value, i) => {
    if (Number.isNaN(value)) return;
    sum += value;
    count += 1;
    const channel = strip.channels[i] ?? i;
    if (!strip.low || value < strip.low.value) strip.low = { value, channel };
    if (!strip.high || value > strip.high.value) strip.high = { value, channel };
  });
  strip.mean = count ? sum / count : Number.NaN;
}
