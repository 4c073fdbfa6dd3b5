import { expect, test } from "vitest";
import { type Counted, cuLines } from "./answer";

test("CUs that counted nothing are left out, the others are in order", () => {
  const counted: Counted = {
    definition: "",
    names_are_known: true,
    totals: [],
    by_cu: [
      { name: "A", se: 1, cu: 0, value_total: 4 },
      { name: "A", se: 0, cu: 3, value_total: 5 },
      { name: "A", se: 0, cu: 1, value_total: 0 },
    ],
    hardware: [],
    hardware_by_cu: [{ unit: "VALU", se: 0, cu: 3, share: 0.5 }],
  };
  const lines = cuLines(counted);
  expect(lines.map((line) => line.place)).toEqual(["SE 0 CU 3", "SE 1 CU 0"]);
  expect(lines[0]?.shares.get("VALU")).toBe(0.5);
});
