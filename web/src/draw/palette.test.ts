import { afterEach, describe, expect, it } from "vitest";
import { settings } from "../model/settings";
import { colourOf, inkOn, mixed, nameColour } from "./palette";
import { PALER } from "./stalled";

const THEMES = ["dark", "light"] as const;
const PALETTES = ["standard", "colour-blind"] as const;
const KINDS = ["SMEM", "SALU", "VMEM", "FLAT", "LDS", "VALU", "JUMP", "NEXT", "IMMED", "MESSAGE", "BVH", "MATRIX"];
const STATES = ["IDLE", "EXEC", "WAIT", "STALL"];
const WORK = ["computation", "communication", "copies", "host", "launch", "quiet"];
const CLASSES = [
  "wait vector load", "wait load to LDS", "wait LDS", "wait cross-lane", "wait scalar load", "barrier", "VMEM issue",
  "LDS issue", "VALU issue", "matrix dependency", "VALU pipe busy", "matrix pipe busy", "s_nop",
].map((name) => `class ${name}`); // biome-ignore format: a list of names

const linear = (byte: number) => (byte <= 10 ? byte / 255 / 12.92 : ((byte / 255 + 0.055) / 1.055) ** 2.4);
const parts = (css: string) => [1, 3, 5].map((at) => linear(Number.parseInt(css.slice(at, at + 2), 16)));

/** OKLab: distances in it are about as people see them; 0.02 can just be seen. */
function lab(css: string): number[] {
  const [r, g, b] = parts(css) as [number, number, number];
  const l = Math.cbrt(0.4122214708 * r + 0.5363325363 * g + 0.0514459929 * b);
  const m = Math.cbrt(0.2119034982 * r + 0.6806995451 * g + 0.1073969566 * b);
  const s = Math.cbrt(0.0883024619 * r + 0.2817188376 * g + 0.6299787005 * b);
  return [
    0.2104542553 * l + 0.793617785 * m - 0.0040720468 * s,
    1.9779984951 * l - 2.428592205 * m + 0.4505937099 * s,
    0.0259040371 * l + 0.7827717662 * m - 0.808675766 * s,
  ];
}

const distance = (a: string, b: string) => Math.hypot(...lab(a).map((value, i) => value - (lab(b)[i] as number)));

/** How it looks to those who lack the middle cones (Viénot, Brettel and Mollon 1999). */
function deuteranopia(css: string): string {
  const [r, g, b] = parts(css) as [number, number, number];
  const both = 0.29275 * r + 0.70725 * g;
  const byte = (value: number) =>
    Math.round(255 * (value <= 0.0031308 ? 12.92 * value : 1.055 * value ** (1 / 2.4) - 0.055));
  const hex = (value: number) =>
    byte(Math.min(1, Math.max(0, value)))
      .toString(16)
      .padStart(2, "0");
  return `#${hex(both)}${hex(both)}${hex(-0.02234 * r + 0.02234 * g + b)}`;
}

function nearest(meanings: string[], seen = (css: string) => css): { distance: number; pair: string } {
  const pairs = meanings.flatMap((a, i) => meanings.slice(i + 1).map((b) => [a, b] as const));
  const measured = pairs.map(([a, b]) => ({
    distance: distance(seen(colourOf(a)), seen(colourOf(b))),
    pair: `${a} ${b}`,
  }));
  return measured.sort((a, b) => a.distance - b.distance)[0] as { distance: number; pair: string };
}

function contrast(a: string, b: string): number {
  const light = (css: string) => {
    const [r, g, blue] = parts(css) as [number, number, number];
    return 0.2126 * r + 0.7152 * g + 0.0722 * blue + 0.05;
  };
  const [x, y] = [light(a), light(b)];
  return Math.max(x, y) / Math.min(x, y);
}

const before = settings.value;
afterEach(() => {
  settings.value = before;
});

describe.each(THEMES)("colours of the %s theme", (theme) => {
  describe.each(PALETTES)("in the %s palette", (palette) => {
    const choose = () => {
      settings.value = { ...before, theme, palette };
    };
    it.each([
      ["kinds", KINDS, 0.055],
      ["states", STATES, 0.11],
      ["stall classes", CLASSES, 0.055],
      ["classes of work", WORK, 0.075],
    ])("tells %s apart", (_, meanings, least) => {
      choose();
      const found = nearest(meanings);
      expect(found.distance, found.pair).toBeGreaterThan(least);
    });
    it("tells what matters apart for those who do not see red and green", () => {
      choose();
      if (palette === "standard") return;
      const seen = (meanings: string[]) => nearest(meanings, deuteranopia);
      const classes = ["wait vector load", "wait LDS", "wait cross-lane", "barrier", "VMEM issue", "VALU pipe busy"];
      for (const meanings of [STATES, ["VMEM", "LDS", "VALU", "MATRIX", "SMEM"], classes.map((c) => `class ${c}`)]) {
        expect(seen(meanings).distance, seen(meanings).pair).toBeGreaterThan(0.055);
      }
    });
    it("tells IMMED from MESSAGE and from an empty track", () => {
      choose();
      expect(distance(colourOf("IMMED"), colourOf("MESSAGE"))).toBeGreaterThan(0.1);
      expect(distance(mixed(colourOf("IMMED"), colourOf("EMPTY"), PALER), colourOf("EMPTY"))).toBeGreaterThan(0.07);
    });
    it("has ink that can be read on every colour, also where it is paler", () => {
      choose();
      for (const meaning of [...KINDS, ...STATES, ...CLASSES, ...WORK, "step 0 6", "step 3 6", "step 5 6"]) {
        const full = colourOf(meaning);
        for (const fill of [full, mixed(full, colourOf("EMPTY"), PALER)]) {
          expect(contrast(inkOn(fill), fill), meaning).toBeGreaterThan(4.5);
        }
      }
    });
    it("has names that are quieter than classes of work, and the same everywhere", () => {
      choose();
      const chroma = (css: string) => Math.hypot(...lab(css).slice(1));
      const names = Array.from({ length: 200 }, (_, n) => nameColour(`kernel_${n}`));
      const least = Math.min(...["computation", "communication", "copies"].map((work) => chroma(colourOf(work))));
      expect(Math.max(...names.map(chroma))).toBeLessThan(least);
      expect(new Set(names).size).toBeGreaterThan(10);
      expect(chroma(colourOf("quiet"))).toBeLessThan(0.02); // idle is never loud
      for (const fill of names) expect(contrast(inkOn(fill), fill)).toBeGreaterThan(4.5);
      expect(nameColour("kernel_7")).toBe(names[7]);
    });
    it("has steps that go one way", () => {
      choose();
      const lights = [0, 1, 2, 3, 4, 5].map((n) => lab(colourOf(`step ${n} 6`))[0] as number);
      const steps = lights.slice(1).map((value, n) => value - (lights[n] as number));
      expect(new Set(steps.map(Math.sign)).size).toBe(1);
      expect(Math.min(...steps.map(Math.abs))).toBeGreaterThan(0.03);
    });
  });
});
