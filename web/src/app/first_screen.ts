// What a document opens with: the layout of its kind, changed by rules that look at what is in it. Every rule that fits
// applies, in this order: the first one with a layout gives it, and each brings its views to the front.
import { comparable } from "../model/baseline";
import {
  type CountersOverview,
  current,
  documents,
  type Overview,
  type RunOverview,
  type TraceOverview,
} from "../model/document";
import type { Selection } from "../model/selection";
import { settings } from "../model/settings";
import { column, fronted, type Layout, row, tabs } from "./layout";
import { FIRST_LAYOUT, FIRST_LAYOUT_OF_SEVERAL } from "./registry";

interface Rule<Facts> {
  name: string;
  fits: (facts: Facts) => boolean;
  layout?: Layout;
  front?: string[];
  select?: (facts: Facts) => Selection;
}

/** From here on waves come and go on every slot: their distribution says more than the life of one. */
const MANY_WAVES = 1000;
/** From here on a timeline of all processes is a wall of tracks. */
const MANY_PROCESSES = 64;

const hasWaves = (facts: TraceOverview) => facts.wave_count > 0;
const hasTimes = (facts: CountersOverview) => facts.kernels.some((kernel) => kernel.duration_ns_total !== null);

const OF_TRACE: Rule<TraceOverview>[] = [
  {
    name: "PC samples without a trace",
    fits: (facts) => !hasWaves(facts) && (facts.holds.samples ?? 0) > 0,
    layout: row(
      [0.32, column([0.5, tabs("stalls")], [0.5, tabs("explorer", "losses")])],
      [0.68, column([0.55, tabs("isa", "flame")], [0.45, tabs("source")])],
    ),
  },
  {
    name: "no wave was traced",
    fits: (facts) => !hasWaves(facts) && !facts.holds.samples,
    layout: row(
      [0.5, tabs("diagnosis", "coverage", "losses", "summary")],
      [0.5, tabs("global_view", "occupancy", "dispatches")],
    ),
  },
  {
    name: "a single wave",
    fits: (facts) => facts.wave_count === 1,
    layout: row(
      [0.26, tabs("diagnosis", "explorer")],
      [
        0.74,
        column(
          [0.26, tabs("compute_unit", "utilization", "loops")],
          [0.74, row([0.6, tabs("isa")], [0.4, tabs("source", "stalls")])],
        ),
      ],
    ),
  },
  { name: "thousands of waves", fits: (facts) => facts.wave_count >= MANY_WAVES, front: ["global_view"] },
  {
    name: "no source lines",
    fits: (facts) => hasWaves(facts) && !facts.line_row_count,
    front: ["stalls"],
  },
];

const OF_RUN: Rule<RunOverview>[] = [
  {
    name: "many processes",
    fits: (facts) => facts.processes.length >= MANY_PROCESSES,
    layout: column(
      [0.52, row([0.6, tabs("ranks", "busy", "overlap")], [0.4, tabs("run_diagnosis")])],
      [0.48, tabs("kernels", "run_timeline", "path", "gaps")],
    ),
  },
  { name: "nothing ran on a GPU", fits: (facts) => !facts.holds.dispatches, front: ["regions"] },
];

const OF_COUNTERS: Rule<CountersOverview>[] = [
  { name: "no times", fits: (facts) => !hasTimes(facts), front: ["memory_chart"] },
  {
    name: "several kernels",
    fits: (facts) => facts.kernel_count > 1 && hasTimes(facts),
    select: ({ kernels }) => ({ kernelRank: kernels[0]?.kernel }), // the longest is the first
  },
];

export interface FirstScreen {
  /** The rules that fit, by name. */
  rules: string[];
  layout: Layout;
  /** What is selected at first. */
  selection: Selection;
}

function applied<Facts extends Overview>(facts: Facts, rules: Rule<Facts>[], chosen: string): FirstScreen {
  const fitting = rules.filter((rule) => rule.fits(facts));
  const path = documents.value[current.value]?.path;
  const isPair = comparable().some((line) => line.path !== path); // dispatches of one capture are not compared
  const layout = isPair
    ? FIRST_LAYOUT_OF_SEVERAL[facts.kind]
    : (fitting.find((rule) => rule.layout)?.layout ?? FIRST_LAYOUT[facts.kind]);
  const fronts = fitting.flatMap((rule) => rule.front ?? []);
  return {
    rules: [isPair ? "several" : "one", ...fitting.map((rule) => rule.name)],
    layout: fronted(layout, chosen ? [...fronts, chosen] : fronts),
    selection: Object.assign({}, ...fitting.map((rule) => rule.select?.(facts) ?? {})),
  };
}

/** The view that the user wants in front; empty = the one that fits. */
export function frontSetting(kind: Overview["kind"]): string {
  const { frontTrace, frontRun, frontCounters } = settings.value;
  return { trace: frontTrace, run: frontRun, counters: frontCounters, store: "" }[kind];
}

export function firstScreen(facts: Overview): FirstScreen {
  const chosen = frontSetting(facts.kind);
  if (facts.kind === "trace") return applied(facts, OF_TRACE, chosen);
  if (facts.kind === "store") return applied(facts, [], chosen);
  return facts.kind === "run" ? applied(facts, OF_RUN, chosen) : applied(facts, OF_COUNTERS, chosen);
}
