// What the user likes, kept in the browser: never in the URL.
import { effect, signal } from "@preact/signals";

export interface Settings {
  theme: "dark" | "light";
  palette: "standard" | "colour-blind";
  /** Include idle cycles in bars and heat. */
  withIdle: boolean;
  /** Views may keep more under their own names. */
  [name: string]: unknown;
}

const KEY = "wavescope.settings";

function stored(): Partial<Settings> {
  try {
    return JSON.parse(localStorage.getItem(KEY) ?? "{}") as Partial<Settings>;
  } catch {
    return {};
  }
}

const prefersLight = typeof matchMedia === "function" && matchMedia("(prefers-color-scheme: light)").matches;
const defaults: Settings = { theme: prefersLight ? "light" : "dark", palette: "standard", withIdle: true };

export const settings = signal<Settings>({ ...defaults, ...stored() });

effect(() => {
  try {
    localStorage.setItem(KEY, JSON.stringify(settings.value));
  } catch {
    // a browser without storage forgets, nothing else
  }
});

export function change(change: Partial<Settings>): void {
  settings.value = { ...settings.value, ...change } as Settings;
}
