import { describe, expect, it } from "vitest";
import type { Code } from "../../model/code";
import { itemsOf, sectionsOf } from "./items";

const code = (functions: string[]) =>
  ({
    count: functions.length,
    text: functions.map(() => "s_nop 0"),
    functionName: functions,
    codeObject: functions.map(() => "1"),
  }) as unknown as Code;

describe("lines of the list", () => {
  it("have a header where another function starts", () => {
    const sections = sectionsOf(code(["f", "f", "g", "f"]));
    expect(sections.map(({ name, first, last }) => [name, first, last])).toEqual([
      ["f", 0, 1],
      ["g", 2, 2],
      ["f", 3, 3],
    ]);
    const items = itemsOf(4, sections, (row) => row !== 2);
    expect([...items.lines]).toEqual([-1, 0, 1, -3, 3]);
    expect([...items.placeOf]).toEqual([1, 2, -1, 4]);
    expect(items.rowCount).toBe(3);
  });

  it("need no header when there is one function", () => {
    expect([...itemsOf(2, sectionsOf(code(["f", "f"])), () => true).lines]).toEqual([0, 1]);
  });
});
