// What the explorer lists: folders, files, and the costliest lines of open files.
import { fileTree, type TreeNode } from "../../base/file_tree";
import { selectSourceLine } from "../../model/code";
import { selection } from "../../model/selection";
import { type CostedLine, openedFile, type SourceCost, type SourceFile, type Sources, sumOf } from "../../model/source";
import { frontView, uncoverView } from "../../model/view";

export type Item =
  | { kind: "folder"; node: TreeNode; own: SourceCost; depth: number }
  | { kind: "file"; node: TreeNode; file: SourceFile; depth: number }
  | { kind: "line"; line: CostedLine; depth: number }
  | { kind: "more"; file: SourceFile; shown: number; all: number; depth: number };

export const NO_LINE = "[no source location]";
const TOP_LINES = 12;

/** Files as a tree, heaviest first. */
export function treeOf(sources: Sources, weight: (file: SourceFile) => number): TreeNode[] {
  return fileTree(
    sources.files.map((file) => file.file || NO_LINE),
    sources.files.map(weight),
  );
}

export interface Opened {
  /** Paths of folders that are closed, with a trailing slash. */
  closedFolders: ReadonlySet<string>;
  files: ReadonlySet<string>;
  /** Files whose lines are all shown. */
  wholeFiles: ReadonlySet<string>;
}

/** The rows on screen; the selected line is always among those of an open file. */
export function itemsOf(
  sources: Sources,
  tree: TreeNode[],
  opened: Opened,
  weight: (line: CostedLine) => number,
  isSelected: (line: CostedLine) => boolean,
): Item[] {
  const items: Item[] = [];
  const visit = (nodes: TreeNode[], depth: number) => {
    for (const node of nodes) {
      const file = sources.files[node.index];
      if (!file) {
        items.push({ kind: "folder", node, own: sumOf(filesBelow(node, sources)), depth });
        if (!opened.closedFolders.has(`${node.path}/`)) visit(node.children, depth + 1);
        continue;
      }
      items.push({ kind: "file", node, file, depth });
      if (!opened.files.has(file.file)) continue;
      const lines = (sources.linesOf.get(file) ?? []).filter((line) => weight(line) > 0);
      lines.sort((a, b) => weight(b) - weight(a) || a.line - b.line);
      const shown = opened.wholeFiles.has(file.file) ? lines.length : Math.min(lines.length, TOP_LINES);
      const selected = lines.slice(shown).find(isSelected);
      const top = selected ? [...lines.slice(0, shown), selected] : lines.slice(0, shown);
      for (const line of top) items.push({ kind: "line", line, depth: depth + 1 });
      if (top.length < lines.length) {
        items.push({ kind: "more", file, shown: top.length, all: lines.length, depth: depth + 1 });
      }
    }
  };
  visit(tree, 0);
  return items;
}

/** Own costs of the files in a folder: they add up, inclusive ones would count rows twice. */
function* filesBelow(node: TreeNode, sources: Sources): Generator<SourceCost> {
  const file = sources.files[node.index];
  if (file) yield file.own;
  for (const child of node.children) yield* filesBelow(child, sources);
}

export const isSelectedLine = (line: CostedLine) =>
  line.file.file === selection.value.sourceLine?.file && line.line === selection.value.sourceLine?.line;

export function openLine(line: CostedLine): void {
  openedFile.value = line.file.file;
  selectSourceLine({ file: line.file.file, line: line.line });
  uncoverView("isa");
  frontView("source");
}

export function openFile(file: SourceFile): void {
  openedFile.value = file.file;
  frontView("source");
}
