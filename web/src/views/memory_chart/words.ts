// Numbers of the chart in few characters, and in full for tooltips.
import { measured, rate, short } from "../../base/format";
import type { MemoryChartValuesRow, MemoryChartWiresRow } from "../../data/answers.gen";

/** Kind of a flow -> its two letters in the chart; traffic is all that flows. */
const KINDS: Record<string, string> = { read: "rd", write: "wr", atomic: "at", request: "rq", traffic: "" };

export const NOT_KNOWN = "–";

function brief(value: number): string {
  const size = Math.abs(value);
  if (size < 1000) return size >= 100 || Number.isInteger(value) ? String(Math.round(value)) : measured(value);
  return short(value);
}

/** Units in few letters; what they are per, a kernel or a second, is chosen above the chart. */
const UNITS: Record<string, string> = { Req: "req", Cycles: "cyc", Instr: "instr" };

/** Numbers with their unit; those that their label counts (CUs, registers, waves) have none. */
function withUnit(value: number, unit: string): string {
  if (unit === "%") return `${value.toFixed(1)} %`;
  if (unit === "GB/s") return rate(value, unit);
  const [what = ""] = unit.split("/");
  if (what === "Bytes") return value < 1000 ? `${brief(value)} B` : `${brief(value)}B`;
  return UNITS[what] ? `${brief(value)} ${UNITS[what]}` : brief(value);
}

export function valueText({ value, unit }: MemoryChartValuesRow): string {
  return value === null ? NOT_KNOWN : withUnit(value, unit);
}

export function flowText({ kind, value, unit }: MemoryChartWiresRow): string {
  const number = value === null ? NOT_KNOWN : withUnit(value, unit);
  return `${KINDS[kind] ?? kind} ${number}`.trim();
}

type Known = Pick<MemoryChartValuesRow, "value" | "unit" | "reason" | "peak" | "peak_share">;

/** The number in full and its share of the peak; an empty line where there is no peak. */
function fullLines({ value, unit, reason, peak, peak_share: percent }: Known): string[] {
  return [
    value === null ? `not known: ${reason || "not measured"}` : `${measured(value)} ${unit}`.trim(),
    peak === null ? "" : `of ${measured(peak)} ${unit}${percent === null ? "" : `: ${percent.toFixed(1)} %`}`,
  ];
}

const joined = (lines: string[]) => lines.filter(Boolean).join("\n");

/** The tooltip of a number of a block. */
export function valueHint(title: string, value: MemoryChartValuesRow): string {
  return joined([`${title}, ${value.label} (${value.metric_id})`, value.about, ...fullLines(value)]);
}

/** The tooltip of a number of a wire, between blocks with these titles. */
export function flowHint(from: string, to: string, flow: MemoryChartWiresRow): string {
  const rateText = flow.rate === null || flow.kind === "traffic" ? "" : `${measured(flow.rate)} GB/s`;
  return joined([`${from} → ${to}: ${flow.kind} (${flow.metric_id})`, ...fullLines(flow), rateText]);
}

/** Heat of a number -> meaning in the palette; empty = it has no colour. */
export const COLOURS: Record<string, string> = { good: "better", warm: "VMEM", hot: "worse", "": "" };
