// What a view is. The list of all views stands in app/registry.ts: a new view is one folder or file and one line there.
import { signal } from "@preact/signals";
import type { ComponentType } from "preact";
import type { Overview } from "./document";

export interface View {
  /** Stable: it stands in URLs and saved layouts. */
  id: string;
  title: string;
  /** What it shows, in one sentence: the tooltip of its tab and its line in the help. */
  hint: string;
  about: Overview["kind"];
  /** Which time its figures are about when only a part is looked at; absent = it draws the time itself, or has none. */
  time?: "selected" | "whole";
  /** Why there is nothing to show for this document; empty = there is. */
  missing(overview: Overview): string;
  component: ComponentType;
}

/** The view that has the whole window; empty = none has. */
export const maximizedView = signal("");

let toggleRoom: (id?: string) => void = () => {};

/** Gives a view the whole window, or all views their places again; without an id: the view that was used last. */
export function toggleMaximized(id?: string): void {
  toggleRoom(id);
}

export function onToggleMaximized(how: (id?: string) => void): void {
  toggleRoom = how;
}

let bringToFront: (id: string) => void = () => {};
let bringBack: (id: string) => void = () => {};

/** Put a view on screen, opening it when it is closed. */
export function frontView(id: string): void {
  bringToFront(id);
}

/** Put an open view on screen, unless it is there, or would cover the view that is being used. */
export function uncoverView(id: string): void {
  bringBack(id);
}

/** `app/main.tsx` says how. */
export function onFrontView(front: (id: string) => void, uncover: (id: string) => void): void {
  bringToFront = front;
  bringBack = uncover;
}
