// Source folders and files with a bar for what they cost, and the costliest lines of the files: where to look first. Code
// without any source line is shown as functions, loops and blocks (code_tree.tsx).

import { useSignal } from "@preact/signals";
import { useEffect, useMemo } from "preact/hooks";
import { exact } from "../../base/format";
import { flipped } from "../../base/sets";
import { codeNow, hasLines } from "../../model/code";
import { unlessUnknown } from "../../model/document";
import { selection } from "../../model/selection";
import { settings } from "../../model/settings";
import {
  attribution,
  type CostedLine,
  hottestLine,
  isSampled,
  openedFile,
  type SortBy,
  type SourceFile,
  type Sources,
  sourcesAnswer,
  weightOf,
} from "../../model/source";
import type { View } from "../../model/view";
import { Answered, Nothing } from "../../widgets/answered";
import { CostSwitches } from "../../widgets/cost_switches";
import { csv, SaveMenu } from "../../widgets/saving";
import { VirtualList } from "../../widgets/virtual_list";
import { CodeTree } from "./code_tree";
import { columnName, definition, Headline, SortSelect } from "./headline";
import { folderKey, type Item, isSelectedLine, itemsOf, openFile, openLine, treeOf } from "./items";
import { Row, rowHeight } from "./row";
import "./explorer.css";

function Explorer() {
  const code = codeNow();
  if (code?.count && !hasLines.value) return <CodeTree />;
  return <Answered answer={sourcesAnswer}>{(sources) => <Tree sources={sources} />}</Answered>;
}

function Tree({ sources }: { sources: Sources }) {
  const by = useSignal<SortBy>("cycles");
  const which = attribution.value;
  const { withIdle } = settings.value;
  const cost = (file: SourceFile | CostedLine) => weightOf(file[which], by.value);
  const hottest = useMemo(() => hottestLine(sources, by.value), [sources, which, by.value, withIdle]);
  const tree = useMemo(() => treeOf(sources, cost), [sources, which, by.value, withIdle]);
  const opened = useOpened(sources, hottest);
  const items = useMemo(
    () => itemsOf(sources, tree, opened.sets, { weight: cost, isSelected: isSelectedLine }),
    [tree, ...Object.values(opened.sets), selection.value.sourceLine],
  );
  if (!sources.files.length) {
    const nothing = "no instruction of this trace was executed or sampled";
    return <Nothing>Nothing to show: {unlessUnknown(nothing)}.</Nothing>;
  }
  const total = weightOf(sources.total, by.value);
  /** What a bar that fills its cell stands for, by kind of item. */
  const scales = {
    folder: total,
    file: sources.files.reduce((most, file) => Math.max(most, cost(file)), 0),
    line: hottest ? cost(hottest) : 0,
    more: 0,
  };
  const chosen = items.findIndex((item) => item.kind === "line" && isSelectedLine(item.line));
  const shownFile = items.findIndex((item) => item.kind === "file" && item.file.file === openedFile.value);
  return (
    <div class="view explorer">
      <Headline sources={sources} hottest={hottest} by={by.value} share={total ? scales.line / total : 0} />
      <div class="toolbar">
        <SortSelect by={by} />
        <CostSwitches />
        <CutLines sources={sources} />
        <SaveMenu name="explorer" offers={[{ format: "csv", make: () => asCsv(sources, by.value) }]} />
      </div>
      <VirtualList
        label="Source files and their costliest lines"
        count={items.length}
        rowHeight={rowHeight()}
        reveal={chosen >= 0 ? chosen : shownFile}
        header={<Header by={by.value} />}
        onKeyDown={(event) => stepLine(event, items, chosen)}
        row={(index) => {
          const item = items[index] as Item;
          const look = { isOpen: opened.isOpen(item), by: by.value, scale: scales[item.kind] };
          return <Row key={index} item={item} {...look} total={total} onActivate={() => opened.activate(item)} />;
        }}
      />
    </div>
  );
}

/** Which folders and files are open, and what a click on an item does to that. */
function useOpened(sources: Sources, hottest: CostedLine | null) {
  const closedFolders = useSignal<ReadonlySet<string>>(new Set());
  const openFiles = useSignal<ReadonlySet<string>>(new Set());
  const wholeFiles = useSignal<ReadonlySet<string>>(new Set());
  // The file that the view of source shows is opened; where it is none of these, that of the hottest line.
  useEffect(() => {
    const isHere = sources.files.some((file) => file.file === openedFile.value);
    const file = isHere ? openedFile.value : hottest?.file.file;
    if (file !== undefined) openFiles.value = new Set([...openFiles.value, file]);
  }, [openedFile.value, hottest]);
  const isOpen = (item: Item): boolean => {
    if (item.kind === "folder") return !closedFolders.value.has(folderKey(item.node));
    return item.kind === "file" && openFiles.value.has(item.file.file);
  };
  const toggle = (set: typeof closedFolders, key: string) => {
    set.value = flipped(set.value, key);
  };
  const activate = (item: Item) => {
    if (item.kind === "folder") toggle(closedFolders, folderKey(item.node));
    else if (item.kind === "file") {
      if (item.file.file && !isOpen(item)) openFile(item.file);
      toggle(openFiles, item.file.file);
    } else if (item.kind === "line") openLine(item.line);
    else toggle(wholeFiles, item.file.file);
  };
  const sets = { closedFolders: closedFolders.value, files: openFiles.value, wholeFiles: wholeFiles.value };
  return { sets, isOpen, activate };
}

/** The lines that cost anything, the costliest first. */
function asCsv(sources: Sources, by: SortBy): string {
  const which = attribution.value;
  const cost = (line: CostedLine) => weightOf(line[which], by);
  const total = weightOf(sources.total, by);
  const rows = sources.lines
    .filter((line) => cost(line) > 0)
    .sort((a, b) => cost(b) - cost(a))
    .map((line) => {
      const share = total ? cost(line) / total : 0;
      return [line.file.file, line.line, cost(line), share, line[which].hits, line.text];
    });
  return csv(["file", "line", columnName(by), "share", "hit_count", "text"], rows);
}

/** Arrow keys go from line to line; folders and files between them are skipped. */
function stepLine(event: KeyboardEvent, items: Item[], chosen: number): void {
  const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
  if (step === undefined) return;
  let next = chosen + step;
  while (items[next] && items[next]?.kind !== "line") next += step;
  const item = items[next];
  if (item?.kind !== "line") return;
  event.preventDefault();
  openLine(item.line);
}

/** Says how many lines there are when only the costliest were sent. */
function CutLines({ sources }: { sources: Sources }) {
  const lineCount = sources.files.reduce((sum, file) => sum + file.lineCount, 0);
  if (sources.lines.length >= lineCount) return null;
  return (
    <span role="status">
      with the {exact(sources.lines.length)} costliest of {exact(lineCount)} lines
    </span>
  );
}

function Header({ by }: { by: SortBy }) {
  return (
    <div class="row">
      <span>File, line</span>
      <span title="Bars of folders are scaled to the whole (own costs of their files), bars of files to the costliest file, bars of lines to the costliest line">
        Cost
      </span>
      <span class="number" data-column="cycles" title={definition(by)}>
        {isSampled.value ? "Samples" : "Cycles"}
      </span>
      <span class="number" title="Of all executed instructions whose address is known">
        Share
      </span>
    </div>
  );
}

export const explorer: View = {
  id: "explorer",
  title: "Explorer",
  hint: "Source files and lines by what they cost: the hottest line first",
  about: "trace",
  time: "selected",
  missing: (overview) =>
    overview.kind === "trace" && (overview.instruction_count || overview.holds.samples)
      ? ""
      : "no instruction was traced or sampled",
  component: Explorer,
};
