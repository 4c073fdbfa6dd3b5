// What drawing code draws on: a canvas on screen, or an SVG document to save. Lengths in CSS pixels.
import { isPrinting, settings } from "../model/settings";

export interface TextStyle {
  align?: "left" | "center" | "right";
  size?: number;
  bold?: boolean;
  mono?: boolean;
  /** Longer texts are cut with an ellipsis. */
  maxWidth?: number;
}

export interface Painter {
  rect(x: number, y: number, width: number, height: number, fill: string): void;
  /** Many rectangles of one colour, as x0, y0, width0, height0, x1, … */
  rects(rectangles: ArrayLike<number>, fill: string): void;
  /** Points as x0, y0, x1, y1, … */
  polyline(points: ArrayLike<number>, stroke: string, width?: number, dash?: number[]): void;
  polygon(points: ArrayLike<number>, fill: string): void;
  /** `y` is the middle of the line. */
  text(x: number, y: number, text: string, fill: string, style?: TextStyle): void;
  /** Everything drawn by `inside` is cut to this rectangle. */
  clipped(x: number, y: number, width: number, height: number, inside: () => void): void;
  /**
   * A picture of rows of `columns` colours (0xAABBGGRR, as canvases store them; 0 = nothing), stretched without
   * smoothing; its rows stand in bands of different heights: what timelines are made of.
   */
  bands(x: number, width: number, columns: number, colours: Uint32Array, bands: Band[]): void;
}

/** Rows of a picture and where they stand. */
export interface Band {
  row: number;
  rows: number;
  y: number;
  height: number;
}

const FONT = "system-ui, sans-serif";
const MONO = "ui-monospace, 'DejaVu Sans Mono', Menlo, Consolas, monospace";

/** Text on a canvas grows as the page's own text does: on very wide screens, and as the user wants it (`--text-scale`). */
const WIDE_SCREEN = 3000;
export const textScale = () =>
  (typeof innerWidth === "number" && innerWidth >= WIDE_SCREEN ? 1.2 : 1) * (settings.value.textSize / 100);
/** Dots of a printed drawing for one pixel of CSS: 288 per inch. */
const PRINTED_RATIO = 3;
/** Dots of the screen, or of the paper, for one pixel of CSS. */
export const dotsPerPixel = () =>
  isPrinting.value ? PRINTED_RATIO : (typeof devicePixelRatio === "number" && devicePixelRatio) || 1;
/** About as wide as a letter of a canvas, in pixels: for room that is made before anything is drawn. */
export const letterWidth = () => 6.4 * textScale();

function fontOf(style: TextStyle): string {
  return `${style.bold ? "600 " : ""}${(style.size ?? 11) * textScale()}px ${style.mono ? MONO : FONT}`;
}

export class CanvasPainter implements Painter {
  private scratch: HTMLCanvasElement | null = null;

  constructor(readonly context: CanvasRenderingContext2D) {}

  rect(x: number, y: number, width: number, height: number, fill: string): void {
    this.context.fillStyle = fill;
    this.context.fillRect(x, y, width, height);
  }

  rects(rectangles: ArrayLike<number>, fill: string): void {
    const { context } = this;
    context.fillStyle = fill;
    for (let i = 0; i + 3 < rectangles.length; i += 4) {
      context.fillRect(
        rectangles[i] as number,
        rectangles[i + 1] as number,
        rectangles[i + 2] as number,
        rectangles[i + 3] as number,
      );
    }
  }

  polyline(points: ArrayLike<number>, stroke: string, width = 1, dash: number[] = []): void {
    const { context } = this;
    context.strokeStyle = stroke;
    context.lineWidth = width;
    context.setLineDash(dash);
    this.trace(points);
    context.stroke();
  }

  polygon(points: ArrayLike<number>, fill: string): void {
    this.context.fillStyle = fill;
    this.trace(points);
    this.context.fill();
  }

  text(x: number, y: number, text: string, fill: string, style: TextStyle = {}): void {
    const { context } = this;
    context.font = fontOf(style);
    context.textAlign = style.align ?? "left";
    context.textBaseline = "middle";
    context.fillStyle = fill;
    const shown = style.maxWidth === undefined ? text : cut(text, style.maxWidth, (t) => context.measureText(t).width);
    if (shown) context.fillText(shown, x, y);
  }

  clipped(x: number, y: number, width: number, height: number, inside: () => void): void {
    this.context.save();
    this.context.beginPath();
    this.context.rect(x, y, width, height);
    this.context.clip();
    inside();
    this.context.restore();
  }

  bands(x: number, width: number, columns: number, colours: Uint32Array, bands: Band[]): void {
    const rows = columns < 1 ? 0 : Math.floor(colours.length / columns);
    if (rows < 1) return;
    this.scratch ??= document.createElement("canvas");
    const canvas = this.scratch;
    // Grown only: a new size means new memory, and the picture of a timeline changes its height while one scrolls.
    if (canvas.width < columns || canvas.height < rows) {
      canvas.width = Math.max(canvas.width, columns);
      canvas.height = Math.max(canvas.height, rows);
    }
    const bytes = new Uint8ClampedArray(colours.buffer as ArrayBuffer, colours.byteOffset, columns * rows * 4);
    const scratch = canvas.getContext("2d", { willReadFrequently: true });
    scratch?.putImageData(new ImageData(bytes, columns, rows), 0, 0);
    this.context.imageSmoothingEnabled = false;
    for (const band of bands) {
      this.context.drawImage(canvas, 0, band.row, columns, band.rows, x, band.y, width, band.height);
    }
  }

  private trace(points: ArrayLike<number>): void {
    this.context.beginPath();
    for (let i = 0; i + 1 < points.length; i += 2) this.context.lineTo(points[i] as number, points[i + 1] as number);
  }
}

/** The longest beginning of a text that fits, with an ellipsis; "" when not even two letters do. */
export function cut(text: string, maxWidth: number, measure: (text: string) => number): string {
  if (measure(text) <= maxWidth) return text;
  let low = 0;
  let high = text.length;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (measure(`${text.slice(0, middle)}…`) <= maxWidth) low = middle;
    else high = middle - 1;
  }
  return low >= 2 ? `${text.slice(0, low)}…` : "";
}

export class SvgPainter implements Painter {
  private readonly parts: string[] = [];
  private clips = 0;

  constructor(
    private readonly width: number,
    private readonly height: number,
  ) {}

  rect(x: number, y: number, width: number, height: number, fill: string): void {
    this.parts.push(`<rect x="${x}" y="${y}" width="${width}" height="${height}" fill="${fill}"/>`);
  }

  rects(rectangles: ArrayLike<number>, fill: string): void {
    const parts: string[] = [];
    const short = (n: number) => String(Math.round(n * 100) / 100);
    for (let i = 0; i + 3 < rectangles.length; i += 4) {
      const [x = 0, y = 0, width = 0, height = 0] = [0, 1, 2, 3].map((n) => rectangles[i + n]);
      parts.push(`M${short(x)} ${short(y)}h${short(width)}v${short(height)}h${short(-width)}z`);
    }
    this.parts.push(`<path d="${parts.join("")}" fill="${fill}"/>`);
  }

  polyline(points: ArrayLike<number>, stroke: string, width = 1, dash: number[] = []): void {
    const dashes = dash.length ? ` stroke-dasharray="${dash.join(" ")}"` : "";
    const line = `fill="none" stroke="${stroke}" stroke-width="${width}"${dashes}`;
    this.parts.push(`<polyline points="${Array.from(points).join(" ")}" ${line}/>`);
  }

  polygon(points: ArrayLike<number>, fill: string): void {
    this.parts.push(`<polygon points="${Array.from(points).join(" ")}" fill="${fill}"/>`);
  }

  text(x: number, y: number, text: string, fill: string, style: TextStyle = {}): void {
    const size = style.size ?? 11;
    const shown = style.maxWidth === undefined ? text : cut(text, style.maxWidth, (t) => t.length * size * 0.58);
    if (!shown) return;
    const anchor = { left: "start", center: "middle", right: "end" }[style.align ?? "left"];
    const font = `font-family="${style.mono ? "monospace" : "sans-serif"}" font-size="${size}"`;
    const weight = style.bold ? ' font-weight="600"' : "";
    const place = `x="${x}" y="${y}" dominant-baseline="central" text-anchor="${anchor}"`;
    this.parts.push(`<text ${place} ${font}${weight} fill="${fill}">${escaped(shown)}</text>`);
  }

  clipped(x: number, y: number, width: number, height: number, inside: () => void): void {
    const id = `c${this.clips++}`;
    this.parts.push(`<clipPath id="${id}"><rect x="${x}" y="${y}" width="${width}" height="${height}"/></clipPath>`);
    this.parts.push(`<g clip-path="url(#${id})">`);
    inside();
    this.parts.push("</g>");
  }

  bands(x: number, width: number, columns: number, colours: Uint32Array, bands: Band[]): void {
    const stepX = width / columns;
    for (const band of bands) {
      const stepY = band.height / band.rows;
      for (let n = 0; n < band.rows; n++) {
        const row = colours.subarray((band.row + n) * columns, (band.row + n + 1) * columns);
        this.pixelRow(x, band.y + n * stepY, stepX, stepY, row);
      }
    }
  }

  /** Neighbours of one colour are one rectangle. */
  private pixelRow(x: number, y: number, stepX: number, stepY: number, row: Uint32Array): void {
    for (let first = 0; first < row.length; ) {
      const colour = row[first] as number;
      let last = first + 1;
      while (last < row.length && row[last] === colour) last++;
      if (colour) this.rect(x + first * stepX, y, (last - first) * stepX, stepY, cssOf(colour));
      first = last;
    }
  }

  toString(): string {
    const size = `width="${this.width}" height="${this.height}" viewBox="0 0 ${this.width} ${this.height}"`;
    return `<svg xmlns="http://www.w3.org/2000/svg" ${size}>${this.parts.join("\n")}</svg>`;
  }
}

/** Control characters, halves of pairs and no-characters: no XML document may hold most of them, escaped or not. */
const NOT_XML = /[\p{Cc}\p{Cs}\ufffe\uffff]/gu;

function escaped(text: string): string {
  return text
    .replace(NOT_XML, "\ufffd")
    .replace(/[&<>"]/g, (c) => ({ "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" })[c] as string);
}

/** "#rrggbb" -> 0xffbbggrr. */
export function pixelOf(css: string): number {
  const value = Number.parseInt(css.slice(1), 16);
  return (0xff000000 | ((value & 0xff) << 16) | (value & 0xff00) | (value >> 16)) >>> 0;
}

export function cssOf(pixel: number): string {
  const hex = (n: number) => (n & 0xff).toString(16).padStart(2, "0");
  return `#${hex(pixel)}${hex(pixel >> 8)}${hex(pixel >> 16)}`;
}
