// Numbers of the chart in few characters, and in full for tooltips.
import { measured, rate, short } from "../../base/format";
import type { MemoryChartValuesRow, MemoryChartWiresRow } from "../../data/answers.gen";

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

function valueLines(
  value: number | null,
  unit: string,
  reason: string,
  peak: number | null,
  share: number | null,
): string[] {
  return [
    value === null ? `not known: ${reason || "not measured"}` : `${measured(value)} ${unit}`.trim(),
    peak === null ? "" : `of ${measured(peak)} ${unit}${share === null ? "" : `: ${share.toFixed(1)} %`}`,
  ];
}

export function valueHint(title: string, of: MemoryChartValuesRow): string {
  const head = `${title}, ${of.label} (${of.metric_id})`;
  return [head, of.about, ...valueLines(of.value, of.unit, of.reason, of.peak, of.peak_share)]
    .filter(Boolean)
    .join("\n");
}

export function flowHint(from: string, to: string, of: MemoryChartWiresRow): string {
  const rate = of.rate === null || of.kind === "traffic" ? "" : `${measured(of.rate)} GB/s`;
  const head = `${from} → ${to}: ${of.kind} (${of.metric_id})`;
  return [head, ...valueLines(of.value, of.unit, of.reason, of.peak, of.peak_share), rate].filter(Boolean).join("\n");
}

/** Meanings of the palette. */
export const COLOURS: Record<string, string> = { good: "better", warm: "VMEM", hot: "worse", "": "" };
