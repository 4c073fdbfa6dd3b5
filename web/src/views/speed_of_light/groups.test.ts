import { expect, test } from "vitest";
import type { CounterPanelsRow } from "../../data/answers.gen";
import { grouped, groupOf } from "./groups";

test("units are told from the names of their metrics", () => {
  expect(groupOf("VALU FLOPs")).toBe("Compute");
  expect(groupOf("MFMA Utilization")).toBe("Compute");
  expect(groupOf("Wavefront Occupancy")).toBe("Compute");
  expect(groupOf("LDS Bank Conflicts/Access")).toBe("Caches and LDS");
  expect(groupOf("vL1D Cache Hit Rate")).toBe("Caches and LDS");
  expect(groupOf("L2 Cache BW")).toBe("Caches and LDS");
  expect(groupOf("L2-Fabric Read BW")).toBe("Memory");
});

test("what is nearest to its peak comes first, and what has no peak last", () => {
  const row = (name: string, peak_share: number | null) => ({ name, peak_share }) as CounterPanelsRow;
  const rows = [row("VALU FLOPs", null), row("IPC", 20), row("SALU Utilization", 70)];
  expect(grouped(rows, true)).toHaveLength(1);
  expect(grouped(rows, true)[0]?.rows.map((each) => each.name)).toEqual(["SALU Utilization", "IPC", "VALU FLOPs"]);
  expect(grouped(rows, false)[0]?.rows.map((each) => each.name)).toEqual(["VALU FLOPs", "IPC", "SALU Utilization"]);
});
