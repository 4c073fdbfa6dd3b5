import { expect, test } from "vitest";
import type { HistogramAnswer } from "../../data/answers.gen";
import { binsOf, categoriesOf } from "./answer";

const row = (bin: number, category: string, cycles_total: number) => ({
  bin,
  first_row: 10 + bin * 4,
  last_row: 13 + bin * 4,
  category,
  cycles_total,
  execution_count: 1,
});

// Rows 10 to 19 in bars of four: the last one has two rows.
const answer: HistogramAnswer = {
  definition: "",
  bins: { row_count: 0, rows: [row(0, "VALU", 5), row(0, "LDS", 7), row(2, "VALU", 9)] },
  first_row: 10,
  last_row: 19,
  rows_per_bin: 4,
  bin_count: 3,
  cycles_total: 21,
  unknown_cycles_total: 0,
};

test("empty bins are there, and the last one ends with the rows", () => {
  const bins = binsOf(answer);
  expect(bins.map(({ first, last, total }) => [first, last, total])).toEqual([
    [10, 13, 12],
    [14, 17, 0],
    [18, 19, 9],
  ]);
});

test("categories are added up, most first", () => {
  expect(categoriesOf(answer)).toEqual([
    { category: "VALU", cycles: 14 },
    { category: "LDS", cycles: 7 },
  ]);
});
