// Colours by meaning. Every colour that carries meaning is declared here, per theme and palette; the colour-blind palette
// is that of Okabe and Ito with greys and tints of it. A meaning is a text, because kinds of layers come with theirs from
// the server (`colour` of a kind, analysis/trace/timeline/layers). It is one of
//   - a key of STANDARD: a category of instructions or a state (in capitals), a part of a cost, a kind of work, a change;
//   - `class NAME`: a stall class (`classMeaning`);
//   - `step N COUNT`: step N, from 0, of a scale of COUNT steps from few to much.
// Anything else has the colour of NONE.
import { settings, theme } from "../model/settings";
import { tokenOf } from "../model/tokens";

/** A colour in both themes, as #rrggbb. */
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
  IMMED: ["#8a93a3", "#7d8694"],
  CONTEXT: ["#ff5d6c", "#d11f33"],
  MESSAGE: ["#d9b38c", "#8a5a2b"],
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
  issued: ["#667184", "#aab3bf"],
  arrow: ["#ff7ae0", "#b4009e"],
  share: ["#7e93ad", "#7a8ea8"],
  computation: ["#4a90e2", "#2f74c0"],
  communication: ["#e8893a", "#c9661a"],
  copies: ["#a98ae8", "#7d55cf"],
  host: ["#5fae9f", "#35897a"],
  launch: ["#d8c660", "#a58f14"],
  unexplained: ["#8a93a3", "#8b94a1"],
  quiet: ["#3e434a", "#d3d8df"],
};

const COLOUR_BLIND: Record<string, Pair> = {
  ...STANDARD,
  SMEM: ["#f0e442", "#dccb10"],
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
  computation: ["#56b4e9", "#2f8fc6"],
  communication: ["#d55e00", "#b54f00"],
  copies: ["#cc79a7", "#a85684"],
  host: ["#009e73", "#007d5b"],
  launch: ["#f0e442", "#b3a800"],
};

/** Stall classes: what waits wait for is warm, what could not be issued cool, busy pipes green, padding grey. */
const CLASSES: Record<string, Pair> = {
  "wait vector load": ["#f05a5f", "#c92a2f"],
  "wait load to LDS": ["#ff9d7a", "#e2724a"],
  "wait LDS": ["#f0a93b", "#c97a00"],
  "wait cross-lane": ["#e3d54a", "#a89400"],
  "wait scalar load": ["#ff79b0", "#d8478a"],
  "wait store": ["#c08457", "#94592c"],
  "wait flat load": ["#c2407a", "#8f1f55"],
  barrier: ["#b98cff", "#8a4fe0"],
  "VMEM issue": ["#4a90e2", "#2f74c0"],
  "FLAT issue": ["#62c3ee", "#1b9fd6"],
  "LDS issue": ["#17c3b2", "#0b8a7e"],
  "VALU issue": ["#b6e388", "#7da63c"],
  "transcendental issue": ["#dff5b0", "#a9bf5e"],
  "matrix dependency": ["#0f8a80", "#06707f"],
  "SMEM issue": ["#7f86d9", "#4d55a8"],
  "SALU issue": ["#a9bbe0", "#7f95c4"],
  "branch issue": ["#5b4fe0", "#3a2fb0"],
  "matrix pipe busy": ["#1f7a4d", "#145c38"],
  "VALU pipe busy": ["#2fae54", "#1c8a3e"],
  "scalar pipe busy": ["#8fd1a8", "#5fa57b"],
  s_nop: ["#efe4da", "#5f564a"],
};
const CLASSES_COLOUR_BLIND: Record<string, Pair> = {
  ...CLASSES,
  "wait vector load": ["#d55e00", "#b54f00"],
  "wait load to LDS": ["#ffb37a", "#e08a4a"],
  "wait LDS": ["#e69f00", "#c98a00"],
  "wait cross-lane": ["#f0e442", "#dccb10"],
  "wait scalar load": ["#cc79a7", "#a85684"],
  barrier: ["#c8a6ff", "#9a70d8"],
  "VMEM issue": ["#0072b2", "#005a8e"],
  "FLAT issue": ["#56b4e9", "#2f8fc6"],
  "VALU issue": ["#a5dcc4", "#7fb8a0"],
  "VALU pipe busy": ["#009e73", "#007d5b"],
  "matrix pipe busy": ["#00573f", "#003f2e"],
};
/** Of classes that are rare or mixed, by how they start. */
const CLASSES_LIKE: [start: string, Pair][] = [
  ["wait unresolved", ["#7a6a6a", "#8b7b7b"]],
  ["wait for nothing", ["#6d7684", "#a9b0bb"]],
  ["wait ", ["#d98c8c", "#a85c5c"]],
  ["", ["#7d8ea8", "#66768f"]],
];
const CLASS_PREFIX = "class ";
/** The meaning of a stall class. */
export const classMeaning = (name: string) => CLASS_PREFIX + name;

/** A scale from few to much, `step 2 6` = the third of six: light to dark on paper, dark to light on black. */
const SCALE: [from: Pair, to: Pair] = [
  ["#274b7a", "#bcd3f0"],
  ["#f6e27a", "#7a2a5a"],
];
const STEP = /^step (\d+) (\d+)$/;

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

/** The index of the theme in a pair. */
const side = () => (theme.value === "dark" ? 0 : 1);
const isSafe = () => settings.value.palette === "colour-blind";

/** The colour of a category, a state, a part of a cost, or a change: that of the user, or that of the palette. */
export function colourOf(meaning: string): string {
  const { colours, tokens } = settings.value;
  return colours[meaning] ?? tokenOf(tokens, meaning)?.colour ?? paletteColour(meaning);
}

/** The colour without what the user has chosen. */
export function paletteColour(meaning: string): string {
  if (meaning.startsWith(CLASS_PREFIX)) return classColour(meaning.slice(CLASS_PREFIX.length));
  const step = STEP.exec(meaning);
  if (step) return stepColour(Number(step[1]), Number(step[2]));
  return ((isSafe() ? COLOUR_BLIND : STANDARD)[meaning] ?? (STANDARD.NONE as Pair))[side()];
}

/** What a kind of instruction is called: as the user's `token_def.json` has it. */
export function nameOfKind(name: string): string {
  return tokenOf(settings.value.tokens, name)?.name ?? name;
}

function classColour(name: string): string {
  const like = CLASSES_LIKE.find(([start]) => name.startsWith(start)) as [string, Pair];
  return ((isSafe() ? CLASSES_COLOUR_BLIND : CLASSES)[name] ?? like[1])[side()];
}

function stepColour(number: number, of: number): string {
  return mixed(SCALE[0][side()], SCALE[1][side()], of > 1 ? number / (of - 1) : 0.5);
}

/** The colour of the n-th curve, kernel, … */
export function seriesColour(number: number): string {
  const colours = isSafe() ? SERIES_COLOUR_BLIND : SERIES;
  return (colours[number % colours.length] as Pair)[side()];
}

/** Names have muted colours, so that what has a meaning stands out; the same name has the same colour everywhere. */
const MUTED: Record<"standard" | "colour-blind", { hues: number; from: number; to: number; lights: Pair[] }> = {
  standard: {
    hues: 14,
    from: 0,
    to: 336,
    lights: [
      ["0.66", "0.74"],
      ["0.56", "0.66"],
    ],
  },
  // Hues that stay apart without red and green: from blue to violet; the rest is told by lightness.
  "colour-blind": {
    hues: 5,
    from: 220,
    to: 300,
    lights: [
      ["0.8", "0.84"],
      ["0.68", "0.72"],
      ["0.56", "0.6"],
    ],
  },
};
const MUTED_CHROMA = 0.065;
const named = new Map<string, string>();

/** The colour of a thing that has nothing but a name. */
export function nameColour(name: string): string {
  const key = `${side()} ${isSafe()} ${name}`;
  let colour = named.get(key);
  if (!colour) {
    const { hues, from, to, lights } = MUTED[isSafe() ? "colour-blind" : "standard"];
    const mixedUp = Math.imul(numberOf(name), 0x9e3779b1) >>> 0; // names that differ in a digit get other hues
    const number = mixedUp >>> 8;
    const hue = from + ((number % hues) * (to - from)) / (hues - 1);
    const light = Number((lights[Math.floor(number / hues) % lights.length] as Pair)[side()]);
    colour = oklch(light, MUTED_CHROMA, hue);
    named.set(key, colour);
  }
  return colour;
}

/** OKLCH (Ottosson 2020) as #rrggbb: equal steps look equal, so that no name is louder than another. */
function oklch(light: number, chroma: number, hue: number): string {
  const angle = (hue * Math.PI) / 180;
  const [a, b] = [chroma * Math.cos(angle), chroma * Math.sin(angle)];
  const l = (light + 0.3963377774 * a + 0.2158037573 * b) ** 3;
  const m = (light - 0.1055613458 * a - 0.0638541728 * b) ** 3;
  const s = (light - 0.0894841775 * a - 1.291485548 * b) ** 3;
  const rgb = [
    4.0767416621 * l - 3.3077115913 * m + 0.2309699292 * s,
    -1.2684380046 * l + 2.6097574011 * m - 0.3413193965 * s,
    -0.0041960863 * l - 0.7034186147 * m + 1.707614701 * s,
  ];
  const byte = (value: number) =>
    Math.round(255 * Math.min(1, Math.max(0, value <= 0.0031308 ? 12.92 * value : 1.055 * value ** (1 / 2.4) - 0.055)));
  return `#${rgb.map((value) => byte(value).toString(16).padStart(2, "0")).join("")}`;
}

/** A stable number for a name, to colour things that have no number. */
export function numberOf(name: string): number {
  let hash = 7;
  for (let i = 0; i < name.length; i++) hash = (hash * 31 + name.charCodeAt(i)) >>> 0;
  return hash;
}

/**
 * Black or white, whichever has more contrast on a colour given as #rrggbb: at the luminance 0.179 both have the same by
 * the formula of WCAG 2.
 */
export function inkOn(fill: string): string {
  const value = Number.parseInt(fill.slice(1), 16);
  const linear = (byte: number) => ((byte & 255) / 255) ** 2.2;
  const light = 0.2126 * linear(value >> 16) + 0.7152 * linear(value >> 8) + 0.0722 * linear(value);
  return light > 0.179 ? "#000000" : "#ffffff";
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
