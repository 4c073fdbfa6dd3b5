// Busy shares of GPUs as tiles, which hold the bins of some GPUs in a part of the time on one level of detail: asked for
// when they are on screen.
import { signal } from "@preact/signals";
import { askTable } from "../../data/ask";
import type { Columns } from "../../data/columns";
import { current } from "../../model/document";
import { cellWidth, cover, type Levels, levelFor, needed, type TileAddress } from "../../model/levels";
import type { Range } from "../../model/selection";

/** The GPUs that have strips, in the order of their numbers here; `gpus_per_tile` of them are asked for at a time. */
export interface StripsAnswer extends Levels {
  gpus: { node: string; gpu: number | null; busy_share: number }[];
  gpus_per_tile: number;
}

/** A bin with work, as it is drawn: pixels from the left of the window, and the share of its time with work. */
export interface BusyBin {
  x: number;
  width: number;
  share: number;
}

/** Bins with work of one GPU in one tile, and the share of each: position by position. */
interface StripTile {
  bins: number[];
  shares: number[];
}

/** The GPUs whose strips are asked for together; "mean" has one strip, of all GPUs, whose number is 0. */
type Chunk = number | "mean";

/** A window of time, and the pixels that it is drawn on. */
export interface DrawnWindow {
  window: Range;
  pixels: number;
}

/** Tiles that are remembered. */
const MOST_TILES = 300;
/** Milliseconds until a tile that could not be loaded is asked for again. */
const RETRY_MS = 5_000;

export class BusyTiles {
  /** Grows when a tile has arrived: who draws is drawn again. */
  private readonly turn = signal(0);
  private readonly tiles = new Map<string, ReadonlyMap<number, StripTile>>();
  private readonly asked = new Set<string>();

  constructor(private readonly answer: StripsAnswer) {}

  /** Bins with work of a GPU, as far as they have arrived; tiles that lack are asked for. */
  gpu(number: number, drawn: DrawnWindow): BusyBin[] {
    return this.inWindow(Math.floor(number / this.answer.gpus_per_tile), number, drawn);
  }

  mean(drawn: DrawnWindow): BusyBin[] {
    return this.inWindow("mean", 0, drawn);
  }

  private inWindow(chunk: Chunk, number: number, { window, pixels }: DrawnWindow): BusyBin[] {
    void this.turn.value;
    const { answer } = this;
    const level = levelFor(answer, (window.end - window.begin) / Math.max(pixels, 1));
    this.want(chunk, { level: answer.level_count - 1, tile: 0 }); // of the whole time: it stands in for others
    for (const address of needed(answer, level, window)) this.want(chunk, address);
    const scale = pixels / (window.end - window.begin);
    const xOf = (time: number) => Math.round((time - window.begin) * scale);
    const drawn: BusyBin[] = [];
    for (const piece of cover(answer, level, window, (address) => this.tiles.get(keyOf(chunk, address)))) {
      const strip = piece.tile.get(number);
      if (!strip) continue;
      const width = cellWidth(answer, piece.level);
      strip.bins.forEach((bin, n) => {
        // A coarser tile may reach beyond the piece that it stands in for.
        const begin = Math.max(answer.begin + bin * width, piece.begin);
        const end = Math.min(answer.begin + (bin + 1) * width, piece.end);
        if (end <= begin) return;
        const x = xOf(begin);
        drawn.push({ x, width: Math.max(xOf(end) - x, 1), share: strip.shares[n] as number });
      });
    }
    return drawn;
  }

  /** Forgets the oldest tiles, but not those of the whole time, which stand in for others. */
  private evict(): void {
    const ofWholeTime = `/${this.answer.level_count - 1}/0`;
    for (const key of this.tiles.keys()) {
      if (this.tiles.size <= MOST_TILES) return;
      if (key.endsWith(ofWholeTime)) continue;
      this.tiles.delete(key);
      this.asked.delete(key);
    }
  }

  private want(chunk: Chunk, address: TileAddress): void {
    const key = keyOf(chunk, address);
    if (this.asked.has(key)) return;
    this.asked.add(key);
    const { level, tile } = address;
    const table =
      chunk === "mean"
        ? askTable(current.peek(), "run_busy_mean", { level, tile })
        : askTable(current.peek(), "run_busy_strips", { level, tile, chunk });
    table.then(
      (columns) => {
        this.tiles.set(key, byGpu(columns));
        this.evict();
        this.turn.value += 1;
      },
      () => setTimeout(() => this.asked.delete(key), RETRY_MS), // coarser tiles stand in for it
    );
  }
}

const keyOf = (chunk: Chunk, { level, tile }: TileAddress) => `${chunk}/${level}/${tile}`;

/** The strips of a tile by the number of their GPU. */
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
