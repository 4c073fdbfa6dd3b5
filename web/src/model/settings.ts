// What the user likes, stored from one start to the next: never in the URL. Declared once, as a table: the settings page,
// the palette of commands and what is accepted from the store are all derived from it.
import { computed, effect, signal } from "@preact/signals";
import { type NumberStyle, numberStyle } from "../base/format";
import type { Overview } from "./document";
import { isTokens, type Tokens } from "./tokens";
import { storageTurn, store, storedBelow } from "./user_storage";

export interface Settings {
  theme: "dark" | "light" | "system";
  palette: "standard" | "colour-blind";
  /** Percent of the usual size of text, rows and canvases. */
  textSize: number;
  /** Colours of the user by meaning (draw/palette.ts), as #rrggbb. */
  colours: Record<string, string>;
  /** Names and colours of kinds of instructions from a `token_def.json`. */
  tokens: Tokens | null;
  numbers: "exact" | "short";
  separator: NumberStyle["separator"];
  /** Include idle cycles in bars and heat. */
  withIdle: boolean;
  /** Where a time axis counts from: the start of the document, or the shader clock as it was recorded. */
  axis: "start" | "absolute";
  /** The view in front when a document is opened for the first time; empty = the one that fits what is there. */
  frontTrace: string;
  frontRun: string;
  frontCounters: string;
  /** Views may store more under their own names. */
  [name: string]: unknown;
}

export interface Choice {
  value: string;
  title: string;
}

export interface Setting {
  name: keyof Settings & string;
  title: string;
  group: "Looks" | "Colours" | "Numbers" | "Defaults";
  /** What it changes, in one sentence. */
  meaning: string;
  kind: "choice" | "switch" | "number" | "view" | "colours" | "tokens";
  /** Of a choice. */
  choices?: Choice[];
  /** Of a number. */
  least?: number;
  most?: number;
  step?: number;
  unit?: string;
  /** Of a view: which documents it is about. */
  about?: Overview["kind"];
  initial: unknown;
}

const choices = (...pairs: [value: string, title: string][]): Choice[] =>
  pairs.map(([value, title]) => ({ value, title }));

const front = (name: string, about: Overview["kind"], what: string): Setting => ({
  name,
  title: `First view of ${what}`,
  group: "Defaults",
  meaning: `Stands in front when ${what} are opened and no layout was stored`,
  kind: "view",
  about,
  initial: "",
});

export const SETTINGS: Setting[] = [
  {
    name: "textSize",
    title: "Text size",
    group: "Looks",
    meaning: "Size of text, of rows of tables and of what is written on drawings",
    kind: "number",
    least: 75,
    most: 175,
    step: 5,
    unit: "%",
    initial: 100,
  },
  {
    name: "theme",
    title: "Theme",
    group: "Looks",
    meaning: "Dark or light ground; system: as the desktop has it",
    kind: "choice",
    choices: choices(["system", "as the system"], ["dark", "dark"], ["light", "light"]),
    initial: "system",
  },
  {
    name: "palette",
    title: "Palette",
    group: "Colours",
    meaning: "Colours by meaning; the second set is told apart by colour-blind readers",
    kind: "choice",
    choices: choices(["standard", "standard"], ["colour-blind", "colour-blind"]),
    initial: "standard",
  },
  {
    name: "colours",
    title: "Colours of instructions",
    group: "Colours",
    meaning: "Colours of your choice, in both themes, instead of those of the palette",
    kind: "colours",
    initial: {},
  },
  {
    name: "tokens",
    title: "token_def.json",
    group: "Colours",
    meaning: "Names and colours of kinds of instructions from a file for AMD's viewer",
    kind: "tokens",
    initial: null,
  },
  {
    name: "numbers",
    title: "Numbers",
    group: "Numbers",
    meaning: "Figures of tables with all digits, or the large ones with three and a letter",
    kind: "choice",
    choices: choices(["exact", "exact: 1,234,567"], ["short", "short: 1.23 M"]),
    initial: "exact",
  },
  {
    name: "separator",
    title: "Thousands",
    group: "Numbers",
    meaning: "What stands between groups of three digits",
    kind: "choice",
    choices: choices(["comma", "1,234,567"], ["space", "1 234 567"], ["apostrophe", "1’234’567"], ["none", "1234567"]),
    initial: "comma",
  },
  {
    name: "withIdle",
    title: "Idle cycles",
    group: "Defaults",
    meaning: "Bars, heat and flame graphs include the idle cycles before instructions",
    kind: "switch",
    initial: true,
  },
  {
    name: "axis",
    title: "Time axis",
    group: "Defaults",
    meaning: "What times of a trace are counted from",
    kind: "choice",
    choices: choices(["start", "since the start"], ["absolute", "as recorded: shader clock"]),
    initial: "start",
  },
  front("frontTrace", "trace", "thread traces"),
  front("frontRun", "run", "runs"),
  front("frontCounters", "counters", "counter captures"),
];

const BELOW = "settings.";
const defaults = Object.fromEntries(SETTINGS.map(({ name, initial }) => [name, initial])) as Settings;

const isPlain = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);
const COLOUR = /^#[0-9a-f]{6}$/i;
const MOST_COLOURS = 64;

function areColours(value: unknown): boolean {
  if (!isPlain(value) || Object.keys(value).length > MOST_COLOURS) return false;
  return Object.values(value).every((colour) => typeof colour === "string" && COLOUR.test(colour));
}

/** Whether a setting may have this value: also another version, or a hand, may have written it. */
export function isAllowed(setting: Setting, value: unknown): boolean {
  if (setting.kind === "choice") return setting.choices?.some((choice) => choice.value === value) ?? false;
  if (setting.kind === "switch") return typeof value === "boolean";
  if (setting.kind === "view") return typeof value === "string" && /^[a-z_]{0,40}$/.test(value);
  if (setting.kind === "colours") return areColours(value);
  if (setting.kind === "tokens") return isTokens(value);
  const { least = 0, most = 0 } = setting;
  return typeof value === "number" && value >= least && value <= most;
}

/** What views store under their own names, as far as another value would do harm: whether a value may be read. */
const OF_VIEWS: Record<string, (value: unknown) => boolean> = {
  isa: (value) => isPlain(value) && (value.columns === undefined || isPlain(value.columns)),
};

function isAcceptable(name: string, value: unknown): boolean {
  const setting = SETTINGS.find((entry) => entry.name === name);
  return setting ? isAllowed(setting, value) : (OF_VIEWS[name]?.(value) ?? true);
}

function stored(): Partial<Settings> {
  return Object.fromEntries(Object.entries(storedBelow(BELOW)).filter(([name, value]) => isAcceptable(name, value)));
}

export const settings = signal<Settings>(defaults);

effect(() => {
  void storageTurn.value;
  settings.value = { ...defaults, ...stored() };
});

effect(() => {
  const { numbers, separator } = settings.value;
  numberStyle.value = { isShort: numbers === "short", separator };
});

export function change(change: Partial<Settings>): void {
  settings.value = { ...settings.peek(), ...change } as Settings;
  for (const [name, value] of Object.entries(change)) store(BELOW + name, value ?? null);
}

/** Everything as it was at first, also what views have stored. */
export function resetSettings(): void {
  settings.value = defaults;
  for (const name of Object.keys(storedBelow(BELOW))) store(BELOW + name, null);
}

const light = typeof matchMedia === "function" ? matchMedia("(prefers-color-scheme: light)") : null;
const systemIsLight = signal(light?.matches ?? false);
light?.addEventListener("change", (event) => {
  systemIsLight.value = event.matches;
});

/** While the page is printed: on white paper whatever the theme is. */
export const isPrinting = signal(false);

/** The theme on screen. */
export const theme = computed<"dark" | "light">(() => {
  if (isPrinting.value) return "light";
  const chosen = settings.value.theme;
  return chosen === "system" ? (systemIsLight.value ? "light" : "dark") : chosen;
});

export function toggleTheme(): void {
  change({ theme: theme.peek() === "dark" ? "light" : "dark" });
}
