// Where the blocks and wires of the memory chart stand: the CUs above, then from left to right what is nearer to memory.
import { groupBy } from "../../base/group";
import type {
  MemoryChartAnswer,
  MemoryChartBlocksRow,
  MemoryChartValuesRow,
  MemoryChartWiresRow,
} from "../../data/answers.gen";

export interface PlacedValue {
  value: MemoryChartValuesRow;
  x: number;
  /** Middle of the line. */
  y: number;
  width: number;
}

export interface PlacedBlock {
  block: MemoryChartBlocksRow;
  x: number;
  y: number;
  width: number;
  height: number;
  values: PlacedValue[];
}

export interface PlacedWire {
  source: string;
  target: string;
  flows: MemoryChartWiresRow[];
  /** x0, y0, x1, y1, … */
  points: number[];
  /** Width by the bytes per second that it carries, the widest line of the chart being `WIDEST`; null = not known. */
  thickness: number | null;
  /** Where its numbers begin, and the middle of the first of them. */
  x: number;
  y: number;
}

export interface ChartLayout {
  /** GB/s of the widest line. */
  most: number;
  width: number;
  height: number;
  blocks: PlacedBlock[];
  wires: PlacedWire[];
}

/** Pixels at scale 1: a line of text, the head of a block with its title, and the space around the text of a block. */
export const LINE = 17;
export const HEAD = 24;
const PAD = 9;
/** Width of a block, of the space for the numbers of wires between two stages, and left of the first stage. */
const BLOCK = 150;
const GAP = 92;
const MARGIN = 112;
/** Between blocks of one stage, and between blocks of the CUs. */
const BETWEEN = 16;
const LEAST_WIDTH = 560;
/** Where the wires from the CUs go down. */
const BUS = 10;
/** Values of a block of the CUs are in this many columns. */
const COLUMNS_ABOVE = 2;

/** Stage 0 is the CUs; further stages are numbered from them towards memory. */
export function layoutOf(answer: MemoryChartAnswer): ChartLayout {
  const stages = [...new Set(answer.blocks.rows.map((block) => block.stage))]
    .filter((stage) => stage > 0)
    .sort((a, b) => a - b);
  const width = Math.max(MARGIN + stages.length * BLOCK + Math.max(0, stages.length - 1) * GAP, LEAST_WIDTH);
  const above = placedAbove(answer, width);
  const top = Math.max(0, ...above.map((block) => block.y + block.height)) + (above.length ? 2 * BETWEEN : 0);
  const columns = stages.map((stage, column) =>
    placedStage(answer, stage, { x: MARGIN + column * (BLOCK + GAP), top }),
  );
  const bottom = Math.max(top, ...columns.flat().map((block) => block.y + block.height));
  for (const column of columns) {
    // A block that stands alone in its stage is as tall as the others together: all wires reach it straight.
    if (column.length === 1 && column[0]) column[0].height = bottom - top;
  }
  const blocks = [...above, ...columns.flat()];
  const rates = new Map(wiresByEnds(answer.wires.rows).map((flows) => [flows, rateOf(flows, answer)]));
  const most = Math.max(0, ...[...rates.values()].map((rate) => rate ?? 0));
  return { most, width, height: bottom, blocks, wires: wiresOf(rates, most, blocks) };
}

function valuesOf(answer: MemoryChartAnswer, block: MemoryChartBlocksRow): MemoryChartValuesRow[] {
  return answer.values.rows.filter((value) => value.block === block.block);
}

/** The blocks of one stage below each other, each as tall as its values and the numbers of its wires need. */
function placedStage(answer: MemoryChartAnswer, stage: number, { x, top }: { x: number; top: number }): PlacedBlock[] {
  const flowsOf = flowCounts(answer.wires.rows);
  const placed: PlacedBlock[] = [];
  let y = top;
  for (const block of answer.blocks.rows.filter((each) => each.stage === stage)) {
    const values = valuesOf(answer, block);
    const lines = Math.max(values.length, flowsOf.get(block.block) ?? 0);
    const height = HEAD + lines * LINE + PAD;
    const middleOf = (n: number) => y + HEAD + (n + 0.5) * LINE;
    placed.push({
      block,
      x,
      y,
      width: BLOCK,
      height,
      values: values.map((value, n) => ({ value, x: x + PAD, y: middleOf(n), width: BLOCK - 2 * PAD })),
    });
    y += height + BETWEEN;
  }
  return placed;
}

/** Blocks of the CUs, side by side over the whole width. */
function placedAbove(answer: MemoryChartAnswer, width: number): PlacedBlock[] {
  const blocks = answer.blocks.rows.filter((block) => block.stage === 0);
  const blockWidth = (width - BETWEEN * Math.max(0, blocks.length - 1)) / Math.max(1, blocks.length);
  const columnWidth = blockWidth / COLUMNS_ABOVE;
  const lines = Math.max(0, ...blocks.map((block) => Math.ceil(valuesOf(answer, block).length / COLUMNS_ABOVE)));
  return blocks.map((block, number) => {
    const x = number * (blockWidth + BETWEEN);
    const values = valuesOf(answer, block).map((value, n) => {
      const [line, column] = [Math.floor(n / COLUMNS_ABOVE), n % COLUMNS_ABOVE];
      const y = HEAD + (line + 0.5) * LINE;
      return { value, x: x + column * columnWidth + PAD, y, width: columnWidth - 2 * PAD };
    });
    return { block, x, y: 0, width: blockWidth, height: HEAD + lines * LINE + PAD, values };
  });
}

const keyOf = (wire: MemoryChartWiresRow) => `${wire.source}>${wire.target}`;

/** Lines that the numbers of wires into a block need, and into the block at its source. */
function flowCounts(wires: MemoryChartWiresRow[]): Map<string, number> {
  const perWire = new Map<string, number>();
  for (const wire of wires) perWire.set(keyOf(wire), (perWire.get(keyOf(wire)) ?? 0) + 1);
  const counts = new Map<string, number>();
  for (const wire of wires) {
    const count = perWire.get(keyOf(wire)) ?? 0;
    for (const end of [wire.source, wire.target]) counts.set(end, Math.max(counts.get(end) ?? 0, count));
  }
  return counts;
}

const wiresByEnds = (wires: MemoryChartWiresRow[]) => [...groupBy(wires, keyOf).values()];

/**
 * GB/s of a wire, for its width; null = not known. The first of these that is there: its flow "traffic", which is all of
 * it; the sum of its flows; the traffic of the block at its end, where no other wire leads to that.
 */
function rateOf(flows: MemoryChartWiresRow[], { wires, values }: MemoryChartAnswer): number | null {
  const traffic = flows.find((flow) => flow.kind === "traffic");
  if (traffic) return traffic.rate;
  if (flows.some((flow) => flow.rate !== null)) return flows.reduce((sum, flow) => sum + (flow.rate ?? 0), 0);
  const [first] = flows;
  if (!first || wires.rows.some((wire) => wire.target === first.target && wire.source !== first.source)) return null;
  return values.rows.find((value) => value.block === first.target && value.is_rate)?.value ?? null;
}

/** Pixels of wires whose bytes are known. */
const [WIDEST, THINNEST] = [14, 1.5];

/** Wires between placed blocks, by the rates of their flows; `most` is the largest rate. */
function wiresOf(rates: Map<MemoryChartWiresRow[], number | null>, most: number, blocks: PlacedBlock[]): PlacedWire[] {
  const placed: PlacedWire[] = [];
  for (const [flows, rate] of rates) {
    const [source, target] = (["source", "target"] as const).map((end) =>
      blocks.find((block) => block.block.block === flows[0]?.[end]),
    );
    if (!source || !target) continue;
    const isAbove = source.block.stage === 0;
    // A wire is level with the head of the smaller block, with its numbers below: the larger one has other wires, too.
    const level = source.height < target.height && !isAbove ? source : target;
    const y = level.y + HEAD / 2;
    const from = isAbove ? BUS : source.x + source.width;
    const points = isAbove ? [from, source.y + source.height, from, y, target.x, y] : [from, y, target.x, y];
    const ends = { source: source.block.block, target: target.block.block };
    const thickness = rate === null || !most ? null : Math.max(THINNEST, (WIDEST * rate) / most);
    placed.push({ ...ends, flows, points, thickness, x: from + 8, y: level.y + HEAD + LINE / 2 });
  }
  return placed;
}

/** The corners of the arrow head at the end of a wire, x0, y0, x1, y1, …; it is wider than the wire. */
export function arrowHead({ points, thickness }: PlacedWire): number[] {
  const [x, y] = [points.at(-2) ?? 0, points.at(-1) ?? 0];
  const half = Math.max(4, (thickness ?? 1) / 2 + 2);
  return [x, y, x - 7, y - half, x - 7, y + half];
}

/** Of a width the part that a share of the peak (in percent) fills; shares beyond the peak fill all of it. */
export function filledPart(width: number, percent: number): number {
  return width * Math.min(Math.max(percent / 100, 0), 1);
}
