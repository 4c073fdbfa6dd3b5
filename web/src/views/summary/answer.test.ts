import { expect, test } from "vitest";
import type { SummaryByCuRow } from "../../data/answers.gen";
import { type Counted, cuLines } from "./answer";

/** What the counter A counted on a CU. */
const row = (se: number, cu: number, value_total: number) => ({ name: "A", se, cu, value_total }) as SummaryByCuRow;

test("CUs that counted nothing are left out, the others are in order", () => {
  const counted: Counted = {
    definition: "",
    names_are_known: true,
    totals: [],
    by_cu: [row(1, 0, 4), row(0, 3, 5), row(0, 1, 0)],
    hardware: [],
    hardware_by_cu: [{ unit: "VALU", se: 0, cu: 3, share: 0.5 }],
  };
  const lines = cuLines(counted);
  expect(lines.map((line) => line.place)).toEqual(["SE 0 CU 3", "SE 1 CU 0"]);
  expect(lines[0]?.shares.get("VALU")).toBe(0.5);
});
