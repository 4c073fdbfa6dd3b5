// The latencies of one memory operation as a histogram.
import { exact } from "../../base/format";
import type { MemoryLatencyByRowRow } from "../../data/answers.gen";
import { letterWidth, type Painter } from "../../draw/painter";
import { colourOf, paper } from "../../draw/palette";
import { ticks } from "../../draw/ticks";
import { fits } from "../../draw/time_axis";
import { Canvas, type Size } from "../../widgets/canvas";
import { RowLink } from "../../widgets/links";
import { pictures, SaveMenu } from "../../widgets/saving";
import { pipeOf } from "./columns";

/** Pixels of the picture, and around its bars. */
const HEIGHT = 120;
const MARGIN = { left: 40, bottom: 18, top: 6 };

/** `bin` is the width of a bin in cycles; the last bin has all longer latencies. */
export function Distribution({ row, bin }: { row: MemoryLatencyByRowRow; bin: number }) {
  const counts = row.distribution ?? [];
  const paint = (painter: Painter, size: Size) => paintDistribution(painter, size, row, bin);
  return (
    <div class="distribution">
      <div class="distribution-head">
        <span>
          <RowLink row={row.row} text={row.text} /> from {exact(row.latency_cycles_min)} to{" "}
          {exact(row.latency_cycles_max)} cycles, {row.is_bound ? "at most " : ""}
          {exact(row.latency_cycles_mean)} on average
          {row.latency_cycles_sd === null ? "" : ` ± ${exact(row.latency_cycles_sd)}`}
        </span>
        <SaveMenu name={`latency_of_row_${row.row}`} offers={pictures(paint, () => ({ width: 640, height: HEIGHT }))} />
      </div>
      <Canvas paint={paint} height={HEIGHT} label={`Latencies of row ${row.row}: ${counts.join(", ")}`} />
    </div>
  );
}

/** A bar for each bin, cycles below them, and a line at the mean. */
function paintDistribution(painter: Painter, { width, height }: Size, row: MemoryLatencyByRowRow, bin: number): void {
  const counts = row.distribution ?? [];
  const most = Math.max(1, ...counts);
  const step = (width - MARGIN.left - 8) / counts.length;
  const tall = height - MARGIN.top - MARGIN.bottom;
  const floor = MARGIN.top + tall;
  const x = (cycles: number) => MARGIN.left + (cycles / bin) * step;
  painter.text(4, MARGIN.top + 5, exact(most), paper("faint"));
  painter.text(4, floor - 4, "0", paper("faint"));
  painter.rect(MARGIN.left, floor, width - MARGIN.left, 1, paper("line"));
  counts.forEach((count, number) => {
    const high = (count / most) * tall;
    painter.rect(MARGIN.left + number * step, floor - high, Math.max(step - 2, 1), high, colourOf(pipeOf(row)));
  });
  for (const cycles of ticks(0, counts.length * bin, width - MARGIN.left - 8, 64).times) {
    painter.rect(x(cycles), floor, 1, 4, paper("faint"));
    const text = exact(cycles);
    const half = (text.length * letterWidth()) / 2;
    // The first number stands right of its tick, others below theirs where they are whole.
    if (!cycles) painter.text(x(0), height - 8, text, paper("faint"));
    else if (fits(x(cycles) - half, text, width)) painter.text(x(cycles) - half, height - 8, text, paper("faint"));
  }
  painter.rect(Math.min(x(row.latency_cycles_mean), width - 2), MARGIN.top, 2, tall, paper("accent"));
}
