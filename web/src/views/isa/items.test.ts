import { describe, expect, it } from "vitest";
import type { Code } from "../../model/code";
import { itemsOf, type Listed, sectionOrder, sectionsOf, sortedRows } from "./items";

const code = (functions: string[]) =>
  ({
    count: functions.length,
    text: functions.map(() => "s_nop 0"),
    functionName: functions,
    codeObject: functions.map(() => "1"),
  }) as unknown as Code;

const listed = (functions: string[], more: Partial<Listed> = {}) => {
  const sections = sectionsOf(code(functions));
  const order = sections.map((_, number) => number);
  return itemsOf({ count: functions.length, sections, order, isListed: () => true, isFolded: () => false, ...more });
};

describe("lines of the list", () => {
  it("have a heading where another function starts", () => {
    const sections = sectionsOf(code(["f", "f", "g", "f"]));
    expect(sections.map(({ name, first, last }) => [name, first, last])).toEqual([
      ["f", 0, 1],
      ["g", 2, 2],
      ["f", 3, 3],
    ]);
    const items = listed(["f", "f", "g", "f"], { isListed: (row) => row !== 2 });
    expect([...items.lines]).toEqual([-1, 0, 1, -3, 3]);
    expect([...items.placeOf]).toEqual([1, 2, -1, 4]);
    expect(items.rowCount).toBe(3);
  });

  it("have the heading of a function that stands alone, but none of rows without a function", () => {
    expect([...listed(["f", "f"]).lines]).toEqual([-1, 0, 1]);
    expect([...listed(["", ""]).lines]).toEqual([0, 1]);
  });

  it("are only a heading where a function is folded", () => {
    const items = listed(["f", "f", "g"], { isFolded: ({ name }) => name === "f", order: [1, 0] });
    expect([...items.lines]).toEqual([-2, 2, -1]);
    expect([...items.placeOf]).toEqual([-1, -1, 1]);
  });

  it("start with the kernels that waves entered, and end with what never ran", () => {
    const sections = sectionsOf(code(["never", "helper", "", "second", "kernel"]));
    const order = sectionOrder(sections, ({ name }) => !["never", ""].includes(name), ["kernel", "second"]);
    expect(order.map((number) => sections[number]?.name)).toEqual(["kernel", "second", "helper", "never", ""]);
  });
});

describe("sorted rows", () => {
  const values = [5, null, 9, 5, Number.NaN, 1];
  const value = (row: number) => values[row];
  it("have those without a value last, and equal ones in the order of the code", () => {
    expect(sortedRows([0, 1, 2, 3, 4, 5], value, true)).toEqual([2, 0, 3, 5, 1, 4]);
    expect(sortedRows([0, 1, 2, 3, 4, 5], value, false)).toEqual([5, 0, 3, 2, 1, 4]);
  });
});
