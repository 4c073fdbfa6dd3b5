import { expect, it } from "vitest";
import { type CostedLine, type SourceCost, type SourceFile, type Sources, sumOf } from "../../model/source";
import { type Item, itemsOf, treeOf } from "./items";

const costing = (latency: number): SourceCost => ({ ...sumOf([]), latency });
const file = (number: number, name: string, latency: number): SourceFile => ({
  number,
  file: name,
  hasText: false,
  lineCount: 0,
  own: costing(latency),
  inclusive: costing(latency),
});
const files = [file(0, "/src/a.hip", 60), file(1, "/src/b.hip", 30), file(2, "", 10)];
// Line n of a.hip costs n - 1: line 20 is the costliest, line 1 costs nothing.
const lines: CostedLine[] = Array.from({ length: 20 }, (_, index) => ({
  file: files[0] as SourceFile,
  line: index + 1,
  text: "",
  stallClass: "",
  own: costing(index),
  inclusive: costing(index),
}));
const sources: Sources = { files, lines, linesOf: new Map([[files[0] as SourceFile, lines]]), total: costing(100) };
const latency = (costed: SourceFile | CostedLine) => costed.own.latency;
const tree = treeOf(sources, latency);
const nothing: ReadonlySet<string> = new Set();

/** An item in short: `:line`, `shown/all` lines, or `name=cost` of folders and files. */
function words(item: Item): string {
  if (item.kind === "line") return `:${item.line.line}`;
  if (item.kind === "more") return `${item.shown}/${item.all}`;
  return `${item.node.name}=${item.kind === "folder" ? item.own.latency : item.node.weight}`;
}

it("lists folders with the sum of their files, and the costliest lines of open ones", () => {
  const opened = { closedFolders: nothing, files: new Set(["/src/a.hip"]), wholeFiles: nothing };
  const items = itemsOf(sources, tree, opened, { weight: latency, isSelected: (line) => line.line === 3 }).map(words);
  expect(items.slice(0, 4)).toEqual(["/src=90", "a.hip=60", ":20", ":19"]);
  // Twelve lines are listed at first, and further down the selected one: 13 of the 19 that cost anything.
  expect(items.slice(-4)).toEqual([":3", "13/19", "b.hip=30", "[no source location]=10"]);
  expect(items).toHaveLength(2 + 13 + 1 + 2);
});

it("hides what is in closed folders", () => {
  const opened = { closedFolders: new Set(["/src/"]), files: new Set(["/src/a.hip"]), wholeFiles: nothing };
  expect(itemsOf(sources, tree, opened, { weight: latency, isSelected: () => false }).map(words)).toEqual([
    "/src=90",
    "[no source location]=10",
  ]);
});
