// What the listing is set to: modes and hidden columns are kept with the user's settings, filters last as long as the page.

import { computed, signal } from "@preact/signals";
import { ofDocument } from "../../model/document";
import { change, settings } from "../../model/settings";

export const LATENCY_MODES = {
  sum_all: ["Sum, all waves", "Sums over all executions in all waves"],
  mean_all: ["Mean, all waves", "Means per execution over all waves, rounded to whole cycles"],
  iteration: [
    "Execution n, one wave",
    "The n-th execution of every row in the target wave: n is that of the selected row",
  ],
  sum_wave: ["Sum, one wave", "Sums over all executions in the target wave"],
  mean_wave: ["Mean, one wave", "Means per execution in the target wave, rounded to whole cycles"],
  max_wave: ["Max, one wave", "The largest execution of every row in the target wave, part by part"],
} as const;
export type LatencyMode = keyof typeof LATENCY_MODES;

export const CANVAS_MODES = {
  waits: ["Wait arrows", "From each memory instruction to the wait that waited for it"],
  branches: ["Branch arrows", "From each taken branch to where it led"],
  total: ["Total latency", "Hidden, idle, stall and issue cycles of each row, on the scale of the largest row"],
  exposed: [
    "Non-hidden latency",
    "Idle, stall and issue cycles that no other wave hid, on the scale of the largest row",
  ],
  classes: ["Stall classes", "Stall cycles by what was stalled on, over all waves"],
  latency_stall: ["Latency + stall", "Latency above, stall below, on one scale"],
  memory: ["Memory latency", "Mean latency of memory operations over all waves, with ± one standard deviation"],
  lds: [
    "LDS cycles",
    "Cycles that LDS needs for each row: without conflicts, and lost to bank conflicts; evaluates lanes",
  ],
  segments: ["Cache segments", "Cache segments that each row touches: the least, and those beyond; evaluates lanes"],
  samples: ["Samples by reason", "PC samples: issued, and not issued by reason"],
} as const;
export type CanvasMode = keyof typeof CANVAS_MODES;

export interface Sorting {
  /** Column. */
  id: string;
  down: boolean;
}

interface IsaSettings {
  mode: LatencyMode;
  canvas: CanvasMode | "";
  /** Columns whose visibility the user changed. */
  columns: Record<string, boolean>;
  /** Columns in the order of the user; those that are not named stand where they stand at first. */
  order: string[];
  /** Pixels of columns whose width the user changed. */
  widths: Record<string, number>;
  /** null = in the order of the code. */
  sort: Sorting | null;
  /** Whether each column of figures is shaded by its own largest value; else the instruction by its cycles. */
  columnHeat: boolean;
}

const DEFAULTS: IsaSettings = {
  mode: "sum_all",
  canvas: "",
  columns: {},
  order: [],
  widths: {},
  sort: null,
  columnHeat: false,
};
export const NARROWEST = 24;
const WIDEST = 2000;

export const isaSettings = computed<IsaSettings>(() => {
  const stored = (settings.value.isa ?? {}) as Partial<IsaSettings>;
  const isKnown = stored.mode !== undefined && stored.mode in LATENCY_MODES;
  const { order, widths, sort } = stored;
  return {
    ...DEFAULTS,
    ...stored,
    mode: isKnown ? (stored.mode as LatencyMode) : DEFAULTS.mode,
    order: Array.isArray(order) ? order.filter((id) => typeof id === "string") : [],
    widths: Object.fromEntries(
      Object.entries(widths ?? {}).filter(([, width]) => width >= NARROWEST && width <= WIDEST),
    ),
    sort: typeof sort?.id === "string" ? { id: sort.id, down: sort.down !== false } : null,
  };
});

export function changeIsa(part: Partial<IsaSettings>): void {
  change({ isa: { ...isaSettings.value, ...part } });
}

export const isOneWave = (mode: LatencyMode) => !mode.endsWith("_all");

export const query = signal("");
export const hitsOnly = signal(false);
export const executedOnly = signal(false);
/** Only rows with at least this share of all stall, in percent; 0 = all rows. */
export const stallOver = signal(0);
/** Functions, by their first row, that the user folded (true) or unfolded. */
export const folded = ofDocument<ReadonlyMap<number, boolean>>(new Map());
/** The registers under the pointer, as the code table writes them. */
export const highlightedRegisters = ofDocument("");

/** What the pointer is over, in words: lines of text beside the pointer. */
export const tip = ofDocument<{ x: number; y: number; lines: string[] } | null>(null);
