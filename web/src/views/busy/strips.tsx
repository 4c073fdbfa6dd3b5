// One strip per GPU below each other, on one axis of time, with the mean of all on top: how busy each is, and when.
import { type Signal, useSignal } from "@preact/signals";
import { useMemo, useRef } from "preact/hooks";
import { counted, percent } from "../../base/format";
import { json } from "../../data/ask";
import { ChartFrame, paintBand, paintLine, type ValueRange } from "../../draw/curves";
import { type Painter, textScale } from "../../draw/painter";
import { colourOf, paper } from "../../draw/palette";
import { tickNanoseconds, ticks } from "../../draw/ticks";
import { cursor } from "../../model/curves";
import { current, runOverview } from "../../model/document";
import { useAnswer } from "../../model/loaded";
import { gpuName } from "../../model/run";
import { type Range, selection } from "../../model/selection";
import { shown } from "../../model/timewindow";
import { Answered } from "../../widgets/answered";
import { Canvas, type CanvasEvents, type Paint } from "../../widgets/canvas";
import { chartEvents } from "../../widgets/curve_input";
import { pictures, SaveMenu } from "../../widgets/saving";
import { VirtualList } from "../../widgets/virtual_list";
import { BusyTiles, type StripsAnswer } from "./tiles";

/** Heights of a strip in pixels: of many GPUs, and of few. */
const [LOW, TALL, FEW] = [26, 48, 6];
const AXIS = 42;
/** Pixels for the names at the left of a saved picture, and the most strips in it. */
const SAVED_NAMES = 120;
const MOST_SAVED = 200;
const WHOLE: ValueRange = { low: 0, high: 1 };
const ORDERS = [
  ["number", "by number"],
  ["idle", "idlest first"],
  ["busy", "busiest first"],
] as const;

export function Strips({ choose }: { choose: preact.ComponentChild }) {
  const answer = useAnswer(json<StripsAnswer>(current.value, "run_strips"));
  return <Answered answer={answer}>{(value) => <List answer={value} choose={choose} />}</Answered>;
}

type Order = (typeof ORDERS)[number][0];

/** The GPUs by their place in the answer, in an order. */
function ordered({ gpus }: StripsAnswer, order: Order): number[] {
  const numbers = gpus.map((_, number) => number);
  if (order === "number") return numbers;
  const share = (number: number) => gpus[number]?.busy_share ?? 0;
  const sign = order === "idle" ? 1 : -1;
  return numbers.sort((a, b) => sign * (share(a) - share(b)) || a - b);
}

/** Strips have neither labels nor margins: their names stand in a column of their own. */
function stripFrame(width: number, height: number): ChartFrame {
  return new ChartFrame({ window: shown.value, values: WHOLE, width, height, unit: "ns", left: 0, right: 0 });
}

function List({ answer, choose }: { answer: StripsAnswer; choose: preact.ComponentChild }) {
  const tiles = useMemo(() => new BusyTiles(answer), [answer]);
  const order = useSignal<Order>("number");
  const rows = useMemo(() => ordered(answer, order.value), [answer, order.value]);
  const frame = useRef<ChartFrame | null>(null);
  const values = useSignal<ValueRange | null>(null);
  const measuring = useSignal<Range | null>(null);
  const events = useMemo(() => chartEvents({ frame, values, measuring }), [tiles]);
  const nodes = runOverview().clocks.nodes.length;
  const count = answer.gpus.length;
  const height = (count > FEW ? LOW : TALL) * textScale();
  const mean = answer.gpus.reduce((sum, gpu) => sum + gpu.busy_share, 0) / Math.max(1, count);
  const nameOf = (number: number) => {
    const gpu = answer.gpus[number];
    return gpu ? gpuName(gpu.node, gpu.gpu, nodes) : "";
  };
  const shareOf = (number: number) => percent(answer.gpus[number]?.busy_share);
  const marked = () => measuring.value ?? selection.value.range ?? null;
  const strip = (number: number): Paint => {
    return (painter, { width, height }) => {
      const drawn = stripFrame(width, height);
      frame.current = drawn;
      paintArea(painter, drawn, tiles.gpu(number, shown.value, drawn.plotWidth), height - 1, height - 3);
      paintMarks(painter, drawn, marked());
    };
  };
  const axis: Paint = (painter, { width, height }) => {
    const drawn = stripFrame(width, height);
    frame.current = drawn;
    paintMean(painter, drawn, tiles.mean(shown.value, drawn.plotWidth));
    paintMarks(painter, drawn, marked());
  };
  const saved: Paint = (painter, { width }) => {
    rows.forEach((number, n) => {
      const drawn = stripFrame(width - SAVED_NAMES, LOW);
      painter.text(4, n * LOW + LOW / 2, `${nameOf(number)} ${shareOf(number)}`, paper("text"));
      const rects = tiles.gpu(number, shown.value, drawn.plotWidth);
      const moved = Array.from(rects, (value, at) => value + (at % 4 === 0 ? SAVED_NAMES : 0));
      paintArea(painter, drawn, moved, (n + 1) * LOW - 2, LOW - 4);
    });
  };
  const savedSize = () => ({ width: 900, height: Math.max(LOW, Math.min(rows.length, MOST_SAVED) * LOW) });
  return (
    <div class="view busy-strips">
      <div class="toolbar">
        {choose}
        <OrderSelect order={order} />
        <span>
          {counted(count, "GPUs")} with work, {percent(mean)} busy on average
        </span>
        <SaveMenu name="busy-strips" offers={pictures(saved, savedSize)} />
      </div>
      <div class="busy-strip busy-mean">
        <span>mean of all</span>
        <span class="number">{percent(mean)}</span>
        <Canvas paint={axis} label="Mean busy share of all GPUs over time" height={AXIS} events={events} />
      </div>
      <VirtualList
        label="GPUs over time"
        count={rows.length}
        rowHeight={height}
        row={(index) => {
          const number = rows[index] as number;
          const facts = { name: nameOf(number), share: shareOf(number), paint: strip(number) };
          return <Strip key={number} {...facts} events={events} height={height} />;
        }}
      />
    </div>
  );
}

function OrderSelect({ order }: { order: Signal<Order> }) {
  return (
    <select
      aria-label="Order of GPUs"
      data-choose="order"
      value={order.value}
      onChange={(event) => {
        order.value = event.currentTarget.value as Order;
      }}
    >
      {ORDERS.map(([id, words]) => (
        <option key={id} value={id}>
          {words}
        </option>
      ))}
    </select>
  );
}

interface StripProps {
  name: string;
  share: string;
  paint: Paint;
  events: CanvasEvents;
  height: number;
}

function Strip({ name, share, paint, events, height }: StripProps) {
  return (
    <div class="busy-strip" role="row" data-gpu={name} style={{ height: `${height}px` }}>
      <span role="gridcell" title={name}>
        {name}
      </span>
      <span role="gridcell" class="number" data-column="busy_share">
        {share}
      </span>
      <span role="gridcell">
        <Canvas paint={paint} label={`${name} over time, ${share} busy`} height={height - 2} events={events} />
      </span>
    </div>
  );
}

/** Busy shares as rectangles that stand on `bottom`; a bin is four numbers: x, width, share, 0. Idle bins are absent. */
function paintArea(painter: Painter, frame: ChartFrame, bins: ArrayLike<number>, bottom: number, height: number): void {
  const rects: number[] = [];
  for (let at = 0; at < bins.length; at += 4) {
    const tall = Math.max((bins[at + 2] as number) * height, 0.5);
    rects.push(bins[at] as number, bottom - tall, bins[at + 1] as number, tall);
  }
  painter.rects(rects, colourOf("issue"));
  painter.polyline([0, bottom + 0.5, frame.width, bottom + 0.5], paper("line"), 1);
}

/** The mean of all strips, with the axis of time below it. */
function paintMean(painter: Painter, frame: ChartFrame, bins: ArrayLike<number>): void {
  paintArea(painter, frame, bins, frame.bottom, frame.bottom - frame.top);
  const { step, times } = ticks(frame.window.begin, frame.window.end, frame.plotWidth, 92, { leastStep: 1 });
  for (const time of times) {
    const x = Math.round(frame.x(time)) + 0.5;
    painter.polyline([x, frame.bottom, x, frame.bottom + 4], paper("faint"), 1);
    painter.text(x + 3, frame.bottom + 10, tickNanoseconds(time, step), paper("faint"));
  }
}

function paintMarks(painter: Painter, frame: ChartFrame, range: Range | null): void {
  if (range) paintBand(painter, frame, range, paper("accent"));
  const time = cursor.value;
  if (time !== null) paintLine(painter, frame, { time, colour: paper("text"), isDotted: true });
}
