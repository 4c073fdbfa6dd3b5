// The instructions: every row of the code with what it cost, arrows to what it waited for, bars, executions of one wave.
import { useSignal } from "@preact/signals";
import { useCallback, useEffect, useMemo, useRef } from "preact/hooks";
import { exact } from "../../base/format";
import { matcher } from "../../base/matcher";
import { type Code, codeAnswer } from "../../model/code";
import { traceOverview } from "../../model/document";
import { lanesNow } from "../../model/lanes";
import { selection } from "../../model/selection";
import type { View } from "../../model/view";
import type { Wave } from "../../model/waves";
import { Answered, Problem } from "../../widgets/answered";
import { type BarItem, FittingBar } from "../../widgets/fitting_bar";
import { type Offer, pictures, SaveMenu } from "../../widgets/saving";
import { WavePicker } from "../../widgets/wave_picker";
import { type Drawing, isArrows, useDrawing } from "./canvas_column";
import { ColumnMenu, type IsaColumn, isShown, orderedColumns } from "./columns";
import { EditPanel, EditToggle } from "./edit";
import { Filters, Finder, Hits } from "./finder";
import { HottestSteps, useHottest } from "./hottest";
import "./isa.css";
import { type Items, itemsOf, placed, type Section, sectionOrder, sectionsOf, sortedRows } from "./items";
import { JumpList } from "./jump_list";
import { LegendMenu, LegendStrip } from "./legend";
import { Minimap } from "./minimap";
import { Related } from "./related";
import { LetterProbe, usePlacedColumns, useRoom } from "./room";
import { type ColumnWidth, Rows, rowHeight } from "./rows";
import { listingCsv, paintListing, SAVED_TEXT_WIDTH } from "./save";
import { canvasModes, type Sheet, useSheet } from "./sheet";
import {
  CANVAS_MODES,
  type CanvasMode,
  changeIsa,
  executedOnly,
  folded,
  hitsOnly,
  isaSettings,
  isOneWave,
  LATENCY_MODES,
  type LatencyMode,
  query,
  stallOver,
} from "./state";
import { Stepping } from "./stepping";
import { Tip } from "./tip";

function Isa() {
  return <Answered answer={codeAnswer}>{(code) => <Listing code={code} />}</Answered>;
}

function Listing({ code }: { code: Code }) {
  const sheet = useSheet(code);
  const sections = useMemo(() => sectionsOf(code), [code]);
  const test = useMemo(() => matcher(query.value), [query.value]);
  const hits = useMemo(
    () => (query.value ? rowsWhere(code.count, (row) => test.test(code.text[row] ?? "")) : []),
    [code, test],
  );
  const columns = orderedColumns().filter(
    (column) => isShown(column) && (column.needs !== "live" || sheet.live?.count !== 0),
  );
  const sorted = columns.find(({ id }) => id === isaSettings.value.sort?.id);
  const folding = useFolding(sheet, sections);
  const { items, rows } = useItems(sheet, sections, { folding, hits, sorted });

  const box = useRef<HTMLDivElement>(null);
  const room = useRoom(box, items);
  const dragged = useSignal<ColumnWidth | null>(null);
  const widthOf = (id: string) => (dragged.value?.id === id ? dragged.value.width : isaSettings.value.widths[id]);
  const drawing = useDrawing(sheet, items, {
    rowHeight: rowHeight(),
    most: canvasRoom(room.width.value),
    chosen: widthOf("canvas"),
  });
  // Rows that are not in the order of the code have no arrows.
  const listed = columns.filter(({ id }) => id !== "canvas" || !(sorted && isArrows(sheet.canvas)));
  const placedColumns = usePlacedColumns(sheet, listed, { widthOf, drawing, room });
  const visible = (): readonly [number, number] => {
    const { top, bottom } = room.onScreen.value;
    return [Math.floor(top * items.lines.length), Math.ceil(bottom * items.lines.length)];
  };
  const offers = offersOf({ sheet, items, drawing }, rows, visible);
  return (
    <div class="view isa">
      <Toolbar {...{ sheet, sections, hits, offers }} problem={test.problem} />
      <LegendStrip sheet={sheet} />
      {sheet.problem ? <Problem error={sheet.problem} /> : null}
      <div class="isa-body" ref={box} onScrollCapture={room.measure}>
        <LetterProbe />
        <Rows
          {...{ sheet, items, sections, drawing, hits }}
          columns={placedColumns}
          isFolded={folding.isFolded}
          fold={folding.fold}
          onWidth={(change) => {
            dragged.value = change;
          }}
        />
        <Minimap items={items} heat={sheet.heat} onScreen={room.onScreen} goTo={room.goTo} />
      </div>
      <div class="isa-status">
        <span data-rows>
          {items.rowCount === code.count
            ? `${exact(code.count)} rows`
            : `showing ${exact(items.rowCount)} of ${exact(code.count)} rows`}
        </span>
        {sorted ? <SortedBy column={sorted} /> : null}
        <Hits hits={hits} problem={test.problem} />
        <Stepping data={sheet.targetData} />
      </div>
      <EditPanel sheet={sheet} />
      <Related sheet={sheet} />
      <Tip />
    </div>
  );
}

/** The rows as CSV, and what is beside those on screen as a picture. */
function offersOf(
  listing: { sheet: Sheet; items: Items; drawing: Drawing },
  rows: () => number[],
  visible: () => readonly [first: number, last: number],
): Offer[] {
  const size = () => {
    const [first, last] = visible();
    return { width: listing.drawing.width + SAVED_TEXT_WIDTH, height: (last - first) * rowHeight() };
  };
  return [
    { format: "csv", make: () => listingCsv(listing.sheet, rows()) },
    ...pictures((painter, area) => paintListing(painter, area, { ...listing, lines: visible() }), size),
  ];
}

interface ToolbarProps {
  sheet: Sheet;
  sections: Section[];
  /** Rows whose text matches the query, and what is wrong with it. */
  hits: number[];
  problem: string;
  offers: Offer[];
}

function Toolbar({ sheet, sections, hits, problem, offers }: ToolbarProps) {
  const { figures } = sheet;
  const hottest = useHottest(sheet);
  const items: BarItem[] = [
    ...(figures || sheet.target ? [{ id: "figures", content: <FiguresSelect mode={sheet.mode} /> }] : []),
    { id: "canvas", content: <CanvasSelect canvas={sheet.canvas} /> },
    { id: "wave", content: <WavePicker isOne={isOneWave(sheet.mode)} onPick={followTarget} /> },
    { id: "find", content: <Finder hits={hits} problem={problem} /> },
    { id: "hottest", content: <HottestSteps hottest={hottest} /> },
    { id: "columns", content: <ColumnMenu /> },
    ...(figures ? [{ id: "filters", content: <Filters /> }] : []),
    ...(figures ? [{ id: "edit", content: <EditToggle /> }] : []),
    { id: "jump", content: <JumpList sheet={sheet} sections={sections} /> },
    { id: "legend", content: <LegendMenu sheet={sheet} /> },
    { id: "save", content: <SaveMenu name="instructions" offers={offers} /> },
  ];
  return <FittingBar items={items} />;
}

function SortedBy({ column }: { column: IsaColumn }) {
  return (
    <button type="button" class="quiet" title="Back to the order of the code" onClick={() => changeIsa({ sort: null })}>
      by {column.title} ✕
    </button>
  );
}

interface Choices {
  folding: Folding;
  hits: number[];
  /** The column that rows are sorted by; undefined = they are in the order of the code. */
  sorted: IsaColumn | undefined;
}

/** The lines of the list, and the rows in it: in the order of the code with folded functions, or sorted by a column. */
function useItems(
  sheet: Sheet,
  sections: Section[],
  { folding, hits, sorted }: Choices,
): { items: Items; rows: () => number[] } {
  const { isExecuted, isFolded, order } = folding;
  const { code } = sheet;
  const { sort } = isaSettings.value;
  const wanted = useMemo(() => (hitsOnly.value && query.value ? new Set(hits) : null), [hits, hitsOnly.value]);
  // Rows are left out by figures only when that is asked for: else the list stays as it is in every mode.
  const needed = executedOnly.value || stallOver.value || sorted ? sheet.figures : null;
  return useMemo(() => {
    const stalled = needed?.stall;
    const least = stalled ? (stalled.reduce((sum, value) => sum + value, 0) * stallOver.value) / 100 : 0;
    const isListed = (row: number) => {
      if (wanted && !wanted.has(row)) return false;
      if (executedOnly.value && needed && !needed.hits[row]) return false;
      return !(stallOver.value && stalled) || (stalled[row] as number) >= Math.max(least, 1);
    };
    const rows = () => rowsWhere(code.count, isListed);
    if (sorted && sort) {
      const ordered = sortedRows(rows(), (row) => sorted.value(sheet, row), sort.down);
      return { items: placed(code.count, ordered), rows: () => ordered };
    }
    // What was asked for is listed, folded or not.
    const isFiltered = wanted !== null || executedOnly.value || stallOver.value > 0;
    const folds = (section: Section) => !isFiltered && isFolded(section);
    return { items: itemsOf({ count: code.count, sections, order, isListed, isFolded: folds }), rows };
  }, [
    code,
    sections,
    needed,
    wanted,
    executedOnly.value,
    stallOver.value,
    sorted?.id,
    sort?.down,
    order,
    folded.value,
    isExecuted,
    ...(sorted ? [sheet.samples, sheet.live, lanesNow()] : [null, null, null]),
  ]);
}

/** Pixels that bars may have in a list of that width; arrows have as many at most. */
function canvasRoom(width: number): number {
  if (width < 640) return 64;
  if (width < 800) return 84;
  return width < 1500 ? 140 : 220;
}

interface Folding {
  /** Whether any row of it ran, in any mode or time that was on screen; all did while nothing is known. */
  isExecuted: (section: Section) => boolean;
  isFolded: (section: Section) => boolean;
  fold: (section: Section, isFolded: boolean) => void;
  /** Numbers of the sections, as they are listed. */
  order: number[];
}

/** Functions that never ran are folded, and come last; whatever is selected is unfolded. */
function useFolding({ figures, samples }: Sheet, sections: Section[]): Folding {
  // First rows of the functions that ran: only added to, so that a mode or time in which one did not run does not fold it.
  const ran = useRef<{ sections: Section[]; firsts: ReadonlySet<number> }>({ sections, firsts: new Set() });
  if (ran.current.sections !== sections) ran.current = { sections, firsts: new Set() };
  const counts = figures?.hits ?? samples?.all;
  const firsts = useMemo(() => {
    const running = counts ? sections.filter((section) => hasAny(counts, section)).map(({ first }) => first) : [];
    const known = ran.current.firsts;
    if (running.some((first) => !known.has(first))) ran.current = { sections, firsts: new Set([...known, ...running]) };
    return ran.current.firsts;
  }, [counts, sections]);
  const isExecuted = useCallback(({ first }: Section) => !firsts.size || firsts.has(first), [firsts]);
  const isFolded = (section: Section) => folded.value.get(section.first) ?? !isExecuted(section);
  const fold = (section: Section, isClosed: boolean) => {
    folded.value = new Map([...folded.value, [section.first, isClosed]]);
  };
  const facts = traceOverview();
  const order = useMemo(() => {
    const entered = facts.traced_kernels.map(
      (number) => facts.kernels.find(({ kernel }) => kernel === number)?.name ?? "",
    );
    return sectionOrder(sections, isExecuted, entered);
  }, [sections, isExecuted, facts]);
  const chosen = selection.value.row;
  useEffect(() => {
    const around = sections.find(({ first, last }) => chosen !== undefined && first <= chosen && chosen <= last);
    if (around && isFolded(around)) fold(around, false);
  }, [chosen, sections, firsts]);
  return { isExecuted, isFolded, fold, order };
}

function hasAny(counts: Float64Array, { first, last }: Section): boolean {
  for (let row = first; row <= last; row++) if (counts[row]) return true;
  return false;
}

function FiguresSelect({ mode }: { mode: LatencyMode }) {
  return (
    <select
      data-mode
      aria-label="Figures"
      title={`Figures: ${LATENCY_MODES[mode][1]}`}
      value={mode}
      onChange={(event) => changeIsa({ mode: event.currentTarget.value as LatencyMode })}
    >
      {Object.entries(LATENCY_MODES).map(([mode, [name, hint]]) => (
        <option key={mode} value={mode} title={hint}>
          {name}
        </option>
      ))}
    </select>
  );
}

function CanvasSelect({ canvas }: { canvas: CanvasMode }) {
  return (
    <select
      data-canvas
      aria-label="Beside the rows"
      title={`Beside the rows: ${CANVAS_MODES[canvas][1]}`}
      value={canvas}
      onChange={(event) => changeIsa({ canvas: event.currentTarget.value as CanvasMode })}
    >
      {canvasModes().map((mode) => (
        <option key={mode} value={mode} title={CANVAS_MODES[mode][1]}>
          {CANVAS_MODES[mode][0]}
        </option>
      ))}
    </select>
  );
}

function rowsWhere(count: number, test: (row: number) => boolean): number[] {
  const rows: number[] = [];
  for (let row = 0; row < count; row++) if (test(row)) rows.push(row);
  return rows;
}

/** Picking a wave shows its figures, picking none those of all waves. */
function followTarget(wave: Wave | undefined): void {
  const { mode } = isaSettings.value;
  if (wave && !isOneWave(mode)) changeIsa({ mode: mode === "mean_all" ? "mean_wave" : "sum_wave" });
  if (!wave && isOneWave(mode)) changeIsa({ mode: mode === "mean_wave" ? "mean_all" : "sum_all" });
}

export const isa: View = {
  id: "isa",
  title: "Instructions",
  hint: "The instructions with their costs, arrows from waits to what they waited for, and the executions of one wave",
  about: "trace",
  time: "selected",
  missing: (overview) => (overview.kind === "trace" && overview.row_count ? "" : "the trace has no code"),
  component: Isa,
};
