import { expect, test } from "vitest";
import type {
  CounterRooflineAnswer,
  CounterRooflineCeilingsRow,
  CounterRooflinePointsRow,
} from "../../data/answers.gen";
import { firstKinds, firstWork, levelsOf, sceneOf } from "./scene";

const frame = <Row>(rows: Row[]) => ({ rows, row_count: rows.length });
const ceiling = (name: string, kind: CounterRooflineCeilingsRow["kind"], used: number | null, unit: string) =>
  ({ name, kind, used, unit, used_from: "theoretical" }) as CounterRooflineCeilingsRow;
const point = (level: string, intensity: number | null, gops: number | null, work: "flop" | "iop" = "flop") =>
  ({ kernel: 0, level, work, intensity, gops_per_second: gops }) as CounterRooflinePointsRow;

const ANSWER = {
  definition: "",
  caveats: [],
  ceilings: frame([
    ceiling("HBM", "bandwidth", 1000, "GB/s"),
    ceiling("L2", "bandwidth", 5000, "GB/s"),
    ceiling("LDS", "bandwidth", null, "GB/s"),
    ceiling("VALU FP32", "compute", 20_000, "GFLOP/s"),
    ceiling("MFMA FP16", "compute", 100_000, "GFLOP/s"),
    ceiling("VALU INT32", "compute", 10_000, "GIOP/s"),
  ]),
  kernels: frame([]),
  points: frame([point("HBM", 0.5, 300), point("L2", 0.1, 300), point("L1", null, 300), point("HBM", 2, 9, "iop")]),
  operations: frame([
    { kernel: 0, kind: "VALU FP32", work: "flop" as const, operations: 1000 },
    { kernel: 0, kind: "MFMA FP16", work: "flop" as const, operations: 5 },
  ]),
} as unknown as CounterRooflineAnswer;

test("what kernels use is shown at first", () => {
  expect(firstWork(ANSWER)).toBe("flop");
  expect([...firstKinds(ANSWER, "flop")]).toEqual(["VALU FP32"]);
  expect([...firstKinds(ANSWER, "iop")]).toEqual(["VALU INT32"]);
  expect(levelsOf(ANSWER)).toEqual(["HBM", "L2"]);
});

test("slopes end at the highest level roof, which starts at the fastest slope", () => {
  const { roofs, marks, window } = sceneOf(ANSWER, {
    work: "flop",
    levels: new Set(["HBM", "L2"]),
    kinds: new Set(["VALU FP32", "MFMA FP16"]),
  });
  expect(roofs.map((roof) => roof.ceiling.name)).toEqual(["HBM", "L2", "VALU FP32", "MFMA FP16"]);
  expect(roofs[0]?.to).toEqual([100, 100_000]);
  expect(roofs[2]?.from).toEqual([4, 20_000]);
  expect(marks.map((mark) => mark.level)).toEqual(["HBM", "L2"]);
  expect(10 ** window.left).toBeLessThan(0.1);
  expect(10 ** window.top).toBeGreaterThan(100_000);
});

test("without roofs and marks there is still a window", () => {
  const empty = { ...ANSWER, ceilings: frame([]), points: frame([]), operations: frame([]) } as CounterRooflineAnswer;
  const scene = sceneOf(empty, { work: "flop", levels: new Set(), kinds: new Set() });
  expect(scene.roofs).toEqual([]);
  expect(scene.window.right).toBeGreaterThan(scene.window.left);
});
