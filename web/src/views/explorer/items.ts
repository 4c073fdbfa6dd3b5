// What the explorer lists: folders, files, and the costliest lines of open files.
import { fileTree, type TreeNode } from "../../base/file_tree";
import { selectSourceLine } from "../../model/code";
import { selection } from "../../model/selection";
import { type CostedLine, openedFile, type SourceCost, type SourceFile, type Sources, sumOf } from "../../model/source";
import { frontView, uncoverView } from "../../model/view";

/** A row of the list; "more" stands for the lines of a file that are not listed. */
export type Item =
  | { kind: "folder"; node: TreeNode; own: SourceCost; depth: number }
  | { kind: "file"; node: TreeNode; file: SourceFile; depth: number }
  | { kind: "line"; line: CostedLine; depth: number }
  | { kind: "more"; file: SourceFile; shown: number; all: number; depth: number };

/** Stands for the file of instructions without a debug line. */
export const NO_LINE = "[no source location]";
/** Lines of an open file that are listed at first. */
const TOP_LINES = 12;

/** Files as a tree, heaviest first. */
export function treeOf(sources: Sources, weight: (file: SourceFile) => number): TreeNode[] {
  return fileTree(
    sources.files.map((file) => file.file || NO_LINE),
    sources.files.map(weight),
  );
}

/** Folders are open at first, files closed. */
export interface Opened {
  /** Keys of folders that are closed (`folderKey`). */
  closedFolders: ReadonlySet<string>;
  /** Paths of files that are open. */
  files: ReadonlySet<string>;
  /** Files whose lines are all shown. */
  wholeFiles: ReadonlySet<string>;
}

/** The path of a folder with a slash, which tells it from a file of the same path. */
export const folderKey = (node: TreeNode) => `${node.path}/`;

/** The rows on screen; the selected line is always among those of an open file. */
export function itemsOf(
  sources: Sources,
  tree: TreeNode[],
  opened: Opened,
  { weight, isSelected }: { weight: (line: CostedLine) => number; isSelected: (line: CostedLine) => boolean },
): Item[] {
  const items: Item[] = [];
  const visit = (nodes: TreeNode[], depth: number) => {
    for (const node of nodes) {
      const file = sources.files[node.index];
      if (!file) {
        // a folder: its index is -1
        items.push({ kind: "folder", node, own: sumOf(filesBelow(node, sources)), depth });
        if (!opened.closedFolders.has(folderKey(node))) visit(node.children, depth + 1);
        continue;
      }
      items.push({ kind: "file", node, file, depth });
      if (!opened.files.has(file.file)) continue;
      const lines = (sources.linesOf.get(file) ?? []).filter((line) => weight(line) > 0 || isSelected(line));
      lines.sort((a, b) => weight(b) - weight(a) || a.line - b.line);
      const listed = opened.wholeFiles.has(file.file) ? lines : topLines(lines, isSelected);
      for (const line of listed) items.push({ kind: "line", line, depth: depth + 1 });
      if (listed.length < lines.length) {
        items.push({ kind: "more", file, shown: listed.length, all: lines.length, depth: depth + 1 });
      }
    }
  };
  visit(tree, 0);
  return items;
}

/** The first lines, and the selected one where it is further down. */
function topLines(lines: CostedLine[], isSelected: (line: CostedLine) => boolean): CostedLine[] {
  const selected = lines.slice(TOP_LINES).find(isSelected);
  return [...lines.slice(0, TOP_LINES), ...(selected ? [selected] : [])];
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
