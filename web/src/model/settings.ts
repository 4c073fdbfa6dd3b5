// What the user likes, kept from one start to the next: never in the URL.
import { effect, signal } from "@preact/signals";
import { storageTurn, store, storedBelow } from "./user_storage";

export interface Settings {
  theme: "dark" | "light";
  palette: "standard" | "colour-blind";
  /** Include idle cycles in bars and heat. */
  withIdle: boolean;
  /** Views may keep more under their own names. */
  [name: string]: unknown;
}

const BELOW = "settings.";
const prefersLight = typeof matchMedia === "function" && matchMedia("(prefers-color-scheme: light)").matches;
const defaults: Settings = { theme: prefersLight ? "light" : "dark", palette: "standard", withIdle: true };

const isPlain = (value: unknown): value is Record<string, unknown> => typeof value === "object" && value !== null;

/** What a setting may be, where another value would do harm. */
const ALLOWED: Record<string, (value: unknown) => boolean> = {
  theme: (value) => value === "dark" || value === "light",
  palette: (value) => value === "standard" || value === "colour-blind",
  withIdle: (value) => typeof value === "boolean",
  isa: (value) => isPlain(value) && (value.columns === undefined || isPlain(value.columns)),
};

function stored(): Partial<Settings> {
  const entries = Object.entries(storedBelow(BELOW)).filter(([name, value]) => ALLOWED[name]?.(value) ?? true);
  return Object.fromEntries(entries);
}

export const settings = signal<Settings>(defaults);

effect(() => {
  void storageTurn.value;
  settings.value = { ...defaults, ...stored() };
});

export function change(change: Partial<Settings>): void {
  settings.value = { ...settings.peek(), ...change } as Settings;
  for (const [name, value] of Object.entries(change)) store(BELOW + name, value ?? null);
}
