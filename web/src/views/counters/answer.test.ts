import { expect, test } from "vitest";
import { besideLines } from "./answer";

const problem = (line: number, message: string) => ({ line, column: 3, name: "a", message });

test("problems are next to their lines", () => {
  expect(besideLines("a := 1\nb := (\n", [problem(2, "no )"), problem(2, "more")])).toEqual([
    "",
    "column 3: no ); column 3: more",
    "",
  ]);
});

test("a line that is not there is the last one", () => {
  expect(besideLines("a", [problem(9, "far")])).toEqual(["column 3: far"]);
});
