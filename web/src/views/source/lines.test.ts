import { expect, it } from "vitest";
import type { CostedLine, SourceFile, Sources } from "../../model/source";
import { indexOf, listed, withInstructions } from "./lines";

const file = { number: 0, file: "/a.hip" } as SourceFile;
const costs = [2, 9, 0].map((line) => ({ file, line }) as CostedLine);
const sources = { linesOf: new Map([[file, costs]]) } as unknown as Sources;

it("lists every line of a text, and costs that lie outside it", () => {
  const text = { file: "/a.hip", lines: ["one", "\ttwo", ""], line_count: 3, reason: "", advice: "" };
  const lines = listed(sources, file, text, () => false);
  expect(lines.map((entry) => [entry.line, entry.text, entry.cost?.line])).toEqual([
    [1, "one", undefined],
    [2, "    two", 2],
    [3, "", undefined],
    [9, "", 9],
    [0, "", 0],
  ]);
  expect([indexOf(lines, 3), indexOf(lines, 9), indexOf(lines, 77)]).toEqual([2, 3, -1]);
});

it("lists the lines with costs when there is no text", () => {
  const text = { file: "/a.hip", lines: null, line_count: 0, reason: "not here", advice: "" };
  expect(listed(sources, file, text, (line) => line.line !== 9).map((entry) => entry.line)).toEqual([2, 0]);
});

it("puts the instructions of open lines below them", () => {
  const text = { file: "/a.hip", lines: ["one", "two"], line_count: 2, reason: "", advice: "" };
  const lines = listed(sources, file, text, () => false);
  const { table, placeOf } = withInstructions(
    lines,
    (line) => [line * 10, line * 10 + 1],
    (line) => line < 3,
  );
  expect(table.map(({ at, row }) => row ?? `line ${lines[at]?.line}`)).toEqual([
    "line 1",
    "line 2",
    20,
    21,
    "line 9",
    "line 0",
    0,
    1,
  ]);
  expect(placeOf).toEqual([0, 1, 4, 5]);
});
