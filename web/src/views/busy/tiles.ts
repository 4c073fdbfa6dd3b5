// Busy shares of GPUs as tiles: asked for when they are on screen, for some GPUs at a time.
import { signal } from "@preact/signals";
import { askTable } from "../../data/ask";
import type { Columns } from "../../data/columns";
import { current } from "../../model/document";
import { cellWidth, cover, type Levels, levelFor, needed, type TileAddress } from "../../model/levels";
import type { Range } from "../../model/selection";

export interface StripsAnswer extends Levels {
  gpus: { node: string; gpu: number | null; busy_share: number }[];
  gpus_per_tile: number;
}

/** Bins and shares of one GPU in one tile. */
interface StripTile {
  bins: number[];
  shares: number[];
}

const MEAN = -1;
const MOST_TILES = 300;

export class BusyTiles {
  private readonly turn = signal(0);
  private readonly tiles = new Map<string, ReadonlyMap<number, StripTile>>();
  private readonly asked = new Set<string>();

  constructor(private readonly answer: StripsAnswer) {}

  /** Bins with work of a GPU as x, width, share, 0 in pixels. */
  gpu(number: number, window: Range, pixels: number): number[] {
    return this.inWindow(Math.floor(number / this.answer.gpus_per_tile), number, window, pixels);
  }

  mean(window: Range, pixels: number): number[] {
    return this.inWindow(MEAN, 0, window, pixels);
  }

  private inWindow(chunk: number, number: number, window: Range, pixels: number): number[] {
    void this.turn.value;
    const { answer } = this;
    const level = levelFor(answer, (window.end - window.begin) / Math.max(pixels, 1));
    this.want(chunk, { level: answer.level_count - 1, tile: 0 });
    for (const address of needed(answer, level, window)) this.want(chunk, address);
    const scale = pixels / (window.end - window.begin);
    const rects: number[] = [];
    const pieces = cover(answer, level, window, (address) => this.tiles.get(keyOf(chunk, address)));
    for (const { tile, level: drawn, begin: from, end: to } of pieces) {
      const strip = tile.get(number);
      if (!strip) continue;
      const width = cellWidth(answer, drawn);
      strip.bins.forEach((bin, n) => {
        const [begin, end] = [
          Math.max(answer.begin + bin * width, from),
          Math.min(answer.begin + (bin + 1) * width, to),
        ];
        if (end <= begin) return;
        const x = Math.round((begin - window.begin) * scale);
        rects.push(x, Math.max(Math.round((end - window.begin) * scale) - x, 1), strip.shares[n] as number, 0);
      });
    }
    return rects;
  }

  /** Forgets the oldest tiles, but not those of the whole time, which stand in for others. */
  private evict(): void {
    const whole = `/${this.answer.level_count - 1}/0`;
    for (const key of this.tiles.keys()) {
      if (this.tiles.size <= MOST_TILES) return;
      if (key.endsWith(whole)) continue;
      this.tiles.delete(key);
      this.asked.delete(key);
    }
  }

  private want(chunk: number, address: TileAddress): void {
    const key = keyOf(chunk, address);
    if (this.asked.has(key)) return;
    this.asked.add(key);
    const { level, tile } = address;
    const table =
      chunk === MEAN
        ? askTable(current.peek(), "run_busy_mean", { level, tile })
        : askTable(current.peek(), "run_busy_strips", { level, tile, chunk });
    table.then(
      (columns) => {
        this.tiles.set(key, byGpu(columns));
        this.evict();
        this.turn.value += 1;
      },
      () => setTimeout(() => this.asked.delete(key), 5_000), // coarser tiles stand in for it
    );
  }
}

const keyOf = (chunk: number, { level, tile }: TileAddress) => `${chunk}/${level}/${tile}`;

function byGpu(table: Columns): ReadonlyMap<number, StripTile> {
  const strips = new Map<number, StripTile>();
  const [numbers, bins, shares] = [table.numbers("number"), table.numbers("bin"), table.numbers("share")];
  for (let n = 0; n < table.length; n++) {
    const number = numbers[n] as number;
    const strip = strips.get(number) ?? { bins: [], shares: [] };
    strip.bins.push(bins[n] as number);
    strip.shares.push(shares[n] as number);
    strips.set(number, strip);
  }
  return strips;
}
