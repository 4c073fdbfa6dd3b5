// All views, in the order of the menu, and where they stand at first.
import type { DockPanel } from "@lumino/widgets";
import type { View } from "../model/view";
import { waves } from "../views/waves";

export const VIEWS: View[] = [waves];

export interface TabGroup {
  views: string[];
  /** Where it stands: on which side of the group `beside` (its number in this list), with which share of the space. */
  mode?: DockPanel.InsertMode;
  beside?: number;
  share?: number;
}

export const FIRST_LAYOUT: Record<View["about"], TabGroup[]> = {
  trace: [{ views: ["waves"] }],
  run: [],
};
