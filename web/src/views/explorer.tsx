// Source folders and files with a bar for what they cost, and the costliest lines of the files: where to look first.
import { useSignal } from "@preact/signals";
import { useEffect, useMemo } from "preact/hooks";
import { fileTree, type TreeNode } from "../base/file_tree";
import { exact, percent } from "../base/format";
import { selectPlace } from "../model/code";
import { preview, selection } from "../model/selection";
import { change, settings } from "../model/settings";
import {
  attribution,
  baseName,
  hottestLine,
  isSampled,
  openedFile,
  partsOf,
  type SortBy,
  type SourceCost,
  type SourceFile,
  type SourceLine,
  type Sources,
  setAttribution,
  shortPlace,
  sourcesAnswer,
  sumOf,
  wantSources,
  weightOf,
} from "../model/source";
import { frontView, type View } from "../model/view";
import { Answered, Nothing } from "../widgets/answered";
import { CostBar } from "../widgets/cost_bar";
import { csv, SaveMenu } from "../widgets/saving";
import { VirtualList } from "../widgets/virtual_list";
import "./explorer.css";

type Item =
  | { kind: "folder"; node: TreeNode; own: SourceCost; depth: number }
  | { kind: "file"; node: TreeNode; file: SourceFile; depth: number }
  | { kind: "line"; line: SourceLine; depth: number }
  | { kind: "more"; file: SourceFile; shown: number; all: number; depth: number };

const TOP_LINES = 12;
const ROW_HEIGHT = 22;
const NO_PLACE = "[no source location]";

function Explorer() {
  useEffect(wantSources, []);
  return <Answered answer={sourcesAnswer}>{(sources) => <Tree sources={sources} />}</Answered>;
}

/** Own costs of the files in a folder: they add up, inclusive ones would count rows twice. */
function* filesBelow(node: TreeNode, sources: Sources): Generator<SourceCost> {
  const file = sources.files[node.index];
  if (file) yield file.own;
  for (const child of node.children) yield* filesBelow(child, sources);
}

function openLine(line: SourceLine): void {
  openedFile.value = line.file.file;
  selectPlace({ file: line.file.file, line: line.line });
  frontView("source");
}

function openFile(file: SourceFile): void {
  openedFile.value = file.file;
  frontView("source");
}

function Tree({ sources }: { sources: Sources }) {
  const by = useSignal<SortBy>("cycles");
  const closed = useSignal<ReadonlySet<string>>(new Set());
  const openFiles = useSignal<ReadonlySet<string>>(new Set());
  const whole = useSignal<ReadonlySet<string>>(new Set());
  const which = attribution.value;
  const { withIdle } = settings.value;
  const cost = (file: SourceFile | SourceLine) => weightOf(file[which], by.value);
  const hottest = useMemo(() => hottestLine(sources, by.value), [sources, which, by.value, withIdle]);
  const tree = useMemo(() => {
    const weights = sources.files.map((file) => weightOf(file[which], by.value));
    return fileTree(
      sources.files.map((file) => file.file || NO_PLACE),
      weights,
    );
  }, [sources, which, by.value, withIdle]);
  useEffect(() => {
    const wanted = openedFile.value || hottest?.file.file;
    if (wanted !== undefined) openFiles.value = new Set([...openFiles.value, wanted]);
  }, [openedFile.value, hottest]);
  const isOpen = (file: SourceFile) => openFiles.value.has(file.file);
  const items: Item[] = [];
  const visit = (nodes: TreeNode[], depth: number) => {
    for (const node of nodes) {
      const file = sources.files[node.index];
      if (!file) {
        items.push({ kind: "folder", node, own: sumOf(filesBelow(node, sources)), depth });
        if (!closed.value.has(`${node.path}/`)) visit(node.children, depth + 1);
        continue;
      }
      items.push({ kind: "file", node, file, depth });
      if (!isOpen(file)) continue;
      const lines = [...(sources.linesOf.get(file) ?? [])].filter((line) => cost(line) > 0);
      lines.sort((a, b) => cost(b) - cost(a) || a.line - b.line);
      const shown = whole.value.has(file.file) ? lines.length : Math.min(lines.length, TOP_LINES);
      const top = lines.slice(0, shown);
      const selected = lines.slice(shown).find(isPlace);
      if (selected) top.push(selected);
      for (const line of top) items.push({ kind: "line", line, depth: depth + 1 });
      if (shown < lines.length) items.push({ kind: "more", file, shown, all: lines.length, depth: depth + 1 });
    }
  };
  visit(tree, 0);
  const total = weightOf(sources.total, by.value);
  const largestFile = Math.max(...sources.files.map(cost), 0);
  const largestLine = hottest ? cost(hottest) : 0;
  const toggle = (set: typeof closed, key: string) => {
    const next = new Set(set.value);
    if (!next.delete(key)) next.add(key);
    set.value = next;
  };
  if (!sources.files.length) {
    return <Nothing>Nothing to show: no instruction of this trace was executed or sampled.</Nothing>;
  }
  const activate = (item: Item) => {
    if (item.kind === "folder") toggle(closed, `${item.node.path}/`);
    else if (item.kind === "file") {
      if (item.file.file && !isOpen(item.file)) openFile(item.file);
      toggle(openFiles, item.file.file);
    } else if (item.kind === "line") openLine(item.line);
    else toggle(whole, item.file.file);
  };
  const chosen = items.findIndex((item) => item.kind === "line" && isPlace(item.line));
  const shownFile = items.findIndex((item) => item.kind === "file" && item.file.file === openedFile.value);
  const rows = () =>
    sources.lines
      .filter((line) => cost(line) > 0)
      .sort((a, b) => cost(b) - cost(a))
      .map((line) => [
        line.file.file,
        line.line,
        cost(line),
        total ? cost(line) / total : 0,
        line[which].hits,
        line.text,
      ]);
  return (
    <div class="view explorer">
      <Headline sources={sources} hottest={hottest} by={by.value} share={total ? largestLine / total : 0} />
      <div class="toolbar">
        <label>
          Sort by{" "}
          <select
            aria-label="Sort by"
            value={by.value}
            onChange={(event) => {
              by.value = event.currentTarget.value as SortBy;
            }}
          >
            <option value="cycles">{isSampled.value ? "samples" : "cycles"}</option>
            <option value="stall">{isSampled.value ? "stalled samples" : "stall"}</option>
            {isSampled.value ? null : <option value="exposed">exposed</option>}
          </select>
        </label>
        <Switches />
        <SaveMenu
          name="explorer"
          offers={[
            {
              format: "csv",
              make: () => csv(["file", "line", columnName(by.value), "share", "hit_count", "text"], rows()),
            },
          ]}
        />
      </div>
      <VirtualList
        label="Source files and their costliest lines"
        count={items.length}
        rowHeight={ROW_HEIGHT}
        reveal={chosen >= 0 ? chosen : shownFile}
        header={
          <div class="row">
            <span>File, line</span>
            <span title="Bars of folders are scaled to the whole (own costs of their files), bars of files to the costliest file, bars of lines to the costliest line">
              Cost
            </span>
            <span class="number" data-column="cycles" title={definition(by.value)}>
              {isSampled.value ? "Samples" : "Cycles"}
            </span>
            <span class="number" title="Of all instructions of the trace">
              Share
            </span>
          </div>
        }
        onKeyDown={(event) => {
          const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
          if (step === undefined) return;
          let next = chosen + step;
          while (items[next] && items[next]?.kind !== "line") next += step;
          const item = items[next];
          if (item?.kind !== "line") return;
          event.preventDefault();
          openLine(item.line);
        }}
        row={(index) => {
          const item = items[index] as Item;
          return (
            <Row
              key={index}
              item={item}
              isOpen={
                item.kind === "folder"
                  ? !closed.value.has(`${item.node.path}/`)
                  : item.kind === "file" && isOpen(item.file)
              }
              by={by.value}
              total={total}
              scale={item.kind === "line" ? largestLine : item.kind === "folder" ? total : largestFile}
              onActivate={() => activate(item)}
            />
          );
        }}
      />
    </div>
  );
}

const isPlace = (line: SourceLine) =>
  line.file.file === selection.value.place?.file && line.line === selection.value.place?.line;

const columnName = (by: SortBy) =>
  isSampled.value
    ? by === "cycles"
      ? "sample_count"
      : "stalled_count"
    : by === "stall"
      ? "stall_cycles"
      : `${by}_cycles`;

function definition(by: SortBy): string {
  if (isSampled.value) return by === "cycles" ? "PC samples, issued and stalled" : "PC samples that were not issued";
  if (by === "stall") return "Stall cycles of all executions in all waves";
  const idle = settings.value.withIdle ? ", with the idle cycles before them" : "";
  if (by === "exposed") return `Cycles of all executions that work of other waves did not hide${idle}`;
  return `Cycles of all executions in all waves${idle}`;
}

function Headline(props: { sources: Sources; hottest: SourceLine | null; by: SortBy; share: number }) {
  const { hottest, by, share, sources } = props;
  if (!hottest) {
    const reason = sources.files.some((file) => file.file)
      ? "no source line cost anything"
      : "no instruction has a debug line";
    return <p class="headline">There is no hottest source line: {reason}. Compile with -g to get lines.</p>;
  }
  const unit = isSampled.value ? "samples" : "cycles";
  const what = by === "stall" ? `stall ${unit}` : by === "exposed" ? "exposed cycles" : unit;
  return (
    <div class="headline">
      The hottest line is{" "}
      <button type="button" title={`${hottest.file.file}:${hottest.line}`} onClick={() => openLine(hottest)}>
        {shortPlace(hottest.file.file, hottest.line)}
      </button>{" "}
      with <strong>{percent(share)}</strong> of all {what}
      {hottest.text ? <code class="text">{hottest.text}</code> : null}
    </div>
  );
}

function Switches() {
  return (
    <>
      <label title="Own: instructions compiled from the line. With inlined: also those of functions inlined into it; such costs of different lines overlap">
        <select
          aria-label="Attribution"
          value={attribution.value}
          onChange={(event) => setAttribution(event.currentTarget.value === "inclusive" ? "inclusive" : "own")}
        >
          <option value="own">own</option>
          <option value="inclusive">with inlined</option>
        </select>
      </label>
      {isSampled.value ? null : (
        <label title="Count the idle cycles before instructions">
          <input
            type="checkbox"
            checked={settings.value.withIdle}
            onChange={(event) => change({ withIdle: event.currentTarget.checked })}
          />{" "}
          idle
        </label>
      )}
    </>
  );
}

interface RowProps {
  item: Item;
  isOpen: boolean;
  by: SortBy;
  total: number;
  scale: number;
  onActivate: () => void;
}

function Row({ item, isOpen, by, total, scale, onActivate }: RowProps) {
  const look = { height: `${ROW_HEIGHT}px` };
  if (item.kind === "more") {
    return (
      <div class="row can-click faint" role="row" tabIndex={-1} style={look} onClick={onActivate}>
        <span class="name" style={indented(item)}>
          showing {item.shown} of {exact(item.all)} lines: show all
        </span>
      </div>
    );
  }
  const cost = item.kind === "folder" ? item.own : (item.kind === "line" ? item.line : item.file)[attribution.value];
  const value = weightOf(cost, by);
  const place = item.kind === "line" ? { file: item.line.file.file, line: item.line.line } : null;
  const isPreviewed = place && preview.value.place?.file === place.file && preview.value.place.line === place.line;
  const isSelected = item.kind === "line" && isPlace(item.line);
  return (
    <div
      class={`row can-click ${item.kind}${isSelected ? " selected" : ""}${isPreviewed ? " preview" : ""}`}
      role="row"
      tabIndex={-1}
      style={look}
      data-file={place ? place.file : item.kind === "line" ? "" : item.node.path}
      data-line={place?.line}
      onClick={onActivate}
      onPointerEnter={() => {
        if (place) preview.value = { place };
      }}
      onPointerLeave={() => {
        if (place) preview.value = {};
      }}
    >
      <Name item={item} isOpen={isOpen} />
      <CostBar parts={partsOf(cost, by)} scale={scale} />
      <span class="number" data-column="cycles">
        {exact(value)}
      </span>
      <span class="number" data-column="share">
        {percent(total ? value / total : null)}
      </span>
    </div>
  );
}

const indented = (item: Item) => ({ paddingLeft: `${Math.min(item.depth, 12) * 10}px` });

function Name({ item, isOpen }: { item: Exclude<Item, { kind: "more" }>; isOpen: boolean }) {
  if (item.kind === "line") {
    const { line, text, file, stallClass } = item.line;
    return (
      <span class="name" style={indented(item)} title={`${file.file}:${line || "?"}\n${text}`}>
        <b>{line || "?"}</b>
        {line ? text || (file.hasText ? "" : stallClass) : "no line given by the compiler"}
      </span>
    );
  }
  const isPlaceless = item.kind === "file" && !item.file.file;
  return (
    <span
      class="name"
      style={indented(item)}
      title={isPlaceless ? "Instructions without a debug line" : item.node.path}
    >
      <span class="twist">{isPlaceless ? "" : isOpen ? "▾" : "▸"}</span>
      {item.kind === "folder" ? `${item.node.name}/` : isPlaceless ? NO_PLACE : baseName(item.node.name)}
    </span>
  );
}

export const explorer: View = {
  id: "explorer",
  title: "Explorer",
  hint: "Source files and lines by what they cost: the hottest line first",
  about: "trace",
  missing: (overview) =>
    overview.kind === "trace" && (overview.instruction_count || overview.holds.samples)
      ? ""
      : "no instruction was traced or sampled",
  component: Explorer,
};
