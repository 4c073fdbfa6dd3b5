// What a view is. The list of all views stands in app/registry.ts: a new view is one folder or file and one line there.
import type { ComponentType } from "preact";
import type { Overview } from "./document";

export interface View {
  /** Stable: it stands in URLs and saved layouts. */
  id: string;
  title: string;
  /** What it shows, in one sentence: the tooltip of its tab and its line in the help. */
  hint: string;
  about: Overview["kind"];
  /** Why there is nothing to show for this document; empty = there is. */
  missing(overview: Overview): string;
  component: ComponentType;
}

let bringToFront: (id: string) => void = () => {};

/** Put a view on screen, opening it when it is closed. */
export function frontView(id: string): void {
  bringToFront(id);
}

/** `app/main.tsx` says how. */
export function onFrontView(how: (id: string) => void): void {
  bringToFront = how;
}
