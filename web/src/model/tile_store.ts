// Tiles at hand and on their way. Bounded in bytes; few requests at a time; what nobody wants any more is not asked for.
import { type Signal, signal } from "@preact/signals";
import { AnswerError } from "../data/source";
import type { Tile } from "./tile";

export interface Wanted {
  layer: string;
  level: number;
  tile: number;
}

export const keyOf = (wanted: Wanted) => `${wanted.layer}/${wanted.level}/${wanted.tile}`;

interface Limits {
  bytes: number;
  inFlight: number;
  /** A tile that could not be had is asked for again after this time, then after twice as long, and so on. */
  retryMs: number;
}

const MOST_TRIES = 6;
const LIMITS: Limits = { bytes: 64 << 20, inFlight: 4, retryMs: 5000 };

export class TileStore {
  /** Changes whenever a tile has arrived: drawings that read it are drawn again. */
  readonly turn: Signal<number> = signal(0);
  /** Why something that is wanted now could not be had; null = all of it could, or is on its way. */
  readonly problem: Signal<AnswerError | null> = signal(null);
  private readonly tiles = new Map<string, Tile>();
  private readonly flying = new Map<string, { tile: Promise<Tile>; stop: AbortController; isFetched: boolean }>();
  private readonly failures = new Map<string, { until: number; tries: number; error: AnswerError }>();
  private readonly wants = new Map<object, Wanted[]>();
  private readonly limits: Limits;
  private bytes = 0;

  constructor(
    private readonly get: (wanted: Wanted, stop: AbortSignal) => Promise<Tile>,
    limits: Partial<Limits> = {},
  ) {
    this.limits = { ...LIMITS, ...limits };
  }

  /** A tile if it is at hand; it then counts as used. */
  at(wanted: Wanted): Tile | undefined {
    const key = keyOf(wanted);
    const tile = this.tiles.get(key);
    if (tile) {
      this.tiles.delete(key);
      this.tiles.set(key, tile);
    }
    return tile;
  }

  /** Say what a drawing needs now, most important first; what it wanted before and did not get is forgotten. */
  want(owner: object, wanted: Wanted[]): void {
    const missing = wanted.filter((w) => !this.tiles.has(keyOf(w)));
    if (missing.length) this.wants.set(owner, missing);
    else this.wants.delete(owner);
    this.tell();
    this.next();
  }

  /** A drawing is gone: what nobody else wants is asked no longer. */
  release(owner: object): void {
    this.wants.delete(owner);
    const wanted = new Set([...this.wants.values()].flat().map(keyOf));
    for (const [key, { stop, isFetched }] of this.flying) if (!isFetched && !wanted.has(key)) stop.abort();
  }

  /** One tile, asked for at once. */
  fetch(wanted: Wanted): Promise<Tile> {
    const tile = this.at(wanted);
    if (tile) return Promise.resolve(tile);
    const asked = this.start(wanted);
    const flying = this.flying.get(keyOf(wanted));
    if (flying) flying.isFetched = true;
    return asked;
  }

  get heldBytes(): number {
    return this.bytes;
  }

  private next(): void {
    for (let round = 0; this.flying.size < this.limits.inFlight; round++) {
      let isLeft = false;
      for (const list of this.wants.values()) {
        const wanted = list[round];
        if (!wanted) continue;
        isLeft = true;
        if (this.flying.size >= this.limits.inFlight || !this.isOpen(keyOf(wanted))) continue;
        this.start(wanted).catch(() => {});
      }
      if (!isLeft) return;
    }
  }

  private isOpen(key: string): boolean {
    const failed = this.failures.get(key);
    return !this.tiles.has(key) && !this.flying.has(key) && !(failed && Date.now() < failed.until);
  }

  private start(wanted: Wanted): Promise<Tile> {
    const key = keyOf(wanted);
    const flying = this.flying.get(key);
    if (flying) return flying.tile;
    const stop = new AbortController();
    const asked = this.get(wanted, stop.signal);
    this.flying.set(key, { tile: asked, stop, isFetched: false });
    asked.then(
      (tile) => {
        this.keep(key, tile);
        this.failures.delete(key);
        this.landed(key);
      },
      (error: unknown) => {
        if (stop.signal.aborted) return this.landed(key);
        const failure = error instanceof AnswerError ? error : new AnswerError(String(error));
        const tries = (this.failures.get(key)?.tries ?? 0) + 1;
        const wait = this.limits.retryMs * 2 ** (tries - 1);
        this.failures.set(key, { until: Date.now() + wait, tries, error: failure });
        // Who still needs it draws again then, and asks for it; a server that was started again is found so.
        if (tries <= MOST_TRIES) setTimeout(() => this.turn.value++, wait + 1);
        this.landed(key);
      },
    );
    return asked;
  }

  private tell(): void {
    const wanted = [...this.wants.values()].flat();
    const failed = wanted.find((w) => !this.tiles.has(keyOf(w)) && this.failures.has(keyOf(w)));
    this.problem.value = (failed && this.failures.get(keyOf(failed))?.error) ?? null;
  }

  private landed(key: string): void {
    this.flying.delete(key);
    this.turn.value++;
    this.tell();
    this.next();
  }

  private keep(key: string, tile: Tile): void {
    this.tiles.set(key, tile);
    this.bytes += tile.bytes;
    for (const [oldest, dropped] of this.tiles) {
      if (this.bytes <= this.limits.bytes || oldest === key) break;
      this.tiles.delete(oldest);
      this.bytes -= dropped.bytes;
    }
  }
}
