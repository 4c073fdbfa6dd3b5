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
const lines: CostedLine[] = Array.from({ length: 20 }, (_, at) => ({
  file: files[0] as SourceFile,
  line: at + 1,
  text: "",
  stallClass: "",
  own: costing(at),
  inclusive: costing(at),
}));
const sources: Sources = { files, lines, linesOf: new Map([[files[0] as SourceFile, lines]]), total: costing(100) };
const latency = (of: SourceFile | CostedLine) => of.own.latency;
const nothing: ReadonlySet<string> = new Set();
const words = (item: Item) =>
  item.kind === "line"
    ? `:${item.line.line}`
    : item.kind === "more"
      ? `${item.shown}/${item.all}`
      : `${item.node.name}=${item.kind === "folder" ? item.own.latency : item.node.weight}`;

it("lists folders with the sum of their files, and the costliest lines of open ones", () => {
  const opened = { closedFolders: nothing, files: new Set(["/src/a.hip"]), wholeFiles: nothing };
  const items = itemsOf(sources, treeOf(sources, latency), opened, latency, (line) => line.line === 3).map(words);
  expect(items.slice(0, 4)).toEqual(["/src=90", "a.hip=60", ":20", ":19"]);
  expect(items.slice(-4)).toEqual([":3", "13/19", "b.hip=30", "[no source location]=10"]);
  expect(items).toHaveLength(2 + 13 + 1 + 2);
});

it("hides what is in closed folders", () => {
  const opened = { closedFolders: new Set(["/src/"]), files: new Set(["/src/a.hip"]), wholeFiles: nothing };
  expect(itemsOf(sources, treeOf(sources, latency), opened, latency, () => false).map(words)).toEqual([
    "/src=90",
    "[no source location]=10",
  ]);
});
