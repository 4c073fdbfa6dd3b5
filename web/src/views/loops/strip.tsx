// The iterations of one loop in one wave, one after the other: how long each took, and how much of it was stall.
import { useSignal } from "@preact/signals";
import { exact, percent, short } from "../../base/format";
import type { LoopsRow } from "../../data/answers.gen";
import type { Painter } from "../../draw/painter";
import { colourOf, paper } from "../../draw/palette";
import { type Iteration, iterationAt, showIteration } from "../../model/loops";
import { shown } from "../../model/timewindow";
import { Canvas, type Size } from "../../widgets/canvas";

interface Props {
  loop: LoopsRow;
  iterations: Iteration[];
  wave: number;
}

/** Pixels for the cycles at the left, and for the numbers of iterations below. */
const LEFT = 52;
const BOTTOM = 16;

/** In place of the position of an iteration. */
export const NO_ITERATION = -1;

/** The position of the iteration that fills the time on screen; NO_ITERATION = it is filled by several, or by none. */
export function iterationOnScreen(iterations: Iteration[]): number {
  const { begin, end } = shown.value;
  const number = iterationAt(iterations, begin + 1);
  const iteration = iterations[number];
  return iteration && Math.abs(iteration.begin + iteration.cycles - end) < 2 ? number : NO_ITERATION;
}

export function paintStrip(
  painter: Painter,
  { width, height }: Size,
  iterations: Iteration[],
  highlighted: number,
): void {
  const most = iterations.reduce((largest, { cycles }) => Math.max(largest, cycles), 1);
  const tall = height - BOTTOM - 6;
  const y = (value: number) => 6 + tall * (1 - value / most);
  const step = (width - LEFT - 4) / Math.max(1, iterations.length);
  for (const part of [0, 0.5, 1]) {
    painter.polyline([LEFT, y(most * part), width, y(most * part)], paper("line"));
    painter.text(LEFT - 6, y(most * part), short(Math.round(most * part)), paper("faint"), {
      align: "right",
      size: 10,
    });
  }
  iterations.forEach(({ cycles, stall, entry }, i) => {
    const x = LEFT + i * step;
    const wide = Math.max(0.5, step - (step > 3 ? 1 : 0));
    const stalled = Math.min(stall, cycles);
    painter.rect(x, y(stalled), wide, y(0) - y(stalled), colourOf("stall"));
    painter.rect(x, y(cycles), wide, y(stalled) - y(cycles), colourOf("issue"));
    if (i === highlighted)
      painter.polyline([x - 1, 4, x + wide + 1, 4, x + wide + 1, y(0), x - 1, y(0), x - 1, 4], paper("accent"), 2);
    // A dashed line stands where the wave entered the loop anew.
    if (i && entry !== iterations[i - 1]?.entry) painter.polyline([x, 0, x, height - BOTTOM], paper("text"), 1, [3, 3]);
  });
  // As many numbers as have room: one for 60 pixels.
  const every = Math.max(1, Math.ceil(iterations.length / Math.max(1, Math.floor(width / 60))));
  for (let i = 0; i < iterations.length; i += every) {
    painter.text(LEFT + (i + 0.5) * step, height - BOTTOM / 2, String(i + 1), paper("faint"), {
      align: "center",
      size: 10,
    });
  }
}

export function Strip({ loop, iterations, wave }: Props) {
  const over = useSignal(NO_ITERATION);
  const number = over.value === NO_ITERATION ? iterationOnScreen(iterations) : over.value;
  const described = iterations[number];
  const iterationUnder = (event: MouseEvent) => {
    const box = (event.currentTarget as HTMLElement).getBoundingClientRect();
    const share = (event.clientX - box.left - LEFT) / (box.width - LEFT - 4);
    const position = Math.floor(share * iterations.length);
    return position >= 0 && position < iterations.length ? position : NO_ITERATION;
  };
  return (
    <div class="loops-strip">
      <p class="caption">
        {iterations.length
          ? `Wave ${wave} ran ${exact(iterations.length)} iterations. `
          : `Wave ${wave} did not run this loop: choose another wave. `}
        {described ? (
          <b data-iteration={number}>
            {exact(number + 1)}: {exact(described.cycles)} cycles, stall {exact(described.stall)} (
            {percent(described.stall / described.cycles)}){described.isLast ? ", the last" : ""}
          </b>
        ) : (
          "A click shows exactly one iteration in all timelines."
        )}
        <span class="key">
          <i style={{ background: colourOf("stall") }} /> stall <i style={{ background: colourOf("issue") }} /> the rest
        </span>
      </p>
      <Canvas
        label={`Cycles of each iteration of the loop in wave ${wave}`}
        height={130}
        paint={(painter, size) => paintStrip(painter, size, iterations, iterationOnScreen(iterations))}
        events={{
          onPointerMove: (event) => {
            over.value = iterationUnder(event);
          },
          onPointerLeave: () => {
            over.value = NO_ITERATION;
          },
          onClick: (event) => {
            const iteration = iterations[iterationUnder(event)];
            if (iteration) void showIteration(wave, loop, iteration);
          },
        }}
      />
    </div>
  );
}
