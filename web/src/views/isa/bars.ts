// The bars beside the rows: what they are made of in each canvas mode.
import { exact, percent, short } from "../../base/format";
import { COSTS, LANES, type LanesRow, MEMORY_LATENCY_BY_ROW, SAMPLE_HOTSPOTS_UNITS } from "../../data/answers.gen";
import type { Columns } from "../../data/columns";
import { hintOf } from "../../data/tables";
import { colourOf, seriesColour } from "../../draw/palette";
import type { Code } from "../../model/code";
import { excessOf } from "../../model/lanes";
import type { Figures } from "./figures";
import type { Samples } from "./samples";

export interface Segment {
  name: string;
  colour: string;
  value: number;
}

export interface LegendEntry {
  name: string;
  colour: string;
  /** Its declared meaning; absent = it comes with an answer, or the name says it. */
  meaning?: string;
}

export interface Bars {
  /** One or two bars of a row, each a stack. */
  of(row: number): Segment[][];
  /** The length of a full bar. */
  scale: number;
  unit: string;
  legend: LegendEntry[];
  /** Half length of a whisker at the end of the first bar. */
  whisker?: (row: number) => number;
  /** What is behind the bar, for the tooltip. */
  remark?: (row: number) => string;
}

const MEANINGS: Record<string, string> = {
  hidden: [COSTS.hidden_stall_cycles_total, COSTS.hidden_issue_cycles_total, COSTS.hidden_idle_cycles_total]
    .map(hintOf)
    .join("; "),
  idle: hintOf(COSTS.exposed_idle_cycles_total),
  stall: hintOf(COSTS.exposed_stall_cycles_total),
  issue: hintOf(COSTS.exposed_issue_cycles_total),
};

const largestOf = (count: number, value: (row: number) => number) => {
  let largest = 0;
  for (let row = 0; row < count; row++) largest = Math.max(largest, value(row) || 0);
  return largest;
};

const at = (values: Float64Array, row: number) => values[row] ?? 0;

/** Idle, stall and issue on the scale of the largest row; with what other waves hid in front. */
export function latencyBars(
  figures: Figures,
  { withIdle, withHidden }: { withIdle: boolean; withHidden: boolean },
): Bars {
  const { latency, stall, idle, exposure } = figures;
  const total = (row: number) => at(latency, row) + (withIdle ? at(idle, row) : 0);
  const part = (name: string, value: number): Segment => ({ name, colour: colourOf(name), value });
  const of = (row: number): Segment[][] => {
    const idles = exposure ? at(exposure.idle, row) : at(idle, row);
    const stalls = exposure ? at(exposure.stall, row) : at(stall, row);
    const issues = exposure ? at(exposure.issue, row) : at(latency, row) - at(stall, row);
    const shown = stalls + issues + (withIdle ? idles : 0);
    const parts = [part("idle", withIdle ? idles : 0), part("stall", stalls), part("issue", issues)];
    return [withHidden && exposure ? [part("hidden", Math.max(0, total(row) - shown)), ...parts] : parts];
  };
  const names = [...(withHidden && exposure ? ["hidden"] : []), ...(withIdle ? ["idle"] : []), "stall", "issue"];
  return {
    of,
    scale: largestOf(latency.length, total),
    unit: "cycles",
    legend: names.map((name) => ({ name, colour: colourOf(name), meaning: MEANINGS[name] ?? "" })),
  };
}

/** Latency above in the colour of its category, stall below. */
export function latencyAndStall(figures: Figures, code: Code): Bars {
  return {
    of: (row) => [
      [
        {
          name: `latency (${code.kind[row] ?? ""})`,
          colour: kindColour(code.kind[row] ?? ""),
          value: at(figures.latency, row),
        },
      ],
      [{ name: "stall", colour: colourOf("stall"), value: at(figures.stall, row) }],
    ],
    scale: largestOf(code.count, (row) => at(figures.latency, row)),
    unit: "cycles",
    legend: [
      { name: "latency, by kind", colour: colourOf("VALU"), meaning: hintOf(COSTS.latency_cycles_total) },
      { name: "stall", colour: colourOf("stall"), meaning: hintOf(COSTS.stall_cycles_total) },
    ],
  };
}

/** Meanings of the palette by what is in the name of a kind; the first that fits counts. */
const KINDS: [part: string, meaning: string][] = [
  ["matrix", "MATRIX"],
  ["mfma", "MATRIX"],
  ["wmma", "MATRIX"],
  ["valu", "VALU"],
  ["salu", "SALU"],
  ["smem", "SMEM"],
  ["lds", "LDS"],
  ["flat", "FLAT"],
  ["vmem", "VMEM"],
  ["branch", "JUMP"],
  ["jump", "JUMP"],
  ["call", "JUMP"],
  ["bvh", "BVH"],
  ["message", "MESSAGE"],
];

/** The colour of a kind of instruction: that of its category in the timelines. */
export function kindColour(kind: string): string {
  return colourOf(KINDS.find(([part]) => kind.includes(part))?.[1] ?? "IMMED");
}

/** Stall by class, from the question `stall_rows`. */
export function classBars(table: Columns, rowCount: number): Bars {
  const [rows, stall, names] = [table.numbers("row"), table.numbers("stall_cycles_total"), table.texts("class")];
  const totals = new Map<string, number>();
  const byRow = new Map<number, { name: string; value: number }[]>();
  names.forEach((name, i) => {
    const [row, value] = [rows[i] as number, stall[i] as number];
    if (row < 0 || !value) return;
    totals.set(name, (totals.get(name) ?? 0) + value);
    byRow.set(row, [...(byRow.get(row) ?? []), { name, value }]);
  });
  const ranked = [...totals].sort((a, b) => b[1] - a[1]).map(([name]) => name);
  const colour = new Map(ranked.map((name, rank) => [name, rank]));
  const of = (row: number) => [
    (byRow.get(row) ?? []).map(({ name, value }) => ({ name, value, colour: seriesColour(colour.get(name) ?? 0) })),
  ];
  return {
    of,
    scale: largestOf(rowCount, (row) => (byRow.get(row) ?? []).reduce((sum, { value }) => sum + value, 0)),
    unit: "cycles of stall",
    legend: ranked.map((name, rank) => ({ name, colour: seriesColour(rank) })),
  };
}

/** Mean latency of memory operations with one standard deviation, from the question `row_latencies`. */
export function memoryBars(table: Columns): Bars {
  const rows = table.numbers("row");
  const [mean, deviation] = [table.numbers("latency_cycles_mean"), table.numbers("latency_cycles_sd")];
  const [isBound, origin, counts] = [table.flags("is_bound"), table.texts("origin"), table.numbers("sample_count")];
  /** By code row, its entry in the table. */
  const entries = new Map(Array.from(rows, (row, entry) => [row, entry]));
  const known = (value: number | undefined) => (value === undefined || Number.isNaN(value) ? 0 : value);
  const deviationOf = (row: number) => known(deviation[entries.get(row) ?? -1]);
  const partOf = (entry: number): Segment => ({
    name: isBound[entry] ? "at most (mean)" : "mean",
    colour: colourOf(isBound[entry] ? "NONE" : "VMEM"),
    value: known(mean[entry]),
  });
  return {
    of: (row) => {
      const entry = entries.get(row);
      return [entry === undefined ? [] : [partOf(entry)]];
    },
    scale: Math.max(0, ...Array.from(rows, (_, entry) => known(mean[entry]) + known(deviation[entry]))),
    unit: "cycles",
    legend: [
      { name: "mean latency", colour: colourOf("VMEM"), meaning: hintOf(MEMORY_LATENCY_BY_ROW.latency_cycles_mean) },
      {
        name: "upper bound: the waits never ended with it",
        colour: colourOf("NONE"),
        meaning: hintOf(MEMORY_LATENCY_BY_ROW.is_bound),
      },
    ],
    whisker: deviationOf,
    remark: (row) => {
      const entry = entries.get(row);
      if (entry === undefined) return "";
      return `± ${short(deviationOf(row))} cycles, ${exact(known(counts[entry]))} samples, from ${origin[entry]}`;
    },
  };
}

/** LDS cycles, or cache segments: the least, and what is lost, of the executions whose cost is known. */
export function laneBars(rows: LanesRow[], ofLds: boolean): Bars {
  const least = {
    name: ofLds ? "without conflicts" : "least",
    colour: colourOf("issue"),
    meaning: hintOf(ofLds ? LANES.ideal_cycles_total : LANES.least_segment_count_total),
  };
  const beyond = {
    name: ofLds ? "lost to bank conflicts" : "beyond the least",
    colour: colourOf("stall"),
    meaning: hintOf(ofLds ? LANES.extra_cycles_total : LANES.segment_count_total),
  };
  const needed = (row: LanesRow) => (ofLds ? row.ideal_cycles_total : row.least_segment_count_total) ?? 0;
  const byRow = new Map(rows.filter((row) => (row.space === "lds") === ofLds).map((row) => [row.row, row]));
  const known = (row: LanesRow) =>
    `${exact(row.cost_known_count)} of ${exact(row.execution_count)} executions are known`;
  return {
    of: (number) => {
      const row = byRow.get(number);
      if (!row) return [[]];
      return [
        [
          { ...least, value: needed(row) },
          { ...beyond, value: excessOf(row) ?? 0 },
        ],
      ];
    },
    scale: Math.max(0, ...[...byRow.values()].map((row) => needed(row) + (excessOf(row) ?? 0))),
    unit: ofLds ? "cycles" : "segments",
    legend: [least, beyond],
    remark: (number) => {
      const row = byRow.get(number);
      if (!row) return "";
      return row.reason ? `${known(row)}: ${row.reason}` : known(row);
    },
  };
}

/** Samples: issued, then not issued by reason. */
export function sampleBars(samples: Samples): Bars {
  // The third colour is too near to that of issued samples.
  const place = (rank: number) => (rank < 2 ? rank : rank + 1);
  const colour = (reason: string) => seriesColour(place(samples.reasons.indexOf(reason)));
  const told = samples.unknown.every((count) => count === 0);
  const first = told
    ? { name: "issued", colour: colourOf("issue"), meaning: hintOf(SAMPLE_HOTSPOTS_UNITS.issued_count) }
    : { name: "issued or not", colour: colourOf("hidden") };
  return {
    of: (row) => [
      [
        { ...first, value: at(told ? samples.issued : samples.unknown, row) },
        ...(samples.byRow.get(row) ?? []).map(({ reason, count }) => ({
          name: reason,
          colour: colour(reason),
          value: count,
        })),
      ],
    ],
    scale: largestOf(samples.all.length, (row) => at(samples.all, row)),
    unit: "samples",
    legend: [first, ...samples.reasons.map((name) => ({ name, colour: colour(name) }))],
  };
}

/** A row's bar in words, with its parts as shares of the bar, and the bar as a share of the longest. */
export function barLines(bars: Bars, row: number, title: string): string[] {
  const lines = [title];
  for (const stack of bars.of(row)) {
    const total = stack.reduce((sum, { value }) => sum + value, 0);
    for (const { name, value } of stack) {
      if (value) lines.push(`${name}: ${exact(Math.round(value))} ${bars.unit} (${percent(value / total)})`);
    }
    if (stack.length > 1) lines.push(`together ${exact(Math.round(total))}`);
    if (total) lines.push(`${percent(total / bars.scale)} of the longest bar`);
  }
  const remark = bars.remark?.(row);
  return remark ? [...lines, remark] : lines;
}
