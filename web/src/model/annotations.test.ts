import { expect, test } from "vitest";
import { type AnnotationLine, annotationsFrom, annotationsOfLine, colourNumber } from "./annotations";

const NOTHING = {
  severity: "info",
  note: null,
  suggestion: null,
  category: null,
  confidence: null,
  rows: null,
  file: null,
  line: null,
  end_line: null,
  se: null,
  simd: null,
  slot: null,
  start_cycles: null,
  end_cycles: null,
};
const LINES: AnnotationLine[] = [
  { ...NOTHING, title: "a wait", severity: "critical", rows: "3 14", file: "kernel.hip", line: 7, end_line: 9 },
  { ...NOTHING, title: "a time", se: 1, simd: 2, slot: 3, start_cycles: 40, end_cycles: 90 },
  { ...NOTHING, title: "a line", file: "/src/other/kernel.hip", line: 8 },
];

test("annotations have numbers, rows and times", () => {
  const list = annotationsFrom(LINES);
  expect(list.map(({ number, rows, range }) => [number, rows, range])).toEqual([
    [1, [3, 14], null],
    [2, [], { begin: 40, end: 90 }],
    [3, [], null],
  ]);
});

test("a file may be named by its last part, and lines reach to the last", () => {
  const list = annotationsFrom(LINES);
  const at = (path: string, line: number) => annotationsOfLine(list, path, line).map(({ number }) => number);
  expect(at("/src/kernel.hip", 9)).toEqual([1]);
  expect(at("/src/other/kernel.hip", 8)).toEqual([1, 3]);
  expect(at("/src/mykernel.hip", 8)).toEqual([]);
  expect(at("/src/kernel.hip", 10)).toEqual([]);
});

test("what is more severe has another colour, and what is unknown that of information", () => {
  const numbers = ["critical", "high", "medium", "low", "info"].map((severity) => colourNumber({ severity }));
  expect(new Set(numbers).size).toBe(5);
  expect(colourNumber({ severity: "loud" })).toBe(numbers[4]);
});
