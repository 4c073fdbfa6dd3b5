import { describe, expect, it } from "vitest";
import { RANK } from "../base/query";
import { Collected } from "./hit_groups";
import { rowsAt } from "./hits_of_trace";

const hit = (text: string) => () => ({ text, note: "", go: () => {} });
const listed = (found: Collected) => found.results("").hits.map(({ group, text }) => `${group}: ${text}`);

describe("hits", () => {
  it("that were meant exactly come before names that have the text", () => {
    const found = new Collected();
    found.add("Instructions", 4, hit("s_branch 0x2cb8"));
    found.add("Views", RANK.loose, hit("Addresses"));
    found.add("Go to", RANK.meant, hit("0x2cb8"));
    expect(listed(found)).toEqual(["Go to: 0x2cb8", "Instructions: s_branch 0x2cb8", "Views: Addresses"]);
  });
  it("of one group stand by how well they fit, then as they came", () => {
    const found = new Collected();
    for (const [rate, text] of [
      [4, "a"],
      [1, "b"],
      [2, "c"],
      [1, "d"],
    ] as const)
      found.add("Source", rate, hit(text));
    expect(listed(found).map((text) => text.slice(-1))).toEqual(["b", "d", "c", "a"]);
  });
  it("of groups that fit equally well stand in the order of groups; domains of a run come after kernels", () => {
    const found = new Collected();
    for (const group of ["Bookmarks", "Commands", "Views", "HIP_API", "Kernels"]) found.add(group, 2, hit("x"));
    expect(found.results("").hits.map(({ group }) => group)).toEqual([
      "Kernels",
      "HIP_API",
      "Views",
      "Commands",
      "Bookmarks",
    ]);
  });
  it("are counted also where only the best are listed", () => {
    const found = new Collected();
    for (let i = 0; i < 80; i++) found.add("Instructions", 4, hit(`late ${i}`));
    found.add("Instructions", 1, hit("best"));
    const { hits, count, problem } = found.results("no regular expression");
    expect([hits.length, count, hits[0]?.text, hits.at(-1)?.text, problem]).toEqual([
      50, 81, "best", "late 48", "no regular expression",
    ]); // biome-ignore format: a tuple
  });
});

describe("the rows at an address", () => {
  const code = {
    address: ["0x100", "0x104", "0x10C", "0x100", "0x108"],
    codeObject: Int32Array.from([1, 1, 1, 2, 2]),
    count: 5,
  } as unknown as Parameters<typeof rowsAt>[1];
  it("are those of every code object", () => expect(rowsAt("0x100", code)).toEqual([0, 3]));
  it("are found in upper and lower case", () => expect(rowsAt("0x10c", code)).toEqual([2]));
  it("are those whose instruction it lies inside of, not what lies between two code objects", () => {
    expect(rowsAt("0x106", code)).toEqual([1, 3]);
    expect(rowsAt("0x200", code)).toEqual([]);
  });
});
