// Dependencies: every wait, and below it what it waited for: how far ahead that was issued, and how much was missing.
import { type Signal, useSignal } from "@preact/signals";
import { useEffect, useMemo, useRef } from "preact/hooks";
import { exact, percent, short } from "../base/format";
import { groupBy } from "../base/group";
import {
  ASKED,
  WAITS,
  WAITS_PRODUCERS,
  type WaitsAnswer,
  type WaitsProducersRow,
  type WaitsRow,
} from "../data/answers.gen";
import { json } from "../data/ask";
import { hintOf } from "../data/tables";
import { textScale } from "../draw/painter";
import { truncation } from "../model/answers";
import { selectRow } from "../model/code";
import { current, ofDocument, unlessUnknown } from "../model/document";
import { ofKernel } from "../model/kernels";
import { useAnswer } from "../model/loaded";
import { preview, selection } from "../model/selection";
import type { View } from "../model/view";
import { Answered, Nothing } from "../widgets/answered";
import { type Cell, tableOffer } from "../widgets/data_table";
import { plainColumns } from "../widgets/figure_columns";
import { type BarItem, FittingBar } from "../widgets/fitting_bar";
import { KernelChooser } from "../widgets/kernel_chooser";
import { RowLink } from "../widgets/links";
import { SaveMenu } from "../widgets/saving";
import { VirtualList } from "../widgets/virtual_list";
import "./waits.css";

/** A row of a file: a wait with one of its producers; a wait whose producers are not known stands alone. */
type Edge = WaitsRow & Partial<Omit<WaitsProducersRow, "row">>;

/** A line of the list: a wait, or below it one of its producers. */
type Line = { wait: WaitsRow; producer?: WaitsProducersRow };

/** Columns of waits that the list can be sorted by, and columns of producers. */
type OfWait = "stall_cycles_total" | "exposed_stall_cycles_total" | "execution_count";
type OfProducer = keyof WaitsProducersRow;

interface Figure {
  title: string;
  /** Columns of the lines of waits and of producers; absent = such lines have no such figure. */
  wait?: OfWait;
  producer?: OfProducer;
  width: string;
  /** Pixels of a panel that has room for it. */
  from: number;
}

const FIGURES: Figure[] = [
  { title: "Stall", wait: "stall_cycles_total", width: "4.8em", from: 0 },
  { title: "Exposed", wait: "exposed_stall_cycles_total", width: "5.4em", from: 0 },
  { title: "Times", wait: "execution_count", producer: "count", width: "4.2em", from: 480 },
  { title: "Earlier", producer: "last_stall_cycles_mean", width: "3.8em", from: 0 },
  { title: "Ahead", producer: "distance_cycles_mean", width: "3.7em", from: 0 },
  { title: "Latency", producer: "latency_cycles_mean", width: "4.2em", from: 480 },
  { title: "Slack", producer: "slack_cycles_mean", width: "3.4em", from: 500 },
  { title: "Instr. ahead", producer: "distance_instructions_mean", width: "6.3em", from: 760 },
  { title: "Ended it", producer: "last_count", width: "4.4em", from: 760 },
  { title: "Maybe", producer: "candidate_count", width: "4em", from: 760 },
];
const ROW_HEIGHT = 22 * textScale();
/** In a panel with fewer pixels than this the view is narrow. */
const NARROW = 480;

const CSV_COLUMNS = plainColumns<Edge>([
  "row",
  "text",
  "stall_cycles_total",
  "last_stall_cycles_mean",
  "producer_row",
  "producer_text",
  "counter",
  "count",
  "exposed_stall_cycles_total",
  "distance_cycles_mean",
  "distance_instructions_mean",
  "latency_cycles_mean",
  "slack_cycles_mean",
  "last_count",
  "candidate_count",
  "class",
]);

const hintOfFigure = ({ wait, producer }: Figure) =>
  [wait && hintOf(WAITS[wait]), producer && `of a producer: ${hintOf(WAITS_PRODUCERS[producer])}`]
    .filter(Boolean)
    .join("\n");

/** All edges, with the wait's own columns where both have one of a name. */
function edgesOf(answer: WaitsAnswer): Edge[] {
  const producers = groupBy(answer.producers.rows, (producer) => producer.row);
  return answer.waits.rows.flatMap<Edge>((wait) =>
    (producers.get(wait.row) ?? [{}]).map((producer) => ({ ...producer, ...wait })),
  );
}

/** Rows of waits whose producers are not listed. */
const folded = ofDocument<ReadonlySet<number>>(new Set());

function Waits() {
  const answer = useAnswer(json<WaitsAnswer>(current.value, "waits", ofKernel()));
  return (
    <Answered answer={answer} choose={<KernelChooser />}>
      {(value) => <Edges answer={value} />}
    </Answered>
  );
}

function Edges({ answer }: { answer: WaitsAnswer }) {
  const edges = useMemo(() => edgesOf(answer), [answer]);
  const producers = useMemo(() => groupBy(answer.producers.rows, (producer) => producer.row), [answer]);
  const sort = useSignal<OfWait>("stall_cycles_total");
  const clicked = useSignal<Line | null>(null);
  const box = useRef<HTMLDivElement>(null);
  const width = useWidth(box);
  const lines = useMemo(() => {
    const ordered = [...answer.waits.rows].sort((a, b) => (b[sort.value] ?? 0) - (a[sort.value] ?? 0) || a.row - b.row);
    return ordered.flatMap<Line>((wait) => {
      const below = folded.value.has(wait.row) ? [] : (producers.get(wait.row) ?? []);
      return [{ wait }, ...below.map((producer) => ({ wait, producer }))];
    });
  }, [answer, producers, sort.value, folded.value]);
  const chosen = chosenAmong(lines, clicked.value);
  const figures = FIGURES.filter(({ from }) => width >= from * textScale());
  const template = `minmax(9em, 1fr) ${figures.map((figure) => figure.width).join(" ")}`;
  const choose = (line: Line) => {
    clicked.value = line;
    selectRow(rowOf(line));
  };
  // Left and right fold and unfold the producers of the chosen wait, up and down go from line to line.
  const press = (event: KeyboardEvent) => {
    const line = lines[chosen];
    const folds = { ArrowLeft: true, ArrowRight: false }[event.key];
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    const next = step === undefined ? undefined : lines[chosen + step];
    if (line && folds !== undefined) fold(line.wait, folds);
    else if (next) choose(next);
    else return;
    event.preventDefault();
  };
  return (
    <div class={`view waits${width < NARROW ? " narrow" : ""}`} ref={box}>
      <FittingBar items={barItems(answer, edges)} />
      {edges.length ? (
        <VirtualList
          class="table"
          label="Waits and their producers"
          count={lines.length}
          rowHeight={ROW_HEIGHT}
          reveal={chosen}
          onKeyDown={press}
          header={<Header figures={figures} template={template} sort={sort} />}
          row={(index) => {
            const line = lines[index] as Line;
            const { row } = line.wait;
            const look = { isSelected: index === chosen, isFolded: folded.value.has(row) };
            const producerCount = producers.get(row)?.length ?? 0;
            return <WaitLine key={index} {...{ line, figures, template, producerCount, choose }} {...look} />;
          }}
        />
      ) : (
        <Nothing>{unlessUnknown("No wait instruction was executed in this trace")}.</Nothing>
      )}
    </div>
  );
}

/** Pixels of an element, followed as it changes. */
function useWidth(box: { current: HTMLElement | null }): number {
  const width = useSignal(0);
  useEffect(() => {
    const observer = new ResizeObserver(() => {
      width.value = box.current?.clientWidth ?? 0;
    });
    if (box.current) observer.observe(box.current);
    return () => observer.disconnect();
  }, []);
  return width.value;
}

/** The row of code that a line is about: a producer, or else the wait. */
const rowOf = ({ wait, producer }: Line) => producer?.producer_row ?? wait.row;

/**
 * The position of the line of the selected row; -1 = there is none. Producers stand below several waits: of several lines
 * of the row it is the one that was clicked last, else the first.
 */
function chosenAmong(lines: Line[], clicked: Line | null): number {
  const isOfRow = (line: Line) => rowOf(line) === selection.value.row;
  const ofClick = lines.findIndex(
    (line) => line.wait === clicked?.wait && line.producer === clicked?.producer && isOfRow(line),
  );
  return ofClick >= 0 ? ofClick : lines.findIndex(isOfRow);
}

function fold(wait: WaitsRow, isFolded: boolean): void {
  const others = [...folded.value].filter((row) => row !== wait.row);
  folded.value = new Set(isFolded ? [...others, wait.row] : others);
}

/** The toolbar, whose items move into a menu where the panel is narrow. */
function barItems(answer: WaitsAnswer, edges: Edge[]): BarItem[] {
  const { waits, producers } = answer;
  const cutNote =
    truncation(waits.rows.length, waits.row_count) || truncation(producers.rows.length, producers.row_count);
  const share = percent(answer.stalled_count / (answer.execution_count || 1));
  const stalled = (
    <span title="Executions of wait instructions that held the wave longer than an issue slot">
      {exact(answer.stalled_count)} of {exact(answer.execution_count)} waits stalled ({share}),{" "}
      {short(answer.stall_cycles_total)} cycles
    </span>
  );
  return [
    { id: "stalled", content: stalled },
    ...(cutNote ? [{ id: "left", content: <b class="truncated">{cutNote}</b> }] : []),
    { id: "fold", content: <FoldAll rows={waits.rows.map((wait) => wait.row)} /> },
    { id: "kernel", content: <KernelChooser /> },
    { id: "save", content: <SaveMenu name="dependencies" offers={[tableOffer(CSV_COLUMNS, () => edges)]} /> },
  ];
}

interface HeaderProps {
  figures: Figure[];
  template: string;
  sort: Signal<OfWait>;
}

function Header({ figures, template, sort }: HeaderProps) {
  return (
    <div class="row head" role="row" style={{ gridTemplateColumns: template }}>
      <span role="columnheader">Wait, and what it waited for</span>
      {figures.map((figure) => (
        <span key={figure.title} role="columnheader" class="number" title={hintOfFigure(figure)}>
          {figure.wait ? (
            <button
              type="button"
              class="number"
              onClick={() => {
                sort.value = figure.wait as OfWait;
              }}
            >
              {figure.title}
              {figure.wait === sort.value ? " ▾" : ""}
            </button>
          ) : (
            figure.title
          )}
        </span>
      ))}
    </div>
  );
}

function FoldAll({ rows }: { rows: number[] }) {
  const areFolded = rows.every((row) => folded.value.has(row));
  return (
    <button
      type="button"
      class="quiet"
      data-fold-all
      onClick={() => {
        folded.value = new Set(areFolded ? [] : rows);
      }}
    >
      {areFolded ? "unfold all" : "fold all"}
    </button>
  );
}

interface LineProps {
  line: Line;
  figures: Figure[];
  template: string;
  isSelected: boolean;
  isFolded: boolean;
  producerCount: number;
  choose: (line: Line) => void;
}

function WaitLine({ line, figures, template, isSelected, isFolded, producerCount, choose }: LineProps) {
  const { wait, producer } = line;
  const row = rowOf(line);
  const figureOf = (figure: Figure): Cell => {
    if (!producer) return figure.wait && wait[figure.wait];
    return figure.producer && producer[figure.producer];
  };
  return (
    <div
      role="row"
      tabIndex={-1}
      class={`row can-click ${producer ? "of-wait" : "wait"}${isSelected ? " selected" : ""}`}
      data-wait={wait.row}
      style={{ gridTemplateColumns: template, height: `${ROW_HEIGHT}px` }}
      onClick={() => choose(line)}
      onPointerEnter={() => {
        preview.value = { row };
      }}
      onPointerLeave={() => {
        preview.value = {};
      }}
    >
      {producer ? (
        <span role="gridcell" class="text" data-column="producer_text">
          <RowLink row={row} text={producer.producer_text} /> <small>{producer.counter}</small>
        </span>
      ) : (
        <span role="gridcell" class="text" data-column="text" title={`Row ${wait.row}: ${wait.text}\n${wait.class}`}>
          <button
            type="button"
            class="fold"
            tabIndex={-1}
            aria-expanded={!isFolded}
            aria-label={isFolded ? "Show what it waited for" : "Hide what it waited for"}
            disabled={!producerCount}
            onClick={(event) => {
              event.stopPropagation();
              fold(wait, !isFolded);
            }}
          >
            {producerCount ? (isFolded ? "▸" : "▾") : ""}
          </button>
          {wait.row} <code>{wait.text}</code>{" "}
          <small>{isFolded && producerCount ? `${exact(producerCount)} producers` : wait.class}</small>
        </span>
      )}
      {figures.map((figure) => {
        const value = figureOf(figure);
        const name = producer ? figure.producer : figure.wait;
        return (
          <span key={figure.title} role="gridcell" class="number" data-column={name}>
            {typeof value === "number" ? exact(value) : ""}
          </span>
        );
      })}
    </div>
  );
}

export const waits: View = {
  id: "waits",
  title: "Dependencies",
  hint: ASKED.waits,
  about: "trace",
  time: "selected",
  missing: (overview) =>
    overview.kind === "trace" && overview.instruction_count ? "" : "no instruction was traced, so nothing waited",
  component: Waits,
};
