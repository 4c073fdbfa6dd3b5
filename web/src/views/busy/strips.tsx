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
import { type BusyBin, BusyTiles, type DrawnWindow, type StripsAnswer } from "./tiles";

/** Pixels of a strip: low where there are more than FEW GPUs. */
const [LOW, TALL, FEW] = [26, 48, 6];
/** Pixels of the strip of the mean, with the axis of time. */
const AXIS = 42;
/** A saved picture: its width, of which the names at the left have a part, and the most strips in it. */
const SAVED_WIDTH = 900;
const SAVED_NAMES = 120;
const MOST_SAVED = 200;
const SHARES: ValueRange = { low: 0, high: 1 };
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

/** The numbers of the GPUs, which are their places in the answer, in an order. */
function ordered({ gpus }: StripsAnswer, order: Order): number[] {
  const numbers = gpus.map((_, number) => number);
  if (order === "number") return numbers;
  const share = (number: number) => gpus[number]?.busy_share ?? 0;
  const sign = order === "idle" ? 1 : -1;
  return numbers.sort((a, b) => sign * (share(a) - share(b)) || a - b);
}

/** Strips have neither labels nor margins: their names stand in a column of their own. */
function stripFrame(width: number, height: number): ChartFrame {
  return new ChartFrame({ window: shown.value, values: SHARES, width, height, unit: "ns", left: 0, right: 0 });
}

function List({ answer, choose }: { answer: StripsAnswer; choose: preact.ComponentChild }) {
  const tiles = useMemo(() => new BusyTiles(answer), [answer]);
  const order = useSignal<Order>("number");
  const rows = useMemo(() => ordered(answer, order.value), [answer, order.value]);
  const gpus = useMemo(() => namesAndShares(answer), [answer]);
  const frame = useRef<ChartFrame | null>(null);
  const values = useSignal<ValueRange | null>(null);
  const measuring = useSignal<Range | null>(null);
  const events = useMemo(() => chartEvents({ frame, values, measuring }), [tiles]);
  const meanShare = answer.gpus.reduce((sum, gpu) => sum + gpu.busy_share, 0) / Math.max(1, answer.gpus.length);
  /** Draws on a strip; the frame is remembered, because pointers measure time with it. */
  const painting =
    (paintBins: (painter: Painter, drawn: ChartFrame, height: number) => void): Paint =>
    (painter, { width, height }) => {
      const drawn = stripFrame(width, height);
      frame.current = drawn;
      paintBins(painter, drawn, height);
      paintMarks(painter, drawn, measuring.value ?? selection.value.range ?? null);
    };
  const axis = painting((painter, drawn) => paintMean(painter, drawn, tiles.mean(onScreen(drawn))));
  const strip = (number: number) =>
    painting((painter, drawn, height) => {
      const bins = tiles.gpu(number, onScreen(drawn));
      paintArea(painter, drawn, bins, { bottom: height - 1, height: height - 3 });
    });
  const saved: Paint = (painter, { width }) => {
    rows.forEach((number, n) => {
      const drawn = stripFrame(width - SAVED_NAMES, LOW);
      const { name, share } = gpus[number] as NameAndShare;
      painter.text(4, n * LOW + LOW / 2, `${name} ${share}`, paper("text"));
      const bins = tiles.gpu(number, onScreen(drawn)).map((bin) => ({ ...bin, x: bin.x + SAVED_NAMES }));
      paintArea(painter, drawn, bins, { bottom: (n + 1) * LOW - 2, height: LOW - 4 });
    });
  };
  const savedHeight = () => Math.max(LOW, Math.min(rows.length, MOST_SAVED) * LOW);
  const rowHeight = (answer.gpus.length > FEW ? LOW : TALL) * textScale();
  return (
    <div class="view busy-strips">
      <div class="toolbar">
        {choose}
        <OrderSelect order={order} />
        <span>
          {counted(answer.gpus.length, "GPUs")} with work, {percent(meanShare)} busy on average
        </span>
        <SaveMenu name="busy-strips" offers={pictures(saved, () => ({ width: SAVED_WIDTH, height: savedHeight() }))} />
      </div>
      <div class="busy-strip busy-mean">
        <span>mean of all</span>
        <span class="number">{percent(meanShare)}</span>
        <Canvas paint={axis} label="Mean busy share of all GPUs over time" height={AXIS} events={events} />
      </div>
      <VirtualList
        label="GPUs over time"
        count={rows.length}
        rowHeight={rowHeight}
        row={(index) => {
          const number = rows[index] as number;
          const gpu = gpus[number] as NameAndShare;
          return <Strip key={number} {...gpu} paint={strip(number)} events={events} height={rowHeight} />;
        }}
      />
    </div>
  );
}

interface NameAndShare {
  name: string;
  share: string;
}

/** Of each GPU of the answer its name, and its busy share in words. */
function namesAndShares({ gpus }: StripsAnswer): NameAndShare[] {
  const nodeCount = runOverview().clocks.nodes.length;
  return gpus.map(({ node, gpu, busy_share }) => ({ name: gpuName(node, gpu, nodeCount), share: percent(busy_share) }));
}

const onScreen = ({ plotWidth }: ChartFrame): DrawnWindow => ({ window: shown.value, pixels: plotWidth });

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

/** Where the area of a strip stands, in pixels; `height` is that of 100 %. */
interface Ground {
  bottom: number;
  height: number;
}

/** Busy shares as rectangles on a line; a little of each bin is always seen. */
function paintArea(painter: Painter, frame: ChartFrame, bins: BusyBin[], { bottom, height }: Ground): void {
  const rects = bins.flatMap(({ x, width, share }) => {
    const tall = Math.max(share * height, 0.5);
    return [x, bottom - tall, width, tall];
  });
  painter.rects(rects, colourOf("issue"));
  painter.polyline([0, bottom + 0.5, frame.width, bottom + 0.5], paper("line"), 1);
}

/** The mean of all strips, with the axis of time below it. */
function paintMean(painter: Painter, frame: ChartFrame, bins: BusyBin[]): void {
  paintArea(painter, frame, bins, { bottom: frame.bottom, height: frame.bottom - frame.top });
  const { step, times } = ticks(frame.window.begin, frame.window.end, frame.plotWidth, 92, { leastStep: 1 });
  for (const time of times) {
    const x = Math.round(frame.x(time)) + 0.5;
    painter.polyline([x, frame.bottom, x, frame.bottom + 4], paper("faint"), 1);
    painter.text(x + 3, frame.bottom + 10, tickNanoseconds(time, step), paper("faint"));
  }
}

/** The selected interval, or the one that is being measured; and where the pointer is in any chart. */
function paintMarks(painter: Painter, frame: ChartFrame, range: Range | null): void {
  if (range) paintBand(painter, frame, range, paper("accent"));
  const time = cursor.value;
  if (time !== null) paintLine(painter, frame, { time, colour: paper("text"), isDotted: true });
}
