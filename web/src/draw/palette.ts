// Colours by meaning. Every colour that carries meaning is declared here, per theme and palette; the colour-blind palette
// is that of Okabe and Ito with greys and tints of it.
import { settings } from "../model/settings";

type Pair = readonly [dark: string, light: string];

const STANDARD: Record<string, Pair> = {
  NONE: ["#5a6270", "#a9b0bb"],
  SMEM: ["#e3d54a", "#b59e00"],
  SALU: ["#8fdc9a", "#4fae5f"],
  VMEM: ["#f0a93b", "#d98300"],
  FLAT: ["#62c3ee", "#1b8fc4"],
  LDS: ["#f0703a", "#d14f14"],
  VALU: ["#2fae54", "#1c8a3e"],
  JUMP: ["#8f86ff", "#5b4fe0"],
  NEXT: ["#b98cff", "#8a4fe0"],
  IMMED: ["#7b8494", "#6d7684"],
  CONTEXT: ["#ff5d6c", "#d11f33"],
  MESSAGE: ["#9fb3c8", "#60758c"],
  BVH: ["#ff79b0", "#c93a7c"],
  UNFINISHED: ["#4a5260", "#c3c8cf"],
  MATRIX: ["#17c3b2", "#0b8a7e"],
  EMPTY: ["#30353d", "#e6e8eb"],
  IDLE: ["#5a6270", "#a9b0bb"],
  EXEC: ["#2fae54", "#1c8a3e"],
  WAIT: ["#e3d54a", "#c7ab00"],
  STALL: ["#e5484d", "#c92a2f"],
  stall: ["#e5484d", "#c92a2f"],
  issue: ["#2fae54", "#1c8a3e"],
  idle: ["#7b8494", "#9aa2ad"],
  hidden: ["#4a90e2", "#2f74c0"],
  better: ["#2fae54", "#1c8a3e"],
  worse: ["#e5484d", "#c92a2f"],
  instant: ["#00d0e0", "#00808c"],
};

const COLOUR_BLIND: Record<string, Pair> = {
  ...STANDARD,
  SMEM: ["#f0e442", "#b3a800"],
  SALU: ["#9bd0f2", "#6fb1dc"],
  VMEM: ["#e69f00", "#c98a00"],
  FLAT: ["#56b4e9", "#2f8fc6"],
  LDS: ["#d55e00", "#b54f00"],
  VALU: ["#009e73", "#007d5b"],
  JUMP: ["#0072b2", "#005a8e"],
  NEXT: ["#7f9fd0", "#52709f"],
  BVH: ["#8f4f75", "#7a3d60"],
  MATRIX: ["#cc79a7", "#a85684"],
  EXEC: ["#0072b2", "#005a8e"],
  WAIT: ["#f0e442", "#b3a800"],
  STALL: ["#d55e00", "#b54f00"],
  stall: ["#d55e00", "#b54f00"],
  issue: ["#0072b2", "#005a8e"],
  hidden: ["#56b4e9", "#2f8fc6"],
  better: ["#0072b2", "#005a8e"],
  worse: ["#d55e00", "#b54f00"],
};

const SERIES: Pair[] = [
  ["#4a90e2", "#2f74c0"],
  ["#f0a93b", "#d98300"],
  ["#2fae54", "#1c8a3e"],
  ["#e5484d", "#c92a2f"],
  ["#b98cff", "#8a4fe0"],
  ["#17c3b2", "#0b8a7e"],
  ["#ff79b0", "#c93a7c"],
  ["#e3d54a", "#b59e00"],
  ["#9fb3c8", "#60758c"],
  ["#c08457", "#94592c"],
];
const SERIES_COLOUR_BLIND: Pair[] = [
  ["#56b4e9", "#2f8fc6"],
  ["#e69f00", "#c98a00"],
  ["#009e73", "#007d5b"],
  ["#d55e00", "#b54f00"],
  ["#cc79a7", "#a85684"],
  ["#f0e442", "#b3a800"],
  ["#0072b2", "#005a8e"],
  ["#999999", "#666666"],
];

const side = () => (settings.value.theme === "dark" ? 0 : 1);
const isSafe = () => settings.value.palette === "colour-blind";

/** The colour of a category, a state, a part of a cost, or a change. */
export function colourOf(meaning: string): string {
  return ((isSafe() ? COLOUR_BLIND : STANDARD)[meaning] ?? (STANDARD.NONE as Pair))[side()];
}

/** The colour of the n-th curve, kernel, … */
export function seriesColour(number: number): string {
  const colours = isSafe() ? SERIES_COLOUR_BLIND : SERIES;
  return (colours[number % colours.length] as Pair)[side()];
}

/** A stable number for a name, to colour things that have no number. */
export function numberOf(name: string): number {
  let hash = 7;
  for (let i = 0; i < name.length; i++) hash = (hash * 31 + name.charCodeAt(i)) >>> 0;
  return hash;
}

/** Black or white, whichever reads better on a colour given as #rrggbb. */
export function inkOn(fill: string): string {
  const value = Number.parseInt(fill.slice(1), 16);
  const linear = (byte: number) => ((byte & 255) / 255) ** 2.2;
  const light = 0.2126 * linear(value >> 16) + 0.7152 * linear(value >> 8) + 0.0722 * linear(value);
  return light > 0.179 ? "#111418" : "#ffffff";
}

const PAPER: Record<string, Pair> = {
  background: ["#16191f", "#ffffff"],
  raised: ["#1e222a", "#f4f5f7"],
  line: ["#343b47", "#d5d9df"],
  text: ["#e4e8ee", "#1b2027"],
  faint: ["#98a2b1", "#5c6673"],
  selected: ["#35507a", "#cfe1fb"],
  preview: ["#2a3442", "#e8eef7"],
  accent: ["#6cb0ff", "#1a66c2"],
};

/** The colours of the page itself: the same as the CSS variables of app/theme.css. */
export function paper(part: keyof typeof PAPER): string {
  return (PAPER[part] as Pair)[side()];
}

/** A colour ("#rrggbb") that is moved towards another one by a share. */
export function mixed(colour: string, towards: string, share: number): string {
  const [a, b] = [colour, towards].map((css) => Number.parseInt(css.slice(1), 16)) as [number, number];
  const part = (shift: number) => {
    const [from, to] = [(a >> shift) & 0xff, (b >> shift) & 0xff];
    return Math.round(from + (to - from) * share)
      .toString(16)
      .padStart(2, "0");
  };
  return `#${part(16)}${part(8)}${part(0)}`;
}
