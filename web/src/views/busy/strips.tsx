// One strip per GPU below each other, on one axis of time, with the mean of all on top: how busy each is, and when.
import { useSignal } from "@preact/signals";
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

function List({ answer, choose }: { answer: StripsAnswer; choose: preact.ComponentChild }) {
  const tiles = useMemo(() => new BusyTiles(answer), [answer]);
  const order = useSignal<(typeof ORDERS)[number][0]>("number");
  const rows = useMemo(() => {
    const numbers = answer.gpus.map((_, number) => number);
    const share = (number: number) => answer.gpus[number]?.busy_share ?? 0;
    if (order.value === "number") return numbers;
    const sign = order.value === "idle" ? 1 : -1;
    return numbers.sort((a, b) => sign * (share(a) - share(b)) || a - b);
  }, [answer, order.value]);
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
  const strip = (chunk: (drawn: ChartFrame) => ArrayLike<number>): Paint => {
    return (painter, { width, height }) => {
      const drawn = new ChartFrame(shown.value, WHOLE, width, height, null, "ns", 0, 0);
      frame.current = drawn;
      paintStrip(painter, drawn, height, chunk(drawn), measuring.value ?? selection.value.range ?? null);
    };
  };
  const axis: Paint = (painter, { width, height }) => {
    const drawn = new ChartFrame(shown.value, WHOLE, width, height, null, "ns", 0, 0);
    frame.current = drawn;
    const rects = tiles.mean(shown.value, drawn.plotWidth);
    paintArea(painter, drawn, rects, drawn.bottom, drawn.bottom - drawn.top);
    const { step, times } = ticks(drawn.window.begin, drawn.window.end, drawn.plotWidth, 92, 0, 1);
    for (const time of times) {
      const x = Math.round(drawn.x(time)) + 0.5;
      painter.polyline([x, drawn.bottom, x, drawn.bottom + 4], paper("faint"), 1);
      painter.text(x + 3, drawn.bottom + 10, tickNanoseconds(time, step), paper("faint"));
    }
    paintMarks(painter, drawn, measuring.value ?? selection.value.range ?? null);
  };
  const saved: Paint = (painter, { width }) => {
    rows.forEach((number, n) => {
      const drawn = new ChartFrame(shown.value, WHOLE, width - 120, LOW, null, "ns", 0, 0);
      painter.text(
        4,
        n * LOW + LOW / 2,
        `${nameOf(number)} ${percent(answer.gpus[number]?.busy_share)}`,
        paper("text"),
      );
      const rects = tiles.gpu(number, shown.value, drawn.plotWidth);
      const moved = Array.from(rects, (value, at) => value + (at % 4 === 0 ? 120 : 0));
      paintArea(painter, drawn, moved, (n + 1) * LOW - 2, LOW - 4);
    });
  };
  return (
    <div class="view busy-strips">
      <div class="toolbar">
        {choose}
        <select
          aria-label="Order of GPUs"
          data-choose="order"
          value={order.value}
          onChange={(event) => {
            order.value = event.currentTarget.value as typeof order.value;
          }}
        >
          {ORDERS.map(([id, words]) => (
            <option key={id} value={id}>
              {words}
            </option>
          ))}
        </select>
        <span>
          {counted(count, "GPUs")} with work, {percent(mean)} busy on average
        </span>
        <SaveMenu
          name="busy-strips"
          offers={pictures(saved, () => ({ width: 900, height: Math.max(LOW, Math.min(rows.length, 200) * LOW) }))}
        />
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
          const share = percent(answer.gpus[number]?.busy_share);
          return (
            <Strip
              key={number}
              name={nameOf(number)}
              share={share}
              paint={strip((drawn) => tiles.gpu(number, shown.value, drawn.plotWidth))}
              events={events}
              height={height}
            />
          );
        }}
      />
    </div>
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

/** Rectangles of x and width, each with the share of its bin as height: what is empty was idle. */
function paintArea(painter: Painter, frame: ChartFrame, bins: ArrayLike<number>, bottom: number, height: number): void {
  const rects: number[] = [];
  for (let at = 0; at < bins.length; at += 4) {
    const tall = Math.max((bins[at + 2] as number) * height, 0.5);
    rects.push(bins[at] as number, bottom - tall, bins[at + 1] as number, tall);
  }
  painter.rects(rects, colourOf("issue"));
  painter.polyline([0, bottom + 0.5, frame.width, bottom + 0.5], paper("line"), 1);
}

function paintStrip(painter: Painter, frame: ChartFrame, height: number, bins: ArrayLike<number>, range: Range | null) {
  paintArea(painter, frame, bins, height - 1, height - 3);
  paintMarks(painter, frame, range);
}

function paintMarks(painter: Painter, frame: ChartFrame, range: Range | null): void {
  if (range) paintBand(painter, frame, range, paper("accent"));
  if (cursor.value !== null) paintLine(painter, frame, cursor.value, paper("text"), [2, 3]);
}
