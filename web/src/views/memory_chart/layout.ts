// Where blocks and wires stand: the CUs above, then from left to right what is nearer to memory.
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

export const LINE = 17;
export const HEAD = 24;
const PAD = 9;
const BLOCK = 150;
const GAP = 92;
const MARGIN = 112;
const BETWEEN = 16;
/** Where the wires from the CUs go down. */
const BUS = 10;
/** Values of a block of the CUs are in this many columns. */
const COLUMNS_ABOVE = 2;

export function layoutOf(answer: MemoryChartAnswer): ChartLayout {
  const stages = [...new Set(answer.blocks.rows.map((block) => block.stage))]
    .filter((stage) => stage > 0)
    .sort((a, b) => a - b);
  const width = MARGIN + stages.length * BLOCK + Math.max(0, stages.length - 1) * GAP;
  const valuesOf = (block: MemoryChartBlocksRow) => answer.values.rows.filter((value) => value.block === block.block);
  const above = answer.blocks.rows.filter((block) => block.stage === 0);
  const blocks = placedAbove(above, valuesOf, Math.max(width, 560));
  const top = Math.max(0, ...blocks.map((block) => block.y + block.height)) + (blocks.length ? 2 * BETWEEN : 0);
  const flowsInto = flowCounts(answer.wires.rows);
  let bottom = top;
  stages.forEach((stage, column) => {
    let y = top;
    for (const block of answer.blocks.rows.filter((each) => each.stage === stage)) {
      const values = valuesOf(block);
      const x = MARGIN + column * (BLOCK + GAP);
      const lines = Math.max(values.length, flowsInto.get(block.block) ?? 0);
      const height = HEAD + lines * LINE + PAD;
      const placed = values.map((value, n) => line(value, x, y + HEAD + (n + 0.5) * LINE, BLOCK));
      blocks.push({ block, x, y, width: BLOCK, height, values: placed });
      y += height + BETWEEN;
    }
    bottom = Math.max(bottom, y - BETWEEN);
  });
  stretch(blocks, stages, top, bottom);
  const rates = new Map(wiresByEnds(answer.wires.rows).map((flows) => [flows, rateOf(flows, answer)]));
  const most = Math.max(0, ...[...rates.values()].map((rate) => rate ?? 0));
  return { most, width: Math.max(width, 560), height: bottom, blocks, wires: wiresOf(rates, most, blocks) };
}

function line(value: MemoryChartValuesRow, x: number, y: number, width: number): PlacedValue {
  return { value, x: x + PAD, y, width: width - 2 * PAD };
}

/** Blocks of the CUs, side by side over the whole width. */
function placedAbove(
  blocks: MemoryChartBlocksRow[],
  valuesOf: (block: MemoryChartBlocksRow) => MemoryChartValuesRow[],
  width: number,
): PlacedBlock[] {
  const wide = (width - BETWEEN * Math.max(0, blocks.length - 1)) / Math.max(1, blocks.length);
  const rows = Math.max(0, ...blocks.map((block) => Math.ceil(valuesOf(block).length / COLUMNS_ABOVE)));
  return blocks.map((block, n) => {
    const x = n * (wide + BETWEEN);
    const values = valuesOf(block).map((value, i) => {
      const part = wide / COLUMNS_ABOVE;
      return line(value, x + (i % COLUMNS_ABOVE) * part, HEAD + (Math.floor(i / COLUMNS_ABOVE) + 0.5) * LINE, part);
    });
    return { block, x, y: 0, width: wide, height: HEAD + rows * LINE + PAD, values };
  });
}

/** A block that stands alone in its stage is as tall as the others together: all wires reach it straight. */
function stretch(blocks: PlacedBlock[], stages: number[], top: number, bottom: number): void {
  for (const stage of stages) {
    const ofStage = blocks.filter((block) => block.block.stage === stage);
    if (ofStage.length === 1 && ofStage[0]) ofStage[0].height = bottom - top;
  }
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

/** Bytes of a wire, for its width: of all its flows, else the traffic of the block that nothing else leads to. */
function rateOf(flows: MemoryChartWiresRow[], { wires, values }: MemoryChartAnswer): number | null {
  const all = flows.find((flow) => flow.kind === "traffic");
  if (all) return all.rate;
  if (flows.some((flow) => flow.rate !== null)) return flows.reduce((sum, flow) => sum + (flow.rate ?? 0), 0);
  const [first] = flows;
  if (!first || wires.rows.some((wire) => wire.target === first.target && wire.source !== first.source)) return null;
  return values.rows.find((value) => value.block === first.target && value.is_rate)?.value ?? null;
}

const [WIDEST, THINNEST] = [14, 1.5];

function wiresOf(rates: Map<MemoryChartWiresRow[], number | null>, most: number, blocks: PlacedBlock[]): PlacedWire[] {
  const placed: PlacedWire[] = [];
  for (const [flows, rate] of rates) {
    const [source, target] = (["source", "target"] as const).map((end) =>
      blocks.find((block) => block.block.block === flows[0]?.[end]),
    );
    if (!source || !target) continue;
    const isAbove = source.block.stage === 0;
    // at the head of the smaller block, its numbers below it: the larger one has other wires, too
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
