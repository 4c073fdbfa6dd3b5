// The spans of all tracks on screen: what the strips of a frame show becomes pixels (raster.ts, stalled.ts), areas
// (shares.ts) and labels. Which spans there are at this level of detail is told by model/layers.ts.
import { exact } from "../base/format";
import type { CurveTiles } from "../model/curves";
import { kindOf, type Layer, type LayerSet, type Span, spanOf } from "../model/layers";
import type { Piece } from "../model/levels";
import type { Range } from "../model/selection";
import type { Tile } from "../model/tile";
import type { Frame } from "./frame";
import { inside, paintLoading, uncovered, uncoveredByBins } from "./loading";
import { type Band, cssOf, type Painter, pixelOf } from "./painter";
import { colourOf, inkOn, nameColour, nameOfKind, paper, seriesColour } from "./palette";
import { KindColours, type Raster, raster, rasterIntervals, rasterTrack, SUB_ROWS } from "./raster";
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

/** Wider pictures than this have pixels of two screen pixels or more. */
const MOST_COLUMNS = 4096;
/** Labels of one picture; the others are left out. */
const MOST_LABELS = 1200;
/** Lower strips, and narrower spans, have no label, in CSS pixels. */
const LABEL_HEIGHT = 11;
const LABEL_WIDTH = 26;
/** Spans below each other are drawn as such from this height on, in pixels of the screen. */
const LEAST_DEEP_HEIGHT = 6;

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

interface LayerSpans {
  pieces: Piece<Tile>[];
  colours: KindColours;
  /** Whether spans of a track lie below each other. */
  isDeep: boolean;
}

/** What one picture draws of each layer and of each set of curves: looked up once, for all tracks. */
class SpansOnScreen {
  /** Columns of pixels: those of the screen, or a whole fraction of them where that is more than MOST_COLUMNS. */
  readonly columns: number;
  /** One row of pixels for the reasons of a track: every track that has them draws over those of the one before. */
  readonly reasonLine: Raster;
  private readonly layers = new Map<Layer, LayerSpans>();
  private readonly bins = new Map<CurveTiles, ColumnBins>();
  private readonly missing = new Map<Layer, Range[]>();

  constructor(
    readonly frame: Frame,
    readonly set: LayerSet,
    readonly style: SpanStyle,
  ) {
    const pixels = frame.plotWidth * frame.parts.ratio;
    this.columns = Math.max(1, Math.round(pixels / Math.ceil(pixels / MOST_COLUMNS)));
    this.reasonLine = { columns: this.columns, pixels: new Uint32Array(this.columns) };
  }

  of(layer: Layer): LayerSpans {
    let spans = this.layers.get(layer);
    if (!spans) {
      const pieces = this.set.pieces(layer, this.frame.window, this.frame.detail);
      const isDeep = pieces.some((piece) => piece.tile.isDeep);
      spans = { pieces, colours: coloursOf(layer, this.style), isDeep };
      this.layers.set(layer, spans);
    }
    return spans;
  }

  binsOf(tiles: CurveTiles): ColumnBins {
    const { window } = this.frame;
    const bins = this.bins.get(tiles) ?? columnBins(tiles.inWindow(window, this.columns), window, this.columns);
    this.bins.set(tiles, bins);
    return bins;
  }

  /** The parts of the window of which nothing of a layer is loaded; layers without levels have nothing to load. */
  missingOf(layer: Layer): Range[] {
    let missing = this.missing.get(layer);
    if (!missing) {
      missing = layer.level_count ? uncovered(this.of(layer).pieces, inside(this.frame.window, layer)) : [];
      this.missing.set(layer, missing);
    }
    return missing;
  }

  /** How many rows of pixels a strip needs: one per pixel of its height for the shares of what is stalled. */
  rowsOf(strip: PlacedStrip): number {
    const height = strip.height * this.frame.parts.ratio;
    if (strip.stalled) return rowsFor(height);
    return this.of(strip.layer).isDeep && height >= LEAST_DEEP_HEIGHT ? SUB_ROWS : 1;
  }
}

/** A strip and its rows of pixels in the picture. */
interface RasteredStrip {
  strip: PlacedStrip;
  firstRow: number;
  rowCount: number;
}

/**
 * Draws the strips on screen: as pixels first, which are put below each other into one picture and stretched to their
 * places at once; then the curves that stand for spans, dashes where something is still loading, and the labels.
 */
export function paintSpans(painter: Painter, frame: Frame, set: LayerSet, style: SpanStyle): void {
  const { gutter, top, height } = frame.parts;
  const onScreen = new SpansOnScreen(frame, set, style);
  const strips = frame.visibleRows().flatMap((row) => row.strips);
  const isArea = (strip: PlacedStrip) => isCurve(strip, frame.timePerPixel);
  let rowTotal = 0;
  const rastered: RasteredStrip[] = [];
  for (const strip of strips) {
    if (isArea(strip)) continue;
    const rowCount = onScreen.rowsOf(strip);
    rastered.push({ strip, firstRow: rowTotal, rowCount });
    rowTotal += rowCount;
  }
  const picture = raster(onScreen.columns, rowTotal);
  for (const place of rastered) rasterStrip(picture, place, onScreen);
  const bands = rastered.map(
    ({ strip, firstRow, rowCount }): Band => ({
      row: firstRow,
      rows: rowCount,
      y: frame.toScreen(strip.y),
      height: strip.height,
    }),
  );
  painter.clipped(gutter, top, frame.plotWidth, Math.max(0, height - top), () => {
    painter.bands(gutter, frame.plotWidth, onScreen.columns, picture.pixels, bands);
    paintShares(painter, frame, strips.filter(isArea));
    for (const strip of strips) paintMissing(painter, strip, onScreen);
    paintLabels(painter, rastered, picture, onScreen);
  });
}

/** One strip as pixels: what lies behind its spans, the spans, and over them their stalled part. */
function rasterStrip(picture: Raster, { strip, firstRow, rowCount }: RasteredStrip, onScreen: SpansOnScreen): void {
  const { behind, stalled } = strip;
  const { layer, track } = strip.instead ?? strip;
  const { window } = onScreen.frame;
  const { pieces, colours, isDeep } = onScreen.of(layer);
  // rows that are all alike are copies of the first one: `rasterStalled` makes them
  const rows = { raster: picture, firstRow, rowCount: stalled && !isDeep ? 1 : rowCount, window };
  if (behind) rasterIntervals(rows, behind, pixelOf(colourOf("EMPTY")));
  rasterTrack(rows, { pieces, track, colours, hasEdges: onScreen.style.hasEdges });
  if (!stalled) return;
  const reasons = stalled.by ? reasonPixels(stalled.by, track, onScreen) : null;
  const part = { bins: onScreen.binsOf(stalled.tiles), series: stalled.series, reasons, isDeep };
  rasterStalled({ raster: picture, firstRow, rowCount }, part);
}

/** The reasons why a track stalls, one pixel per column. */
function reasonPixels(by: Layer, track: number, onScreen: SpansOnScreen): Uint32Array {
  const { reasonLine, frame } = onScreen;
  const { pieces, colours } = onScreen.of(by);
  reasonLine.pixels.fill(0);
  rasterTrack({ raster: reasonLine, firstRow: 0, rowCount: 1, window: frame.window }, { pieces, track, colours });
  return reasonLine.pixels;
}

/** Dashes where spans or curves of a strip are not loaded. */
function paintMissing(painter: Painter, strip: PlacedStrip, onScreen: SpansOnScreen): void {
  if (strip.fixed !== undefined) return; // the strip beside it waits for the same time
  const { frame, columns } = onScreen;
  const { shares } = strip;
  const missing =
    shares && isCurve(strip, frame.timePerPixel)
      ? uncoveredByBins(shares.tiles.inWindow(frame.window, columns), inside(frame.window, shares.tiles.set))
      : onScreen.missingOf((strip.instead ?? strip).layer);
  paintLoading(painter, missing, (time) => frame.timeToX(time), frame.toScreen(strip.y) + strip.height / 2);
}

/** Names inside the spans that are wide enough. */
function paintLabels(painter: Painter, rastered: RasteredStrip[], picture: Raster, onScreen: SpansOnScreen): void {
  const { frame, style } = onScreen;
  const { window, timePerPixel } = frame;
  const timePerColumn = (window.end - window.begin) / picture.columns;
  const toColumn = (time: number) => Math.round((time - window.begin) / timePerColumn);
  let count = 0;
  for (const { strip, firstRow, rowCount } of rastered) {
    if (strip.height < LABEL_HEIGHT) continue;
    const offset = (firstRow + (rowCount >> 1)) * picture.columns;
    const middleRow = picture.pixels.subarray(offset, offset + picture.columns);
    const y = frame.toScreen(strip.y) + strip.height / 2;
    for (const span of labelledSpans(strip, onScreen)) {
      const text = style.labelOf ? style.labelOf(span) : kindName(span.layer, span.kind);
      if (!text) continue;
      if (++count > MOST_LABELS) return;
      // of a span with several colours, the text stands on the widest of them
      const from = toColumn(Math.max(span.begin, window.begin));
      const run = longestRun(middleRow, from, toColumn(Math.min(span.end, window.end)));
      const x = frame.timeToX(window.begin + run.first * timePerColumn) + 3;
      const maxWidth = ((run.last - run.first) * timePerColumn) / timePerPixel - 6;
      painter.text(x, y, text, inkOn(cssOf(run.colour)), { size: Math.min(11, strip.height - 2), maxWidth });
    }
  }
}

/**
 * The spans of a strip that have room for a label. A group that tiles cut is joined again from what is at hand, and has
 * one label, at its first part.
 */
function* labelledSpans({ layer, track }: PlacedStrip, onScreen: SpansOnScreen): Generator<Span> {
  const { frame, set, style } = onScreen;
  const { window } = frame;
  const least = LABEL_WIDTH * frame.timePerPixel;
  let joined = { end: Number.NaN, kind: -1 };
  for (const [number, { tile, level, begin, end }] of onScreen.of(layer).pieces.entries()) {
    const first = tile.from(track, begin);
    for (let i = tile.reaching(track, Math.max(begin, window.begin)); i < tile.last(track); i++) {
      const start = tile.begin[i] as number;
      if (start >= Math.min(end, window.end)) break;
      const hasLabelBefore = start < begin && number > 0; // in the piece before
      const isPartOfJoined = tile.kind[i] === joined.kind && start < joined.end;
      if (hasLabelBefore || isPartOfJoined || (tile.depth[i] as number) > 0) continue;
      if ((tile.count[i] as number) > 1 && !style.labelsGroups) continue;
      const mayBeCut = style.labelsGroups && (i === first || i === tile.last(track) - 1);
      if (!mayBeCut && (tile.end[i] as number) - start < least) continue;
      const part = spanOf(layer, track, tile, i, level);
      const span = mayBeCut ? set.joinedGroup(part) : part;
      if (Math.min(span.end, window.end) - Math.max(span.begin, window.begin) < least) continue;
      if (mayBeCut && span.count > 1) joined = { end: span.end, kind: span.kind };
      yield span;
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
