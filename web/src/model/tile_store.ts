// Tiles that are loaded, and those on their way. Drawings say again and again what they need now; a few of the missing tiles
// are requested at a time, each arrival makes the drawings draw again, and the loaded ones are bounded in bytes.
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

/** After so many failures in a row a tile is asked for again only when something else makes its drawing draw. */
const MOST_TRIES = 6;
const LIMITS: Limits = { bytes: 64 << 20, inFlight: 4, retryMs: 5000 };

interface Request {
  tile: Promise<Tile>;
  stop: AbortController;
  /** Whether somebody waits for it by `fetch`: then it goes on when no drawing wants it. */
  isFetched: boolean;
}

interface Failure {
  /** Not asked for again before then (`Date.now`). */
  until: number;
  tries: number;
  error: AnswerError;
}

export class TileStore {
  /** Changes whenever a tile has arrived: drawings that read it are drawn again. */
  readonly turn: Signal<number> = signal(0);
  /** Why something that is wanted now could not be had; null = all of it could, or is on its way. */
  readonly problem: Signal<AnswerError | null> = signal(null);
  /** By `keyOf`, like all maps here; the least recently used first. */
  private readonly tiles = new Map<string, Tile>();
  private readonly flying = new Map<string, Request>();
  private readonly failures = new Map<string, Failure>();
  /** What each drawing needs and does not have, most important first. */
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
    const missing = wanted.filter((tile) => !this.tiles.has(keyOf(tile)));
    if (missing.length) this.wants.set(owner, missing);
    else this.wants.delete(owner);
    this.updateProblem();
    this.requestNext();
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

  /** Request as much as may be on its way: of every drawing its first wish, then of every one its second, and so on. */
  private requestNext(): void {
    const longest = Math.max(0, ...[...this.wants.values()].map((list) => list.length));
    for (let rank = 0; rank < longest; rank++) {
      for (const list of this.wants.values()) {
        if (this.flying.size >= this.limits.inFlight) return;
        const wanted = list[rank];
        if (wanted && this.mayRequest(keyOf(wanted))) this.start(wanted).catch(() => {}); // `problem` says what failed
      }
    }
  }

  private mayRequest(key: string): boolean {
    const failure = this.failures.get(key);
    return !this.tiles.has(key) && !this.flying.has(key) && !(failure && Date.now() < failure.until);
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

  private updateProblem(): void {
    const wanted = [...this.wants.values()].flat();
    const failed = wanted.find((tile) => !this.tiles.has(keyOf(tile)) && this.failures.has(keyOf(tile)));
    this.problem.value = (failed && this.failures.get(keyOf(failed))?.error) ?? null;
  }

  private landed(key: string): void {
    this.flying.delete(key);
    this.turn.value++;
    this.updateProblem();
    this.requestNext();
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
