// Numbers as people read them. Exact figures keep all digits with thousands separators; short ones have a unit letter.
import { signal } from "@preact/signals";

export interface NumberStyle {
  /** Whether large figures have three digits and a letter. */
  isShort: boolean;
  separator: "comma" | "space" | "apostrophe" | "none";
}

/** How the user wants numbers: model/settings.ts sets it, and whatever shows a number follows. */
export const numberStyle = signal<NumberStyle>({ isShort: false, separator: "comma" });

const THOUSANDS = new Intl.NumberFormat("en-US", { maximumFractionDigits: 0 });
const SEPARATORS = { comma: ",", space: "\u202f", apostrophe: "’", none: "" };

/** 1234567 -> "1,234,567"; null and NaN -> "". */
export function exact(value: number | null | undefined): string {
  if (value === null || value === undefined || Number.isNaN(value)) return "";
  const text = THOUSANDS.format(value);
  const { separator } = numberStyle.value;
  return separator === "comma" ? text : text.replaceAll(",", SEPARATORS[separator]);
}

/** Smaller figures have few digits anyway, and numbers of rows and waves stay as they are. */
const LEAST_SHORT = 100_000;

/** An amount as the user wants it: "1,234,567" or "1.23 M". Places in time and numbers of things are `exact`. */
export function amount(value: number | null | undefined): string {
  const isShort = numberStyle.value.isShort && Math.abs(value ?? 0) >= LEAST_SHORT;
  return isShort ? short(value ?? 0) : exact(value);
}

/** Of one thing its singular, of the plurals that are used: counted(1, "dispatches") -> "1 dispatch". */
export function counted(count: number, plural: string): string {
  return `${exact(count)} ${count === 1 ? plural.replace(/(ch|sh|ss)es$|s$/, "$1") : plural}`;
}

/** 1234567 -> "1.23 M". */
export function short(value: number): string {
  const size = Math.abs(value);
  for (const [scale, unit] of [
    [1e12, "T"],
    [1e9, "G"],
    [1e6, "M"],
    [1e3, "K"],
  ] as const) {
    if (size >= scale) return `${(value / scale).toPrecision(3)} ${unit}`;
  }
  return Number.isInteger(value) ? String(value) : value.toPrecision(3);
}

/** 0.1234 -> "12.3 %". */
export function percent(share: number | null | undefined): string {
  return share === null || share === undefined || Number.isNaN(share)
    ? ""
    : `${(share * 100).toFixed(1).replace(/^-0\.0$/, "0.0")} %`;
}

/** Nanoseconds with the unit that keeps three or four digits: 1234567 -> "1.235 ms". */
export function nanoseconds(value: number): string {
  const size = Math.abs(value);
  if (size >= 1e12) return `${exact(Math.round(value / 1e9))} s`;
  for (const [scale, unit] of [
    [1e9, "s"],
    [1e6, "ms"],
    [1e3, "µs"],
  ] as const) {
    if (size >= scale) return `${(value / scale).toFixed(3)} ${unit}`;
  }
  return `${Math.round(value)} ns`;
}

/** A value of a metric, with the digits that matter: 1234567.8 -> "1,234,568", 75.588 -> "75.59", 0.00123 -> "0.00123". */
export function measured(value: number | null | undefined): string {
  if (value === null || value === undefined || Number.isNaN(value)) return "";
  const size = Math.abs(value);
  if (size >= 1e15) return value.toExponential(3);
  const isWhole = Math.abs(value - Math.round(value)) <= 1e-9 * size; // sums of quotients miss it by a hair
  if (size >= 1000 || isWhole) return exact(value);
  if (size >= 0.1) return value.toFixed(2);
  return size >= 1e-4 ? value.toPrecision(3) : value.toExponential(2);
}

/** 10^9 of something per second with the prefix that keeps three digits: 4366 GB/s -> "4.37 TB/s". */
export function rate(value: number, unit: string): string {
  const rest = unit.slice(1);
  for (const [scale, prefix] of [
    [1e6, "P"],
    [1e3, "T"],
  ] as const) {
    if (Math.abs(value) >= scale) return `${(value / scale).toPrecision(3)} ${prefix}${rest}`;
  }
  return `${measured(Number(value.toPrecision(3)))} ${unit}`;
}

/** An amount of bytes: "12 KiB", "3.4 GiB". */
export function byteAmount(value: number): string {
  const step = Math.min(3, Math.floor(Math.log2(Math.max(value, 1)) / 10));
  const scaled = value / 2 ** (10 * step);
  return `${scaled < 10 && step ? scaled.toFixed(1) : exact(scaled)} ${["B", "KiB", "MiB", "GiB"][step]}`;
}
