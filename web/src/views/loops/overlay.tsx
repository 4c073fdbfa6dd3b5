// The iterations of a loop on top of each other: code row over cycles. Where a line falls behind
// the others, that iteration waited.
import { useSignal } from "@preact/signals";
import { exact, short } from "../../base/format";
import type { LoopsRow } from "../../data/answers.gen";
import type { Painter } from "../../draw/painter";
import { paper, seriesColour } from "../../draw/palette";
import { selectRow, textOf } from "../../model/code";
import type { Iteration } from "../../model/loops";
import { preview } from "../../model/selection";
import type { WaveData } from "../../model/wave_data";
import { Canvas, type Size } from "../../widgets/canvas";
import { iterationOnScreen } from "./strip";

interface Props {
  loop: LoopsRow;
  iterations: Iteration[];
  data: WaveData;
}

/** Iterations that are drawn: the first ones. */
const MOST = 100;
/** Pixels for the rows of code at the left, at the top, and for the cycles below. */
const LEFT = 52;
const TOP = 6;
const BOTTOM = 18;

/** How many rows of a loop stand before that with which its iterations start: it was rotated by so many. */
export const rotation = ({ start_row: start, first_row: first }: LoopsRow) => Math.max(0, start - first);

/** Where a row stands in the order of execution: 0 is the row with which an iteration starts. */
export function placeOfRow(loop: LoopsRow, row: number): number {
  const count = loop.last_row - loop.first_row + 1;
  return (row - loop.first_row - rotation(loop) + count) % count;
}

/** The row at such a place. */
export function rowAtPlace(loop: LoopsRow, place: number): number {
  const count = loop.last_row - loop.first_row + 1;
  return loop.first_row + ((place + rotation(loop)) % count);
}

/**
 * The path of one iteration: cycles since its start and place of the code row, as x0, y0, x1, y1, … A step to an earlier
 * place starts another segment.
 */
export function pathOf(data: WaveData, loop: LoopsRow, iteration: Iteration): number[][] {
  const segments: number[][] = [];
  let last = Number.POSITIVE_INFINITY;
  const end = iteration.begin + iteration.cycles;
  for (let i = firstFrom(data, iteration.begin); i < data.count && (data.time[i] as number) < end; i++) {
    const row = data.row[i] as number;
    if (row < loop.first_row || row > loop.last_row) continue;
    const since = (data.time[i] as number) - iteration.begin;
    const place = placeOfRow(loop, row);
    if (place < last) segments.push([]);
    segments.at(-1)?.push(since, place, since + (data.duration[i] as number), place);
    last = place;
  }
  return segments;
}

/** The first instruction at or after a time; the instructions of a wave are in the order of time. */
function firstFrom(data: WaveData, time: number): number {
  let [low, high] = [0, data.count];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((data.time[middle] as number) < time) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** Colours of the first iteration of a wave, of the last, and of those between. */
const COLOURS = () => ({ first: seriesColour(3), steady: seriesColour(0), last: seriesColour(1) });

export function paintOverlay(painter: Painter, { width, height }: Size, { loop, iterations, data }: Props): void {
  const shownIterations = iterations.slice(0, MOST);
  const longest = shownIterations.reduce((most, { cycles }) => Math.max(most, cycles), 1);
  const rows = Math.max(1, loop.last_row - loop.first_row);
  const x = (cycles: number) => LEFT + (cycles / longest) * (width - LEFT - 6);
  const y = (place: number) => TOP + (place / rows) * (height - BOTTOM - TOP - 2);
  for (const part of [0, 0.25, 0.5, 0.75, 1]) {
    painter.polyline([x(longest * part), 0, x(longest * part), height - BOTTOM], paper("line"));
    painter.text(x(longest * part), height - BOTTOM / 2, short(Math.round(longest * part)), paper("faint"), {
      align: part === 1 ? "right" : "center",
      size: 10,
    });
  }
  // Where the rows of a rotated loop go on at its top, there is a line.
  const turned = rotation(loop) ? [rows + 1 - rotation(loop)] : [];
  for (const place of turned) painter.polyline([LEFT, y(place), width, y(place)], paper("line"), 1, [3, 3]);
  for (const place of [0, ...turned, rows]) {
    painter.text(LEFT - 6, y(place), `row ${rowAtPlace(loop, place)}`, paper("faint"), { align: "right", size: 10 });
  }
  const highlighted = iterationOnScreen(iterations);
  const paintLine = (number: number, width: number) => {
    const iteration = shownIterations[number];
    if (!iteration) return;
    const colour = COLOURS()[number === 0 ? "first" : iteration.isLast ? "last" : "steady"];
    for (const segment of pathOf(data, loop, iteration)) {
      const points = segment.map((value, i) => (i % 2 ? y(value) : x(value)));
      painter.polyline(points, number === highlighted ? paper("accent") : `${colour}90`, width);
    }
  };
  shownIterations.forEach((_, number) => {
    if (number !== highlighted) paintLine(number, 1);
  });
  if (highlighted >= 0) paintLine(highlighted, 2.5); // over the others
}

export function Overlay(props: Props) {
  const { iterations, loop } = props;
  const over = useSignal<number | null>(null);
  const rowUnder = (event: MouseEvent) => {
    const box = (event.currentTarget as HTMLElement).getBoundingClientRect();
    const share = (event.clientY - box.top - TOP) / Math.max(1, box.height - BOTTOM - TOP - 2);
    const most = loop.last_row - loop.first_row;
    return rowAtPlace(loop, Math.min(Math.max(Math.round(share * most), 0), most));
  };
  if (!iterations.length) return null;
  const left = iterations.length - MOST;
  const { first, steady, last } = COLOURS();
  return (
    <div class="loops-overlay">
      <p class="caption">
        {over.value === null
          ? "Iterations on top of each other: rows in the order of execution over cycles since the iteration began."
          : `${over.value}  ${textOf(over.value)}`}
        {left > 0 ? ` Showing ${MOST} of ${exact(iterations.length)}.` : ""}
        <span class="key">
          <i style={{ background: first }} /> first <i style={{ background: steady }} /> steady{" "}
          <i style={{ background: last }} /> last
        </span>
      </p>
      <Canvas
        label="Code row over cycles since the start of the iteration"
        paint={(painter, size) => paintOverlay(painter, size, props)}
        events={{
          onPointerMove: (event) => {
            over.value = rowUnder(event);
            preview.value = { row: over.value };
          },
          onPointerLeave: () => {
            over.value = null;
            preview.value = {};
          },
          onClick: (event) => selectRow(rowUnder(event)),
        }}
      />
    </div>
  );
}
