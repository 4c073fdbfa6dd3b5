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

const FADED = 0.82;
const faded = (colour: string) => mixed(colour, colourOf("EMPTY"), FADED);

export interface Layers {
  instructions: Layer | undefined;
  states: Layer | undefined;
  classes: Layer | undefined;
}

/** The layer that the legend is about. */
export function litLayer(by: ColourBy, { instructions, states, classes }: Layers): Layer | undefined {
  return { kind: instructions, state: states, class: classes }[by];
}

/** The colour of a kind where it is not that of the layer; `lit` is the kind that alone has its full colour. */
export function colourIn(by: ColourBy, layers: Layers, lit: number | null, layer: Layer, kind: number) {
  const isIssued = by === "class" && layer === layers.instructions;
  const plain = isIssued ? colourOf("issued") : undefined;
  const isAbout = layer === litLayer(by, layers) || isIssued;
  if (lit === null || !isAbout || (kind === lit && !isIssued)) return plain;
  return faded(plain ?? spanColour(layer, kind, {}));
}

/** The legend: the kinds that can be lit up, and what else has a colour. */
export function legendOf(by: ColourBy, layers: Layers): LegendEntry[] {
  const fixed = (name: string, colour: string, meaning: string): LegendEntry => {
    return { kind: -1, name, colour, meaning, isFixed: true };
  };
  const { instructions, states, classes } = layers;
  const strip = states
    ? entriesOf(states).map(({ name, colour, meaning }) =>
        fixed(`${name} (strip)`, colour, `state of the wave, in the strip below its instructions: ${meaning}`),
      )
    : [];
  if (by === "state") return states ? entriesOf(states) : [];
  if (by === "class") {
    const cycles = new Map(classes?.kinds.map((kind) => [kind.kind, kind.cycles ?? 0]));
    const named = (classes ? entriesOf(classes) : []).map((entry) => ({
      ...entry,
      meaning: `${exact(cycles.get(entry.kind) ?? 0)} stall cycles, execution by execution: ${entry.meaning}`,
    }));
    return [...named, fixed("issued", colourOf("issued"), "the part of instructions after their stall"), ...strip];
  }
  const pale = mixed(colourOf("VMEM"), colourOf("EMPTY"), PALER);
  const paler = "the paler part of every colour: the instruction wants to issue and cannot. Far out, the share of it";
  return [...(instructions ? entriesOf(instructions) : []), fixed("stalled", pale, paler), ...strip];
}
