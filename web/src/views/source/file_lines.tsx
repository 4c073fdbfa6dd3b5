// The lines of one file: find, select, step through them.

import { useComputed } from "@preact/signals";
import { useMemo } from "preact/hooks";
import { exact } from "../../base/format";
import { type Matcher, matcher } from "../../base/matcher";
import { baseName } from "../../base/path";
import { flipped } from "../../base/sets";
import { languageOf, lineStates } from "../../base/syntax";
import { textScale } from "../../draw/painter";
import { annotations, annotationsOfLine } from "../../model/annotations";
import { lineChange } from "../../model/changes";
import { chainOf, codeNow, rowsOf, selectSourceLine } from "../../model/code";
import { ofDocument } from "../../model/document";
import { preview, selection } from "../../model/selection";
import { change, settings } from "../../model/settings";
import { attribution, isSampled, type SourceFile, type Sources, weightOf } from "../../model/source";
import { Check } from "../../widgets/check";
import { CostSwitches } from "../../widgets/cost_switches";
import { SaveMenu } from "../../widgets/saving";
import { VirtualList } from "../../widgets/virtual_list";
import { useCategories, useReasons } from "./breakdown";
import { InstructionRow } from "./instruction_row";
import { LineRow } from "./line_row";
import { asCsv, type FileText, indexOf, type Listed, listed, type TableRow, withInstructions } from "./lines";
import { Header, Missing } from "./parts";

const rowHeight = () => 18 * textScale();
/** `file:line` of lines that were opened, or closed while all are open. */
const toggled = ofDocument<ReadonlySet<string>>(new Set());

interface Props {
  sources: Sources;
  file: SourceFile;
  text: FileText;
  /** What is looked for: kept when another file is shown. */
  search: { value: string };
}

export function FileLines({ sources, file, text, search }: Props) {
  const which = attribution.value;
  const lines = useMemo(
    () => listed(sources, file, text, (line) => weightOf(line[which]) > 0),
    [sources, file, text, which],
  );
  const language = languageOf(file.file);
  const states = useMemo(
    () =>
      lineStates(
        lines.map((line) => line.text),
        language,
      ),
    [lines, language],
  );
  const reasons = useReasons(file);
  const byCategory = areCategories();
  const categories = useCategories(file, byCategory);
  const total = weightOf(sources.total);
  const scale = useScale(sources, file);
  const query = useMemo(() => matcher(search.value), [search.value]);
  const place = selection.value.sourceLine;
  const chosen = place?.file === file.file ? indexOf(lines, place.line) : -1;
  const hottest = useMemo(() => hottestOf(lines, which), [lines, which]);
  const opened = useOpenedLines(file, lines);
  const previewed = useComputed(() => previewedLines(file.file));
  const go = (index: number) => {
    const line = lines[index];
    if (line) selectSourceLine({ file: file.file, line: line.line });
  };
  return (
    <>
      <div class="toolbar">
        <CostSwitches />
        <ScaleSelect />
        <BarSelect />
        <InstructionsSwitch />
        <FindField search={search} query={query} lines={lines} chosen={chosen} go={go} />
        <SaveMenu name={baseName(file.file)} offers={[{ format: "csv", make: () => asCsv(lines, total) }]} />
      </div>
      <Missing text={text} />
      <VirtualList
        label={`Source of ${file.file}`}
        count={opened.table.length}
        rowHeight={rowHeight()}
        reveal={opened.placeOfLine(chosen >= 0 ? chosen : hottest)}
        header={<Header />}
        onKeyDown={(event) => onKey(event, { lines, chosen, hottest, opened, go })}
        row={(place) => {
          const { at: index, row } = opened.table[place] as TableRow;
          if (row !== null) return <InstructionRow key={place} {...{ row, scale, total }} height={rowHeight()} />;
          const entry = lines[index] as Listed;
          return (
            <LineRow
              key={place}
              entry={entry}
              isOpen={opened.table[place + 1]?.row != null}
              onToggle={() => opened.toggle(entry.line)}
              language={language}
              state={states[index] ?? "code"}
              scale={scale}
              total={total}
              reason={reasons.get(entry.line) ?? ""}
              categories={byCategory ? (categories.get(entry.line) ?? []) : null}
              height={rowHeight()}
              change={lineChange(file.file, entry.line)}
              annotations={annotationsOfLine(annotations.value, file.file, entry.line)}
              look={{
                isSelected: index === chosen,
                isPreviewed: previewed.value.has(entry.line),
                isFound: search.value !== "" && query.test(entry.text),
              }}
              onSelect={() => go(index)}
              onHover={(isOver) => {
                preview.value = isOver ? { sourceLine: { file: file.file, line: entry.line } } : {};
              }}
            />
          );
        }}
      />
    </>
  );
}

/** Whether the instructions of all lines are shown, less those that the user closed. */
const areAllOpen = () => settings.value.sourceInstructions === true;

/** The rows of the list: the lines of a file, and the instructions of those that are open. */
function useOpenedLines(file: SourceFile, lines: Listed[]) {
  const which = attribution.value;
  const allOpen = areAllOpen();
  const code = codeNow();
  const keyOf = (line: number) => `${file.file}:${line}`;
  const isOpen = (line: number) => toggled.value.has(keyOf(line)) !== allOpen;
  const { table, placeOf } = useMemo(() => {
    const rows = (line: number) => rowsOf({ file: file.file, line })[which === "own" ? "own" : "inlined"];
    return withInstructions(lines, rows, isOpen);
  }, [lines, which, code, toggled.value, allOpen]);
  const toggle = (line: number) => {
    toggled.value = flipped(toggled.value, keyOf(line));
  };
  /** Where in the list a line stands, or the selected instruction if it is one of the line. */
  const placeOfLine = (at: number) => {
    const ofRow = table.findIndex((each) => each.row !== null && each.row === selection.value.row);
    return ofRow >= 0 && table[ofRow]?.at === at ? ofRow : (placeOf[at] ?? -1);
  };
  return { table, isOpen, toggle, placeOfLine };
}

interface KeyContext {
  lines: Listed[];
  /** Places in `lines` of the selected line and of the costliest one; -1 = there is none. */
  chosen: number;
  hottest: number;
  opened: ReturnType<typeof useOpenedLines>;
  go: (index: number) => void;
}

/** Right and left open and close the selected line; up and down select another one. */
function onKey(event: KeyboardEvent, { lines, chosen, hottest, opened, go }: KeyContext): void {
  const opens = { ArrowRight: true, ArrowLeft: false }[event.key];
  const line = lines[chosen];
  if (opens !== undefined && line?.cost && opened.isOpen(line.line) !== opens) {
    event.preventDefault();
    opened.toggle(line.line);
    return;
  }
  const move = { ArrowDown: 1, ArrowUp: -1, PageDown: 30, PageUp: -30 }[event.key];
  if (move === undefined) return;
  event.preventDefault();
  const from = chosen < 0 ? hottest : chosen;
  go(Math.min(Math.max(from + move, 0), lines.length - 1));
}

interface FindProps {
  search: { value: string };
  query: Matcher;
  lines: Listed[];
  chosen: number;
  go: (index: number) => void;
}

/** Finds lines by their text: Enter selects the next one that matches, with Shift the one before, round the ends. */
function FindField({ search, query, lines, chosen, go }: FindProps) {
  const hits = useMemo(() => lines.flatMap((line, at) => (query.test(line.text) ? [at] : [])), [lines, query]);
  const next = (back: boolean) => {
    const after = back ? [...hits].reverse().find((at) => at < chosen) : hits.find((at) => at > chosen);
    const target = after ?? (back ? hits[hits.length - 1] : hits[0]);
    if (target !== undefined) go(target);
  };
  return (
    <>
      <input
        type="search"
        placeholder="find: text or /regex/"
        aria-label="Find in this file"
        value={search.value}
        onInput={(event) => {
          search.value = event.currentTarget.value;
        }}
        onKeyDown={(event) => {
          if (event.key === "Enter") next(event.shiftKey);
        }}
      />
      {search.value ? <span role="status">{query.problem || `${exact(hits.length)} lines`}</span> : null}
    </>
  );
}

function InstructionsSwitch() {
  return (
    <Check
      isOn={areAllOpen()}
      onChange={(isOn) => {
        toggled.value = new Set();
        change({ sourceInstructions: isOn });
      }}
      name="instructions"
      hint="The instructions of every line below it; a click on a line's ▸ opens that one"
    >
      instructions
    </Check>
  );
}

/** Whether bars are stacked of categories of instructions; samples have none. */
const areCategories = () => settings.value.sourceBars === "category" && !isSampled.value;

/** Whether full bars stand for the costliest line of all files, not only of this one. */
const isScaledToAll = () => settings.value.sourceScale !== "file";

/** The weight that a full bar stands for. */
function useScale(sources: Sources, file: SourceFile): number {
  const which = attribution.value;
  const isOfAll = isScaledToAll();
  return useMemo(() => {
    const scaled = isOfAll ? sources.lines : (sources.linesOf.get(file) ?? []);
    return scaled.reduce((most, line) => Math.max(most, weightOf(line[which])), 0);
  }, [sources, file, isOfAll, which, settings.value.withIdle]);
}

/** The place of the costliest line; -1 = none cost anything. */
function hottestOf(lines: Listed[], which: "own" | "inclusive"): number {
  const most = lines.reduce((weight, line) => Math.max(weight, weightIn(line, which)), 0);
  return most > 0 ? lines.findIndex((line) => weightIn(line, which) === most) : -1;
}

function ScaleSelect() {
  return (
    <select
      aria-label="Scale"
      title="What a full bar stands for: the costliest line of all files, or of this file"
      value={isScaledToAll() ? "all" : "file"}
      onChange={(event) => change({ sourceScale: event.currentTarget.value })}
    >
      <option value="all">scale: all files</option>
      <option value="file">scale: this file</option>
    </select>
  );
}

function BarSelect() {
  if (isSampled.value) return null;
  return (
    <select
      aria-label="Bars"
      title="Parts of the bars: stall, issue, idle and hidden cycles, or categories of instructions"
      value={areCategories() ? "category" : "parts"}
      onChange={(event) => change({ sourceBars: event.currentTarget.value })}
    >
      <option value="parts">bars: parts</option>
      <option value="category">bars: category</option>
    </select>
  );
}

const weightIn = (entry: Listed, which: "own" | "inclusive") => (entry.cost ? weightOf(entry.cost[which]) : 0);

/** Lines of a file that the pointer is over somewhere: in the listing of instructions its whole inline chain. */
function previewedLines(file: string): Set<number> {
  const { sourceLine, row } = preview.value;
  const places = sourceLine ? [sourceLine] : row === undefined ? [] : chainOf(row);
  return new Set(places.filter((line) => line.file === file).map((line) => line.line));
}
