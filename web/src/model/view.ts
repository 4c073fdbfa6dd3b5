// What a view is. The list of all views stands in app/registry.ts: a new view is one folder or file and one line there.
import type { ComponentType } from "preact";
import type { Overview } from "./document";

export interface View {
  /** Stable: it stands in URLs and saved layouts. */
  id: string;
  title: string;
  /** What it shows, in one sentence: the tooltip of its tab and its line in the help. */
  hint: string;
  about: "trace" | "run";
  /** Why there is nothing to show for this document; empty = there is. */
  missing(overview: Overview): string;
  component: ComponentType;
}
