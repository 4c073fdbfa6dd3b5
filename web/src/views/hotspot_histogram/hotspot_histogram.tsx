// Where along the code the cycles go: bars over ranges of rows, stacked by category. A click selects the rows.
import { useSignal } from "@preact/signals";
import { useMemo, useRef } from "preact/hooks";
import { exact, percent, short } from "../../base/format";
import type { HistogramAnswer } from "../../data/answers.gen";
import { json, type Parameters } from "../../data/ask";
import { BarFrame, type HistogramBin, paintHistogram } from "../../draw/histogram";
import type { Painter } from "../../draw/painter";
import { colourOf } from "../../draw/palette";
import { selectRow } from "../../model/code";
import { current, unlessUnknown } from "../../model/document";
import { useAnswer } from "../../model/loaded";
import { preview, selection } from "../../model/selection";
import type { View } from "../../model/view";
import { Answered } from "../../widgets/answered";
import { Canvas, type CanvasEvents, type Size } from "../../widgets/canvas";
import { binsOf, categoriesOf } from "./answer";
import "./hotspot_histogram.css";
import { DEFAULTS, type Drawing, type Options, Toolbar } from "./toolbar";

/** Options as the server takes them, without those that are its defaults. */
function parametersOf(options: Options): Parameters {
  const asked: Parameters = {};
  if (options.bins !== DEFAULTS.bins) asked.bins = options.bins;
  if (options.first !== null) asked.first = options.first;
  if (options.last !== null) asked.last = options.last;
  if (options.se !== null) asked.se = options.se;
  return asked;
}

function HotspotHistogram() {
  const options = useSignal<Options>(DEFAULTS);
  const answer = useAnswer(json<HistogramAnswer>(current.value, "histogram", parametersOf(options.value)));
  const drawing = useRef<Drawing>({ paint: () => {}, size: { width: 800, height: 300 } });
  const set = (change: Partial<Options>) => {
    options.value = { ...options.value, ...change };
  };
  const loaded = answer.value;
  return (
    <div class="view">
      <Toolbar
        answer={loaded.state === "ready" ? loaded.value : null}
        options={options.value}
        set={set}
        drawing={drawing}
      />
      <Answered answer={answer}>
        {(value) => <Histogram answer={value} axisMost={options.value.most} drawing={drawing} />}
      </Answered>
    </div>
  );
}

function isSelected({ first, last }: HistogramBin): boolean {
  const { row, lastRow } = selection.value;
  return row !== undefined && row <= last && (lastRow ?? row) >= first;
}

function selectBin(bin: HistogramBin | undefined): void {
  if (bin) selectRow(bin.first, { lastRow: bin.last > bin.first ? bin.last : undefined });
}

interface HistogramProps {
  answer: HistogramAnswer;
  /** The largest value of the axis in cycles; null = a little more than the tallest bar. */
  axisMost: number | null;
  drawing: { current: Drawing };
}

function Histogram({ answer, axisMost, drawing }: HistogramProps) {
  const bins = useMemo(() => binsOf(answer), [answer]);
  /** The bar under the pointer; null = there is none. */
  const pointer = useSignal<{ x: number; bin: number } | null>(null);
  const most = axisMost ?? 1.04 * Math.max(1, ...bins.map((bin) => bin.total));
  const frameOf = ({ width, height }: Size) => new BarFrame(bins.length, most, width, height);
  const paint = (painter: Painter, area: Size) => {
    drawing.current.size = area;
    paintHistogram(painter, frameOf(area), bins, { isSelected, hovered: pointer.value?.bin ?? -1 });
  };
  drawing.current.paint = paint;
  const under = (event: MouseEvent) => {
    const area = (event.currentTarget as HTMLElement).getBoundingClientRect();
    const x = event.clientX - area.left;
    return { x, bin: frameOf(area).at(x) }; // not the frame on screen: the pointer may be here before it is painted
  };
  const events: CanvasEvents = {
    onPointerMove: (event) => {
      const place = under(event);
      const bin = bins[place.bin];
      pointer.value = bin ? place : null;
      preview.value = bin ? { row: bin.first, lastRow: bin.last } : {};
    },
    onPointerLeave: () => {
      pointer.value = null;
      preview.value = {};
    },
    onClick: (event) => selectBin(bins[under(event).bin]),
  };
  const step = (event: KeyboardEvent) => {
    const by = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    if (by === undefined) return;
    event.preventDefault();
    selectBin(bins[bins.findIndex(isSelected) + by]);
  };
  const hovered = pointer.value ? bins[pointer.value.bin] : undefined;
  return (
    <>
      <div class="histogram" tabIndex={0} role="group" aria-label="Cycles over code rows" onKeyDown={step}>
        <Canvas paint={paint} label="Cycles over ranges of code rows, by category" events={events} />
        {hovered && pointer.value ? (
          <Tip bin={hovered} all={answer.cycles_total} x={pointer.value.x} width={drawing.current.size.width} />
        ) : null}
      </div>
      <Legend answer={answer} />
    </>
  );
}

/** The categories with their shares, and the cycles that no bar shows. */
function Legend({ answer }: { answer: HistogramAnswer }) {
  const categories = useMemo(() => categoriesOf(answer), [answer]);
  return (
    <div class="histogram-legend">
      {categories.map(({ category, cycles }) => (
        <span key={category} data-category={category} title={`${exact(cycles)} cycles`}>
          <span class="swatch" style={{ background: colourOf(category) }} /> {category}{" "}
          <span class="faint">{percent(answer.cycles_total ? cycles / answer.cycles_total : null)}</span>
        </span>
      ))}
      {answer.unknown_cycles_total ? (
        <span title="Instructions whose code row is not known: no bar shows them">
          not shown: {short(answer.unknown_cycles_total)} cycles of unknown rows
        </span>
      ) : null}
    </div>
  );
}

interface TipProps {
  bin: HistogramBin;
  /** Cycles of all bars. */
  all: number;
  /** Of the pointer; the tip stands on the side of the canvas with more room. */
  x: number;
  width: number;
}

function Tip({ bin, all, x, width }: TipProps) {
  const side = x > width / 2 ? { right: `${width - x + 14}px` } : { left: `${x + 14}px` };
  return (
    <div class="tooltip histogram-tip" style={{ ...side, top: "12px" }}>
      <div class="strong">
        {bin.last > bin.first ? `rows ${exact(bin.first)} to ${exact(bin.last)}` : `row ${exact(bin.first)}`}
      </div>
      <div data-total={bin.total}>
        {exact(bin.total)} cycles, {percent(all ? bin.total / all : null)}
      </div>
      {[...bin.parts]
        .sort((a, b) => b.cycles - a.cycles)
        .map(({ category, cycles }) => (
          <div key={category} data-category={category} data-cycles={cycles}>
            <span class="swatch" style={{ background: colourOf(category) }} /> {category} {exact(cycles)}
          </div>
        ))}
    </div>
  );
}

export const hotspotHistogram: View = {
  id: "hotspot_histogram",
  title: "Hotspots",
  hint: "Where along the code the cycles go, by category of instruction",
  about: "trace",
  time: "selected",
  missing: (overview) =>
    overview.kind === "trace" && overview.instruction_count && overview.row_count
      ? ""
      : unlessUnknown("no executed instructions are recorded"),
  component: HotspotHistogram,
};
