// What the colours of the Compute unit say: the kind of an instruction, the state of its wave, or what it stalled on.
import { exact } from "../../base/format";
import { colourOf, mixed } from "../../draw/palette";
import { PALER } from "../../draw/stalled";
import { spanColour } from "../../draw/timeline_spans";
import type { Layer } from "../../model/layers";
import { change, settings } from "../../model/settings";
import { entriesOf, type LegendEntry } from "../../widgets/kind_legend";

export type ColourBy = "kind" | "state" | "class";

export const CHOICES: Record<ColourBy, { name: string; hint: string }> = {
  kind: { name: "kind", hint: "The pipe of each instruction; its stalled part is paler" },
  state: { name: "state", hint: "The state of the wave: exec, wait, stall or idle" },
  class: { name: "stall class", hint: "What each execution stalled on; what it issued is grey" },
};

const SETTING = "compute_unit_colour";

export function colourBy(): ColourBy {
  const chosen = settings.value[SETTING];
  return typeof chosen === "string" && Object.hasOwn(CHOICES, chosen) ? (chosen as ColourBy) : "kind";
}

export const colourSpansBy = (chosen: ColourBy) => change({ [SETTING]: chosen });

/** How much paler everything is but the kind that is lit, from 0 to 1. */
const FADED = 0.82;
const faded = (colour: string) => mixed(colour, colourOf("EMPTY"), FADED);

/** The layers that colours are about; undefined = the trace has none, or it has not arrived yet. */
export interface Layers {
  instructions: Layer | undefined;
  states: Layer | undefined;
  classes: Layer | undefined;
}

interface Colouring {
  by: ColourBy;
  layers: Layers;
  /** The kind that the legend lights up, which alone keeps its colour; null = all do. */
  lit: number | null;
}

/** The colour of a kind of spans; undefined = the layer's own. */
export function colourIn({ by, layers, lit }: Colouring, layer: Layer, kind: number): string | undefined {
  // By stall class the instructions are drawn below their stalls: what is seen of them is the issue, of no class.
  const isIssue = by === "class" && layer === layers.instructions;
  const plain = isIssue ? colourOf("issued") : undefined;
  const legendLayer = { kind: layers.instructions, state: layers.states, class: layers.classes }[by];
  const isFaded = lit !== null && (isIssue || (layer === legendLayer && kind !== lit));
  return isFaded ? faded(plain ?? spanColour(layer, kind, {})) : plain;
}

/** The legend: the kinds that can be lit up, and what else has a colour. */
export function legendOf(by: ColourBy, { instructions, states, classes }: Layers): LegendEntry[] {
  if (by === "state") return states ? entriesOf(states) : [];
  if (by === "class") {
    return [
      ...(classes ? classEntries(classes) : []),
      fixedEntry("issued", colourOf("issued"), "the part of instructions after their stall"),
      ...stripEntries(states),
    ];
  }
  const pale = mixed(colourOf("VMEM"), colourOf("EMPTY"), PALER);
  const paler = "the paler part of every colour: the instruction wants to issue and cannot. Far out, the share of it";
  return [
    ...(instructions ? entriesOf(instructions) : []),
    fixedEntry("stalled", pale, paler),
    ...stripEntries(states),
  ];
}

/** An entry that no kind of spans stands behind, so that it cannot be lit up. */
function fixedEntry(name: string, colour: string, meaning: string): LegendEntry {
  return { kind: -1, name, colour, meaning, isFixed: true };
}

function classEntries(classes: Layer): LegendEntry[] {
  const cycles = new Map(classes.kinds.map((kind) => [kind.kind, kind.cycles ?? 0]));
  return entriesOf(classes).map((entry) => ({
    ...entry,
    meaning: `${exact(cycles.get(entry.kind) ?? 0)} stall cycles, execution by execution: ${entry.meaning}`,
  }));
}

/** The states, whose strip stands below the instructions unless they are drawn in their place. */
function stripEntries(states: Layer | undefined): LegendEntry[] {
  return (states ? entriesOf(states) : []).map(({ name, colour, meaning }) =>
    fixedEntry(`${name} (strip)`, colour, `state of the wave, in the strip below its instructions: ${meaning}`),
  );
}
