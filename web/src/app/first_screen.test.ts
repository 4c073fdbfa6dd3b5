import { describe, expect, it } from "vitest";
import type { DocumentLine } from "../data/ask";
import { type CountersOverview, documents, overview, type RunOverview, type TraceOverview } from "../model/document";
import { firstScreen } from "./first_screen";
import type { Layout } from "./layout";

/** The views that are seen at first. */
const seen = (layout: Layout): string[] =>
  "tabs" in layout ? [layout.tabs[layout.front ?? 0] ?? ""] : layout.children.flatMap(seen);

const trace = (facts: Partial<TraceOverview>) =>
  ({ kind: "trace", wave_count: 32, instruction_count: 9, line_row_count: 5, holds: {}, ...facts }) as TraceOverview;
const run = (processes: number, dispatches = 9) =>
  ({ kind: "run", processes: Array(processes).fill({}), holds: { dispatches } }) as unknown as RunOverview;
const counters = (durations: (number | null)[]) => {
  const kernels = durations.map((duration, n) => ({ kernel: n + 4, duration_ns_total: duration }));
  return { kind: "counters", kernel_count: kernels.length, kernels } as unknown as CountersOverview;
};

/** The documents of the page; the first is shown. */
function kinds(lines: { kind: string; path: string }[]): void {
  documents.value = lines.map((line, number) => ({ ...line, number, label: line.path }) as DocumentLine);
  overview.value = lines.length ? trace({}) : null;
}

describe("the first screen", () => {
  it.each([
    ["a trace with lines", trace({}), [], ["diagnosis", "compute_unit", "isa", "source"]],
    ["no lines", trace({ line_row_count: 0 }), ["no source lines"], ["diagnosis", "compute_unit", "isa", "stalls"]],
    [
      "thousands of waves without lines",
      trace({ wave_count: 4112, line_row_count: 0 }),
      ["thousands of waves", "no source lines"],
      ["diagnosis", "global_view", "isa", "stalls"],
    ],
    ["one wave", trace({ wave_count: 1 }), ["a single wave"], ["diagnosis", "compute_unit", "isa", "source"]],
    ["no wave", trace({ wave_count: 0 }), ["no wave was traced"], ["diagnosis", "global_view"]],
    [
      "PC samples",
      trace({ wave_count: 0, holds: { samples: 7 } }),
      ["PC samples without a trace"],
      ["stalls", "explorer", "isa", "source"],
    ],
    ["one process", run(1), [], ["run_timeline", "kernels", "run_diagnosis"]],
    ["a thousand ranks", run(1000), ["many processes"], ["ranks", "run_diagnosis", "kernels"]],
    ["a run without a GPU", run(2, 0), ["nothing ran on a GPU"], ["run_timeline", "regions", "run_diagnosis"]],
    ["counters with times", counters([9]), [], ["counter_kernels", "counter_diagnosis", "speed_of_light", "roofline"]],
    [
      "counters without times",
      counters([null, null]),
      ["no times"],
      ["counter_kernels", "counter_diagnosis", "speed_of_light", "memory_chart"],
    ],
  ])("of %s", (_, facts, rules, views) => {
    const screen = firstScreen(facts);
    expect(screen.rules).toEqual(["one", ...rules]);
    expect(seen(screen.layout)).toEqual(views);
  });

  it("has a comparison in front only where there is something to compare with", () => {
    kinds([{ kind: "trace", path: "a" }]);
    expect(seen(firstScreen(trace({})).layout)).not.toContain("compare");
    kinds([
      { kind: "trace", path: "a" },
      { kind: "trace", path: "a" }, // another dispatch of the same capture
      { kind: "run", path: "b" },
    ]);
    expect(firstScreen(trace({})).rules).toEqual(["one"]);
    kinds([
      { kind: "trace", path: "a" },
      { kind: "trace", path: "b" },
    ]);
    expect(firstScreen(trace({})).rules).toEqual(["several"]);
    expect(seen(firstScreen(trace({})).layout)).toEqual(["diagnosis", "compare", "isa", "source"]);
    kinds([]);
  });

  it("of several kernels is about the longest", () => {
    expect(firstScreen(counters([9, 5])).selection).toEqual({ kernelRank: 4 });
    expect(firstScreen(counters([9])).selection).toEqual({});
    expect(firstScreen(counters([null, null])).selection).toEqual({});
  });
});
