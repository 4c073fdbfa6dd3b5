import { expect, test } from "vitest";
import type { MemoryChartAnswer, MemoryChartValuesRow, MemoryChartWiresRow } from "../../data/answers.gen";
import { layoutOf } from "./layout";

const frame = <Row>(rows: Row[]) => ({ rows, row_count: rows.length });
const block = (name: string, stage: number) => ({ block: name, title: name, stage });
const value = (name: string, label: string) => ({ block: name, label, value: 1, unit: "" }) as MemoryChartValuesRow;
const wire = (source: string, target: string, kind: string, rate: number | null = null) =>
  ({ source, target, kind, value: 1, rate }) as MemoryChartWiresRow;

const ANSWER = {
  definition: "",
  caveats: [],
  blocks: frame([block("exec", 0), block("lds", 1), block("vector_l1", 1), block("l2", 2), block("fabric", 3)]),
  values: frame([value("exec", "VGPRs"), value("lds", "latency"), value("vector_l1", "hit rate"), value("l2", "hit")]),
  wires: frame([
    wire("exec", "vector_l1", "read"),
    wire("exec", "vector_l1", "write"),
    wire("exec", "vector_l1", "atomic"),
    wire("vector_l1", "l2", "read", 40),
    wire("l2", "fabric", "read", 10),
    wire("l2", "fabric", "write", 10),
    wire("fabric", "nowhere", "read"),
  ]),
} as unknown as MemoryChartAnswer;

const layout = layoutOf(ANSWER);
const placed = (name: string) => {
  const found = layout.blocks.find((each) => each.block.block === name);
  if (!found) throw new Error(name);
  return found;
};

test("stages stand from left to right, below the CUs", () => {
  expect(placed("lds").x).toBeLessThan(placed("l2").x);
  expect(placed("l2").x).toBeLessThan(placed("fabric").x);
  expect(placed("lds").y).toBeGreaterThan(placed("exec").y + placed("exec").height);
});

test("no blocks overlap, and all are inside", () => {
  for (const a of layout.blocks) {
    expect(a.x + a.width).toBeLessThanOrEqual(layout.width + 0.01);
    expect(a.y + a.height).toBeLessThanOrEqual(layout.height + 0.01);
    for (const b of layout.blocks) {
      if (a === b) continue;
      const apart = a.x + a.width <= b.x || b.x + b.width <= a.x || a.y + a.height <= b.y || b.y + b.height <= a.y;
      expect(apart).toBe(true);
    }
  }
});

test("wires reach their blocks, with room for their numbers; those to nowhere are left out", () => {
  expect(layout.wires.map((each) => `${each.source} ${each.target} ${each.flows.length}`)).toEqual([
    "exec vector_l1 3",
    "vector_l1 l2 1",
    "l2 fabric 2",
  ]);
  const first = layout.wires[0];
  expect(first?.points.at(-2)).toBe(placed("vector_l1").x);
  expect((first?.y ?? 0) + 2 * 17).toBeLessThan(placed("vector_l1").y + placed("vector_l1").height);
});

test("a line is as wide as its bytes; one without known bytes has no width", () => {
  const widths = new Map(layout.wires.map((each) => [`${each.source} ${each.target}`, each.thickness]));
  expect(layout.most).toBe(40);
  expect(widths.get("l2 fabric")).toBe((widths.get("vector_l1 l2") ?? 0) / 2);
  expect(widths.get("exec vector_l1")).toBeNull();
});

test("nothing to show is not an error", () => {
  const empty = { ...ANSWER, blocks: frame([]), values: frame([]), wires: frame([]) };
  expect(layoutOf(empty).blocks).toEqual([]);
});
