import { expect, test } from "vitest";
import type { LanesRow } from "../../data/answers.gen";
import { costliest, costSentence, knownWords, laneRanges, numberRange } from "./words";

// 56 executions, all known: 448 / 56 = 8 cycles without conflicts, 1344 / 56 = 24 extra cycles.
const row = (change: Partial<LanesRow>): LanesRow => ({
  row: 7,
  text: "",
  file: null,
  line: null,
  space: "lds",
  direction: "load",
  bytes_per_lane: 8,
  active_lane_share: 1,
  execution_count: 56,
  known_count: 56,
  cost_known_count: 56,
  ideal_cycles_total: 448,
  extra_cycles_total: 1344,
  segment_count_total: null,
  least_segment_count_total: null,
  requested_bytes_total: 0,
  moved_bytes_total: null,
  confidence: "counter-proven",
  reason: null,
  assumes: "",
  ...change,
});
const memory = {
  space: "memory",
  ideal_cycles_total: null,
  extra_cycles_total: null,
  segment_count_total: 56 * 32,
  least_segment_count_total: 56 * 16,
};

test("lanes are ranges where these are shorter", () => {
  expect(laneRanges([0, 1, 2, 3, 8, 12, 13, 60, 61, 62])).toBe("0–3 8 12 13 60–62");
  expect(laneRanges([])).toBe("");
  expect([numberRange(4, 4), numberRange(4, 1)]).toEqual(["4–7", "4"]);
});

test("the cost of one execution is told, and what it means", () => {
  expect(costSentence(row({}), null)).toBe("24 extra cycles on 8: bank conflicts, in each execution.");
  expect(costSentence(row({ extra_cycles_total: 0 }), null)).toBe("No bank conflict: 8 cycles in each execution.");
  expect(costSentence(row(memory), 64)).toBe(
    "32 segments of 64 bytes in each execution, 16 would do: 2 times as many.",
  );
  expect(costSentence(row({ ...memory, segment_count_total: 896 }), 64)).toMatch(/^Coalesced: 16 segments/);
});

test("what is not known is not told as a number", () => {
  expect(costSentence(row({ cost_known_count: 0 }), null)).toBe("The cost is not known.");
  expect(costSentence(row({ cost_known_count: 0, known_count: 0 }), null)).toBe("The lane addresses are not known.");
  expect(knownWords(row({}))).toBe("56 of 56 (100.0 %)");
  expect(knownWords(row({ cost_known_count: 14 }))).toBe("addresses of 56 of 56 (100.0 %), cost of 14 of 56 (25.0 %)");
});

test("conflicts come before segments, and the unknown last", () => {
  const rows = [
    row({ ...memory, row: 1 }),
    row({ row: 2, cost_known_count: 0 }),
    row({ row: 3, extra_cycles_total: 2 }),
  ];
  expect(costliest(rows)?.row).toBe(3);
  expect(costliest(rows.slice(0, 2))?.row).toBe(1);
  expect(costliest([])).toBeUndefined();
});
