// The spans of all tracks on screen.
import { exact } from "../base/format";
import type { CurveTiles } from "../model/curves";
import { kindOf, type Layer, type LayerSet, type Span, spanOf } from "../model/layers";
import type { Range } from "../model/selection";
import type { Frame } from "./frame";
import { inside, paintLoading, uncovered, uncoveredByBins } from "./loading";
import { type Band, cssOf, type Painter, pixelOf } from "./painter";
import { colourOf, inkOn, nameColour, nameOfKind, paper, seriesColour } from "./palette";
import { KindColours, type Raster, raster, rasterStretches, rasterTrack, SUB_ROWS } from "./raster";
import { isCurve, paintShares } from "./shares";
import { type ColumnBins, columnBins, rasterStalled, rowsFor } from "./stalled";
import type { PlacedStrip } from "./track_layout";

/** How the spans of a timeline look, where that differs from what their layer says. */
export interface SpanStyle {
  /** The colour of a kind ("#rrggbb"); undefined = that of the layer. */
  kindColour?: ((layer: Layer, kind: number) => string | undefined) | undefined;
  /** What stands inside a span that is wide enough; default: the name of its kind. */
  labelOf?: ((span: Span) => string) | undefined;
  /** Also spans that stand for several have a label. */
  labelsGroups?: boolean | undefined;
  /** Neighbours of one colour can be told apart also where they are narrow. */
  hasEdges?: boolean | undefined;
}

/** Wider pictures than this have pixels of two screen pixels. */
const MOST_COLUMNS = 4096;
const MOST_LABELS = 1200;
const LABEL_HEIGHT = 11;
const LABEL_WIDTH = 26;

export function spanColour(layer: Layer, kind: number, style: SpanStyle): string {
  const own = style.kindColour?.(layer, kind);
  if (own) return own;
  const known = kindOf(layer, kind);
  return known?.colour ? colourOf(known.colour) : known ? seriesColour(kind) : colourOf("NONE");
}

/** The colour of an event of a run: of its class of work where it has one, else a muted one of its name; thin: one of all. */
export function runColour(layer: Layer, kind: number, isThin = false): string {
  const known = kindOf(layer, kind);
  return known?.colour ? colourOf(known.colour) : isThin ? colourOf("share") : nameColour(known?.name ?? "");
}

export function kindName(layer: Layer, kind: number): string {
  const known = kindOf(layer, kind);
  return known ? nameOfKind(known.name) : `kind ${kind}`;
}

/** The name of a span; of several, that of what takes most of their time and how many others there are. */
export function spanName(span: Span, name: string): string {
  return span.count > 1 ? `${name} +${exact(span.count - 1)}` : name;
}

const colourTables = new WeakMap<Layer, KindColours>();

function coloursOf(layer: Layer, style: SpanStyle): KindColours {
  const look = (kind: number) => pixelOf(spanColour(layer, kind, style));
  const known = colourTables.get(layer)?.reset(look) ?? new KindColours(look);
  colourTables.set(layer, known);
  return known;
}

export function paintSpans(painter: Painter, frame: Frame, set: LayerSet, style: SpanStyle): void {
  const strips = frame.visibleRows().flatMap((row) => row.strips);
  const { gutter, top, height, ratio } = frame.parts;
  const wide = frame.plotWidth * ratio;
  const columns = Math.max(1, Math.round(wide / Math.ceil(wide / MOST_COLUMNS)));
  const byLayer = new Map<Layer, { pieces: ReturnType<LayerSet["pieces"]>; colours: KindColours; isDeep: boolean }>();
  const of = (layer: Layer) => {
    let known = byLayer.get(layer);
    if (!known) {
      const pieces = set.pieces(layer, frame.window, frame.detail);
      const isDeep = pieces.some((piece) => piece.tile.isDeep);
      known = { pieces, colours: coloursOf(layer, style), isDeep };
      byLayer.set(layer, known);
    }
    return known;
  };
  const rowsOf = (strip: PlacedStrip) => {
    if (strip.stalled) return rowsFor(strip.height * ratio);
    return of(strip.layer).isDeep && strip.height * ratio >= 6 ? SUB_ROWS : 1;
  };
  const binsOf = new Map<CurveTiles, ColumnBins>();
  const binsIn = (tiles: CurveTiles) => {
    const bins = binsOf.get(tiles) ?? columnBins(tiles.inWindow(frame.window, columns), frame.window, columns);
    binsOf.set(tiles, bins);
    return bins;
  };
  const over = { columns, pixels: new Uint32Array(columns) };
  const isArea = (strip: PlacedStrip) => isCurve(strip, frame.timePerPixel);
  let total = 0;
  const places = strips
    .filter((strip) => !isArea(strip))
    .map((strip) => {
      const row = total;
      const rows = rowsOf(strip);
      total += rows;
      return { strip, row, rows };
    });
  const picture = raster(columns, total);
  const life = pixelOf(colourOf("EMPTY"));
  const bands: Band[] = [];
  for (const { strip, row, rows } of places) {
    const { behind, stalled } = strip;
    const { layer, track } = strip.instead ?? strip;
    const { pieces, colours, isDeep } = of(layer);
    // Rows that are all alike are made of the first one.
    const drawn = stalled && !isDeep ? 1 : rows;
    if (behind) rasterStretches(picture, row, drawn, behind.begins, behind.ends, frame.window, life);
    rasterTrack(picture, row, drawn, pieces, track, frame.window, colours, style.hasEdges);
    if (stalled?.by) {
      const reasons = of(stalled.by);
      over.pixels.fill(0);
      rasterTrack(over, 0, 1, reasons.pieces, track, frame.window, reasons.colours);
    }
    if (stalled) {
      const reasons = stalled.by ? over.pixels : null;
      rasterStalled(picture, row, rows, binsIn(stalled.tiles), stalled.series, reasons, isDeep);
    }
    bands.push({ row, rows, y: frame.toScreen(strip.y), height: strip.height });
  }
  painter.clipped(gutter, top, frame.plotWidth, Math.max(0, height - top), () => {
    painter.bands(gutter, frame.plotWidth, columns, picture.pixels, bands);
    paintShares(painter, frame, strips.filter(isArea));
    const gaps = new Map<Layer, Range[]>();
    for (const strip of strips) {
      if (strip.fixed !== undefined) continue; // beside what tells the same
      const { layer } = strip.instead ?? strip;
      const { shares } = strip;
      const known =
        gaps.get(layer) ?? (layer.level_count ? uncovered(of(layer).pieces, inside(frame.window, layer)) : []);
      gaps.set(layer, known);
      const missing =
        shares && isArea(strip)
          ? uncoveredByBins(shares.tiles.inWindow(frame.window, columns), inside(frame.window, shares.tiles.set))
          : known;
      paintLoading(painter, missing, (time) => frame.timeToX(time), frame.toScreen(strip.y) + strip.height / 2);
    }
    paintLabels(painter, frame, style, places, set, of, picture);
  });
}

interface Place {
  strip: PlacedStrip;
  /** The first of its rows of pixels, and how many there are. */
  row: number;
  rows: number;
}

function paintLabels(
  painter: Painter,
  frame: Frame,
  style: SpanStyle,
  places: Place[],
  set: LayerSet,
  of: (layer: Layer) => { pieces: ReturnType<LayerSet["pieces"]> },
  picture: Raster,
): void {
  const { window, timePerPixel } = frame;
  const wide = LABEL_WIDTH * timePerPixel;
  let labels = 0;
  const perColumn = (window.end - window.begin) / picture.columns;
  const toColumn = (time: number) => Math.round((time - window.begin) / perColumn);
  for (const { strip, row, rows } of places) {
    if (strip.height < LABEL_HEIGHT) continue;
    const offset = (row + (rows >> 1)) * picture.columns;
    const pixels = picture.pixels.subarray(offset, offset + picture.columns);
    const middle = frame.toScreen(strip.y) + strip.height / 2;
    const { layer, track } = strip;
    let last = { end: Number.NaN, kind: -1 };
    for (const [number, { tile, level, begin, end }] of of(layer).pieces.entries()) {
      const first = tile.from(track, begin);
      for (let i = tile.reaching(track, Math.max(begin, window.begin)); i < tile.last(track); i++) {
        if ((tile.begin[i] as number) >= Math.min(end, window.end)) break;
        const isCut = (tile.begin[i] as number) < begin && number > 0; // its label began in the tile before
        const isRest = tile.kind[i] === last.kind && (tile.begin[i] as number) < last.end;
        if (isCut || isRest || (tile.depth[i] as number) > 0) continue;
        if ((tile.count[i] as number) > 1 && !style.labelsGroups) continue;
        const isEdge = style.labelsGroups && (i === first || i === tile.last(track) - 1);
        if (!isEdge && (tile.end[i] as number) - (tile.begin[i] as number) < wide) continue;
        const span = isEdge ? set.joined(spanOf(layer, track, tile, i, level)) : spanOf(layer, track, tile, i, level);
        const from = Math.max(span.begin, window.begin);
        const to = Math.min(span.end, window.end);
        if (to - from < wide) continue;
        if (isEdge && span.count > 1) last = { end: span.end, kind: span.kind };
        const text = style.labelOf ? style.labelOf(span) : kindName(span.layer, span.kind);
        if (!text) continue;
        if (++labels > MOST_LABELS) return;
        // Where it has several colours, the text stands on the widest of them.
        const run = longestRun(pixels, toColumn(from), toColumn(to));
        const x = frame.timeToX(window.begin + run.first * perColumn) + 3;
        const maxWidth = ((run.last - run.first) * perColumn) / timePerPixel - 6;
        painter.text(x, middle, text, inkOn(cssOf(run.colour)), { size: Math.min(11, strip.height - 2), maxWidth });
      }
    }
  }
}

/** The longest run of one colour among the pixels from `from` to before `to`. */
export function longestRun(
  pixels: Uint32Array,
  from: number,
  to: number,
): { first: number; last: number; colour: number } {
  let best = { first: Math.max(0, from), last: Math.max(0, from), colour: 0 };
  for (let x = best.first; x < Math.min(to, pixels.length); ) {
    const colour = pixels[x] as number;
    const first = x;
    while (x < to && pixels[x] === colour) x++;
    if (x - first > best.last - best.first) best = { first, last: x, colour };
  }
  return best;
}

/** Lines at the ticks of the axis, behind everything. */
export function paintGrid(painter: Painter, frame: Frame): void {
  const { top, height, ticks } = frame.parts;
  for (const time of ticks.times) {
    const x = Math.round(frame.timeToX(time)) + 0.5;
    painter.polyline([x, top, x, height], paper("line"), 1);
  }
}
